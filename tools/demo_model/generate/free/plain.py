"""Plain text without a chat around it, learnt on every token: small worlds, stories, clauses, code, lists, and the pages
of Tessera's own documentation."""

import pathlib

from . import classify, clauses, coding, facts, reading, sums, worlds
from .grammar import capital

ROOT = pathlib.Path(__file__).parents[4]


def _documents():
    """Paragraphs of the project's own pages."""
    out = []
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "benchmarks").glob("*.md"))]:
        if file.exists():
            out += [p for p in file.read_text(encoding="utf-8").split("\n\n") if 40 < len(p) < 2400]
    return out


_pages = []


def pages():
    if not _pages:
        _pages.extend(_documents() or ["Tessera runs large models."])
    return _pages


def paragraph(w):
    kind = w.rng.choices(range(8), (26, 14, 16, 8, 8, 8, 6, 30))[0]
    if kind == 0:
        return worlds.World(w, facts=w.number(3, 9)).text(w)
    if kind == 1:
        what, reason, outcome, _, extras, _ = reading.story(w)
        return reading.story_text(w, what, reason, outcome, extras)
    if kind == 2:
        tense = w.any("past", "present", "future")
        return " ".join(clauses.Clause(w).said(tense) for _ in range(w.number(3, 12)))
    if kind == 3:
        return coding.program(w)[0]
    if kind == 4:
        return classify.review(w, w.chance(0.5))[0]
    if kind == 5:
        return " ".join(classify.topic_text(w, w.any(*classify.TOPICS)) for _ in range(w.number(1, 5)))
    if kind == 6:
        question, _, answer, _ = w.any(sums.story, facts.fact, facts.country)(w)
        return f"{capital(question)}\n{answer}"
    return w.any(*pages())


def text(w):
    """One document."""
    return "\n\n".join(paragraph(w) for _ in range(w.number(1, 6)))
