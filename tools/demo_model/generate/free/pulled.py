"""What a short text names, pulled out of it: the things of one role, single values, and records as JSON or as lines.

tables/pulled:

text | what has a role => value, value ; ... | key = value ; #key = number ; ...

A role with nothing behind => has none in the text. Values stand in the order of the text. A text names nothing of a role outside of
its slots. Slots as in filled.py. Roles beside keys are said as they would be asked: "the things that {name1} needs". Brackets, bars and
commas that belong to a text or a value: ⟦ ⟧ ⦅ ⦆ ¦ ¸
"""

import json
import re

from . import tables
from .filled import Filled, cells
from .grammar import capital, form, listing, typists
from .letters import wanted
from .reading import finish, laid_out


def _parse():
    """[(text, [(what, [values])], [(key, value, is a number)])]"""
    out = []
    for line in tables.lines("pulled"):
        text, lists, keys = (cells(line) + ["", ""])[:3]
        out.append((text, [(a, [x for x in cells(b, ",") if x]) for a, b in (cells(x, " =>") for x in cells(lists, " ; ") if x)],
                    [(k.lstrip("#"), v, k.startswith("#")) for k, v in (x.split(" = ") for x in cells(keys, " ; ") if x)]))
    return out


ROWS = _parse()
MARKS = str.maketrans("⟦⟧⦅⦆¦¸", "[]()|,")
WHEN = re.compile(r"((?:date and |)time|date|day|place) of (the .*)")
PERSON = re.compile(r"(Dr\. |Mr\. |Mrs\. )?\{(name|fullname|mister|fam)")


class Row:
    def __init__(self, w, row=None):
        text, self.lists, self.keys = row or w.any(*ROWS)
        self.values = Filled(w, 0.1)
        self.text = self.filled(form(w, text)).replace("\\n", "\n")
        keys = [(self.values.fill(form(w, k)), v, number) for k, v, number in self.keys]
        self.people = {k for k, v, _ in keys if PERSON.match(v)}
        self.keys = [(k, self.filled(v), number) for k, v, number in keys]

    def filled(self, text):
        return self.values.fill(text).translate(MARKS)

    def question(self, w, key):
        """"what is the rent", "who is the doctor", "when is the visit"."""
        if (m := WHEN.fullmatch(key)) and w.chance(0.7):
            return f"{'where' if m[1] == 'place' else 'when'} is {m[2]}"
        return f"{'who' if key in self.people and 'name' not in key else 'what'} is the {key}"

    def several(self, w):
        """What has a role, in the order of the text."""
        what, found = w.any(*self.lists)
        what, found = self.values.fill(form(w, what)), [self.filled(x) for x in found]
        if w.chance(0.6 if what.startswith("what ") else 1) and what.startswith(("who ", "what ", "which ", "where ", "when ")):
            ask, joined = what + "?", ", ".join
        else:
            ask, joined = wanted(w, what)
            if "comma" not in ask and joined(found) == ", ".join(found) and any(", " in x for x in found):
                joined = "\n".join
        if not found:
            return finish(laid_out(w, self.text, capital(ask) + w.any("", "", " If there are none, say none.")), f"{capital(what)}: none.", "none")
        return finish(laid_out(w, self.text, capital(ask)), f"{capital(what)}: {'; '.join(found)}.", joined(found))

    def single(self, w):
        key, value, _ = w.any(*self.keys)
        ask = form(w, f"(extract|find|give me|pull out|what is|tell me|copy|get|I need|return|show) the {key} [(from this|in this text|of this)]|{key}?|[only] the {key}, please|the {key} and nothing else|which {key} is (named|given) [here]?|just the {key}|(return|give|write|copy) only the {key}|(I need|give me) (just|only) the {key}|what is the {key} here?")
        if w.chance(0.2):
            ask = self.question(w, key) + "?"
        return finish(laid_out(w, self.text, capital(typists(w, ask, 0.7))), f"{capital(key)}: {value}.", value)

    def record(self, w):
        found = [x for x in self.keys if " and " not in x[0]]
        if len(found) < 2:
            return self.single(w)
        if w.chance(0.55):
            found = w.rng.sample(found, w.any(2, 2, w.number(2, len(found))))
        names = [k for k, _, _ in found]
        told = listing(names)
        thought = "; ".join(f"{k}: {v}" for k, v, _ in found) + "."
        r = w.rng.random()
        if r < 0.62:
            gap = w.any("_", "_", "_", " ")
            keys = {k: k.replace(" ", gap) for k in names}
            told = told if all(" " not in k for k in names) else ", ".join(keys.values())
            ask = form(w, f"(give me|extract|return|pull out|I need|put) {told} (as JSON|as a JSON object|in JSON)|(make|write|return|build) [a] JSON [object] with [the] (keys|fields) {told}|JSON with {told}[, please]|turn (this|it) into JSON[ with the keys|:] {told}|(from this|extract to JSON): {told}" if told else "")
            if w.chance(0.3):
                blank = w.any("...", '"..."', '""')
                template = ", ".join(f'"{keys[k]}": {"0" if number and blank == chr(34) * 2 else blank}' for k, _, number in found)
                ask = form(w, "(make|write|give me|build|return|I need) [a] JSON [object] {t} (from|out of) (this|it|the text)|(fill in|complete) [this JSON:] {t}|(extract [it]|turn (this|it)|put (this|it)) into {t}|JSON [like] {t}[, nothing else]|(answer|reply) [only] with {t}|{t} as JSON|in the (form|format) {t}").replace("{t}", "{" + template + "}")
            if "JSON" not in ask and "{" not in ask:
                ask += " as JSON"
            data = {keys[k]: int(v) if number and v.isdigit() else float(v) if number else v for k, v, number in found}
            return finish(laid_out(w, self.text, capital(ask)), thought, json.dumps(data, ensure_ascii=False), {"json": data})
        if r < 0.85:
            ask = form(w, f"(extract|pull out|give me|find|note|I need) {told}[, one per line|, each on its own line| as key: value lines| in the form key: value]|{told}[, please]?")
            if w.chance(0.5) and len(found) < 4:
                ask = typists(w, listing([self.question(w, k) for k in names]), 0.5) + "?"
            return finish(laid_out(w, self.text, capital(ask)), thought, "\n".join(f"{k}: {v}" for k, v, _ in found))
        ask = form(w, f"{told}, separated by (commas|a comma)[, values only]|(only the values|give me only the values of|the values of) {told}, with commas")
        if w.chance(0.3) and len(found) < 4:
            ask = listing([self.question(w, k) for k in names]) + w.any("? Only the values, separated by commas", "? Values only, with commas", "? (just the values, with commas)")
        return finish(laid_out(w, self.text, capital(ask)), thought, ", ".join(v for _, v, _ in found))


def question_of(w):
    row = Row(w)
    ways = ([row.several] * 5 if row.lists else []) + ([row.single] * 3 if row.keys else []) + ([row.record] * 3 if len(row.keys) > 1 else [])
    return w.any(*ways)(w)
