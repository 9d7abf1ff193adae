"""Small questions that anybody asks: days around the end of a month, known sets, different things of one kind, orders of size, claims
to be checked, two facts at once, several labels, capitals letter by letter, several slips in a sentence, double negatives, wordy
sentences, and code in languages that are hardly known."""

import json

from .tables import basics as data
from . import facts, lexicon
from .grammar import capital, form, ordered, typed, typists, with_payload
from .reading import finish


def day_after(w):
    """The day before or after one at the end or the beginning of a month."""
    i = w.number(0, 11)
    month, following, days = lexicon.MONTHS[i], lexicon.MONTHS[(i + 1) % 12], data.LENGTHS[i]
    said = lambda d, m: w.any(f"{d} {m}", f"{d} {m}", f"{m} {d}")
    if w.chance(0.25):
        d = w.number(2, days - 1)
        after = w.chance(0.5)
        answer = f"{d + 1 if after else d - 1} {month}"
        thought, asked = f"{month} has {days} days: {answer}.", said(d, month)
    elif after := w.chance(0.6):
        asked, answer, thought = said(days, month), f"1 {following}", f"{month} has {days} days, so after {days} {month} comes 1 {following}."
    else:
        asked, answer, thought = said(1, following), f"{days} {month}", f"Before {following} is {month}, which has {days} days: {days} {month}."
    year = " in a year that is no leap year" if "28 February" in thought or "29" in thought and month == "February" else ""
    word, other = ("after", "next") if after else ("before", "previous")
    question = typed(w, f"(what|which) (date|day) is the day {word} {{x}}{year}[?]|(what's|what is) the date one day {word} {{x}}{year}[?]|[what is] the {other} day, {{x}} was today{year}?|{{x}} - and the day {word}{year}?|which date comes (right|directly) {word} {{x}}{year}[?]".replace("{x} was today", "if today is {x}"), x=asked)
    return finish(capital(question) if w.chance(0.6) else question, thought, answer)


def known_set(w):
    """All members of a small set, in the wanted form."""
    names, items = w.any(*data.SETS)
    name = w.any(*names.split("|"))
    how, joined = w.any(*FORMS)
    question = ordered_plain(w, f"(list|name|give me|write|tell me|return|what are) {name}", how)
    return finish(question, f"{len(items)}: {', '.join(items)}.", joined(items), {"json": items} if "JSON" in how else None)


FORMS = [("", ", ".join), ("separated by commas", ", ".join), ("one per line", "\n".join), ("as bullets", lambda x: "\n".join("- " + i for i in x)), ("as a JSON array", json.dumps), ("as a JSON array", json.dumps), ("in a JSON list", json.dumps), ("as JSON array, no other text", json.dumps), ("numbered", lambda x: "\n".join(f"{k}. {i}" for k, i in enumerate(x, 1)))]


def ordered_plain(w, pattern, how):
    order = form(w, pattern)
    if order.startswith("what are"):
        ask = f"{order}? {capital(how)}".strip()
    else:
        ask = f"{order} {how}".strip() if w.chance(0.75) or not how else f"{how}: {order}"
        ask = w.any(ask, ask, f"please {ask}", f"{ask}, please") if order.split()[0] in ("list", "name", "give", "write", "tell", "return", "say") and ask.startswith(order) else ask
    return capital(typists(w, ask, 0.6))


def different(w):
    """So many different things of a kind."""
    kind = w.any("animal", "fruit", "vegetable", "color", "bird", "tool", "country", "musical instrument", "sport", "insect", "drink", "flower", "tree", "body part", "job", "city", "planet")
    if kind not in lexicon.KINDS:
        kind = "animal"
    if kind == "color" and w.chance(0.5):
        name = w.any("colours", "colour names")
    else:
        name = lexicon.plural_kind(kind)
    n = w.any(1, 2, 3, 3, 3, 4, 4, 5, 6)
    items = w.rng.sample([x.replace("_", " ") for x in lexicon.KINDS[kind]], n)
    said = w.any(str(n), lexicon.in_words(n))
    name = w.any(kind if kind != "color" else w.any("color", "colour")) if n == 1 else name
    pattern = f"(give me|name|list|tell me|write|say|think of) {said} {name}|{said} {name}|I need {said} {name}" if n > 1 else f"(tell me|name|give me|say) {lexicon.article(name)}|(tell me|name|give me) (one|any) {name}|{lexicon.article(name)}, any one"
    how, joined = w.any(*FORMS) if n > 1 else FORMS[0]
    question = ordered_plain(w, pattern, how + w.any("", "", "", ", nothing else") if how else w.any("", "", "", "", "nothing else"))
    return finish(question, f"{n}, all different: {'; '.join(f'{k} {x}' for k, x in enumerate(items, 1))}.", joined(items))


def chain(w):
    """Who is taller, older, heavier: an order out of sentences in any order."""
    more, less, most, least = w.any(*data.COMPARED)
    people = w.first_names(3, 4)
    pairs = list(zip(people, people[1:]))
    w.rng.shuffle(pairs)
    told = " ".join(w.any(f"{a} is {more} than {b}.", f"{a} is {more} than {b}.", f"{b} is {less} than {a}.") for a, b in pairs)
    order = f"{capital(more)} first: {', '.join(people)}."
    a, b = w.rng.sample(people, 2)
    first = people.index(a) < people.index(b)
    kind = w.number(0, 5)
    if kind < 3:
        question, answer, thought = w.any(f"is {a} {more} than {b}?", f"so {a} is {more} than {b}?", f"{a} {more} than {b}, yes or no?"), "Yes" if first else "No", f"{order} {a if first else b} is {more} than {b if first else a}."
    elif kind == 3:
        question, answer, thought = w.any(f"who is the {most}?", f"the {most} one?", f"who of them is the {most}?"), people[0], order
    elif kind == 4:
        question, answer, thought = w.any(f"who is the {least}?", f"the {least} one?", f"who of them is the {least}?"), people[-1], order
    else:
        question, answer, thought = f"who is {more}, {a} or {b}?", a if first else b, order
    question = typists(w, capital(question) if w.chance(0.7) else question, 0.5)
    return finish(f"{told} {question}", thought, answer)


def ranked(w):
    """Names with numbers, put into an order that is named by its ends."""
    most, least, unit = w.any(*data.RANKS)
    names = w.first_names(3, 5)
    values = w.rng.sample(range(2, 99), len(names))
    down = w.chance(0.5)
    a, b = (most, least) if down else (least, most)
    rows = sorted(zip(names, values), key=lambda r: -r[1] if down else r[1])
    shown = w.any(", ".join, "; ".join, "\n".join)([f"{x} {v}{unit}" for x, v in zip(names, values)])
    ask = typed(w, f"{a} to {b}|from {a} to {b}|(sort|order|arrange) (them|these) from {a} to {b}|{a} first|put the {a} first")
    with_values = w.chance(0.15)
    answer = ", ".join(f"{x} {v}{unit}" for x, v in rows) if with_values else ", ".join(x for x, _ in rows)
    return finish(f"{ask}{', with the numbers' if with_values else ''}: {shown}" if w.chance(0.7) else f"{shown}\n{ask}{', with the numbers' if with_values else ''}", "; ".join(f"{v} {x}" for x, v in rows) + ".", answer)


def claim(w):
    """A sum or a fact that somebody claims, right or wrong."""
    op = w.any("+", "-", "x")
    a, b = (w.number(2, 12), w.number(2, 12)) if op == "x" else (w.number(10, 60), w.number(2, 9))
    c = {"+": a + b, "-": a - b, "x": a * b}[op]
    right = w.chance(0.5)
    said = c if right else c + w.any(-2, -1, 1, 2, 5, 10)
    word = w.any({"+": "plus", "-": "minus", "x": "times"}[op], op)
    question = typed(w, "{a} {o} {b} is {s}, right?|{a} {o} {b} is {s}, (isn't it|correct|or)?|is {a} {o} {b} {s}?|{a} {o} {b} = {s}, true?|I say {a} {o} {b} is {s}. (correct|am I right)?|am I right that {a} {o} {b} is {s}?", a=a, o=word, b=b, s=said)
    return finish(capital(question), f"{a} {op} {b} = {c}, said is {said}.", "Yes" + w.any("", ".", f", {a} {op} {b} = {c}.") if right else f"No, {a} {op} {b} = {c}.", {"contains": ["Yes" if right else str(c)]})


def two_facts(w):
    (q1, a1), (q2, a2) = (w.any(*facts.FACTS, *data.YES_NO) for _ in range(2))
    if q1 == q2 or len(a1) > 40 or len(a2) > 40:
        return two_facts(w)
    one, two = (form(w, q).rstrip("?. ") for q in (q1, q2))
    question = typists(w, f"{one}{w.any(', and ', ' and ', '? And ', '... and ', '? ')}{two}?", 0.6)
    a, b = a1.rstrip("."), a2.rstrip(".")
    return finish(capital(question) if w.chance(0.5) else question, f"Two questions. First: {a}. Second: {b}.", w.any(f"{a}; {b}", f"1. {a}\n2. {b}", f"{a}. {b}."), {"contains": [a, b]})


def yes_no(w):
    question, answer = w.any(*data.YES_NO)
    short = answer.split(",")[0]
    asked = form(w, question).rstrip("? ")
    if w.chance(0.35):
        asked = w.any(f"{asked}? {w.any('Reply only yes or no.', 'yes or no', 'Just yes or no.', 'One word.', 'Answer with yes or no only.')}", f"yes or no: {asked}?", f"only yes or no please: {asked}?", f"true or false: {asked}?".replace("true or false", "yes/no"))
        answer = short
    else:
        asked += "?"
    asked = typists(w, asked, 0.6)
    return finish(capital(asked) if w.chance(0.7) else asked, f"I know that: {answer}.", answer)


def known(w):
    question, answer = w.any(*data.MORE_FACTS)
    asked = typed(w, question)
    return finish(capital(asked) if w.chance(0.5) else asked, "I know that: " + answer.rstrip(".") + ".", answer)


def capitals_of(w):
    return facts.country(w)


def labels(w):
    """Several sentences, one label each."""
    names, rows = w.any(*data.LABELLED)
    n = w.any(2, 2, 3, 3, 4)
    picked = [(w.any(*rows[label]).format(x=w.noun(), n=w.first_name(), c=w.city()), label) for label in (w.any(*rows) for _ in range(n))]
    if len({t for t, _ in picked}) < n:
        return labels(w)
    mark = w.any("{k}. ", "{k}) ", "{k}) ", "- ")
    text = w.any(" ", "\n", "\n").join(mark.format(k=k) + t for k, (t, _) in enumerate(picked, 1)) if mark != "- " else "\n".join(mark + t for t, _ in picked)
    ask = typed(w, f"(classify|label) each [sentence|one|line] as {names}|{names}? for each|(say|tell me) for each whether it is {names}|which is {names}[?]|give each [sentence] a label, {names}")
    thought = " ".join(f"{k}: {label}." for k, (_, label) in enumerate(picked, 1))
    answer = w.any("\n", ", ").join(f"{k}. {label}" for k, (_, label) in enumerate(picked, 1))
    return finish(f"{ask.rstrip('.')}: {text}" if "\n" not in text else f"{ask}\n{text}", thought, answer)


def wish(w, order, bare, payload):
    """What is to be done with a text, as an order or in a word."""
    return with_payload(w, typed(w, bare), payload) if w.chance(0.35) else ordered(w, order, payload)


def loud(w):
    """Capitals of words that no list has."""
    words = w.any(*data.SIGNS).split() if w.chance(0.5) else [w.any(w.fresh, w.noun, w.verb, w.fresh)() for _ in range(w.number(1, 4))]
    text = " ".join(words)
    question = typed(w, "(can you |please |)(write|put|type|say) (that|this|it) in (capital letters|capitals|upper case|all caps): {x}|{x} in (capitals|upper case|all caps|capital letters)[, please]|(uppercase|upper case|all caps|capitals)[ please]: {x}|make (this|it) (upper case|all caps): {x}|'{x}' with all letters big", x=text)
    return finish(question, "; ".join(f"{x}: {' '.join(x.upper())}" for x in words) + ".", text.upper())


def slips(w):
    """A sentence with two or three misspelt words."""
    right = w.any(*data.SPELT).format(n=w.first_name(), d=w.any(*lexicon.DAYS), x=w.noun(), c=w.city())
    words, changed = right.split(" "), []
    places = [i for i, x in enumerate(words) if x.strip(".,?!").lower() in data.MISSPELT]
    for i in w.rng.sample(places, min(len(places), w.any(1, 2, 3, 3))):
        bare = words[i].strip(".,?!")
        wrong = w.any(*data.MISSPELT[bare.lower()])
        wrong = capital(wrong) if bare[0].isupper() else wrong
        words[i] = words[i].replace(bare, wrong)
        changed.append((i, wrong, bare))
    before = " ".join(words)
    before = before.rstrip(".") if w.chance(0.4) else before
    if w.chance(0.2):
        before = before[0].lower() + before[1:]
    question = wish(w, "(correct|fix) (the spelling|the mistakes|the typos|my spelling|the spelling mistakes|this|it)|(spell check|spellcheck|proofread) (this|it)|write (this|it) without mistakes", "(spelling|typos)[, please]|spelling?|any typos?", before)
    return finish(question, "; ".join(f"{a} becomes {b}" for _, a, b in sorted(changed)) + ".", right)


def no_no(w):
    """Two negatives in one, or a verb that does not fit."""
    wrong, right, how = w.any(*data.NEGATIVES)
    he = w.any("he", "she")
    slots = {"he": he, "He": capital(he), "x": w.any("money", "time", "friends", "luck", "bread", "sugar", "coffee", "pens"), "n": w.first_name()}
    wrong, right, how = (t.format_map(slots) for t in (wrong, right, how))
    wrong = wrong if w.chance(0.5) else capital(wrong) + "."
    question = wish(w, "(correct|fix) (the grammar|the mistakes|this|it|my English)|correct (the grammar|this)", "is (this|it) right? (correct it|if not, correct it)|(good|proper|correct) English[, please]|grammar?|correct the grammar pls", wrong)
    return finish(question, how, right)


def wordy(w):
    """Long for what could be said shortly, the reason kept."""
    cause, act = w.any(*data.CAUSES), w.any(*data.ACTS)
    before = w.any(f"Due to the fact that {cause}, we made the decision to {act}.", f"In view of the fact that {cause}, it was decided by us to {act}.", f"As a result of the fact that {cause}, the only thing that we could do was to {act}.", f"Because of the circumstance that {cause}, we came to the conclusion that it would be best to {act}.", f"It was because {cause} that we in the end took the decision to {act}.", f"Owing to the fact that {cause}, we found ourselves having to {act}.")
    did = f"we decided to {act}" if "decid" in before or "decision" in before or "conclusion" in before else f"we had to {act}"
    question = wish(w, "make (this|it) shorter|shorten (this|it)|say (this|it) (in fewer words|more simply)|cut (this|it) down", "shorter[ please]|more concise[ please]|(fewer|less) words|too long", before)
    return finish(question, f"What: {did}. Why: {cause}.", capital(f"{did} because {cause}."))


def formal(w):
    """A casual note made formal, none of its parts lost."""
    parts = [w.any(*data.GREETINGS), w.any(*data.BODIES), *([w.any(*data.SORRIES)] if w.chance(0.6) else [])]
    slots = {"d": w.any(*lexicon.DAYS), "x": w.any("meeting", "rehearsal", "appointment", "course", "dinner", "tour", "interview"), "n": w.first_name()}
    parts = [(a.format_map(slots), b.format_map(slots)) for a, b in parts]
    before = w.any(", ", ", ", " ").join(a for a, _ in parts)
    question = wish(w, "make (this|it) [more] formal|say (this|it) formally|(rewrite|write) (this|it) (formally|politely|for my boss)|turn (this|it) into a formal (mail|message)", "more formal[ please]|(formal|polite) version|formal[ please]", before)
    return finish(question, "; ".join(f"{a} becomes {b}" for a, b in parts), " ".join(b for _, b in parts))


def script(w):
    """JavaScript of the simplest kind; of other languages it says that it does not know them."""
    if w.chance(0.6):
        asked, code = w.any(*data.JAVASCRIPT)
        x = w.any("items", "xs", "list", "numbers", w.noun())
        asked, code = (t.replace("{x}", x) for t in (w.any(*asked.split("|")), code))
        question = typists(w, w.any(f"write a JavaScript function {asked}", f"JavaScript: a function {asked}", f"a JS function {asked}, please", f"in JavaScript, a function {asked}", f"{asked} - JavaScript please"), 0.5)
        return finish(capital(question) if w.chance(0.6) else question, "JavaScript, a simple function.", code)
    language = w.any("Rust", "Go", "C++", "Java", "Ruby", "PHP", "Kotlin", "Swift", "Haskell", "C", "Perl", "Scala", "Fortran", "COBOL", "assembler", "Lua", "Prolog")
    task = w.any("sort a list", "read a file", "add two numbers", "reverse a string", "open a socket", "parse JSON", "draw a window", "count words", f"make a {w.noun()}", "start a thread", "print the date")
    question = typed(w, "(write|show me|give me) {l} code (to|that can) {t}|how do I {t} in {l}[?]|{t} in {l}[, please]|a {l} program to {t}|{l}: {t}", l=language, t=task)
    return finish(question, f"{language} is a language that I do not know.", f"I do not know {language}. I know only some Python, shell and SQL.")


TASKS = {day_after: 7, known_set: 9, different: 14, chain: 9, ranked: 7, claim: 6, two_facts: 5, yes_no: 16, known: 18, capitals_of: 10, labels: 7, loud: 9, slips: 11, no_no: 7, wordy: 6, formal: 8, script: 7}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
