"""Dialogues with tools: one call, several at once, none that fits, answers from results, chains and follow-ups."""

import json

from . import arithmetic, formats, measures, slots, talk
from .domains import ANSWERABLE, Domain, related, value
from .schemas import Tool
from .words import Words

SYSTEM = ["You are a helpful assistant.", "You are a helpful assistant with tools.", "Be brief.", "You help the users of a shop.", "Use the tools when they fit.",
          "You are an assistant.", "Answer shortly and clearly.", "You are a polite helper."]


def draw_tool(w, taken=(), domain=0.35):
    return (Domain if w.chance(domain) else Tool)(w, taken)


def several(w, count, domain=0.35):
    tools = []
    while len(tools) < count:
        tool = draw_tool(w, [t.name for t in tools], domain)
        if not any(isinstance(t, Domain) and isinstance(tool, Domain) and t.domain == tool.domain for t in tools):
            tools.append(tool)
    return tools


def call(tool, arguments):
    return {"type": "function", "function": {"name": tool.name, "arguments": arguments}}


def assistant(reasoning, content="", calls=None):
    message = {"role": "assistant", "content": content, "reasoning_content": reasoning}
    if calls:
        message["tool_calls"] = calls
    return message


def without_thoughts(messages):
    """As a template shows the turns before the last."""
    for message in messages:
        message.pop("reasoning_content", None)


def tool_message(w, result):
    r = w.rng.random()
    if isinstance(result, dict) and r < 0.08:
        text = json.dumps({"result": result}, ensure_ascii=False)
    elif isinstance(result, dict) and r < 0.13:
        text = json.dumps(result, ensure_ascii=False, indent=2)
    elif isinstance(result, dict) and r < 0.2:
        text = "\n".join(f"{k}: {slots.spoken(v)}" for k, v in result.items())
    else:
        text = json.dumps(result, ensure_ascii=False) if not isinstance(result, str) else result
    return {"role": "tool", "content": text}


def plan(w, tool, arguments):
    """The thought before a call: which tool, and which parameters are given."""
    names = list(arguments)
    given = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0] if names else ""
    return w.any(f"{tool.name} fits. Given: {given}." if given else f"{tool.name} fits. It needs nothing.",
                 f"I call {tool.name} with {given}." if given else f"I call {tool.name} without parameters.")


def failed(w):
    error = w.any("not found", "timeout", "service unavailable", "permission denied", "invalid input", f"no such {w.noun()}", "internal error", f"{w.noun()} is locked")
    return w.any({"error": error}, {"error": error, "code": w.number(400, 599)}, {"status": "error", "message": error}), error


def after_result(w, tool, field):
    """(the tool's result, what the assistant says, the values in it)"""
    if w.chance(0.07):
        result, error = failed(w)
        return result, w.any(f"The tool reported an error: {error}.", f"That did not work: {error}."), [error]
    result = tool.result(w)
    text, values = tool.answer(w, result, field if field and field.name in result else None)
    return result, text, values


READ = ["The result is there. I answer from it.", "I have the result.", "Now I can answer."]


def single(w: Words):
    tools = several(w, w.rng.choices((1, 2, 3), (0.4, 0.3, 0.3))[0])
    tool = w.any(*tools)
    definitions = [t.definition(w) for t in tools]
    tool.draw(w)
    field = w.any(*tool.fields) if isinstance(tool, Tool) and tool.lookup and w.chance(0.6) else None
    arguments = tool.arguments()
    messages = [{"role": "user", "content": tool.request(w, field)}, assistant(plan(w, tool, arguments), "", [call(tool, arguments)])]
    check = {"calls": [{"name": tool.name, "arguments": arguments}], "everyday": isinstance(tool, Domain)}
    if w.chance(0.6):
        result, text, values = after_result(w, tool, field)
        messages += [tool_message(w, result), assistant(w.any(*READ), text)]
        check["contains"] = values
    return messages, definitions, check


def parallel(w: Words):
    """The same tool twice or three times, or two tools at once."""
    tools = several(w, w.rng.choices((1, 2, 3), (0.4, 0.3, 0.3))[0], 0.45)
    definitions = [t.definition(w) for t in tools]
    parts, calls, facts = [], [], []
    if len(tools) > 1 and w.chance(0.5):
        chosen = w.rng.sample(tools, 2)
        for tool in chosen:
            tool.draw(w)
            calls.append(call(tool, tool.arguments()))
            parts.append(tool.request(w))
            facts.append(after_result(w, tool, None))
        joined = w.any(" ", " Also: ", " And: ", "\n", " Then: ").join(parts)
        joined = " ".join(p if p.endswith((".", "?", "!", ":")) else p + "." for p in parts) if w.chance(0.5) else joined
        reasoning = f"Two calls: {chosen[0].name} and {chosen[1].name}."
    else:
        tool = w.any(*tools)
        count = w.rng.choices((2, 3), (0.75, 0.25))[0]
        tool.draw(w)
        if isinstance(tool, Domain) and w.chance(0.8):
            # "the weather in A and B": one value of the request becomes several
            letter, name, kind, _, _ = w.any(*tool.given)
            values = [tool.values[letter]]
            while len(values) < count:
                other = value(w, kind)
                if other in values or other in tool.values.values():
                    if kind.startswith("of:") and len(values) > 1:
                        break
                    if kind == "bool":
                        break
                    continue
                values.append(other)
            texts = [slots.say(w, v) for v in values]
            said = tool.said(w)
            said[letter] = ", ".join(texts[:-1]) + " and " + texts[-1] if len(texts) > 1 else texts[0]
            if kind in ("message", "task", "event", "toppings", "people", "expression") or len(values) < 2:
                return parallel(w)
            joined = tool.template.format(**said)
            joined = joined[0].upper() + joined[1:]
            for v in values:
                tool.values[letter] = v
                calls.append(call(tool, tool.arguments()))
                facts.append(after_result(w, tool, None))
            reasoning = f"{len(values)} calls of {tool.name}, for {said[letter]}."
        else:
            for _ in range(count):
                tool.draw(w)
                calls.append(call(tool, tool.arguments()))
                parts.append(tool.request(w))
                facts.append(after_result(w, tool, None))
            if not tool.given:
                return parallel(w)
            joined = w.any(" ", " Also: ", "\n").join(p if p.endswith((".", "?", "!")) else p + "." for p in parts)
            reasoning = f"{count} calls of {tool.name}."
    messages = [{"role": "user", "content": joined}, assistant(reasoning, "", calls)]
    everyday = any(isinstance(t, Domain) and t.name == c["function"]["name"] for t in tools for c in calls)
    check = {"calls": [c["function"] for c in calls], "everyday": everyday}
    if w.chance(0.5):
        messages += [tool_message(w, result) for result, _, _ in facts]
        messages.append(assistant(w.any("The results are there. I answer from them.", "I have all results."), " ".join(text for _, text, _ in facts)))
        check["contains"] = [v for _, _, values in facts for v in values]
    return messages, definitions, check


DECLINE = ["None of my tools can do that.", "I have no tool for that.", "Sorry, my tools cannot do that.", "I cannot do that with the tools I have."]


def none_fits(w: Words):
    tools = several(w, w.rng.choices((1, 2, 3), (0.4, 0.3, 0.3))[0])
    definitions = [t.definition(w) for t in tools]
    r = w.rng.random()
    if r < 0.45:
        while True:
            other = draw_tool(w, [t.name for t in tools], 0.45)
            # Not the same subject under another name.
            if isinstance(other, Domain) and any(isinstance(t, Domain) and related(t.domain, other.domain) for t in tools):
                continue
            if isinstance(other, Tool) and any(isinstance(t, Tool) and (t.object.split()[-1] == other.object.split()[-1]) for t in tools):
                continue
            break
        other.draw(w)
        if isinstance(other, Tool):
            while other.name in (request := other.request(w)):
                if other.invented:
                    return none_fits(w)
        else:
            request = other.request(w)
        names = " and ".join(t.name for t in tools)
        answer = w.any(*DECLINE, *DECLINE, f"I cannot do that. I can only use {names}.")
        reasoning = w.any("No tool fits this request.", f"The tools are {names}. None of them fits.")
        check = {"calls": [], "contains": []}
        return [{"role": "user", "content": request}, assistant(reasoning, answer)], definitions, check
    if any(isinstance(t, Domain) and t.domain in ANSWERABLE for t in tools):
        return none_fits(w)
    question, reasoning, answer, check = w.any(talk.question, talk.question, arithmetic.question, measures.question, formats.question)(w)
    reasoning = "No tool is needed. " + reasoning
    return [{"role": "user", "content": question}, assistant(reasoning, answer)], definitions, dict(check, calls=[])


def missing(w: Words):
    """A required parameter was not given: ask for it."""
    while True:
        tool = Tool(w)
        required = [s for s in tool.required if s.kind not in ("boolean", "object")]
        if required:
            break
    tool.draw(w)
    absent = w.any(*required)
    definition = tool.definition(w)
    tool.given = [s for s in tool.given if s is not absent]
    request = tool.request(w)
    reasoning = f"{tool.name} fits, but {absent.name} is missing."
    content = w.any(f"Which {absent.words} should I use?", f"What is the {absent.words}?", f"Please tell me the {absent.words}.")
    messages = [{"role": "user", "content": request}, assistant(reasoning, content)]
    check = {"calls": []}
    if w.chance(0.5):
        tool.given = [s for s in tool.slots if s in tool.given or s is absent]
        said = slots.say(w, absent.value)
        arguments = tool.arguments()
        messages += [{"role": "user", "content": w.any(said, f"{said}, please.", f"Use {said}.", f"The {absent.words} is {said}.")},
                     assistant(plan(w, tool, arguments), "", [call(tool, arguments)])]
        check = {"calls": [{"name": tool.name, "arguments": arguments}]}
    return messages, [definition], check


def follow_up(w: Words):
    """After an answered call the user wants the same with another value, or asks about the result."""
    tools = several(w, w.rng.choices((1, 2, 3), (0.5, 0.3, 0.2))[0])
    tool = w.any(*tools)
    definitions = [t.definition(w) for t in tools]
    tool.draw(w)
    if not tool.given:
        return follow_up(w)
    field = w.any(*tool.fields) if isinstance(tool, Tool) and tool.lookup and w.chance(0.6) else None
    arguments = tool.arguments()
    messages = [{"role": "user", "content": tool.request(w, field)}, assistant(plan(w, tool, arguments), "", [call(tool, arguments)])]
    result = tool.result(w)
    text, _ = tool.answer(w, result, field)
    messages += [tool_message(w, result), assistant(w.any(*READ), text)]
    if isinstance(tool, Tool) and tool.fields and w.chance(0.4):
        other = w.any(*tool.fields)
        shown = slots.spoken(result[other.name])
        question = w.any(f"And the {other.words}?", f"What was the {other.words}?", f"And what is the {other.words}?", f"What about the {other.words}?")
        messages += [{"role": "user", "content": question}, assistant(f"The result above has the {other.words}.", f"The {other.words} is {shown}.")]
        return messages, definitions, {"calls": [], "contains": [shown]}
    if isinstance(tool, Tool):
        slot = w.any(*tool.given)
        if slot.kind == "boolean":
            slot.value = not slot.value
        else:
            slot.redraw(w)
        said = slots.say(w, slot.value)
        if slot.kind == "boolean":
            question = slot.mention(w)
            question = "Now the same " + question if question.startswith("with") else "Again, but " + question
        elif len(tool.given) == 1 and w.chance(0.6):
            question = w.any(f"And for {said}?", f"What about {said}?", f"The same for {said}.", f"Now {said}.", f"And {said}?")
        else:
            question = w.any(f"And with {slot.words} {said}?", f"Now with {slot.words} {said}.", f"The same with {slot.words} {said}.", f"Change the {slot.words} to {said}.")
    else:
        letter, name, kind, description, _ = w.any(*tool.given)
        if kind == "bool":
            return follow_up(w)
        old = tool.values[letter]
        while (new := value(w, kind)) == old:
            pass
        tool.values[letter] = new
        said = slots.say(w, new)
        if len(tool.given) == 1:
            question = w.any(f"And for {said}?", f"What about {said}?", f"And {said}?", f"The same for {said}.")
        else:
            words = name.replace("_", " ")
            question = w.any(f"And with {words} {said}?", f"Now with {words} {said}.", f"The same with {words} {said}.")
    arguments = tool.arguments()
    messages += [{"role": "user", "content": question}, assistant(plan(w, tool, arguments), "", [call(tool, arguments)])]
    return messages, definitions, {"calls": [{"name": tool.name, "arguments": arguments}], "everyday": isinstance(tool, Domain)}


def chain(w: Words):
    """What the first call returns is an argument of the second."""
    noun = w.noun()
    kind = w.any("code", "email", "city", "person", "integer")
    source = slots.Slot(w, kinds=[kind])
    key = slots.Slot(w, kinds=["person", "thing", "code"], taken=[source.name])
    first_name = w.any(f"get_{noun}", f"find_{noun}", f"lookup_{noun}", f"{noun}_info")
    verb, target = w.verb(), w.noun()
    second_name = f"{verb}_{target}"
    extra = slots.Slot(w, kinds=["integer", "enum", "text", "date"], taken=[source.name])
    first = {"type": "function", "function": {"name": first_name, "description": f"Get the {source.words} of {'an' if noun[0] in 'aeiou' else 'a'} {noun}",
             "parameters": {"type": "object", "properties": {key.name: key.schema(w)}, "required": [key.name]}}}
    with_extra = w.chance(0.5)
    properties = {source.name: source.schema(w), **({extra.name: extra.schema(w)} if with_extra else {})}
    second = {"type": "function", "function": {"name": second_name, "description": f"{verb.capitalize()} the {target}",
              "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}
    definitions = [first, second]
    if w.chance(0.5):
        definitions.reverse()

    class Named:
        def __init__(self, name):
            self.name = name

    request = w.any("Find the {f} of the {n} {k} and {v} the {t} with it{x}.", "Look up the {f} of {n} {k}, then {v} the {t} with it{x}.",
                    "{v2} the {t} with the {f} of the {n} {k}{x}.").format(
        f=source.words, n=noun, k=slots.say(w, key.value), v=verb, v2=verb.capitalize(), t=target, x=", " + extra.mention(w) if with_extra else "")
    arguments1 = {key.name: key.value}
    arguments2 = {source.name: source.value, **({extra.name: extra.value} if with_extra else {})}
    messages = [{"role": "user", "content": request},
                assistant(f"First {first_name}, then {second_name}.", "", [call(Named(first_name), arguments1)]),
                tool_message(w, {source.name: source.value}),
                assistant(f"Now {second_name} with the {source.words} found.", "", [call(Named(second_name), arguments2)])]
    if w.chance(0.6):
        messages += [tool_message(w, {"status": "ok"}), assistant("Both are done.", w.any("Done.", f"Done. The {source.words} is {slots.spoken(source.value)}."))]
    return messages, definitions, {"steps": [[{"name": first_name, "arguments": arguments1}], [{"name": second_name, "arguments": arguments2}]]}


KINDS = {"call": (single, 0.46), "parallel": (parallel, 0.2), "no_call": (none_fits, 0.16), "missing": (missing, 0.08), "follow_up": (follow_up, 0.12), "chain": (chain, 0.04)}


def dialogue(w: Words, kind=None):
    kind = kind or w.rng.choices(list(KINDS), [share for _, share in KINDS.values()])[0]
    messages, tools, check = KINDS[kind][0](w)
    if w.chance(0.2):
        messages.insert(0, {"role": "system", "content": w.any(*SYSTEM)})
    return {"kind": kind, "messages": messages, "tools": tools, "check": check}
