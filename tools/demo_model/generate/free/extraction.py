"""Pulling things out of texts: names, numbers, dates, addresses, codes, fields as JSON, lines or plain words."""

import json

from . import grammar, lexicon, records
from .grammar import capital, listing, order, say, typed, with_payload
from .worlds import ITEMS, PROBLEMS, World, draw

TEXTS = {  # kind: sentences around a value
    "email address": "(you can |)(mail|contact|reach) (me|us|the office|{n}) (at|on|under) {v} [before {d}|for details|if you have questions]. ; my (address|email|new mail) is {v}[, please update it|, by the way]. ; send the (invoice|photos|report|form) to {v}[ and {n} will answer|]. ; {n} uses {v} now[, not the old one]. ; questions? {v}!",
    "phone number": "(call|ring) (me|us|{n}|the office) (on|at) {v} [before {d}|after lunch|until five]. ; my [new] number is {v}. ; you can reach {n} on {v} [in the morning|on {d}]. ; tel. {v}, ask for {n}. ; the doctor's number: {v}[, only on {d}].",
    "date": "the (contract|letter|deal|lease) was signed on {v} in {c}. ; (we|they) (arrive|leave|move|meet) on {v}. ; {n} was born on {v} in {c}. ; the (deadline|exam|concert|flight|wedding) is on {v}. ; (please|) (pay|answer|return it) by {v}, {n}.",
    "price": "I (paid|want|ask) {v} for (it|the {x}|the old {x}). ; the {x} costs {v}[, no less]. ; {n} sold the {x} for {v} in {c}. ; for {v} it is yours. ; the {x} was reduced to {v} on {d}.",
    "time": "the (train|bus|meeting|lesson|film) (starts|leaves|begins) at {v} [on {d}]. ; see you at {v} in {c}. ; {n} comes at {v}[, bring the {x}]. ; doors open at {v}. ; {x} check: {d}, {v}.",
    "web address": "(see|read|visit) {v} for (details|more|the manual)[, thanks]. ; the docs are at {v}[ since {d}]. ; {n} put the photos on {v}. ; you find the form under {v}. ; more on {v}.",
    "order number": "(my|the) order {v} (never came|is missing|has not arrived|was damaged)[, please help]. ; I ordered it last {d}, number {v}. ; (about|regarding) order {v}: the {x} is broken. ; {n} asks for order {v}. ; order no. {v} is still open.",
    "city": "we were in {v} with {n} for (a week|some days|Easter). ; {n} (flew|drove|moved) to {v} on {d}. ; the {x} was made in {v}. ; greetings from {v}! ; the office in {v} is closed on {d}.",
    "name": "{v} (lost|found|bought|needs) (a|the|my) {x} on {d}. ; yesterday I met {v} at the lake. ; ask {v} about the {x}. ; {v} said that the {x} is broken. ; it was {v} who called.",
    "product": "the {v} (quit|broke|arrived damaged|makes a strange noise) after (two|ten) days. ; I (want to return|am not happy with|would like to exchange) the {v} I (bought|ordered) on {d}. ; my new {v} is (too small|the wrong color|missing a part). ; where can I get a battery for my {v}? ; the {v} I ordered never came.",
    "flight number": "we come at eight with {v}, gate {m}. ; {v} to {c} is delayed. ; my flight is {v} on {d}. ; {n} takes {v} from {c}. ; {v} was cancelled.",
    "error code": "it says {v} when I open the {x}. ; the screen shows {v} [and then goes dark]. ; error {v} [again|since {d}], what now? ; {n} got {v} after the update. ; the machine stopped with code {v}.",
    "color": "we bought a {v} {x} in {c}. ; {n} painted the door {v}. ; the {x} is {v}. ; she wore a {v} coat on {d}. ; I want it in {v}.",
    "amount": "please send {v} of the {x}s to {c}. ; {n} ordered {v} on {d}. ; we need {v} more. ; only {v} are left. ; {v} were sold.",
    "street address": "send it to {v}, {c}, before {d}. ; {n} lives at {v}. ; the shop moved to {v} [last {d}]. ; come to {v} at noon. ; my address is {v}, {c}.",
    "company": "{n} works at {v} in {c}. ; the invoice is from {v}. ; {v} makes the best {x}s. ; we ordered it at {v} on {d}. ; {v} has bought the factory.",
}
NAMES = {"email address": "(email [address]|e-mail [address]|mail address|email)", "phone number": "(phone number|telephone number|number to call|phone)", "date": "date", "price": "(price|amount of money|price)", "time": "time", "web address": "(url|URL|link|web address|website)", "order number": "(order number|order id|order no.)", "city": "(city|town|city)",
         "name": "(name|person|name of the person)", "product": "(product|item|thing the customer bought)", "flight number": "flight number", "error code": "(error code|code|error)", "color": "(color|colour)", "amount": "(quantity|number|amount)", "street address": "(address|street address|postal address)", "company": "(company|firm|name of the company)"}


def value(w, kind):
    if kind == "email address":
        return draw(w, "email")[0]
    if kind == "phone number":
        return draw(w, "phone")[0]
    if kind == "date":
        return w.any(draw(w, "dayofmonth")[0], f"{w.number(1990, 2030)}-{w.number(1, 12):02d}-{w.number(1, 28):02d}", f"{w.number(1, 28)} {w.any(*lexicon.MONTHS)} {w.number(1990, 2030)}", f"{w.any(*lexicon.MONTHS)} {w.number(1, 28)}, {w.number(1990, 2030)}", f"{w.number(1, 28)}.{w.number(1, 12)}.{w.number(1990, 2030)}", f"{w.number(1, 12)}/{w.number(1, 28)}/{w.number(1990, 2030)}")
    if kind == "price":
        return draw(w, "price")[0]
    if kind == "time":
        return draw(w, "clock")[0]
    if kind == "web address":
        return w.any("https://", "http://", "www.", "") + f"{w.any('', 'docs.', 'shop.')}{w.fresh()}.{w.any('com', 'org', 'net', 'io')}" + w.any("", f"/{w.fresh()}", f"/{w.fresh()}/{w.number(1, 99)}")
    if kind in ("order number", "error code", "flight number"):
        letters = "".join(w.rng.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=w.any(1, 2, 2, 3)))
        digits = w.number(1, 99999) if kind != "flight number" else w.number(1, 9999)
        return w.any(f"{letters}{digits}", f"{letters}-{digits}", f"{digits}" if kind != "flight number" else f"{letters}{digits}", f"#{digits}" if kind == "order number" else f"{letters}{digits}", f"{digits % 100}-{w.number(100, 9999)}" if kind == "order number" else f"{letters} {digits}")
    if kind == "city":
        return w.city()
    if kind == "name":
        return w.person()
    if kind == "product":
        return w.any(*lexicon.KINDS["device"], *ITEMS, "blender", "kettle", "toaster", "chair", "sofa", "bike") if w.chance(0.7) else w.noun()
    if kind == "color":
        return w.any(*lexicon.KINDS["color"])
    if kind == "amount":
        return w.any(str(w.number(2, 900)), lexicon.in_words(w.number(2, 20)))
    if kind == "company":
        return draw(w, "company")[0]
    return f"{w.number(1, 200)} {capital(w.noun())} {w.any('Street', 'Road', 'Lane', 'Avenue', 'Square', 'Way')}"


def sentence(w, kind, v):
    return capital(say(w, w.any(*TEXTS[kind].split(" ; ")), v=v, n=w.first_name(), d=w.any(*lexicon.DAYS), c=w.city(), x=w.noun(), m=w.number(1, 40)))


def message(w, kinds):
    """A few sentences with values of these kinds, greetings and noise between."""
    values = {k: value(w, k) for k in kinds}
    parts = [sentence(w, k, v) for k, v in values.items()]
    if w.chance(0.4):
        parts.insert(w.number(0, len(parts)), w.any("Thank you!", "I hope you are well.", "It was a long day.", "Please answer soon.", "The weather is nice here.", "Sorry for the trouble.", "This is urgent.", "No hurry.", "What a week!", "Everything else is fine."))
    text = " ".join(parts)
    if w.chance(0.2):
        text = w.any("Hi, ", "Hello! ", "Hey {n}, ", "Dear team,\n", "Good morning,\n\n").format(n=w.first_name()) + text + w.any("", " Bye!", "\n\nRegards", f"\n{w.first_name()}", f"\n\nBest, {w.first_name()}")
    return text, values


def finish(question, reasoning, answer, check=None):
    return question, reasoning, answer, check or {"equals": answer}


GET = "(extract|find|give me|get|pull out|return|pick out|identify|copy out|fetch|show me|tell me)"
FROM = "[(from|in) (this|the text|the message|this message|this text|it|the following|this sentence|the email|the sentence below)]"
ALONE = ["", "", "", ", nothing else", " only", " and nothing else", ", no other words", " (just the value)", ", without explanation"]


def single(w):
    others = w.rng.sample(list(TEXTS), w.any(1, 1, 2, 3))
    kind = w.any(*others)
    clash = {"date": {"time"}, "time": {"date"}, "order number": {"error code", "flight number"}, "error code": {"order number", "flight number"}, "flight number": {"order number", "error code"}, "city": {"street address", "company"}, "name": {"company"}, "amount": set(TEXTS)}.get(kind, set())
    kinds = [kind] + [k for k in others if k != kind and k not in clash]
    if kind == "city":
        kinds = ["city"]
    w.rng.shuffle(kinds)
    for _ in range(12):
        text, values = message(w, kinds)
        if kind not in ("city", "name") or kind == "name" and sum(x in text for x in (values["name"],)) == 1:
            break
    name = grammar.form(w, NAMES[kind])
    answer = values[kind]
    if kind == "city" or kind == "name":
        # The only city or name of the text, as far as its writer goes.
        text = say(w, w.any(*[t for t in TEXTS[kind].split(" ; ") if ("{n}" not in t if kind == "name" else "{c}" not in t)]), v=answer, n="my uncle", d=w.any(*lexicon.DAYS), x=w.noun(), c="", m=3)
        text = capital(text)
    r = w.rng.random()
    alone = w.any(*ALONE)
    if r < 0.55:
        question = with_payload(w, order(w, f"{GET} the {name} {FROM}") + (alone if w.chance(0.4) else ""), text)
    elif r < 0.85:
        ask = typed(w, {"name": "who (is mentioned|is it about)[?]|which person is (mentioned|named)[?]|what name (appears|is in the text)?", "city": "(which|what) city is (mentioned|named|it about)[?]|what town is in the text?", "product": "what product is [the customer talking about|this about|meant]?|which (product|item) (is it|is meant)[?]|what did (they|the customer) (buy|order)?",
                         "price": "how much[?]|(what|which) price is (named|given)?|what's the price [in this|here][?]|how much money is it?", "time": "(what|which) time[?]|at what time?|what's the time given here?", "date": "(what|which) date [is (given|mentioned)]?|when [exactly]?|what's the date (here|in this)[?]", "amount": "how many[?]|what number is (given|named)?|how many are (meant|mentioned)?"}.get(
            kind, f"what is the {name} [here|in this|in the text][?]|what's the {name}[?]|(which|what) {name} (is given|is mentioned|do you see|appears)[?]|{name}?|can you (see|find) the {name}?"))
        question = with_payload(w, ask, text)
    else:
        question = with_payload(w, order(w, f"(return|output|print|answer with|reply with) [only] the {name} {FROM} and nothing else"), text)
    if w.chance(0.12) and kind != "amount":
        # the wanted kind is not there
        rest = [k for k in TEXTS if k not in (kind, "city", "name", "amount", *clash)]
        text2, _ = message(w, w.rng.sample(rest, w.any(1, 2)))
        none = w.any("NONE", "none", "n/a", "null", "missing", "not found", "-")
        question = with_payload(w, typed(w, f"{GET} the {name} {FROM}, (or|and) (say|write|answer|return|reply) {{none}} if (there is none|it is missing|it is not there)|the {name} please; where there is none, (write|answer) {{none}}", none=none), text2)
        return finish(question, f"There is no {kind}.", none)
    return finish(question, f"It stands there: {answer}.", answer)


MANY = {"names": ("name", "(names|people|persons)"), "numbers": ("amount", "numbers"), "animals": ("animal", "animals"), "colors": ("color", "(colors|colours)"), "cities": ("city", "(cities|towns|places)"), "fruits": ("fruit", "(fruits|fruit)"), "dates": ("date", "dates"), "prices": ("price", "prices"), "emails": ("email address", "(email addresses|emails|addresses)"), "jobs": ("job", "(jobs|professions)"),
        "ingredients": ("ingredient", "ingredients"), "tools": ("tool", "tools"), "vehicles": ("vehicle", "vehicles"), "countries": ("country", "countries"), "vegetables": ("vegetable", "vegetables"), "instruments": ("musical instrument", "[musical] instruments"), "clothes": ("piece of clothing", "(clothes|pieces of clothing)"), "sports": ("sport", "sports"), "drinks": ("drink", "drinks"), "codes": ("order number", "(codes|order numbers|ids)"), "links": ("web address", "(links|urls|URLs)")}
ABOUT = {"animal": ["The {0} looked at the {1}{2}.", "We saw a {0}, a {1}{2} on the farm.", "A {0} ran past the {1}{2}."], "color": ["There was a {0} door, a {1} wall{2}.", "She has a {0} coat and a {1} hat{2}.", "I like {0} and {1}{2}."], "fruit": ["He put the {0} and the {1}{2} into a bowl.", "We bought {0}, {1}{2} at the market."],
         "job": ["The {0} had lunch with the {1}{2}.", "Her father is a {0}, her mother a {1}{2}."], "tool": ["He took the {0} and the {1}{2} from the shelf.", "You need a {0}, a {1}{2} for the shed."], "vehicle": ["First we took the {0}, then the {1}{2}.", "The {0} stood between the {1}{2} and the house."], "vegetable": ["The soup has {0} and {1}{2} in it.", "She grows {0}, {1}{2} behind the barn."],
         "ingredient": ["Mix {0} with {1}, then add {2} and stir for {m} minutes.", "Take {0} and {1}, heat the oven and put {2} on top.", "First the {0}, then the {1}, and at the end some {2}."], "musical instrument": ["The {0} was louder than the {1}{2}.", "He plays the {0} and the {1}{2}."], "piece of clothing": ["She packed a {0} and a {1}{2}.", "On the chair lay a {0}, a {1}{2}."],
         "sport": ["On Mondays we play {0}, on Fridays {1}{2}.", "I prefer {0} to {1}{2}."], "drink": ["They ordered {0} and {1}{2} at the bar.", "Would you like {0}, {1}{2} with it?"], "country": ["They drove from {0} to {1}{2}.", "She has friends in {0} and {1}{2}."]}
INGREDIENTS = "flour|sugar|butter|milk|salt|eggs|rice|cream|honey|oil|yeast|cheese|water|chocolate|nuts|vanilla|lemon juice|garlic|onions|basil|cinnamon|pepper|tomatoes|potatoes|raisins|carrots|vinegar".split("|")


def many(w):
    what = w.any(*MANY)
    kind, name = MANY[what]
    count = w.number(2, 4)
    if kind in ABOUT:
        pool = INGREDIENTS if kind == "ingredient" else lexicon.KINDS[kind]
        count = 3 if kind == "ingredient" else count
        items = w.rng.sample(pool, count)
        pattern = w.any(*ABOUT[kind])
        if kind == "ingredient":
            text = pattern.format(*items, m=w.number(2, 40))
        else:
            the = "the " if "the {1}" in pattern else "a " if "a {1}" in pattern else ""
            more = "".join(f" and {the}{x}" for x in items[2:])
            text = pattern.format(items[0], items[1], more)
    elif kind == "name":
        items = [w.first_name() for _ in range(count)]
        if count > 2 and w.chance(0.5):
            pattern = w.any("{0} asked {1} whether {2} was still in town.", "While {0} slept, {1} and {2} packed the car.", "My uncle {0} and his son {1} sold the boat to {2} in {c}.", "{0} thinks that {1} is taller than {2}.", "The prize goes to {0}; {1} came second, {2} third.", "In {c} {0} was looking for her brother {1}, who had left with {2}.", "{0}'s teacher, {1}, gave {2} a book.", "Neither {0} nor {1} knew where {2} lived.", "Dear {0}, {1} is ill, so {2} will drive.")
            text = pattern.format(*items, c=w.city()) + (f" {w.any('Then', 'Later', 'On Monday')} {items[3]} {w.any('called', 'came too', 'sang')}." if count > 3 else "")
        else:
            text = w.any("Yesterday {0} met {1}{2} near the station.", "{0} and {1}{2} were late.", "The letter is for {0}, {1}{2}.", "I saw {0} with {1}{2} in the park.", "{0} called {1}{2} about the party.").format(items[0], items[1], "".join(f" and {x}" for x in items[2:]))
    elif kind == "amount":
        items = [str(w.number(1, 200)) for _ in range(count)]
        things = [lexicon.plural(w.noun()) for _ in items]
        text = w.any("I bought ", "We have ", "They sold ", "In the box are ", "Please order ") + listing([f"{i} {t}" for i, t in zip(items, things)]) + "."
    else:
        items = [value(w, kind) for _ in range(count)]
        text = {"city": "We flew from {0} to {1}{2}.", "date": "We met on {0} and on {1}{2}.", "price": "One costs {0}, the other {1}{2}.", "email address": "Write to {0} or {1}{2}.", "order number": "The parcels {0} and {1}{2} are missing.", "web address": "Look at {0} and {1}{2}."}[kind].format(items[0], items[1], "".join(f" and {x}" for x in items[2:]))
    if len(set(items)) < len(items):
        return many(w)
    form = w.rng.choices(("comma", "json", "lines", "bullets"), (6, 2, 2, 1))[0]
    answer = {"comma": ", ".join(items), "json": json.dumps(items, ensure_ascii=False), "lines": "\n".join(items), "bullets": "\n".join("- " + i for i in items)}[form]
    wish = {"comma": w.any("", "", "", " separated by commas", " as a comma separated list", " (comma-separated)", " with commas between"), "json": w.any(" as a JSON list", " as JSON array", " as a JSON array of strings", " in a JSON list"), "lines": w.any(" one per line", ", each on its own line", " line by line", ", one a line"), "bullets": w.any(" as bullet points", " as a bullet list", " as bullets")}[form]
    if w.chance(0.6):
        question = with_payload(w, order(w, f"{GET} all [the] {name} {FROM}" if w.chance(0.7) else f"(list|name|extract) (all|every one of) the {name} {FROM}") .rstrip(".?!") + wish + w.any("", "."), text)
    else:
        question = with_payload(w, typed(w, f"(which|what) {name} (are mentioned|appear|are there|do you find|are named|can you see) [here|in the text|in this][?]|what are the {name} [here|in this|in the text]?|{name}?") + wish, text)
    return finish(question, f"{capital(what)} in it: {', '.join(items)}.", answer)


FIELDS = {"name": "name", "age": "age", "city": "city", "email address": "email", "phone number": "phone", "date": "date", "price": "price", "time": "time", "order number": "order_id", "product": "product", "company": "company", "color": "color", "street address": "address", "job": "job"}
PEOPLE = ["Hello, I am {name}, {age}, from {city}.", "My name is {name}, I am {age} years old and live in {city}.", "{name} is {age} and lives in {city}.", "{name} ({age}) from {city}", "{name}, aged {age}, comes from {city}.", "This is {name} from {city}. Age: {age}.", "{name} works as a {job} in {city}.", "I'm {name}. I work as a {job} and I'm {age}.", "{name}, {job}, {age}",
          "{name} moved to {city} at the age of {age}.", "You can reach {name} at {email} or on {phone}.", "{name} ({email}) lives in {city}.", "The {product} costs {price} and comes in {color}.", "{name} ordered a {product} for {price}.", "{product}: {price}, color {color}", "We sell the {color} {product} for {price}.", "On {date} at {time} {name} comes with the {product}.", "Order {order_id}: one {product}, {price}, for {name}.",
          "{name} from {company} wants to meet on {date}.", "Dear {company}, order {order_id} has not arrived. {name}, {address}", "{company}, {address}, {city}", "name: {name} / mail: {email}", "Please book {name} on {date}, {time}. Phone {phone}.", "I bought a {color} {product} in {city}.", "{name} lives at {address} in {city}."]
FIELD_KINDS = {v: k for k, v in FIELDS.items()}


def fields(w):
    pattern = w.any(*PEOPLE)
    keys = [k for k in FIELD_KINDS if "{" + k + "}" in pattern]
    values = {}
    for k in keys:
        values[k] = w.number(3, 95) if k == "age" else draw(w, "job")[0] if k == "job" else w.number(1, 900) if k == "price" else value(w, FIELD_KINDS[k])
    said = {**values, "price": w.any("{} euros", "${}", "{} dollars", "{} EUR").format(values.get("price", ""))}
    text = pattern.format_map(said)
    wanted = keys if w.chance(0.7) else w.rng.sample(keys, w.number(1, len(keys)))
    if w.chance(0.12):
        extra = w.any(*[k for k in FIELD_KINDS if k not in keys])
        wanted, values[extra] = [*wanted, extra], None
    record = {k: values[k] for k in wanted}
    names = listing(wanted)
    if w.chance(0.15):
        names = ", ".join(f'"{k}"' for k in wanted)
    r = w.rng.random()
    null = w.any("", ", null if missing", " (null if it is not there)") if None in record.values() else ""
    if r < 0.6:
        answer = json.dumps(record, ensure_ascii=False)
        wish = w.any(f"(extract|get|return|give me|pull out|put) {names} as JSON", f"(extract|return|get) {names} (as|in) [a] JSON [object]", f"JSON with [the] (keys|fields) {names}", f"(convert|turn|transform|parse) (this|it|the text) (in|into|to) JSON with (the keys|fields|keys) {names}", f"(return|output|make|create|build) [a] JSON [object] with {names}", f"extract [the] fields {names} (to|as|into) JSON",
                     f"fill (the|these|this) fields: {names}. (answer in|output|use) JSON")
        if w.chance(0.12):
            # A JSON schema, as servers take them.
            types = {k: {"type": "integer" if k in ("age", "price") else "string"} for k in wanted}
            shape = json.dumps({"type": "object", "properties": types, "required": list(wanted)} if w.chance(0.7) else {"type": "object", "properties": types})
            question = with_payload(w, w.any("Answer with JSON that follows this schema: {q}", "schema: {q}", "Fill an object of this JSON schema: {q}", "Return data for this schema, nothing else: {q}", "Your output must validate against {q}").replace("{q}", shape) + null, text)
        elif w.chance(0.15):
            shape = json.dumps({k: "number" if k in ("age", "price") else "string" for k in wanted})
            question = with_payload(w, w.any("fill this JSON: {q}", "return JSON of the form {q}", "use this schema: {q}", "answer with JSON like {q}", "{q} <- fill it in", "Extract the data. Format: {q}").replace("{q}", shape) + null, text)
        else:
            question = with_payload(w, order(w, wish.replace('"', "~")).replace("~", '"') + null, text)
        return finish(question, listing([f"{k} is {'missing' if v is None else v}" for k, v in record.items()]) + ".", answer, {"json": record})
    record = {k: v for k, v in record.items() if v is not None}
    if not record:
        return fields(w)
    wanted = list(record)
    names = listing(wanted)
    if r < 0.8:
        answer = "\n".join(f"{k}: {v}" for k, v in record.items())
        question = with_payload(w, order(w, f"(extract|give me|list|get|return) {names} {FROM} [as lines|one per line|as key: value|each on a line]"), text)
    elif r < 0.92:
        answer = ", ".join(str(v) for v in record.values())
        question = with_payload(w, typed(w, f"(extract|give me|get|return|pull out) {names}, separated by commas|{names}, comma separated|just {names}, with commas"), text)
    else:
        answer = ",".join(wanted) + "\n" + ",".join(str(v) for v in record.values())
        question = with_payload(w, order(w, f"(make|give me|return|write) [a] CSV with (the columns|header|the header) {','.join(wanted)}|(turn|convert) it into CSV with the columns {names}"), text)
    return finish(question, listing([f"{k} is {v}" for k, v in record.items()]) + ".", answer)


LEVELS = ["INFO", "INFO", "INFO", "WARN", "ERROR", "DEBUG"]
EVENTS = ["connection to {x} opened", "connection to {x} lost", "user {n} logged in", "user {n} logged out", "disk {m} is full", "worker-{m} started", "worker-{m} failed with code {e}", "request took {t} ms", "file {f} not found", "retrying in {m} seconds", "cache cleared", "job {e} finished", "timeout after {t} ms", "backup of {x} done", "payment {e} rejected", "mail to {n} sent", "port {t} is in use", "config {f} loaded"]


def log(w):
    lines, rows = [], []
    h, m, s = w.number(0, 23), w.number(0, 58), 0
    date = f"{w.number(2019, 2027)}-{w.number(1, 12):02d}-{w.number(1, 28):02d}"
    style = w.number(0, 2)
    for _ in range(w.number(1, 9)):
        s += w.number(1, 7)
        time = f"{h:02d}:{m:02d}:{s % 60:02d}"
        level = w.any(*LEVELS)
        pattern = w.any(*EVENTS)
        slots = {"x": w.any("db-1", "cache", "mail", w.noun()), "n": w.first_name().lower(), "m": w.number(1, 12), "e": f"E{w.number(100, 9999)}", "t": w.number(20, 9000), "f": f"{w.fresh()}.{w.any('txt', 'conf', 'json', 'log', 'yaml')}"}
        text = pattern.format_map(slots)
        rows.append((time, level, pattern, slots, text))
        lines.append({0: f"{date} {time} {level} {text}", 1: f"[{time}] {level}: {text}", 2: f"{time} {level.lower()} {text}"}[style])
    body = "\n".join(lines)
    i = w.rng.randrange(len(rows))
    time, level, pattern, slots, text = rows[i]
    errors = [r for r in rows if r[1] == "ERROR"]
    kind = w.number(0, 4)
    if kind == 0:
        n = len(errors)
        return finish(with_payload(w, typed(w, "how many errors (are there|do you see|are in the log)[?]|count the (errors|ERROR lines)[, please]|number of errors?"), body, False), "ERROR lines: " + (", ".join(r[0] for r in errors) or "none") + ".", str(n))
    if kind == 1 and errors:
        r = errors[0]
        return finish(with_payload(w, typed(w, "what is the first error[?]|(find|show|extract) the [first] error [in the log]|what went wrong [here][?]|which error (happened|occurred) [first]?"), body, False), f"The first ERROR line: {r[4]}.", r[4])
    if kind == 2:
        if sum(r[4] == text for r in rows) > 1:
            return log(w)
        return finish(with_payload(w, typed(w, "when did this happen: {t}[?]|at what time: {t}|(when|what time) was \"{t}\" logged?", t=text), body, False), f"That line begins with {time}.", time)
    keys = {"{e}": ("e", "(code|id|error code)"), "{n}": ("n", "(user|name of the user)"), "{f}": ("f", "(file|file name)"), "{t}": ("t", "(number of ms|value)"), "{x}": ("x", "(system|name)")}
    unique = [(k, v) for k, v in keys.items() if k in pattern and sum(k in r[2] for r in rows) == 1]
    if not unique:
        return log(w)
    k, (slot, name) = w.any(*unique)
    what = {"e": "which code (is|appears) in (the log|this)?|(find|extract|give me) the code [in the log]|what is the (code|id)[?]", "n": "which user [is named|is in the log]?|(find|extract) the user name|who is (named|the user) [in the log]?", "f": "which file (is it|is named)?|(find|extract) the file name|what file does the log mention?", "t": "(which|what) number is given (there|in that message)?|how many ms or which port is given?", "x": "(find|extract|which is) the name of the system|which system is it about?"}[slot]
    return finish(with_payload(w, typed(w, what), body, False), f"The line says: {text}.", str(slots[slot]))


WISHES = [("give me my money", "a refund"), ("please send me a new one", "a new one"), ("can someone call me back", "a call back"), ("please cancel my subscription", "to cancel the subscription"), ("I would like to change my address", "to change the address"), ("please repair it", "a repair"), ("I need an invoice", "an invoice"),
          ("where is my parcel", "to know where the parcel is"), ("please reset my password", "a new password"), ("I would like to exchange it for a bigger one", "to exchange it for a bigger one"), ("when will it arrive", "to know when it will arrive"), ("please delete my account", "to delete the account"), ("I want to talk to the manager", "to talk to the manager"), ("can I get a discount", "a discount"), ("please move my appointment to {d}", "to move the appointment to {d}")]


def wish(w):
    product = value(w, "product")
    d = w.any(*lexicon.DAYS)
    want, short = (t.format(d=d) for t in w.any(*WISHES))
    problem = w.any(f"The {product} gave up after {w.any('two days', 'a month', 'an hour')}", f"The {product} arrived broken", f"I ordered a {product} {w.any('last week', 'on ' + d, 'two weeks ago')}", f"My {product} is too small", f"I am not happy with the {product}", f"Your {product} has the wrong color", f"About the {product} from {w.city()}")
    text = f"{problem}{w.any(', ', '. ', ' and ')}"
    text += capital(want) if text.endswith(". ") else want
    text += w.any(".", "!", ".", "?") if not want.startswith(("where", "when", "can")) else "?"
    if w.chance(0.3):
        text = w.any("Hello, ", "Hi! ", "Dear support, ", "Good day, ") + text + w.any("", " Thanks, " + w.first_name(), " Regards, " + w.first_name())
    if w.chance(0.6):
        return finish(with_payload(w, typed(w, "what does (the customer|the writer|this person|the user|he|she) want[?]|what is (asked for|the request|wanted)[?]|what is the customer asking for?|(find|extract|name) the wish of the customer|what does the sender need?"), text), f"It says: {want}.", capital(short) + ".")
    return finish(with_payload(w, typed(w, "(which|what) product is (it about|meant|this about|mentioned)[?]|what (product|item|thing) is the customer (talking|writing) about[?]|what is it about?"), text), f"It is about the {product}.", product)


TASKS = {single: 32, many: 22, fields: 22, log: 9, wish: 8, records.record: 46}


def question_of(w):
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w)
