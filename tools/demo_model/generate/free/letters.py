"""Texts of everyday life, whole, by hand: mails, notices, notes, chats, minutes, diaries, reviews, news, recipes and letters, with
several people and things in them, and questions about each sentence and across them.

tables/letters:

@ begins a text; each line is a sentence: text | question => answer [=> thought] ; ... | questions that it leaves open ; ...
"/" before a sentence begins a new line, "//" a paragraph. Slots as in filled.py and paragraphs.py; all lines of a text share
them. No name, town, weekday, clock time, date, mail address, phone number or street stands in a text but in a slot, so that all of
a kind are known. Patterns as in grammar.py.
"""

import re

from . import grammar, parts, tables
from .filled import Filled, asked, cells
from .grammar import capital, form, typed, typists
from .reading import NOT_SAID, finish, laid_out


def _parse():
    """[[(break before, sentence, questions, open questions)]]"""
    out = []
    for line in tables.lines("letters"):
        if line.startswith("@"):
            out.append([])
            continue
        sentence, questions, open_ones = (cells(line) + ["", ""])[:3]
        gap = re.match(r"/*", sentence)[0]
        out[-1].append(("\n" * len(gap) if gap else " ", sentence[len(gap):].strip(), asked(questions), [q for q in cells(open_ones, " ; ") if q]))
    return out


TEXTS = _parse()


def compared(values, rule):
    """(thought, answer) of "^most A:q1, B:q2" and the like."""
    kind, rest = rule[1:].split(" ", 1)
    rows = [(values.fill(label), values.number(key)) for label, key in (x.rsplit(":", 1) for x in rest.split(", "))]
    told = "; ".join(f"{label} {n}" for label, n in rows)
    a, b = rows[0][1], rows[1][1]
    if kind in ("most", "least"):
        n = (max if kind == "most" else min)(n for _, n in rows)
        best = next(label for label, x in rows if x == n)
        return f"{told}. The {kind}: {n}, {best}.", best
    if kind == "gap":
        return f"{told}. {max(a, b)} - {min(a, b)} = {abs(a - b)}.", str(abs(a - b))
    return f"{told}. {a} is {'more' if a > b else 'less'} than {b}.", "Yes" if (a > b) == (kind == "more") else "No"


class Letter:
    def __init__(self, w, rows=None):
        self.rows = rows or w.any(*TEXTS)
        self.values = Filled(w)
        self.sentences = [self.values.fill(form(w, r[1])).replace("\\n", "\n") for r in self.rows]
        self.text = "".join((gap if i else "") + s for i, ((gap, *_), s) in enumerate(zip(self.rows, self.sentences)))
        self.left = [(i, q) for i, r in enumerate(self.rows) for q in r[2]]

    def question(self, w, pattern):
        text = self.values.fill(typists(w, pattern, 0.8))
        return capital(text) if w.chance(0.65) else text

    def ask(self, w):
        """(question as typed, thought, answer) of one that was not asked yet."""
        i, (pattern, answer, thought) = self.left.pop(w.rng.randrange(len(self.left)))
        plain = form(w, pattern)
        question = self.question(w, plain)
        if answer[0] == "^":
            told, answer = compared(self.values, answer)
            return question, capital(told), answer
        answer = self.values.fill(answer).replace("\\n", "\n")
        if thought:
            return question, self.values.fill(thought, True), answer
        others = [(self.values.fill(form(w, q)), self.values.fill(a)) for q, a, t in self.rows[i][2] if q != pattern and not t and a[0] != "^"]
        sentence = self.sentences[i]
        thought = f"The text says: {sentence}{'' if sentence[-1] in '.!?:,' else '.'}" + parts.noted(w, sentence, (self.values.fill(plain), answer), others)
        return question, thought, answer

    def ask_open(self, w):
        return self.question(w, form(w, w.any(*[q for r in self.rows for q in r[3]]))), "The text says nothing about that.", NOT_SAID

    def is_open(self):
        return any(r[3] for r in self.rows)


def said(w):
    letter = Letter(w)
    question, thought, answer = letter.ask(w)
    return finish(laid_out(w, letter.text, question), thought, answer)


def left_open(w):
    letter = Letter(w)
    if not letter.is_open():
        return said(w)
    question, thought, answer = letter.ask_open(w)
    return finish(laid_out(w, letter.text, question), thought, answer)


def both(w):
    letter = Letter(w)
    if len(letter.left) < 2:
        return said(w)
    a, b = letter.ask(w), letter.ask(w)
    if any(re.match(r"(Yes|No)\b|.*[.?]$", x[2]) for x in (a, b)) or a[2] == b[2]:
        return finish(laid_out(w, letter.text, a[0]), *a[1:])
    if w.chance(0.5):
        return finish(laid_out(w, letter.text, f"1. {a[0]}\n2. {b[0]}"), f"1: {a[1]} 2: {b[1]}", f"1. {a[2]}\n2. {b[2]}")
    return finish(laid_out(w, letter.text, f"{a[0].rstrip('?.! ')}{w.any(' and ', ', and ', '? And ')}{b[0][:1].lower()}{b[0][1:]}"), a[1] if a[1] == b[1] else f"{a[1]} {b[1]}", f"{a[2]} and {b[2]}", {"contains": [a[2], b[2]]})


KINDS = {"names": (("name", "fullname", "mister"), "names|people|persons"), "cities": (("city",), "cities|towns"), "emails": (("email",), "email addresses|emails|e-mail addresses"), "phone numbers": (("phone",), "phone numbers|telephone numbers"),
         "days": (("day",), "days of the week|weekdays"), "times": (("clock",), "times|clock times"), "dates": (("date",), "dates"), "streets": (("street",), "streets|street addresses")}
FORMATS = [("", ", ".join), ("", ", ".join), ("(separated by commas|as a comma-separated list|with commas between them)", ", ".join), ("(one per line|each on (its own|a new) line|line by line)", "\n".join), ("(as bullets|as a bullet list|with bullet points|as bullet points)", lambda x: "\n".join("- " + i for i in x)),
           ("(as a JSON (list|array)|in JSON|as JSON|JSON array only)", lambda x: "[" + ", ".join(f'"{i}"' for i in x) + "]"), ("(numbered|as a numbered list)", lambda x: "\n".join(f"{k + 1}. {i}" for k, i in enumerate(x)))]
SINGLE = FORMATS[:2]


def wanted(w, what, several=True):
    """(an order to list something, how the list is written)"""
    how, joined = w.any(*FORMATS)
    many = "(" in what or re.match(r"([\w'-]+ )?(the )?([\w'-]+ )?(\w+[^\Ws]s\b|people|children)", what)
    are, every = (f"|(which|what) are {what}[?]", "[all] ") if many else (f"|what is {what}[?]", "")
    if re.match("what|who|which", what) or what.startswith("all "):
        are = every = ""
    ask = w.any(f"(list|name|give me|find|extract|write down|pull out|collect|show [me]|get) {every}{what}{are}|I need {what}|{what}[, please]|(please |)(pick out|copy|gather|filter out) {what}|only {what}|just {what}, nothing else")
    ask = form(w, ask)
    if how:
        how = form(w, how)
        ask = w.any(f"{ask.rstrip('?')} {how}", f"{ask.rstrip('?')}, {how}", f"{ask.rstrip('?')} ({how})")
    return ask, joined


def listed(w):
    """All values of one kind, or none."""
    letter = Letter(w)
    present = {label: sorted({v for k, v in letter.values.items() if k[:-1] in kinds and re.search(rf"(?<!\w){re.escape(v)}(?!\w)", letter.text)}, key=letter.text.find) for label, (kinds, _) in KINDS.items()}
    label = w.any(*[k for k in present if present[k]] or ["emails"]) if w.chance(0.85) else w.any("emails", "phone numbers", "cities")
    ask, joined = wanted(w, f"the ({KINDS[label][1]}) [(in it|in the text|in this text|that are (mentioned|named))]")
    found = present[label]
    if not found:
        ask = f"{ask}{w.any('.', '', '.')} (If there are none, say none.)" if w.chance(0.5) else ask
        return finish(laid_out(w, letter.text, capital(ask)), f"{capital(label)} in it: none.", "none")
    return finish(laid_out(w, letter.text, capital(typists(w, ask, 0.6))), f"{capital(label)} in it: {'; '.join(found)}.", joined(found))


TASKS = {said: 64, left_open: 12, both: 8, listed: 12}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)


def dialogue(w):
    """(messages, check): several questions about one text, one after the other."""
    letter = Letter(w)
    messages = []
    for i in range(min(len(letter.left), w.any(2, 2, 3, 3, 4, 5))):
        question, thought, answer = letter.ask_open(w) if letter.is_open() and w.chance(0.12) else letter.ask(w)
        content = laid_out(w, letter.text, question) if i == 0 else w.any("", "", "", "", "And ", "and ", "ok, ", "Next question: ", "thanks. ") + question
        messages += [{"role": "user", "content": content}, {"role": "assistant", "reasoning_content": thought, "content": answer}]
    return messages, {"equals": answer}
