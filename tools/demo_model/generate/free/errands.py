"""Errands with tools, by hand: hints, words that stand for numbers, days that are said, answers to a question back, what is done
after a list, and results of many shapes.

tables/errands:

@ tool: name/other name(parameter! kind, parameter kind) description ; another ...     ! is required
< what the user says
> call, with parameter=value, ... && another call // what is thought before it
= a result, one for each call
: what is answered // the thought

Kinds: s string, i integer, n number, b boolean, a list of strings, x|y one of these. A value runs to the next ", parameter=".
Slots as in filled.py; patterns as in grammar.py.
"""

import re

from .. import calls as plain_calls
from . import tables, toolbox
from .filled import Filled, cells
from .grammar import capital, form, listing, typists
from .needs import user

TYPES = {"s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "a": {"type": "array", "items": {"type": "string"}}}


class Described:
    """A tool of one line: name/other name(parameter! kind, ...) description."""

    def __init__(self, line):
        names, parameters, self.description = re.fullmatch(r"([\w./]+)\((.*?)\) (.+)", line).groups()
        self.names = names.split("/")
        self.parameters = [(p.split()[0].rstrip("!"), p.split()[0].endswith("!"), p.split()[1]) for p in cells(parameters, ",") if p]

    def definition(self, name):
        properties = {p: TYPES.get(kind) or {"type": "string", "enum": kind.split("|")} for p, _, kind in self.parameters}
        return {"type": "function", "function": {"name": name, "description": self.description, "parameters": {"type": "object", "properties": properties, "required": [p for p, must, _ in self.parameters if must]}}}

    def typed(self, name, text):
        kind = next(k for p, _, k in self.parameters if p == name)
        return text.split("|") if kind == "a" else int(text) if kind == "i" else text == "true" if kind == "b" else (float(text) if "." in text else int(text)) if kind == "n" else text


def _parse():
    """[(tools, [(mark, text, thought)])]"""
    out = []
    for line in tables.lines("errands"):
        mark, line = line[0], line[1:].strip()
        if mark == "@":
            out.append(([Described(x) for x in cells(line, " ; ")], []))
        else:
            text, _, thought = line.partition(" // ") if mark in ">:" else (line, "", "")
            out[-1][1].append((mark, text.strip(), thought.strip()))
    return out


SCRIPTS = _parse()
SYSTEM = ["Do the task by calling tools, one step after the other.", "You act through tools. Call one when it helps, otherwise answer.", "Help with the code in the current folder. Read before you write.", "You run a household. Use the tools for what is asked, nothing more.", "You are the assistant of a small office.", "Use a tool only if it is needed. Never invent values.", "Solve the user's task with the tools, then say what was done."]


class Errand:
    def __init__(self, w, script):
        self.w, (self.tools, self.lines) = w, script
        self.values = Filled(w, 0)
        self.names = {}
        for t in self.tools:
            name = w.any(*t.names)
            self.names[t.names[0]] = toolbox.restyled(w, name, w.any("snake", "snake", "camel", "dashed")) if w.chance(0.3) else name

    def call(self, text):
        """(call, how the thought names it) of "tool parameter=value, ..."."""
        name, _, rest = text.partition(" ")
        tool = next(t for t in self.tools if t.names[0] == name)
        known = "|".join(p for p, _, _ in tool.parameters)
        given = re.findall(rf"(?:^|, )({known})=(.*?)(?=, (?:{known})=|$)", rest) if known else []
        arguments = {p: tool.typed(p, self.values.fill(v)) for p, v in given}
        arguments = {p: v.removeprefix("on ") if p in ("date", "day") else v for p, v in arguments.items()}
        said = listing([f"{p} {', '.join(v) if isinstance(v, list) else str(v).lower() if isinstance(v, bool) else v}" for p, v in arguments.items()]) if arguments else ""
        return {"type": "function", "function": {"name": self.names[name], "arguments": arguments}}, f"{self.names[name]} fits" + (f": {said}." if said else ".")

    def messages(self):
        w, out = self.w, []
        for mark, text, thought in self.lines:
            if mark == "<":
                said = self.values.fill(typists(w, form(w, text), 0.7))
                out.append(user(capital(said) if w.chance(0.5) else said))
            elif mark == ">":
                found = [self.call(x) for x in text.split(" && ")]
                out.append(plain_calls.assistant(" ".join([self.thought(thought), *(f for _, f in found)]), "", [c for c, _ in found]))
            elif mark == "=":
                out.append({"role": "tool", "content": self.fill(text)})
            else:
                out.append(plain_calls.assistant(self.thought(thought), self.fill(text) if text.startswith(("{word", "test_")) else capital(self.fill(text))))
        return out

    def thought(self, text):
        for name, called in self.names.items():
            text = re.sub(rf"\b{re.escape(name)}\b", called, text) if "_" in name else text
        return self.fill(text)

    def fill(self, text):
        return self.values.fill(text).replace("\\n", "\n")


def beside_others(w, definitions, count):
    """Adds so many tools that have nothing to do with it, and shuffles all."""
    for _ in range(count):
        other = toolbox.Tool(w, w.any(*(toolbox.FAMILIES["health"] + toolbox.FAMILIES["words"] + toolbox.FAMILIES["crm"])), [d["function"]["name"] for d in definitions])
        definitions.append(other.definition(w))
    w.rng.shuffle(definitions)


def dialogue(w, script=None):
    """(messages, definitions, check), up to one of its turns."""
    errand = Errand(w, script or w.any(*SCRIPTS))
    messages = errand.messages()
    ends = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    messages = messages[:(ends[-1] if w.chance(0.45) else w.any(*ends)) + 1]
    definitions = [t.definition(errand.names[t.names[0]]) for t in errand.tools]
    beside_others(w, definitions, w.any(0, 0, 1, 1, 2, 3))
    last = messages[-1]
    if last.get("tool_calls"):
        return messages, definitions, {"calls": [c["function"] for c in last["tool_calls"]], "everyday": True}
    return messages, definitions, {"calls": [], "contains": [last["content"]]}
