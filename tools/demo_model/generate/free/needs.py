"""Tools as people use them: a need and not an order, arguments that are missing, tools that do not fit, several calls,
results and errors, files and shell."""

import json

from .. import calls as plain_calls
from .. import slots
from .tables import needs as data
from .tables import needs_more
from .tables.needs_said import SAID
from .grammar import capital, form, listing, say, typists
from .need_values import free_message, query, schema, value


def _add(tool, requests):
    for request in requests.split(" ; "):
        fixed, _, pattern = request.rpartition(" > ")
        given = dict(f.split(":") for f in fixed.split(",")) if fixed else {}
        required = [p[0] for p in tool["parameters"] if p[1]]
        full = all("{" + r + "}" in pattern or r in given or "{" + r.upper() + "}" in pattern for r in required)
        tool["full" if full else "partial"].append((given, pattern))


def _parse():
    """[tool]: names, descriptions, parameters [(letter, required, names, kind, descriptions, asked)], full and partial
    requests [(fixed values, pattern)], result [(field, kind)], answer."""
    tools = []
    for line in (data.TOOLS.strip() + needs_more.TOOLS.rstrip()).split("\n"):
        mark, rest = line[0], line[1:].strip()
        if mark == "@":
            names, descriptions = rest.split(" | ")
            tools.append({"names": names.split(", "), "descriptions": descriptions.split(" ; "), "parameters": [], "full": [], "partial": []})
        elif mark == "=":
            _add(tools[-1], rest)
        elif mark == ">":
            fields, answer = rest.split(" | ")
            tools[-1].update(result=[tuple(f.split(" ", 1)) for f in fields.split(", ")], answer=answer)
        else:
            letter, names, kind, descriptions, asked = line.split(" | ")
            tools[-1]["parameters"].append((letter[0], letter.endswith("!"), names.split(), kind, descriptions.split(" ; "), asked))
    by_name = {t["names"][0]: t for t in tools}
    for name, requests in SAID:
        _add(by_name[name], requests)
    return tools


TOOLS = _parse()
ENTRIES = {t["names"][0]: t for t in TOOLS}


# Other names of what tools give back.
FIELDS = {k: v.split() for k, v in {"status": "state order_status result current_status", "temperature": "temp temp_c degrees celsius", "condition": "sky weather description summary", "eta": "arrives expected delivery_day arrival due", "price": "cost amount total price_eur", "time": "local_time now current_time clock", "minutes": "duration_min duration takes_min wait",
          "confirmation": "code booking_code reference booking", "flight": "flight_no number code", "departure": "departs leaves_at leaves", "platform": "track gate", "hotel": "name hotel_name", "name": "title found result", "phone": "telephone phone_number tel", "email": "mail email_address", "count": "found n total results", "result": "converted value output", "translation": "translated text result",
          "headline": "title top_story", "distance": "km distance_km", "content": "text body data", "output": "stdout result", "event": "title summary", "definition": "meaning text", "rows": "row_count affected", "ticket": "ticket_id id key", "level": "percent value", "stock": "available in_stock"}.items()}


class Need:
    """A tool drawn from TOOLS: its name and its parameters' names; the interface of schemas.Tool as far as needed."""

    def __init__(self, w, entry=None, taken=()):
        while True:
            self.entry = entry or w.any(*TOOLS)
            self.name = w.any(*self.entry["names"]) if w.chance(0.9) else w.any(*self.entry["names"]) + w.any("_tool", "_v2", "2", "_now", "_api")
            if self.name not in taken:
                break
        self.names = {}
        for letter, _, names, _, _, _ in self.entry["parameters"]:
            self.names[letter] = w.any(*[n for n in names if n not in self.names.values()] or [names[0] + "_2"])
        required = [p[0] for p in self.entry["parameters"] if p[1]]
        when = [p[0] for p in self.entry["parameters"] if p[1] and p[3] in ("clock", "date", "day")]
        self.relaxed = len(required) > 1 and len(when) == 1 and w.chance(0.25)
        self.required = [r for r in required if not self.relaxed or r not in when]
        self.words = w.any(*data.STATES.get(self.entry["names"][0], [None])) if w.chance(0.45) else None  # a truth value as one of two words
        if any(c.isupper() for c in self.name) and w.chance(0.8):
            self.names = {k: slots.styled(n, "camel") for k, n in self.names.items()}

    def definition(self, w):
        properties = {}
        for letter, _, _, kind, descriptions, _ in self.entry["parameters"]:
            typed = {"type": "string", "enum": list(self.words)} if kind == "bool" and self.words else schema(kind)
            properties[self.names[letter]] = {**typed, "description": w.any(*(d for d in descriptions if not self.words or "true" not in d))} if w.chance(0.8) else typed
        return {"type": "function", "function": {"name": self.name, "description": w.any(*self.entry["descriptions"]) + w.any("", "", "."), "parameters": {
            "type": "object", "properties": properties, "required": [self.names[r] for r in self.required]}}}

    def request(self, w, full=True):
        """Draws a request; sets self.said (text of each letter) and self.values."""
        entry = self.entry
        if entry["names"][0] == "query_database":
            return self.sql(w, full)
        if entry["names"][0] == "run_command" and full and w.chance(0.4):
            command = w.any(*data.COMMAND_NEEDS)
            self.values, self.said = {"c": command}, {"c": command}
            return polished(w, typists(w, form(w, w.any(*data.COMMAND_NEEDS[command].split(" ; "))), 0.9))
        if entry["names"][0] == "run_command" and full and w.chance(0.6):
            command = w.any(*data.COMMANDS_ON)
            some = {"f": value(w, "folder")[1], "p": value(w, "path")[1], "q": value(w, "path")[1], "k": str(w.number(2, 400)), "s": w.fresh()}
            self.values, self.said = {"c": command.format_map(some)}, {"c": command.format_map(some)}
            return polished(w, typists(w, form(w, data.COMMANDS_ON[command]), 0.9).format_map(some))
        for _ in range(40):
            some = self.relaxed and w.chance(0.6)
            text = self.draw(w, *w.any(*entry["full" if full and not some or not entry["partial"] else "partial"]))
            if bool(self.missing) != full:
                break
        shown = dict(self.said, **{k.upper(): v for k, v in self.said.items()}, p=self.said.get("p", w.first_name()))
        self.text_template = text
        return polished(w, typists(w, text, 0.9).format_map(shown))

    def draw(self, w, given, pattern):
        """A form of the pattern, its slots unfilled; sets values, said and missing."""
        text = form(w, pattern)
        self.values, self.said = {}, {}
        for letter, _, _, kind, _, _ in self.entry["parameters"]:
            if "{" + letter + "}" in text or "{" + letter.upper() + "}" in text:
                for _ in range(9):
                    said, v = value(w, kind)
                    if v not in self.values.values():
                        break
                if "{M}" in text and letter == "m":
                    said = v = w.any(*data.CLAUSES) if w.chance(0.35) else free_message(w, True)
                if "{Q}" in text and letter == "q":
                    said = v = say(w, data.QUESTIONS, x=w.noun(), c=w.city(), n=w.person(), o=w.any(*data.COUNTRIES), y=w.number(1950, 2025))
                self.said[letter], self.values[letter] = said, v
            elif letter in given:
                self.values[letter] = self.state({"true": True, "false": False}.get(given[letter], given[letter]))
        self.missing = [p for p in self.entry["parameters"] if p[0] in self.required and p[0] not in self.values]
        return text

    def state(self, v):
        """A truth value as this tool wants it."""
        return self.words[0 if v else 1] if self.words and isinstance(v, bool) else v

    def sql(self, w, full):
        if not full:
            self.values, self.said, self.missing = {}, {}, [self.entry["parameters"][0]]
            return say(w, "(run|do|start) a (query|SQL query)[, please]|(query|ask) the database|I need something from the database")
        question, sql = query(w)
        self.values, self.said, self.missing = {"q": sql}, {"q": sql}, []
        return question

    def arguments(self):
        return {self.names[p[0]]: self.values[p[0]] for p in self.entry["parameters"] if p[0] in self.values}

    def result(self, w):
        """Fields and values, under names that differ from tool to tool; often with what was asked."""
        self.found = {f: value(w, k)[1] for f, k in self.entry["result"]}
        shown = {w.any(f, *FIELDS.get(f, [])): v for f, v in self.found.items()}
        if w.chance(0.35):
            shown = {**{k: v for k, v in self.arguments().items() if k not in shown}, **shown}
        return shown

    def answer(self):
        shown = {k: slots.spoken(v) for k, v in {**self.values, **self.found}.items()}
        if any("{" + p[0] + "}" in self.entry["answer"] and p[0] not in shown for p in self.entry["parameters"]):
            return "That is done."
        return capital(self.entry["answer"].format_map(shown))


def polished(w, text):
    r = w.rng.random()
    if r < 0.05:
        text = w.any("Hi! ", "Hello, ", "Hey, ", "hi ", "Good morning, ", "ok ", "so ", "quick: ", "um, ", "Sorry, ", "btw ") + text
    elif r < 0.1:
        text = text.rstrip(".!?") + w.any(" please", ", thanks", " thx", " pls", ", ok?", " for me", " if possible", " asap", " - thank you!", "...")
    return capital(text) if w.chance(0.5) else text


def toolset(w, first=None, most=5):
    """(the tool that is used, all tools shuffled)"""
    count = w.rng.choices((1, 2, 3, 4, 5, 8), (24, 28, 22, 12, 8, 3))[0]
    used = first or Need(w)
    tools, entries = [used], [used.entry["names"][0]]
    near = near_misses(entries[0]) if count > 1 and w.chance(0.4) else []
    if near:
        tools.append(Need(w, w.any(*near), [used.name]))
        entries.append(tools[1].entry["names"][0])
    while len(tools) < min(count, most if most > 4 else count):
        if w.chance(0.15):
            t = plain_calls.draw_tool(w, [x.name for x in tools], 0.0)
        else:
            t = Need(w, taken=[x.name for x in tools])
            if t.entry["names"][0] in entries or similar(t.entry["names"][0], entries):
                continue
            entries.append(t.entry["names"][0])
        tools.append(t)
    w.rng.shuffle(tools)
    return used, tools


SIMILAR = [{"get_weather", "search_web", "get_news"}, {"send_email", "send_message", "call_phone", "get_contact"}, {"set_reminder", "add_todo", "create_note", "create_event", "set_alarm"}, {"set_timer", "set_alarm", "set_reminder"}, {"run_command", "list_directory", "read_file", "grep", "delete_file", "move_file", "write_file", "git_commit", "edit_file"},
           {"search_web", "find_recipe", "define_word", "get_news", "find_places"}, {"calculator", "convert_currency"}, {"find_flights", "find_trains", "get_directions", "book_taxi"}, {"book_table", "find_places", "order_food", "find_hotel"}, {"order_status", "cancel_order", "return_item", "check_stock"}, {"get_logs", "restart_service", "run_command"}, {"shopping_list_add", "add_todo", "order_food"},
           {"create_ticket", "create_note"}, {"get_user", "query_database", "get_contact"}, {"get_time", "get_weather"}, {"plan_meeting", "send_email", "send_message", "call_phone"}, *needs_more.SIMILAR]
CONFUSABLE = {frozenset(p) for p in [("add_todo", "set_reminder"), ("create_note", "add_todo"), ("shopping_list_add", "add_todo"), ("grep", "run_command"), ("list_directory", "run_command"), ("read_file", "run_command"), ("delete_file", "run_command"), ("move_file", "run_command"), ("git_commit", "run_command"), ("search_web", "get_news"),
                                         ("find_places", "search_web"), ("define_word", "search_web"), ("find_recipe", "search_web"), ("get_weather", "search_web"), ("get_user", "query_database"), ("get_logs", "run_command"), ("restart_service", "run_command"), ("find_trains", "get_directions"), ("create_note", "set_reminder"), ("write_file", "create_note"), ("edit_file", "run_command"), ("write_file", "run_command"), ("find_flights", "find_trains"), ("set_timer", "set_reminder")]}


def similar(name, entries):
    """Whether both could be meant by one request."""
    return any(frozenset((name, e)) in CONFUSABLE or any(name in s and e in s for s in needs_more.SIMILAR) for e in entries)


def near_misses(name):
    """Tools for something like it, which no request for it can mean."""
    return [t for t in TOOLS if t["names"][0] != name and any(name in s and t["names"][0] in s for s in SIMILAR) and not similar(t["names"][0], [name])]


def call(tool):
    return plain_calls.call(tool, tool.arguments())


def thought(w, tool):
    given = listing([f"{k} {json.dumps(v, ensure_ascii=False) if not isinstance(v, str) else v}" for k, v in tool.arguments().items() if len(str(v)) < 60] or ["as said"])
    return f"{tool.name} fits: {given}."


def user(text):
    return {"role": "user", "content": text}


ERRORS = ["not found", "timeout", "connection timed out", "permission denied", "404", "no such file or directory", "service unavailable", "invalid argument", "not allowed", "rate limit exceeded", "no results", "unknown id", "internal server error", "network unreachable", "access denied", "disk full", "out of stock", "does not exist"]


def error_result(w):
    """(text of the tool, what went wrong)"""
    error = w.any(*ERRORS) if w.chance(0.75) else w.any(f"no {w.noun()} with that name", f"{w.noun()} is locked", f"{w.noun()} not available", f"allowed range is {w.number(1, 15)} to {w.number(20, 90)}", f"next free at {w.number(8, 21)}:{w.any('00', '15', '30')}", f"only {w.number(1, 9)} left", f"try again in {w.number(2, 50)} minutes", f"{w.fresh()}: command not found")
    text = w.any(json.dumps({"error": error}), json.dumps({"ok": False, "reason": error}), json.dumps({"status": "error", "message": error}), f"Error: {error}", f"ERROR {w.number(400, 599)}: {error}", f"{capital(error)}", json.dumps({"success": False, "error": {"code": w.number(1, 599), "message": error}}), f"Exception: {error}", f"failed: {error}", json.dumps({"status": "failed", "detail": error}))
    return text, error


def tool_text(w, tool):
    result = tool.result(w)
    r = w.rng.random()
    if r < 0.6:
        return json.dumps(result, ensure_ascii=False)
    if r < 0.72:
        return "\n".join(f"{k}: {slots.spoken(v)}" for k, v in result.items())
    if r < 0.82:
        return json.dumps({**result, **{w.fresh(): w.any(w.number(0, 99), w.noun(), True) for _ in range(w.number(1, 3))}}, ensure_ascii=False)
    if r < 0.9:
        return json.dumps(w.any({"data": result}, {"status": "ok", "result": result}, {"results": [result], "total": 1}, {"meta": {"took_ms": w.number(1, 900)}, "data": {w.noun(): result}}), ensure_ascii=False)
    return ", ".join(f"{k} = {slots.spoken(v)}" for k, v in result.items())


def after(w, tool, messages):
    """Adds a result or an error and what is said about it; returns what must be in it."""
    if w.chance(0.2):
        text, error = error_result(w)
        messages += [{"role": "tool", "content": text}, plain_calls.assistant(f"The tool failed: {error}.", w.any("That did not work: {e}.", "That did not work: {e}.", "Sorry, that failed: {e}.", "I could not do it: {e}.").format(e=error))]
        return [error]
    text = tool_text(w, tool)
    answer = tool.answer()
    found = [slots.spoken(v) for v in tool.found.values() if len(str(v)) < 40]
    messages += [{"role": "tool", "content": text}, plain_calls.assistant(f"The result is there: {listing(found)}." if found else "The result is there.", answer)]
    return []


def single(w):
    used, tools = toolset(w)
    question = used.request(w)
    messages = [user(question), plain_calls.assistant(thought(w, used), "", [call(used)])]
    check = {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True, "contains": []}
    if w.chance(0.45):
        check["contains"] = after(w, used, messages)
    return messages, tools, check


def ask_for(w, names):
    return w.any("Could you tell me {x}?", "What {be} {x}?", "Please tell me {x}.", "I need {x}. What {be} {x2}?").format(x=listing(["the " + n for n in names]), be="are" if len(names) > 1 else "is", x2="they" if len(names) > 1 else "it")


def missing(w):
    while True:
        used = Need(w)
        if used.entry["partial"]:
            question = used.request(w, False)
            if used.missing:
                break
    _, tools = toolset(w, used)
    names = [p[5] for p in used.missing]
    labels = [used.names[p[0]] for p in used.missing]
    messages = [user(question), plain_calls.assistant(f"{used.name} fits, but {listing(labels)} {'are' if len(labels) > 1 else 'is'} missing.", ask_for(w, names))]
    check = {"calls": [], "contains": [names[0].split()[0]]}
    if w.chance(0.4):
        kinds = {p[0]: p[3] for p in used.entry["parameters"]}
        said = []
        for p in used.missing:
            text, v = value(w, kinds[p[0]])
            if p[3] == "bool":
                text = {True: "on", False: "off"}[v] if "light" in used.entry["names"][0] else {True: "locked", False: "unlocked"}[v]
            used.values[p[0]] = used.state(v)
            said.append((p[5], text))
        if len(said) == 1:
            text = w.any("{v}", "{v}", "{v}", "{v} please", "{v}.", "the {n} is {v}", "{v}, please", "it's {v}", "its {v}", "I think it's {v}").format(v=said[0][1], n=said[0][0])
        else:
            text = w.any(", ", "; ", "\n").join(w.any("{v}", "{v}") .format(v=v) for _, v in said) if w.chance(0.5) else w.any(", ", "\n").join(f"{n}: {v}" for n, v in said)
        messages += [user(text), plain_calls.assistant(thought(w, used), "", [call(used)])]
        check = {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True}
    return messages, tools, check


DECLINE = ["I cannot do that: I have no tool for it.", "I have no tool for that, so I cannot do it.", "Sorry, I cannot do that with my tools.", "I am not able to do that: none of my tools fits."]


def none_fits(w):
    _, tools = toolset(w)
    entries = [t.entry["names"][0] for t in tools if isinstance(t, Need)]
    while True:
        other = Need(w)
        name = other.entry["names"][0]
        if name in entries or similar(name, entries) or any(name in s and e in s for s in SIMILAR for e in entries) and w.chance(0.5) or name in ("calculator", "translate", "define_word", "get_time") or "run_command" in entries and w.chance(0.8):
            continue
        break
    question = other.request(w, w.chance(0.9))
    if w.chance(0.15):
        question = say(w, "(order|buy|cook|paint|build|fetch) me (a|an) {x}[, please]|(feed|wash|brush|walk) my (dog|cat|horse)|(delete|print|scan|burn) the {x} [for me]|(can|could) you (drive|carry|lift) me to the {x}?|(make|take) a (photo|picture|video) of the {x}|(open|close|clean) the {x}", x=w.noun())
    messages = [user(question), plain_calls.assistant(f"The tools: {listing([t.name for t in tools])}. None fits.", w.any(*DECLINE))]
    return messages, tools, {"calls": [], "contains": []}


def about_tools(w):
    _, tools = toolset(w)
    names = [t.name for t in tools]
    question = typists(w, form(w, "(what are your tools good for|which tools do you have|what tools are there|what can your tools do|(list|name) your tools|which functions can you call|what can I ask you to do with the tools)[?]"), 0.8)
    words = [t.entry["descriptions"][0].lower() if isinstance(t, Need) else t.name.replace("_", " ") for t in tools]
    return [user(question), plain_calls.assistant("The tools stand in the system prompt.", "I can use " + listing([f"{n} ({d})" for n, d in zip(names, words)]) + ".")], tools, {"calls": [], "contains": names[:1]}


def planned(tool):
    """A call as it stands in a thought."""
    values = [slots.spoken(v) for v in tool.arguments().values() if len(str(v)) < 30]
    return f"{tool.name} ({', '.join(values)})" if values else tool.name


def given(name, values, tools):
    """The tool of that name with other arguments."""
    tool = next(t for t in tools if t.entry["names"][0] == name)
    copy = object.__new__(Need)
    copy.__dict__.update(tool.__dict__, values=values)
    return copy


COMPARED = {"get_weather": ("c", "city", "(is it|which one is|where is it) (warmer|colder|wetter|sunnier), {a} or {b}|(where|which) has the better weather, {a} or {b}|{a} or {b}: where (does it rain|is it warmer)|weather: {a} against {b}|difference in temperature between {a} and {b}"),
            "get_stock_price": ("s", "symbol", "(which share|what) (is worth more|costs more|is dearer), {a} or {b}|{a} (versus|vs|against) {b}|(put|set) {a} (against|beside) {b}|which is higher, {a} or {b}|(difference|gap) between {a} and {b} shares"),
            "get_time": ("c", "city", "(how many hours|how much time) (lie|is there) between {a} and {b}|time difference (between|of) {a} and {b}|is it later in {a} or [in] {b}|how far apart are the clocks of {a} and {b}"),
            "check_stock": ("g", "product", "do we have more {a} or more {b}|(what is|is there) more (in stock|left): {a} or {b}|stock of {a} against {b}"),
            "order_status": ("o", "code", "(which one|what) (comes|arrives) first, {a} or {b}|(is|are) {a} and {b} on the way|{a}, {b}: both shipped|which of the two is late, {a} or {b}"),
            "define_word": ("v", "word", "(what's|where is) the difference between {a} and {b}|{a} and {b}: is that the same|how do {a} and {b} differ in meaning")}
# Two tools that one place, one file, one person or one order is meant for: what is said first, and what is asked of it.
SHARED = [("c", "city", "(I'm|we are|my brother is) (off|on the way|going|moving|driving) to {v} [soon|next week]|(I land|we arrive) in {v} (soon|in an hour)|(tell me|something) about {v}|{v}|(next stop|holidays): {v}|my (friend|aunt) lives in {v}|(a trip|business) to {v}",
           {"get_weather": "(how warm|how cold|how wet) is it [there]|what's the weather [like] [there]|do I need a coat [there]|is it raining [there]", "get_time": "what time is it [there]|how late is it [there]|is it night there|tell me the [local] time", "sunrise_sunset": "when does the sun set [there]|when does it get dark", "find_parking": "where can I park [there]|where do I leave the car"}),
          ("p", "path", "{v}|it's about {v}|the file {v}|I'm looking at {v}|we no longer need {v}", {"read_file": "(show|read) it [to me] [first]|what does it say", "delete_file": "(delete|erase|remove) it [then]|get rid of it"}),
          ("o", "code", "order {v}|{v}|it's about [my] order {v}|I have a question on {v}|my order {v}", {"order_status": "where is it|has it been sent|check [where it is]|is it on its way", "cancel_order": "cancel it|stop it|I don't want it any more"}),
          ("p", "first", "(I need|it's about|I'm thinking of) {v}|{v}|my (colleague|friend|dentist) {v}", {"get_contact": "what's the number|(find|look up) (the number|the address|the contact)", "call_phone": "(call|ring|phone) (her|him|them) [please]"})]


def compared(w):
    """(question, calls, tools): two values of one tool set against each other."""
    name = w.any(*COMPARED)
    letter, kind, pattern = COMPARED[name]
    (said1, a), (said2, b) = value(w, kind), value(w, kind)
    if a == b:
        return compared(w)
    used, tools = toolset(w, Need(w, ENTRIES[name]))
    question = polished(w, typists(w, form(w, f"({pattern})[?]"), 0.7).format(a=said1, b=said2))
    return question, [given(name, {letter: x}, [used]) for x in (a, b)], tools


def shared(w):
    """(question, calls, tools): two tools for one and the same thing, which is named once."""
    letter, kind, opening, asked = w.any(*SHARED)
    names = w.rng.sample(list(asked), 2)
    if names == ["delete_file", "read_file"] or names == ["cancel_order", "order_status"] or names == ["call_phone", "get_contact"]:
        names.reverse()
    said, v = value(w, kind)
    first, tools = toolset(w, Need(w, ENTRIES[names[0]]))
    tools = [t for t in tools if t is first or not isinstance(t, Need) or t.entry["names"][0] != names[1] and not similar(t.entry["names"][0], [names[1]])]
    second = Need(w, ENTRIES[names[1]], [t.name for t in tools])
    tools.insert(w.number(0, len(tools)), second)
    one, two = (typists(w, form(w, asked[n]), 0.5) for n in names)
    question = typists(w, form(w, opening), 0.5).format(v=said) + w.any(". ", ": ", ", ", " - ") + one + w.any(" and ", ", and ", "? And ", ", ", " & ", ". Also, ") + two + w.any("?", "", ".", " please")
    return polished(w, question), [given(n, {letter: v}, [first, second]) for n in names], tools


def values_of(used, letter, count, draw):
    """([`count` values of one argument, or fewer], [as they are said]): the tool's own first, then what draw() gives."""
    values, said = [used.values[letter]], [used.said[letter]]
    for _ in range(20):
        text, v = draw()
        if v not in values and v not in used.values.values():
            values.append(v)
            said.append(text)
        if len(values) == count:
            break
    return values, said


def several(w):
    """Two or three calls from one request: one tool with several values, or several tools."""
    used, tools = toolset(w)
    needs = [t for t in tools if isinstance(t, Need)]
    r = w.rng.random()
    if r < 0.14:
        question, chosen, tools = compared(w)
    elif r < 0.34:
        question, chosen, tools = shared(w)
    elif len(needs) > 1 and r < 0.64:
        chosen = w.rng.sample(needs, w.any(2, 2, 3) if len(needs) > 2 else 2)
        texts = [t.request(w).rstrip(".?! ") for t in chosen]
        if len(chosen) == 3:
            texts[:2] = [texts[0] + w.any(", ", ", ", ". ", "; ", "\n", ", then ") + texts[1]]
        texts[1] = texts[1][0].lower() + texts[1][1:] if texts[1].split()[0] not in ("I", "I'm") and not texts[1].split()[0].isupper() else texts[1]
        question = texts[0] + w.any(" and ", ", and ", ". Also, ", " and also ", ". And ", "; ", "\n", " & ", ", then ", ". Then ") + texts[1] + w.any("", ".", "?", " please")
    else:
        for _ in range(30):
            question = used.request(w)
            letters = [l for l, v in used.said.items() if "{" + l + "}" in getattr(used, "text_template", "")]
            kinds = {p[0]: p[3] for p in used.entry["parameters"]}
            letters = [l for l in letters if kinds[l] in ("city", "first", "room", "code", "symbol", "path", "minutes", "language", "currency", "clock", "grocery", "dish", "folder", "service", "task", "product", "door", "placekind", "word", "email")]
            if letters:
                break
            used, tools = toolset(w)
        else:
            return several(w)
        letter = w.any(*letters)
        count = w.any(2, 2, 3, 4)
        values, said = values_of(used, letter, count, lambda: value(w, kinds[letter]))
        shown = dict(used.said, **{k.upper(): v for k, v in used.said.items()})
        before = used.text_template.partition("{" + letter + "}")[0].split()[-1:]
        again = f"{before[0]} " if before and before[0] in ("in", "for", "to", "at", "of", "from", "is", "add", "buy", "open", "read", "delete", "list", "show") and w.chance(0.4) else ""
        joined = listing([said[0], *(again + x for x in said[1:])], w.any("and", "and", "and", "&", "and also", "then", "plus", "and then"))
        if len(said) == 2 and not again and w.chance(0.35):
            joined = w.any(f"both {joined}", f"{said[0]} as well as {said[1]}", f"{said[0]}, and {w.any('also', 'likewise', 'after that', 'besides')} {said[1]},", f"{said[0]} / {said[1]}") if kinds[letter] in ("city", "first", "room", "path", "grocery", "task", "symbol", "code") else joined
        shown[letter] = joined
        shown.setdefault("p", w.first_name())
        question = polished(w, typists(w, used.text_template, 0.6).format_map(shown))
        chosen = []
        for v in values:
            chosen.append(given(used.entry["names"][0], {**used.values, letter: v}, [used]))
    calls = [call(t) for t in chosen]
    messages = [user(question), plain_calls.assistant(f"{len(calls)} calls: {listing([planned(t) for t in chosen])}.", "", calls)]
    check = {"calls": [{"name": t.name, "arguments": t.arguments()} for t in chosen], "everyday": True, "contains": []}
    if w.chance(0.4):
        answers = []
        for t in chosen:
            messages.append({"role": "tool", "content": tool_text(w, t)})
            answers.append(t.answer())
        messages.append(plain_calls.assistant("All results are there.", " ".join(a if a.endswith((".", "!", "?")) else a + "." for a in answers)))
    return messages, tools, check


def chained(w):
    """A result that is needed for the next call, or an error that is followed by another try."""
    r = w.rng.random()
    if r < 0.5:
        reader, lister = Need(w, ENTRIES["read_file"]), Need(w, ENTRIES["list_directory"])
        folder, path = value(w, "folder")[1], value(w, "path")[1].rpartition("/")[2]
        others = [value(w, "path")[1].rpartition("/")[2] for _ in range(w.number(1, 5))]
        files = [path, *others]
        w.rng.shuffle(files)
        full = f"{folder.rstrip('/')}/{path}"
        lister.values, reader.values = {"p": folder}, {"p": full}
        _, tools = toolset(w, reader, 3)
        tools = [t for t in tools if t is reader or not isinstance(t, Need) or t.entry["names"][0] not in ("list_directory", "run_command")] + [lister]
        if lister.name in [t.name for t in tools[:-1]]:
            return chained(w)
        stem = path.rpartition(".")[0]
        question = polished(w, typists(w, form(w, "(look|find) (in|into) [the folder] {f} (for|and read) the {s} file|(what does|read) the {s} file in {f} [say][?]|(open|read) whichever file in {f} is (about|called something like) {s}|there is a file about {s} in {f}, (read it|what does it say)")).format(f=folder, s=stem))
        content = w.any(*data.MESSAGES)
        messages = [user(question), plain_calls.assistant(f"First the files of {folder}.", "", [call(lister)]), {"role": "tool", "content": w.any("\n".join(files), json.dumps(files), json.dumps({"files": files}))},
                    plain_calls.assistant(f"The file is {path}. Read it.", "", [call(reader)])]
        if w.chance(0.6):
            messages += [{"role": "tool", "content": content}, plain_calls.assistant("The content is there.", f"{path} says: {content}")]
        return messages, tools, {"steps": [[{"name": lister.name, "arguments": lister.arguments()}], [{"name": reader.name, "arguments": reader.arguments()}]]}
    messages, tools, check = single(w)
    messages = messages[:2]
    used = next(t for t in tools if t.name == check["calls"][0]["name"])
    after(w, used, messages)
    again = w.any("again", "try again", "one more time please", "do it again", "retry", "try once more", "Same again, please.")
    plain_calls.without_thoughts(messages[:-1])
    messages += [user(again), plain_calls.assistant(thought(w, used), "", [call(used)])]
    return messages, tools, check


def corrected(w):
    """The user changes one value of the last request."""
    for _ in range(20):
        messages, tools, check = single(w)
        used = next(t for t in tools if t.name == check["calls"][0]["name"])
        kinds = {p[0]: p[3] for p in used.entry["parameters"]}
        letters = [l for l in used.said if l in used.values and kinds[l] in ("city", "first", "room", "clock", "minutes", "date", "restaurant", "degrees", "code", "path", "symbol", "language", "amount", "day")]
        if letters:
            break
    else:
        return single(w)
    messages = messages[:2]
    after(w, used, messages)
    plain_calls.without_thoughts(messages)
    letter = w.any(*letters)
    said, v = value(w, kinds[letter])
    used.values[letter] = v
    text = w.any("and {v}?", "And for {v}?", "what about {v}?", "the same for {v}", "no, {v}", "sorry, I meant {v}", "make it {v} instead", "{v}, not {o}", "how about {v}", "now with {v} please", "actually {v}").format(v=said, o=used.said[letter])
    messages += [user(text), plain_calls.assistant(f"The same with {said}. {thought(w, used)}", "", [call(used)])]
    return messages, tools, {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True}


def rows_result(w):
    """A result of rows, and a question about them: most, least, how many, which, value of one."""
    columns = w.any(("name", "price"), ("title", "year"), ("flight", "price"), ("city", "population"), ("product", "stock"), ("player", "points"), ("file", "size"), ("hotel", "price"), ("user", "age"), ("train", "minutes"), ("task", "priority"), ("server", "load"), ("shop", "distance"))
    label, number = columns
    count = w.number(2, 6)
    names, values = [], []
    while len(names) < count:
        x = w.any(lambda: capital(w.noun()), lambda: capital(w.fresh()), w.first_name, lambda: value(w, "code")[1])() if label not in ("file", "flight") else value(w, "path")[1].rpartition("/")[2] if label == "file" else f"{w.any('KL', 'LH', 'BT', 'SK', 'AF', 'BA')}{w.number(1, 999)}"
        n = w.number(1, 20) if number == "priority" else w.number(1, 900)
        if x not in names and n not in values:
            names.append(x)
            values.append(n)
    style = w.any("json", "json", "lines", "csv", "table", "numbered")
    text = {"json": json.dumps([{label: a, number: b} for a, b in zip(names, values)], ensure_ascii=False), "lines": "\n".join(f"{a}: {b}" for a, b in zip(names, values)), "csv": f"{label},{number}\n" + "\n".join(f"{a},{b}" for a, b in zip(names, values)),
            "table": f"| {label} | {number} |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in zip(names, values)), "numbered": "\n".join(f"{i + 1}. {a} ({number} {b})" for i, (a, b) in enumerate(zip(names, values)))}[style]
    kind = w.number(0, 5)
    top, low = names[values.index(max(values))], names[values.index(min(values))]
    if kind == 0:
        more = {"price": "most expensive", "year": "newest", "population": "largest", "stock": "most in stock", "points": "best", "size": "largest", "age": "oldest", "minutes": "slowest", "priority": "highest priority", "load": "busiest", "distance": "farthest"}[number]
        return text, say(w, "(which|what) {l} (has the (highest|largest|most) {n}|is the {m})[?]|(who|what) is the {m} {l}?|the {m} {l}[, please]|highest {n}?", l=label, n=number, m=more), f"The highest {number} is {max(values)}: {top}.", f"{top} with {max(values)}.", label
    if kind == 1:
        less = {"price": "cheapest", "year": "oldest", "population": "smallest", "stock": "least in stock", "points": "worst", "size": "smallest", "age": "youngest", "minutes": "fastest", "priority": "lowest priority", "load": "least busy", "distance": "nearest"}[number]
        return text, say(w, "(which|what) {l} (has the (lowest|smallest) {n}|is the {m})[?]|(find|show) the {m} {l}[, please]|{m} {l}?|lowest {n}?", l=label, n=number, m=less), f"The lowest {number} is {min(values)}: {low}.", f"{low} with {min(values)}.", label
    if kind == 2:
        return text, say(w, "how many {l}s (are there|do we have|did you find)[?]|(count|number of) (the|) {l}s[?]", l=label), f"Counted: {listing(names)}.", f"There are {count}.", label
    if kind == 3:
        i = w.rng.randrange(count)
        return text, say(w, "what is the {n} of {x}[?]|{n} of {x}[?]|(which|what) {n} (does|has) {x} [have][?]|tell me {x}'s {n}", n=number, x=names[i]), f"The row of {names[i]}: {values[i]}.", f"The {number} of {names[i]} is {values[i]}.", label
    if kind == 4:
        return text, say(w, "(list|name|show|give me) (all|the) {l}s[, please]|(which|what) {l}s are there[?]", l=label), f"{count} rows.", listing(names) + ".", label
    return text, say(w, "(sort|rank) (them|the {l}s) by {n}|(list|show) the {l}s by {n}[, highest first]", l=label, n=number), "Highest first.", ", ".join(x for _, x in sorted(zip(values, names), reverse=True)), label


class Lister:
    """A tool that lists things of one kind."""

    def __init__(self, w, label):
        self.label = label
        self.name = w.any(f"list_{label}s", f"get_{label}s", f"{label}s", f"fetch_{label}_list", f"all_{label}s", f"search_{label}s", f"find_{label}s", f"query_{label}s")
        self.values = {}
        self.limited = w.chance(0.2)

    def definition(self, w):
        properties = {"limit": {"type": "integer", "description": "Most entries"}} if self.limited else {}
        return {"type": "function", "function": {"name": self.name, "description": w.any(f"Lists the {self.label}s", f"All {self.label}s with their values", f"Returns the {self.label}s"), "parameters": {"type": "object", "properties": properties, "required": []}}}

    def arguments(self):
        return {}


def rows(w):
    text, question, reason, answer, label = rows_result(w)
    question = typists(w, question, 0.7)
    entry = {"flight": "find_flights", "hotel": "find_hotel", "train": "find_trains", "product": "search_products", "shop": "find_places"}.get(label)
    if entry and w.chance(0.75):
        used, tools = toolset(w, Need(w, ENTRIES[entry]))
        question = f"{used.request(w).rstrip('.?! ')}{w.any('. ', ' - ', ', ', '? ')}{question}"
        planning = thought(w, used)
    else:
        used = Lister(w, label)
        _, tools = toolset(w)
        tools = [t for t in tools if t.name != used.name][:w.number(0, 3)] + [used]
        planning = f"{used.name} has the {label}s."
    w.rng.shuffle(tools)
    messages = [user(polished(w, question)), plain_calls.assistant(planning, "", [call(used)]), {"role": "tool", "content": text}, plain_calls.assistant(reason, answer)]
    return messages, tools, {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True, "contains": [answer]}


SHARES = {single: 44, missing: 18, none_fits: 12, about_tools: 2, several: 28, chained: 5, corrected: 6, rows: 13}


def dialogue(w):
    """(messages, definitions, check)"""
    messages, tools, check = w.rng.choices(list(SHARES), list(SHARES.values()))[0](w)
    return messages, [t.definition(w) for t in tools], check
