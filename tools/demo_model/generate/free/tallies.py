"""Small counts and orders: sentences, vowels, signs; names with numbers, days, prices, sizes put in order with their numbers."""

from . import lexicon, ordering
from .clauses import Clause
from .grammar import ordered, typed, with_payload
from .ordering import finish


def sentences(w):
    """How many sentences, questions, lines or commas a text has."""
    parts = []
    for _ in range(w.number(2, 6)):
        c = Clause(w)
        parts.append(w.any(lambda: c.said("past"), lambda: c.said("present"), lambda: c.said("past", question=True), lambda: f"{w.any('I', 'We', 'They', 'She')} {w.any('came', 'went', 'saw', 'slept', 'won', 'left', 'waited')}.", lambda: f"It {w.any('rained', 'snowed', 'worked', 'stopped')}.")())
    text = " ".join(parts)
    if w.chance(0.2):
        found = [p for p in parts if p.endswith("?")]
        return finish(with_payload(w, typed(w, "how many (questions|question marks) (are|do you see) (in this|in it|here)[?]|count the questions"), text), "; ".join(f"{i + 1} {' '.join(p.split()[:2])}" for i, p in enumerate(found)) + "." if found else "No question mark in it.", str(len(found)))
    return finish(with_payload(w, typed(w, "how many sentences (are|do you see) in (this|it|the text)[?]|how many sentences (does this have|are there|is this)[?]|(count|number of) (the |)sentences[?]|sentences in this text?"), text), "; ".join(f"{i + 1} {' '.join(p.split()[:2]).rstrip('.?')}" for i, p in enumerate(parts)) + ".", str(len(parts)))


def vowels(w):
    """Vowels or consonants of a word, letter by letter."""
    word = w.any(w.noun, w.fresh, lambda: w.any(*lexicon.KINDS["animal"]), w.first_name)()
    if not word.isascii() or not word.isalpha() or len(word) > 11:
        return vowels(w)
    vowel = w.chance(0.75)
    told, n = [], 0
    for c in word.lower():
        hit = (c in "aeiou") == vowel
        n += hit
        told.append(f"{c}{n}" if hit else c)
    what = "vowels" if vowel else "consonants"
    return finish(typed(w, "how many {v} (are in|has) ('{x}'|{x})[?]|how many {v} does {x} have[?]|(count|number of) (the |){v} (in|of) ('{x}'|{x})|{v} in ('{x}'|{x})?|('{x}'|{x}): how many {v}[?]", v=what, x=word), f"{' '.join(told)}: {n} {what}.", str(n))


MEASURED = {"age": ("(age|years)", 3, 95, "", "oldest", "youngest"), "points": ("(points|score)", 1, 99, " points", "best", "worst"), "weight": ("weight", 40, 120, " kg", "heaviest", "lightest"), "price": ("price", 1, 900, " euros", "most expensive", "cheapest"), "height": ("(height|size)", 90, 210, " cm", "tallest", "shortest"), "time": ("time", 9, 60, " s", "slowest", "fastest"), "stock": ("(number|stock)", 1, 90, "", "most", "fewest")}


def ranked(w):
    """Names and their numbers in order, each kept with its number."""
    what = w.any(*MEASURED)
    label, low, high, unit, top, bottom = MEASURED[what]
    n = w.number(3, 5)
    names = []
    while len(names) < n:
        x = w.first_name() if what not in ("price", "stock") else w.any(*lexicon.KINDS[w.any("drink", "fruit", "tool", "device")])
        if x not in names:
            names.append(x)
    values = w.rng.sample(range(low, high), n)
    if what in ("price", "time") and w.chance(0.4):
        values = [v + w.any(0.5, 0.2, 0.25, 0.9, 0.1) for v in values]
        values = [float(f"{v:.2f}") for v in values]
    texts = [f"{v:.2f}" if isinstance(v, float) and what == "price" else str(v) for v in values]
    show_unit = unit if w.chance(0.5) else ""
    joint = w.any("{n} {v}{u}", "{n} {v}{u}", "{n}: {v}{u}", "{n} ({v}{u})", "{n} - {v}{u}")
    pieces = [joint.format(n=x, v=t, u=show_unit) for x, t in zip(names, texts)]
    down = w.chance(0.5)
    order = sorted(range(n), key=lambda i: values[i], reverse=down)
    first = top if down else bottom
    question = ordered(w, f"(sort|order|rank|arrange) (these|them|this) by {label}, [the] {{f}} first|(sort|order|put) (them|these) from [the] {{f}} to [the] {{l}}|(rank|list) (them|these) (starting with|from) the {{f}}|put the {{f}} first, [the] {{l}} last", w.any(", ", ", ", "\n", "; ").join(pieces), f=first, l=bottom if down else top)
    only_names = w.chance(0.3)
    if only_names:
        question = question + w.any(" Names only.", " Only the names.", "\nJust the names, please.")
    thought = f"{'Largest' if down else 'Smallest'} first: " + "; ".join(f"{texts[i]} {names[i]}" for i in order) + "."
    return finish(question, thought, ", ".join(names[i] if only_names else pieces[i] for i in order))


CYCLES = {"days": lexicon.DAYS, "months": lexicon.MONTHS, "sizes": ["S", "M", "L", "XL"], "meals": ["breakfast", "lunch", "dinner"], "ranks": ["first", "second", "third", "fourth", "fifth", "sixth"], "numbers": lexicon.SMALL[1:13], "times of day": ["morning", "noon", "afternoon", "evening", "night"], "planets": lexicon.KINDS["planet"]}


def cycle(w):
    """Days, months, number words in their own order, each with its place."""
    name = w.any("days", "days", "days", "months", "months", "numbers", "ranks", "sizes", "times of day", "planets")
    whole = CYCLES[name]
    some = w.rng.sample(whole, w.number(3, min(6, len(whole))))
    back = w.chance(0.2)
    right = sorted(some, key=whole.index, reverse=back)
    what = "(the right order|order|their order)"
    if back:
        question = ordered(w, f"(put|list) (these|the) {name} (backwards|in reverse order|from last to first)|(sort|order) the {name}, the last [one] first", w.any(", ", ", ", " ").join(some))
    else:
        question = ordered(w, "(sort|order|arrange) (these|the) planets by [their] distance from the sun" if name == "planets" else f"(put|bring) (these|the) {name} in[to] {what}|(sort|order|arrange) (these|the) {name}", w.any(", ", ", ", " ", "\n").join(some))
    return finish(question, "Places: " + ", ".join(f"{x} {whole.index(x) + 1}" for x in some) + ". So " + ", ".join(str(whole.index(x) + 1) for x in right) + ".", ", ".join(right))


def sized(w):
    """Words by their number of letters."""
    words = []
    for x in ordering.words_of(w, 9):
        if x.isalpha() and len(x) not in map(len, words) and len(x) < 12:
            words.append(x)
    words = words[:5]
    if len(words) < 3:
        return sized(w)
    down = w.chance(0.35)
    order = sorted(words, key=len, reverse=down)
    question = ordered(w, f"(sort|order|arrange) (these|them|the words) by (length|number of letters){', longest first' if down else '[, shortest first]'}|(put|list) them from {'longest to shortest' if down else 'shortest to longest'}", ", ".join(words))
    return finish(question, "; ".join(f"{x} {len(x)}" for x in words) + ". So " + ", ".join(f"{len(x)} {x}" for x in order) + ".", ", ".join(order))


TASKS = {sentences: 10, vowels: 8, ranked: 18, cycle: 10, sized: 7}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
