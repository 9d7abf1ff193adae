"""Seeded generators of the demo model's training and evaluation dialogues. All text is written here."""

import json
import random
import re

from . import arithmetic, calls, copying, formats, measures, references, talk
from .free import agents, basics, chat, chatter, chores, coding, composed, errands, extraction, facts, forms, gists, happenings, heard, labels, letters, limits, lists, longer, manual, memory, mixed, needs, ordering, orders, ordinary, outputs, paragraphs, plain, pulled, rewriting, rules, scenes, statements, stories, sums, told, toolbox, turns
from .words import Words

# The mixture, of the dialogues (random.choices scales it); tokens a dialogue are in brackets. First templates, which the
# checkpoint that training begins from knows already; then language (free/).
SHARES = {
    "arithmetic": 0.030, "measures": 0.034, "formats": 0.066, "system": 0.018, "talk": 0.040, "references": 0.050, "copying": 0.045,  # templates [50-90]
    "tools": 0.160, "needs": 0.130, "agents": 0.060, "toolbox": 0.115, "errands": 0.240,  # calls of random and everyday tools, agents, the tools of tables/toolbox_*.py, errands by hand [420, 450, 220, 430, 320]
    "paragraphs": 0.180, "composed": 0.045, "reading": 0.065, "scenes": 0.060, "gists": 0.140,  # texts: dense sentences, clauses; facts left out, reasons; rows, chronicles, moves, talks; summaries [200, 160, 140, 165, 110]
    "extraction": 0.100, "tables": 0.028, "forms": 0.060,  # single values and records; rows as lists and tables; nested JSON [115, 210, 155]
    "memory": 0.060, "turns": 0.064, "told": 0.060, "statements": 0.065, "rules": 0.030, "limits": 0.045,  # several turns: facts, follow-ups, lists and settings, talks that begin with telling, anything that is told, rules that hold, limits of topics [140, 150, 100, 150, 100, 90]
    "letters": 0.280, "pulled": 0.170, "heard": 0.130, "chatter": 0.060, "orders": 0.150, "ordinary": 2.10,  # by hand: whole texts, what they name, talks in stages, advice and small talk, forms and code and labels, whole conversations [230, 130, 150, 60, 60, 140]
    "ordering": 0.080, "lists": 0.080,  # lists [100, 110]
    "sums": 0.085, "stories": 0.170,  # arithmetic in words [90, 105]
    "classify": 0.075, "rewriting": 0.110, "facts": 0.050, "manual": 0.040, "chat": 0.055, "coding": 0.042, "chores": 0.100, "snippets": 0.035, "basics": 0.130,  # [50-80]
    "longer": 0.012, "plain": 0.003}  # [770, 290]
LONG_SHARES = {"longer": 0.52, "needs": 0.08, "reading": 0.03, "paragraphs": 0.05, "scenes": 0.05, "tools": 0.06, "agents": 0.05, "turns": 0.05, "plain": 0.04, "stories": 0.03, "forms": 0.03, "copying": 0.03}
THINKING = {"arithmetic": 0.8, "measures": 0.85, "copying": 0.4, "sums": 0.8, "stories": 0.85, "ordering": 0.7, "lists": 0.72, "needs": 0.7, "toolbox": 0.75, "errands": 0.75, "paragraphs": 0.7, "composed": 0.7, "memory": 0.7, "turns": 0.7, "told": 0.7, "statements": 0.75, "letters": 0.72, "basics": 0.68, "pulled": 0.7, "heard": 0.75, "orders": 0.65, "ordinary": 0.75}
GENERAL = ["You are a helpful assistant.", "Be helpful.", "You are a small and friendly assistant.", "Answer briefly.", "You are a helpful AI assistant.", "Be concise.", "Help the user.", "You are an assistant. Answer the user's questions."]
PLAIN = {"arithmetic": arithmetic.question, "measures": measures.question, "formats": formats.question, "talk": talk.question, "copying": copying.question,
         "reading": mixed.question_of, "extraction": extraction.question_of, "classify": labels.question_of, "rewriting": rewriting.question_of, "ordering": ordering.question_of,
         "sums": sums.question_of, "facts": facts.question_of, "manual": manual.question_of, "chat": chat.question_of, "coding": coding.question_of,
         "scenes": happenings.question_of, "tables": scenes.extraction_of, "forms": forms.question_of, "lists": lists.question_of, "stories": stories.question_of, "gists": gists.question_of,
         "letters": letters.question_of, "pulled": pulled.question_of, "chatter": chatter.question_of, "orders": orders.question_of,
         "paragraphs": paragraphs.question_of, "composed": composed.question_of, "chores": chores.question_of, "snippets": limits.question_of, "basics": basics.question_of}
CALLING = {"needs": needs, "toolbox": toolbox, "errands": errands}  # messages, tools and a check
# Of several turns: messages and a check; those that are in PLAIN too are so now and then.
TALKS = {"memory": memory, "turns": turns, "told": told, "statements": statements, "rules": rules, "limits": limits, "heard": heard, "paragraphs": paragraphs, "letters": letters, "orders": orders}
FREE = ("needs", "reading", "extraction", "classify", "rewriting", "ordering", "sums", "facts", "manual", "chat", "coding", "memory", "agents",
        "scenes", "tables", "forms", "lists", "stories", "gists", "paragraphs", "composed", "chores", "snippets", "letters", "pulled", "chatter", "basics", "orders")
HARMLESS = {"light_control", "set_timer", "set_alarm", "play_music", "set_volume", "book_table", "find_flights", "order_status", "cancel_order", "lock_door", "vacuum", "book_taxi", "transfer_money", "send_email", "create_event", "delete_file", "restart_service", "git_commit", "set_thermostat", "order_food", "return_item", "get_weather", "get_time", "read_file", "list_directory", "get_stock_price", "find_trains", "find_hotel", "set_reminder", "delete_file"}
LIVE = re.compile(r"weather|rain|\btime\b|clock|today|tomorrow|file|folder|\bcold\b|\bwarm\b|remind", re.I)  # what one of these tools might be for


def with_tools(w, out):
    """A question that needs none of the tools that are there."""
    tools = []
    while len(tools) < w.number(1, 3):
        t = needs.Need(w, taken=[x.name for x in tools])
        if t.entry["names"][0] in HARMLESS:
            tools.append(t)
    out["tools"] = [t.definition(w) for t in tools]
    last = out["messages"][-1]
    last["reasoning_content"] = "No tool is needed. " + last["reasoning_content"]
    out["check"] = dict(out["check"], calls=[])


def special(w, kind, most):
    """The kinds whose dialogues are more than a question and an answer."""
    if kind == "tools" or kind in calls.KINDS:
        return calls.dialogue(w, None if kind == "tools" else kind)
    if kind == "ordinary":
        messages, definitions, check = ordinary.dialogue(w)
        if messages[0]["role"] == "user" and w.chance(0.1):
            messages.insert(0, {"role": "system", "content": w.any(*GENERAL)})
        return {"kind": kind, "messages": messages, "check": check, **({"tools": definitions} if definitions else {})}
    if kind in CALLING:
        source = outputs if kind == "needs" and not w.chance(0.8) else CALLING[kind]
        messages, definitions, check = source.dialogue(w)
        out = {"kind": kind, "messages": messages, "tools": definitions, "check": check}
        if w.chance(0.4 if kind == "errands" else 0.15):
            messages.insert(0, {"role": "system", "content": w.any(*GENERAL, *calls.SYSTEM, *(errands.SYSTEM if kind == "errands" else ()))})
        return out
    if kind in TALKS and (kind not in PLAIN or w.chance(0.35)):
        messages, check = TALKS[kind].dialogue(w)
        return {"kind": kind, "messages": messages, "check": check}
    if kind in ("agents", "longer"):
        return {"kind": kind, **(agents.dialogue(w) if kind == "agents" else longer.dialogue(w, most))}
    if kind == "references":
        messages, check = references.dialogue(w)
        return {"kind": kind, "messages": messages, "check": check}
    if kind == "system":
        system, question, reasoning, answer, check = formats.under_system(w)
        past = references.turns(*references.fillers(w, 1)) if w.chance(0.2) else []
        return {"kind": kind, "messages": [{"role": "system", "content": system}, *past, *references.last(question, reasoning, answer)], "check": check}
    return None


def dialogue(seed, evaluation=False, kind=None, thinking=None, shares=None, most=700):
    """One dialogue, the same for the same arguments. kind: one of SHARES or of calls.KINDS; shares: instead of SHARES;
    most: tokens of the long ones, about. evaluation: from the held-out words, names, number pairs and forms."""
    w = Words(random.Random(f"{'evaluation' if evaluation else 'training'} {seed}"), evaluation)
    shares = shares or SHARES
    kind = kind or w.rng.choices(list(shares), list(shares.values()))[0]
    draw = w.rng.random()
    if kind == "plain":
        return {"kind": kind, "text": plain.text(w), "thinking": False, "messages": [], "check": {}}
    if thinking is None:
        thinking = draw < THINKING.get(kind, 0.62)
    w.thinking = thinking
    out = special(w, kind, most)
    if not out:
        question, reasoning, answer, check = PLAIN[kind](w)
        messages = references.last(question, reasoning, answer)
        out = {"kind": kind, "messages": messages, "check": check}
        r = w.rng.random()
        if r < 0.1:
            messages.insert(0, {"role": "system", "content": w.any(*GENERAL)})
        elif r < 0.18 and kind in FREE and not LIVE.search(question):
            with_tools(w, out)
        elif r < 0.24 and kind in FREE:
            out["messages"] = [*memory.filler(w), *messages]
    out["thinking"] = thinking
    if not thinking:
        calls.without_thoughts(out["messages"])
    elif w.chance(0.06):
        drop_earlier_thoughts(out["messages"])
    return out


def drop_earlier_thoughts(messages):
    """Some clients send tool calls back without the thoughts that led to them."""
    calls.without_thoughts(messages[:-1])


def api_message(message):
    """A dialogue's message as the chat API takes it: arguments as JSON, calls with ids."""
    message = dict(message)
    if message.get("tool_calls"):
        message["tool_calls"] = [{"id": f"call_{i}", "type": "function", "function": {"name": c["function"]["name"], "arguments": json.dumps(c["function"]["arguments"])}}
                                 for i, c in enumerate(message["tool_calls"])]
    if message["role"] == "tool":
        message["tool_call_id"] = "call_0"
    return message
