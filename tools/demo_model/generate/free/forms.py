"""Structured output: objects with lists, objects, choices and truth values in them, by a schema, an example, a type, a
description or nothing but the word JSON; read from a text or from the request itself."""

import json

from . import lexicon, ordering, shapes, worlds
from .extraction import INGREDIENTS
from .grammar import capital, form, listing, order, typed, with_payload
from .reading import finish


class Choice(str):
    """A value of a fixed set, which its schema names."""

    def __new__(cls, value, choices):
        out = super().__new__(cls, value)
        out.choices = choices
        return out


def choice(w, *choices):
    return Choice(w.any(*choices), list(choices))


def date(w):
    return f"{w.number(2023, 2029)}-{w.number(1, 12):02d}-{w.number(1, 28):02d}"


def clock(w):
    return f"{w.number(6, 22):02d}:{w.any('00', '15', '30', '45')}"


def some(w, make, low=1, high=4):
    out = []
    for _ in range(w.number(low, high) * 3):
        x = make()
        if x not in out:
            out.append(x)
        if len(out) >= high:
            break
    return out[:w.number(low, min(high, len(out)))]


def a_order(w):
    items = [{"product": p, "quantity": w.number(1, 30)} for p in some(w, w.noun, 1, 3)]
    paid, city = w.chance(0.5), w.city()
    rec = {"customer": {"name": w.person(), "city": city}, "items": items, "paid": paid, "total": w.number(5, 900)}
    goods = listing([f"{i['quantity']} {lexicon.plural(i['product']) if i['quantity'] > 1 else i['product']}" for i in items])
    return rec, f"{{customer}} from {city} (ordered|bought|wants) {goods}, {rec['total']} (euros|dollars) (in all|in total), {'(already paid|paid in advance|paid)' if paid else '(not paid yet|still unpaid|payment is open)'}. ; Order from {{customer}} ⟮{city}⟯: {goods}. Total {rec['total']}. {'It is paid.' if paid else 'Not paid yet.'}".replace("{customer}", rec["customer"]["name"])


def a_meeting(w):
    who, topics = some(w, w.first_name, 2, 4), some(w, w.noun, 1, 3)
    rec = {"title": f"{capital(w.noun())} {w.any('meeting', 'review', 'call', 'workshop')}", "date": date(w), "start": clock(w), "participants": who, "topics": [f"the {t}" for t in topics], "online": w.chance(0.5)}
    on = "online" if rec["online"] else f"in room {w.number(1, 40)}"
    return rec, f"{rec['title']} on {rec['date']} at {rec['start']}, {on}. (Participants|With|Invited): {listing(who)}. (Topics|We talk about|Agenda): {listing(rec['topics'])}. ; On {rec['date']} at {rec['start']} {listing(who)} meet {on} for the {rec['title']}. They (will discuss|talk about) {listing(rec['topics'])}."


def a_person(w):
    kids = some(w, w.first_name, 1, 3)
    rec = {"name": w.person(), "age": w.number(18, 90), "address": {"street": worlds.draw(w, "street")[0], "city": w.city()}, "languages": some(w, lambda: w.any(*lexicon.KINDS["language"]), 1, 3), "married": w.chance(0.5), "children": kids}
    m = "married" if rec["married"] else "not married"
    return rec, f"{rec['name']}, {rec['age']}, lives at {rec['address']['street']} in {rec['address']['city']}, speaks {listing(rec['languages'])} and is {m}. (The children are|Children:) {listing(kids)}. ; {rec['name']} is {rec['age']} years old and {m}. Address: {rec['address']['street']}, {rec['address']['city']}. Languages: {listing(rec['languages'])}. (Has the children|Kids:) {listing(kids)}."


def a_recipe(w):
    ing = [{"name": n, "grams": w.number(1, 60) * 10} for n in w.rng.sample(INGREDIENTS, w.number(2, 4))]
    rec = {"dish": w.any(*lexicon.KINDS["dish"]), "minutes": w.number(5, 120), "servings": w.number(1, 8), "ingredients": ing, "difficulty": choice(w, "easy", "medium", "hard")}
    l = listing([f"{i['grams']} grams of {i['name']}" for i in ing])
    return rec, f"For {rec['dish']} you need {l}. It is {rec['difficulty']}, takes {rec['minutes']} minutes and serves {rec['servings']}. ; {capital(rec['dish'])} ⟮{rec['difficulty']}, {rec['minutes']} minutes, for {rec['servings']}⟯: {l}."


def a_bug(w):
    steps = [f"open the {w.noun()}", f"click {w.noun()}", f"enter {w.number(2, 999)}", f"close the {w.noun()}"][:w.number(1, 4)]
    rec = {"title": f"{capital(w.noun())} {w.any('crashes', 'freezes', 'is empty', 'does not load', 'shows an error')}", "severity": choice(w, "low", "medium", "high", "critical"), "version": f"{w.number(1, 9)}.{w.number(0, 20)}", "steps": steps, "reproducible": w.chance(0.5), "reporter": w.first_name()}
    again = "It happens every time" if rec["reproducible"] else "It cannot be reproduced"
    return rec, f"{rec['reporter']} reports: {rec['title']} in version {rec['version']}. Steps: {', then '.join(steps)}. {again}. Severity: {rec['severity']}. ; {rec['title']} ⟮version {rec['version']}, severity {rec['severity']}, from {rec['reporter']}⟯. To see it: {', '.join(steps)}. {again}."


def a_booking(w):
    rec = {"hotel": f"{capital(w.any(w.noun, w.fresh)())} {w.any('Inn', 'Hotel', 'Lodge')}", "guest": w.person(), "arrival": date(w), "nights": w.number(1, 14), "room": choice(w, "single", "double", "suite"), "breakfast": w.chance(0.5), "extras": some(w, lambda: w.any("parking", "a cot", "a late checkout", "a dog bed", "a sea view", "a quiet room"), 1, 2)}
    b = "with breakfast" if rec["breakfast"] else "without breakfast"
    return rec, f"{rec['guest']} (books|would like) a {rec['room']} room at the {rec['hotel']} from {rec['arrival']} for {rec['nights']} nights, {b}. (Wishes|Extras): {listing(rec['extras'])}. ; {rec['hotel']}, {rec['arrival']}, {rec['nights']} nights, {rec['room']} room {b} for {rec['guest']}. Also: {listing(rec['extras'])}."


def a_product(w):
    rec = {"name": f"{capital(w.noun())} {w.any(str(w.number(2, 900)), capital(w.fresh()))}", "price": round(w.number(1, 300) + w.any(0.5, 0.99, 0.25), 2), "in_stock": w.chance(0.5), "colors": some(w, lambda: w.any(*lexicon.KINDS["color"]), 1, 3), "size": {"width": w.number(2, 200), "height": w.number(2, 200)}, "rating": w.number(1, 5)}
    there = "in stock" if rec["in_stock"] else "sold out"
    return rec, f"The {rec['name']} costs {rec['price']} euros and is {there}. (Colors|It comes in): {listing(rec['colors'])}. It is {rec['size']['width']} cm wide and {rec['size']['height']} cm high. (Rating|Stars): {rec['rating']}. ; {rec['name']}: {rec['price']} euros, {there}, {rec['size']['width']} cm wide, {rec['size']['height']} cm high, in {listing(rec['colors'])}, {rec['rating']} stars."


def a_trip(w):
    stops = [{"city": w.city(), "days": w.number(1, 9)} for _ in range(w.number(1, 3))]
    rec = {"traveller": w.first_name(), "transport": choice(w, "train", "car", "plane", "bus", "bike"), "stops": stops, "budget": w.number(100, 5000), "alone": w.chance(0.5)}
    s = listing([f"{x['days']} {'days' if x['days'] > 1 else 'day'} in {x['city']}" for x in stops])
    return rec, f"{rec['traveller']} travels {'alone' if rec['alone'] else 'with friends'} by {rec['transport']}: {s}. The budget is {rec['budget']} euros. ; By {rec['transport']} and {'alone' if rec['alone'] else 'in a group'}, with {rec['budget']} euros, {rec['traveller']} plans {s}."


def a_task(w):
    rec = {"task": f"{w.any('paint', 'clean', 'repair', 'order', 'move', 'sell', 'measure')} the {w.noun()}", "assignee": w.first_name(), "due": date(w), "priority": choice(w, "low", "normal", "high"), "done": w.chance(0.4), "tags": some(w, w.noun, 1, 3)}
    return rec, f"{rec['assignee']} (must|has to|should) {rec['task']} by {rec['due']}, priority {rec['priority']}, {'done already' if rec['done'] else 'not done yet'}. Tags: {listing(rec['tags'])}. ; Task for {rec['assignee']}: {rec['task']}, due {rec['due']}. {'It is done' if rec['done'] else 'Still open'}. Priority {rec['priority']}, tags {listing(rec['tags'])}."


def a_song(w):
    rec = {"title": f"{capital(w.adjective())} {capital(w.noun())}", "artist": w.person(), "album": {"name": capital(w.noun()), "year": w.number(1960, 2024)}, "length": f"{w.number(2, 6)}:{w.number(0, 59):02d}", "genres": some(w, lambda: w.any("rock", "jazz", "pop", "folk", "blues", "soul", "techno", "punk", "classical"), 1, 2), "live": w.chance(0.4)}
    return rec, f"{rec['title']} by {rec['artist']} ⟮{rec['length']}, {' and '.join(rec['genres'])}⟯ is on the album {rec['album']['name']} from {rec['album']['year']}, a {'live' if rec['live'] else 'studio'} recording. ; {rec['artist']} recorded {rec['title']} {'live' if rec['live'] else 'in the studio'} for {rec['album']['name']} ⟮{rec['album']['year']}⟯. Length {rec['length']}, genre {' and '.join(rec['genres'])}."


def a_flight(w):
    rec = {"flight": f"{w.any('A', 'B', 'K', 'L', 'Q')}{w.any('A', 'F', 'L', 'X')}{w.number(10, 9999)}", "from": w.city(), "to": w.city(), "departure": clock(w), "status": choice(w, "on time", "delayed", "cancelled"), "passengers": [{"name": w.person(), "seat": f"{w.number(1, 40)}{w.any(*'ABCDEF')}"} for _ in range(w.number(1, 3))]}
    p = listing([f"{x['name']} ⟮{x['seat']}⟯" for x in rec["passengers"]])
    return rec, f"Flight {rec['flight']} from {rec['from']} to {rec['to']}, {rec['departure']}, {rec['status']}. (Passengers|On board): {p}. ; {p} fly with {rec['flight']} from {rec['from']} to {rec['to']} at {rec['departure']}; the flight is {rec['status']}."


def a_sensor(w):
    rec = {"sensor": f"{w.fresh()}-{w.number(1, 99)}", "values": [w.number(1, 99) for _ in range(w.number(2, 5))], "unit": choice(w, "celsius", "percent", "volt", "bar"), "alarm": w.chance(0.5), "location": {"building": w.any(*"ABCDEF"), "floor": w.number(1, 12)}}
    return rec, f"Sensor {rec['sensor']} ⟮building {rec['location']['building']}, floor {rec['location']['floor']}⟯ measured {listing(list(map(str, rec['values'])))} {rec['unit']}; {'there was an alarm' if rec['alarm'] else 'no alarm'}. ; In building {rec['location']['building']}, floor {rec['location']['floor']}, {rec['sensor']} reports {', '.join(map(str, rec['values']))} {rec['unit']}, alarm {'on' if rec['alarm'] else 'off'}."


MADE = (a_order, a_meeting, a_person, a_recipe, a_bug, a_booking, a_product, a_trip, a_task, a_song, a_flight, a_sensor)


def schema_of(value, strict):
    """The JSON schema of a value."""
    if isinstance(value, Choice):
        return {"type": "string", "enum": value.choices}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, (int, float)):
        return {"type": "integer" if isinstance(value, int) else "number"}
    if isinstance(value, list):
        return {"type": "array", "items": schema_of(value[0], strict)}
    if isinstance(value, dict):
        out = {"type": "object", "properties": {k: schema_of(v, strict) for k, v in value.items()}}
        if strict:
            out["required"] = list(value)
        return out
    return {"type": "string"}


def example_of(value):
    """A template: the shape with the types, or empty values, in it."""
    if isinstance(value, Choice):
        return "|".join(value.choices)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, list):
        return [example_of(value[0])]
    return {k: example_of(v) for k, v in value.items()} if isinstance(value, dict) else "string"


def typescript(value):
    if isinstance(value, Choice):
        return " | ".join(json.dumps(c) for c in value.choices)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, list):
        inner = typescript(value[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    return "{ " + "; ".join(f"{k}: {typescript(v)}" for k, v in value.items()) + " }" if isinstance(value, dict) else "string"


def described(w, value):
    """The keys in words."""
    out = []
    for k, v in value.items():
        if isinstance(v, Choice):
            out.append(f"{k} ({w.any('one of ', '')}{', '.join(v.choices[:-1])} or {v.choices[-1]})")
        elif isinstance(v, bool):
            out.append(f"{k} ({w.any('true or false', 'boolean', 'a boolean')})")
        elif isinstance(v, (int, float)):
            out.append(f"{k}{w.any(' (number)', ' (a number)', '', '')}")
        elif isinstance(v, list) and isinstance(v[0], dict):
            out.append(f"{k} ({w.any('a list of objects with', 'list of')} {listing(list(v[0]))})")
        elif isinstance(v, list):
            out.append(f"{k} ({w.any('a list', 'list', 'array', 'list of strings' if isinstance(v[0], str) else 'list of numbers')})")
        elif isinstance(v, dict):
            out.append(f"{k} ({w.any('an object with', 'object:', 'with')} {listing(list(v))})")
        else:
            out.append(f"{k}{w.any('', '', ' (string)', ' (text)')}")
    return w.any(listing(out), listing(out), ", ".join(out), "; ".join(out))


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else str(value) if isinstance(value, str) else value


def from_text(w):
    rec, patterns = w.any(*MADE)(w)
    told = rec
    text = capital(form(w, w.any(*patterns.split(" ; ")))).replace("⟮", "(").replace("⟯", ")")  # signs that are not the pattern's
    keys = list(rec)
    if w.chance(0.55):
        keys = w.rng.sample(keys, w.number(1 if len(keys) < 4 else 2, len(keys)))
        if w.chance(0.5):
            keys.sort(key=list(rec).index)
    rec = {k: told[k] for k in keys}
    absent = None
    if w.chance(0.12):
        absent = w.any("email", "phone", "country", "comment", "website", "weight", "coupon", "language", "deadline")
        if absent not in told:
            rec[absent] = None
        else:
            absent = None
    shape = {k: ("" if v is None else v) for k, v in rec.items()}
    r = w.rng.random()
    strict = w.chance(0.6)
    null = w.any(", null where nothing is said", " (null if it is missing)", ". Use null for what is not there") if absent else ""
    if r < 0.24:
        s = json.dumps(schema_of(shape, strict), indent=2 if w.chance(0.12) else None)
        question = typed(w, "(return|answer with|output|give me) [only] JSON that (follows|matches|fits|is valid for) this [JSON] schema: {s}|JSON schema: {s}. (Fill it from the text|Extract the data|Return the object)|(fill|use) the (following|) schema {s}|Extract according to {s}", s=s)
    elif r < 0.4:
        s = json.dumps(example_of(shape))
        question = typed(w, "(use|follow|fill) this (format|template|shape|structure): {s}|(return|answer with|reply with) JSON (like|of the form|in the form) {s}|output format: {s}|JSON in this shape please: {s}", s=s)
    elif r < 0.5:
        question = typed(w, "(return|answer with|give me) JSON of [this|the] type {s}|type Result = {s}. (Return a Result|Fill it|Give me the JSON)[.]|the answer must have the type {s} (as JSON)", s=typescript(shape))
    elif r < 0.8:
        question = order(w, "(return|give me|make|build|write|create) [a] JSON [object] with {s}|(extract|read out|pull out) {s} as JSON|(turn|convert|put) (this|the text) into JSON with {s}|(answer|reply) in JSON with the (keys|fields) {s}", s=described(w, shape))
    elif r < 0.9:
        question = order(w, "(extract|return|give me) {s} (as|in) JSON|JSON[, please]: {s}|JSON with the keys {s}", s=", ".join(keys + ([absent] if absent else [])))
    else:
        rec, null = told, ""
        question = order(w, "(turn|convert|put|change) (this|the text|it) (into|to) JSON|(return|extract) (everything|all of it|the data) as JSON|structure this as JSON")
        question += w.any("", f" with {described(w, rec)}", f", keys {', '.join(rec)}")
    clean = plain(rec)
    steps = "; ".join(f"{k}: {'missing' if v is None else json.dumps(v, ensure_ascii=False) if not isinstance(v, str) else v}" for k, v in clean.items()) + "."
    return finish(with_payload(w, question + null, text, inline=len(question) < 160), steps if len(steps) < 160 else f"The keys are {listing(list(clean))}.", json.dumps(clean, ensure_ascii=False), {"json": clean})


def stated(w):
    """The request itself says what stands in the object."""
    made, _ = w.any(*MADE)(w)
    keys = w.rng.sample(list(made), w.number(1, min(4, len(made))))
    rec = plain({k: made[k] for k in keys})

    def spoken(v):
        if isinstance(v, bool):
            return w.any("true", "yes", "true") if v else w.any("false", "no", "false")
        if isinstance(v, dict):
            return "an object with " + listing([f"{k} {spoken(x)}" for k, x in v.items()])
        if isinstance(v, list):
            return w.any("the list ", "a list of ", "") + (listing([spoken(x) for x in v]) if not isinstance(v[0], dict) else "; ".join(", ".join(f"{k} {y}" for k, y in x.items()) for x in v))
        return str(v)

    said = listing([w.any("{k} {v}", "{k} is {v}", "{k}: {v}", "{k} = {v}", "{v} as {k}").format(k=k, v=spoken(v)) for k, v in rec.items()])
    question = order(w, "(make|write|give me|create|build|return) a JSON object with {s}|(write|put) (this|the following) as JSON: {s}|JSON, please: {s}|(how do I write|show me) {s} (as|in) JSON|an object in JSON where {s}", s=said)
    return finish(question, f"The keys are {listing(list(rec))}.", json.dumps(rec, ensure_ascii=False), {"json": rec})


def changed(w):
    """An object is changed, read, or brought into another form."""
    made, _ = w.any(*MADE)(w)
    rec = plain(made)
    keys = w.rng.sample(list(rec), w.number(2, min(5, len(rec))))
    rec = {k: rec[k] for k in keys}
    text = json.dumps(rec, ensure_ascii=False, indent=2 if w.chance(0.25) else None)
    k = w.any(*keys)
    r = w.number(0, 7)
    if r == 0:
        v = rec[k]
        answer = json.dumps(v, ensure_ascii=False) if isinstance(v, (list, dict)) else str(v).lower() if isinstance(v, bool) else str(v)
        return finish(with_payload(w, typed(w, "(what is|what's|give me|read) the [value of] {k}[ in this][?]|{k}[?]|which {k} (is given|does it have)[?]", k=k), text, False), f"{k} is {answer}.", answer)
    if r == 1:
        new = w.any(w.noun(), w.number(1, 99), w.chance(0.5))
        rec2 = {**rec, k: new}
        return finish(with_payload(w, order(w, "(set|change|update) {k} to {v}|(replace|overwrite) the value of {k} (by|with) {v}", k=k, v=json.dumps(new) if not isinstance(new, str) else new), text, False), f"Only {k} changes.", json.dumps(rec2, ensure_ascii=False), {"json": rec2})
    if r == 2:
        new_key, new = w.noun(), w.any(w.noun(), w.number(1, 99), True)
        if new_key in rec:
            return changed(w)
        rec2 = {**rec, new_key: new}
        return finish(with_payload(w, order(w, "add (the key |a field |){k} with [the value] {v}|(append|put in) {k}: {v}", k=new_key, v=json.dumps(new) if not isinstance(new, str) else new), text, False), f"{new_key} is new.", json.dumps(rec2, ensure_ascii=False), {"json": rec2})
    if r == 3:
        rec2 = {a: b for a, b in rec.items() if a != k}
        return finish(with_payload(w, order(w, "(remove|delete|drop|take out) [the (key|field)] {k}|(return|give) it without {k}", k=k), text, False), f"Without {k}.", json.dumps(rec2, ensure_ascii=False), {"json": rec2})
    if r == 4:
        names = list(rec)
        form_, answer = w.any(("", ", ".join(names)), (" as a JSON list", json.dumps(names)), (" one per line", "\n".join(names)))
        return finish(with_payload(w, order(w, "(list|name|give me|show) [all] the keys" + form_), text, False), "The keys.", answer)
    if r == 5:
        new_key = w.noun()
        if new_key in rec:
            return changed(w)
        rec2 = {new_key if a == k else a: b for a, b in rec.items()}
        return finish(with_payload(w, order(w, "rename [the key] {k} to {n}|(call|name) {k} {n} [instead]", k=k, n=new_key), text, False), f"{k} becomes {new_key}.", json.dumps(rec2, ensure_ascii=False), {"json": rec2})
    if r == 6:
        flat = {a: b for a, b in rec.items() if not isinstance(b, (list, dict))}
        if len(flat) < 2:
            return changed(w)
        text = json.dumps(flat, ensure_ascii=False)
        return finish(with_payload(w, order(w, "(turn|convert|write) (this|it) (into|to|as) (YAML|lines of key: value|key: value lines)|(as|in) YAML[, please]", ), text, False), "One line a key.", "\n".join(f"{a}: {str(b).lower() if isinstance(b, bool) else b}" for a, b in flat.items()))
    flat = {a: b for a, b in rec.items() if isinstance(b, (str, int)) and not isinstance(b, bool)}
    if len(flat) < 2:
        return changed(w)
    lines = "\n".join(f"{a}{w.any(': ', '=', ' = ') if i == 0 else ': '}{b}" for i, (a, b) in enumerate(flat.items()))
    return finish(with_payload(w, order(w, "(turn|convert|parse|put) (this|these lines|it) (in|)to JSON|(as|in) JSON[, please]"), lines, False), "One key a line.", json.dumps(flat, ensure_ascii=False), {"json": flat})


def labelled(w):
    """JSON with a judgement in it."""
    words = ordering.words_of(w, w.number(2, 6))
    r = w.number(0, 2)
    if r == 0:
        rec = {"count": len(words), "first": words[0], "last": words[-1]}
        keys = w.rng.sample(list(rec), w.number(1, 3))
        rec = {k: rec[k] for k in keys}
        return finish(with_payload(w, order(w, "(return|answer with|give me) [a] JSON [object] with {s}", s=listing([{"count": "count (how many there are)", "first": "first (the first one)", "last": "last (the last one)"}[k] for k in keys])), ", ".join(words)), f"{len(words)} items.", json.dumps(rec), {"json": rec})
    if r == 1:
        numbers = [w.number(1, 99) for _ in range(w.number(2, 5))]
        rec = {"min": min(numbers), "max": max(numbers), "count": len(numbers)}
        keys = w.rng.sample(list(rec), w.number(1, 3))
        rec = {k: rec[k] for k in keys}
        return finish(with_payload(w, order(w, f"(return|answer with|give me) [a] JSON [object] with [the] {listing(keys)} of the numbers"), ", ".join(map(str, numbers))), f"The numbers are {', '.join(map(str, numbers))}.", json.dumps(rec), {"json": rec})
    good = w.chance(0.5)
    text = f"{capital(w.any(*(lexicon.GOOD_PHRASES if good else lexicon.BAD_PHRASES)))}. {capital(w.any(*(lexicon.GOOD_PHRASES if good else lexicon.BAD_PHRASES)))}."
    stars, label = w.number(4, 5) if good else w.number(1, 2), "positive" if good else "negative"
    thing = w.any(*lexicon.ASPECTS)
    rec = {"sentiment": label, "about": thing} if w.chance(0.5) else {"sentiment": label}
    question = order(w, "(return|answer with|give me) [a] JSON [object] with {s}", s="sentiment (positive or negative)" + (" and about (the thing that is reviewed)" if "about" in rec else ""))
    return finish(with_payload(w, question, (f"Review of the {thing}: " if "about" in rec else "") + text), f"The words are {label}.", json.dumps(rec), {"json": rec})


def series(w):
    """An array of what follows a rule."""
    kind = w.any("numbers", "numbers", "even", "odd", "letters", "times", "down", "words")
    a, n = w.number(1, 30), w.number(2, 9)
    k = w.number(2, 9)
    i = w.number(0, 20)
    items, said = {"numbers": (list(range(a, a + n)), f"the (numbers|integers) (from {a} to|{a} to|between and including {a} and) {a + n - 1}"), "even": (list(range(2 * a, 2 * a + 2 * n, 2)), f"the even numbers from {2 * a} to {2 * a + 2 * n - 2}"), "odd": (list(range(2 * a + 1, 2 * a + 2 * n + 1, 2)), f"the odd numbers from {2 * a + 1} to {2 * a + 2 * n - 1}"),
                   "letters": (list("abcdefghijklmnopqrstuvwxyz"[i:i + min(n, 6)]), f"the letters {'abcdefghijklmnopqrstuvwxyz'[i]} to {'abcdefghijklmnopqrstuvwxyz'[i + min(n, 6) - 1]}"), "times": ([k * j for j in range(1, n + 1)], f"the first {n} multiples of {k}"), "down": (list(range(a + n - 1, a - 1, -1)), f"the numbers from {a + n - 1} down to {a}"),
                   "words": (ordering.words_of(w, min(n, 6)), "the (words|strings) {l}")}[kind]
    question = order(w, f"(write|make|return|print|build|give me) (a JSON array|an array|a JSON list) (of|holding|containing) {said}|(write|give me|return) {said} as [a] JSON (array|list)", l=", ".join(map(str, items)))
    return finish(question, ", ".join(map(str, items)) + ".", json.dumps(items), {"json": items})


def columns(w):
    """A table, or lines of key and value, of what the request says itself."""
    heads = w.rng.sample(["animal", "city", "color", "job", "country", "language", "dish", "drink", "instrument", "month"], 2)
    if w.chance(0.3):
        heads[1] = w.noun()
    rows = []
    while len(rows) < w.number(2, 5):
        row = [worlds.draw(w, h)[0] if h in ("animal", "city", "color", "job", "country", "language", "dish", "drink", "instrument", "month") else str(w.number(2, 99)) for h in heads]
        if all(row[0] != r[0] for r in rows):
            rows.append(row)
    names = [w.any(h, capital(h)) for h in heads]
    told = w.any("; ", ", ", "\n").join(w.any("{a} is {b}", "{a}: {b}", "{a} - {b}", "{a} has {b}").format(a=a, b=b) for a, b in rows)
    kind = w.any("table", "table", "yaml", "csv")
    if kind == "table":
        question = order(w, "(make|draw|create|write) a [markdown] table with the (columns|headings) {a} and {b}|(make|write) a [markdown] table, (columns|head): {a}, {b}|(turn|put) this into a markdown table of {a} and {b}", a=names[0], b=names[1])
        answer = f"| {names[0]} | {names[1]} |\n| --- | --- |\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
    elif kind == "csv":
        question = order(w, "(make|write|create) [a] CSV with the (columns|header) {a} and {b}|(write|give me) CSV with {a} and {b}", a=names[0], b=names[1])
        answer = f"{names[0]},{names[1]}\n" + "\n".join(f"{a},{b}" for a, b in rows)
    else:
        pairs = dict(zip(w.rng.sample(["name", "size", "pages", "author", "year", "city", "price", "color", "kind", "owner", "rooms", "level"], 4), [w.noun(), str(w.number(2, 900)), w.first_name(), w.city()][:w.number(2, 4)]))
        told = w.any(", ", " and ", "; ").join(w.any("{a} {b}", "{a}: {b}", "{a} is {b}").format(a=a, b=b) for a, b in pairs.items())
        answer = "\n".join(f"{a}: {b}" for a, b in pairs.items())
        return finish(with_payload(w, order(w, "(write|put|give me) (this|it) (as|in) YAML|write YAML (for|of) this|(turn|make) this [in]to YAML"), told), f"The keys are {listing(list(pairs))}.", answer)
    return finish(with_payload(w, question, told), f"{len(rows)} rows, the columns are {names[0]} and {names[1]}.", answer)


TASKS = {from_text: 52, stated: 14, changed: 16, labelled: 8, series: 10, columns: 12, shapes.question_of: 90}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
