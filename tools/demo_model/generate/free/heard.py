"""Talks in stages: something is told or asked, acknowledged in its own words, asked for, corrected, added to, worked with and referred
to; every stage has the questions that hold then.

tables/heard; each line begins with its mark:

@ what the user says first => acknowledgement ; another
+ what the user says next => answer [=> thought]
? question => answer [=> thought] ; ...    holds until the next stage
! question => answer [=> thought] ; ...    holds to the end
~ question that is left open ; ...

Slots and sums as in filled.py: {n1} is 2 to 9, {m1} 11 to 30, {k1} 40 to 95, {h1} a multiple of ten from 100; {=m1-n1} is worked out.
What is asked for stands in no brackets. Patterns as in grammar.py.
"""

import re

from . import memory, tables
from .filled import Filled, asked, cells
from .grammar import capital, form, typists
from .statements import OPEN

THANKS = [("(thanks|thank you|thx|cheers|great, thanks|ok thanks|perfect, thank you)[!|.]", "You are welcome!"), ("(ok|okay|good|fine|right|alright)[.|!]", "Good. Is there anything else?"), ("(wait a second|hold on|one moment|brb|give me a minute)[.|, please]", "Of course, take your time."), ("(I'm back|back again|here I am again)[.|!]", "Welcome back!"),
          ("(you're|you are) (quick|fast|a great help|helpful)[!|.]", "Thank you! I am glad to help.")]
PLAIN_ACKS = ("Noted.", "Got it.", "OK, noted.")


class Stage:
    def __init__(self, line):
        said = cells(line, " => ")
        self.said, self.answers, self.thought = said[0], cells(said[1], " ; "), (said + [""])[2]
        self.questions, self.lasting, self.open = [], [], []


def _parse():
    out = []
    for line in tables.lines("heard"):
        mark, line = line[0], line[1:].strip()
        if mark == "@":
            out.append([Stage(line)])
        elif mark == "+":
            out[-1].append(Stage(line))
        else:
            stage = out[-1][-1]
            {"?": stage.questions, "!": stage.lasting, "~": stage.open}[mark].extend(cells(line, " ; ") if mark == "~" else asked(line))
    return out


TALKS = _parse()


class Talk:
    def __init__(self, w, stages):
        self.w, self.stages, self.values = w, stages, Filled(w)
        self.lasting = []

    def says(self, stage, first):
        """(user, thought, answer, check) of a stage."""
        w = self.w
        plain = form(w, stage.said)
        text = self.values.fill(plain)
        self.about = capital(text.rstrip(".!?"))
        user = self.values.fill(typists(w, plain, 0.8))
        user = capital(user) if w.chance(0.55) else user
        if first and not stage.thought and w.chance(0.2):
            user = w.any("hi, ", "Hello! ", "by the way, ", "just so you know: ", "fyi: ", "hey. ", "please remember: ") + user
        thought = self.values.fill(stage.thought, True) if stage.thought else f"The user tells me something: {capital(text.rstrip('.!?'))}."
        answers = [self.values.fill(a).replace("\\n", "\n") for a in stage.answers]
        if not stage.thought and answers[0].startswith(("Noted", "Got it", "OK")) and w.chance(0.12):
            answers = list(PLAIN_ACKS)
        return user, thought, w.any(*answers), {"one_of": answers} if len(answers) > 1 else {"equals": answers[0]}

    def asks(self, question):
        w = self.w
        pattern, answer, thought = question
        user = self.values.fill(typists(w, form(w, pattern), 0.8))
        answer = self.values.fill(answer)
        return capital(user) if w.chance(0.6) else user, self.values.fill(thought, True) if thought else f"The user said: {self.about}.", answer, {"equals": answer}

    def steps(self):
        w = self.w
        out = []
        for i, stage in enumerate(self.stages):
            step = self.says(stage, i == 0)
            out.append(step)
            fresh = list(stage.questions)
            self.lasting += [(q, self.about) for q in stage.lasting]
            last = i == len(self.stages) - 1
            for _ in range(w.any(1, 2, 2, 3) if last else w.any(0, 0, 1, 1, 2)):
                if w.chance(0.07):
                    said, answer = w.any(*THANKS)
                    out.append((typists(w, form(w, said)), "A short friendly answer.", answer, {"equals": answer}))
                r = w.rng.random()
                if r < 0.1 and stage.open:
                    user = self.values.fill(typists(w, form(w, w.any(*stage.open)), 0.8))
                    out.append((capital(user) if w.chance(0.6) else user, "The user did not say it.", OPEN, {"equals": OPEN}))
                elif fresh and (r < 0.7 or not self.lasting):
                    out.append(self.asks(fresh.pop(w.rng.randrange(len(fresh)))))
                elif self.lasting:
                    question, about = self.lasting.pop(w.rng.randrange(len(self.lasting)))
                    now, self.about = self.about, about
                    out.append(self.asks(question))
                    self.about = now
        return out


def dialogue(w):
    """(messages, check): the steps up to one of them, often the last."""
    steps = Talk(w, w.any(*TALKS)).steps()
    if w.chance(0.12):
        other = Talk(w, w.any(*TALKS))
        steps = [other.says(other.stages[0], True)] + steps
    end = len(steps) if w.chance(0.4) else w.number(1, len(steps))
    blocks = memory.filler(w) if w.chance(0.08) else []
    for user, _, answer, _ in steps[:end - 1]:
        blocks += memory.past(user, answer)
    user, thought, answer, check = steps[end - 1]
    return blocks + memory.turn(user, thought, answer), check
