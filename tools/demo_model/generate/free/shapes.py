"""Structured output from short sentences: rows in every notation, truth values and counts in other words than the key's,
names in parts, templates to be filled, and the way back from a notation to a sentence or a value."""

import json

from . import lexicon, worlds
from .grammar import capital, listing, ordered, typed, with_payload
from .reading import finish


def asked(w, pattern, payload, /, **slots):
    """Orders, and behind || what is said without an order."""
    orders, _, bare = pattern.partition(" || ")
    if bare and w.chance(0.45):
        return with_payload(w, typed(w, bare, **slots), payload)
    return ordered(w, orders, payload, **slots)


def told(row):
    return ", ".join(f"{k} is {'missing' if v is None else json.dumps(v) if isinstance(v, bool) else listing(v) if isinstance(v, list) and v else v}" for k, v in row.items())


# Rows: the thing, columns, how a row is said; {0} the name, {1} and {2} the values
ROWS = [("fruit", ("name", "price"), ("apples|pears|plums|figs|lemons|cherries|grapes|melons|peaches|kiwis", "n:1:20"), "{0} cost {1}|{0} are {1}|{0} - {1}|{0}: {1} euros"), ("player", ("player", "points"), ("_name", "n:1:99"), "{0} - {1} points|{0} has {1} points|{0} got {1}|{0}: {1}"),
        ("city", ("city", "population"), ("_city", "n:2000:900000"), "{0} has {1} people|{0}: {1} inhabitants|{1} people live in {0}"), ("person", ("name", "age", "city"), ("_name", "n:8:90", "_city"), "{0} is {1} and lives in {2}|{0}, {1}, from {2}|{0} ({1}) lives in {2}|{0} from {2} is {1}"),
        ("planned", ("day", "task"), ("_day", "swim|clean|read|cook|run|paint|write|shop"), "on {0} I {1}|{0}: {1}|{0} - {1}"), ("stock", ("item", "count"), ("_plural", "n:2:90"), "{1} {0}|{0}: {1}|there are {1} {0}"), ("train", ("train", "platform", "time"), ("_code", "n:1:20", "_clock"), "{0} leaves from platform {1} at {2}|{0}, platform {1}, {2}"),
        ("pet", ("name", "animal"), ("_name", "dog|cat|rabbit|horse|parrot|hen|goat|snake"), "{0} is a {1}|{0}, a {1}|{0} - {1}"), ("book", ("title", "year"), ("_title", "n:1900:2024"), "{0} came out in {1}|{0} ({1})|{0} is from {1}"), ("task", ("task", "done"), ("dishes|laundry|garden|windows|floor|car|shopping", "_done"), "{0} {1}|the {0}: {1}|{0} - {1}"),
        ("pay", ("name", "hours", "euros"), ("_name", "n:2:60", "n:10:900"), "{0} worked {1} hours for {2} euros|{0}: {1} hours, {2} euros"), ("food", ("dish", "calories"), ("soup|pizza|salad|rice|cake|pasta|toast|stew", "n:80:900"), "{0} has {1} calories|{0}: {1}|{1} calories in {0}")]


def cell(w, kind):
    """(as it is said, the value)"""
    if kind.startswith("n:"):
        n = w.number(*map(int, kind[2:].split(":")))
        return str(n), n
    if kind == "_done":
        v = w.chance(0.5)
        return (w.any("is done", "finished") if v else w.any("still open", "not yet", "has to wait")), v
    v = {"_name": w.first_name, "_city": w.city, "_day": lambda: w.any(*lexicon.DAYS), "_plural": lambda: lexicon.plural(w.noun()), "_code": lambda: f"{w.any('RE', 'IC', 'S', 'T')}{w.number(1, 99)}", "_clock": lambda: f"{w.number(6, 22)}:{w.any('05', '10', '25', '30', '48')}", "_title": lambda: f"{capital(w.adjective())} {capital(w.noun())}"}.get(kind, lambda: w.any(*kind.split("|")))()
    return v, v


def table(w, most=4):
    """(columns, rows, the text)"""
    _, columns, kinds, says = w.any(*ROWS)
    say_ = w.any(*says.split("|"))
    rows, texts, seen = [], [], set()
    for _ in range(w.number(2, most)):
        cells = [cell(w, k) for k in kinds]
        if cells[0][1] in seen:
            continue
        seen.add(cells[0][1])
        rows.append([v for _, v in cells])
        texts.append(say_.format(*[t for t, _ in cells]))
    text = w.any(", ", ", ", "; ", "\n", ". ").join(texts)
    return list(columns), rows, capital(text) if w.chance(0.4) else text


def shown(v):
    return json.dumps(v) if isinstance(v, (bool, type(None))) else str(v)


def written(columns, rows, notation, header=True):
    if notation in ("csv", "semicolons"):
        mark = "," if notation == "csv" else ";"
        return "\n".join(mark.join(map(shown, r)) for r in ([columns] if header else []) + rows)
    if notation == "table":
        return "\n".join([f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *(f"| {' | '.join(map(shown, r))} |" for r in rows)])
    if notation == "json":
        return json.dumps([dict(zip(columns, r)) for r in rows], ensure_ascii=False)
    if notation == "yaml":
        return "\n".join("\n".join(f"{'- ' if i == 0 else '  '}{c}: {shown(v)}" for i, (c, v) in enumerate(zip(columns, r))) for r in rows)
    if notation == "map":
        return json.dumps({str(r[0]): r[1] for r in rows}, ensure_ascii=False)
    return "\n".join(f"{r[0]}: {', '.join(map(shown, r[1:]))}" for r in rows)


NOTATIONS = {"csv": "(CSV|csv|comma-separated values)", "semicolons": "(CSV with semicolons|semicolon-separated lines)", "table": "(a markdown table|a table|a Markdown table)", "json": "(a JSON array of objects|a JSON list of objects|JSON objects in a list)", "yaml": "(YAML|a YAML list)"}


def rows_of(w):
    """Rows that are said, in a notation with named columns."""
    columns, rows, text = table(w)
    if w.chance(0.25):
        columns = [w.any(c, c.upper(), capital(c)) for c in columns]
    notation = w.any("csv", "csv", "semicolons", "table", "table", "json", "json", "yaml", "map" if len(columns) == 2 else "json")
    named = w.any(f"{', '.join(columns)}", f"{','.join(columns)}", listing(columns))
    thought = "; ".join(" ".join(map(shown, r)) for r in rows) + f". {len(rows)} rows."
    answer = written(columns, rows, notation)
    if notation == "map":
        question = asked(w, "(make|write|give me) (one|a) JSON object with (the {a} as key|{a}s as keys) and the {b} as value|(map|turn) (it|this) (to|into) a JSON object from {a} to {b} || (as|in) one JSON object, {a} to {b}[, please]|JSON object {a} => {b}", text, a=columns[0], b=columns[1])
        return finish(question, thought, answer, {"json": json.loads(answer)})
    what = NOTATIONS[notation]
    title = "(the header|the columns|columns|header|the head)" if notation not in ("json", "yaml") else "(the keys|keys|the fields)"
    question = asked(w, f"(put|turn|make|write|convert) (this|it) (into|as|to) {what} with {title} {{n}}|(write|give me) {what} with {title} {{n}}|(make|build) {what} (from|of|out of) (this|it), {title} {{n}} || (as|in) {what} with {title} {{n}}[, please]|{what}, {title} {{n}}|{what} [please], columns: {{n}}", text, n=named)
    return finish(question, thought, answer, {"json": json.loads(answer)} if notation == "json" else {"equals": answer})


# key: how true and false are said
FLAGS = {"urgent": ("it's urgent|as fast as you can|we need it today|this can't wait", "no hurry|it can wait|take your time|not urgent"), "paid": ("already paid|the money has been sent|paid in full", "not paid yet|payment is open|I still owe the money"), "gift": ("it's a gift|please wrap it, it's a present|for a birthday", "it's for myself|no gift|no wrapping needed"), "delivery": ("please deliver it|bring it to my house|send it home", "I'll pick it up|no delivery|I'll come and get it"), "vegetarian": ("no meat please|I don't eat meat|I'm vegetarian", "with meat|I love meat|meat is fine"), "member": ("I'm a member|I have a club card|member for years", "I'm not a member|no club card|not in the club"), "window_seat": ("at the window please|I want to look out|a window seat", "on the aisle please|not at the window"), "returning": ("I've been here before|I know you already|not my first time", "it's my first time|I'm new here|never been here before")}
COUNTS = {"guests": "{n} guests|a table for {n}|we are {n}|{n} of us are coming", "passengers": "{n} passengers|{n} people are flying|{n} of us travel", "quantity": "{n} {things}|{n} of the {things}|I need {n} {things}", "nights": "{n} nights|for {n} nights|we stay {n} nights", "tickets": "{n} tickets|{n} seats please|I'd like {n} tickets"}


def typed_record(w):
    """An object by a type, a schema, keys or an example, with truth values and numbers said in words."""
    flag, count = w.any(*FLAGS), w.any(*COUNTS)
    thing = w.noun()
    n = w.number(2, 15)
    said_n = lexicon.in_words(n) if w.chance(0.5) else str(n)
    yes = w.chance(0.5)
    words = w.any(*FLAGS[flag][0 if yes else 1].split("|"))
    row, parts, types = {}, [], {}
    if count == "quantity":
        row["product"], types["product"] = lexicon.plural(thing), "string"
    row[count], types[count] = n, "integer"
    parts.append(w.any(*COUNTS[count].split("|")).format(n=said_n, things=lexicon.plural(thing)))
    if w.chance(0.5):
        a, b = w.city(), w.city()
        row.update({"from": a, "to": b} if count in ("passengers", "tickets") else {"city": b})
        types.update({"from": "string", "to": "string"} if count in ("passengers", "tickets") else {"city": "string"})
        parts.append(f"from {a} to {b}" if count in ("passengers", "tickets") else f"in {b}")
    if w.chance(0.85):
        row[flag], types[flag] = yes, "boolean"
        parts.append(words)
    if w.chance(0.3):
        row["name"], types["name"] = w.first_name(), "string"
        parts.append(w.any(f"my name is {row['name']}", f"for {row['name']}", f"{row['name']} here"))
    if w.chance(0.2):
        key = w.any("phone", "email", "comment", "date")
        row[key], types[key] = None, "string or null"
    keys = list(row)
    if w.chance(0.3):
        w.rng.shuffle(keys)
    row = {k: row[k] for k in keys}
    text = capital(", ".join(parts)) + w.any(".", "")
    r = w.rng.random()
    shape = json.dumps({k: types[k] for k in keys}) if r < 0.3 else "{" + ", ".join(f'"{k}": {types[k]}' for k in keys) + "}" if r < 0.5 else json.dumps({"type": "object", "properties": {k: {"type": types[k].split(" or ")} if " or " in types[k] else {"type": types[k]} for k in keys}, "required": keys}) if r < 0.7 else None
    thought = ", ".join(f"{k}: {words}, so {json.dumps(v)}" if k == flag else f"{k}: {'nothing said, so null' if v is None else v}" for k, v in row.items()) + "."
    answer = json.dumps(row, ensure_ascii=False)
    if shape:
        question = asked(w, "(give me|write|return) JSON (like|of the form|by the schema) {s}|fill (in|) {s} || JSON like {s}|output only JSON. Schema: {s}|reply with {s} only".replace("(in|) ", ""), text, s=shape)
    else:
        missing = "[, null (if|where) (missing|nothing is said)]" if None in row.values() else ""
        question = asked(w, f"(make|write|give me) JSON (with (the keys|keys|fields) {{k}}|of this with {{k}}){missing}|extract {{k}} as JSON{missing} || JSON (please |)with (fields|keys) {{k}}{missing}|as JSON: {{k}}{missing}|{{k}} - as JSON{missing}", text, k=w.any(", ".join(keys), listing(keys)))
    return finish(question, thought, answer, {"json": row})


def introduced(w):
    """Name in parts and ways to reach somebody; what is not said is null or left out."""
    first, last = w.first_name(), capital(w.fresh())
    mail, phone, city = f"{first.lower()}@{w.fresh()}.example", worlds.draw(w, "phone")[0], w.city()
    have = w.rng.sample(["email", "phone", "city"], w.number(1, 3))
    parts = {"email": w.any(f"write to {mail}", f"my mail is {mail}", f"{mail}", f"reach me at {mail}"), "phone": w.any(f"call {phone}", f"my number is {phone}", f"tel. {phone}", f"ring me on {phone}"), "city": w.any(f"I live in {city}", f"I'm from {city}", f"living in {city}")}
    whole = w.chance(0.5)
    name = {"name": f"{first} {last}"} if whole else {"first_name": first, "last_name": last}
    if w.chance(0.2):
        name, said = {"name": first}, w.any(f"It's {first}", f"Hi, {first} here", f"I'm {first}")
    else:
        said = w.any(f"Hi, I'm {first} {last}", f"My name is {first} {last}", f"{first} {last} here", f"This is {first} {last}")
    text = said + w.any(", ", ". ", " and ") + w.any(", ", ". ").join(parts[k] for k in have)
    asked_for = have + [k for k in ("email", "phone", "city") if k not in have and w.chance(0.5)]
    w.rng.shuffle(asked_for)
    values = {"email": mail, "phone": phone, "city": city}
    row = {**name, **{k: values[k] if k in have else None for k in asked_for}}
    keys = list(row)
    schema = json.dumps({"type": "object", "properties": {k: {"type": ["string", "null"] if row[k] is None else "string"} for k in keys}, "required": keys})
    null = "[,] null if (missing|not given|not there)" if None in row.values() else ""
    if w.chance(0.35):
        question = asked(w, "(return|write|give me) JSON (by|for|after) this schema: {s}|fill this schema: {s} || Schema: {s}|only JSON. {s}|output only JSON. Schema: {s}", text, s=schema)
    else:
        question = asked(w, f"(extract|get|pull out) {{k}} (as|in) JSON{null}|make JSON with [the] keys {{k}}{null} || as JSON with keys {{k}}{null}|JSON, keys {{k}}{null}|{{k}} as JSON{null}[, please]", text, k=w.any(", ".join(keys), listing(keys)))
    return finish(question, told(row) + ".", json.dumps(row, ensure_ascii=False), {"json": row})


def counted(w):
    """Numbers of things into a list of objects, with "a" for one."""
    key, (name, number) = w.any("items", "things", "order", "list", "goods", "content"), w.any(("name", "count"), ("item", "quantity"), ("product", "amount"), ("what", "n"), ("name", "number"))
    rows, texts = [], []
    for x in dict.fromkeys(w.any(*lexicon.KINDS[w.any("fruit", "tool", "kitchen item", "animal", "piece of furniture")]) if w.chance(0.6) else w.noun() for _ in range(w.number(2, 4))):
        k = w.any(1, w.number(2, 12), w.number(2, 12))
        rows.append({name: x, number: k})
        texts.append(lexicon.article(x) if k == 1 else f"{lexicon.in_words(k) if w.chance(0.3) else k} {lexicon.plural(x)}")
    text = w.any("", "", "We need ", "In the box: ", "I want ", "Please send ") + listing(texts)
    out = {key: rows} if w.chance(0.65) else rows
    mark = w.any("...", "?", "", "string|number")
    holes = (f'"{mark}"', "0") if mark == "" else ("...", "...") if mark == "..." else ('"?"', '"?"') if mark == "?" else ("string", "number")
    shape = f'[{{"{name}": {holes[0]}, "{number}": {holes[1]}}}]'
    shape = f'{{"{key}": {shape}}}' if isinstance(out, dict) else shape
    question = asked(w, "fill {s} (with|for) this|(give me|write) JSON (like|of the form) {s}|use the form {s} || {s} - fill it [for me]|{s}, please fill [in]|as {s}|JSON like {s}", text, s=shape)
    return finish(question, "; ".join(f"{r[name]} {r[number]}" for r in rows) + ".", json.dumps(out, ensure_ascii=False), {"json": out})


SENTENCES = [(("name", "job", "city"), "{name} is {a} and lives in {city}."), (("title", "author", "year"), "{title} was written by {author} in {year}."), (("product", "price", "stock"), "The {product} costs {price} euros, and there are {stock} in stock."), (("from", "to", "time"), "The train from {from} to {to} leaves at {time}."), (("event", "day", "place"), "The {event} is on {day} in {place}."), (("name", "age", "pet"), "{name} is {age} years old and has a {pet}."), (("team", "points", "rank"), "{team} has {points} points and is number {rank}."), (("room", "floor", "seats"), "{room} is on floor {floor} and has {seats} seats.")]


def record(w, keys):
    job = w.any(*lexicon.KINDS["job"])
    make = {"name": w.first_name, "job": lambda: job, "city": w.city, "title": lambda: f"The {capital(w.noun())}", "author": lambda: f"{w.any(*'ABCDEFGHKLMRST')}. {capital(w.fresh())}" if w.chance(0.3) else w.person(), "year": lambda: w.number(1900, 2024), "product": w.noun, "price": lambda: w.number(2, 900), "stock": lambda: w.number(2, 90), "from": w.city, "to": w.city, "time": lambda: f"{w.number(6, 22)}:{w.any('05', '15', '30', '40')}", "event": lambda: w.any("concert", "meeting", "exam", "party", "workshop", "match"), "day": lambda: w.any(*lexicon.DAYS), "place": w.city, "age": lambda: w.number(5, 90), "pet": lambda: w.any("dog", "cat", "rabbit", "horse", "parrot"), "team": lambda: capital(w.noun()), "points": lambda: w.number(2, 90), "rank": lambda: w.number(1, 20), "room": lambda: f"Room {w.number(1, 90)}", "floor": lambda: w.number(1, 9), "seats": lambda: w.number(2, 90)}
    return {k: make[k]() for k in keys}, lexicon.article(job)


def notation_of(row, notation):
    if notation == "json":
        return json.dumps(row, ensure_ascii=False)
    if notation == "xml":
        return "".join(f"<{k}>{v}</{k}>" for k, v in row.items())
    return "\n".join(f"{k}: {v}" for k, v in row.items())


def turned(w):
    """One record from a sentence, keys or a notation to another notation or to a sentence."""
    keys, sentence = w.any(*SENTENCES)
    row, a = record(w, keys)
    said = sentence.format(**row, a=a)
    source, target = w.any(("json", "sentence"), ("yaml", "sentence"), ("sentence", "yaml"), ("keys", "json"), ("keys", "xml"), ("sentence", "xml"), ("json", "yaml"), ("yaml", "json"), ("json", "xml"), ("xml", "json"), ("sentence", "json"))
    if source == "keys":
        quote = w.any("'", '"', "")
        text = w.any(", ", "; ", " / ").join(w.any("{k}: {v}", "{k} {v}", "{k} = {v}").format(k=k, v=f"{quote}{v}{quote}" if isinstance(v, str) and i == 0 else v) for i, (k, v) in enumerate(row.items()))
    else:
        text = said if source == "sentence" else notation_of(row, source)
    thought = ", ".join(f"{k} is {v}" for k, v in row.items()) + "."
    named = ", ".join(keys)
    with_keys = w.any(" with {k}", " with the keys {k}", ", keys {k}") if source == "sentence" else ""
    what = {"json": "(JSON|a JSON object|json)", "xml": "(XML|xml tags|xml)", "yaml": "(YAML|yaml|key: value lines)", "sentence": "(a sentence|one sentence|a full sentence|plain English)"}[target]
    question = asked(w, f"(turn|convert|change|put) (this|it) into {what}{with_keys}|(make|write) {what} (of|from|out of) (this|it){with_keys} || (as|in) {what}{with_keys}[, please]|{what} (please|pls){with_keys}|(this|that) as {what}{with_keys}", text, k=named)
    answer = said if target == "sentence" else notation_of(row, target)
    return finish(question, thought, answer, {"json": row} if target == "json" else {"equals": answer})


def between(w):
    """Rows from one notation to another."""
    columns, rows, _ = table(w)
    a, b = w.any(("csv", "json"), ("csv", "json"), ("json", "csv"), ("csv", "table"), ("table", "csv"), ("table", "json"), ("json", "table"), ("yaml", "json"), ("lines", "json") if len(columns) == 2 else ("csv", "json"))
    if a == "lines":
        text, answer = written(columns, rows, "lines"), written(columns, rows, "map")
        question = asked(w, "(turn|convert|make|put) (this|these lines|it) (into|to) (a JSON object|JSON|one JSON object) || (as|in) JSON[, please]|json (please|pls)|one JSON object[, please]", text)
        return finish(question, "; ".join(" ".join(map(shown, r)) for r in rows) + ".", answer, {"json": json.loads(answer)})
    text, answer = written(columns, rows, a), written(columns, rows, b)
    what = {"json": "(JSON|a JSON array|json)", "csv": "(CSV|csv)", "table": "(a markdown table|a table)"}[b]
    question = asked(w, f"(turn|convert|change|put) (this|it) (into|to) {what}|(make|write) {what} (of|from) (this|it) || (as|in) {what}[, please]|{what} (please|pls)|(this|that) as {what}", text)
    return finish(question, "; ".join(" ".join(map(shown, r)) for r in rows) + f". {len(rows)} rows.", answer, {"json": json.loads(answer)} if b == "json" else {"equals": answer})


def looked_up(w):
    """A value in JSON, by its key, its place or its path."""
    inner = {w.fresh(): w.any(w.number(1, 99), w.noun(), w.chance(0.5)) for _ in range(w.number(1, 3))}
    items = list(dict.fromkeys(w.noun() for _ in range(w.number(2, 4))))
    keys = list(dict.fromkeys(w.any(w.noun(), w.fresh(), *"abcxy") for _ in range(4)))
    if len(keys) < 4:
        return looked_up(w)
    data = {keys[0]: w.any(w.number(1, 999), w.city()), keys[1]: inner, keys[2]: items, keys[3]: w.any(None, w.chance(0.5), w.first_name())}
    entries = list(data.items())
    w.rng.shuffle(entries)
    data = dict(entries)
    text = json.dumps(data, ensure_ascii=False, indent=2 if w.chance(0.25) else None)
    kind = w.number(0, 5)
    k, v = list(inner.items())[w.rng.randrange(len(inner))]
    i = w.rng.randrange(len(items))
    question, value, thought = [("(what is|what's|give me) [the value of] {k}|(read|tell me) the value of {k}|{k}", keys[0], None), ("(what is|what's|give me) [the value of] {k}|the value of {k}", keys[1], None), ("(what is|what's) {k}.{j}|(what is|what's) {j} (in|of|under) {k}|the value of {j} in {k}", v, f"{k} stands in {keys[1]}: {shown(v)}."),
                                ("(what is|what's) the {o} [entry|item|element] (of|in) {k}|the {o} one in {k}", items[i], f"{keys[2]}: {', '.join(f'{n + 1} {x}' for n, x in enumerate(items))}."), ("how many (entries|items|elements) (has|are in) {k}|count (the items|the entries) (of|in) {k}", len(items), "; ".join(f"{n + 1} {x}" for n, x in enumerate(items)) + "."), ("(what|which) keys (are there|does it have) [at the top]|list the [top] keys", ", ".join(data), f"{len(data)} keys.")][kind]
    slots = {"k": keys[0] if kind == 0 else keys[1] if kind in (1, 2) else keys[2], "j": k, "o": ("first", "second", "third", "fourth")[i]}
    if kind in (0, 1):
        value = data[slots["k"]]
        thought = f"{slots['k']} is {json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else shown(value)}."
    answer = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else shown(value)
    asked_ = typed(w, f"({question})[?]", **slots)
    return finish(with_payload(w, asked_, text) if w.chance(0.6) else f"{asked_.rstrip('?')} in {text}?", thought, answer)


def properties(w):
    """Several values of one thing, a line for each."""
    facts = {"size": [(f"{n} square metres", w.any(f"is {n} square metres", f"has {n} square metres")) for n in [w.number(12, 200)]], "windows": [(str(n), w.any(f"has {lexicon.in_words(n)} windows", f"has {n} windows")) for n in [w.number(2, 9)]], "price": [(f"{n} euros", w.any(f"costs {n} euros", f"is to be had for {n} euros")) for n in [w.number(20, 900)]], "colour": [(c, f"is painted {c}") for c in [w.any(*lexicon.KINDS["color"])]], "floor": [(str(n), f"is on floor {n}") for n in [w.number(1, 9)]], "owner": [(p, f"belongs to {p}") for p in [w.first_name()]], "built": [(str(n), f"was built in {n}") for n in [w.number(1800, 2023)]], "city": [(c, f"stands in {c}") for c in [w.city()]]}
    keys = w.rng.sample(list(facts), w.number(2, 4))
    said = [facts[k][0][1] for k in keys]
    text = f"{w.any('The room', 'The house', 'The flat', 'The hall', 'The shop')} {listing(said)}" + w.any(".", "")
    values = {k: facts[k][0][0] for k in keys}
    named = w.chance(0.6)
    tail = f" ({', '.join(keys)})" if named else ""
    question = asked(w, "(list|write|give me) (this|these|the facts) as key: value lines{t}|(make|write) one line per (fact|value), key: value{t} || (as|in) key: value lines{t}[, please]|key: value, one (a|per) line{t}", text, t=tail)
    return finish(question, told(values) + ".", "\n".join(f"{k}: {v}" for k, v in values.items()))


TASKS = {rows_of: 24, typed_record: 18, introduced: 12, counted: 10, turned: 16, between: 12, looked_up: 8, properties: 6}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
