"""What the thinking notes of a sentence before it answers: its parts, each with the question that it answers."""

import re

COMMON = set("a an the of in on at to is was were are be been does did do has have had it its that this there what which who whom whose when where why how many much for with by from and or as than not no so s he she his her him they them".split())
ASKS = re.compile(r"(?:(?:with|to|for|from|in|at|on|by|until|since|of|up to|under|near) )?(?:how (?:many|much|long|old|far|often|late|high|heavy|fast|big|wide|is|are|did|does)|who|whom|whose|what|when|where|why|which)\b")
MOST = 4


def label(question):
    """The question word and what keeps the question apart from others: "when train leave"."""
    text = re.sub(r"\[\?\]|\?", "", question).strip()
    m = ASKS.match(text[:1].lower() + text[1:])
    if not m:
        return None
    rest = [x for x in re.findall(r"[\w.:'-]+", text[m.end():]) if x in ("not", "no") or x.lower() not in COMMON]
    return " ".join([m[0].lower().removesuffix(" is").removesuffix(" are").removesuffix(" did").removesuffix(" does"), *rest[:3]])


def place(sentence, answer):
    """(start, end) of the answer in the sentence, or None."""
    answer = answer.rstrip(".")
    for x in (answer, answer[:1].lower() + answer[1:], re.sub(r"(?i)^(because|to) ", "", answer), re.sub(r"(?i)^(on|in|at|by|from|with|the|a) ", "", answer)):
        if x and (m := re.search(rf"(?<!\w){re.escape(x)}(?!\w)", sentence, re.I)):
            return m.span()
    return None


def noted(w, sentence, asked, others):
    """" In it: Rome (where born); 1990 (when come)." for (question, answer) pairs of one sentence, of which `asked` is
    one; nothing where the answer does not stand in it."""
    spot = place(sentence, asked[1])
    if not spot or not label(asked[0]) or spot[1] - spot[0] > 60:
        return ""
    parts = {spot: label(asked[0])}
    for question, answer in w.rng.sample(others, len(others)):
        at = place(sentence, answer)
        if len(parts) < MOST and at and at[1] - at[0] <= 40 and label(question) not in (None, *parts.values()) and all(at[1] <= a or at[0] >= b for a, b in parts):
            parts[at] = label(question)
    return " In it: " + "; ".join(f"{sentence[a:b]} ({parts[a, b]})" for a, b in sorted(parts)) + "."
