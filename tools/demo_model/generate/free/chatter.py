"""Small talk in many registers, what the model cannot do, and short advice: topic | questions | answers."""

from . import tables
from .filled import Filled, cells
from .grammar import capital, form, typists
from .reading import finish


def _parse():
    return [(topic, said, cells(answers, " ; ")) for topic, said, answers in (cells(line) for line in tables.lines("chatter"))]


ROWS = _parse()


def question_of(w):
    topic, said, answers = w.any(*ROWS)
    values = Filled(w, 0.1)
    text = values.fill(typists(w, form(w, said), 0.9))
    answers = [values.fill(a) for a in answers]
    return finish(capital(text) if w.chance(0.6) else text, f"{capital(topic)}.", w.any(*answers), {"one_of": answers})
