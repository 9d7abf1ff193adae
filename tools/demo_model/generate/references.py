"""Several turns: what came before must be remembered, looked up or changed."""

import json

from . import arithmetic, formats, measures, talk

FILLERS = (talk.question, talk.question, arithmetic.expression, measures.question, formats.question)


def turns(*pairs):
    """[(question, answer)] of the past."""
    out = []
    for question, answer in pairs:
        out += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return out


def last(question, reasoning, answer):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer, "reasoning_content": reasoning}]


def fillers(w, most=2):
    return [(q, a) for q, _, a, _ in (w.any(*FILLERS)(w) for _ in range(w.number(0, most)))]


def go_on_counting(w):
    op = w.any("+", "-", "+")
    a, b = arithmetic.numbers(w, op)
    value = a + b if op == "+" else a - b
    first = w.any(*{"+": arithmetic.ADD, "-": arithmetic.SUBTRACT}[op]).format(a=a, b=b)
    past = [(first, w.any(*arithmetic.ANSWERS).format(a=a, b=b, op=op, r=value))]
    for step in range(w.any(1, 1, 2)):
        kind = w.number(0, 3)
        n = w.number(2, 99) if w.chance(0.7) else w.number(100, 999)
        if kind == 0 and value >= 0:
            question, n, op = w.any("Double it.", "And twice that?", "Now double that.", "What is that times two?", "Double the result."), 2, "x"
        elif kind == 1:
            question, op = w.any(f"Add {n}.", f"And plus {n}?", f"Now add {n} to that.", f"Add {n} to the result.", f"Plus {n}?"), "+"
        elif kind == 2 and value >= 0:
            question, op = w.any(f"Subtract {n}.", f"And minus {n}?", f"Take {n} away from that.", f"Now minus {n}.", f"Subtract {n} from it."), "-"
        else:
            question, n, op = w.any("Add one to that.", "And plus one?", "Plus one."), 1, "+"
        if value < 0:
            # A sum with a negative number turns into a difference.
            result = value + n
            steps = f"{value} + {n} = {n} - {-value}: {arithmetic.difference_steps(n, -value)}"
        else:
            result, steps = arithmetic.solve(value, op, n)
        reasoning = f"The result was {value}. {steps}"
        answer = w.any(str(result), f"{result}", f"That is {result}.", f"It is {result}.")
        if step == 0 and w.chance(0.6) or value < 0:
            break
        if step == 0:
            past.append((question, answer))
            value = result
    else:
        past = past[:2] if len(past) > 1 and result != value else past
    if past[-1][0] == question:
        past.pop()
    return turns(*past) + last(question, reasoning, answer), {"number": result}


def pick_from_list(w):
    n = w.number(3, 5)
    items = []
    while len(items) < n:
        item = w.any(w.noun, w.city, w.invented, w.first_name)()
        if item not in items:
            items.append(item)
    order = ["first", "second", "third", "fourth", "fifth"]
    said = ", ".join(items)
    if w.chance(0.5):
        past = [(w.any(f"Here is a list: {said}. Which is the first?", f"{said}. What is the first item?"), items[0])]
    else:
        past = [(w.any(f"Remember this list: {said}.", f"I have {n} things: {said}.", f"My list is {said}."), w.any("I will remember it.", "OK, I have the list.", "Noted."))]
    i = w.number(0, n - 1)
    which = "last" if i == n - 1 and w.chance(0.6) else order[i]
    question = w.any(f"And the {which} one?", f"What is the {which} one?", f"Which is the {which}?", f"And the {which}?", f"Tell me the {which} item.")
    reasoning = f"Count: {', '.join(f'{j} {x}' for j, x in enumerate(items[:i + 1], 1))}."
    return turns(*past, *fillers(w, 1)) + last(question, reasoning, w.any(items[i], f"The {which} one is {items[i]}.")), {"contains": [items[i]]}


FACTS = [
    (("My name is {v}.", "I am {v}.", "Call me {v}.", "Hi, I'm {v}."), ("What is my name?", "Do you know my name?", "Who am I?", "What am I called?"), ("Your name is {v}.", "You are {v}."), "first_name"),
    (("I live in {v}.", "I am from {v}.", "My home is {v}."), ("Where do I live?", "Which city do I live in?", "Where am I from?"), ("You live in {v}.", "In {v}."), "city"),
    (("My favorite color is {v}.", "I like the color {v}."), ("What is my favorite color?", "Which color do I like?"), ("Your favorite color is {v}.", "It is {v}."), "color"),
    (("I have a {v}.", "I bought a {v}.", "My new thing is a {v}."), ("What did I buy?", "What do I have?", "What was my thing again?"), ("A {v}.", "You have a {v}."), "noun"),
    (("My number is {v}.", "Remember the number {v}.", "My room is number {v}."), ("What was the number?", "Which number did I say?", "What is my number?"), ("The number is {v}.", "{v}"), "digits"),
    (("The code word is {v}.", "Remember the word {v}.", "The password is {v}."), ("What was the word?", "What is the code word?", "Which word did I tell you?"), ("The word is {v}.", "{v}"), "invented"),
    (("My friend is called {v}.", "My friend's name is {v}."), ("What is my friend's name?", "Who is my friend?", "What is my friend called?"), ("Your friend is {v}.", "{v}"), "first_name"),
    (("My dog is called {v}.", "I have a dog, {v}."), ("What is my dog called?", "What is the name of my dog?"), ("Your dog is called {v}.", "{v}"), "invented_name"),
]


def remember(w):
    chosen = w.rng.sample(FACTS, w.any(1, 1, 2))
    past, known = [], []
    for tell, ask, answers, kind in chosen:
        value = {"first_name": w.first_name, "city": w.city, "noun": w.noun, "invented": w.invented, "color": lambda: w.any(*formats.LISTS["colours"]),
                 "digits": lambda: str(w.number(2, 9999)), "invented_name": lambda: w.invented().capitalize()}[kind]()
        past.append((w.any(*tell).format(v=value), w.any("I will remember that.", "OK.", "Good to know.", "Thank you, noted.")))
        past += fillers(w, 1)
        known.append((ask, answers, value))
    ask, answers, value = w.any(*known)
    return turns(*past) + last(w.any(*ask), w.any(f"The user said {value}.", f"It was said before: {value}."), w.any(*answers).format(v=value)), {"contains": [value]}


def change_last(w):
    """The last answer in another form."""
    question, _, sentence = formats.fact(w)
    kind = w.number(0, 4)
    past = [(question, sentence)]
    if kind == 0:
        return turns(*past) + last(w.any("Now in upper case.", "Say that in capital letters.", "In upper case, please.", "Write that in capitals."), "The last answer in upper case.", sentence.upper()), {"equals": sentence.upper()}
    if kind == 1:
        return turns(*past) + last(w.any("Say that again.", "Repeat that.", "Please repeat your answer.", "What did you say?"), "The last answer again.", sentence), {"equals": sentence}
    if kind == 2:
        result = json.dumps({"answer": sentence})
        return turns(*past) + last(w.any('Now as JSON with the key "answer".', "As JSON with the key answer, please."), "The last answer as JSON.", result), {"json": {"answer": sentence}}
    if kind == 3:
        name = w.any(*formats.LISTS)
        items = w.rng.sample(formats.LISTS[name], w.number(3, 4))
        result, form = w.any(("\n".join(f"{i}. {x}" for i, x in enumerate(items, 1)), "a numbered list"), ("\n".join(f"- {x}" for x in items), "bullet points"), (json.dumps(items), "JSON"))
        return turns((f"Name {len(items)} {name}.", ", ".join(items))) + last(w.any(f"Now as {form}.", f"Please write them as {form}.", f"The same as {form}."), f"The list as {form}.", result), {"equals": result}
    asked = w.any(f"What did I ask?", "What was my question?", "Repeat my question.", "What was my last question?")
    return turns(*fillers(w, 1), *past) + last(asked, "The question before this one.", w.any(f'You asked: "{question}"', question)), {"contains": [question]}


def same_again(w):
    """The same kind of question with another value, said shortly."""
    if w.chance(0.5):
        entries = [f for f in formats.FACTS if f[0].startswith("What is the opposite of ")]
        (q1, a1, s1), (q2, a2, s2) = w.rng.sample(entries, 2)
        word = q2.removeprefix("What is the opposite of ").rstrip("?")
        return turns((q1, w.any(a1, s1))) + last(w.any(f"And of {word}?", f"And {word}?", f"What about {word}?"), f"The opposite of {word} is {a2}.", w.any(a2, s2)), {"contains": [a2]}
    one, many, _, factor, small = w.any(*[u for u in measures.UNITS if u[3] != 24])
    n, m = w.number(2, 20), w.number(2, 30)
    first = w.any(f"How many {small[1]} are {n} {many}?", f"Convert {n} {many} to {small[1]}.")
    reasoning = f"1 {one} is {factor} {small[1]}. {m} x {factor} = {m * factor}." if factor in (10, 100, 1000) else f"1 {one} is {factor} {small[1]}. {m} x {factor}: {arithmetic.multiply_steps(m, factor)}"
    result = f"{m * factor} {small[1]}"
    return turns((first, f"{n * factor} {small[1]}")) + last(w.any(f"And {m} {many}?", f"What about {m}?", f"And {m}?", f"Now {m} {many}."), reasoning, w.any(result, f"{result}.", f"That is {result}.")), {"number": m * factor}


def new_topic(w):
    """A plain question after a past that has nothing to do with it."""
    question, reasoning, answer, check = w.any(arithmetic.question, measures.question, formats.question, talk.question, arithmetic.question)(w)
    past = fillers(w, 3) or fillers(w, 3)
    return turns(*past) + last(question, reasoning, answer), check


def dialogue(w):
    kind, share = (go_on_counting, pick_from_list, remember, change_last, same_again, new_topic), (0.22, 0.14, 0.2, 0.14, 0.12, 0.18)
    return w.rng.choices(kind, share)[0](w)
