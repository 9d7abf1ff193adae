"""What a right answer is: parsing a model's output and comparing it with a dialogue's `check`."""

import json
import re

CALL = re.compile(r"<tool_call>\s*<function=([^>\n]+)>\n?(.*?)</function>\s*</tool_call>", re.S)
PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>", re.S)


def typed(text, schema):
    kind = schema.get("type", "string") if isinstance(schema, dict) else "string"
    if kind == "string":
        return text
    if kind == "boolean":
        return text.strip().lower() == "true"
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse(text, tools, thinking=True):
    """{reasoning, content, calls} of a completion whose prompt ended in <think> (thinking) or closed it."""
    reasoning = ""
    if thinking:
        reasoning, _, text = text.partition("</think>")
    schemas = {t["function"]["name"]: t["function"].get("parameters", {}).get("properties", {}) for t in tools or []}
    calls = []
    for name, body in CALL.findall(text):
        properties = schemas.get(name, {})
        calls.append({"name": name, "arguments": {k: typed(v, properties.get(k, {})) for k, v in PARAMETER.findall(body)}})
    content = CALL.sub("", text)
    return {"reasoning": reasoning.strip(), "content": content.strip(), "calls": calls, "clean": "<tool_call>" not in content}


def same(a, b):
    """Equal values of equal types: 1 is not true, and 1.0 is 1."""
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def calls_right(found, expected):
    return len(found) == len(expected) and all(f["name"] == e["name"] and same(f["arguments"], e["arguments"]) for f, e in zip(found, expected))


def numbers(text):
    return [int(x) for x in re.findall(r"-?\d+", re.sub(r"(?<=\d) - (?=\d)", " minus ", text))]


def json_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def listed(text, form):
    if form == "comma":
        return text.split(", ")
    if form == "json":
        value = json_of(text)
        return value if isinstance(value, list) else []
    pattern = r"(\d+)\. (.+)" if form == "numbered" else r"(-) (.+)"
    found = [re.fullmatch(pattern, line) for line in text.split("\n")]
    if not all(found) or form == "numbered" and [m[1] for m in found] != [str(i) for i in range(1, len(found) + 1)]:
        return []
    return [m[2] for m in found]


def content_right(text, check):
    if "equals" in check:
        return text == check["equals"]
    if "number" in check:
        found = numbers(text)
        return bool(found) and found[-1] == check["number"] or text.startswith(f"{check['number']} ") or text == str(check["number"])
    if "json" in check:
        return same(json_of(text), check["json"])
    if "one_of" in check:
        return text in check["one_of"]
    if "words" in check:
        return len(text.split()) == check["words"]
    if "list" in check:
        items = listed(text, check["form"])
        return len(items) == check["list"]["count"] and len(set(items)) == len(items) and all(i in check["list"]["of"] for i in items)
    if any(bad in text for bad in check.get("not", ())):
        return False
    return bool(text) and all(value in text or value in text.lower() for value in check.get("contains", ()))


def right(dialogue, turn, output):
    """Whether the output of the turn-th question of a dialogue (render.questions) is right.
    Returns (what was asked: "call", "no call", "result" or "answer", bool)."""
    check = dialogue["check"]
    if not output["clean"]:
        return ("call" if check.get("calls") or "steps" in check else "answer"), False
    if "steps" in check:
        if turn < len(check["steps"]):
            return "call", calls_right(output["calls"], check["steps"][turn])
        return "result", not output["calls"] and bool(output["content"])
    if check.get("calls") and turn == 0:
        return "call", calls_right(output["calls"], check["calls"])
    if check.get("calls"):
        return "result", not output["calls"] and content_right(output["content"], check)
    if "calls" in check:
        # No call where none fits; what is said beside it is another matter.
        return "no call", not output["calls"] and bool(output["content"])
    return "answer", not output["calls"] and content_right(output["content"], check)
