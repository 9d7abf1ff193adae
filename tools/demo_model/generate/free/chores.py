"""Small chores with text, asked for as people do: other persons and tenses, kind words, mistakes, labels with reasons, groups,
tallies, letters, notations, and rules of a system prompt that are kept."""

import re

from .tables import chores as data
from . import lexicon
from .grammar import capital, form, listing, typists
from .reading import finish

VERB = re.compile(r"<([^|>]+)\|([^|>]+)\|([^>]+)>")
PERSONS = {"I": ("I", "me", "my", 1), "we": ("we", "us", "our", 1), "he": ("he", "him", "his", 2), "she": ("she", "her", "her", 2), "they": ("they", "them", "their", 1)}
TENSES = {"past": "past", "present": "present", "future": "future"}


def told(sentence, person, tense):
    s, o, p, third = PERSONS[person]
    inside = iter(range(9))

    def verb(m):
        # Another's verb in a sub-clause ("my sister sleeps") has the same base and third form.
        base = m[2]
        if tense == "past":
            return m[1]
        if tense == "future":
            return ("will " if not joined(m) else "") + BASES.get(base, base)
        return m[third + 1]

    def joined(m):
        return sentence[:m.start()].endswith("and ")

    text = VERB.sub(verb, sentence)
    return capital(text.replace("{S}", capital(s)).replace("{s}", s).replace("{O}", o).replace("{P}", p))


BASES = {"sleeps": "sleep", "barks": "bark", "asks": "ask"}


def ask(w, patterns, payload, quote=True):
    """The order, typed, and its text in one of the ways in which people lay it out."""
    order = typists(w, form(w, w.any(*patterns)), 0.8)
    if "{t}" in order:
        return order.replace("{t}", payload)
    bare = order.rstrip(" .?!:")
    r = w.rng.random()
    if r < 0.5:
        return f"{bare}: {payload}"
    if r < 0.65 and quote:
        mark = "'" if "'" not in payload and w.chance(0.5) else '"'
        return f"{bare}: {mark}{payload}{mark}"
    if r < 0.8:
        return f"{bare}\n{payload}"
    if r < 0.9:
        return f"{payload}\n{order}"
    return f"{bare} - {payload}"


def changes(a, b):
    """"x becomes y" for the words that differ, where both have as many."""
    x, y = a.rstrip(".").split(), b.rstrip(".").split()
    if len(x) != len(y):
        return ""
    return ", ".join(dict.fromkeys(f"{i} becomes {j}" for i, j in zip(x, y) if i != j))


def person(w):
    sentence = w.any(*[s for s in data.SENTENCES if " they " not in s])
    tense = w.any("past", "past", "present")
    a, b = w.any(("I", "he"), ("I", "she"), ("he", "I"), ("she", "I"), ("we", "they"), ("I", "we"), ("they", "we"), ("I", "they"))
    before, after = told(sentence, a, tense), told(sentence, b, tense)
    which = {"he": "third person", "she": "third person", "they": "third person plural", "I": "first person", "we": "first person plural"}[b]
    text = ask(w, [f"(put|rewrite|change|turn) this in[to] the {which} with '{b}'", f"change the person, use '{b}' instead of '{a}'", f"say this about '{b}', not '{a}'", f"make it '{b}' instead of '{a}' everywhere", f"same sentence but '{b}' is the one who does it, not '{a}'", f"{which} please, '{b}'", f"I need it with '{b}' where it says '{a}'", f"replace {a} by {b} and adapt the rest"], before)
    return finish(text, changes(before, after) + "." or "The person changes.", after)


def tense(w):
    sentence, who = w.any(*data.SENTENCES), w.any("I", "we", "he", "she", "they")
    a, b = w.rng.sample([t for t in TENSES if t != "future" or "When" not in sentence and "while" not in sentence], 2)
    before, after = told(sentence, who, a), told(sentence, who, b)
    while before == after:
        return tense(w)
    names = {"past": ["I need the past tense", "make that past tense", "pretend this happened yesterday, rewrite it in the past", "past tense please", "tell it as something that is over - past tense"], "present": ["present tense please", "put it into the present tense", "rewrite as if it happens now, in the present", "change to simple present"], "future": ["future tense, with will", "put this in the future with will", "this will only happen next year, use the future tense", "future tense of this"]}[b]
    x, y = told_verbs(sentence, who, a), told_verbs(sentence, who, b)
    return finish(ask(w, names, before), ", ".join(f"{i} becomes {j}" for i, j in zip(x, y) if i != j) + ".", after)


def told_verbs(sentence, who, tense):
    third = PERSONS[who][3]
    return [m[0] if tense == "past" else "will " * (not sentence[:v.start()].endswith("and ")) + BASES.get(m[1], m[1]) if tense == "future" else m[third] for v in VERB.finditer(sentence) for m in [v.groups()]]


def full(text):
    """it's and I'll in full, with a capital and a full stop."""
    for a, b in (("it's", "it is"), ("I'll", "I will"), ("can't", "cannot")):
        text = text.replace(a, b)
    return capital(text) + "."


def kind(w):
    order, rest = w.any(*data.ORDERS)
    both = w.chance(0.6)
    rude = capital(order) + (w.any(f", {rest}.", f", {rest}!", f". {capital(rest)}.") if both else w.any("!", ".", " now!"))
    answer = f"Could you please {order}?" + (f" {full(rest)}" if both else "")
    return finish(ask(w, ["make this more polite", "say that politely", "rewrite politely", "(put|phrase) this (nicely|kindly|in a friendlier way)", "too rude, soften it", "how would a polite person say this", "be nicer", "turn this into a polite request", "I don't want to offend anybody, how do I write this", "(can you|could you) make that sound friendlier", "polite version please", "my boss says this is rude. fix it"], rude), f"The request: {order}." + (f" It stays: {rest}." if both else ""), answer)


def combine(w):
    a, b = w.any(*data.CAUSES)
    answer = f"{capital(a)}, so {b}."
    return finish(ask(w, ["(combine|join|merge) (these|the two sentences|both) into one [sentence]", "make one sentence of these two", "one sentence instead of two please", "these are two sentences, I want one", "connect them with 'so'", "put them together with so", "link the two sentences"], f"{capital(a)}. {capital(b)}."), f"First {a}, then {b}: with so.", answer)


def shorten(w):
    a, b = w.any(*data.CAUSES)
    long = w.any("Owing to the circumstance that {a}, it unfortunately turned out that {b}.", "As you may or may not have heard, {a}, and as a result of this {b}.", "I would like to inform you that, because {a}, {b} in the end.", "It so happened that {a}, which is the reason why {b}.", "Given that {a} at that time, the consequence was that {b}.").format(a=a, b=b)
    return finish(ask(w, ["shorten this", "(too long|too wordy), make it short", "say this in fewer words", "cut the waffle", "make it shorter and clearer", "can you tighten this up", "trim this sentence", "the short version please", "sum up in one short sentence", "tl;dr"], long, False), f"What counts: {a}; {b}.", f"{capital(b)} because {a[0] + a[1:]}.")


def register(w):
    casual, formal = w.any(*data.REGISTERS)
    return finish(ask(w, ["formal please", "(more formal|formal English) please", "write this the way one writes to an authority", "rewrite for a business letter", "how do I say this in a formal mail", "sounds too casual, change that", "professional tone please", "this goes to a customer, make it formal", "formal register"], casual), "Formal words, full sentences.", formal)


def corrected(w):
    wrong, right = w.any(*data.MISTAKES)
    pairs = changes(wrong, right.rstrip("?.!"))
    return finish(ask(w, ["(fix|correct) this", "repair the (grammar and the spelling|mistakes)", "any mistakes? correct them", "proofread", "I'm not a native speaker, is this right? correct it", "spelling and grammar please", "clean this up", "what should it be", "write it without errors", "check my English"], wrong), (pairs + "." if pairs else "Word by word, spelled right."), right)


def stronger(w):
    a = w.any(*data.STRONGER_IN)
    b = data.STRONGER[a]
    before, after = data.STRONGER_IN[a].format(a=a), data.STRONGER_IN[a].format(a=b)
    if b[0] in "aeiou" and " a " + b in after:
        after = after.replace(" a " + b, " an " + b)
    if b[0] not in "aeiou" and " an " + b in after:
        after = after.replace(" an " + b, " a " + b)
    return finish(ask(w, [f"replace '{a}' (with|by) a stronger word", f"'{a}' is weak, use something stronger", f"a more powerful word than {a} in this sentence", f"swap {a} for a stronger adjective", f"make this more dramatic by changing the word {a}", f"stronger word for '{a}' here"], before), f"A stronger word than {a}: {b}.", after)


def upper(w):
    text = w.any(*data.CAUSES)[w.number(0, 1)] if w.chance(0.5) else " ".join(w.any(w.noun, w.verb, w.adjective)() for _ in range(w.number(2, 5)))
    how = w.any("upper", "lower", "title", "snake", "kebab", "camel")
    words = text.split()
    if how == "upper":
        return finish(ask(w, ["upper case", "(all|in) capitals", "in capital letters please", "SHOUT this", "make every letter big", "caps lock version", "write it all in caps"], text), "; ".join(f"{x}: {' '.join(x.upper())}" for x in words) + ".", text.upper())
    if how == "lower":
        return finish(ask(w, ["lower case please", "no capitals", "write this small", "all in lower case", "stop shouting - lower case", "lowercase"], text.upper()), "Every letter becomes small.", text.lower())
    answer = {"title": " ".join(capital(x) for x in words), "snake": "_".join(x.lower() for x in words), "kebab": "-".join(x.lower() for x in words), "camel": words[0].lower() + "".join(capital(x.lower()) for x in words[1:])}[how]
    asked = {"title": ["title case", "capitalise every word", "each word with a capital", "make it look like a headline, every word big"], "snake": ["turn this into snake_case", "snake_case", "as a variable name with underscores", "words joined by underscores, all small"], "kebab": ["kebab-case", "make a url slug, small letters and hyphens", "join the words with hyphens, lower case"], "camel": ["camelCase", "as camelCase please", "turn that into a camelCase name"]}[how]
    return finish(ask(w, asked, text), f"The words: {', '.join(words)}.", answer)


def drawn_text(w):
    text, cue, axes = w.any(*data.TEXTS)
    slots = dict(x=w.noun(), d=w.any(*lexicon.DAYS), n=w.first_name(), k=w.number(2, 90), y=w.number(1900, 2010), c=w.city())
    return text.format(**slots), cue.format(**slots), dict(a.split("=") for a in re.findall(r"\w=[a-z]+(?: [a-z]+)?(?= \w=|$)", axes))


UNCLEAR = {frozenset(p) for p in (("request", "question"), ("request", "praise"), ("account", "technical"))}


def labelled(w):
    text, cue, axes = drawn_text(w)
    axis = w.any(*axes)
    label = axes[axis]
    others = [x for x in data.AXES[axis] if x != label]
    others = [x for x in others if frozenset((label, x)) not in UNCLEAR]
    labels = [label, *w.rng.sample(others, w.number(1, len(others)))]
    if axis == "s" and "neutral" not in labels and label == "neutral":
        labels.append("neutral")
    w.rng.shuffle(labels)
    either = ", ".join(labels[:-1]) + " or " + labels[-1]
    why = w.chance(0.5)
    asked = ["{L} - which is this", "{L}?", "classify as {L}", "label it {L}", "which one fits, {L}", "decide - {L}", "would you call this {L}", "{L} - what is it", "pick one, {L}", "sort this into {L}", "tag with {L}", "I have to file this under {L}. where does it go", "our labels are {L}. which applies", "my colleague and I disagree, is it {L}"]
    order = w.any(*asked)
    if why:
        order = order.rstrip("?") + w.any(", and why", ", with a reason", ". Give a reason", " and say why", ", explain briefly", ". why?", " plus a short reason")
    else:
        order += w.any("", "", "", ", one word" if " " not in label else "", ", only the label", ". Just the label please")
    order = typists(w, order, 0.7).replace("{L}", either).replace("{l}", either)
    mark = "'" if "'" not in text else '"'
    question = w.any(f"{order.rstrip('.?! ')}? {mark}{text}{mark}", f"{order}: {text}", f"{order}\n{text}", f"{text}\n{order}", f"{order}\n\n{mark}{text}{mark}")
    answer = w.any('{l}, because it says "{c}".', '{l}: it says "{c}".', '{l} - "{c}".').format(l=label, c=cue) if why else label
    return finish(question, f'It says "{cue}": {label}.', answer, {"equals": answer})


def each(w):
    sets = w.any(*data.EACH)
    groups = data.EACH[sets]
    items = [(x, label) for label, xs in groups.items() for x in w.rng.sample(xs.split("|"), w.number(1, 3))]
    w.rng.shuffle(items)
    a, b = sets.split("|")
    text = ", ".join(x for x, _ in items)
    thought = "; ".join(f"{x} {l}" for x, l in items) + "."
    if w.chance(0.5):
        return finish(ask(w, [f"{a} or {b}, a label for every one", f"for each one say {a} or {b}", f"{a} or {b}? go one by one", f"mark every item with {a} or {b}", f"which are {a}, which are {b}? item by item"], text, False), thought, "\n".join(f"{x}: {l}" for x, l in items))
    grouped = "\n".join(f"{l}: {', '.join(x for x, m in items if m == l)}" for l in (a, b))
    return finish(ask(w, [f"sort into {a} and {b}", f"group these, {a} and {b}", f"two groups please, {a} and {b}", f"split the list into {a} and {b}", f"separate {a} from {b}"], text, False), thought, grouped)


def grouped(w):
    kinds = w.rng.sample([k for k in ("animal", "fruit", "vegetable", "tool", "vehicle", "color", "country", "drink", "sport", "musical instrument", "metal", "flower", "job")], w.any(2, 2, 3))
    items = [(x, k) for k in kinds for x in w.rng.sample(lexicon.KINDS[k], w.number(1, 3)) if len(lexicon.kinds_of(x) & set(kinds)) == 1]
    if {k for _, k in items} != set(kinds):
        return grouped(w)
    w.rng.shuffle(items)
    names = [lexicon.plural_kind(k) for k in kinds]
    both = listing(names)
    answer = "\n".join(f"{n}: {', '.join(x for x, m in items if m == k)}" for k, n in zip(kinds, names))
    return finish(ask(w, [f"sort (these|the words) into {both}", f"group by {both}", f"put these in groups, {both}", f"which belong to {both}? group them", f"make lists of {both} from this"], ", ".join(x for x, _ in items), False), "; ".join(f"{x} {k}" for x, k in items) + ".", answer)


def tally(w):
    names = w.first_names(2, 4) if w.chance(0.6) else list(dict.fromkeys(w.any(*lexicon.KINDS["color"]) for _ in range(3)))
    votes = [w.any(*names) for _ in range(w.number(4, 9))]
    seen = list(dict.fromkeys(votes))
    text, counts = ", ".join(votes), {n: votes.count(n) for n in seen}
    thought = "; ".join(f"{n} {c}" for n, c in counts.items()) + "."
    top = [n for n in seen if counts[n] == max(counts.values())]
    if w.chance(0.5) or len(top) > 1:
        return finish(ask(w, ["tally these [votes]", "count the votes", "how many for each", "how often does each one occur", "give me the count per name", "(make|do) a tally", "who got how many"], text, False), thought, "\n".join(f"{n}: {c}" for n, c in counts.items()))
    return finish(ask(w, ["which one is most frequent", "who won the vote", "what occurs most often", "most common entry", "which appears the most times", "who has the most votes"], text, False), thought + f" The most: {top[0]}.", top[0])


def letters(w):
    word = w.any(w.noun, w.noun, w.adjective, w.first_name)()
    if len(word) > 11:
        return letters(w)
    way = w.number(0, 2)
    if way == 0:
        x = w.any(*word.lower()) if w.chance(0.9) else w.any(*"aeiourst")
        steps, n = [], 0
        for c in word.lower():
            n += c == x
            steps.append(f"{c} {n}" if c == x else c)
        return finish(typists(w, form(w, w.any("how many {x}'s are in {t}[?]", "count the letter {x} in {t}", "how often does {x} occur in {t}[?]", "number of {x} in the word {t}", "how many times do you write {x} when you spell {t}[?]", "letters {x} in {t}?", "is there an {x} in {t}, and how many?")), 0.6).replace("{x}", x).replace("{t}", w.any(word, f"'{word}'", f'"{word}"')), "Letter by letter: " + ", ".join(steps) + f". {x}: {n}.", str(n))
    if way == 1:
        return finish(typists(w, form(w, w.any("spell {t} backwards", "{t} from back to front, letter by letter", "reverse the letters of {t}", "what is {t} read backwards[?]", "write {t} the other way round, last letter first", "mirror the word {t}")), 0.6).replace("{t}", w.any(word, f"'{word}'", f'"{word}"')), f"Letters: {' '.join(word)}. Backwards: {' '.join(reversed(word))}.", word[::-1])
    n = sum(c in "aeiou" for c in word.lower())
    steps, k = [], 0
    for c in word.lower():
        k += c in "aeiou"
        steps.append(f"{c} {k}" if c in "aeiou" else c)
    return finish(typists(w, form(w, w.any("how many vowels does {t} have[?]", "count the vowels in {t}", "number of vowels: {t}", "vowels in {t}?", "a, e, i, o, u - how many of them in {t}[?]")), 0.6).replace("{t}", w.any(word, f"'{word}'")), "Letter by letter: " + ", ".join(steps) + f". Vowels: {n}.", str(n))


def log(w):
    hour, minute = w.number(0, 22), w.number(0, 20)
    levels = ["ERROR", "INFO", "WARN"] if w.chance(0.5) else [f"{x} {y}" for x in w.first_names(2, 3) for y in ("login", "logout")]
    rows, kinds = [], []
    for _ in range(w.number(3, 6)):
        minute += w.number(1, 6)
        level = w.any(*levels)
        kinds.append(level)
        rows.append(f"{hour:02d}:{minute:02d} {level}" + ("" if " " in level else f" {w.noun()} {w.any('full', 'started', 'timeout', 'slow', 'lost', 'ok')}"))
    x = w.any(*kinds)
    n, steps, k = kinds.count(x), [], 0
    for level, row in zip(kinds, rows):
        k += level == x
        steps.append(f"{row.split()[0]} {level}" + (f" {k}" if level == x else ""))
    who = x.split()
    order = w.any(f"{who[0]} logged {who[1].removeprefix('log')} how often?", f"count {who[0]}'s {who[1]}s", f"number of {who[1]}s of {who[0]}?") if len(who) == 2 else w.any(f"How many {x} lines are there?", f"count the {x} entries", f"{x.lower()}s in this log?", f"how often does {x} occur", f"number of lines with {x}?")
    text = "\n".join(rows)
    return finish(w.any(f"Log:\n{text}\n{order}", f"{order}\n{text}", f"{order}\n\n{text}", f"{text}\n\n{order}"), "; ".join(steps) + f". {x}: {n}.", str(n))


def notation(w):
    keys = w.rng.sample("host port user name city color size level mode owner price team status path".split(), w.number(2, 4))
    values = [w.any(w.noun, w.fresh, lambda: str(w.number(1, 9999)))() for _ in keys]
    pairs = list(zip(keys, values))
    text = w.any(", ".join, "; ".join)([w.any(f"{k} is {v}", f"{k} {v}") for k, v in pairs])
    way = w.any("env", "yaml", "bullets", "table", "csv", "json", "brackets", "bold", "commas")
    if way == "brackets":
        a, b, x, y = w.number(2, 99), w.number(2, 99), lexicon.plural(w.noun()), lexicon.plural(w.noun())
        text = w.any(f"There are {a} {x} for {b} {y}.", f"{a} {x} cost {b} euros.", f"We sold {a} {x} in {b} days.")
        left, right, name = w.any(("[", "]", "square brackets"), ("(", ")", "round brackets"), ("*", "*", "asterisks"), ('"', '"', "double quotes"))
        return finish(ask(w, [f"each number gets {name}", f"numbers in {name} please, rest unchanged", f"put {name} around the numbers", f"surround each number with {name}"], text), f"The numbers: {a} and {b}.", re.sub(r"\d+", lambda m: left + m[0] + right, text))
    if way == "bold":
        name, text = (lambda n: (n, w.any(f"{n} came in second.", f"Please call {n} today.", f"{n} has the key.", f"I spoke to {n} on Monday.")))(w.first_name())
        return finish(ask(w, ["the name wants to be bold, in markdown", "make the name bold, markdown please", "bold the name", "the person's name should be bold", "** around the name, keep the rest"], text), f"The name: {name}.", re.sub(rf"\b{re.escape(name)}\b", f"**{name}**", text, count=1))
    if way == "commas":
        items = [w.noun() for _ in range(w.number(3, 6))]
        return finish(ask(w, ["a list with commas please", "commas instead of 'and'", "just commas between them", "separate by commas"], " and ".join(items), False), f"{len(items)} items.", ", ".join(items))
    asked = {"env": ["write as key=value lines", "one key=value per line", "in .env style, like key=value", "key=value please, line by line"], "yaml": ["as yaml", "yaml style please", "key colon value lines, like in yaml", "turn this into yaml"], "bullets": ["as a bullet list of 'key: value'", "bullets please, each 'key: value'"], "table": ["markdown table with columns Key and Value", "put that in a markdown table, Key and Value"], "csv": ["as csv with the header key,value", "csv please, header key,value"], "json": ["as JSON, all values as strings", "JSON object please, values are strings"]}[way]
    answer = {"env": "\n".join(f"{k}={v}" for k, v in pairs), "yaml": "\n".join(f"{k}: {v}" for k, v in pairs), "bullets": "\n".join(f"- {k}: {v}" for k, v in pairs), "table": "| Key | Value |\n|---|---|\n" + "\n".join(f"| {k} | {v} |" for k, v in pairs), "csv": "key,value\n" + "\n".join(f"{k},{v}" for k, v in pairs), "json": "{" + ", ".join(f'"{k}": "{v}"' for k, v in pairs) + "}"}[way]
    return finish(ask(w, asked, text, False), "; ".join(f"{k} {v}" for k, v in pairs) + ".", answer)


TASKS = {person: 9, tense: 8, kind: 8, combine: 4, shorten: 5, register: 6, corrected: 6, stronger: 3, upper: 6, labelled: 20, each: 5, grouped: 5, tally: 5, letters: 7, log: 4, notation: 10}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
