"""Conversations of two to nine turns: questions that refer back to a text, corrections, lists and settings that change,
orders that are taken, choices, and numbers that were named before."""

import json

from . import chat, facts, lexicon, memory, ordering, scenes, sums, worlds
from .grammar import capital, listing, say, typed
from .memory import filler, past, turn
from .reading import laid_out


def about_scene(w):
    """A text, a question, and further questions about the same or another row in few words."""
    s = scenes.Scene(w, rows=w.number(2, 5), properties=w.number(1, 4))
    text = s.text(w, w.chance(0.8) or None)
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    asked = s.ask(w, w.any(*p.asked), i, p)
    blocks = []
    if w.chance(0.3):
        blocks += past(w.any(text, f"{text}\n\n{w.any('Read this first.', 'I will ask you about this.', 'Remember it.')}"), w.any("OK, I have read it.", "Understood. What would you like to know?", "Noted.", "I have read it."))
        blocks += past(asked, str(s.rows[i][p.name]))
    else:
        blocks += past(laid_out(w, text, asked), str(s.rows[i][p.name]))
    for k in range(w.any(1, 1, 1, 2, 2, 3, 4)):
        kind = w.any("other", "other", "same", "same", "new", "unsaid", "why", "list", "compare")
        reasoning = ""
        if kind == "other":
            rest = [j for j in range(len(s.rows)) if j != i]
            if len(rest) == 1 and w.chance(0.4):
                j = rest[0]
                question = typed(w, "and the other (one|{o})[?]|what about the other (one|{o})[?]|the other one?", o=s.one)
            else:
                j = w.any(*rest)
                question = typed(w, "and {k}[?]|what about {k}[?]|(how about|and for) {k}[?]|{k}?|and {k}, please|same question for {k}[.]|now {k}", k=s.called(j))
            i = j
            reasoning, answer = f"The question is again the {p.name}. {s.evidence(w, i, p)}", str(s.rows[i][p.name])
        elif kind == "same" and len(s.properties) > 1:
            p = w.any(*[q for q in s.properties if q is not p])
            he = s.genders[i]
            if w.chance(0.5):
                question = typed(w, f"and (the|{'his' if he == 'he' else 'her' if he == 'she' else 'its'}) {p.name}[?]|what about the {p.name}[?]|{p.name}?")
            else:
                question = typed(w, w.any(*p.asked).replace("the {k}", "{k}").replace("{ks}", "of them"), k=he)
                if " he's" in question or "she's" in question or "it's" in question or "of he" in question or "of she" in question:
                    question = typed(w, f"and the {p.name}[?]")
            reasoning, answer = f"It is still about {s.called(i)}. {s.evidence(w, i, p)}", str(s.rows[i][p.name])
        elif kind == "compare" and any(q.number and q.more for q in s.properties):
            p = w.any(*[q for q in s.properties if q.number and q.more])
            j = w.any(*[x for x in range(len(s.rows)) if x != i])
            a, b = s.rows[i][p.name], s.rows[j][p.name]
            if a == b:
                continue
            win, lose = (i, j) if a > b else (j, i)
            blocks += past(s.ask(w, "(who|which) is {x}, {a} or {b}[?]" if s.person else "(what|which [one]) is {x}, {a} or {b}[?]", x=p.more[0], a=s.called(i), b=s.called(j)), capital(s.called(win)))
            question = typed(w, "by how (much|many)[?]|how (big|large) is the difference[?]|and the difference[?]|what is the difference[ in numbers][?]|how much [more] is that[?]")
            i, reasoning, answer = win, f"{capital(s.called(win))} {max(a, b)}, {s.called(lose)} {min(a, b)}. {sums.minus(max(a, b), min(a, b))}", str(abs(a - b))
        elif kind == "unsaid" and s.absent:
            q = w.any(*s.absent)
            question, reasoning, answer = w.any(f"and the {q.name}?", f"and the {q.name} of {s.called(i)}?", s.ask(w, w.any(*q.asked), i)), f"The text has nothing about the {q.name}.", scenes.NOT_SAID
        elif kind == "why":
            question, reasoning, answer = typed(w, "(where does it say that|how do you know|are you sure|why)[?]|which (sentence|line) says (that|so)?|sure?"), f"It follows from the text. {s.evidence(w, i, p)}", f"The text says it: {s.called(i)} {s.phrase(w, i, p)}."
        elif kind == "list":
            question, reasoning, answer = typed(w, f"(list|name) all (the |){s.many}|who or what else is (there|named)[?]|all the names[, please]"), "All the names.", ", ".join(r[""] for r in s.rows)
        else:
            question, reasoning, answer, _ = scenes.any_task(w, s)
            blocks += turn(question, reasoning, answer)
            # What "and X?" would mean is open now; the same property is asked for once more.
            i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
            question, reasoning, answer = s.ask(w, w.any(*p.asked), i, p), s.evidence(w, i, p), str(s.rows[i][p.name])
        if w.chance(0.06):
            blocks += filler(w)
        blocks += turn(question, reasoning, answer)
    return blocks, {"equals": answer}


def growing_list(w):
    """A list that the user keeps here: add, remove, replace, move, count, show."""
    items = ordering.words_of(w, w.number(0, 3))
    name = w.any("shopping list", "to-do list", "packing list", "guest list", "reading list", "list", "list of names", "playlist", "menu")
    if items:
        opening = typed(w, "(my|start a|let's make a|this is my) {n}: {l}|{n}: {l}[. keep it for me]|(put|write) {l} on (my|a) {n}", n=name, l=w.any(", ".join(items), listing(items)))
    else:
        opening = typed(w, "(start|make|open|let's make|I want to make) a [new] {n}[, please]|new {n}[, please]", n=name)
    shown = lambda: ", ".join(items) if items else "The list is empty."
    blocks = past(opening, w.any("OK.", "Noted.", "OK: ") if not items else w.any(f"OK: {shown()}.", f"Your {name}: {shown()}.", shown(), "Noted."))
    if blocks[-1]["content"] == "OK: ":
        blocks[-1]["content"] = "OK, the list is empty."
    before = list(items)
    for k in range(w.number(1, 5)):
        previous = list(items)
        kind = w.any("add", "add", "add", "remove", "replace", "show", "count", "undo", "two", "clear", "mixed", "mixed")
        if kind in ("add", "two") or len(items) < 2:
            new = [x for x in ordering.words_of(w, 2 if kind == "two" else 1) if x not in items]
            if not new:
                continue
            items += new
            question = typed(w, "(add|put|and|also) {x} [(on|to) (it|the list)]|{x} too|plus {x}|we also need {x}|don't forget {x}|{x} as well[, please]", x=listing(new))
        elif kind == "mixed":
            x, (y,) = w.any(*items), ordering.words_of(w, 1)
            if y in items:
                continue
            items.remove(x)
            items.append(y)
            question = typed(w, "(add|put on) {y} and (remove|take off|delete) {x}{z}|{y} yes, {x} no{z}|(take|strike) {x} off and (put|write) {y} on{z}|plus {y}, minus {x}{z}|{x} (goes|leaves), {y} (comes in|is new){z}".replace("{z}", w.any("", "", "[.] (what is|what's) on it now[?]", ", and (read|show) [me] the result", "[.] then (read|give) [me] the list")), x=x, y=y)
        elif kind == "remove":
            x = w.any(*items)
            items.remove(x)
            question = typed(w, "(remove|delete|drop|take off|scratch) {x}[, please]|I don't need {x} [anymore]|without {x}|no {x} after all|forget (about |){x}", x=x)
        elif kind == "replace":
            x, y = w.any(*items), ordering.words_of(w, 1)[0]
            if y in items:
                continue
            items[items.index(x)] = y
            question = typed(w, "(replace|swap) {x} (with|for) {y}|make {x} {y}|{y} instead of {x}|change {x} to {y}", x=x, y=y)
        elif kind == "undo" and before != items:
            items = list(before)
            question = typed(w, "(undo (that|this|it|the last (change|step))|take that back|no, as it was before|revert that)[, please]")
        elif kind == "clear" and w.chance(0.3):
            items = []
            question = typed(w, "(clear|empty|delete) (it|the [whole] list)|start over|throw the list away")
        elif kind == "count":
            question = typed(w, "how many (things|items|entries|names) (are (on it|there)|is that|do I have)[?]|count them|number of items?")
            blocks += turn(question, f"The list: {shown()}", str(len(items)))
            continue
        else:
            question = typed(w, "(show|read|give|tell) me the list|what's on (it|the list)[ now][?]|what do I have [now|so far][?]|the list[, please]?|so what is it now?")
            blocks += turn(question, f"The list has {len(items)}.", shown())
            before = previous
            continue
        before = previous
        blocks += turn(question, f"Before: {', '.join(previous) or 'nothing'}.", shown())
    final = typed(w, "(show|read|give|tell) me the [whole|final] list|what's on (it|the list)[ now][?]|what do I have [now|so far][?]|the list[, please]?|and now?|full list")
    r = w.rng.random()
    if r < 0.5 or not items:
        return blocks + turn(final, f"The list has {len(items)}.", shown()), {"equals": shown()}
    if r < 0.65:
        return blocks + turn(typed(w, "how many (things|items|entries) (are (on it|there)|is that|do I have)[ now][?]|count them"), "; ".join(f"{i + 1} {x}" for i, x in enumerate(items)) + ".", str(len(items))), {"equals": str(len(items))}
    if r < 0.8:
        x = w.any(*items) if w.chance(0.5) else ordering.words_of(w, 1)[0]
        answer = "Yes" if x in items else "No"
        return blocks + turn(typed(w, "is {x} on (it|the list)[?]|do I (already |)have {x}[?]|did I (add|say) {x}[?]", x=x), f"The list: {shown()}.", answer), {"contains": [answer]}
    if r < 0.9:
        i = w.any(0, -1)
        return blocks + turn(typed(w, f"what (is|was) the {'first' if i == 0 else 'last'} (one|item|entry)[ on it][?]|the {'first' if i == 0 else 'last'} one?"), f"The list: {shown()}.", items[i]), {"equals": items[i]}
    return blocks + turn(typed(w, "[now] as (JSON|a JSON list)|(give|show) it as JSON"), f"The list: {shown()}.", json.dumps(items, ensure_ascii=False)), {"equals": json.dumps(items, ensure_ascii=False)}


def corrected(w):
    """The user meant something else; the same once more with it."""
    kind = w.number(0, 4)
    if kind == 0:
        name, city, language, money, continent = w.any(*facts.COUNTRIES)
        name2, city2, language2, money2, continent2 = w.any(*facts.COUNTRIES)
        if name == name2:
            return corrected(w)
        j = w.any(0, 1, 2, 2)
        what = ("capital", "language", "continent")[j]
        a, b = (city, language, continent)[j], (city2, language2, continent2)[j]
        question, first, thought = typed(w, "(what is|what's|tell me|) the {x} of {n}[?]", x=what, n=name), a, f"Now {name2}, its {what}."
        wrong, right = name, name2
    elif kind == 1:
        wrong, right = str(w.number(2, 60)), str(w.number(2, 60))
        n = w.number(2, 9)
        a, b = str(int(wrong) * n), str(int(right) * n)
        question, first, thought = typed(w, "(what is|how much is|) {a} times {b}[?]", a=wrong, b=n), a, f"{right} x {n} = {b}."
    elif kind == 2:
        words = ordering.words_of(w, 2)
        wrong, right = words
        change, what = w.any((str.upper, "in capitals"), (lambda t: t[::-1], "backwards"), (lambda t: "-".join(t), "with dashes between the letters"), (lambda t: t[0], "- only the first letter"))
        a, b = change(wrong), change(right)
        question, first, thought = typed(w, "write {x} {y}", x=wrong, y=what), a, f"Now {right}, {what}."
    elif kind == 3:
        s = scenes.Scene(w, rows=w.number(2, 4), properties=2)
        i, j = w.rng.sample(range(len(s.rows)), 2)
        p = w.any(*s.properties)
        a, b = str(s.rows[i][p.name]), str(s.rows[j][p.name])
        wrong, right = s.called(i), s.called(j)
        question, first, thought = laid_out(w, s.text(w), s.ask(w, w.any(*p.asked), i, p)), a, s.evidence(w, j, p)
    else:
        wrong, right = w.first_name(), w.first_name()
        thing = w.any("a greeting for", "a birthday wish for", "a short thank-you to")
        make = {"a greeting for": "Hello {n}, how are you?", "a birthday wish for": "Happy birthday, {n}!", "a short thank-you to": "Thank you very much, {n}!"}[thing]
        a, b = make.format(n=wrong), make.format(n=right)
        question, first, thought = typed(w, "write {t} {n}[, please]", t=thing, n=wrong), a, f"The same for {right}."
    if wrong == right or a == b:
        return corrected(w)
    again = typed(w, "(sorry|oh|oops|no|wait)[,] I meant {x}|not {y}, {x}|I mean {x}[, not {y}]|(actually|rather) {x}|make that {x}|correction: {x}|{x}, not {y}[!]|no, {x}|(wrong|my mistake), it should be {x}", x=right, y=wrong)
    return past(question, first) + turn(again, thought, b), {"equals": b}


SETTINGS = [("volume", "num:1:100"), ("temperature", "num:10:30"), ("brightness", "num:1:100"), ("budget", "num:50:5000"), ("deadline", "day"), ("meeting", "clock"), ("alarm", "clock"), ("colour of the theme", "color"), ("language", "language"), ("destination", "city"), ("contact person", "name"), ("speed", "num:1:200"),
            ("number of guests", "num:2:80"), ("delivery day", "day"), ("driver", "name"), ("start time", "clock"), ("limit", "num:1:500"), ("font size", "num:8:40"), ("code word", "word"), ("captain", "name"), ("meeting point", "city"), ("timeout", "num:1:600"), ("port", "num:1000:9999")]


def drawn(w, kind):
    if kind.startswith("num:"):
        return str(w.number(*map(int, kind[4:].split(":"))))
    return w.noun() if kind == "word" else worlds.draw(w, kind)[0]


def settings(w):
    """Several values are set, some changed later; each has its last value."""
    chosen = w.rng.sample(SETTINGS, w.number(2, 5))
    values = {name: drawn(w, kind) for name, kind in chosen}
    kinds = dict(chosen)
    blocks = []
    if w.chance(0.5):
        text = w.any(", ", "; ", "\n").join(w.any("{n}: {v}", "the {n} is {v}", "{n} {v}", "{n} = {v}").format(n=n, v=v) for n, v in values.items())
        blocks += past(w.any("Remember: ", "Please note: ", "These are our settings: ", "For later: ", "") + text, w.any(*memory.NOTED[:7]))
    else:
        for n, v in values.items():
            blocks += past(typed(w, "(set|put) the {n} to {v}|the {n} is {v}[, remember that]|{n}: {v}|we take {v} as [the] {n}", n=n, v=v), w.any("OK, the {n} is {v}.", "Noted.", "Done: {n} {v}.", "All right.").format(n=n, v=v))
    for _ in range(w.any(0, 1, 1, 2, 3)):
        n = w.any(*values)
        new = drawn(w, kinds[n])
        if kinds[n].startswith("num:") and w.chance(0.3):
            d = w.number(1, 10)
            up = w.chance(0.5) or int(values[n]) <= d
            new = str(int(values[n]) + d if up else int(values[n]) - d)
            text = typed(w, f"{'(raise|increase)' if up else '(lower|reduce|decrease)'} the {{n}} by {{d}}|the {{n}} {'plus' if up else 'minus'} {{d}}[, please]", n=n, d=d)
            blocks += past(text, f"The {n} is {new} now.")
        else:
            text = typed(w, "(change|set|make) the {n} (to |){v}|(actually|wait), the {n} is {v}|new {n}: {v}|the {n} is {v} now|let's take {v} (as|for) the {n} [instead]", n=n, v=new)
            blocks += past(text, w.any("OK, {n}: {v}.", "Changed.", "Noted.", "OK.").format(n=n, v=new))
        values[n] = new
        if w.chance(0.3):
            blocks += filler(w)
    if w.chance(0.2):
        answer = "\n".join(f"{n}: {v}" for n, v in values.items())
        return blocks + turn(typed(w, "(list|show|give me|sum up) (all [the] settings|everything [we set]|all values)|what are (the settings|all values) now[?]"), "The last values.", answer), {"equals": answer}
    if w.chance(0.08):
        n = w.any(*[x for x, _ in SETTINGS if x not in values])
        return blocks + turn(typed(w, "what is the {n}[ now][?]|which {n} (did we set|do we have)[?]", n=n), "That was not set.", f"You have not told me the {n}."), {"contains": ["not"]}
    n = w.any(*values)
    return blocks + turn(typed(w, "what is the {n}[ (now|again)][?]|what('s| is) our {n}[?]|(tell|remind) me of the {n}|{n}?|which {n} (did we set|do we have|holds) [now|in the end][?]", n=n), f"The last {n} was {values[n]}.", values[n]), {"equals": values[n]}


def variables(w):
    """Letters and names that stand for numbers, and sums of them later."""
    names = w.rng.sample("abcnxyzkpt", 2) if w.chance(0.5) else ordering.words_of(w, 2)
    a, b = w.number(2, 40), w.number(2, 12)
    blocks = past(typed(w, "(let|) {x} = {a} [and {y} = {b}]|{x} is {a}[ and {y} is {b}]|say {x} is {a}[, {y} is {b}]", x=names[0], y=names[1], a=a, b=b), w.any("OK.", "Noted."))
    if names[1] + " " not in blocks[0]["content"].split(str(a), 1)[-1]:
        blocks += past(typed(w, "and {y} is {b}|{y} = {b}|now {y} is {b}", y=names[1], b=b), w.any("OK.", "Noted.", f"{names[1]} is {b}."))
    if w.chance(0.3):
        a = w.number(2, 40)
        blocks += past(typed(w, "[now] change {x} to {a}|{x} is {a} now|no, {x} = {a}", x=names[0], a=a), w.any("OK.", "Changed."))
    kind = w.any("+", "x", "-", "value", "double")
    if kind == "-" and a < b:
        kind = "+"
    x, y = names
    question, steps, value = {"+": (typed(w, "what is {x} + {y}[?]|{x} plus {y}?|add {x} and {y}", x=x, y=y), f"{a} + {b} = {a + b}.", a + b), "x": (typed(w, "what is {x} times {y}[?]|multiply {x} by {y}|{x} * {y}?", x=x, y=y), f"{a} x {b} = {a * b}.", a * b), "-": (typed(w, "what is {x} - {y}[?]|{x} minus {y}?|subtract {y} from {x}", x=x, y=y), f"{a} - {b} = {a - b}.", a - b),
                              "value": (typed(w, "what is {x}[ now][?]|(value of|and) {x}?", x=x), f"{x} is {a}.", a), "double": (typed(w, "what is (double|twice) {y}[?]|2 times {y}?", y=y), f"2 x {b} = {2 * b}.", 2 * b)}[kind]
    return blocks + turn(question, f"{x} is {a}, {y} is {b}. {steps}", str(value)), {"number": value}


MENUS = {"pizza": (["margherita", "salami", "tuna", "spinach", "mushroom"], ["small", "medium", "large"]), "coffee": (["latte", "espresso", "cappuccino", "mocha", "americano"], ["small", "medium", "large"]), "ice cream": (["vanilla", "chocolate", "lemon", "strawberry", "mint"], ["one scoop", "two scoops", "three scoops"]), "burger": (["cheese", "chicken", "veggie", "fish", "double"], ["single", "double", "menu"]), "T-shirt": (["red", "blue", "black", "white", "green"], ["S", "M", "L", "XL"]), "ticket": (["adult", "child", "student", "senior"], ["one way", "return"])}


def taken_order(w):
    """The assistant takes an order, asks for what is missing, and sums up."""
    thing = w.any(*MENUS)
    sorts, sizes = MENUS[thing]
    sort, size, name, count = w.any(*sorts), w.any(*sizes), w.first_name(), w.number(1, 5)
    system = w.any(f"You take orders for a {thing} shop. Ask for the kind ({', '.join(sorts)}), the size ({', '.join(sizes)}) and the name, one question at a time. Then sum up.", f"You are an order desk. A {thing} order needs: kind, size, name. Ask for what is missing. When all is known, repeat the order.")
    known, blocks = {}, [{"role": "system", "content": system}]
    first = w.rng.sample(["kind", "size"], w.number(0, 2))
    known.update({k: {"kind": sort, "size": size}[k] for k in first})
    said = f"I'd like a {' '.join(known[k] for k in ('size', 'kind') if k in known)} {thing}".replace("  ", " ")
    message = w.any(said, said + ", please", said.replace("I'd like", "can I have") + "?")
    stop = w.number(0, 4)
    for step in range(5):
        missing = [k for k in ("kind", "size", "name") if k not in known]
        if not missing:
            answer = f"Your order: {known['size']} {known['kind']} {thing} for {known['name']}."
            blocks += turn(message, "Everything is known.", answer)
            if w.chance(0.5):
                k = w.any("kind", "size", "name")
                new = {"kind": w.any(*sorts), "size": w.any(*sizes), "name": w.first_name()}[k]
                known[k] = new
                answer = f"Your order: {known['size']} {known['kind']} {thing} for {known['name']}."
                blocks += turn(typed(w, "(sorry|oh|wait), (make it|change it to|I want|rather|better) {v}[, please]|actually {v}" if k != "name" else "(sorry|oh), the name is {v}|it is for {v}", v=new), f"The {k} is {new} now.", answer)
            return blocks, {"equals": answer}
        answer = {"kind": f"Which kind of {thing} would you like?", "size": "Which size would you like?", "name": "What name is it for?"}[missing[0]]
        blocks += turn(message, f"The {missing[0]} is missing.", answer)
        if step == stop:
            return blocks, {"equals": answer}
        known[missing[0]] = {"kind": sort, "size": size, "name": name}[missing[0]]
        v = known[missing[0]]
        message = w.any(v, f"{v}, please", f"{v}.", f"{v} please") if missing[0] != "name" else w.any(v, f"for {v}", f"My name is {v}.", f"{v}, please")
    return blocks, {"equals": answer}


OFFERED = {"flat": ("street", [("rent", "num:300:2400", "how much is (the rent|it)[?]|what does it cost[?]"), ("rooms", "num:1:6", "how many rooms (has it|does it have)[?]|rooms?"), ("floor", "any:first,second,third,top,ground", "(which|what) floor is it on[?]")]), "parrot": ("name", [("colour", "color", "(what|which) colour is it[?]|its colour?"), ("years old", "num:1:40", "how old is it[?]|(its|the) age?"), ("at home", "city", "where (is it|does it live)[?]")]),
           "tutor": ("name", [("subject", "any:maths,French,physics,history,music,biology", "what does (he|she) teach[?]|subject?"), ("euros an hour", "num:10:60", "(what does (he|she) take|how much is an hour)[?]"), ("free", "day", "(when|on which day) is (he|she) free[?]")]), "used car": ("company", [("price", "num:900:9000", "how much (is it|does it cost)[?]|price?"), ("colour", "color", "(what|which) colour (is|has) it[?]"), ("built", "num:1990:2024", "(when|in which year) was it built[?]|how old is it, from which year?")]),
           "hotel": ("hotel", [("a night", "num:40:400", "(what|how much) is a night[?]"), ("from the beach in metres", "num:50:900", "how far is it from the beach[?]"), ("pool", "any:yes,no", "(is there|does it have) a pool[?]")]), "colleague": ("person", [("office", "room", "where does (he|she) sit[?]|which office?"), ("extension", "num:100:999", "(what is|what's) the (number|extension)[?]|how do I call (him|her)[?]"), ("job", "job", "what is (his|her) job[?]")])}


def picked(w):
    """One of several that were described is chosen by its place or a property; what follows is about it."""
    thing = w.any(*OFFERED)
    kind, properties = OFFERED[thing]
    rows = []
    while len(rows) < w.number(2, 4):
        row = {"": worlds.draw(w, kind)[0], **{p: w.any(*k[4:].split(",")) if k.startswith("any:") else drawn(w, k) for p, k, _ in properties}}
        if all(row[""] != r[""] for r in rows):
            rows.append(row)
    shown = "\n".join(f"{i + 1}. {r['']}" + "".join(f", {p} {r[p]}" for p, _, _ in properties) for i, r in enumerate(rows))
    blocks = past(typed(w, "(which|what) {t}s (are there|do you have)[?]|(show|give|name) me (some|the) {t}s[, please]|I'm looking for a {t}|any {t}s?", t=thing), shown)
    i = w.rng.randrange(len(rows))
    names = ["first", "second", "third", "fourth"]
    choice = typed(w, "(I'll have|I prefer|I like|let me take|let it be) (the {n} one|number {k})|the {n} [one] (sounds|looks) good|number {k}, please|tell me more about the {n}", n="last" if i == len(rows) - 1 and w.chance(0.5) else names[i], k=i + 1)
    asked = [("name", "", "(what is|what's) it called[?]|(what is|what's) the name[ again][?]|which one was that, the name?")] + list(properties)
    chosen = w.rng.sample(asked, w.number(1, 3))
    for n, (p, _, pattern) in enumerate(chosen):
        answer = rows[i]["" if p == "name" else p]
        question = typed(w, pattern)
        if n == 0:
            if w.chance(0.6):
                question = choice.rstrip(".") + ". " + question
            else:
                blocks += turn(choice, f"Number {i + 1} is {rows[i]['']}.", f"You chose {rows[i]['']}.")
        blocks += turn(question, f"Number {i + 1} is {rows[i]['']}: {p} {answer}." if p != "name" else f"Number {i + 1} is {answer}.", answer)
    return blocks, {"equals": answer}


def options(w):
    """Something is offered; the user picks by place, by property or takes another."""
    items = ordering.words_of(w, w.number(2, 4))
    prices = w.rng.sample(range(2, 99), len(items))
    priced = w.chance(0.5)
    shown = "\n".join(f"{i + 1}. {capital(x)}{f' ({p} euros)' if priced else ''}" for i, (x, p) in enumerate(zip(items, prices)))
    blocks = past(typed(w, "(what (do you have|is there|can I choose from)|show me the (options|choices)|which ones are there)[?]|options?|what can I take?"), w.any("", "There are:\n", "You can choose:\n") + shown)
    i = w.rng.randrange(len(items))
    names = ["first", "second", "third", "fourth"]
    if priced and w.chance(0.5):
        cheap = w.chance(0.5)
        i = prices.index(min(prices) if cheap else max(prices))
        question = typed(w, "(I take|give me) the (cheapest|cheaper)[ one]|the cheapest[, please]" if cheap else "(I take|give me) the (most expensive|dearest) [one]|the most expensive one[, please]")
    else:
        question = typed(w, "(I take|give me|I'd like|let's go with) (the {n} one|number {k})|the {n}[ one][, please]|number {k}[, please]|{k}", n="last" if i == len(items) - 1 and w.chance(0.5) else names[i], k=i + 1)
    answer = f"You chose {items[i]}{f' for {prices[i]} euros' if priced else ''}."
    blocks += turn(question, f"Number {i + 1}: {items[i]}.", answer)
    r = w.rng.random()
    if r < 0.4:
        j = w.any(*[k for k in range(len(items)) if k != i])
        question = typed(w, "(no|hmm|wait|sorry), (the {n} one|number {k}) [instead]|rather number {k}|I changed my mind, the {n} one", n=names[j], k=j + 1)
        answer = f"You chose {items[j]}{f' for {prices[j]} euros' if priced else ''}."
        blocks += turn(question, f"Number {j + 1}: {items[j]}.", answer)
        i = j
    if w.chance(0.3):
        question, answer = typed(w, "what did I (choose|take)[ again][?]|which one was it[?]|so what do I get?"), items[i]
        blocks += turn(question, f"The choice was number {i + 1}.", answer)
    return blocks, {"contains": [items[i]]}


def scores(w):
    """Points that are counted over several turns."""
    people = w.first_names(2, 3)
    points = dict.fromkeys(people, 0)
    shown = lambda: ", ".join(f"{n} {v}" for n, v in points.items())
    blocks = past(typed(w, "(keep|count) the (score|points) for {l}[, please]|{l} play, (please |)keep score|we need a scorekeeper: {l}", l=listing(people)), f"OK. {shown()}.")
    for _ in range(w.number(1, 5)):
        n, k = w.any(*people), w.number(1, 9)
        lose = points[n] > k and w.chance(0.15)
        points[n] += -k if lose else k
        question = typed(w, "{n} loses {k}|minus {k} for {n}" if lose else "{n} (gets|scores|wins|has) {k} [more] [points]|{k} [points] (for|to) {n}|plus {k} for {n}|+{k} {n}", n=n, k=k)
        blocks += turn(question, f"{n}: {points[n] + (k if lose else -k)} {'-' if lose else '+'} {k} = {points[n]}.", shown())
    r = w.rng.random()
    if r < 0.4:
        return blocks, {"equals": shown()}
    best = max(points.values())
    if r < 0.7 and list(points.values()).count(best) == 1:
        who = max(points, key=points.get)
        return blocks + turn(typed(w, "who (is ahead|is first|leads|is winning|has most)[ now][?]"), shown() + ".", who), {"equals": who}
    n = w.any(*people)
    return blocks + turn(typed(w, "how many (points |)does {n} have[ now][?]|{n}'s points?|score of {n}?", n=n), shown() + ".", str(points[n])), {"equals": str(points[n])}


def said_before(w):
    """What was said earlier in the talk, by whom, and in which order."""
    blocks, asked = [], []
    for _ in range(w.number(2, 5)):
        b = filler(w)
        if b[0]["content"] in asked:
            continue
        asked.append(b[0]["content"])
        blocks += b
    n = len(asked)
    i = w.any(0, 0, n - 1)
    answers = [m["content"] for m in blocks if m["role"] == "assistant"]
    if w.chance(0.5):
        question = typed(w, "what was my (first|very first) (question|message)[?]|what did I (ask|say|write) first[?]|how did I begin?" if i == 0 else "what did I just (ask|say|write)[?]|what was my last (question|message)[?]")
        return blocks + turn(question, f"{'The first' if i == 0 else 'The last'} message of the user.", asked[i]), {"equals": asked[i]}
    question = typed(w, "what was your first answer[?]|what did you (say|answer) first[?]" if i == 0 else "what did you just (say|answer)[?]|what was your last answer[?]")
    return blocks + turn(question, f"{'The first' if i == 0 else 'The last'} answer.", answers[i]), {"equals": answers[i]}


TASKS = {about_scene: 36, growing_list: 17, corrected: 12, settings: 14, variables: 6, taken_order: 5, options: 6, picked: 9, scores: 4, said_before: 4}


def dialogue(w):
    return memory.acknowledged(w, *w.rng.choices(list(TASKS), list(TASKS.values()))[0](w))
