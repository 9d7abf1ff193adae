"""Many tools as households, offices and engineers have them, and the many ways in which people need them."""

import re

from .. import calls as plain_calls
from . import needs
from .tables import toolbox_home, toolbox_work
from .grammar import capital, form, listing, typists
from .needs import call, polished, thought, user
from .toolbox_values import schema, value

FILLER = re.compile(r"\{x[nctdk]\}")


def _parse(text):
    """[tool]: as in needs, with family and what it is confused with, and a question for each parameter."""
    tools = []
    for line in text.strip().split("\n"):
        mark, rest = line[0], line[1:].strip()
        if mark == "@":
            names, description, family = rest.split(" | ")
            tools.append({"names": names.split(), "descriptions": [description], "family": family.split("/")[0], "what": family, "parameters": [], "full": [], "partial": [], "questions": {}})
        elif mark == "=":
            needs._add(tools[-1], rest)
        elif mark == ">":
            fields, answer = rest.split(" | ")
            tools[-1].update(result=[tuple(f.split(" ", 1)) for f in fields.split(", ")], answer=answer)
        else:
            letter, names, kind, description, asked = line.split(" | ")
            noun, _, question = asked.partition(" / ")
            tools[-1]["parameters"].append((letter[0], letter.endswith("!"), names.split(), kind, [description], noun))
            tools[-1]["questions"][letter[0]] = question or f"What is the {noun}?"
    return tools


TOOLS = _parse(toolbox_home.TOOLS) + _parse(toolbox_work.TOOLS)
FAMILIES = {f: [t for t in TOOLS if t["family"] == f] for f in {t["family"] for t in TOOLS}}


def restyled(w, name, style):
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace(".", "_").replace("-", "_").lower().split("_")
    return {"snake": "_".join(parts), "camel": parts[0] + "".join(p.capitalize() for p in parts[1:]), "dotted": ".".join((parts[0], "_".join(parts[1:]))) if len(parts) > 1 else name, "dashed": "-".join(parts)}[style]


class Tool(needs.Need):
    """A tool of the table under one of its names."""

    def __init__(self, w, entry, taken=()):
        self.entry, self.relaxed, self.words = entry, False, None
        while True:
            name = w.any(*entry["names"])
            self.name = name if w.chance(0.6) else restyled(w, name, w.any("snake", "camel", "dashed", "snake")) if w.chance(0.75) else w.any("mcp__", "my_", "api_", "tool_", f"{w.noun()}_") + name.replace(".", "_")
            if self.name not in taken:
                break
        self.names = {}
        for letter, _, names, _, _, _ in entry["parameters"]:
            name = w.any(*[n for n in names if n not in self.names.values()])
            self.names[letter] = restyled(w, name, "camel") if "_" in name and name != name.upper() and self.name != self.name.lower() else name
        self.required = [p[0] for p in entry["parameters"] if p[1]]

    def definition(self, w):
        properties, required = {}, []
        for letter, must, _, kind, descriptions, _ in self.entry["parameters"]:
            name, typed = self.names[letter], schema(kind)
            plain = kind in ("onoff", "clock", "date", "dmy", "when") or typed["type"] == "string" and "enum" not in typed and not w.chance(0.8)
            properties[name] = {**typed, "description": descriptions[0]} if kind in ("onoff", "clock", "date", "dmy", "when") or not plain and w.chance(0.85) else typed
            required += [name] * must
        return {"type": "function", "function": {"name": self.name, "description": self.entry["descriptions"][0] + w.any("", "", "."), "parameters": {"type": "object", "properties": properties, "required": required}}}

    def draw(self, w, given, pattern):
        text = form(w, pattern)
        self.values, self.said = {}, {}
        for letter, _, _, kind, _, _ in self.entry["parameters"]:
            if "{" + letter + "}" in text:
                while True:
                    said, v = value(w, kind)
                    if v not in self.values.values() or isinstance(v, bool):
                        break
                self.said[letter], self.values[letter] = said, v
            elif letter in given:
                v = given[letter]
                self.values[letter] = int(v) if schema(kind)["type"] == "integer" else v
        self.missing = [p for p in self.entry["parameters"] if p[1] and p[0] not in self.values]
        return text

    def request(self, w, full=True):
        given, pattern = w.any(*self.entry["full" if full else "partial"])
        self.text_template = text = self.draw(w, given, pattern)
        shown = dict(self.said, xn=w.first_name(), xc=w.city(), xt=w.noun(), xd=w.any("Monday", "Friday", "Sunday"), xk=str(w.number(2, 90)))
        typed = typists(w, text, 0.9 if w.chance(0.5) else 0.3)
        # "on on Friday": what is said brings its own preposition
        return polished(w, re.sub(r"\b(on|at|in) (?=(?:on|at|in) )", "", typed.format_map(shown)) if any(p[3] == "when" for p in self.entry["parameters"]) else typed.format_map(shown))

    def result(self, w):
        self.found = {f: value(w, k)[1] for f, k in self.entry["result"]}
        return dict(self.found)

    def answer(self):
        shown = {k: self.said.get(k, ", ".join(v) if isinstance(v, list) else v) for k, v in self.values.items()}
        shown |= self.found
        if any("{" + p[0] + "}" in self.entry["answer"] and p[0] not in shown for p in self.entry["parameters"]):
            return "Done."
        text = self.entry["answer"].format_map(shown)
        return text if self.entry["answer"][0] == "{" else capital(text)  # a path or a name stays as it is


def toolset(w, used, besides=()):
    """All tools of the prompt, shuffled: near misses of the same family among them."""
    count = w.rng.choices((1, 2, 3, 4, 5, 6, 8), (14, 22, 26, 16, 10, 7, 5))[0]
    tools, whats = [*used, *besides], {t.entry["what"] for t in used}
    entries = [t.entry for t in tools]
    for _ in range(60):
        if len(tools) >= count:
            break
        entry = w.any(*FAMILIES[w.any(*used).entry["family"]]) if w.chance(0.4) else w.any(*TOOLS)
        if entry in entries or "/" in entry["what"] and entry["what"] in whats:
            continue
        tools.append(Tool(w, entry, [t.name for t in tools]))
        entries.append(entry)
    w.rng.shuffle(tools)
    return tools


def tool_of(w, full=True):
    while True:
        entry = w.any(*TOOLS)
        if entry["full" if full else "partial"]:
            return Tool(w, entry)


def checked(chosen):
    return {"calls": [{"name": t.name, "arguments": t.arguments()} for t in chosen], "everyday": True, "contains": []}


def reported(w, tool, messages):
    """The result or an error, and what is said about it."""
    return needs.after(w, tool, messages)


def single(w):
    used = tool_of(w)
    question = used.request(w)
    tools = toolset(w, [used])
    messages, check = [user(question), plain_calls.assistant(thought(w, used), "", [call(used)])], checked([used])
    if w.chance(0.3):
        check["contains"] = reported(w, used, messages)
    return messages, tools, check


def missing(w):
    used = tool_of(w, False)
    question = used.request(w, False)
    tools = toolset(w, [used])
    labels = [used.names[p[0]] for p in used.missing]
    nouns = [p[5] for p in used.missing]
    if len(nouns) == 1 and w.chance(0.75):
        ask = used.entry["questions"][used.missing[0][0]]
    else:
        ask = needs.ask_for(w, nouns)
    messages = [user(question), plain_calls.assistant(f"{used.name} fits, but {listing(labels)} {'are' if len(labels) > 1 else 'is'} missing.", ask)]
    check = {"calls": [], "contains": []}
    if w.chance(0.5):
        said = []
        for p in used.missing:
            text, v = value(w, p[3])
            used.values[p[0]], used.said[p[0]] = v, text
            said.append((p[5].split(" /")[0], text))
        if len(said) == 1:
            text = answered(w, used.missing[0], said[0][1])
        else:
            text = w.any(", ", "; ", "\n", " and ").join(v for _, v in said) if len({p[3] for p in used.missing}) == len(said) and w.chance(0.5) else w.any(", ", "\n").join(f"{n.split(',')[0]}: {v}" for n, v in said)
        prefix = f"The answer to my question: {said[0][1]}. " if len(said) == 1 else ""
        messages += [user(text), plain_calls.assistant(prefix + thought(w, used), "", [call(used)])]
        check = checked([used])
    return messages, tools, check


def answered(w, parameter, v):
    """A value as the answer to a question back, with the words that people put around it."""
    _, _, names, kind, _, noun = parameter
    around = ["{v}", "{v}", "{v} please", "{v}.", "oh, {v}", "{v}, thanks", "sorry, {v}", "let's say {v}", "I'd say {v}", "make it {v}", "it's {v}", "its {v}", "it is {v}", "that's {v}", "I think it's {v}", "sure, {v}", "ah right, {v}", "{v}, if that helps"]
    if kind in ("city", "country", "place"):
        around += {"f": ["from {v}", "From {v}", "starting in {v}", "I'm in {v}"], "t": ["to {v}", "going to {v}"]}.get(next((x for x, ns in (("f", ("from", "origin", "start")), ("t", ("to", "destination"))) if set(ns) & set(names)), ""), ["in {v}", "In {v}", "for {v}", "I live in {v}"]) * 2
    elif kind in ("code", "issue"):
        around += ["number {v}", "the number is {v}", "the one with {v}", "here it is: {v}", "it says {v}"] * 2
    elif kind in ("first", "person"):
        around += ["with {v}", "for {v}", "{v}, I mean"] if kind == "person" else ["for {v}"]
    return w.any(*around).format(v=v)


def none_fits(w):
    wanted = tool_of(w)
    question = wanted.request(w, bool(w.chance(0.8) or not wanted.entry["partial"]))
    tools = []
    count = w.number(1, 5)
    while len(tools) < count:
        entry = w.any(*TOOLS)
        if entry["family"] != wanted.entry["family"] and entry["family"] not in ("web", "shell") and (entry["family"], wanted.entry["family"]) not in OVERLAPS and entry not in [t.entry for t in tools]:
            tools.append(Tool(w, entry, [t.name for t in tools]))
    return [user(question), plain_calls.assistant(f"The tools: {listing([t.name for t in tools])}. None fits.", w.any(*needs.DECLINE, "I have no tool for that.", "Sorry, there is no tool here that can do that."))], tools, {"calls": [], "contains": []}


# Families whose tools could be meant by each other's requests.
OVERLAPS = {(a, b) for x, y in [("time", "work"), ("time", "mail"), ("time", "notes"), ("notes", "work"), ("chat", "mail"), ("home", "music"), ("food", "shopping"), ("health", "food"), ("health", "time"), ("data", "shell"), ("dev", "ops"), ("ops", "cloud"), ("dev", "files"), ("files", "notes"), ("travel", "maps"), ("travel", "weather"), ("crm", "mail"), ("crm", "data"), ("shopping", "data"), ("leisure", "travel"), ("leisure", "food"), ("money", "data"), ("home", "time"), ("time", "leisure"), ("dev", "work"), ("shopping", "travel"), ("work", "mail"), ("work", "chat"), ("home", "chat")] for a, b in ((x, y), (y, x))}


def several(w):
    """Two or three needs at once, of several tools or of one."""
    first = tool_of(w)
    texts, chosen = [first.request(w).rstrip(".?! ")], [first]
    used = [first]
    if w.chance(0.6):
        while len(chosen) < w.any(2, 2, 2, 3):
            other = tool_of(w)
            if other.entry["what"] in [t.entry["what"] for t in used if "/" in t.entry["what"]] or other.entry in [t.entry for t in used] or other.name in [t.name for t in used]:
                continue
            texts.append(other.request(w).rstrip(".?! "))
            chosen.append(other)
            used.append(other)
        text = texts[0]
        for t in texts[1:]:
            text += w.any(". ", ". ", "\n", "; ", " and ", ". And ", ". Also: ", " - oh, and ", ". Then ", ". Next thing: ") + t
    else:
        kinds = {p[0]: p[3] for p in first.entry["parameters"]}
        letters = [x for x in first.said if kinds[x] in SERIES and len(first.said) < 3]
        if not letters:
            return several(w)
        letter = w.any(*letters)
        values, said = needs.values_of(first, letter, 2, lambda: value(w, kinds[letter]))
        shown = dict(first.said, xn=w.first_name(), xc=w.city(), xt=w.noun(), xd="Monday", xk="7")
        shown[letter] = listing(said, w.any("and", "and", "and", "&", "and also", "plus"))
        text = polished(w, typists(w, first.text_template, 0.4).format_map(shown))
        chosen = [copied(first, {**first.values, letter: v}) for v in values]
    messages = [user(text), plain_calls.assistant(f"{len(chosen)} calls: {listing([needs.planned(t) for t in chosen])}.", "", [call(t) for t in chosen])]
    check = checked(chosen)
    if w.chance(0.25):
        answers = []
        for t in chosen:
            messages.append({"role": "tool", "content": needs.tool_text(w, t)})
            answers.append(t.answer())
        messages.append(plain_calls.assistant("All results are there.", " ".join(a if a.endswith((".", "!", "?")) else a + "." for a in answers)))
    return messages, toolset(w, used), check


SERIES = ("city", "room", "code", "issue", "host", "path", "symbol", "song", "service", "email", "first", "branch", "language", "word", "dish")


def copied(tool, values):
    copy = object.__new__(Tool)
    copy.__dict__.update(tool.__dict__, values=values, said={k: v for k, v in tool.said.items() if values.get(k) == tool.values[k]})
    return copy


def corrected(w):
    """One value of the last request changes."""
    while True:
        used = tool_of(w)
        question = used.request(w)
        kinds = {p[0]: p[3] for p in used.entry["parameters"]}
        letters = [x for x in used.said if not kinds[x].startswith("list:") and kinds[x] not in ("shout", "message", "task")]
        if letters and len({kinds[x] for x in used.said}) == len(used.said):
            break
    tools = toolset(w, [used])
    messages = [user(question), plain_calls.assistant(thought(w, used), "", [call(used)])]
    reported(w, used, messages)
    plain_calls.without_thoughts(messages)
    letter = w.any(*letters)
    old = used.said[letter]
    while (drawn := value(w, kinds[letter]))[1] == used.values[letter]:
        pass
    said, used.values[letter] = drawn
    text = w.any("no wait, {v}", "make that {v}", "I meant {v}, sorry", "{v} instead of {o}", "and the same with {v}", "hmm, rather {v}", "oops, not {o} but {v}", "do it again with {v}", "now {v}", "change {o} to {v}", "what about {v}?").format(v=said, o=old)
    messages += [user(text), plain_calls.assistant(f"The same with {said}. {thought(w, used)}", "", [call(used)])]
    return messages, tools, checked([used])


SMALL_TALK = [("thanks, that's all", "You are welcome!"), ("Perfect, thank you!", "You are welcome!"), ("great, you're a star", "Thank you! I am glad that it helped."), ("hi", "Hello! What can I do for you?"), ("good morning", "Good morning! What can I do for you?"), ("bye", "Goodbye!"), ("never mind", "All right."), ("forget it, I'll do it myself", "All right.")]


def no_need(w):
    """Nothing is to be done: talk, or a question that needs no tool."""
    used = tool_of(w)
    tools = toolset(w, [used])
    past = []
    if w.chance(0.4):
        past = [user(used.request(w)), plain_calls.assistant("", "", [call(used)])]
        reported(w, used, past)
        plain_calls.without_thoughts(past)
    if w.chance(0.6) or past:
        text, answer = w.any(*SMALL_TALK[:3] if past else SMALL_TALK)
        return past + [user(text), plain_calls.assistant("No tool is needed. A friendly answer.", answer)], tools, {"calls": [], "contains": []}
    a, b = w.number(2, 40), w.number(2, 40)
    text = w.any("what's {a} plus {b}?", "{a} + {b}?", "quick maths: {a} and {b} together", "how much is {a} plus {b}").format(a=a, b=b)
    return [user(text), plain_calls.assistant(f"No tool is needed. {a} + {b} = {a + b}.", str(a + b))], tools, {"calls": [], "contains": [str(a + b)]}


# What is listed: its tool's name and description, columns (the last is a number), what is asked for first, and the questions
# for the least and the most, and the call that follows: name, parameter, how it is asked for.
LISTS = [("search_flights", "Lists flights between two cities", ("flight", "price"), "flights from {c} to {e}|what goes by air from {c} to {e}|planes {c} - {e}", "cheapest", "most expensive", "book_flight", "flight", "book {w}|take {w}|I'll fly with {w}"),
         ("list_invoices", "Lists the open invoices", ("invoice", "amount"), "what bills are open|open invoices please|do I owe anybody anything", "smallest", "largest", "pay_invoice", "invoice", "pay {w}|settle {w}|get {w} off my neck"),
         ("list_servers", "Lists the servers with their load", ("server", "load"), "how are the servers doing|server overview|which servers do we have", "least busy", "busiest", "restart_server", "server", "restart {w}|reboot {w}|give {w} a fresh start"),
         ("search_hotels", "Lists hotels of a city", ("hotel", "price"), "hotels in {c}|where can I sleep in {c}|what does {c} have to offer for the night", "cheapest", "most expensive", "book_hotel", "hotel", "book {w}|reserve {w}|I want {w}"),
         ("list_files", "Lists files with their size", ("file", "size"), "what's in {f}|files in {f}|show me {f}", "smallest", "largest", "delete_file", "file", "delete {w}|throw {w} away|{w} can go"),
         ("list_jobs", "Lists the running jobs with their minutes", ("job", "minutes"), "what is running|jobs please|show the queue", "shortest", "longest", "cancel_job", "job", "cancel {w}|kill {w}|stop {w}"),
         ("search_products", "Lists products for a query", ("product", "price"), "show me some {x}s|I need a {x}|do you have {x}s", "cheapest", "most expensive", "add_to_cart", "product", "put {w} in my cart|I'll take {w}|buy {w}"),
         ("list_issues", "Lists issues with their age in days", ("issue", "age"), "open issues|what's on the board|any bugs left", "newest", "oldest", "close_issue", "issue", "close {w}|{w} can be closed|shut {w}"),
         ("list_trains", "Lists trains between two cities", ("train", "minutes"), "trains {c} to {e}|I need to get from {c} to {e} by rail|rail connections {c} {e}", "fastest", "slowest", "reserve_seat", "train", "a seat on {w} please|reserve {w}|book me onto {w}"),
         ("list_candidates", "Lists applicants with their score", ("candidate", "score"), "who applied|the applicants please|how did the candidates do", "worst", "best", "invite_candidate", "candidate", "invite {w}|we want to see {w}|send {w} an invitation")]


class Plain:
    """A tool without a row in the table."""

    def __init__(self, name, description, properties, values=None):
        self.name, self.description, self.properties, self.values = name, description, properties, values or {}

    def definition(self, w):
        return {"type": "function", "function": {"name": self.name, "description": self.description, "parameters": {"type": "object", "properties": {p: {"type": "string"} for p in self.properties}, "required": list(self.properties)}}}

    def arguments(self):
        return self.values


def listed(w):
    """A list, a question about it, and a call for one of its rows."""
    name, description, (label, number), openings, least, most, action, parameter, orders = w.any(*LISTS)
    c, e, f, x = w.city(), w.city(), value(w, "folder")[1], w.noun()
    wanted = {"search_flights": {"from": c, "to": e}, "list_trains": {"from": c, "to": e}, "search_hotels": {"city": c}, "list_files": {"folder": f}, "search_products": {"query": x}}.get(name, {})
    style = w.any("snake", "snake", "camel", "dashed")
    lister, doer = Plain(restyled(w, name, style), description, list(wanted), wanted), Plain(restyled(w, action, style), capital(action.replace("_", " ")), [parameter])
    names, values = [], []
    while len(names) < w.any(3, 3, 4, 5):
        a = {"flight": lambda: f"{w.any('LX', 'QF', 'TP', 'OS', 'AY')}{w.number(10, 990)}", "invoice": lambda: f"R-{w.number(100, 9999)}", "server": lambda: value(w, "host")[1], "file": lambda: f"{w.any(w.noun, w.fresh)()}.{w.any('txt', 'zip', 'log')}", "job": lambda: f"{w.noun()}-{w.number(1, 99)}", "issue": lambda: value(w, "issue")[1], "train": lambda: f"{w.any('IC', 'RE', 'EC')} {w.number(10, 990)}", "candidate": w.first_name}.get(label, lambda: capital(w.any(w.noun, w.fresh)()))()
        n = w.number(1, 400)
        if a not in names and n not in values:
            names.append(a)
            values.append(n)
    text = form(w, openings)
    asked, low = w.number(0, 2), w.chance(0.5)
    word, best = (least, min(values)) if low else (most, max(values))
    row = names[values.index(best)]
    messages = [user(polished(w, typists(w, text, 0.6).format(c=c, e=e, f=f, x=x))), plain_calls.assistant(f"{lister.name} fits" + (": " + listing([f"{k} {v}" for k, v in wanted.items()]) if wanted else "") + ".", "", [call(lister)]),
                {"role": "tool", "content": needs.json.dumps([{label: a, number: n} for a, n in zip(names, values)], ensure_ascii=False) if w.chance(0.7) else "\n".join(f"{a}: {n}" for a, n in zip(names, values))},
                plain_calls.assistant(f"{len(names)} rows.", w.any(", ".join, "; ".join)([f"{a} ({n})" for a, n in zip(names, values)]))]
    if asked:
        question = typists(w, form(w, w.any("which (one |){l}is the {m}[?]", "what's the {m} [one][?]", "and the {m} [one]?", "the {m}?", "is there a {m} one, which?", "tell me the {m}")).replace("{l}", "").replace("{m}", word), 0.6)
        messages += [user(question), plain_calls.assistant(f"{'; '.join(f'{a} {n}' for a, n in zip(names, values))}. The {word}: {best}, {row}.", f"{row} with {best}.")]
    if not asked or w.chance(0.5):
        if asked and w.chance(0.6):
            said, target = w.any("it", "that one"), row
        elif w.chance(0.6):
            said, target = f"the {word} one" if w.chance(0.7) else f"the {word}", row
        else:
            i = w.rng.randrange(len(names))
            said, target = w.any((names[i], names[i]), (f"the {('first', 'second', 'third', 'fourth', 'fifth')[i]} one", names[i]), ("the last one", names[-1]))
        doer.values = {parameter: target}
        messages += [user(polished(w, typists(w, form(w, orders), 0.5).replace("{w}", said))), plain_calls.assistant(f"{said} is {target}. {doer.name} fits: {parameter} {target}." if said != target else f"{doer.name} fits: {parameter} {target}.", "", [call(doer)])]
    tools = [lister, doer]
    plain_calls.without_thoughts(messages[:-1])
    for _ in range(w.number(0, 3)):
        tools.append(Tool(w, w.any(*(FAMILIES["health"] + FAMILIES["music"] + FAMILIES["words"])), [t.name for t in tools]))
    w.rng.shuffle(tools)
    last = messages[-1]
    return messages, tools, {"calls": [{"name": doer.name, "arguments": doer.arguments()}], "everyday": True} if last.get("tool_calls") else {"calls": [], "contains": [row]}


SHARES = {single: 44, listed: 9, missing: 21, several: 15, none_fits: 9, corrected: 7, no_need: 3}


def dialogue(w):
    """(messages, definitions, check)"""
    messages, tools, check = w.rng.choices(list(SHARES), list(SHARES.values()))[0](w)
    return messages, [t.definition(w) for t in tools], check
