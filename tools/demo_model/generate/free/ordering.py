"""Lists: sorting, counting, comparing, picking, removing, letters and words, and answers in a wanted form."""

import json

from . import lexicon
from .clauses import Clause
from .grammar import capital, listing, order, typed, with_payload


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


def words_of(w, count, kind=None):
    if w.chance(0.5) or kind:
        pool = lexicon.KINDS[kind or w.any(*lexicon.KINDS)]
        if len(pool) >= count:
            return w.rng.sample(pool, count)
    out = []
    while len(out) < count:
        x = w.any(w.noun, w.noun, w.first_name, lambda: w.any(*lexicon.of_kind(w.any(*lexicon.KINDS))))()
        if x.lower() not in [y.lower() for y in out]:
            out.append(x)
    return out


def shown(w, items):
    """(the list as typed, how an answer joins)"""
    form = w.rng.choices((", ", " ", "\n", "; ", ",", " and ", "json", "- "), (12, 3, 3, 1, 2, 1, 1, 1))[0]
    texts = [str(i) for i in items]
    if form == " " and any(" " in t for t in texts) or form == " and " and len(texts) > 3:
        form = ", "
    if form == "json":
        return json.dumps(items), "json"
    if form == "- ":
        return "\n".join("- " + t for t in texts), "\n"
    return form.join(texts), ", " if form in (", ", " ", "; ", ",", " and ") else "\n"


def joined(items, form):
    return json.dumps(items) if form == "json" else form.join(map(str, items))


THESE = "(these|this list|the list|the following|them|these (words|items|names)|the words below|my list)"
NUMS = "(these|this list|the list|the following|them|these numbers|the numbers|the values)"


def selection(items, ordered):
    """The thought behind a sorted list: what is taken out of what is left, one after the other."""
    left, steps = list(items), []
    for x in ordered[:-1]:
        steps.append(f"of {' '.join(map(str, left))}: {x}")
        left.remove(x)
    return "; ".join(steps) + f"; then {ordered[-1]}."


def tally(texts, found):
    """The thought behind a count: one after the other, those that count numbered."""
    steps, n = [], 0
    for text, good in zip(texts, found):
        n += bool(good)
        steps.append(f"{text} {'yes ' + str(n) if good else 'no'}")
    return "; ".join(steps) + "."


# Orders that are neither of letters nor of digits; each from first to last.
RANKS = {"size": ["tiny", "small", "medium", "large", "huge"], "day": lexicon.DAYS, "month": lexicon.MONTHS, "age": ["baby", "child", "teenager", "adult", "pensioner"], "temperature": ["freezing", "cold", "cool", "warm", "hot", "boiling"],
         "priority": ["low", "medium", "high", "urgent"], "frequency": ["never", "rarely", "sometimes", "often", "always"], "duration": ["second", "minute", "hour", "day", "week", "month", "year", "century"], "rank": ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"],
         "quality": ["poor", "fair", "good", "very good", "excellent"], "part of the day": ["morning", "noon", "afternoon", "evening", "night"], "distance": ["millimetre", "centimetre", "metre", "kilometre"], "weight": ["gram", "kilogram", "ton"], "clothing size": ["XS", "S", "M", "L", "XL", "XXL"]}
UP = "(ascending|in ascending order|from (smallest|lowest) to (largest|biggest|highest)|from low to high|(smallest|lowest) first|starting (with|from) the (smallest|lowest)|increasing|by size)"
DOWN = "(descending|in descending order|from (largest|biggest|highest) to (smallest|lowest)|from high to low|(largest|highest|biggest) first|starting (with|from) the (largest|highest|biggest)|decreasing)"
DO = "(sort|order|arrange|rank|list|put|[can you] sort|I need|please bring)"


def written_numbers(w, count):
    """(text as shown, its value) of so many numbers that are not plain digits."""
    kind, unit = w.any("words", "prices", "thousands", "decimals", "units", "units"), w.any("%", " km", " kg", "°C", " hours", " euros", "", "m")
    below = 50 if unit in ("", "°C") else 0
    out = {}
    while len(out) < count:
        n = w.number(1, 99)
        text = {"words": lexicon.in_words(n), "prices": f"${n // 3}.{w.number(0, 19) * 5:02d}", "thousands": f"{n},{w.number(0, 9)}00", "decimals": f"{n // 20}.{w.number(1, 99)}", "units": f"{n - below}{unit}"}[kind]
        value = {"words": n, "units": n}.get(kind) or float(text.strip("$").replace(",", ""))
        if value not in out.values():
            out[text] = value
    return out


def sorting_more(w):
    """By rank (sizes, days, priorities), numbers as people write them, names out of a sentence, words by their last letter, two keys."""
    kind = w.any("rank", "rank", "written", "written", "written", "prose", "prose", "last", "second")
    down = w.chance(0.4)
    if kind == "rank":
        name = w.any(*RANKS)
        ranks = RANKS[name]
        items = w.rng.sample(ranks, w.number(min(3, len(ranks)), min(6, len(ranks))))
        ordered = sorted(items, key=ranks.index, reverse=down)
        pattern = {"day": "(sort|order|arrange|put) {t} (as they come in the week|by weekday|in the order of the week)", "month": "(sort|order|arrange|put) {t} (as they come in the year|in calendar order|by their place in the year)"}.get(name, "(sort|order|arrange|rank|put) {t} (by {n}|in [the] right order|from [the] (least|lowest|first) to [the] (most|highest|last))")
        if down:
            pattern = "(sort|order|arrange|rank) {t} (by {n}, (highest|latest|last) first|from (last to first|most to least|highest to lowest))"
        question = order(w, pattern.replace("{t}", THESE), n=name)
        reason = f"{'Highest' if down else 'Lowest'} first: {selection(items, ordered)}"
    elif kind == "written":
        values = written_numbers(w, w.number(3, 6))
        items = list(values)
        w.rng.shuffle(items)
        ordered = sorted(items, key=values.get, reverse=down)
        question = order(w, f"{DO} {NUMS} {DOWN if down else UP}|(which is the right order|order them), {DOWN if down else UP}")
        reason = f"{'Largest' if down else 'Smallest'} first: {selection(items, ordered)}"
    elif kind == "prose":
        items = words_of(w, w.number(3, 6))
        ordered = sorted(items, key=str.lower, reverse=down)
        text = w.any("I have to call {l}.", "We need {l}.", "On my list are {l}.", "The guests are {l}.", "There are {l} in it.", "I bought {l}.", "My folders: {l}.", "{l} are missing.").format(l=listing(items))
        question = typed(w, "(list|name|sort|write) them (alphabetically|in alphabetical order|from A to Z)[, please]|what is the alphabetical order?|alphabetically, please|in which order do they come in the alphabet?" if not down else "(list|name|sort|write) them (from Z to A|in reverse alphabetical order|alphabetically but backwards)[, please]")
        return finish(f"{text} {question}" if w.chance(0.7) else f"{question} {text}", ("Last letters first: " if down else "By first letters: ") + selection(items, ordered), ", ".join(ordered))
    elif kind == "last":
        items = words_of(w, w.number(3, 6))
        if len({x[-1].lower() for x in items}) < len(items):
            return sorting_more(w)
        ordered = sorted(items, key=lambda x: x[-1].lower())
        question = order(w, f"(sort|order|arrange) {THESE} by (the|their) last letter")
        reason = "; ".join(f"{x} {x[-1].lower()}" for x in items) + ". " + selection(items, ordered)
    else:
        names = list(dict.fromkeys(f"{w.first_name()} {capital(w.fresh())}" for _ in range(w.number(3, 5))))
        if len({n.split()[1].lower() for n in names}) < len(names) or len(names) < 2:
            return sorting_more(w)
        items, ordered = names, sorted(names, key=lambda n: n.split()[1].lower())
        question = order(w, f"(sort|order|arrange|list) {THESE.replace('words', 'people')} (by [their] (last name|surname|family name)|alphabetically by (last name|surname))")
        left = [n.split()[1] for n in items]
        reason = "By last names: " + selection(left, [n.split()[1] for n in ordered])
    text, form = shown(w, items)
    return finish(with_payload(w, question, text), reason, joined(ordered, form))


def sorting(w):
    if w.chance(0.35):
        return sorting_more(w)
    count = w.number(3, 7)
    r = w.rng.random()
    if r < 0.4:
        items = words_of(w, count)
        ordered = sorted(items, key=str.lower)
        back = w.chance(0.2)
        if back:
            ordered.reverse()
        pattern = f"(sort|order|arrange|put|bring) {THESE} (alphabetically from z to a|in reverse alphabetical order|from Z to A)" if back else f"(sort|order|arrange|list) {THESE} (alphabetically|from a to z|by name|by the alphabet|in abc order|A-Z)" if w.chance(0.6) else f"(put|bring|write|get) {THESE} (in|into) (alphabetical|alphabetic|ABC) order"
        reason = ("Last letters first: " if back else "By first letters: ") + selection(items, ordered)
    elif r < 0.8:
        kind = w.any("small", "small", "any", "big", "decimal")
        values = set()
        while len(values) < count:
            values.add({"small": lambda: w.number(0, 99), "any": lambda: w.number(0, 999), "big": lambda: w.number(100, 9999), "decimal": lambda: round(w.number(1, 99) + w.number(1, 9) / 10, 1)}[kind]())
        items = sorted(values, key=lambda _: w.rng.random())
        down = w.chance(0.4)
        ordered = sorted(items, reverse=down)
        pattern = (f"(sort|order|arrange|list|put) {NUMS} (descending|in descending order|from (largest|biggest|highest) to (smallest|lowest)|from high to low|largest first|big to small|in reverse numerical order)" if down else f"(sort|order|arrange|list|put) {NUMS} (ascending|in ascending order|from (smallest|lowest) to (largest|biggest|highest)|from low to high|smallest first|small to big|by size|numerically|in order)")
        reason = ("Largest first: " if down else "Smallest first: ") + selection(items, ordered)
    elif r < 0.9:
        dates = sorted(dict.fromkeys(f"{w.number(1990, 2030)}-{w.number(1, 12):02d}-{w.number(1, 28):02d}" for _ in range(count)), key=lambda _: w.rng.random())
        items, down = dates, w.chance(0.4)
        ordered = sorted(items, reverse=down)
        pattern = f"(sort|order|arrange|list|put) {THESE.replace('words', 'dates')} (by date, newest first|from newest to oldest|latest first|newest on top)" if down else f"(sort|order|arrange|list|put) {THESE} (by date|by date, oldest first|from oldest to newest|chronologically|earliest first)"
        reason = f"{'Newest' if down else 'Oldest'} first: {selection(items, ordered)}"
    else:
        items = words_of(w, w.number(3, 6))
        items = [x for i, x in enumerate(items) if len(x) not in [len(y) for y in items[:i]]]
        if len(items) < 2:
            return sorting(w)
        down = w.chance(0.4)
        ordered = sorted(items, key=len, reverse=down)
        pattern = f"(sort|order|arrange|list) {THESE} by length[, {'longest' if down else 'shortest'} first]" if not down else f"(sort|order|arrange|list) {THESE} (by length, longest first|from longest to shortest)"
        reason = "; ".join(f"{x} {len(x)}" for x in items) + ". " + ", ".join(str(len(x)) for x in ordered) + "."
    text, form = shown(w, items)
    return finish(with_payload(w, order(w, pattern), text), reason, joined(ordered, form))


def letters_told(word, letter):
    """The letters of a word, the wanted ones numbered."""
    out, n = [], 0
    for c in word:
        n += c.lower() == letter.lower()
        out.append(f"{c}{n}" if c.lower() == letter.lower() else c)
    return " ".join(out)


def counting(w):
    kind = w.number(0, 6)
    if kind == 0:
        items = words_of(w, w.number(2, 10))
        text, _ = shown(w, items)
        question = with_payload(w, typed(w, "how many (items|words|things|entries|elements) [are (there|listed|in (this|the) list)|do you see][?]|count the (items|entries|things|elements) [in this list]|number of (items|entries)?|how long is this list?"), text)
        return finish(question, "; ".join(f"{i + 1} {x}" for i, x in enumerate(items)) + ".", str(len(items)))
    if kind == 1:
        text = Clause(w).said(w.any("past", "present"), end=w.any("", "."))
        text = " ".join(text.split()[:12])
        words = text.rstrip(".").split()
        question = with_payload(w, typed(w, "how many words [are in this [sentence]|has this sentence|does this sentence have|do you count][?]|count the words [in this (sentence|text)]|(word count|number of words)[?]"), text)
        return finish(question, "; ".join(f"{i + 1} {x}" for i, x in enumerate(words)) + ".", str(len(words)))
    if kind == 2:
        word = w.any(w.noun, lambda: w.any(*lexicon.of_kind(w.any(*lexicon.KINDS))), w.fresh)()
        question = typed(w, "how many letters (has|does|are in|are there in) [the word] {x} [have][?]|count the letters (in|of) {x}|number of letters in {x}[?]|how long is the word {x}?|{x}: how many letters?|letters in {x}?", x=w.any(word, f"'{word}'", f'"{word}"'))
        return finish(question, " ".join(f"{c}{i + 1}" for i, c in enumerate(word)) + ".", str(len(word)))
    if kind == 3:
        word = w.any(w.noun, lambda: w.any(*lexicon.of_kind(w.any(*lexicon.KINDS))), lambda: w.any("banana", "cheese", "mississippi", "coffee", "letter", "balloon", "committee", "apple", "address"))()
        letter = w.any(*word) if w.chance(0.85) else w.any(*"aeiourst")
        n = word.lower().count(letter.lower())
        question = typed(w, "how often does [the letter] ({l}|'{l}') (appear|occur|come|stand) in ({x}|'{x}')[?]|how many ({l}|{l}s|{l}'s) are in ({x}|the word {x}|'{x}')[?]|count the ({l}|{l}s|letter {l}) in ({x}|'{x}')|number of {l} in {x}?", l=letter, x=word)
        return finish(question, letters_told(word, letter) + f": {n} times {letter}.", str(n))
    if kind == 4:
        adjectives = w.rng.sample(lexicon.KINDS["color"][:9] + ["big", "small", "old", "new"], 3)
        nouns = words_of(w, w.number(3, 7))
        pairs = [(w.any(*adjectives), n) for n in nouns]
        chosen = w.any(*adjectives)
        n = sum(a == chosen for a, _ in pairs)
        text = ", ".join(f"{a} {x}" for a, x in pairs)
        question = with_payload(w, typed(w, "(count|number) the {a} (ones|things|items)|how many (of them |things |items |)are {a}[?]|how many {a} (things|items|ones) are there[?]", a=chosen), text)
        return finish(question, tally([f"{a} {x}" for a, x in pairs], [a == chosen for a, _ in pairs]) + f" {n}.", str(n))
    if kind == 5:
        items = words_of(w, w.number(2, 4))
        pool = [w.any(*items) for _ in range(w.number(4, 9))]
        chosen = w.any(*pool)
        text = w.any(", ", " ").join(pool)
        question = with_payload(w, typed(w, "how (often|many times) (is|does|do you see) {x} [there|appear|occur|in the list][?]|count (how often {x} (appears|occurs)|the {x}s|every {x})|how many {x}s [are there][?]", x=chosen), text)
        return finish(question, f"{tally(pool, [x == chosen for x in pool])} {pool.count(chosen)}.", str(pool.count(chosen)))
    limit = w.number(10, 60)
    items = [w.number(1, 99) for _ in range(w.number(3, 7))]
    over = w.chance(0.5)
    chosen = [x for x in items if (x > limit if over else x < limit)]
    question = with_payload(w, typed(w, f"how many [of these|of them|numbers] are {'(above|over|greater than|bigger than|larger than|more than)' if over else '(below|under|less than|smaller than)'} {limit}[?]|count the numbers {'above' if over else 'below'} {limit}"), ", ".join(map(str, items)))
    return finish(question, tally(items, [x in chosen for x in items]) + f" {len(chosen)}.", str(len(chosen)))


MEASURES = {  # adjective forms, unit, range
    "tall": ("taller", "tallest", "shorter", "shortest", "{v} cm tall", 120, 199), "old": ("older", "oldest", "younger", "youngest", "{v} years old", 3, 95), "heavy": ("heavier", "heaviest", "lighter", "lightest", "{v} kg", 2, 120), "expensive": ("more expensive", "most expensive", "cheaper", "cheapest", "{v} euros", 2, 900),
    "fast": ("faster", "fastest", "slower", "slowest", "{v} km/h", 5, 240), "long": ("longer", "longest", "shorter", "shortest", "{v} m long", 2, 300), "high": ("higher", "highest", "lower", "lowest", "{v} points", 1, 99), "big": ("bigger", "biggest", "smaller", "smallest", "{v} square metres", 10, 400)}


def comparing(w):
    name = w.any(*MEASURES)
    more, most, less, least, unit, low, high = MEASURES[name]
    r = w.rng.random()
    count = w.number(2, 5)
    who = [w.first_name() for _ in range(count)] if name in ("tall", "old", "fast", "high", "heavy") and w.chance(0.7) else words_of(w, count)
    if len(set(who)) < count:
        return comparing(w)
    if r < 0.32 and count >= 3:
        # A is taller than B, B is taller than C
        chain = who[:w.number(3, min(4, count))]
        facts = []
        for a, b in zip(chain, chain[1:]):
            facts.append(f"{a} is {more} than {b}" if w.chance(0.65) else f"{b} is {less} than {a}")
        if w.chance(0.4):
            w.rng.shuffle(facts)
        text = ". ".join(facts) + "." if w.chance(0.6) else ", ".join(facts) + "."
        top = w.chance(0.5)
        question = typed(w, "who is the {m}[?]|which (one|of them) is the {m}[?]|{m}?|so who is {m}?|tell me who is the {m}", m=most if top else least)
        return finish(f"{text} {question}" if w.chance(0.6) else with_payload(w, question, text), " > ".join(chain) + ".", chain[0] if top else chain[-1])
    values = w.rng.sample(range(low, high + 1), count)
    pairs = list(zip(who, values))
    u = unit
    if r < 0.75:
        style = w.any("{n}: {v}", "{n} {v}", "{n} is {v}", "{n} ({v})", "{n} - {v}", "{n} has {v}" if "points" in u or "euros" in u else "{n}, {v}")
        full = style in ("{n} is {v}", "{n}: {v}", "{n} has {v}")
        text = w.any(", ", "; ", "\n", ", ").join(style.format(n=n, v=u.format(v=v) if full else v) for n, v in pairs)
        top = w.chance(0.5)
        best = (max if top else min)(pairs, key=lambda p: p[1])
        question = typed(w, {"expensive": "(what|which [one]) is the {m}[?]|which (costs|is) {b}[?]|the {m} (one|item), please|find the {m}", "high": "who (scored|has|got) {s}[?]|who has the {m} score?|who (won|is first)?" if top else "who (scored|has|got) {s}[?]|who has the {m} score?|who (lost|is last)?"}.get(name, "(who|which (one|of them)) is the {m}[?]|find the {m} [one]|which is {m}?|{m}[?]"),
                         m=most if top else least, s=("most" if top else "least"), b="most" if top else "least")
        return finish(with_payload(w, question, text) if w.chance(0.75) else f"{question.rstrip('?')}? {text}", f"{best[1]} is the {'largest' if top else 'smallest'} number: {best[0]}.", best[0])
    (a, x), (b, y) = pairs[0], pairs[1]
    facts = f"{a} is {u.format(v=x)} and {b} is {u.format(v=y)}" if name not in ("expensive", "high") else f"{a} {'costs' if name == 'expensive' else 'has'} {u.format(v=x)} and {b} {u.format(v=y)}"
    if w.chance(0.5):
        question = w.any(f"{facts}. Who is {more}?" if name in ("tall", "old", "fast") else f"{facts}. Which is {more}?", f"which is {more}, {a} with {x} or {b} with {y}?", f"{facts}, which one is {more}")
        return finish(question, f"{max(x, y)} is more than {min(x, y)}.", a if x > y else b)
    if name == "old" and w.chance(0.5):
        i, j = w.number(1930, 2015), w.number(1930, 2015)
        if i == j:
            return comparing(w)
        question = w.any(f"{a} was born in {i}, {b} in {j}. Is {a} older than {b}?", f"is {a} older than {b} if {a} was born in {i} and {b} in {j}?", f"{a} (born {i}) or {b} (born {j}), is {a} older?")
        return finish(question, f"Who is born earlier is older: {min(i, j)} is before {max(i, j)}.", "Yes" if i < j else "No")
    question = w.any(f"{facts}. Is {a} {more} than {b}?", f"is {a} {more} than {b} if {facts}?", f"{facts}. Is {b} {less} than {a}?")
    return finish(question, f"{x} is {'more' if x > y else 'less'} than {y}.", "Yes" if x > y else "No")


def picking(w):
    items = words_of(w, w.number(3, 7))
    text, form = shown(w, items)
    kind = w.number(0, 8)
    ordinals = "first second third fourth fifth sixth seventh".split()
    if kind == 0:
        i = w.rng.randrange(len(items))
        name = "last" if i == len(items) - 1 and w.chance(0.6) else ordinals[i]
        return finish(with_payload(w, typed(w, "(what is|what's|give me|tell me|which is) the {n} (one|item|word|entry) [of (this list|the list)|in the list][?]|the {n} (item|one|word)[?]|(pick|return|take) the {n} (item|entry|word)", n=name), text), f"Number {i + 1}: {items[i]}.", items[i])
    if kind == 1:
        doubled = items + w.rng.sample(items, w.number(1, min(3, len(items))))
        w.rng.shuffle(doubled)
        text, form = shown(w, doubled)
        answer = joined(list(dict.fromkeys(doubled)), form)
        return finish(with_payload(w, order(w, f"(remove|delete|drop|get rid of|take out|eliminate) [the|all] (duplicates|repeated (words|items)|doubles) [from {THESE}]|(deduplicate|dedupe|unique) {THESE}|(list|give me) (the unique|only the distinct|each) (words|items) once"), text), "Each one once.", answer)
    if kind == 2:
        return finish(with_payload(w, order(w, f"(reverse|turn around|flip|invert) {THESE} [order]|(write|give me|say) {THESE} backwards|the other way round|(last|from last) to first"), text), "From the last to the first.", joined(items[::-1], form))
    if kind == 3:
        x = w.any(*items)
        return finish(with_payload(w, order(w, f"(remove|delete|drop|take out|leave out) {{x}} [from {THESE}]|(all|everything) (but|except|without) {{x}}", x=x), text), f"Without {x}.", joined([i for i in items if i != x], form))
    if kind == 4:
        x = w.noun()
        if x in items:
            return picking(w)
        front = w.chance(0.3)
        return finish(with_payload(w, order(w, f"(add|put|append|insert) {{x}} {'(at the (beginning|front|start)|first)' if front else '(at the end|to (the|this) list|to it|to the end)'}", x=x), text), f"{'First' if front else 'Last'} {x}.", joined([x, *items] if front else [*items, x], form))
    if kind == 5:
        n = w.number(1, len(items) - 1)
        return finish(with_payload(w, typed(w, "(give me|take|show|return|keep) [only] the first {n} (items|words|entries|of these)|the first {n}[, please]|first {n} only", n=w.any(str(n), lexicon.SMALL[n])), text), f"{n} of them.", joined(items[:n], form))
    if kind == 6:
        top = w.chance(0.6)
        lengths = [len(i) for i in items]
        best = (max if top else min)(lengths)
        if lengths.count(best) > 1:
            return picking(w)
        answer = items[lengths.index(best)]
        return finish(with_payload(w, typed(w, f"(which|what) [of these] (word|name|one|item) (is the {'longest' if top else 'shortest'}|has the {'most' if top else 'fewest'} letters)[?]|(find|name|give me) the {'longest' if top else 'shortest'} (word|name|one)|{'longest' if top else 'shortest'} word?"), text), "; ".join(f"{x} {len(x)}" for x in items) + ".", answer)
    if kind == 7:
        letter = w.any(*items)[0].lower()
        chosen = [i for i in items if i[0].lower() == letter]
        return finish(with_payload(w, typed(w, "(which|what) (words|items|ones|of these) (begin|start) with [the letter] {l}[?]|(list|give me|find|show) (all|the|every) (words|items|ones|word) (beginning|starting) with {l}|only [those] with {l} at the beginning", l=w.any(letter, letter.upper(), f"'{letter}'")), text), tally(items, [i in chosen for i in items]), ", ".join(chosen))
    answer = w.any("", "-", " ").join(i[0] for i in items)
    wish, form = w.any(("", ""), (" with dashes between", "-"), (" with spaces between", " "))
    return finish(with_payload(w, typed(w, "(give me|write|take|what is) the first letter of each [word][?]|(first|initial) letters [of (these|each)]|initials of these") + wish, text), "; ".join(f"{i} {i[0]}" for i in items) + ".", form.join(i[0] for i in items))


def shaping(w):
    """Answers in a wanted form, as people ask for them."""
    kind = w.number(0, 11)
    phrase = w.any(w.noun, lambda: f"{w.adjective()} {w.noun()}", lambda: Clause(w).said("past", end=""), w.fresh, lambda: " ".join(words_of(w, w.number(2, 4))))()
    if kind == 0:
        return finish(order(w, "(repeat|echo) [after me:|exactly|this:|the words] {x}|(say|write|type|print|output) {x}|say exactly {x}|repeat this word for word: {x}|copy {x}", x=w.any(phrase, f'"{phrase}"', f"'{phrase}'")), "Word for word.", phrase)
    if kind == 1:
        n = w.number(2, 6)
        x = w.noun()
        sep, wish = w.any((" ", ""), (" ", " with spaces between"), (", ", " separated by commas"), ("\n", " on separate lines"), (" ", ""))
        return finish(order(w, "(write|say|repeat|print|type) [the word] ({x}|'{x}') {n}" + wish, x=x, n=w.any(f"{n} times", f"{lexicon.SMALL[n]} times", "twice" if n == 2 else f"{n}x")), f"{n} times.", sep.join([x] * n))
    if kind == 2:
        a = w.number(0, 20)
        b = a + w.number(2, 12)
        down = w.chance(0.3)
        numbers = list(range(a, b + 1))[::-1 if down else 1]
        sep, wish = w.any((", ", ""), (" ", " with spaces"), ("\n", " one per line"), (", ", " separated by commas"))
        return finish(order(w, "(count|count (up|down)|write the numbers|list the numbers|say the numbers) from {a} to {b}" + wish if not down else "(count|count down|count backwards|write the numbers) from {a} to {b}" + wish, a=numbers[0], b=numbers[-1]).replace("count down from" if not down else "count up from", "count from"), f"{numbers[0]} to {numbers[-1]}.", sep.join(map(str, numbers)))
    if kind == 3:
        word = w.any(w.noun(), w.fresh())
        sep, wish = w.any(("-", "with (dashes|hyphens)"), (" ", "with spaces"), (".", "with dots"), (", ", "with commas"), ("-", "letter by letter with dashes"))
        return finish(order(w, f"spell [the word] ('{{x}}'|{{x}}) {wish} [between the letters]|(write|put) ('{{x}}'|{{x}}) {wish} between (the|its) letters", x=word), "Letter by letter.", sep.join(word))
    if kind == 4:
        a, b, name = w.any(("**", "**", "bold"), ("*", "*", "italics"), ("`", "`", "code"), ("[", "]", "square brackets"), ("(", ")", "round brackets"), ('"', '"', "double quotes"), ("<b>", "</b>", "html bold tags"), ("# ", "", "a markdown heading"), ("{", "}", "curly braces"), ("<", ">", "angle brackets"), ("~~", "~~", "markdown strikethrough"))
        markdown = name in ("bold", "italics", "code")
        pattern = {"bold": "(make|write|wrap|put|format) {x} [in] bold [(markdown|with markdown)]|{x} in bold|bold: {x}", "italics": "(write|put|format) {x} in italics [(markdown|with markdown)]|{x} in italics", "code": "(write|put|format) {x} as [inline] code|{x} in backticks"}.get(name, f"(put|wrap|write|enclose) {{x}} in[to] {name}" if name[0] != "a" else "(write|make|format) {x} [as|into] a markdown heading|turn {x} into a heading")
        text = order(w, pattern.replace("(write|make|format) {x} [as|into] a", "(write|format) {x} as a"), x=phrase) if w.chance(0.6) else with_payload(w, order(w, pattern.replace("{x}", "this")), phrase)
        return finish(text, f"With {name}.", a + phrase + b)
    items = words_of(w, w.number(2, 5))
    if kind == 5:
        start = w.any(1, 1, 1, 1, 2, 10)
        mark = w.any(".", ".", ")", ":")
        wish = "" if (start, mark) == (1, ".") else f" starting at {start}" if start > 1 else f" with '{mark}' after the number"
        mark = mark if start == 1 else "."
        return finish(with_payload(w, order(w, f"(number|enumerate) {THESE}{wish}|(make|write|turn into) a numbered list{wish}"), ", ".join(items)), "One a line with numbers.", "\n".join(f"{i + start}{mark} {x}" for i, x in enumerate(items)))
    if kind == 6:
        sign, name = w.any(("+", "a plus sign"), (" | ", "a pipe"), ("-", "a hyphen"), ("/", "a slash"), (" > ", "an arrow >"), ("_", "an underscore"), ("; ", "a semicolon"), (" & ", "an ampersand"), ("", "nothing between"), (" or ", "the word or"))
        if name == "nothing between":
            pattern = "(join|glue|write) (these|the words) (without spaces|together as one word)"
        else:
            pattern = f"(join|connect|combine|link|separate) (these|the words|them) (with|by|using) {name} [between them]"
        return finish(with_payload(w, order(w, pattern), " ".join(items) if w.chance(0.6) else ", ".join(items)), "The same words in order.", sign.join(items))
    if kind == 7:
        form = w.any("json", "quoted", "tuple", "yaml")
        answer = {"json": json.dumps(items), "quoted": ", ".join(f'"{x}"' for x in items), "tuple": "[" + ", ".join(f"'{x}'" for x in items) + "]", "yaml": "\n".join("- " + x for x in items)}[form]
        pattern = {"json": f"(turn|convert|make|change) {THESE} (into|to) [a] JSON (array|list) [of strings]|(as|to) JSON (array|list)|(give|return) {THESE} as a JSON (list|array)", "quoted": f"put (every|each) (word|item) in double quotes[, separated by commas]|quote each (word|item) with double quotes", "tuple": f"(make|write) {THESE} (into|as) a python list|python list of these", "yaml": f"(make|write|turn) {THESE} (into|as) a yaml list|as a YAML list"}[form]
        return finish(with_payload(w, order(w, pattern), w.any(", ", ", ", " ", "\n").join(items)), "All items in order.", answer)
    if kind == 8:
        n = w.number(2, 4)
        letters, m = "abcdefghij", w.any("letter-number", "even", "step", "letters", "double", "days")
        if m == "letter-number":
            k = w.number(0, 3)
            seq = [f"{letters[k + i]}{i + 1}" for i in range(n + 2)]
        elif m == "letters":
            k, s = w.number(0, 10), w.any(1, 1, 2)
            seq = ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k + i * s] for i in range(n + 2)]
        elif m == "double":
            k = w.number(1, 6)
            seq = [str(k * 2 ** i) for i in range(n + 2)]
        elif m == "days":
            pool = w.any(lexicon.DAYS, lexicon.MONTHS)
            k = w.rng.randrange(len(pool))
            seq = [pool[(k + i) % len(pool)] for i in range(n + 2)]
        else:
            s = 2 if m == "even" else w.number(2, 12) * w.any(1, 1, -1)
            k = w.number(0, 60) if s > 0 else w.number(60, 120)
            seq = [str(k + i * s) for i in range(n + 2)]
        text = ", ".join(seq[:-1])
        return finish(with_payload(w, typed(w, "(what (comes|is) next|which (one|number|term) (comes next|follows)|what follows)[?]|(continue|finish|complete) the (pattern|sequence|row|series)|next (one|term|in the sequence)[?]|and then?"), text + w.any(",", ", ...", ", ?", "")), "The row goes on in equal steps.", seq[-1])
    if kind == 9:
        rows = [(x, w.any(*lexicon.KINDS["color"][:9])) for x in words_of(w, w.number(2, 4))]
        head = w.any(("Name", "Color"), ("item", "color"), ("Thing", "Color"))
        text = w.any(", ", "; ").join(w.any("{0} is {1}", "{0} is {1}", "{0}: {1}").format(*r) for r in rows)
        form = w.any("markdown", "csv", "json", "objects")
        if form == "markdown":
            answer = f"| {head[0]} | {head[1]} |\n| --- | --- |\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
            pattern = f"(make|build|create|draw|write) a [markdown] table with [the columns] {head[0]} and {head[1]}|(put|turn|convert) (this|it) into a [markdown] table ({head[0]}, {head[1]})|(markdown table|table), columns {head[0]} and {head[1]}"
        elif form == "csv":
            answer = f"{head[0]},{head[1]}\n" + "\n".join(f"{a},{b}" for a, b in rows)
            pattern = f"(make|create|write) a CSV with [the] header {head[0]},{head[1]}|(convert|turn) (this|it) (into|to) CSV with (the columns|header) {head[0]},{head[1]}|CSV, columns {head[0]} and {head[1]}"
        elif form == "json":
            answer = json.dumps(dict(rows))
            pattern = f"(as|to|make) JSON, [the] (key is the {head[0].lower()}, value the {head[1].lower()}|keys are the {head[0].lower()}s, values the {head[1].lower()}s)|(convert|turn) (this|it) into a JSON object from {head[0].lower()} to {head[1].lower()}"
        else:
            answer = json.dumps([{head[0].lower(): a, head[1].lower(): b} for a, b in rows])
            pattern = f"(convert|turn|make) (this|it) into a JSON list of objects with {head[0].lower()} and {head[1].lower()}|JSON array of objects with the keys {head[0].lower()} and {head[1].lower()}"
        return finish(with_payload(w, order(w, pattern), text), f"{len(rows)} rows.", answer)
    if kind == 10:
        n, word = w.number(2, 4), w.any("dog", "cat", "tree", "river", "teacher", "car", "garden", "winter", "friend", w.noun())
        sentences = w.rng.sample([f"The {word} is old.", f"I like the {word}.", f"Everybody knows the {word}.", f"We saw the {word} yesterday.", f"The {word} was in {w.city()}.", f"My friend has a picture of the {word}.", f"The {word} is near the house."], n)
        return finish(typed(w, "(write|give me|make) {n} [short] sentences about {x}|{n} sentences about {x}[, please]|(can|could) you write {n} sentences about {x}?", n=w.any(str(n), lexicon.SMALL[n]), x=w.any(f"a {word}", f"the {word}", word) if word[0] not in "aeiou" else f"the {word}"), f"{n} sentences.", " ".join(sentences), {"contains": [word]})
    word = w.any("OK", "yes", "done", "no", "hello", "ready", "I understand", "stop", "42", w.noun(), capital(w.fresh()))
    return finish(typed(w, "(reply|answer|respond) (only|just) with {x}|(reply|answer) with {x} (only|and nothing else)|(just|only) (say|write) {x}|say {x} and nothing else|your answer must be {x}|(respond|answer) with (exactly|the word) {x}", x=w.any(word, f'"{word}"', f"'{word}'")), "Nothing else.", word)


TASKS = {sorting: 28, counting: 22, comparing: 18, picking: 16, shaping: 34}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
