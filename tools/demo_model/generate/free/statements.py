"""Talks in which the user says something of themselves or of their day, and asks for it some turns later: what was said is
written down as it was said, and its parts are what answers, whatever they are."""

import re

from . import grammar, memory, parts
from .grammar import capital, form, typed
from .paragraphs import SLOT, Values
from .tables.statements import STATEMENTS

NOTED = ("Noted.", "Noted.", "Noted.", "OK, noted.", "Got it.", "OK.")
OPEN = "You have not told me that."


def _parse():
    """[(statement, [(question, answer)], [question left open], {slot: corrections})]"""
    out = []
    for line in STATEMENTS.strip().split("\n"):
        said, questions, open_ones, corrections = (x.strip() for x in re.split(r" \|(?: |$)", line))
        out.append((said, [tuple(q.split(" => ")) for q in questions.split(" ; ")], open_ones.split(" ; "),
                    dict(c.split(" > ") for c in corrections.split(" ; ") if c)))
    return out


SAID = _parse()


class Statement:
    def __init__(self, w, row, used):
        self.said, self.questions, self.open, self.corrections = row
        self.values = Values(w, {}, used)
        self.left = []  # questions
        self.text = capital(self.values.fill(form(w, self.said)))
        self.known = self.text  # as it stands after corrections

    def tells(self, w):
        text = grammar.typists(w, self.text, 0.9)
        text = w.any("", "", "", "hi, ", "by the way, ", "just so you know: ", "remember this: ") + w.any(text, text[0].lower() + text[1:]) + w.any(".", ".", "", "!")
        return text, f"The user tells me something: {self.text}.", w.any(*NOTED)

    def corrected(self, w):
        slot = w.any(*self.corrections)
        old = self.values.pop(slot)
        if slot[0] == "x":  # one of its own words
            choices = next(m[2] for m in SLOT.finditer(self.said) if m[1] == slot).split("/")
            self.values[slot] = w.any(*[c for c in choices if c != old])
        new = self.values[slot]
        says = self.values.fill(form(w, self.corrections[slot]))
        self.known = self.known.replace(old, new)
        return typed(w, "{s}", s=capital(says) if w.chance(0.5) else says), f"That changes: {new}, no longer {old}. So: {self.known}.", w.any(*NOTED)

    def asked(self, w):
        """Each question once, as long as there are others."""
        self.left = self.left or list(self.questions)
        pattern, answer = self.left.pop(w.rng.randrange(len(self.left)))
        plain = form(w, pattern)
        question = self.values.fill(grammar.typists(w, plain, 0.8))
        answer = self.values.fill(answer)
        others = [(self.values.fill(form(w, q)), self.values.fill(a)) for q, a in self.questions if q != pattern]
        thought = f"The user said: {self.known}." + parts.noted(w, self.known, (self.values.fill(plain), answer), others)
        return capital(question) if w.chance(0.6) else question, thought, theirs(answer)

    def left_open(self, w):
        question = self.values.fill(grammar.typists(w, form(w, w.any(*self.open)), 0.8))
        return capital(question) if w.chance(0.6) else question, "The user did not say it.", OPEN


def theirs(answer):
    """"my aunt" is "your aunt" when it is said back."""
    return " ".join({"my": "your", "me": "you", "we": "you", "I": "you"}.get(x, x) for x in answer.split(" "))


def steps(w):
    used = set()
    rows = w.rng.sample(SAID, w.any(1, 1, 2, 2, 3))
    statements = [Statement(w, row, used) for row in rows]
    out = []
    for s in statements:
        out.append(s.tells(w))
        if s.corrections and w.chance(0.35):
            out.append(s.corrected(w))
        elif w.chance(0.15):
            out.append(s.asked(w))
    out += [w.any(*statements).asked(w) for _ in range(w.any(1, 2, 2, 3, 4))]
    if w.chance(0.25):
        out.append(w.any(*statements).left_open(w))
    return out


def dialogue(w):
    """(messages, check): the steps up to one of them, often the last."""
    found = steps(w)
    end = len(found) if w.chance(0.4) else w.number(1, len(found))
    blocks = memory.filler(w) if w.chance(0.1) else []
    for question, _, answer in found[:end - 1]:
        blocks += memory.past(question, answer)
        if w.chance(0.06):
            blocks += memory.filler(w)
    question, thought, answer = found[end - 1]
    return blocks + memory.turn(question, thought, answer), {"equals": answer}
