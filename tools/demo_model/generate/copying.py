"""Strings that must come back letter by letter: repeated, quoted, looked up, put into JSON."""

import json


def word(w):
    return w.any(w.fresh, w.fresh, w.noun, w.adjective, w.verb, w.city, w.person, w.string, w.string, w.common)()


def words(w, low, high):
    return " ".join(word(w) for _ in range(w.number(low, high)))


def whole(w):
    text = w.any(lambda: word(w), lambda: words(w, 2, 5), lambda: words(w, 6, 20))()
    if w.chance(0.2):
        text = text[0].upper() + text[1:] + w.any(".", "!", "?")
    ask = w.any("Repeat: {t}", "Repeat this text:\n{t}", "Say exactly this: {t}", 'Copy "{t}" without the quotes.', "Echo {t}", "{t}\nRepeat the line above.",
                'Write what stands in quotes: "{t}"', "Return this unchanged.\n\n{t}", "Write what stands in brackets: ({t})")
    return ask.format(t=text), "Copy it.", text, {"equals": text}


def quoted(w):
    text = words(w, 1, 4)
    result, name = w.any((f'"{text}"', "double quotes"), (f"({text})", "round brackets"), (f"[{text}]", "square brackets"), (f"'{text}'", "single quotes"), (f"<{text}>", "angle brackets"))
    return w.any(f"Put this in {name}: {text}", f"Write {text} in {name}.", f"Use {name} around this:\n{text}"), f"Use {name}.", result, {"equals": result}


def record(w):
    """{key: value} of distinct keys."""
    out = {}
    for _ in range(w.number(2, 7)):
        key = w.any(w.fresh, w.noun, lambda: f"{w.fresh()}_{w.noun()}", lambda: w.fresh() + w.noun().capitalize())()
        out[key] = w.any(lambda: words(w, 1, 3), lambda: w.string(), lambda: w.number(0, 9999), lambda: word(w))()
    return out


def shown(w, values):
    form = w.any("lines", "lines", "equals", "json", "semicolons", "indented")
    if form == "json":
        return json.dumps(values, ensure_ascii=False)
    if form == "indented":
        return json.dumps(values, ensure_ascii=False, indent=2)
    sign, between = {"lines": (": ", "\n"), "equals": ("=", "\n"), "semicolons": (w.any("=", ": "), "; ")}[form]
    return between.join(f"{k}{sign}{v}" for k, v in values.items())


def look_up(w):
    values = record(w)
    key = w.any(*values)
    value = str(values[key])
    text = shown(w, values)
    if w.chance(0.2) and list(map(str, values.values())).count(value) == 1:
        return w.any(f"{text}\nWhich key has the value {value}?", f"Which key belongs to {value}?\n{text}"), f"{key} has this value.", key, {"equals": key}
    ask = w.any(f"{text}\nWhat is {key}?", f"What is the value of {key}?\n{text}", f'{text}\n\nGive me the value of "{key}".', f"Look up {key}:\n{text}")
    if w.chance(0.25):
        return ask, f"{key} is {value}.", f"{key} is {value}.", {"contains": [value]}
    return ask, f"{key} is {value}.", value, {"equals": value}


def to_json(w):
    values = record(w)
    sign, between = w.any((": ", "\n"), ("=", "\n"), ("=", ", "), (" is ", "; "))
    text = between.join(f"{k}{sign}{v}" for k, v in values.items())
    # A value of digits alone is a number in the answer.
    values = {k: int(v) if str(v).isdigit() and str(int(v)) == str(v) else v for k, v in values.items()}
    return w.any(f"Turn this into JSON:\n{text}", f"As JSON: {text}", f"Write this as a JSON object.\n{text}"), "Keys and values stay as they are.", \
        json.dumps(values, ensure_ascii=False), {"json": values}


def items(w):
    values = list(dict.fromkeys(words(w, 1, 2) for _ in range(w.number(2, 8))))
    text = w.any(", ", "\n", "; ", " | ").join(values)
    result, name = w.any((json.dumps(values, ensure_ascii=False), "a JSON array"), ("\n".join(f"- {v}" for v in values), "a list with dashes"), ("\n".join(values), "one item on each line"))
    return w.any(f"Write this as {name}: {text}", f"{text}\nMake this {name}."), "The items stay as they are.", result, {"equals": result}


def part(w):
    values = list(dict.fromkeys(w.any(w.fresh, w.noun, w.string)() for _ in range(w.number(3, 8))))
    i = w.number(0, len(values) - 2)
    text, before, after = " ".join(values), values[i], values[i + 1]
    return w.any(f"Which word comes after {before} in this text: {text}", f"{text}\nWhat comes right after {before}?"), f"{before} {after}", after, {"equals": after}


def question(w):
    return w.rng.choices((whole, quoted, look_up, to_json, items, part), (0.3, 0.08, 0.26, 0.14, 0.14, 0.08))[0](w)
