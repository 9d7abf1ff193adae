"""Sums, differences and small products, worked digit by digit in the thinking, in the order of the carries."""

import zlib


def pair_held_out(a, b):
    return zlib.crc32(f"{min(a, b)},{max(a, b)}".encode()) % 20 == 0


def add_steps(a, b):
    """347 + 586: "7+6=13, write 3, carry 1; 4+8+1=13, ..." from the last digit on."""
    x, y = str(a)[::-1], str(b)[::-1]
    carry, steps, digits = 0, [], ""
    for i in range(max(len(x), len(y))):
        parts = [s[i] for s in (x, y) if i < len(s)] + (["1"] if carry else [])
        total = sum(map(int, parts))
        carry = total // 10
        digits = str(total % 10) + digits
        step = "+".join(parts) + f"={total}" if len(parts) > 1 else f"{parts[0]} stays"
        steps.append(step + (f", write {total % 10}, carry 1" if carry else ""))
    if carry:
        digits = "1" + digits
        steps.append("the carry 1 is left")
    assert int(digits) == a + b
    return "; ".join(steps) + f". So {a} + {b} = {a + b}."


def subtract_steps(a, b):
    """a >= b >= 0, from the last digit on with borrows."""
    x, y = str(a)[::-1], str(b)[::-1]
    borrow, steps, digits = 0, [], ""
    for i in range(len(x)):
        top, bottom = int(x[i]), int(y[i]) if i < len(y) else 0
        text = f"{top}-{bottom}" + ("-1" if borrow else "")
        rest = top - bottom - borrow
        if rest < 0:
            text += f", borrow: {10 + top}-{bottom}" + ("-1" if borrow else "") + f"={rest + 10}"
            rest += 10
            borrow = 1
        else:
            text += f"={rest}"
            borrow = 0
        digits = str(rest) + digits
        steps.append(text)
    assert int(digits) == a - b and not borrow
    text = "; ".join(steps)
    if digits != str(a - b):
        text += f"; {digits} is {a - b}"
    return text + f". So {a} - {b} = {a - b}."


def difference_steps(a, b):
    if a >= b:
        return subtract_steps(a, b)
    return f"{a} is less than {b}, so the result is negative. {b} - {a}: {subtract_steps(b, a)} So {a} - {b} = {a - b}."


def multiply_steps(a, b):
    """a of up to three digits, b of one or two: a row for each digit of b, then their sum."""
    if b >= 10:
        tens, ones = b // 10 * 10, b % 10
        if ones == 0:
            return f"{a} x {b // 10}: {multiply_steps(a, b // 10)} Times 10: {a * b}."
        high, low = a * tens, a * ones
        return (f"{a} x {tens // 10}: {multiply_steps(a, tens // 10)} Times 10: {high}. {a} x {ones}: "
                f"{multiply_steps(a, ones)} {high} + {low}: {add_steps(high, low)}")
    if a < 10:
        return f"{a} x {b} = {a * b}."
    carry, steps, digits = 0, [], ""
    for digit in str(a)[::-1]:
        product = int(digit) * b
        total = product + carry
        text = f"{digit}x{b}={product}" + (f", +{carry}={total}" if carry else "")
        carry = total // 10
        digits = str(total % 10) + digits
        steps.append(text + f", write {total % 10}" + (f", carry {carry}" if carry else ""))
    if carry:
        digits = str(carry) + digits
    assert int(digits) == a * b
    return "; ".join(steps) + f". So {a} x {b} = {a * b}."


ADD = ["What is {a} + {b}?", "{a} + {b}", "{a}+{b}", "{a} + {b} = ?", "{a}+{b}=?", "Calculate {a} + {b}.", "Compute {a} + {b}",
       "What's {a} plus {b}?", "What is {a} plus {b}?", "Add {a} and {b}.", "Add {b} to {a}.", "What is the sum of {a} and {b}?",
       "How much is {a} + {b}?", "How much is {a} plus {b}?", "{a} plus {b}?", "Can you add {a} and {b}?",
       "Please compute the sum of {a} and {b}.", "what does {a} + {b} equal", "Tell me {a} + {b}.", "Sum {a} and {b}.",
       "Could you work out {a} + {b} for me?", "I need {a} plus {b}.", "Solve {a} + {b}", "what is {a}+{b}", "Work out {a} plus {b}.",
       "If I add {b} to {a}, what do I get?"]
SUBTRACT = ["What is {a} - {b}?", "{a} - {b}", "{a}-{b}", "{a} - {b} = ?", "{a}-{b}=?", "Calculate {a} - {b}.", "Compute {a} - {b}",
            "What's {a} minus {b}?", "What is {a} minus {b}?", "Subtract {b} from {a}.", "How much is {a} - {b}?",
            "{a} minus {b}?", "Take {b} away from {a}.", "What is left if I take {b} from {a}?", "Tell me {a} - {b}.",
            "Please subtract {b} from {a}.", "what does {a} - {b} equal", "How much is {a} less {b}?", "Solve {a} - {b}",
            "Could you work out {a} - {b} for me?", "what is {a}-{b}", "Work out {a} minus {b}.", "I need {a} minus {b}."]
MULTIPLY = ["What is {a} x {b}?", "What is {a} * {b}?", "{a} * {b}", "{a} times {b}", "What is {a} times {b}?", "{a} x {b} = ?",
            "Multiply {a} by {b}.", "Multiply {a} and {b}.", "What is the product of {a} and {b}?", "Compute {a} * {b}.",
            "Calculate {a} times {b}.", "How much is {a} times {b}?", "what's {a}*{b}", "Work out {a} x {b}."]
ANSWERS = ["{r}", "{r}", "{a} {op} {b} = {r}", "{a} {op} {b} = {r}.", "The answer is {r}.", "It is {r}.", "That is {r}.", "The result is {r}."]


def size(w):
    """How many digits: mostly two and three, without thinking one and two."""
    return w.rng.choices((1, 2, 3, 4), (0.1, 0.38, 0.46, 0.06) if w.thinking else (0.3, 0.6, 0.1, 0))[0]


def operand(w, digits=None):
    digits = digits or size(w)
    return w.number(0 if digits == 1 else 10 ** (digits - 1), 10 ** digits - 1)


def numbers(w, op):
    """Two operands of the wanted side of the split."""
    while True:
        if op == "x":
            a = operand(w, w.any(1, 1, 2, 2, 3))
            b = w.number(2, 12) if w.chance(0.75) else w.number(11, 99)
            if a >= 100 and b >= 10:
                continue
        else:
            a = operand(w)
            b = operand(w, len(str(a)) if w.chance(0.5) else None)
        if op == "-" and a < b and w.chance(0.75):
            a, b = b, a
        if pair_held_out(a, b) == w.evaluation or max(a, b) < 10:
            return a, b


def solve(a, op, b):
    if op == "+":
        return a + b, f"{a} + {b}: {add_steps(a, b)}"
    if op == "-":
        return a - b, f"{a} - {b}: {difference_steps(a, b)}"
    return a * b, f"{a} x {b}: {multiply_steps(a, b)}"


def expression(w, op=None):
    """(question, reasoning, answer, check)"""
    op = op or w.rng.choices("+-x", (0.42, 0.42, 0.16))[0]
    a, b = numbers(w, op)
    question = w.any(*{"+": ADD, "-": SUBTRACT, "x": MULTIPLY}[op]).format(a=a, b=b)
    result, reasoning = solve(a, op, b)
    return question, reasoning, w.any(*ANSWERS).format(a=a, b=b, op=op, r=result), {"number": result}


GAINS = ["{n} has {a} {things} and gets {b} more. How many {things} does {n} have now?",
         "There are {a} {things} in the {p} and {b} {things} in the {q}. How many {things} are there together?",
         "{n} counted {a} {things} on Monday and {b} on Tuesday. How many in total?",
         "A {p} holds {a} {things}. {n} puts in another {b}. How many {things} are in it now?",
         "{n} bought {a} {things} and {m} bought {b}. How many {things} did they buy in all?",
         "I had {a} {things} and found {b} more. How many do I have?",
         "One {p} costs {a} euros and one {q} costs {b} euros. What do both cost together?"]
LOSSES = ["{n} has {a} {things} and gives {b} to {m}. How many {things} are left?",
          "There were {a} {things} in the {p}. {n} took {b} of them. How many remain?",
          "{n} had {a} {things} and lost {b}. How many {things} does {n} have now?",
          "A {p} costs {a} euros and a {q} costs {b} euros. How much more does the {p} cost?",
          "I had {a} {things} and sold {b}. How many do I still have?",
          "{n} must carry {a} {things} and has carried {b}. How many are still to carry?",
          "Of {a} {things}, {b} are broken. How many are fine?"]
PRODUCTS = ["There are {a} {things} in each {p}. How many {things} are in {b} such boxes?",
            "{n} buys {b} {things} for {a} euros each. What is the total?",
            "A {p} holds {a} {things}. How many {things} do {b} of them hold?",
            "{n} reads {a} pages a day. How many pages is that in {b} days?",
            "Each of {b} friends has {a} {things}. How many {things} do they have together?"]


def plural(noun):
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("fe"):
        return noun[:-2] + "ves"
    return {"child": "children", "mouse": "mice", "shelf": "shelves", "leaf": "leaves", "fish": "fish"}.get(noun, noun + "s")


def story(w):
    op = w.rng.choices("+-x", (0.42, 0.42, 0.16))[0]
    a, b = numbers(w, op)
    if op == "-" and a < b:
        a, b = b, a
    n, m = w.first_name(), w.first_name()
    p, q = w.noun(), w.noun()
    things = plural(w.noun())
    question = w.any(*{"+": GAINS, "-": LOSSES, "x": PRODUCTS}[op]).format(a=a, b=b, n=n, m=m, p=p, q=q, things=things)
    result, reasoning = solve(a, op, b)
    return question, reasoning, w.any("{r}", "The answer is {r}.", "{a} {op} {b} = {r}", "It is {r}.").format(
        a=a, b=b, op=op, r=result), {"number": result}


def compare(w):
    a, b = operand(w), operand(w)
    while a == b:
        b = operand(w)
    small, large = sorted((a, b))
    kind = w.number(0, 4)
    if kind == 0:
        return (w.any(f"Which is larger, {a} or {b}?", f"Which number is bigger: {a} or {b}?", f"What is the larger of {a} and {b}?"),
                f"Compare {a} and {b}: {large} is larger.", w.any(str(large), f"{large} is larger."), {"number": large})
    if kind == 1:
        return (w.any(f"Which is smaller, {a} or {b}?", f"What is the smaller of {a} and {b}?", f"Which number is less: {a} or {b}?"),
                f"Compare {a} and {b}: {small} is smaller.", w.any(str(small), f"{small} is smaller."), {"number": small})
    if kind == 2:
        word = "even" if a % 2 == 0 else "odd"
        return (w.any(f"Is {a} even or odd?", f"Is the number {a} odd or even?"),
                f"{a} ends in {a % 10}, which is {word}.", w.any(f"{a} is {word}.", word.capitalize()), {"contains": [word]})
    if kind == 3:
        yes = a > b
        return (f"Is {a} greater than {b}?", f"{a} is {'greater' if yes else 'less'} than {b}.",
                w.any("{y}.", "{y}, {a} is {c} than {b}.").format(y="Yes" if yes else "No", a=a, b=b, c="greater" if yes else "less"),
                {"contains": ["Yes" if yes else "No"]})
    values = [w.number(1, 99) for _ in range(w.number(3, 5))]
    text = ", ".join(map(str, values))
    largest = w.chance(0.5)
    result = max(values) if largest else min(values)
    word = w.any("largest", "biggest") if largest else w.any("smallest", "lowest")
    return (f"What is the {word} of {text}?", f"Of {text}, the {word} is {result}.", w.any(str(result), f"The {word} is {result}."),
            {"number": result})


def question(w):
    r = w.rng.random()
    return expression(w) if r < 0.7 else story(w) if r < 0.88 else compare(w)
