"""Random tools: thousands of names, descriptions and parameters, and requests that use them."""

from .slots import Slot, say, spoken
from .words import Words

LOOKUPS = ["get", "find", "fetch", "check", "read", "show", "search", "view", "lookup", "query"]
OPENINGS = ["", "", "", "", "Please ", "Could you ", "Can you ", "I want to ", "I need to ", "I would like to ", "Now ", "Would you ", "Help me ", "You should "]

# Kinds of values that cannot be told apart by their looks.
ALIKE = [{"thing", "person", "city", "code", "text", "path", "email"}, {"integer", "number"}]


def article(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


class Tool:
    """A function with parameters of which some get values. `lookup` tools return facts, the others act."""

    def __init__(self, w: Words, taken=()):
        self.lookup = w.chance(0.4)
        while True:
            self.verb = w.any(*LOOKUPS) if self.lookup else w.verb()
            self.object = w.noun() if w.chance(0.75) else f"{w.any(w.adjective, w.noun)()} {w.noun()}"
            r = w.rng.random()
            parts = [self.verb, *self.object.split()]
            if r < 0.08:
                parts = [w.invented()]
            elif r < 0.14:
                parts = [*self.object.split(), self.verb]
            elif r < 0.2:
                parts = [w.invented(), self.verb]
            style = w.rng.random()
            self.invented = len(parts) == 1
            if style < 0.66:
                self.name = "_".join(parts)
            elif style < 0.86:
                self.name = parts[0] + "".join(p.capitalize() for p in parts[1:])
            elif style < 0.93:
                self.name = "".join(p.capitalize() for p in parts)
            else:
                self.name = "-".join(parts)
            if self.name not in taken:
                break
        self.style = "camel" if 0.66 <= style < 0.93 and w.chance(0.7) else "snake"
        count = w.rng.choices((0, 1, 2, 3, 4, 5), (0.03, 0.27, 0.32, 0.22, 0.11, 0.05))[0]
        self.slots = []
        for _ in range(count):
            self.slots.append(Slot(w, self.style, taken=[s.name for s in self.slots]))
        self.required = [s for s in self.slots if w.chance(0.7)] or self.slots[:1]
        self.fields = []
        for _ in range(w.number(1, 4) if self.lookup else w.number(0, 2)):
            kinds = ["thing", "city", "person", "date", "time", "code", "integer", "integer", "number", "enum", "boolean", "text", "strings"]
            self.fields.append(Slot(w, "snake", kinds, [f.name for f in self.fields] + [s.name for s in self.slots]))

    def describe(self, w):
        verb = "look up" if self.verb == "lookup" else self.verb
        if self.lookup and self.fields and w.chance(0.5):
            what = " and ".join(f.words for f in self.fields[:w.number(1, 2)])
            return w.any(f"Get the {what} of {article(self.object)}", f"Returns the {what} of {article(self.object)}", f"{verb.capitalize()} the {what} of the {self.object}")
        return w.any(f"{verb.capitalize()} {article(self.object)}", f"{verb.capitalize()} the {self.object}", f"{verb.capitalize()} {self.object}s", f"Use this to {verb} {article(self.object)}",
                     f"Tool to {verb} the {self.object}", f"{verb.capitalize()} a given {self.object}")

    def definition(self, w):
        function = {"name": self.name}
        if self.invented or w.chance(0.9):
            function["description"] = self.describe(w) + w.any("", ".", ".")
        parameters = {"type": "object", "properties": {s.name: s.schema(w) for s in self.slots}}
        if self.required or w.chance(0.3):
            parameters["required"] = [s.name for s in self.required]
        if w.chance(0.1):
            parameters["additionalProperties"] = False
        function["parameters"] = parameters
        if w.chance(0.04):
            function["strict"] = True
        return {"type": "function", "function": function}

    def draw(self, w):
        """New values, and which parameters the request gives."""
        for s in self.slots:
            s.redraw(w)
        self.given = [s for s in self.slots if s in self.required or w.chance(0.45)]

    def arguments(self):
        return {s.name: s.value for s in self.given}

    def alone(self, slot):
        """Whether a bare value can mean no other parameter."""
        alike = next((group for group in ALIKE if slot.kind in group), {slot.kind})
        return sum(s.kind in alike for s in self.slots) == 1

    def mentions(self, w, slots):
        return [s.mention(w, alone=self.alone(s)) for s in slots]

    def request(self, w, field=None):
        """A request whose values are exactly `given`. field: ask for this field of the result."""
        slots = list(self.given)
        if w.chance(0.3):
            w.rng.shuffle(slots)
        style = w.rng.random()
        if style < 0.1 and not field:
            inner = w.any(", ", " and ", "; ").join(f"{s.name}{w.any('=', ': ', ' = ')}{say(w, s.value)}" for s in slots)
            return w.any("Call {n} with {i}.", "Use {n}: {i}", "{n}: {i}", "Run {n} with {i}", "Please call {n} with {i}.").format(n=self.name, i=inner) if slots else \
                w.any("Call {n}.", "Use {n}.", "Run {n}, please.", "{n}").format(n=self.name)
        verb = "look up" if self.verb == "lookup" else self.verb
        if self.invented and w.chance(0.35):
            verb, target = w.any("use", "run", "call"), self.name
        else:
            target = w.any("the ", "the ", article(self.object)[:2].strip() + " ", "") + self.object
        if field is not None and w.chance(0.8):
            opening = w.any("What is the {f} of {t}", "Tell me the {f} of {t}", "I need the {f} of {t}", "Which {f} does {t} have", "Give me the {f} of {t}",
                            "Can you find the {f} of {t}").format(f=field.words, t=target)
        elif field is not None:
            opening = f"{verb.capitalize()} {target} and tell me the {field.words}"
        else:
            opening = w.any(*OPENINGS) + f"{verb} {target}"
        parts = self.mentions(w, slots)
        if slots and isinstance(slots[0].value, str) and slots[0].kind in ("thing", "code", "path", "person") and len(slots) <= 2 and w.chance(0.3) \
                and self.alone(slots[0]):
            parts[0] = slots[0].value  # "delete the file notes.txt"
        if not parts:
            text = opening
        elif style < 0.75 or len(parts) == 1:
            text = opening + " " + (w.any(", ", " and ").join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + w.any(" and ", ", ") + parts[-1])
        else:
            rest = ". ".join(p[0].upper() + p[1:] for p in parts)
            text = opening + ". " + rest
        text = text[0].upper() + text[1:] if w.chance(0.9) else text
        question = text.startswith(("What", "Which", "Can", "Could", "Would"))
        if w.chance(0.85):
            text += "?" if question and ". " not in text else "."
        return text

    def result(self, w):
        """(fields of the result, in order)"""
        out = {}
        if not self.lookup:
            out[w.any("status", "result", "success", "ok")] = None
            key = next(iter(out))
            out[key] = True if key in ("success", "ok") else w.any("ok", "done", "success", "created", "accepted")
        for f in self.fields:
            f.redraw(w)
            out[f.name] = f.value if not w.chance(0.02) else None
        return out

    def answer(self, w, result, field=None):
        """What the assistant says of the result, and the values it must name."""
        facts = [(f.words, result[f.name]) for f in self.fields]
        if field is not None:
            value = spoken(result[field.name])
            return w.any("The {f} is {v}.", "The {f} is {v}.", "The {f} of the {o} is {v}.").format(f=field.words, v=value, o=self.object), [value]
        said = [f"the {words} is {spoken(value)}" for words, value in facts]
        text = ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1] if said else ""
        values = [spoken(value) for _, value in facts]
        if self.lookup:
            return text[0].upper() + text[1:] + ".", values
        return "Done." + (f" {text[0].upper() + text[1:]}." if text else ""), values
