"""What a right answer is: parsing a model's output and comparing it with a dialogue's `check`."""

import difflib
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
    Returns (what was asked: "call", "everyday call" (of domains.py, seen in training), "no call", "result" or "answer", bool)."""
    check = dialogue["check"]
    if not output["clean"]:
        return ("call" if check.get("calls") or "steps" in check else "answer"), False
    if "steps" in check:
        if turn < len(check["steps"]):
            return "call", calls_right(output["calls"], check["steps"][turn])
        return "result", not output["calls"] and bool(output["content"])
    if check.get("calls") and turn == 0:
        return "everyday call" if check.get("everyday") else "call", calls_right(output["calls"], check["calls"])
    if check.get("calls"):
        return "result", not output["calls"] and content_right(output["content"], check)
    if "calls" in check:
        # No call where none fits; what is said beside it is another matter.
        return "no call", not output["calls"] and bool(output["content"])
    return "answer", not output["calls"] and content_right(output["content"], check)


def near(text, wanted):
    """Whether `text` looks like a miscopied `wanted`."""
    return difflib.SequenceMatcher(None, text.lower(), wanted.lower()).ratio() >= 0.5


def leaves(value):
    if isinstance(value, dict):
        return [x for v in value.values() for x in leaves(v)]
    return [x for v in value for x in leaves(v)] if isinstance(value, list) else [value]


def call_blame(found, expected, tools):
    """Why one call is wrong, or None."""
    schemas = {t["function"]["name"]: t["function"]["parameters"].get("properties", {}) for t in tools}
    if found["name"] != expected["name"]:
        return "other tool" if found["name"] in schemas else "name miscopied"
    a, b = found["arguments"], expected["arguments"]
    if a.keys() != b.keys():
        return "parameter miscopied" if any(k not in schemas[found["name"]] for k in a) else "other parameters"
    for key, wanted in b.items():
        if same(a[key], wanted):
            continue
        texts, wishes = list(map(str, leaves(a[key]))), list(map(str, leaves(wanted)))
        if type(a[key]) is not type(wanted) or len(texts) != len(wishes):
            return "type or shape"
        return "value miscopied" if all(near(t, x) for t, x in zip(texts, wishes)) else "other value"
    return None


def blame(dialogue, turn, output):
    """What is wrong in a wrong output: "... miscopied" where the form is right and a copied text is not, else the form."""
    check = dialogue["check"]
    expected = check["steps"][turn] if turn < len(check.get("steps", [])) else check.get("calls", []) if turn == 0 else []
    if not output["clean"]:
        return "broken call"
    if expected or output["calls"]:
        if len(output["calls"]) != len(expected):
            return "no call made" if not output["calls"] else "call not wanted" if not expected else "number of calls"
        return next(filter(None, (call_blame(f, e, dialogue["tools"]) for f, e in zip(output["calls"], expected))), "unknown")
    text = output["content"]
    if "json" in check:
        return "value miscopied" if isinstance(json_of(text), dict) else "not JSON"
    if "equals" in check or check.get("contains"):
        wanted = [check["equals"]] if "equals" in check else [x for x in check["contains"] if x not in text]
        words = text.split()
        return "value miscopied" if all(near(text, x) or any(near(t, x) for t in words) for x in wanted) else "other answer"
    return "other answer"
