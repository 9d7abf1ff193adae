"""Word problems of everyday life from a table: who has, buys, shares, drives and waits, with numbers as words and digits,
numbers that do not matter among them, and every answer worked out from its formula.

tables/problems:

numbers | what is told | question => steps => unit ; question => steps => unit ; ...

Numbers: `a 2-9` is drawn, `t=a*b` follows, `c<t` must hold. Steps: one operation each where it helps, `name=` gives a
step a name; `x in 1/2` is one of these; `part(p, x)` is a percentage, `up(x, y)` how many groups are needed, `far(x, y)` the
difference. In the text {a} is a number in digits or
words, {a~} one before a noun ("a dozen"), {ax} "twice", {af} "half" or "a third". The other slots: {n} {m} {k} names, {he}
{his} {him} of {n}, {t} things, {p} {q} what is sold, {ap} {aq} with its article, {M} money, {d} {e} days, {c} a city. {x1=a/b} is one of these words, {x1} the
same again. Patterns as in grammar.py.
"""

import ast
import functools
import re

from . import lexicon, sums, tables
from .grammar import capital, form, typists
from .reading import finish

SOLD = "ticket|pen|coffee|sandwich|book|poster|lamp|plant|cap|pizza|postcard|lemon|cake|rose|notebook|melon|toy|candle|scarf|mug|map|bag|basket|cushion|brush|bottle|shirt|game|orange|umbrella|apron".split("|")
LARGE = "jacket|bike|sofa|tent|coat|camera|chair|phone|carpet|guitar|printer|watch|oven|desk|suitcase|heater|armchair|radio".split("|")
TIMES = {2: "twice", 3: "three times", 4: "four times"}
PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}
# What stands beside the story and has a number that is not needed.
ASIDES = ["{n} lives (on the {z1}th floor|at number {z}|in house number {z}).", "{m}'s grandmother is {z} years old.", "The way there takes {z} minutes.", "{n}'s (bag|dog|suitcase) weighs {z} kilos.", "It is {z} degrees outside.", "The next (shop|village|station) is {z} kilometres away.", "(The bus|The tram) of line {z} stops (nearby|in front of the house).", "{n}'s (shirt|jersey) has the number {z}.", "It is page {z} of the (newspaper|exercise book).", "(The door|The shop|The building) has the number {z}.", "(There|Outside) (is|hangs) a sign with the number {z}.",
          "{m}'s (flat|office) is number {z}.", "{m} is on the {z1}th floor.", "The radio plays a song from {z2}.", "{n} and {m} have known each other since {z2}.", "{n} wears size {z}.", "(Nobody else is there|It is a quiet day|The weather is fine|{m} only watches|{n} is in a good mood).", "{n} (met|meets) {m} in room {z}.", "It is the {z1}th time that {n} does this."]


SIGNED = re.compile(r"[$€£]\{(\w+)\}|\{(\w+)\}(?= ?[€%])")  # beside a sign a number is in digits


class Shape:
    """A row of the table: how its numbers are drawn, its text and its questions."""

    def __init__(self, line):
        numbers, self.text, questions = (x.strip() for x in line.split(" | "))
        self.draws, self.conditions = [], []
        for x in numbers.split(", "):
            if m := re.fullmatch(r"(\w+) (\d+)-(\d+)", x):
                self.draws.append((m[1], (int(m[2]), int(m[3]))))
            elif m := re.fullmatch(r"(\w+) in ([\d/]+)", x):
                self.draws.append((m[1], [int(n) for n in m[2].split("/")]))
            elif m := re.fullmatch(r"(\w+)=([^=].*)", x):
                self.draws.append((m[1], compile(m[2], "numbers", "eval")))
            else:
                self.conditions.append(compile(x, "numbers", "eval"))
        self.questions = _questions(questions)
        self.signed = {a or b for a, b in SIGNED.findall(line)}

    def drawn(self, w):
        while True:
            values = {}
            for name, how in self.draws:
                values[name] = w.number(*how) if isinstance(how, tuple) else w.any(*how) if isinstance(how, list) else eval(how, {}, values)
            if all(eval(c, {}, values) for c in self.conditions):
                return values


def _questions(text):
    """[(question, [steps], unit)]: "question => step ; step => unit ; question => ..."."""
    out, question, steps = [], None, []
    for part in text.split(" ; "):
        cells = part.split(" => ")
        if question is None:
            question, cells = cells[0], cells[1:]
        steps.append(cells[0])
        if len(cells) > 1:
            out.append((question, steps, cells[1]))
            question, steps = None, []
    return out


SHAPES = [Shape(line) for line in tables.lines("problems")]


@functools.lru_cache(maxsize=None)
def tree(expression):
    return ast.parse(expression, mode="eval").body


def part(p, base):
    """p percent of base, and how it is found."""
    value = p * base // 100
    return value, {10: f"10 % of {base} is {value}.", 50: f"Half of {base} is {value}.", 25: f"A quarter of {base} is {value}.", 20: f"A fifth of {base} is {value}.", 5: f"10 % is {base / 10:g}, half of that {value}."}.get(p, f"10 % is {base / 10:g}; {p} % is {value}.")


def worked(node, values, steps):
    """The value; what is worked out on the way goes to steps."""
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call):
        a, b = (worked(x, values, steps) for x in node.args)
        if node.func.id == "part":
            value, step = part(a, b)
        elif node.func.id == "far":
            value, step = abs(a - b), sums.minus(max(a, b), min(a, b))
        else:
            value, step = -(-a // b), f"{b} x {a // b} = {a // b * b}, {a} - {a // b * b} = {a % b}: one more, {-(-a // b)}." if a % b else f"{b} x {a // b} = {a}: {a // b}."
        steps.append(step)
        return value
    a, b = worked(node.left, values, steps), worked(node.right, values, steps)
    kind = type(node.op)
    value = {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b, ast.Div: lambda: a // b, ast.FloorDiv: lambda: a // b, ast.Mod: lambda: a % b}[kind]()
    rest = {ast.Mod: f"{b} x {a // b} = {a // b * b}, {a} - {a // b * b} = {a % b}.", ast.FloorDiv: f"{b} x {a // b} = {a // b * b}, {a % b} are left over: {a // b}."}.get(kind) if b else ""
    steps.append(rest or {ast.Add: sums.plus, ast.Sub: sums.minus, ast.Mult: sums.times, ast.Div: sums.over}[kind](a, b))
    return value


def solve(formulas, values):
    """(result, thought)"""
    values, said = dict(values), []
    for formula in formulas:
        name, _, expression = formula.rpartition("=") if "=" in formula else ("", "", formula)
        steps = []
        result = worked(tree(expression), values, steps)
        values[name] = result
        said.append((f"{capital(name)}: " if len(name) > 2 and name not in ("one", "other", "two", "four", "then") else "") + " ".join(steps))
    return result, " ".join(said)


def number_said(w, n, words, noun=False):
    """In digits or words; before a noun a dozen and a couple too."""
    if noun and words and n in (2, 6, 12) and w.chance(0.6):
        return {2: w.any("a couple of", "two", "a pair of"), 6: "half a dozen", 12: w.any("a dozen", "twelve")}[n]
    return lexicon.in_words(n) if words and 0 <= n <= 100 else str(n)


class Told:
    """The words of one problem; each name stays what it is once it was read."""

    def __init__(self, w, values, signed=()):
        self.w = w
        names = []
        while len(names) < 3:
            x = w.first_name()
            if x not in names:
                names.append(x)
        he = w.any("he", "she")
        self.values = values
        self.pool = LARGE if any(v > 60 for v in values.values()) else SOLD
        words = w.any(0, 0, 0, 1, 1, 0.5, 0.5)  # the share of numbers in words
        self.slots = {"n": names[0], "m": names[1], "k": names[2], "he": he, "He": capital(he), "his": "his" if he == "he" else "her", "His": "His" if he == "he" else "Her", "him": "him" if he == "he" else "her"}
        for name, value in values.items():
            spoken = w.chance(words) and name not in signed and not (name in "YP" and value > 100 or value > 1000)
            self.slots[name] = number_said(w, value, spoken)
            self.slots[name + "~"] = number_said(w, value, spoken, True)
            if value in TIMES:
                self.slots[name + "x"] = TIMES[value]
            if value in PARTS:
                self.slots[name + "f"] = PARTS[value]

    def read(self, m):
        name, choices = m[1], m[2]
        if name not in self.slots:
            self.slots[name] = self.w.any(*choices.split("/")) if choices else self.draw(name)
        return self.slots[name]

    def draw(self, name):
        w = self.w
        if name in ("d", "e"):
            return w.any(*[x for x in lexicon.DAYS if x not in self.slots.values()])
        if name in ("p", "q", "ps", "qs", "ap", "AP", "aq"):
            short = name.strip("asA").lower()
            if short not in self.slots:
                self.slots[short] = w.any(*[x for x in self.pool if x not in self.slots.values()])
            if len(name) == 1:
                return self.slots[short]
            if name[-1] == "s":
                return lexicon.plural(self.slots[short])
            with_article = lexicon.article(self.slots[short])
            return capital(with_article) if name == "AP" else with_article
        return {"t": lambda: sums.things(w), "M": lambda: w.any("euros", "euros", "dollars", "pounds"), "c": w.city, "z": lambda: w.number(21, 99), "z1": lambda: w.number(4, 19), "z2": lambda: w.number(1950, 1999)}[name]()

    def fill(self, text):
        return NAMED.sub(lambda m: str(self.read(m)), text)


NAMED = re.compile(r"\{([\w~]+)(?:=([^}]*))?\}")
MEASURES = re.compile(r"years|minutes|hours|kilo|km|degrees")
START = re.compile(r"(?<=[.?!] )[a-z]")


def with_aside(w, told, text):
    """The text with a sentence that has nothing to do with it, and what the thinking says of its number."""
    if not w.chance(0.3):
        return text, ""
    sentences = re.split(r"(?<=\.) ", text)
    aside = form(w, w.any(*ASIDES))
    if set(MEASURES.findall(aside)) & set(MEASURES.findall(text)):
        return text, ""
    sentences.insert(w.number(1, len(sentences)), aside)
    unused = [told.read(m) for m in NAMED.finditer(aside) if m[1][0] == "z"]
    return " ".join(sentences), f"Not needed: {unused[0]}. " if unused else ""


def laid(w, told, text, question):
    """Text and question as they are typed."""
    text, unused = with_aside(w, told, text)
    plain = w.chance(0.35)
    whole = f"{text}{w.any(' ', ' ', ' ', chr(10))}{question}" if w.chance(0.93) else f"{question.rstrip('?')}? {text}"
    whole = told.fill(typists(w, whole, 0.7))
    if not plain:
        whole = START.sub(lambda m: m[0].upper(), capital(whole))
    return whole, unused


def problem(w, shape=None):
    shape = shape or w.any(*SHAPES)
    values = shape.drawn(w)
    question, formulas, unit = w.any(*shape.questions)
    told = Told(w, values, shape.signed)
    text = form(w, shape.text)
    told.fill(text)  # its words are drawn before those of the question
    asked = capital(form(w, question)) if w.chance(0.6) else form(w, question)
    whole, unused = laid(w, told, text, asked)
    result, thought = solve(formulas, values)
    unit = told.fill(unit)
    answer = f"{result} {unit}" if unit != "-" and result != 1 and w.chance(0.6) else str(result)
    return finish(whole, unused + thought, answer, {"number": result})


def money(cents, w=None):
    """In units, two places where there are cents."""
    return f"{cents // 100}.{cents % 100:02d}" if cents % 100 or w and w.chance(0.5) else str(cents // 100)


def cents(w):
    """Prices with cents: several of one, two things, the change."""
    told = Told(w, {})
    told.pool = SOLD
    a, b = (w.number(0, 9) * 100 + w.any(50, 50, 50, 20, 25, 75, 80, 90, 40, 99) for _ in range(2))
    k = w.number(2, 6)
    coin = told.fill("{M}")
    kind = w.any("several", "several", "both", "both", "change", "more")
    said = {"A": money(a), "B": money(b), "K": number_said(w, k, w.chance(0.4))}
    if kind == "several":
        text, question = w.any("(One|A single) {p} (costs|is) {A} {M}. {n} (buys|takes|wants) {K} [of them].|{n} buys {K} {ps} (at|for) {A} {M} each."), "(what|how much) (does {he} pay|is that|do they cost) [in all|together][?]|(the total|total price)[?]"
        result, thought = a * k, f"{money(a)} is {a} cents. {k} x {a} = {a * k} cents, that is {money(a * k)}."
    elif kind == "both":
        text, question = "{n} (buys|bought|takes) {ap} for {A} {M} and {aq} for {B} {M}.|{AP} (costs|is) {A} {M} and {aq} {B} {M}.", "(what|how much) (are|is) (both|that) together[?]|(what is|what's) the total[?]|how much (is that|are they) in all[?]"
        result, thought = a + b, f"In cents: {a} + {b} = {a + b}, that is {money(a + b)}."
    elif kind == "change":
        note = w.any(*[n for n in (5, 10, 20, 50) if n * 100 > a])
        said["N"] = str(note)
        text, question = "{n} pays for {ap} of {A} {M} with a {N} {C} (note|bill).|{AP} costs {A} {M}, {n} (gives|pays with) {N} {M}.", "(how much|what) (change does {he} get|does {he} get back)[?]|[the] change[?]"
        told.slots["C"] = coin.rstrip("s")
        result, thought = note * 100 - a, f"In cents: {note * 100} - {a} = {note * 100 - a}, that is {money(note * 100 - a)}."
    else:
        a, b = max(a, b) + 100, min(a, b)
        said.update(A=money(a), B=money(b))
        text, question = "{AP} costs {A} {M}, {aq} (only |){B} {M}.", "how much (more expensive is|more does) the {p}[?]|(what is|how big is) the difference[?]"
        question = question.replace("more does) the {p}", "dearer is) the {p}")
        result, thought = a - b, f"In cents: {a} - {b} = {a - b}, that is {money(a - b)}."
    told.slots.update(said)
    text = form(w, text)
    told.fill(text)
    whole, unused = laid(w, told, text, capital(form(w, question)))
    answer = money(result)
    return finish(whole, unused + thought, f"{answer} {coin}" if w.chance(0.6) else answer, {"contains": [answer]})


TASKS = {problem: 140, cents: 16}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
