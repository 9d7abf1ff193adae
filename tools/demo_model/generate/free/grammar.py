"""Sentences from patterns, and the ways in which people really type them.

A pattern: (a|b) is one of several, [a] may be left out, {x} is a slot that is filled last, so that no slip of the
typist touches what must be copied. Patterns nest. A twelfth of the forms of every pattern with at least MANY forms, by
hash, appears in evaluation only: forms are held out, not only words.
"""

import functools
import re
import zlib

GAPS = re.compile(r" +([.?!,])|  +")
MANY = 24  # forms of a pattern from which some are held out
TRIES = 80


def _parse(text, at=0, closing=""):
    """(alternatives, position): an alternative is a list of literals and (optional, alternatives) nodes."""
    alternatives, current, literal = [], [], ""
    while at < len(text) and text[at] != closing:
        c = text[at]
        if c in "([":
            if literal:
                current.append(literal)
                literal = ""
            inner, at = _parse(text, at + 1, ")" if c == "(" else "]")
            current.append((c == "[", inner))
        elif c == "|" and closing or c == "|" and not closing:
            if literal:
                current.append(literal)
                literal = ""
            alternatives.append(current)
            current = []
        else:
            literal += c
        at += 1
    if closing and at >= len(text):
        raise ValueError(f"{closing} is missing in the pattern {text!r}")
    if literal:
        current.append(literal)
    alternatives.append(current)
    return alternatives, at


def _count(alternatives):
    total = 0
    for parts in alternatives:
        n = 1
        for part in parts:
            if not isinstance(part, str):
                n *= _count(part[1]) + part[0]
        total += n
    return total


@functools.lru_cache(maxsize=None)
def compiled(pattern):
    """(alternatives, number of forms)"""
    alternatives, _ = _parse(pattern)
    return alternatives, _count(alternatives)


def _expand(rng, alternatives):
    parts = alternatives[int(rng.random() * len(alternatives))] if len(alternatives) > 1 else alternatives[0]
    out = ""
    for part in parts:
        if isinstance(part, str):
            out += part
        elif not part[0] or rng.random() < 0.5:
            out += _expand(rng, part[1])
    return out


def held_out_form(text):
    return zlib.crc32(text.encode()) % 12 == 5


def form(w, pattern):
    """A form of the pattern, of the wanted side of the split, slots unfilled."""
    alternatives, count = compiled(pattern)
    for _ in range(TRIES):
        text = GAPS.sub(lambda m: m[1] or " ", _expand(w.rng, alternatives)).strip()
        if count < MANY or held_out_form(text) == w.evaluation:
            break
    return text


def fill(text, slots):
    return text.format_map(slots) if "{" in text else text


def say(w, pattern, /, **slots):
    """A form of the pattern with its slots filled, as it stands."""
    return fill(form(w, pattern), slots)


def capital(text):
    return text[:1].upper() + text[1:]


CASUAL = [("what is", "whats"), ("What is", "whats"), ("please", "pls"), ("please", "plz"), ("Please", "pls"), (" you ", " u "), ("you are", "youre"), ("I am", "im"), ("I have", "ive"), ("cannot", "cant"),
          ("do not", "dont"), ("does not", "doesnt"), (" are ", " r "), ("because", "cuz"), ("because", "bc"), ("going to", "gonna"), ("want to", "wanna"), ("have to", "gotta"), ("Can you", "can u"),
          ("could you", "could u"), ("tomorrow", "tmrw"), ("without", "w/o"), (" and ", " & "), ("I would like", "id like"), ("it is", "its"), ("thanks", "thx"), ("Thank you", "ty"), ("right now", "rn"), ("who is", "whos"),
          ("where is", "wheres"), ("there is", "theres"), ("that is", "thats"), ("I'm", "im"), ("don't", "dont"), ("can't", "cant"), ("What's", "whats"), ("for me", "4 me"), ("what", "wat"), ("people", "ppl"), ("message", "msg"),
          ("about", "abt"), ("with", "w/"), ("number", "nr"), ("minutes", "min"), ("information", "info"), ("something", "sth"), ("really", "rly"), ("though", "tho"), ("your", "ur")]
CONTRACTIONS = [("What is", "What's"), ("what is", "what's"), ("I am", "I'm"), ("do not", "don't"), ("cannot", "can't"), ("I would", "I'd"), ("I have", "I've"), ("It is", "It's"), ("it is", "it's"),
                ("Who is", "Who's"), ("Where is", "Where's"), ("does not", "doesn't"), ("did not", "didn't"), ("is not", "isn't"), ("I will", "I'll"), ("that is", "that's"), ("How is", "How's"), ("There is", "There's")]
NEIGHBOURS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "wa qes wrd etf ryg tuh yij uok ipl ol asz sdwx dfec fgrv ghtb hjyn jkum kli lo p zx xcs cvd vbf bng nmh mj".split() + ["n"] * 9))


def typo(rng, word):
    """One slip: letters swapped, dropped, doubled or beside the right key."""
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 1:
        return word[:at] + word[at + 1:]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    near = NEIGHBOURS.get(word[at].lower(), "")
    return word[:at] + (near[rng.randrange(len(near))] if near else word[at]) + word[at + 1:]


SLOT = re.compile(r"(\{(?:[^{}]|\{[^}]*\})*\})")


def typists(w, text, amount=1.0):
    """The text as typed: contractions, lower case, no signs, abbreviations, slips; slots stay."""
    rng = w.rng
    r = rng.random() / amount
    if r > 0.75:
        return text
    pieces = SLOT.split(text)

    def literals(change):
        for i in range(0, len(pieces), 2):
            pieces[i] = change(pieces[i])

    if r < 0.22:
        for a, b in CONTRACTIONS:
            if rng.random() < 0.7:
                literals(lambda t: t.replace(a, b))
    if 0.16 < r < 0.55:
        if r < 0.45:
            literals(str.lower)
        else:
            pieces[0] = pieces[0][:1].lower() + pieces[0][1:]
        if rng.random() < 0.75:
            pieces[-1] = pieces[-1].rstrip(".?! ") if not pieces[-1].rstrip().endswith("...") else pieces[-1]
        elif rng.random() < 0.3:
            pieces[-1] = pieces[-1].rstrip(".?!") + rng.choice(["??", "!", "!!", "...", " ?", " :)"])
    if 0.38 < r < 0.52:
        for a, b in CASUAL:
            if rng.random() < 0.5:
                literals(lambda t: t.replace(a, b))
    if r < 0.05 or 0.54 < r < 0.62:
        for _ in range(rng.choice((1, 1, 2))):
            words = [(i, m) for i in range(0, len(pieces), 2) for m in re.finditer(r"[A-Za-z]{4,}", pieces[i])]
            if words:
                i, m = words[rng.randrange(len(words))]
                pieces[i] = pieces[i][:m.start()] + typo(rng, m[0]) + pieces[i][m.end():]
    return "".join(pieces)


def typed(w, pattern, /, **slots):
    """A form as a person types it."""
    return fill(typists(w, form(w, pattern)), slots)


# An imperative that begins in lower case, in what people put around it. {o} is the order.
FRAMES = [("{o}", 26), ("{O}.", 22), ("please {o}", 4), ("Please {o}.", 8), ("{o} please", 4), ("{O}, please.", 4), ("Can you {o}?", 6), ("can you {o}", 3), ("Could you {o}?", 4), ("Could you please {o}?", 3), ("could you {o} for me", 1),
          ("Would you {o}?", 1), ("I need you to {o}.", 2), ("I want you to {o}.", 2), ("I'd like you to {o}.", 2), ("Your task: {o}.", 2), ("Task: {o}.", 1), ("Help me {o}.", 2), ("help me {o}", 1), ("hey, {o}", 1), ("Hi! Please {o}.", 2),
          ("ok now {o}", 1), ("Next: {o}.", 1), ("Quick one: {o}.", 1), ("Can you please {o}? Thanks!", 1), ("{O}!", 1), ("just {o}", 2), ("Hello, could you {o}?", 1), ("would be great if you could {o}", 1), ("{O}. Thanks.", 1), ("Now {o}.", 1),
          ("Will you {o}?", 1), ("Kindly {o}.", 1), ("I would like to {o}.", 1), ("Try to {o}.", 1), ("Let's {o}.", 1), ("Go ahead and {o}.", 1), ("You should {o}.", 1), ("sorry to bother you, but could you {o}?", 1), ("My request: {o}.", 1),
          ("Here is what I need: {o}.", 1), ("Do this for me: {o}.", 1), ("so, {o}", 1), ("{o} asap", 1), ("{o} if you can", 1)]
FRAME_TEXTS, FRAME_WEIGHTS = [f for f, _ in FRAMES], [n for _, n in FRAMES]


def order_form(w, pattern):
    """An order, framed and typed, slots unfilled."""
    text = form(w, pattern)
    frame = w.rng.choices(FRAME_TEXTS, FRAME_WEIGHTS)[0]
    return typists(w, frame.replace("{o}", text).replace("{O}", capital(text)), 0.9)


def order(w, pattern, /, **slots):
    return fill(order_form(w, pattern), slots)


QUOTES = [('"', '"'), ("'", "'"), ("“", "”"), ("«", "»"), ("`", "`"), ("<text>", "</text>"), ("```\n", "\n```"), ('"""\n', '\n"""'), ("<<", ">>"), ("[", "]")]
LABELS = ["Text", "text", "Sentence", "Input", "INPUT", "Here it is", "Here is the text", "Content", "Message", "Passage", "The text", "Source", "Document", "Paragraph", "Data", "Context", "It goes", "-----"]


def with_payload(w, instruction, payload, inline=True, label=None):
    """The instruction (typed already) and the text it speaks of, laid out as people do."""
    rng = w.rng
    r = rng.random()
    bare = instruction.rstrip(" .?!:")
    short = inline and "\n" not in payload
    if short and r < 0.3:
        return f"{bare}: {payload}"
    if short and r < 0.45:
        a, b = QUOTES[0] if rng.random() < 0.5 else QUOTES[1] if "'" not in payload else QUOTES[2]
        return f"{bare}{rng.choice([': ', ': ', ' ', ' - ', ', '])}{a}{payload}{b}"
    if short and r < 0.5:
        return f"{instruction} {payload}"
    if r < 0.66:
        return f"{instruction}\n\n{payload}"
    if r < 0.72:
        return f"{bare}:\n{payload}"
    if r < 0.82:
        return f"{payload}\n\n{instruction}"
    if r < 0.87:
        return f"{payload}\n{instruction}"
    if r < 0.93:
        return f"{instruction}\n\n{label or rng.choice(LABELS)}: {payload}"
    if r < 0.96:
        a, b = rng.choice(QUOTES)
        return f"{instruction}\n{a}{payload}{b}"
    a, b = rng.choice(QUOTES)
    return f"{label or rng.choice(LABELS)}: {a}{payload}{b}\n\n{instruction}"


def ordered(w, pattern, payload, /, inline=True, label=None, **slots):
    """An order about a payload."""
    return with_payload(w, order(w, pattern, **slots), payload, inline, label)


def listing(items, last="and"):
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + f" {last} " + items[-1]
