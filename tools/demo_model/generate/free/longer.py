"""Long prompts: something to be found in much text, long histories of talk and of tools, long system prompts."""

from .. import calls as plain_calls
from . import agents, clauses, happenings, lexicon, memory, needs, reading, rewriting, scenes, worlds
from .grammar import capital, typed

SECRETS = ["The secret word is {v}.", "The password of the {n} is {v}.", "Under the {n} lie {k} silver coins.", "Only {p} has a key to the {n}.", "The {n} was bought in {c}.", "{p} keeps the {n} in {c}.", "The number of the {n} is {k}.", "The code for the {n} is {v}.", "The meeting about the {n} is on {d}.", "The {n} belongs to {p}."]
ASKED = {"{v}": {0: "what is the secret word[?]|(find|tell me) the secret word|which word is the secret one?", 1: "what is the password of the {n}[?]|password of the {n}?", 7: "what is the code for the {n}[?]|(find|tell me) the code for the {n}"},
         "{k}": {2: "how many silver coins (are|lie) under the {n}[?]|number of silver coins?", 6: "what is the number of the {n}[?]|(find|tell me) the number of the {n}"}, "{p}": {3: "who has a key to the {n}[?]|who can open the {n}?", 5: "who keeps the {n}[ in {c}][?]|where is the {n}, and who keeps it[?]", 9: "(whose is|who owns) the {n}[?]|to whom does the {n} belong?"},
         "{c}": {4: "where was the {n} bought[?]|in which city was the {n} bought?"}, "{d}": {8: "when is the meeting about the {n}[?]|on which day is the meeting about the {n}?"}}


def noise(w, tokens):
    """About so many tokens of text: clauses, worlds, lists."""
    out, size = [], 0
    style = w.number(0, 3)
    things = [w.noun() for _ in range(6)]
    while size < tokens:
        if style == 0:
            text = clauses.Clause(w).said("past")
        elif style == 1:
            text = f"The {w.any(*things)} {w.any('is', 'was', 'has been')} {w.adjective()} and stands in the {w.any('north', 'south', 'east', 'west', 'first', 'second', 'third')} {w.any('room', 'hall', 'street', 'row', 'shelf')}."
        elif style == 2:
            text = worlds.World(w).text(w).replace("\n", " ")
        else:
            text = capital(rewriting.event(w)) + "."
        out.append(text)
        size += len(text) // 3
    return out


def needle(w, tokens):
    i = w.rng.randrange(len(SECRETS))
    letter = next(k for k, v in ASKED.items() if i in v)
    values = {"v": w.any(w.noun(), w.fresh(), str(w.number(100, 99999)), w.string()), "n": w.noun(), "k": str(w.number(2, 900)), "p": w.person(), "c": w.city(), "d": w.any(*lexicon.DAYS)}
    sentences = noise(w, tokens)
    said = SECRETS[i].format_map(values)
    sentences.insert(w.number(0, len(sentences)), said)
    text = w.any(" ", " ", "\n").join(sentences)
    pattern = ASKED[letter][i]
    question = typed(w, pattern, **values)
    answer = values[letter[1]]
    if w.chance(0.12):
        sentences.remove(said)
        text, answer, said = " ".join(sentences), reading.NOT_SAID, "nothing about it."
    return {"messages": memory.turn(reading.laid_out(w, text, question), f"The text says: {said}", answer), "check": {"equals": answer}}


def long_talk(w, tokens):
    """Facts at the beginning, then much talk."""
    key = w.any(*[p[0] for p in memory.PERSONAL])
    v = memory.value(w, key)
    blocks, size = [memory.told(w, key, v)], 0
    others = [p[0] for p in memory.PERSONAL if memory.KIND.get(p[0], p[0]) != memory.KIND.get(key, key)]
    while size < tokens:
        block = memory.told(w, k, memory.value(w, k)) if w.chance(0.06) and (k := w.any(*others)) else memory.filler(w)
        if block[0]["content"].find(v) >= 0:
            continue
        blocks.append(block)
        size += sum(len(m["content"]) for m in block) // 3 + 12
    if w.chance(0.4):
        head = blocks.pop(0)
        blocks.insert(w.number(0, len(blocks)), head)
    question = typed(w, next(p for p in memory.PERSONAL if p[0] == key)[2])
    return {"messages": [m for b in blocks for m in b] + memory.turn(question, f"The user said it: {v}.", v), "check": {"equals": v}}


def long_tools(w, tokens):
    """A long history of calls and results, then one more call or a question about an old result."""
    tools = []
    while len(tools) < w.number(3, 6):
        t = needs.Need(w, taken=[x.name for x in tools])
        if t.entry["names"][0] not in [x.entry["names"][0] for x in tools] and not needs.similar(t.entry["names"][0], [x.entry["names"][0] for x in tools]):
            tools.append(t)
    messages, size, seen = [], 0, []
    while size < tokens:
        t = w.any(*tools)
        question = t.request(w)
        messages += [needs.user(question), plain_calls.assistant("", "", [needs.call(t)])]
        messages[-1].pop("reasoning_content")
        text = needs.tool_text(w, t)
        if w.chance(0.3):
            text += "\n" + " ".join(noise(w, w.number(30, 300)))
        answer = t.answer()
        messages += [{"role": "tool", "content": text}, {"role": "assistant", "content": answer}]
        seen.append((question, answer))
        size += len(question + text + answer) // 3 + 60
    definitions = [t.definition(w) for t in tools]
    if w.chance(0.3) and len({q for q, _ in seen}) == len(seen):
        question, answer = w.any(*seen)
        return {"messages": messages + memory.turn(w.any("Again: ", "What did you find before? ", "Remind me: ", "As before: ") + question, "The answer stands above.", answer), "check": {"calls": [], "contains": [answer]}, "tools": definitions}
    used = w.any(*tools)
    question = used.request(w)
    messages += [needs.user(question), plain_calls.assistant(needs.thought(w, used), "", [needs.call(used)])]
    return {"messages": messages, "check": {"calls": [{"name": used.name, "arguments": used.arguments()}], "everyday": True}, "tools": definitions}


def long_agent(w, tokens):
    return agents.coder(w, True)


def long_system(w, tokens):
    """A long system prompt with a fact somewhere in it."""
    world = worlds.World(w, w.any("shop", "event", "team", "building"), facts=w.number(3, 8))
    i = w.rng.randrange(len(world.facts))
    sections = agents.long_rules(w, max(6, tokens // 22)).split("\n\n")
    sections.insert(w.number(0, len(sections)), agents.facts_text(w, world))
    system = f"You are {w.first_name()}, the assistant of {world.full}.\n\n" + "\n\n".join(sections)
    question = world.question(w, w.any(*world.facts[i][5]))
    return {"messages": [{"role": "system", "content": system}, *memory.turn(question, f"The system prompt says: {world.sentences[i]}", world.facts[i][3])], "check": {"equals": world.facts[i][3]}}


def long_chronicle(w, tokens):
    """Many events with their times, by people of whom each appears more than once."""
    c = happenings.Chronicle(w, max(4, min(90, tokens // 22)))
    size, out = 0, []
    events = [c.sentence(w, i) for i in range(len(c.events))]
    room = max(0, tokens - sum(len(e) for e in events) // 3)
    for e in events:
        out.append(e if e.endswith(".") else e + ".")
        if size < room and w.chance(0.5):
            between = " ".join(noise(w, min(room - size, w.number(20, 200))))
            out.append(between)
            size += len(between) // 3
    question, reasoning, answer = happenings.asked_of(w, c)
    return {"messages": memory.turn(reading.laid_out(w, w.any(" ", "\n").join(out), question), reasoning, answer), "check": {"equals": answer}}


def long_rows(w, tokens):
    """Several scenes of different kinds, one after the other under headings; one row of one of them is asked for."""
    told, size = [], 0
    names = list(scenes.SCENE)
    w.rng.shuffle(names)
    for name in names:
        s = scenes.Scene(w, rows=w.number(2, 12), name=name)
        text = s.text(w)
        told.append((s, f"{w.any('## ', '', '', '# ')}{capital(w.noun())}\n{text}" if w.chance(0.4) else text))
        size += len(text) // 3
        if size > tokens:
            break
    s, _ = w.any(*told)
    for _ in range(20):
        question, reasoning, answer, _ = w.any(scenes.lookup, scenes.lookup, scenes.which, scenes.two_steps)(w, s)
        if not any(answer in t and t is not mine for x, t in told for mine in [next(y for z, y in told if z is s)]):
            break
    text = "\n\n".join(t for _, t in told)
    while len(text) // 3 < tokens:
        text += "\n\n" + " ".join(noise(w, w.number(100, 600)))
    return {"messages": memory.turn(reading.laid_out(w, text, question), reasoning, answer), "check": {"equals": answer}}


def many_tools(w, tokens):
    """One call, with up to thirty tools to choose from."""
    count = max(4, min(30, tokens // 130))
    tools = plain_calls.several(w, count, 0.15)
    tool = w.any(*tools)
    tool.draw(w)
    definitions = [t.definition(w) for t in tools]
    arguments = tool.arguments()
    messages = [needs.user(tool.request(w)), plain_calls.assistant(plain_calls.plan(w, tool, arguments), "", [plain_calls.call(tool, arguments)])]
    if w.chance(0.6):
        messages.insert(0, {"role": "system", "content": w.any(*plain_calls.SYSTEM, agents.long_rules(w, w.number(4, 30)))})
    return {"messages": messages, "check": {"calls": [{"name": tool.name, "arguments": arguments}]}, "tools": definitions}


TASKS = {long_chronicle: 16, long_rows: 18, many_tools: 14, needle: 30, long_talk: 22, long_tools: 24, long_agent: 10, long_system: 14}


def dialogue(w, most=7000):
    tokens = int(min(most, w.any(300, 500, 800, 1500, 3000, 5000, 7000)) * (0.5 + 0.5 * w.rng.random()))
    return w.rng.choices(list(TASKS), list(TASKS.values()))[0](w, tokens)
