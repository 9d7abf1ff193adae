"""What parameters of tools are given: each kind of value as people say it, and as the argument that is called for."""

from .. import domains, slots
from . import lexicon
from .tables import needs as data
from .clauses import Clause
from .grammar import capital, fill, form, say, typists
from .worlds import VENUES, draw

HALVES = {15: "a quarter of an hour", 30: "half an hour", 45: "three quarters of an hour", 60: "an hour", 120: "two hours", 90: "an hour and a half"}


def clock_said(w):
    h, m = w.number(5, 22), w.any(0, 0, 30, 15, 45, 10, 20, 50, 40, w.number(1, 59))
    value = f"{h:02d}:{m:02d}"
    words = [value, f"{h}:{m:02d}", f"{h}:{m:02d}"]
    twelve = (h - 1) % 12 + 1
    words.append(f"{twelve}{f':{m:02d}' if m else ''} {'am' if h < 12 else 'pm'}")
    words.append(f"{twelve}{f':{m:02d}' if m else ''}{'am' if h < 12 else 'pm'}")
    if h < 13 and m == 30:
        words += [f"half past {lexicon.in_words(h)}"] * 3
    if h < 13 and m in (15, 45):
        words.append(f"quarter past {lexicon.in_words(h)}" if m == 15 else f"quarter to {lexicon.in_words(h % 12 + 1)}")
    if m == 0:
        words += [f"{h} o'clock" if h < 13 else f"{h}h", lexicon.in_words(h) + (" in the morning" if h < 11 else "") if h < 13 else value]
        if h == 12:
            words.append("noon")
    return w.any(*words), value


def free_message(w, clause=False):
    """A text that somebody sends, of words from no list of messages; clause: one that can follow "that"."""
    if w.chance(0.35):
        c = Clause(w)
        text = c.said(w.any("present", "past", "future", "progressive" if c.progressive_fits() else "past"), negative=w.chance(0.15), end="")
        return text if c.subject == "I" or c.subject[0].isupper() else text[0].lower() + text[1:]
    return say(w, data.SAID_THAT if clause else data.SENT, x=w.noun(), y=w.noun(), n=w.first_name(), c=w.city(), d=w.any(*lexicon.DAYS), t=clock_said(w)[0], k=w.number(2, 90))


def free_task(w):
    """Something to do: a verb with its object and where or when."""
    while True:
        c = Clause(w, need_object=True)
        if c.progressive_fits() and c.verb not in ("lose", "break", "steal", "forget"):
            break
    text = c.imperative().rstrip(".")
    return text[0].lower() + text[1:]


def query(w):
    """(a question about a table as typed, its SQL)"""
    while True:
        questions, sql = w.any(*data.QUERIES).split(" => ")
        table = w.any(*data.TABLES)
        columns = data.TABLES[table].split()
        numeric = [c for c in columns if c in data.NUMERIC]
        if w.chance(0.25):
            table = lexicon.plural(w.noun())
        if numeric or "{k}" not in sql:
            break
    slots_ = {"t": table, "c": w.any(*[c for c in columns if c not in data.NUMERIC] or columns), "k": w.any(*(numeric or columns)), "n": w.any(w.number(2, 100), w.number(1, 99) * 100), "m": w.number(2, 20), "v": w.any(w.noun(), w.city(), w.first_name())}
    text = typists(w, form(w, w.any(*questions.split(" ; "))), 0.8)
    return fill(text, slots_), sql.format_map(slots_)


def value(w, kind):
    """(as it is said, the argument)"""
    if kind == "city":
        v = w.city() if w.chance(0.85) else w.any("Malmö", "San Sebastián", "São Paulo", "New York", "Los Angeles", "Zürich", "Tromsø", "Kraków", "St. Gallen", "Bad Homburg", "Rio de Janeiro", "Den Haag")
    elif kind == "day":
        v = w.any("today", "tomorrow", "tonight", *lexicon.DAYS)
    elif kind == "dayword":
        v = w.any("today", "tomorrow", *lexicon.DAYS, f"next {w.any(*lexicon.DAYS)}", f"{w.number(1, 28)} {w.any(*lexicon.MONTHS)}")
        return (v if v.startswith(("to", "next")) else f"on {v}"), v
    elif kind == "clock":
        return clock_said(w)
    elif kind == "minutes":
        n = w.any(w.number(1, 20), w.number(1, 12) * 5, w.number(2, 120))
        words = [f"{n} minutes", f"{n} min", f"{n} minutes", f"{n} mins"] + ([f"{lexicon.in_words(n)} minutes"] * 2 if n < 61 else []) + ([HALVES[n]] * 2 if n in HALVES else [])
        return (w.any(*words) if n > 1 else "one minute"), n
    elif kind == "degrees":
        n = w.any(w.number(15, 26), w.number(15, 26), w.number(15, 25) + 0.5)
        return (lexicon.in_words(n) if isinstance(n, int) and w.chance(0.15) else str(n)), n
    elif kind == "amount":
        n = w.any(w.number(2, 99), w.number(1, 99) * 10, round(w.number(1, 300) + w.number(1, 99) / 100, 2))
        return str(n), n
    elif kind.startswith("int:"):
        low, high = map(int, kind[4:].split(":"))
        n = w.number(low, high)
        return (lexicon.in_words(n) if n < 13 and w.chance(0.35) else str(n)), n
    elif kind.startswith("of:"):
        v = w.any(*kind[3:].split("|"))
    elif kind == "bool":
        v = w.chance(0.5)
    elif kind.startswith("any:"):
        said = w.any(*kind[4:].split("|"))
        v = said.removeprefix("the ").removeprefix("a ")
        return said, v
    elif kind == "done":
        v = True
    elif kind == "room":
        v = w.any(*domains.ROOMS, "dining room", "hallway", "nursery", "guest room", "study", "cellar") if w.chance(0.8) else w.noun()
    elif kind == "first":
        v = w.first_name()
    elif kind == "person":
        v = w.person()
    elif kind == "message":
        v = w.any(*data.MESSAGES) if w.chance(0.35) else free_message(w)
    elif kind == "task":
        v = w.any(*data.TASKS) if w.chance(0.4) else free_task(w) if w.chance(0.5) else f"{w.any('buy', 'fix', 'clean', 'sell', 'check', 'find', 'paint', 'bring back', 'order')} the {w.noun()}"
    elif kind == "taskname":
        v = w.any("gym", "work", "school", "the flight", "yoga", "medicine", "early shift", "dinner", "rent", "the tickets", w.noun())
    elif kind == "grocery":
        v = w.any(*data.GROCERIES) if w.chance(0.75) else lexicon.plural(w.noun())
    elif kind == "event":
        v = w.any("dentist", "lunch with {p}", "a meeting with {p}", "yoga", "dinner with {p}", "parents' evening", "the team meeting", "a haircut", "an interview", "a concert", "football training", "piano lesson", "doctor's appointment", "{p}'s birthday", "a call with {p}", "car inspection").format(p=w.first_name()) if w.chance(0.7) else domains.value(w, "event")
        bare = v.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        return v, bare
    elif kind in ("date", "code", "email", "path"):
        v = slots.value_of(w, kind)
        if kind == "path" and w.chance(0.5):
            v = f"{w.any('', '', 'src/', 'docs/', './', '/etc/', '/tmp/', 'config/')}{w.any(w.noun(), w.fresh(), 'README', 'config', 'settings', 'main', 'notes', 'package', 'setup', 'index', 'test')}.{w.any('txt', 'md', 'py', 'json', 'yaml', 'toml', 'ini', 'csv', 'log', 'html', 'conf', 'js')}"
        if kind == "code" and w.chance(0.4):
            v = w.any(f"{w.number(10, 99)}-{w.number(100, 9999)}", str(w.number(10, 99999)), f"{w.any('A', 'B', 'X', 'K')}{w.number(10, 9999)}")
    elif kind == "folder":
        v = w.any("src", "docs", "lib", "tests", "/etc", "/tmp", "/var/log", "build", "app", "data", "scripts", "src/utils", w.noun(), f"/home/{w.fresh()}", f"{w.noun()}/{w.noun()}")
    elif kind == "subject":
        v = w.any("Invoice", "Meeting", "Hello", "Question", "Holiday", "Your order", "Tomorrow", "Documents", "Report", "Party", "News", capital(w.noun()), f"{capital(w.adjective())} {w.noun()}")
    elif kind == "music":
        v = w.any(*data.MUSIC) if w.chance(0.5) else w.any(domains.value(w, "song"), f"{domains.value(w, 'song')} by {w.person()}", w.person())
        return v, v.removeprefix("some ").removeprefix("a ") if v in data.MUSIC else v
    elif kind == "topic":
        v = w.any(domains.value(w, "topic"), f"{w.adjective()} {w.noun()}", f"{w.noun()} in {w.city()}", w.person(), f"how to {w.any(*data.TASKS)}", say(w, data.TOPICS, x=w.noun(), c=w.city(), n=w.person(), y=w.number(1990, 2027), o=w.any(*lexicon.KINDS["country"])))
    elif kind == "language":
        v = w.any(*lexicon.KINDS["language"])
    elif kind == "currency":
        if w.chance(0.4):
            said = w.any(*data.MONEY)
            return said, data.MONEY[said]
        v = w.any(*domains.CURRENCIES, "PLN", "NOK", "DKK", "INR", "CNY", "MXN")
    elif kind == "expression":
        v = w.any(f"{w.number(2, 999)} {w.any('+', '-', '*', '/')} {w.number(2, 999)}", f"{w.number(2, 99)}{w.any('+', '-', '*', '/')}{w.number(2, 99)}", f"({w.number(2, 99)} + {w.number(2, 99)}) * {w.number(2, 99)}")
    elif kind == "symbol":
        if w.chance(0.3):
            said = w.any(*data.COMPANIES)
            return said, data.COMPANIES[said]
        v = domains.value(w, "symbol")
    elif kind == "glob":
        said = w.any(*data.KINDS_OF_FILES) if w.chance(0.6) else None
        if said:
            return said, data.KINDS_OF_FILES[said]
        v = f"*.{w.any('txt', 'log', 'py', 'md', 'bak', 'tmp', 'cpp', 'rs', w.fresh())}" if w.chance(0.5) else f"{w.noun()}*"
    elif kind == "restaurant":
        v = w.any("Il Forno", "Luigi's", "the Golden Fork", "Sakura", "Chez {N}", "{N}'s", "Bar {N}", "Cafe {N}", "La {N}", "the {N} Grill", "{N}").format(N=capital(w.any(w.noun(), w.fresh(), w.first_name())))
    elif kind == "reason":
        v = w.any(*data.REASONS)
    elif kind == "problem":
        v = w.any(*data.PROBLEMS) if w.chance(0.7) else f"the {w.noun()} is broken"
    elif kind == "snippet":
        v = w.any(f"{w.fresh()}={w.any('true', 'false', 'on', 'off', w.number(0, 9999))}", w.noun(), f"{w.fresh()}_{w.fresh()}", f"port = {w.number(80, 9999)}", f"v{w.number(0, 9)}.{w.number(0, 20)}", str(w.number(1, 9999)), f"{w.noun()}: {w.noun()}", w.fresh())
    elif kind == "symbolname":
        v = w.any(f"{w.fresh()}_{w.fresh()}", f"{w.fresh()}{capital(w.fresh())}", f"parse_{w.noun()}", f"get_{w.noun()}", "TODO", capital(w.noun()) + w.any("Error", "Manager", "Service"), f"load{capital(w.noun())}", f"is_{w.adjective()}", w.fresh())
    elif kind == "command":
        v = w.any(*data.COMMANDS) if w.chance(0.6) else w.any(f"ls {value(w, 'folder')[1]}", f"cat {value(w, 'path')[1]}", f"mkdir {w.noun()}", f"rm {value(w, 'path')[1]}", f"wc -l {value(w, 'path')[1]}", f"grep {w.noun()} {value(w, 'path')[1]}", f"python {w.noun()}.py", f"git checkout {w.noun()}", f"pip install {w.fresh()}", f"npm install {w.fresh()}", f"head -n {w.number(1, 50)} {value(w, 'path')[1]}", f"echo {w.noun()}")
    elif kind == "place":
        v = w.any(w.city, lambda: draw(w, "street")[0], lambda: w.any(*VENUES[:14]), lambda: w.any("the airport", "the main station", "home", "the office", "the hospital", "the university", "Central Park", "the zoo"))().replace("{n}", "4")
    elif kind == "street":
        v = f"{w.number(1, 200)} {capital(w.noun())} {w.any('Street', 'Road', 'Lane')}"
    elif kind == "placekind":
        v = w.any(*data.PLACE_KINDS)
    elif kind == "dish":
        v = w.any(*lexicon.KINDS["dish"], "apple pie", "chocolate cake", "fried rice", "tomato soup", "pad thai")
    elif kind == "door":
        v = w.any("front", "back", "garage", "garden", "cellar", "main", "side", "balcony", "office")
    elif kind == "word":
        v = w.any(w.adjective, w.noun, w.fresh)()
    elif kind == "topicword":
        v = w.any("sports", "politics", "science", "technology", "music", w.city(), "the economy", "football", "space", "health")
    elif kind == "service":
        v = w.any(*data.SERVICES) if w.chance(0.7) else w.fresh()
        return v, v.removeprefix("the ")
    elif kind == "product":
        v = w.any("kettle", "lamp", "red chair", "camera", "laptop", "garden hose", "tent", "blue jacket", w.noun(), f"{w.adjective()} {w.noun()}")
    elif kind == "commitmsg":
        v = w.any(*data.COMMIT_MESSAGES) if w.chance(0.7) else f"{w.any('fix', 'add', 'remove', 'rename', 'update')} {w.noun()}"
    elif kind == "url":
        v = f"https://{w.fresh()}.{w.any('com', 'org')}/{w.fresh()}"
    elif kind == "files":
        v = ", ".join(value(w, "path")[1].rpartition("/")[2] for _ in range(w.number(1, 5)))
    elif kind == "phonenr":
        v = draw(w, "phone")[0]
    elif kind == "hex":
        v = "".join(w.rng.choices("0123456789abcdef", k=7))
    elif kind == "output":
        v = w.any("ok", "done", "0 errors", f"{w.number(1, 90)} files", "all tests passed", f"{w.number(1, 9)} failed", w.noun())
    elif kind == "sql":
        v = query(w)[1]
    elif kind in ("money", "real"):
        v = domains.value(w, kind)
    else:
        raise ValueError(kind)
    return v if isinstance(v, str) else str(v), v


def schema(kind):
    if kind in ("minutes",) or kind.startswith("int:"):
        return {"type": "integer"}
    if kind in ("degrees", "amount"):
        return {"type": "number"}
    if kind == "bool":
        return {"type": "boolean"}
    if kind.startswith("of:"):
        return {"type": "string", "enum": kind[3:].split("|")}
    return {"type": "string"}
