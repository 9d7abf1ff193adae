"""Random JSON schemas and regular expressions, of what answers can follow."""

import random

WORDS = ["name", "age", "tags", "a b", "größe", "x\"y", "unit", "items", "id", "kind", "note", "values"]
PATTERNS = ["^[a-z]{2,6}$", "^[A-Z][a-z]+( [A-Z][a-z]+)?$", "^\\d{3}-\\d{4}$", "^(red|green|blue)$", "^[^@]+@[a-z]+\\.com$",
            "^[0-9a-f]{4,8}$", "^.{1,10}$"]


class Schemas:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def schema(self) -> dict:
        """With definitions that refer to each other and to themselves."""
        self.names = [f"d{i}" for i in range(self.random.randrange(3))]
        definitions = {name: self.one(2) for name in self.names}
        root = self.random.choice([self.object, self.object, self.array, self.one])(3)
        return {**root, "$defs": definitions} if definitions else root

    def one(self, depth: int) -> dict:
        simple = [self.string, self.integer, self.number, self.enum, self.const, lambda _: {"type": "boolean"},
                  lambda _: {"type": "null"}, self.types, lambda _: {}]
        nested = [self.object, self.array, self.any_of, self.one_of, self.map]
        choices = simple + nested * 2 if depth > 0 else simple
        if self.names and depth > 0:
            choices.append(lambda _: {"$ref": "#/$defs/" + self.random.choice(self.names)})
        return self.random.choice(choices)(depth - 1)

    def string(self, _) -> dict:
        kind = self.random.randrange(5)
        low = self.random.randrange(5)
        if kind == 0:
            return {"type": "string", "minLength": low, "maxLength": low + self.random.randrange(10)}
        if kind == 1:
            return {"type": "string", "pattern": self.random.choice(PATTERNS)}
        if kind == 2:
            return {"type": "string", "format": self.random.choice(["date", "date-time", "uuid", "ipv4", "email"])}
        return {"type": "string", "description": "any"}

    def integer(self, _) -> dict:
        low = self.random.randrange(-200, 200)
        bounds = [{}, {"minimum": low}, {"maximum": low}, {"minimum": low, "maximum": low + self.random.randrange(300)},
                  {"exclusiveMinimum": low, "exclusiveMaximum": low + 2 + self.random.randrange(50)}, {"multipleOf": 7}]
        return {"type": "integer", **self.random.choice(bounds)}

    def number(self, _) -> dict:
        low = self.random.randrange(-200, 200) / 8
        bounds = [{}, {"minimum": low}, {"maximum": low}, {"minimum": low, "maximum": low + self.random.randrange(300) / 4},
                  {"exclusiveMinimum": low, "exclusiveMaximum": low + 2.5}]
        return {"type": "number", **self.random.choice(bounds)}

    def values(self) -> list:
        return self.random.sample(["red", "a\nb", "\"", "ü", 1, -2.5, True, None, [], {"a": [1]}, ""], 3)

    def enum(self, _) -> dict:
        return {"enum": self.values()}

    def const(self, _) -> dict:
        return {"const": self.values()[0]}

    def types(self, _) -> dict:
        return {"type": self.random.sample(["string", "integer", "null", "boolean", "array", "object"], 2)}

    def any_of(self, depth: int) -> dict:
        return {"anyOf": [self.one(depth) for _ in range(self.random.randrange(1, 4))]}

    def one_of(self, depth: int) -> dict:
        return {"oneOf": [{"type": "object", "required": ["kind", "rest"], "additionalProperties": False,
                           "properties": {"kind": {"const": f"k{i}"}, "rest": self.one(depth)}} for i in range(2)]}

    def map(self, depth: int) -> dict:
        return {"type": "object", "additionalProperties": self.one(depth)}

    def object(self, depth: int) -> dict:
        names = self.random.sample(WORDS, self.random.randrange(0, 5))
        schema = {"type": "object", "properties": {name: self.one(depth) for name in names},
                  "required": [name for name in names if self.random.random() < 0.6]}
        if self.random.random() < 0.5:
            schema["additionalProperties"] = self.random.choice([False, False, True])
        return schema

    def array(self, depth: int) -> dict:
        schema = {"type": "array", "items": self.one(depth)}
        if self.random.random() < 0.6:
            schema["minItems"] = self.random.randrange(3)
            schema["maxItems"] = schema["minItems"] + self.random.randrange(4)
        elif self.random.random() < 0.3:
            schema = {"type": "array", "prefixItems": [self.one(depth), self.one(depth)], "items": False,
                      "minItems": 2}
        return schema

    def parameters(self) -> dict:
        """Of a function."""
        self.names = []
        names = self.random.sample(["city", "days", "unit", "when", "filter", "tags", "exact"], self.random.randrange(0, 5))
        return {"type": "object", "properties": {name: self.one(2) for name in names},
                "required": [name for name in names if self.random.random() < 0.6], "additionalProperties": False}


def regex(seed: int) -> str:
    """Of the part that xgrammar and Python's re read alike."""
    choose = random.Random(seed)

    def part(depth: int) -> str:
        kind = choose.randrange(9 if depth > 0 else 4)
        if kind == 0:
            return choose.choice(["abc", "x", "foo\\.bar", "ü", " - ", "\\(", "\\n"])
        if kind == 1:
            return choose.choice(["[a-z]", "[A-F0-9]", "[^a-z\\n]", "\\d", "[äöü]", "\\w"])
        if kind == 2:
            return choose.choice(["[a-z]{2,4}", "\\d{3}", "[xy]{1,3}", "[a-c]?"])
        if kind == 3:
            return choose.choice(["[0-9]+", "[a-f]*", "z?"])
        if kind in (4, 5):
            return "(" + "|".join(part(depth - 1) for _ in range(choose.randrange(2, 4))) + ")"
        if kind == 6:
            return "(?:" + part(depth - 1) + ")" + choose.choice(["?", "{1,3}", "{2}"])
        return part(depth - 1) + part(depth - 1)

    return part(3) + part(2)
