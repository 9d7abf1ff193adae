"""Seeded generators of the demo model's training and evaluation dialogues. All text is written here."""

import random

from . import arithmetic, calls, copying, formats, measures, references, talk
from .words import Words

SHARES = {"arithmetic": 0.14, "measures": 0.06, "formats": 0.15, "system": 0.04, "talk": 0.08, "references": 0.1, "tools": 0.33, "copying": 0.1}
THINKING = {"arithmetic": 0.8, "measures": 0.85, "copying": 0.4}
GENERAL = ["You are a helpful assistant.", "Be helpful.", "You are a small and friendly assistant.", "Answer briefly."]
PLAIN = {"arithmetic": arithmetic.question, "measures": measures.question, "formats": formats.question, "talk": talk.question, "copying": copying.question}


def dialogue(seed, evaluation=False, kind=None, thinking=None):
    """One dialogue, the same for the same arguments. kind: one of SHARES or of calls.KINDS.
    evaluation: from the held-out words, names and number pairs."""
    w = Words(random.Random(f"{'evaluation' if evaluation else 'training'} {seed}"), evaluation)
    kind = kind or w.rng.choices(list(SHARES), list(SHARES.values()))[0]
    draw = w.rng.random()
    if thinking is None:
        thinking = draw < THINKING.get(kind, 0.62)
    w.thinking = thinking
    if kind == "tools" or kind in calls.KINDS:
        out = calls.dialogue(w, None if kind == "tools" else kind)
    elif kind == "references":
        messages, check = references.dialogue(w)
        out = {"kind": kind, "messages": messages, "check": check}
    elif kind == "system":
        system, question, reasoning, answer, check = formats.under_system(w)
        past = references.turns(*references.fillers(w, 1)) if w.chance(0.2) else []
        out = {"kind": kind, "messages": [{"role": "system", "content": system}, *past, *references.last(question, reasoning, answer)], "check": check}
    else:
        question, reasoning, answer, check = PLAIN[kind](w)
        messages = references.last(question, reasoning, answer)
        if w.chance(0.1):
            messages.insert(0, {"role": "system", "content": w.any(*GENERAL)})
        out = {"kind": kind, "messages": messages, "check": check}
    out["thinking"] = thinking
    if not thinking:
        for message in out["messages"]:
            message.pop("reasoning_content", None)
    elif w.chance(0.06):
        drop_earlier_thoughts(out["messages"])
    return out


def drop_earlier_thoughts(messages):
    """Some clients send tool calls back without the thoughts that led to them."""
    for message in messages[:-1]:
        message.pop("reasoning_content", None)
