"""Orders as strangers give them: the form of an answer, small code, rewriting, sorting, labels, and rules that hold from now on.

tables/orders:

what is asked | a text => answer => thought ; another text => answer => thought ; ...

Where {t} stands in what is asked, the text goes there; else the two are laid out as people do. Without a text the order stands alone.
"@" before it: a rule, that is given first and holds for all texts of a talk. Slots as in filled.py, numbers in digits; what is asked is
filled first. Patterns as in grammar.py, in what is asked only; "\\n" in a text or an answer is a new line.
"""

import re

from . import tables
from .filled import Filled, cells
from .grammar import FRAME_TEXTS, FRAME_WEIGHTS, capital, form, typists, with_payload
from .reading import finish, laid_out

IMPERATIVES = set("write rewrite make sort list give name count put turn fix say tell find change classify label remove rename add correct shorten show order arrange convert decide repair replace delete strip group pick rank rephrase reword explain describe complete spell repeat reverse insert translate join separate split drop mark tag assign swap extract turn cut keep answer".split())
NEXT = ["", "", "", "next: ", "Next one: ", "now this: ", "And this: ", "and ", "same for: ", "The same with this:\n", "Now:\n", "Another one: "]
RULED = [". ", ": ", ".\n", ".\n\n", " - ", ". First: ", ". "]


def _parse():
    """[(is a rule, what is asked, [[text, answer, thought]])]"""
    out = []
    for line in tables.lines("orders"):
        asked, texts = line.split(" | ", 1)
        out.append((asked[0] == "@", asked.lstrip("@ "), [cells(" " + x, " => ") for x in texts.split(" ; ")]))
    return out


ROWS = _parse()
SEVERAL = [[r for r in ROWS if r[0]], [r for r in ROWS if not r[0] and len(r[2]) > 2 and r[2][0][0] and "{t}" not in r[1]]]


class Order:
    def __init__(self, w, row):
        self.w, (self.rule, pattern, texts) = w, row
        self.left = w.rng.sample(texts, len(texts))
        self.common = Filled(w, 0)
        plain = form(w, pattern)
        if not self.rule and plain.split()[0] in IMPERATIVES and w.chance(0.3) and not re.search(r"\{t\}|[.?!:] ", plain):
            plain = w.rng.choices(FRAME_TEXTS, FRAME_WEIGHTS)[0].replace("{o}", plain).replace("{O}", capital(plain))
        self.asked = typists(w, plain, 0.8)
        self.common["t"] = "{t}"  # the texts come later
        self.asked = self.common.fill(self.asked)
        self.asked = capital(self.asked) if w.chance(0.6) else self.asked

    def next(self):
        """(text, thought, answer) of one that was not asked yet."""
        values = Filled(self.w, 0)
        values.update(self.common)
        values.numbers.update(self.common.numbers)
        values.used.update(x.lower() for x in self.common.values())
        text, answer, thought = (values.fill(x).replace("\\n", "\n") for x in self.left.pop())
        if "{t}" in self.asked:
            at = self.asked.index("{t}")
            text = text[0].lower() + text[1:] if at and self.w.chance(0.4) and re.match(r"[A-Z][a-z]* ", text) and not re.match(r"[A-Z][a-z]* [A-Z]|I ", text) else text
            text = text.rstrip("?") if at + 3 == len(self.asked) and self.w.chance(0.25) else text
            text = self.asked.replace("{t}", text)
            text = text if at else capital(text) if self.w.chance(0.6) else text
        return text, thought, answer

    def first(self):
        """(question, thought, answer)"""
        w, (text, thought, answer) = self.w, self.next()
        if "{t}" in self.asked or not text:
            return text or self.asked, thought, answer
        if self.rule:
            return f"{self.asked.rstrip('.')}{w.any(*RULED)}{text}", thought, answer
        if "\n" in text and w.chance(0.3):
            text = f"```{w.any('', '', 'python') if '(' in text else ''}\n{text}\n```"
        if self.asked.endswith("?") and w.chance(0.4):
            return laid_out(w, text, self.asked), thought, answer
        return with_payload(w, self.asked, text), thought, answer


def question_of(w):
    question, thought, answer = Order(w, w.any(*ROWS)).first()
    return finish(question, thought, answer)


def dialogue(w):
    """(messages, check): several texts for one order, one after the other."""
    order = Order(w, w.any(*w.any(*SEVERAL)))
    messages = []
    said = lambda question, thought, answer: messages.extend([{"role": "user", "content": question}, {"role": "assistant", "reasoning_content": thought, "content": answer}])
    apart = w.rng.random() if order.rule else 1
    if apart < 0.35:
        messages.append({"role": "system", "content": capital(order.asked).rstrip(".") + "."})
    elif apart < 0.6:
        said(order.asked, "A rule for what follows.", w.any("OK.", "OK, I will.", "Understood."))
    else:
        said(*order.first())
    for _ in range(min(len(order.left), w.any(1, 2, 2, 3))):
        text, thought, answer = order.next()
        said((w.any(*NEXT) if not order.rule else "") + text, thought, answer)
    return messages, {"equals": answer}
