"""What the tools of tables/toolbox_*.py are given: kinds of values beside those of need_values, as said and as the argument."""

from . import lexicon, need_values
from .grammar import capital, listing

WHENS = "tomorrow|tonight|this evening|tomorrow morning|tomorrow at noon|on {d}|on {d} morning|on {d} at {k}|next {d}|next week|in {k} hours|in two days|at {k} o'clock|after lunch|before dinner|at the weekend|every morning|in half an hour".split("|")
SHOUTS = "dinner is ready|we leave in five minutes|come downstairs please|the film begins|{n} is on the phone|please be quiet|the pizza is here|who took my {x}|time for bed|{n} has arrived|the {x} is free now".split("|")
FIRST_OF_SONG = "Blue Silver Lost Golden Quiet Midnight Broken Paper Summer Hidden Electric Empty Northern".split()
SECOND_OF_SONG = "River Harbour Letters Garden Dreams Road Windows Train Hearts Island Mirror Weather Stars".split()


def song(w):
    return w.any(f"{w.any(*FIRST_OF_SONG)} {w.any(*SECOND_OF_SONG)}", f"The {capital(w.noun())}", f"{capital(w.fresh())} {capital(w.noun())}", f"{capital(w.verb())} Me", capital(w.fresh()))


def several(w, kind):
    items = []
    while len(items) < w.any(1, 2, 2, 3, 3, 4):
        x = value(w, kind)[1]
        if x not in items:
            items.append(x)
    return w.any(listing(items), listing(items), ", ".join(items), " and ".join(items)), items


OWN = {"when": lambda w: w.any(*WHENS).format(d=w.any(*lexicon.DAYS), k=w.number(2, 11)), "shout": lambda w: w.any(*SHOUTS).format(n=w.first_name(), x=w.noun()), "song": song, "weekday": lambda w: w.any(*lexicon.DAYS),
       "degrees_kg": lambda w: w.any(w.number(48, 110), w.number(48, 109) + 0.5), "branch": lambda w: w.any(w.fresh(), f"fix-{w.noun()}", f"feature/{w.noun()}", f"{w.noun()}-{w.fresh()}", "develop", "main"), "host": lambda w: w.any(f"{w.noun()}-{w.noun()}", f"{w.fresh()}-{w.number(1, 9)}", f"{w.any('web', 'db', 'api', 'worker')}-{w.number(1, 30)}", w.fresh()),
       "issue": lambda w: f"{w.any('ABC', 'OPS', 'WEB', 'APP', 'CORE', 'HR')}-{w.number(1, 4000)}", "tag": lambda w: w.any("urgent", "draft", "review", "personal", w.noun(), w.fresh()), "question": lambda w: f"Which {w.noun()} is the oldest?", "company": lambda w: w.any(f"{capital(w.fresh())} {w.any('Ltd', 'Inc', 'AG', 'Group')}", f"{capital(w.noun())} & Sons", capital(w.fresh())), "table": lambda w: lexicon.plural(w.noun()),
       "dmy": None, "ip": lambda w: ".".join(str(w.number(1, 250)) for _ in range(4)), "port": lambda w: w.any(80, 443, 8080, 5432, w.number(1024, 9999)), "domain": lambda w: f"{w.fresh()}.{w.any('com', 'org', 'net', 'dev')}", "version": lambda w: f"{w.number(0, 9)}.{w.number(0, 20)}.{w.number(0, 9)}", "title": lambda w: w.any(f"{capital(w.adjective())} {w.noun()}", f"{capital(w.noun())} {w.noun()}", f"{capital(w.noun())} {w.any('plan', 'report', 'review', 'budget')}")}


def value(w, kind):
    """(as it is said, the argument)"""
    if kind.startswith("list:"):
        return several(w, kind[5:])
    if kind.startswith("sy:"):
        v, said = w.any(*kind[3:].split("|")).split("=")
        return w.any(*said.split(","), *[v] * (v not in ("yes", "no"))), v
    if kind == "dmy":
        y, m, d = w.number(2025, 2030), w.number(1, 12), w.number(1, 28)
        month = lexicon.MONTHS[m - 1]
        return w.any(f"{d} {month} {y}", f"{month} {d}, {y}", f"{d}.{m}.{y}"), f"{y}-{m:02d}-{d:02d}"
    if kind in OWN:
        v = OWN[kind](w)
        return str(v), v
    if kind == "onoff":
        v = w.any("on", "off")
        return v, v
    return need_values.value(w, kind)


def schema(kind):
    if kind.startswith("list:"):
        return {"type": "array", "items": {"type": "string"}}
    if kind.startswith("sy:"):
        return {"type": "string", "enum": [x.split("=")[0] for x in kind[3:].split("|")]}
    return {"type": "number"} if kind == "degrees_kg" else {"type": "integer"} if kind == "port" else need_values.schema(kind)
