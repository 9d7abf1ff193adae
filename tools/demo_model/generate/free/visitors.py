"""What visitors ask about Tessera and its demo model: each answer once, in the same words wherever it is asked for.

tables/itself (the model) and tables/tessera (the engine; "it" is Tessera to who tries its model): a line "= answer", then
patterns of questions, a line each. Commands and flags that answers name are held to files/manual.json by a test.
"""

from . import tables
from .grammar import typed
from .reading import finish


def _parse(kind):
    """[(patterns, answer)]"""
    out = []
    for line in tables.lines(kind):
        if line.startswith("= "):
            out.append(([], line[2:]))
        else:
            out[-1][0].append(line)
    return out


ITSELF, TESSERA = _parse("itself"), _parse("tessera")


def about(w, thought, *facts):
    questions, answer = w.any(*facts)
    return finish(typed(w, w.any(*questions)), thought, answer)
