"""Scenes: a few rows of one kind with the same properties, told as prose, lists or tables, and what is asked about them.

Several people with jobs, shop articles with prices, events with times: every question has rivals in the text, so that
reading, not the kind of the word, decides. Also what follows from the rows: counts, extremes, comparisons, differences,
two steps at once, yes or no, what is not said; lists, JSON and tables of them."""

import json

from . import grammar, lexicon, reading, worlds
from .grammar import capital, form, listing, order, say, typed, with_payload
from .ordering import tally
from .reading import NOT_SAID, finish, laid_out
from .tables.scenes import NAMES, SCENES


class Property:
    def __init__(self, line):
        self.name, self.kind, said, asked, which, self.described, more = (x.strip() for x in line.split(" | "))
        self.said, self.asked, self.which = ([x.strip() for x in cell.split(" ; ")] for cell in (said, asked, which))
        self.more = [x.strip() for x in more.split(",")] if more != "-" else None
        self.number = self.kind.startswith("num:")


def _parse():
    out, current = {}, None
    for line in SCENES.strip().split("\n"):
        if line.startswith("@"):
            name, nouns, pronoun, kind, openings = (x.strip() for x in line[1:].split(" | "))
            current = {"nouns": nouns.split(", "), "person": pronoun == "who", "names": kind, "openings": [x.strip() for x in openings.split(" ; ")], "properties": []}
            out[name] = current
        else:
            current["properties"].append(Property(line))
    return out


SCENE = _parse()
ARTICLE = worlds.ARTICLE


def name_of(w, kind):
    if kind == "first":
        return w.first_name()
    if kind in NAMES:
        return w.any(*NAMES[kind]) if kind != "goods" or w.chance(0.75) else w.noun()
    if kind == "town":
        return w.city()
    if kind == "order":
        return f"order {w.number(100, 99999)}" if w.chance(0.6) else f"{w.any('A', 'B', 'K', 'ORD', 'X')}-{w.number(10, 9999)}"
    if kind == "host":
        return w.any(f"{w.any('web', 'db', 'node', 'app', 'mail', 'cache')}-{w.number(1, 40)}", w.fresh(), f"{w.fresh()}{w.number(1, 9)}")
    return w.any(f"The {capital(w.adjective())} {capital(w.noun())}", f"{capital(w.noun())} and {capital(w.noun())}", f"A {capital(w.noun())} in {w.city()}", f"{capital(w.fresh())}")


def minutes(clock):
    """Minutes after midnight of a time as HH:MM."""
    return int(clock[:-3]) * 60 + int(clock[-2:])


class Scene:
    """rows: [{"": name, property: value}]; sentences: [(indices of a row's properties told, text)] by row."""

    def __init__(self, w, rows=None, properties=None, name=None):
        self.name = name or w.any(*SCENE)
        table = SCENE[self.name]
        self.one, self.many = table["nouns"]
        self.person = table["person"]
        self.article = "" if self.person or table["names"] in ("town", "order", "host", "title", "beast") else "the "
        count = rows or w.any(2, 3, 3, 4, 4, 5, 6)
        self.properties = w.rng.sample(table["properties"], min(len(table["properties"]), properties or w.any(1, 2, 2, 3, 3, 4)))
        self.absent = [p for p in table["properties"] if p not in self.properties]
        names = []
        while len(names) < count:
            n = name_of(w, table["names"])
            if n.lower() not in [x.lower() for x in names]:
                names.append(n)
        self.rows = [{"": n} for n in names]
        self.genders = [w.any("he", "she") if self.person else "it" for _ in names]
        used = {n.lower() for n in names}
        for p in self.properties:
            pool = p.kind[4:].split(",") if p.kind.startswith("any:") else None
            repeats = pool is not None and w.chance(0.6)
            if pool and not repeats and len(pool) < count:
                repeats = True
            few = w.rng.sample(pool, min(len(pool), max(2, count - 1))) if repeats else None
            for row in self.rows:
                for _ in range(40):
                    v = w.any(*few) if repeats else w.any(*pool) if pool else self.value(w, p.kind)
                    if repeats or str(v).lower() not in used:
                        break
                used.add(str(v).lower())
                row[p.name] = v
        self.opening = say(w, w.any(*table["openings"]), n=lexicon.in_words(count) if w.chance(0.6) else count, c=w.city(), x=w.noun())
        self.opening = "" if self.opening == "-" else capital(self.opening)

    def value(self, w, kind):
        if kind.startswith("num:"):
            low, high = map(int, kind[4:].split(":"))
            return w.number(low, high)
        if kind == "clock":
            return f"{w.number(7, 21)}:{w.any('00', '00', '30', '15', '45', '20')}"
        return worlds.draw(w, kind)[0]

    def called(self, i):
        return self.article + self.rows[i][""]

    def values(self, row, p):
        v = str(row[p.name])
        return {"v": v, "a": lexicon.article(v), "vs": lexicon.plural(v) if p.kind == "animal" else v}

    def phrase(self, w, i, p):
        """A verb phrase that says a property of a row."""
        return ARTICLE.sub(r"\1n \2", form(w, w.any(*p.said)).format_map(self.values(self.rows[i], p)))

    def sentences_of(self, w, i, properties):
        """One or more sentences about a row."""
        k, he = self.called(i), self.genders[i]
        phrases = [self.phrase(w, i, p) for p in properties]
        w.rng.shuffle(phrases)
        out = []
        while phrases:
            n = min(len(phrases), w.any(1, 1, 2, 2, 3))
            now, phrases = phrases[:n], phrases[n:]
            subject = k if not out or w.chance(0.25) else he
            if n == 1:
                out.append(f"{subject} {now[0]}")
            elif n == 2 and subject == k and w.chance(0.3):
                out.append(f"{k}, {'who' if self.person else 'which'} {now[0]}, {now[1]}")
            else:
                out.append(f"{subject} {w.any(listing(now), listing(now), ', '.join(now[:-1]) + w.any(', and ', ' but ') + now[-1])}")
        return [capital(s) + "." for s in out]

    def prose(self, w, noise=0):
        """[text of one row]; what is not told of a row is not in it."""
        blocks = [self.sentences_of(w, i, self.properties) for i in range(len(self.rows))]
        if w.chance(0.25):  # property by property, row after row
            parts = []
            for p in self.properties:
                part = [f"{self.called(i)} {self.phrase(w, i, p)}" for i in range(len(self.rows))]
                glue = w.any(". ", ". ", ", ", "; ", ", while ") if len(part) == 2 else w.any(". ", ". ", ", ", "; ")
                parts.append(". ".join(capital(x) for x in glue.join(part).split(". ")) + ".")
            return parts
        return [" ".join(b) for b in blocks]

    def header(self):
        return [self.one if not self.person else "name", *[p.name for p in self.properties]]

    def cells(self):
        return [[str(row[""]), *[str(row[p.name]) for p in self.properties]] for row in self.rows]

    def text(self, w, prose=None):
        """The scene as people write it down."""
        r = w.rng.random() if prose is None else 0.0 if prose else 1.0
        if r < 0.68:
            parts = self.prose(w)
            for _ in range(w.any(0, 0, 0, 1, 2)):
                parts.insert(w.number(0, len(parts)), w.any("The rest does not matter here.", "It was a busy week.", f"The {w.noun()} is {w.adjective()}.", "Nobody expected that.", "This may still change.", "More about this another time.", f"All of this happened near {w.city()}."))
            return " ".join([self.opening, *parts]).strip() if w.chance(0.85) else "\n".join(x for x in [self.opening, *parts] if x)
        head, cells = self.header(), self.cells()
        if r < 0.76:
            body = "\n".join(f"{w.any('- ', '* ')}{row[0]}: " + ", ".join(f"{h} {c}" for h, c in zip(head[1:], row[1:])) for row in cells)
        elif r < 0.84:
            body = "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n" + "\n".join("| " + " | ".join(row) + " |" for row in cells)
        elif r < 0.9:
            body = ",".join(head) + "\n" + "\n".join(",".join(row) for row in cells)
        elif r < 0.95:
            body = "\n\n".join("\n".join(f"{h}: {c}" for h, c in zip(head, row)) for row in cells)
        else:
            body = json.dumps([dict(zip(head, [row[""], *[row[p.name] for p in self.properties]])) for row in self.rows], ensure_ascii=False)
        return (self.opening + "\n" if self.opening and w.chance(0.4) else "") + body

    def ask(self, w, pattern, i=None, p=None, **more):
        """A question as typed; names and values stay as they are."""
        slots = dict(more)
        if i is not None:
            k = self.rows[i][""]
            slots.update(k=k, ks=lexicon.plural(k))
        if p is not None and i is not None:
            slots.update(self.values(self.rows[i], p))
        text = grammar.typists(w, form(w, pattern), 0.8)
        text = ARTICLE.sub(r"\1n \2", (capital(text) if w.chance(0.6) else text).format_map(slots))
        return text

    def evidence(self, w, i, p):
        return f"{capital(self.called(i))}: {p.name} {self.rows[i][p.name]}."

    def sizes(self, p):
        """Comparable values of a number or time."""
        return [minutes(row[p.name]) if p.kind == "clock" else row[p.name] for row in self.rows]


def shown(w, s, question):
    return laid_out(w, s.text(w), question)


def lookup(w, s=None):
    s = s or Scene(w)
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    answer = str(s.rows[i][p.name])
    if w.chance(0.2):
        answer = capital(f"{s.called(i)} {s.phrase(w, i, p)}.")
    return s.ask(w, w.any(*p.asked), i, p), s.evidence(w, i, p), answer, {"contains": [str(s.rows[i][p.name])]}


def which(w, s=None):
    """Who or which it is, all of them where there are several."""
    s = s or Scene(w)
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    v = s.rows[i][p.name]
    found = [j for j, row in enumerate(s.rows) if row[p.name] == v]
    answer = listing([s.called(j) for j in found])
    return s.ask(w, w.any(*p.which), i, p), " ".join(f"{capital(s.called(j))}: {p.name} {v}." for j in found), capital(answer), None


def two_steps(w, s=None):
    s = s or Scene(w, properties=w.number(2, 4))
    i = w.rng.randrange(len(s.rows))
    if len(s.properties) < 2:
        return which(w, s)
    p, q = w.rng.sample(s.properties, 2)
    if sum(row[p.name] == s.rows[i][p.name] for row in s.rows) > 1 or s.article and "the {k}" not in q.asked[0]:
        return which(w, s)
    described = p.described.format_map(s.values(s.rows[i], p))
    pattern = w.any(*q.asked).replace("the {k}", "{k}")
    question = s.ask(w, pattern.replace("{k}", "{d}").replace("{ks}", "{d}"), d=described)
    return question, f"{capital(described)} is {s.called(i)}. {s.evidence(w, i, q)}", str(s.rows[i][q.name]), None


def count(w, s=None):
    s = s or Scene(w, rows=w.number(3, 7))
    if w.chance(0.25):
        n = len(s.rows)
        return s.ask(w, f"how many {s.many} are (there|named|mentioned|listed)[?]|number of {s.many}?|count the {s.many}"), "; ".join(f"{i + 1} {r['']}" for i, r in enumerate(s.rows)) + ".", str(n), None
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    v = s.rows[i][p.name]
    if p.number:
        sizes = s.sizes(p)
        limit = w.number(min(sizes) - 1, max(sizes))
        above = w.chance(0.5)
        found = [x > limit if above else x < limit for x in sizes]
        question = s.ask(w, f"how many [of them|{s.many}] have a {p.name} (over|above|of more than) {limit}[?]|for how many is the {p.name} more than {limit}?" if above else f"how many [of them|{s.many}] have a {p.name} (under|below|of less than) {limit}[?]|for how many is the {p.name} less than {limit}?")
        steps = tally([f"{r['']} {x}" for r, x in zip(s.rows, sizes)], found)
        return question, f"{steps} {sum(found)}.", str(sum(found)), None
    found = [row[p.name] == v for row in s.rows]
    described = s.phrase(w, i, p)
    question = s.ask(w, "how many (of them|" + s.many + ") have the same as this: {k} {d}?|for how many is the " + p.name + " {v}[?]|how many have the " + p.name + " {v}[?]|how often is the " + p.name + " {v}?", i, p, d=described)
    steps = tally([f"{r['']} {r[p.name]}" for r in s.rows], found)
    return question, f"{steps} {sum(found)}.", str(sum(found)), None


def extreme(w, s=None):
    s = s or Scene(w, rows=w.number(2, 6))
    ps = [p for p in s.properties if p.more]
    if not ps:
        return lookup(w, s)
    p = w.any(*ps)
    sizes = s.sizes(p)
    more, most, less, least = p.more
    up = w.chance(0.5)
    best = max(sizes) if up else min(sizes)
    if sizes.count(best) > 1:
        return lookup(w, s)
    i = sizes.index(best)
    word = most if up else least
    bare = word.removeprefix("the ")
    r = w.rng.random()
    steps = "; ".join(f"{row['']} {row[p.name]}" for row in s.rows) + f". The {'largest' if up else 'smallest'} is {s.rows[i][p.name]}."
    the = "" if "there" in word else "the "
    if r < 0.7:
        pattern = f"(who|which [one|of them]) is {the}{bare}[?]|who is {the}{bare} [of them|of all]?" if s.person else f"(which [one|of them|{s.one}]|what) is {the}{bare}[?]|(find|name|tell me) the {bare} {s.one}|the {bare} {s.one}[?]"
        return s.ask(w, pattern), steps, capital(s.called(i)), None
    if r < 0.85:
        pattern = w.any(f"what is the (highest|largest|biggest) {p.name}[?]|largest {p.name}?" if up else f"what is the (lowest|smallest) {p.name}[?]|smallest {p.name}?") if p.number else w.any(f"what is the (latest|last) {p.name}[?]" if up else f"what is the (earliest|first) {p.name}[?]")
        return s.ask(w, pattern), steps, str(s.rows[i][p.name]), None
    q = w.any(*s.properties)
    if q is p or s.article or "there" in bare:
        return lookup(w, s)
    return s.ask(w, w.any(*q.asked).replace("{k}", f"the {bare} {s.one}").replace("{ks}", f"the {bare}")), f"{steps} That is {s.called(i)}. {s.evidence(w, i, q)}", str(s.rows[i][q.name]), None


def compare(w, s=None):
    s = s or Scene(w)
    ps = [p for p in s.properties if p.more]
    if not ps or len(s.rows) < 2:
        return which(w, s)
    p = w.any(*ps)
    sizes = s.sizes(p)
    i, j = w.rng.sample(range(len(s.rows)), 2)
    if sizes[i] == sizes[j]:
        return which(w, s)
    more, most, less, least = p.more
    up = w.chance(0.6)
    word = more if up else less
    a, b = s.called(i), s.called(j)
    x, y = s.rows[i][p.name], s.rows[j][p.name]
    r = w.rng.random()
    win = i if (sizes[i] > sizes[j]) == up else j
    seen = f"{capital(a)} {x}, {b} {y}."
    if r < 0.45:
        question = s.ask(w, "(who|which [of the two]) is {x}, {a} or {b}[?]|{a} or {b}, (who|which) is {x}[?]|is {a} or {b} {x}?" if s.person else "(what|which [one|of the two]) is {x}, {a} or {b}[?]|{a} or {b}, which is {x}[?]|is {a} or {b} {x}?", x=word, a=a, b=b)
        return question, seen, capital(s.called(win)), None
    if r < 0.75 and not word.startswith("the "):
        question = s.ask(w, "is {a} {x} than {b}[?]", x=word, a=a, b=b) if "from" not in word and "to" not in word and "there" not in word and "away" not in word else s.ask(w, "is {a} {x}, compared with {b}[?]", x=word, a=a, b=b)
        return question, seen, "Yes" if win == i else "No", {"contains": ["Yes" if win == i else "No"]}
    if p.number:
        d = abs(x - y)
        question = s.ask(w, "what is the difference [in {x}] between {a} and {b}[?]|(by how much|how much) do {a} and {b} differ [in {x}]?|how far apart are {a} and {b} in {x}[?]", a=a, b=b, x=p.name)
        if len([q for q in s.properties if q.number]) > 1 and p.name not in question:
            return which(w, s)
        return question, f"{seen} {max(x, y)} - {min(x, y)} = {d}.", str(d), None
    return which(w, s)


def total(w, s=None):
    s = s or Scene(w, rows=w.number(2, 4))
    ps = [p for p in s.properties if p.number and p.name in ("price", "stock", "seats", "people", "days", "cost", "hours", "total", "pages", "kilos", "cores", "memory", "fee", "weight", "minutes")]
    if not ps:
        return count(w, s)
    p = w.any(*ps)
    values = [row[p.name] for row in s.rows]
    if len(values) > 3:
        return extreme(w, s)
    question = s.ask(w, f"what is the total {p.name}[?]|(add up|sum up) the {p.name} [of all {s.many}]|what do (they|all) (make|come to) together ({p.name})[?]|sum of the {p.name}[?]|how much is the {p.name} (in all|altogether|together)[?]")
    steps, so_far = [], values[0]
    for v in values[1:]:
        steps.append(f"{so_far} + {v} = {so_far + v}.")
        so_far += v
    return question, " ".join(steps), str(so_far), None


def yes_no(w, s=None):
    s = s or Scene(w)
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    own = s.rows[i][p.name]
    true = w.chance(0.5)
    others = [row[p.name] for row in s.rows if row[p.name] != own]
    v = own if true or not others else w.any(*others)
    true = v == own
    phrase = ARTICLE.sub(r"\1n \2", form(w, w.any(*p.said)).format_map({"v": v, "a": lexicon.article(str(v)), "vs": lexicon.plural(str(v))}))
    k = s.called(i)
    right = capital(f"{k} {s.phrase(w, i, p)}.")
    if phrase.startswith(("is ", "was ", "has ")) and w.chance(0.8):
        verb, rest = phrase.split(" ", 1)
        if verb == "has" and not rest.startswith(("just", "been")):
            question = s.ask(w, "does {k2} have {r}?", k2=k, r=rest)
        else:
            question = s.ask(w, "{v2} {k2} {r}?|{v2} it (true|right) that {k2} {x}?" if verb == "is" else "{v2} {k2} {r}?", v2=verb, k2=k, r=rest, x=phrase)
    else:
        question = s.ask(w, "is it (true|right|correct) that {k2} {x}?|{k2} {x}, (right|correct|true or not|yes or no)?|does the text say that {k2} {x}?|true or false: {k2} {x}" if w.chance(0.9) else "{k2} {x}?", k2=k, x=phrase)
    if "true or false" in question.lower():
        return question, s.evidence(w, i, p), "True" if true else "False", None
    if "yes or no" in question.lower() or w.chance(0.4):
        return question, s.evidence(w, i, p), "Yes" if true else "No", None
    return question, s.evidence(w, i, p), "Yes." if true else f"No, {right[0].lower() + right[1:] if s.article else right}", {"contains": ["Yes" if true else "No"]}


def unsaid(w, s=None):
    """A property that is not told, or someone who is not there."""
    s = s or Scene(w)
    if s.absent and w.chance(0.6):
        p, i = w.any(*s.absent), w.rng.randrange(len(s.rows))
        return s.ask(w, w.any(*p.asked), i), f"The text has nothing about the {p.name} of {s.called(i)}.", NOT_SAID, None
    p = w.any(*s.properties)
    for _ in range(20):
        other = name_of(w, SCENE[s.name]["names"])
        if other.lower() not in [r[""].lower() for r in s.rows]:
            break
    return s.ask(w, w.any(*p.asked), k=other, ks=lexicon.plural(other)), f"{s.article}{other} is not in the text.", NOT_SAID, None


def others(w, s=None):
    """Who does not; all but one."""
    s = s or Scene(w, rows=w.number(3, 5))
    i, p = w.rng.randrange(len(s.rows)), w.any(*s.properties)
    v = s.rows[i][p.name]
    rest = [j for j, row in enumerate(s.rows) if row[p.name] != v]
    if not rest:
        return which(w, s)
    question = s.ask(w, ("(who is there besides|name (everyone|all people) except|(list|name) all but|leave out" if s.person else f"((which|what) {s.many} are there besides|(list|name) all {s.many} except|all {s.many} but|leave out") + f") (those|the {s.many}) with the {p.name} " + "{v}[?]", i, p)
    return question, " ".join(f"{s.rows[j]['']}: {s.rows[j][p.name]}." for j in rest), capital(listing([s.called(j) for j in rest])), None


def summary(w, s=None):
    s = s or Scene(w)
    names = listing([s.called(i) for i in range(len(s.rows))])
    what = listing([p.name for p in s.properties])
    question = s.ask(w, "(summarize|summarise|sum up) (this|the text) in one sentence|what is (this|the text) about[?]|one sentence summary[, please]|what does the text tell us, in (short|one sentence)[?]")
    n = lexicon.in_words(len(s.rows))
    return question, f"{capital(n)} {s.many}, and their {what}.", f"The text is about {n} {s.many}, {names}, and gives their {what}.", None


TASKS = {lookup: 30, which: 20, two_steps: 12, count: 9, extreme: 11, compare: 9, total: 4, yes_no: 10, unsaid: 14, others: 3, summary: 4}


def any_task(w, s=None):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w, s)


def reading_of(w):
    """A question, or several, about a scene."""
    r = w.rng.random()
    s = Scene(w)
    if r < 0.85:
        question, reasoning, answer, check = any_task(w, s)
        return finish(shown(w, s, question), reasoning, answer, check)
    asked = [any_task(w, s) for _ in range(w.number(2, 3))]
    if len({a[0] for a in asked}) < len(asked):
        return reading_of(w)
    lines = "\n".join(f"{i + 1}. {a[0]}" for i, a in enumerate(asked))
    answer = "\n".join(f"{i + 1}. {a[2]}" for i, a in enumerate(asked))
    return finish(shown(w, s, w.any("", "Questions:\n", "Answer all:\n", "Please answer these:\n") + lines), " ".join(a[1] for a in asked), answer)


def keyed(p, style):
    return p.name if style else capital(p.name)


def extraction_of(w):
    """Lists, JSON, tables and lines of what a scene tells."""
    s = Scene(w, rows=w.number(1, 5))
    text = s.text(w, w.chance(0.8) or None)
    ps = s.properties if w.chance(0.5) else w.rng.sample(s.properties, w.number(1, len(s.properties)))
    key = "name" if s.person or w.chance(0.6) else s.one
    r = w.rng.random()
    what = listing([p.name for p in ps])
    steps = " ".join(f"{row['']}: " + ", ".join(str(row[p.name]) for p in ps) + "." for row in s.rows)
    p = ps[0]
    if r < 0.2:
        names = [row[""] for row in s.rows]
        form_, answer = w.any(("comma[-]separated|with commas between", ", ".join(names)), ("one per line|each on a line of its own", "\n".join(names)), ("as [a] JSON (array|list)|in JSON", json.dumps(names, ensure_ascii=False)), ("as bullet points|as bullets", "\n".join(f"- {n}" for n in names)), ("", ", ".join(names)))
        noun = "(names|people|persons)" if s.person else f"({s.many}|names of the {s.many})"
        question = order(w, f"(list|extract|find|give me|pull out|name) (all |the |all the ){noun} [in (the text|it)] ({form_})")
        return finish(with_payload(w, question, text), steps, answer)
    if r < 0.32:
        values = [row[p.name] for row in s.rows]
        plain = ", ".join(map(str, values))
        form_, answer = w.any(("comma[-]separated", plain), ("one per line", "\n".join(map(str, values))), ("as [a] JSON (array|list)", json.dumps(values, ensure_ascii=False)), ("", plain))
        question = order(w, f"(list|extract|find|give me|collect) (every|each) {p.name} [in (the text|it)] ({form_})")
        return finish(with_payload(w, question, text), steps, answer)
    if r < 0.6:
        rows = [{key: row[""], **{q.name: row[q.name] for q in ps}} for row in s.rows]
        value = rows if len(rows) > 1 or w.chance(0.5) else rows[0]
        keys = listing([key, *[q.name for q in ps]])
        shape = json.dumps([{key: "string", **{q.name: "number" if q.number else "string" for q in ps}}]) if isinstance(value, list) else json.dumps({key: "...", **{q.name: 0 if q.number else "..." for q in ps}})
        question = order(w, "(extract|return|get|give me) (them|all of them|the data|everything) as [a] JSON (list|array) of objects with [the keys|the fields] {l}|(turn|convert|parse) (this|the text) into [a] JSON (array|list), one object (per|for each) {o} with {l}|JSON array[, please]: {l} (for|of) each {o}|(make|build) a list of JSON objects ({l})" if isinstance(value, list) and w.chance(0.75) else "(fill|use|follow) this (format|shape|structure): {s}|(answer|return|output) [only] JSON like {s}|JSON of the form {s}", l=keys, o=s.one, s=shape) if isinstance(value, list) or w.chance(0.5) else order(w, "(extract|get|return) {l} as JSON|JSON with [the keys] {l}|a JSON object with {l}", l=keys)
        return finish(with_payload(w, question, text), steps, json.dumps(value, ensure_ascii=False), {"json": value})
    if r < 0.72:
        value = {row[""]: row[p.name] for row in s.rows}
        question = order(w, f"(make|return|give me|build) [a] JSON (object|dictionary|map) (from|that maps) (each |every |){'person' if s.person else s.one} to (the|its|their) {p.name}|JSON with the {'names' if s.person else s.many} as keys and the {p.name} as values")
        return finish(with_payload(w, question, text), steps, json.dumps(value, ensure_ascii=False), {"json": value})
    if r < 0.82:
        question = order(w, f"(write|list|give me|extract) the {p.name} of (each|every) {s.one} as {'name' if s.person else s.one}: {p.name}|(turn|bring) (this|it) into lines of the form name: {p.name}|{p.name} of each {s.one}, one per line (name: value)")
        return finish(with_payload(w, question, text), steps, "\n".join(f"{row['']}: {row[p.name]}" for row in s.rows))
    if r < 0.9:
        head = [key, *[q.name for q in ps]]
        rows = [[row[""], *[str(row[q.name]) for q in ps]] for row in s.rows]
        if w.chance(0.5):
            question, answer = order(w, "(make|write|give me|create) a [markdown] table with [the columns] {l}|(turn|convert|put) (this|it) into a [markdown] table ({l})", l=listing(head)), "| " + " | ".join(head) + " |\n|" + " --- |" * len(head) + "\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)
        else:
            question, answer = order(w, "(make|write|give me|output) CSV with [the (columns|header)] {l}|(turn|convert) (this|it) (in|)to CSV ({l})", l=",".join(head)), ",".join(head) + "\n" + "\n".join(",".join(row) for row in rows)
        return finish(with_payload(w, question, s.text(w, True)), steps, answer)
    numbers = [q for q in s.properties if q.number]
    if not numbers or len(s.rows) < 2:
        return extraction_of(w)
    q = w.any(*numbers)
    sizes = s.sizes(q)
    if len(set(sizes)) < len(sizes):
        return extraction_of(w)
    if w.chance(0.5):
        down = w.chance(0.5)
        ordered = sorted(range(len(sizes)), key=lambda i: sizes[i], reverse=down)
        question = order(w, f"(sort|order|list|rank) the {s.many} by {q.name}, " + ("(highest|largest) first" if down else "(lowest|smallest) first"))
        seen = ", ".join(f"{s.rows[i]['']} {sizes[i]}" for i in range(len(sizes)))
        return finish(with_payload(w, question, text), f"{seen}. {'Largest' if down else 'Smallest'} first: {', '.join(str(sizes[i]) for i in ordered)}.", ", ".join(s.rows[i][""] for i in ordered))
    limit = w.number(min(sizes), max(sizes) - 1)
    found = [row[""] for row, x in zip(s.rows, sizes) if x > limit]
    question = order(w, f"(list|name|give me|show|find) (only |)the {s.many} (with a {q.name} (over|above|of more than) {limit}|whose {q.name} is (above|more than|over) {limit})")
    return finish(with_payload(w, question, text), "; ".join(f"{row['']} {x} {'yes' if x > limit else 'no'}" for row, x in zip(s.rows, sizes)) + ".", ", ".join(found))
