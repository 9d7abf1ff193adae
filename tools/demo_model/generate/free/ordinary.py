"""Ordinary conversations, written whole: what people type, what is thought, what is answered or called.

tables/ordinary, each line with its mark:

# category, with which a conversation begins
S system message
@ name(parameter! kind, parameter kind) what the tool does       as in errands.py
U what the user says
T the thought
A the answer
C tool {"parameter": "value"}      several lines: several calls at once
R a result, one for each call
X strings, that others can stand for: names, places, numbers that nothing is worked out from

Several conversations about the same begin with a line "=" each, behind what they share: S, @ and

P a text, to which a question is put in many ways

They do not depend on each other: one is drawn, or several in any order. "\\n" is a line break.
"""

import json
import re
import zlib

from .. import calls as plain_calls
from . import errands, lexicon, tables, toolbox
from .grammar import capital, typists

HELD_OUT = 25  # one conversation in so many is for evaluation
COPIED = {"extraction", "structured", "rewriting", "format", "code", "sorting"}  # what is typed comes back letter for letter
THOUGHTS = ("Small talk.", "A friendly word.", "I answer kindly.")
EXCHANGED = 0.8  # of conversations whose names can be
# Things that another of their kind can stand for, so that an answer is looked up and not known by heart; in conversations
# in which it does not matter what kind of thing it is. Not those of which there is no singular.
AMBIGUOUS = set("saw file date fly bear duck train ship drill rake hoe plane orange lime judge cook tie suit cap belt boot seal crow mole bat turkey organ glass pot plate monitor speaker water cup golden bed school church prison hospital".split())
ALIKE = {word: things for things in ([x for x in lexicon.KINDS[kind] if x not in AMBIGUOUS and not re.search("[^s]s$", x)] for kind in ("animal", "fruit", "vegetable", "tool", "vehicle", "piece of furniture", "piece of clothing", "drink", "dish", "musical instrument", "color", "job", "kitchen item", "building", "device", "dessert")) for word in things}
OF_THINGS = {"reading", "extraction", "structured", "tool-call", "several-calls", "tool-results", "missing-argument", "agent", "rewriting", "summary", "sums-words"}
SWAPPED = 0.4
TRIES = 20
AFTER_ANOTHER = 0.08  # of conversations come after one about something else
BRANCHES = (1, 1, 1, 1, 1, 1, 2, 2, 3, 4)  # of a group, at once
# How a text and what is asked about it are put together.
BESIDE = ("{text}\n\n{question}", "{text}\n\n{question}", "{text}\n{question}", "{question}\n\n{text}", "{question}\n\n{text}", "{question}\n{text}", "Text: {text}\n\nQuestion: {question}",
          "Text:\n{text}\n\n{question}", "Read this:\n\n{text}\n\n{question}", "{question}\n\nText: {text}", "{question}\n---\n{text}", "{text}\n---\n{question}")
IN_A_LINE = ("{text} {question}", "{question} {text}", '"{text}" {question}', '{question} "{text}"', "'{text}' {question}", "Here it says: {text} {question}", "{question} Text: {text}")
# Words that a message begins with and typists may write in lower case.
COMMON = set("a an and any anyone are at can could do does did explain fix for from get give has have hello help hey hi how i if in is it i'm i've i'd just let list make may my new no no, not now of ok on one order please quick remind should show so some somebody sort tell text that the there this to turn two use was we what what's when where which who whose why will would write yes you your".split())


class Conversation:
    """What is shared, and branches of turns: (mark, text). Most have one branch."""

    def __init__(self, lines):
        self.kind, self.system, self.text, self.tools, self.branches, self.others = lines[0][2:], "", "", [], [], []
        for line in lines[1:]:
            mark, text = line[0], line[2:]
            if mark != "C" and not (mark == "R" and text[:1] in "[{"):  # in JSON it is one already
                text = text.replace("\\n", "\n")
            if mark == "S":
                self.system = text
            elif mark == "P":
                self.text = text
            elif mark == "@":
                self.tools.append(errands.Described(text))
            elif mark == "X":
                self.others = [x.strip() for x in text.split(",") if x.strip()]
            elif mark == "=":
                self.branches.append([])
            else:
                self.branches = self.branches or [[]]
                self.branches[-1].append((mark, text))
        self.held_out = zlib.crc32("\n".join(lines).encode()) % HELD_OUT == 0

    def said(self, marks):
        return " ".join([self.system, self.text][:1 + ("U" in marks)] + [text for turns in self.branches for mark, text in turns if mark in marks])

    def drawn(self, w):
        return w.rng.sample(self.branches, min(w.any(*BRANCHES), len(self.branches)))

    def messages(self, w, branches):
        out, thought = [], ""
        for mark, text in (turn for turns in branches for turn in turns):
            if mark == "U":
                out.append({"role": "user", "content": beside(w, self.text, text) if self.text and not out else text})
            elif mark == "T":
                thought = text
            elif mark == "R":
                out.append({"role": "tool", "content": text})
            elif mark == "A":
                out.append(plain_calls.assistant(thought, text))
                thought = ""
            else:
                name, _, arguments = text.partition(" ")
                call = {"type": "function", "function": {"name": name, "arguments": json.loads(arguments)}}
                if out[-1].get("tool_calls"):
                    out[-1]["tool_calls"].append(call)
                else:
                    out.append(plain_calls.assistant(thought, "", [call]))
                thought = ""
        return out


def beside(w, text, question):
    in_a_line = "\n" not in text and "\n" not in question and text[-1] in ".!?" and question[-1] in ".!?:"
    return w.any(*BESIDE, *IN_A_LINE * in_a_line).format(text=text, question=question)


def _parse():
    out = []
    for line in tables.lines("ordinary", comment=None):
        if line.startswith("# "):
            out.append([])
        out[-1].append(line)
    return [Conversation(lines) for lines in out]


CONVERSATIONS = _parse()
# One with several questions is drawn as often as as many with one.
SIDES = {side: [c for c in CONVERSATIONS if c.held_out == side for turns in c.branches for mark, _ in turns if mark == "U"] for side in (False, True)}
BRIEF = {side: [c for c in SIDES[side] if not c.tools and not c.system and len(c.branches) == 1 and len(c.branches[0]) <= 3 and len(c.said("UTA")) < 300] for side in SIDES}


def deep(value, change):
    """The value with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [deep(v, change) for v in value]
    if isinstance(value, dict):
        return {k: v if k in ("role", "type") else deep(v, change) for k, v in value.items()}
    return value


def exchange(w, conversation):
    """What puts others in the place of strings that may be exchanged; several words at once are a name of several."""
    others, taken = {}, set(conversation.said("UTACR").split())
    if conversation.others and w.chance(EXCHANGED):
        for old in conversation.others:
            new = next((x for x in (other(w, old) for _ in range(TRIES)) if x not in taken), old)
            taken.add(new)
            others[old] = new
    if conversation.kind in OF_THINGS and w.chance(SWAPPED):
        others.update(swapped(w, conversation))
    if not others:
        return lambda text: text
    names = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, sorted(others, key=len, reverse=True))) + r")(?!\w)")
    return lambda text: names.sub(lambda m: others[m[1]], text)


def swapped(w, conversation):
    """{thing: another of its kind}, in singular and plural, of things that are asked about: they occur in answers, too."""
    said, answered = conversation.said("UR"), conversation.said("AC")
    words = set(re.findall(r"[a-z]+", said + " " + answered))
    asked = {form.removesuffix("s") for form in set(re.findall(r"[a-z]+", said)) & set(re.findall(r"[a-z]+", answered))}
    names = {form.removesuffix("s") for t in conversation.tools for form in re.findall(r"[a-z]+", t.names[0])}
    out = {}
    for old in sorted((asked & ALIKE.keys()) - names):
        new = w.any(*(x for x in ALIKE[old] if (x[0] in "aeiou") == (old[0] in "aeiou")))
        if new in words or lexicon.plural(new) in words or w.chance(0.2):
            continue
        words.add(new)
        for change in (str, capital):
            out[change(old)], out[change(lexicon.plural(old))] = change(new), change(lexicon.plural(new))
    return out


def other(w, old):
    if old.isdigit():
        return str(w.number(10 ** (len(old) - 1), 10 ** len(old) - 1))
    if re.fullmatch(r"[A-Z][^\W\d_]+( [A-Z][^\W\d_]+)*", old):
        return " ".join(w.first_name() for _ in old.split())
    # Codes, addresses: other letters and digits of the same kind.
    return re.sub(r"\d", lambda m: str(w.number(1, 9)), re.sub(r"[A-Z](?=[A-Z\d-])", lambda m: w.any(*"ABCDEFGHKLMNPRSTUVWXYZ"), old))


def said(w, text, answers, kind):
    """As typists have it, but for what must come back as it stands: capitals, numbers, and long words of the answers."""
    if kind in COPIED or "{" in text or not w.chance(0.5 if len(text) < 110 else 0.2):
        return text
    begins = text.split(" ", 1)[0]

    def kept(m):
        if m.start() == 0:
            is_kept = not (begins.istitle() and begins.lower() in COMMON)
        else:
            is_kept = not m[0].islower() or m[0] in answers
        return "{" + m[0] + "}" if is_kept else m[0]

    return re.sub(r"[{}]", "", typists(w, re.sub(r"[\w'’.,:-]*\w", kept, text), 0.9))


def exchanged(w, conversation):
    """(messages, what put others in the place of strings)"""
    change = exchange(w, conversation)
    return deep(conversation.messages(w, conversation.drawn(w)), change), change


def dialogue(w):
    """(messages, tools or None, check), up to one of its turns."""
    conversation = w.rng.choice(SIDES[w.evaluation])
    messages, change = exchanged(w, conversation)
    if not conversation.tools and not conversation.system and w.chance(AFTER_ANOTHER):
        messages = exchanged(w, w.rng.choice(BRIEF[w.evaluation]))[0] + messages
    ends = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    messages = messages[:(ends[-1] if w.chance(0.6) else w.any(*ends)) + 1]
    answers = " ".join(m["content"] for m in messages if m["role"] == "assistant") + json.dumps([m.get("tool_calls") for m in messages])
    for m in messages:
        if m["role"] == "user":
            m["content"] = said(w, m["content"], answers, conversation.kind)
        elif m["role"] == "assistant" and not m["reasoning_content"]:
            m["reasoning_content"] = w.any(*THOUGHTS)
    last = messages[-1]
    check = {"calls": [c["function"] for c in last["tool_calls"]]} if last.get("tool_calls") else {"equals": last["content"]}
    if conversation.system:
        messages.insert(0, {"role": "system", "content": change(conversation.system)})
    if not conversation.tools:
        return messages, None, check
    names = {t.names[0]: toolbox.restyled(w, t.names[0], w.any("snake", "camel", "dashed")) if w.chance(0.25) else t.names[0] for t in conversation.tools}
    for m in messages:
        for c in m.get("tool_calls", ()):
            c["function"]["name"] = names[c["function"]["name"]]
        if m.get("reasoning_content"):
            m["reasoning_content"] = re.sub(r"\b(" + "|".join(map(re.escape, names)) + r")\b", lambda found: names[found[1]], m["reasoning_content"])
    definitions = [t.definition(names[t.names[0]]) for t in conversation.tools]
    errands.beside_others(w, definitions, w.any(0, 0, 0, 1, 1, 2))
    if not last.get("tool_calls"):
        check = {"calls": [], "contains": [last["content"]]}
    return messages, definitions, check
