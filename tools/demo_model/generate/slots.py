"""Typed parameters and result fields: names, schemas, values, and how people say them."""

import datetime
import json

from .words import Words

ENUMS = {
    "mode": ["fast", "normal", "slow", "eco", "auto", "manual", "silent", "night"], "priority": ["low", "medium", "high", "urgent", "normal"],
    "color": ["red", "green", "blue", "yellow", "white", "black", "orange"], "size": ["small", "medium", "large", "tiny", "huge"],
    "format": ["pdf", "csv", "json", "html", "text", "xml", "png"], "unit": ["celsius", "fahrenheit", "kelvin", "meter", "mile", "kg", "pound"],
    "status": ["open", "closed", "pending", "done", "active", "paused"], "category": ["food", "travel", "books", "sport", "music", "tools", "health"],
    "language": ["English", "German", "French", "Spanish", "Italian", "Polish"], "level": ["beginner", "advanced", "expert", "basic"],
    "direction": ["north", "south", "east", "west", "up", "down", "left", "right"], "period": ["day", "week", "month", "year", "hour"],
    "currency": ["EUR", "USD", "GBP", "JPY", "CHF", "SEK"], "transport": ["car", "train", "bus", "bike", "plane", "ship"],
    "speed": ["slow", "medium", "fast"], "meal": ["breakfast", "lunch", "dinner", "snack"], "quality": ["low", "medium", "high", "best"],
    "order": ["ascending", "descending", "random"], "season": ["spring", "summer", "autumn", "winter"], "state": ["on", "off", "standby"],
}
MONTHS = "January February March April May June July August September October November December".split()

NAMES = {
    "thing": ["item", "product", "object", "device", "topic", "subject", "target", "label", "model", "project", "category", "folder", "room", "service", "brand", "part"],
    "city": ["city", "location", "place", "town", "destination", "origin", "region", "site", "venue"],
    "person": ["name", "customer", "guest", "recipient", "user", "owner", "author", "patient", "driver", "contact", "client", "person", "student", "member", "assignee"],
    "date": ["date", "day", "start_date", "due_date", "deadline", "end_date", "delivery_date", "when"],
    "time": ["time", "start_time", "hour", "end_time", "at", "alarm_time"],
    "code": ["id", "code", "order_id", "ticket_id", "reference", "key", "serial", "user_id", "order_number", "account_id", "sku", "token"],
    "email": ["email", "address", "to", "email_address", "recipient_email", "reply_to"],
    "path": ["path", "file", "filename", "source", "file_path", "output", "input_file"],
    "text": ["text", "message", "title", "body", "query", "note", "comment", "content", "reason", "description", "subject", "caption", "keyword", "summary"],
    "integer": ["count", "quantity", "amount", "level", "page", "minutes", "limit", "age", "year", "size", "volume", "port", "floor", "number", "width", "height",
                "days", "hours", "seats", "guests", "length", "max_results", "duration", "percent", "copies", "brightness", "people", "index"],
    "number": ["price", "amount", "weight", "temperature", "ratio", "distance", "rate", "value", "factor", "cost", "budget", "speed", "score", "latitude", "longitude", "discount"],
    "boolean": ["urgent", "notify", "public", "dry_run", "force", "recursive", "verbose", "enabled", "express", "gift_wrap", "private", "breakfast", "insurance",
                "encrypted", "loop", "shuffle", "silent", "overwrite", "archived", "preview", "async", "compressed", "refundable", "parking", "reminder"],
    "strings": ["tags", "items", "names", "files", "guests", "colors", "labels", "topics", "participants", "toppings", "cities", "keywords", "members"],
    "integers": ["numbers", "ids", "values", "ports", "pages", "scores", "sizes", "rows", "floors"],
    "object": ["address", "dimensions", "options", "settings", "range", "position", "profile", "details", "filter", "config", "limits", "contact"],
}
DESCRIPTIONS = {
    "thing": ["The {p}", "Name of the {p}", "Which {p} to use", "The {p} in question"], "city": ["Name of the city", "The {p}", "City name", "Where"],
    "person": ["Name of the {p}", "The {p}", "Full name", "Who"], "date": ["Date as YYYY-MM-DD", "The {p} (YYYY-MM-DD)", "The {p} in ISO format"],
    "time": ["Time as HH:MM", "The {p} (HH:MM)", "24-hour time"], "code": ["The {p}", "Unique {p}", "Identifier"],
    "email": ["Email address", "The {p}", "Address of the receiver"], "path": ["Path of the file", "The {p}", "File to use"],
    "text": ["The {p}", "Text of the {p}", "What to write", "Free text"], "integer": ["The {p}", "Number of {p}", "{P} as a whole number", "How many"],
    "number": ["The {p}", "{P} as a number", "Value of the {p}"], "boolean": ["Whether to use {p}", "{P} or not", "Set to true for {p}", "If true, {p}"],
    "enum": ["The {p}", "Which {p}", "One of the allowed values", "{P} to use"], "strings": ["List of {p}", "The {p}", "All {p}"],
    "integers": ["List of {p}", "The {p}", "Whole numbers"], "object": ["The {p}", "{P} as an object", "Details of the {p}"],
}
SHARES = {"thing": 14, "city": 7, "person": 8, "date": 6, "time": 4, "code": 7, "email": 3, "path": 3, "text": 8, "integer": 16, "number": 8, "boolean": 9,
          "enum": 12, "strings": 5, "integers": 2, "object": 4}
KINDS, WEIGHTS = list(SHARES), list(SHARES.values())
JSON_TYPE = {"integer": "integer", "number": "number", "boolean": "boolean"}
ALONE = {"city": ["in {v}", "for {v}", "at {v}"], "person": ["for {v}", "for {v}"], "date": ["on {v}", "for {v}"], "time": ["at {v}"],
         "email": ["to {v}"], "enum": ["in {v}"] * 0}
GENERIC = ["{p} {v}", "with {p} {v}", "{p}: {v}", "{p} = {v}", "the {p} is {v}", "with a {p} of {v}", "with {v} as {p}", "{p} set to {v}", "using {p} {v}",
           "{p} should be {v}", "the {p} {v}", "with the {p} {v}"]
TRUE = ["with {p}", "{p} on", "{p} enabled", "{p}: yes", "{p} true", "{p} set to true", "{p} = true", "turn {p} on"]
FALSE = ["without {p}", "{p} off", "{p} disabled", "{p}: no", "{p} false", "{p} set to false", "{p} = false", "no {p}"]


def day(w: Words):
    return datetime.date(2024, 1, 1) + datetime.timedelta(days=w.number(0, 1200))


def value_of(w: Words, kind):
    if kind == "thing":
        return w.thing()
    if kind == "city":
        return w.city()
    if kind == "person":
        return w.person()
    if kind == "date":
        return day(w).isoformat()
    if kind == "time":
        return f"{w.number(0, 23):02d}:{w.number(0, 11) * 5:02d}"
    if kind == "code":
        letters = "".join(w.any(*"ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(w.number(1, 3)))
        n = str(w.number(10, 99999))
        return w.any(w.string(), w.string(), f"{letters}-{n}", f"{letters}{n}", n, f"{w.invented()}{w.number(1, 99)}", f"{letters.lower()}_{n}")
    if kind == "email":
        return f"{w.any(w.invented(), w.first_name().lower())}@{w.any(w.invented(), w.noun())}.{w.any('com', 'org', 'net', 'io', 'de')}"
    if kind == "path":
        name = f"{w.any(w.noun(), w.invented())}.{w.any('txt', 'csv', 'pdf', 'png', 'md', 'json', 'log')}"
        return w.any(name, f"{w.noun()}/{name}", f"/{w.invented()}/{name}", f"/home/{w.first_name().lower()}/{name}")
    if kind == "text":
        return w.any(phrase, phrase, sentence, long_phrase)(w)
    if kind == "integer":
        return w.any(w.number(1, 10), w.number(1, 100), w.number(10, 999), w.number(1, 5000))
    if kind == "number":
        n = w.any(w.number(1, 99) + w.number(1, 9) / 10, w.number(1, 999) + w.number(1, 99) / 100, w.number(1, 500), -w.number(1, 40) - w.number(1, 9) / 10)
        n = round(n, 2)
        return int(n) if n == int(n) else n
    if kind == "boolean":
        return w.chance(0.6)
    raise ValueError(kind)


def phrase(w):
    return " ".join(w.any(w.noun, w.adjective, w.noun, w.invented)() for _ in range(w.number(1, 4)))


def long_phrase(w):
    return " ".join(w.any(w.noun, w.adjective, w.verb, w.fresh, w.string, w.common)() for _ in range(w.number(3, 9)))


def sentence(w):
    text = w.any(f"the {w.noun()} is {w.adjective()}", f"please {w.verb()} the {w.noun()}", f"I will be {w.number(5, 50)} minutes late", f"meet me at the {w.noun()}",
                 f"happy birthday {w.first_name()}", f"{w.first_name()} needs the {w.noun()}", f"we need more {w.noun()}s", f"call {w.first_name()} back",
                 f"do not {w.verb()} the {w.noun()}", f"the {w.adjective()} {w.noun()} has arrived", f"see you in {w.city()}", f"{w.verb()} the {w.adjective()} {w.noun()}")
    return text[0].upper() + text[1:] if w.chance(0.5) else text


def styled(name, style):
    """snake_case to the style of the schema."""
    if style == "snake":
        return name
    first, *rest = name.split("_")
    return first + "".join(p.capitalize() for p in rest)


def say(w, value):
    """A value as it stands in a request."""
    if isinstance(value, bool):
        return w.any("yes", "true") if value else w.any("no", "false")
    if isinstance(value, list):
        texts = list(map(str, value))
        return texts[0] if len(texts) == 1 else w.any(", ".join(texts[:-1]) + " and " + texts[-1], ", ".join(texts))
    if isinstance(value, dict):
        return w.any(" and ", ", ").join(f"{k.replace('_', ' ')} {v}" for k, v in value.items())
    return str(value)


class Slot:
    """One parameter (or result field) with a value."""

    def __init__(self, w: Words, style="snake", kinds=None, taken=()):
        self.kind = kind = w.any(*kinds) if kinds else w.rng.choices(KINDS, WEIGHTS)[0]
        while True:
            r = w.rng.random()
            if kind == "enum" and r < 0.45:
                name = w.any(*ENUMS)
            elif kind in NAMES and r < 0.45:
                name = w.any(*NAMES[kind])
            elif r < 0.75:
                name = w.noun()
            elif r < 0.9:
                name = f"{w.any(w.adjective, w.noun)()}_{w.noun()}"
            elif r < 0.96:
                name = w.invented()
            else:
                name = f"{w.invented()}_{w.invented(1)}"
            if styled(name, style) not in taken:
                break
        self.words = name.replace("_", " ")
        self.name = styled(name, style)
        self.choices = None
        if kind == "enum":
            pool = ENUMS.get(name) or [w.any(w.adjective, w.noun, w.fresh)() for _ in range(5)]
            pool = list(dict.fromkeys(pool))
            self.choices = w.rng.sample(pool, min(len(pool), w.number(2, 4)))
        self.fields = None
        if kind == "object":
            self.fields = []
            for _ in range(w.number(1, 3)):
                self.fields.append(Slot(w, style, ["integer", "thing", "city", "number", "boolean", "person"], [f.name for f in self.fields]))
        self.redraw(w)

    def redraw(self, w):
        """Another value for the same parameter."""
        kind = self.kind
        if kind == "enum":
            self.value = w.any(*self.choices)
        elif kind == "strings":
            values = [value_of(w, w.any("thing", "person", "city")) if w.chance(0.3) else w.any(w.noun, w.adjective, w.invented)() for _ in range(w.number(1, 4))]
            self.value = list(dict.fromkeys(values))
        elif kind == "integers":
            self.value = [w.number(1, 200) for _ in range(w.number(1, 4))]
        elif kind == "object":
            for field in self.fields:
                field.redraw(w)
            self.value = {f.name: f.value for f in self.fields}
        else:
            self.value = value_of(w, kind)

    def schema(self, w, described=True):
        kind = self.kind
        out = {"type": JSON_TYPE.get(kind, "string")}
        if kind == "enum":
            out["enum"] = self.choices
        elif kind in ("strings", "integers"):
            out = {"type": "array", "items": {"type": "string" if kind == "strings" else "integer"}}
        elif kind == "object":
            out = {"type": "object", "properties": {f.name: f.schema(w, False) for f in self.fields}}
            if w.chance(0.5):
                out["required"] = [f.name for f in self.fields]
        if described and w.chance(0.75):
            text = w.any(*DESCRIPTIONS[kind]).format(p=self.words, P=self.words.capitalize()) + w.any("", ".", "")
            if w.chance(0.2):
                return {"description": text, **out}
            out["description"] = text
        return out

    def mention(self, w, alone=False):
        """Words of a request that give the value. alone: no other parameter could be meant."""
        p = self.words if w.chance(0.85) else self.name
        if self.kind == "boolean":
            return w.any(*(TRUE if self.value else FALSE)).format(p=p)
        v = say(w, self.value)
        if alone and w.chance(0.6) and ALONE.get(self.kind):
            return w.any(*ALONE[self.kind]).format(v=v)
        if isinstance(self.value, str) and (w.chance(0.75 if self.kind == "text" else 0.12)):
            v = f'"{v}"'
        if self.kind == "object":
            return w.any("{p} {v}", "with {p} {v}", "{p}: {v}", "{p} with {v}").format(p=p, v=v)
        return w.any(*GENERIC).format(p=p, v=v)


def spoken(value):
    """A value of a tool's result as the answer says it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return ", ".join(map(spoken, value)) if value else "empty"
    if isinstance(value, dict):
        return ", ".join(f"{k.replace('_', ' ')} {spoken(v)}" for k, v in value.items())
    return str(value)


def to_json(value):
    return json.dumps(value, ensure_ascii=False)
