"""Paragraphs whose sentences say several things at once, and questions in words that are not those of the text."""

import re

from . import grammar, lexicon, parts, sums, worlds
from .tables.articles import ARTICLES
from .clauses import Clause
from .grammar import capital, form, listing, ordered, say, typed, with_payload
from .tables.paragraphs import TEXTS
from .reading import NOT_SAID, finish, laid_out

SLOT = re.compile(r"\{(\w+)(?:=([^}]*))?\}")
SUBJECTS = "law|medicine|history|music|physics|architecture|botany|economics|chemistry|painting|theology|geology|languages|engineering".split("|")
PRONOUNS = {"he": ("his", "him"), "she": ("her", "her"), "it": ("its", "it")}
ORDERED = ("up", "year", "clock", "kilo")  # the second of a text is larger or later than the first


def _parse():
    out, current = {}, None
    for line in TEXTS.strip().split("\n"):
        if line.startswith("@"):
            name, subjects, pronoun = (x.strip() for x in line[1:].split(" | "))
            current = {"subjects": subjects.split(" ; "), "person": pronoun == "he", "cards": []}
            out[name] = current
        else:
            sentence, questions, open_ones = line.split(" | ")
            current["cards"].append((sentence, [tuple(re.split(r" =>>? ", q)) for q in questions.split(" ; ")], open_ones.strip().split(" ; ")))
    return out


def _articles():
    """[((summary, title, topic), [(sentence, may be left out, questions, questions left open)])]"""
    out = []
    for line in ARTICLES.strip().split("\n"):
        cells = [x.strip() for x in line.split(" |")]
        if line.startswith("@"):
            out.append((tuple([cells[0][2:], *cells[1:]]), []))
        else:
            sentence, questions, open_ones = cells
            out[-1][1].append((sentence.removeprefix("? "), line.startswith("?"), [tuple(q.split(" => ")) for q in questions.split(" ; ")], open_ones.split(" ; ") if open_ones else []))
    return out


KINDS = _parse()
TOLD = _articles()


def draw(w, kind):
    """A value of a slot's kind."""
    own = {"name": w.first_name, "City": w.city, "noun": w.noun, "w": lambda: worlds.number_word(w, w.number(2, 12)), "big": lambda: worlds.draw(w, "count2")[0], "animals": lambda: lexicon.plural(w.any(*lexicon.KINDS["animal"])), "subject": lambda: w.any(*SUBJECTS), "kilo": lambda: f"{w.number(2, 60) * 1000:,}", "fam": lambda: capital(w.fresh()), "adult": lambda: w.number(19, 79),
           "fullname": lambda: f"{w.first_name()} {capital(w.any(w.invented, w.fresh, w.noun)())}", "mister": lambda: w.any("Mr. ", "Mrs. ", "Dr. ", "Ms. ") + capital(w.any(w.fresh, w.invented)()), "place": lambda: w.any(f"room {w.number(1, 99)}", "the gym", "the library", "the big hall", "the canteen", "the cellar", "the blue room", "the chapel", "the office of " + w.first_name()),
           "time": lambda: w.any(worlds.draw(w, "clock")[0], f"{w.number(1, 11)} {w.any('a.m.', 'p.m.')}", f"{w.number(1, 12)} o'clock", "noon"),
           "clock": lambda: f"{w.number(6, 14)}:{w.any('00', '15', '30', '40', '05')}"}
    return str(own[kind]()) if kind in own else worlds.draw(w, kind)[0]


def later(w, kind, value):
    """One of the same kind that comes after it."""
    if kind == "clock":
        hour, minute = value.split(":")
        return f"{w.number(int(hour) + 1, 23)}:{minute}"
    if kind == "kilo":
        return f"{whole(value) + w.number(1, 30) * 1000:,}"
    return str(int(value) + w.number(1, 30))


def whole(text):
    return int(text.replace(",", ""))


class Values(dict):
    """The slots of one sentence; what it lacks is drawn when it is first read."""

    def __init__(self, w, common, used):
        super().__init__(common)
        self.w, self.used = w, used

    def __missing__(self, key):
        kind, number = key[:-1], int(key[-1])
        if kind in ORDERED and number > 1:
            value = later(self.w, kind, self[f"{kind}{number - 1}"])
        else:
            for _ in range(30):
                value = str(self.w.number(3, 60)) if kind == "up" else str(self.w.number(1750, 1990)) if kind == "year" else draw(self.w, kind)
                if value.lower() not in self.used:
                    break
        self.used.add(value.lower())
        self[key] = value
        return value

    def fill(self, text):
        def one(m):
            if m[2] and m[1] not in self:
                self[m[1]] = self.w.any(*m[2].split("/"))
            return self[m[1]]
        return worlds.ARTICLE.sub(r"\1n \2", SLOT.sub(one, text))


def content(text):
    return set(re.findall(r"[a-z]+", SLOT.sub("", text).lower())) - parts.COMMON


class Paragraph:
    """cards: [(text, values, questions, questions left open, the pattern)] of one kind of text, in order."""

    def __init__(self, w, count=None):
        self.name = w.any(*KINDS)
        kind = KINDS[self.name]
        used = set()
        subject = Values(w, {}, used)
        self.full = subject.fill(w.any(*kind["subjects"]))
        titled = self.full.split()[0] in ("Mr.", "Mrs.", "Dr.", "Ms.")
        self.short = self.full.split()[0] if kind["person"] and not titled and w.chance(0.75) else self.full
        self.pronoun = {"Mr.": "he", "Mrs.": "she", "Ms.": "she"}.get(self.full.split()[0], w.any("he", "she")) if kind["person"] else "it"
        his, him = PRONOUNS[self.pronoun]
        patterns = w.rng.sample(kind["cards"], min(len(kind["cards"]), count or w.any(1, 2, 2, 3, 3, 4, 5, 6)))
        patterns.sort(key=lambda c: "{S}" not in c[0].split(",")[0])
        patterns[1:] = w.rng.sample(patterns[1:], len(patterns) - 1)
        self.cards = []
        for i, (sentence, questions, open_ones) in enumerate(patterns):
            values = Values(w, {"he": self.pronoun, "his": his, "him": him}, used)
            said = self.full if i == 0 else self.short if w.chance(0.3) or self.rivals(patterns[i - 1][0]) and w.chance(0.7) else self.pronoun
            text = values.fill(sentence.replace("{S}", capital(said)).replace("{s}", said if i == 0 or said != "it" else self.short if w.chance(0.5) else said))
            self.cards.append((capital(text), values, questions, open_ones, sentence))

    def rivals(self, sentence):
        return self.pronoun != "it" and re.search(r"\{(name|person)\d", sentence)

    def text(self, w):
        sentences = [c[0] for c in self.cards]
        for _ in range(w.any(0, 0, 0, 1)):
            sentences.insert(w.number(1, len(sentences)), w.any("It was in the newspaper.", "That is nothing unusual here.", f"That is what {w.first_name()} says.", "Many do not know that.", Clause(w, "named").said("past")))
        return w.any(" ", " ", " ", "\n").join(sentences)

    def asked(self, w, values, pattern):
        """A question as typed; names stay as they are."""
        subject = self.pronoun if self.pronoun == "it" and len(self.cards) == 1 and w.chance(0.2) else self.short
        text = grammar.typists(w, form(w, pattern), 0.8).replace("{s}'s", f"{subject}'s" if subject != "it" else "its").replace("{s}", subject)
        return values.fill(capital(text) if w.chance(0.6) else text)

    def plain(self, values, question):
        return values.fill(question.replace("{s}", self.short))

    def alike(self, i, question):
        """Whether another sentence may answer it too."""
        mine = content(question)
        return any(mine <= content(c[4] + " " + " ".join(q for q, _ in c[2])) for j, c in enumerate(self.cards) if j != i)

    def pick(self, w):
        """(index, question as typed, thought, answer) of something that is said."""
        for _ in range(20):
            i = w.rng.randrange(len(self.cards))
            text, values, questions, _, _ = self.cards[i]
            pattern, answer = w.any(*questions)
            if len(content(pattern)) > 0 and self.alike(i, pattern):
                continue
            plain = form(w, pattern)
            question = self.asked(w, values, plain)
            thought = f"The text says: {text}"
            if m := re.fullmatch(r"=(\w+)([+-])(\w+)", answer):
                a, b = whole(values[m[1]]), whole(values[m[3]])
                result = a + b if m[2] == "+" else a - b
                if "," in values[m[1]]:
                    return i, question, f"{thought} {a:,} {m[2]} {b:,} = {result:,}.", f"{result:,}"
                return i, question, f"{thought} {(sums.plus if m[2] == '+' else sums.minus)(a, b)}", str(result)
            answer = values.fill(answer.replace("{s}", self.short))
            others = [(self.plain(values, form(w, q)), values.fill(a.replace("{s}", self.short))) for q, a in questions if q != pattern and a[0] != "="]
            thought += parts.noted(w, text, (self.plain(values, plain), answer), others)
            return i, question, thought, capital(answer) + "." if answer.startswith(("because ", "that it ", "that he ", "that she ")) else answer
        return None


class Article(Paragraph):
    """A short article: neighbouring sentences about the same people and things, in their order."""

    def __init__(self, w):
        (self.summary, self.title, self.topic), sentences = w.any(*TOLD)
        he = w.any("he", "she")
        his, him = PRONOUNS[he]
        values = Values(w, {"he": he, "his": his, "him": him}, set())
        self.pronoun, self.short = "it", ""
        self.cards = [(sentence, questions, open_ones) for sentence, optional, questions, open_ones in sentences if not optional or w.chance(0.55)]
        self.cards = [(capital(values.fill(form(w, sentence))), values, questions, open_ones, sentence) for sentence, questions, open_ones in self.cards]
        self.summary, self.title, self.topic = capital(values.fill(self.summary)), capital(values.fill(self.title)), values.fill(self.topic)

    def alike(self, i, question):
        return False


def some(w, count=None):
    return Article(w) if w.chance(0.5) else Paragraph(w, count)


def said(w, p=None):
    p = p or some(w)
    found = p.pick(w)
    if not found:
        return said(w)
    _, question, thought, answer = found
    return finish(laid_out(w, p.text(w), question), thought, answer)


def left_open(w):
    """What the sentence that seems to answer does not say."""
    while True:
        p = some(w, w.any(1, 2, 2, 3, 4))
        i = w.rng.randrange(len(p.cards))
        if not p.cards[i][3]:
            continue
        question = w.any(*p.cards[i][3])
        if isinstance(p, Article):
            break
        if not any(len(content(question) & content(c[4] + " " + " ".join(q for q, _ in c[2]))) for j, c in enumerate(p.cards) if j != i):
            break
    return finish(laid_out(w, p.text(w), p.asked(w, p.cards[i][1], question)), "The text says nothing about that.", NOT_SAID)


def both(w):
    """Two questions at once."""
    p = some(w)
    first, second = p.pick(w), p.pick(w)
    if not first or not second or first[1] == second[1] or first[3] == second[3] or any(re.match(r"(he|she|it|they|Yes|No)\b", x[3]) or x[3][-1] in ".?" for x in (first, second)):
        return said(w)
    question = first[1].rstrip("?.! ") + w.any(" and ", ", and ", "? And ", "? ") + second[1][0].lower() + second[1][1:]
    thoughts = first[2] if first[2] == second[2] else f"{first[2]} {second[2]}"
    return finish(laid_out(w, p.text(w), question), thoughts, f"{first[3]} and {second[3]}" if w.chance(0.7) else f"{first[3]}, {second[3]}", {"contains": [first[3], second[3]]})


def claimed(w):
    """A claim that holds, or one with another value in it."""
    p = some(w)
    i = w.rng.randrange(len(p.cards))
    text, values, _, _, pattern = p.cards[i]
    keys = [k for k in values if re.search(rf"(?<!\w){re.escape(values[k])}(?!\w)", text) and re.fullmatch(r"(name|city|year|up|color|day|month|job|country|language)\d", k)]
    if not keys:
        return said(w)
    right = w.chance(0.45)
    claim = text
    if not right:
        key = w.any(*keys)
        other = Values(w, {}, {v.lower() for v in values.values()})[key[:-1] + "1"]
        claim = re.sub(rf"(?<!\w){re.escape(values[key])}(?!\w)", lambda _: other, text)
    yes, no, asks = w.any(("True", "False", "(true or false|is (this|that) true or false)[?]"), ("Yes", "No", "(is (this|that) (right|correct|true)|does the text say so|yes or no)[?]"))
    ask = typed(w, asks)
    question = w.any(f"{claim} {ask}", f"\"{claim}\" {ask}", f"{ask.rstrip('?')}: {claim}")
    return finish(laid_out(w, p.text(w), question), f"The text says: {text}{'' if right else ' That differs.'}", yes if right else no)


def quoted(w):
    """The sentence itself."""
    p = some(w, w.number(2, 6))
    found = p.pick(w)
    if not found:
        return said(w)
    i, question, _, answer = found
    ask = say(w, "(which|what) sentence (answers|tells me|says): {q}|quote the sentence that answers: {q}|{q} (Quote|Copy|Give me) the sentence [that says it].|find the sentence with the answer to: {q}", q=question)
    return finish(laid_out(w, p.text(w), ask), f"The answer is there: {answer}", p.cards[i][0])


def about(w):
    p = Paragraph(w, w.number(2, 5))
    ask = typed(w, "(who|what) is (this|the text|it) about[?]|(who|what) does (this|the text) (deal with|talk about)[?]|what is the (topic|subject) [of (this|the text)][?]" if p.pronoun != "it" else "what is (this|the text) about[?]|what does (this|the text) (deal with|talk about)[?]|what is the (topic|subject) [of (this|the text)][?]|in a few words: what is (this|the text) about?")
    return finish(with_payload(w, ask, p.text(w)), f"All sentences speak of {p.full}.", f"{capital(p.full)}." if w.chance(0.5) else f"The text is about {p.full}.", {"contains": [p.full]})


LISTED = {"names": ("name", "names|people|persons"), "cities": ("city", "cities|towns|places"), "years": ("year", "years"), "days": ("day", "days|weekdays"), "colors": ("color", "colors|colours"), "jobs": ("job", "jobs|professions")}


def listed(w):
    """All values of one kind, in the order of the text."""
    p = Paragraph(w, w.number(1, 4))
    text = " ".join(c[0] for c in p.cards)
    found = {}
    for label, (kind, _) in LISTED.items():
        values = {v for c in p.cards for k, v in c[1].items() if k[:-1] == kind and re.search(rf"(?<!\w){re.escape(v)}(?!\w)", c[0])}
        if kind == "name" and any(k[:-1] in ("person", "company") for c in p.cards for k in c[1]) or kind == "city" and "City" in str(KINDS[p.name]["subjects"]) + str([c[4] for c in p.cards if "{country" in c[4]]):
            continue
        if kind == "name" and KINDS[p.name]["person"] and p.short in text:
            values.add(p.full if p.full in text else p.short)
        if values:
            found[label] = sorted(values, key=text.find)
    if not found or " from " in p.full:
        return said(w)
    label = w.any(*found)
    values = found[label]
    ask = f"(list|name|give me|find|extract|write down|pull out) (all|all the|the|every one of the) ({LISTED[label][1]}) [in (it|this|the text|this text)]|(which|what) ({LISTED[label][1]}) (occur|are named|are mentioned|are there) [in (this|the text)]|all ({LISTED[label][1]}) [in the text], (please|separated by commas)"
    return finish(ordered(w, ask, text), f"{capital(label)} in it: {', '.join(values)}.", ", ".join(values))


def dialogue(w):
    """(messages, check): several questions about one text, one after the other, many about the same sentence."""
    while True:
        p = some(w, w.any(1, 2, 2, 3, 4))
        found = [x for x in (p.pick(w) for _ in range(12)) if x]
        if found and w.chance(0.6):
            near = found[0][0]
            found = [x for x in found if x[0] == near] + [x for x in found if x[0] != near]
        turns = {}
        for x in found:
            turns.setdefault(x[3], x)
        if len(turns) > 1:
            break
    turns = list(turns.values())[:w.any(2, 3, 3, 4, 4, 5)]
    messages = []
    for i, (_, question, thought, answer) in enumerate(turns):
        content = laid_out(w, p.text(w), question) if i == 0 else w.any("", "", "", "", "And ", "and ", "Next: ", "ok. ") + question
        messages += [{"role": "user", "content": content}, {"role": "assistant", "reasoning_content": thought, "content": answer}]
    return messages, {"equals": answer}


TASKS = {said: 62, left_open: 11, both: 9, claimed: 6, quoted: 4, about: 2, listed: 6}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
