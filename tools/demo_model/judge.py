"""What a right answer to a free-word prompt is: the rules of heldout/*.jsonl, all of which must hold.

  is            the whole answer is one of these, but for case, quotes and signs at its ends
  case          these texts occur exactly so; case_any: one of them does
  has, any      all, or at least one, of these occur as words, whatever their case
  has_code      all of these occur, whatever stands around them
  lacks         none of these occurs as words
  regex         matches somewhere, whatever the case
  words, min_words, sentences, min_sentences    bounds on the length
  last_number   the last number of the answer
  json, json_any, json_has    the answer is JSON: this value, one of these, or one that contains these texts
  calls         exactly these calls, in any order; an argument is a value, a list of allowed ones, {"has": text} or
                {"regex": text}; may: further arguments that are allowed
  no_calls      no call; the same holds without "calls"
  asks          asks back, with one of these words
  unknown, not_said    says that it does not know, or that the text does not say
  language      is written in this language
  either        one of these checks holds
"""

import json
import pathlib
import re

HELDOUT = pathlib.Path(__file__).parent / "heldout"


def prompts(thinking=True):
    """Every prompt as a dialogue: {kind, messages, tools, thinking, check, file}."""
    tools = json.loads((HELDOUT / "tools.json").read_text())
    out = []
    for file in sorted(HELDOUT.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            messages = entry.get("messages") or [{"role": "user", "content": entry["user"]}]
            if "system" in entry:
                messages = [{"role": "system", "content": entry["system"]}, *messages]
            d = {"kind": entry["category"], "messages": messages, "thinking": thinking, "check": entry["check"]}
            if "tools" in entry:
                d["tools"] = [{"type": "function", "function": {"name": name, **tools[name]}} for name in entry["tools"]]
            out.append(d)
    return out


UNKNOWN = re.compile(r"\b(do not|don't|does not|cannot|can't|could not|not|no way to|unable to) (know|tell|say|answer|see|look|have|sure)|\bno (idea|knowledge|information|clock|access|way)|not known|unknown to me|beyond what i", re.I)
NOT_SAID = re.compile(r"(not|n't) (say|said|tell|told|mention|state|specify|give|given|include|contain|answer|in the text|there)|no information|nothing about|unknown|not known|(not|n't) (know|found)", re.I)
LANGUAGES = {
    "de": "ich nur leider auf deutsch spreche kann englisch ist und nicht bitte danke gut hallo das wie es geht",
    "fr": "je ne que parle désolé anglais français suis pas et bonjour en merci bien le la seulement",
    "es": "solo hablo lo siento inglés español no puedo y hola en gracias bien estoy el la",
    "it": "solo parlo mi dispiace inglese italiano non posso e ciao in grazie bene sono il la purtroppo",
    "pt": "só falo desculpe inglês português não posso e olá em obrigado bem estou o a tudo infelizmente",
    "nl": "ik spreek alleen helaas engels nederlands niet en hallo in dank goed het kan maar sorry",
    "pl": "tylko mówię przepraszam po angielsku polsku nie i dzień dobry w dziękuję dobrze mogę niestety"}


def normal(text):
    """Without signs at the ends, in lower case, numbers without separators."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.replace("’", "'"))
    return re.sub(r"\s+", " ", re.sub(r"[*`\"“”]", "", text)).strip(" .!?:;'\n").lower()


def occurs(text, wanted):
    wanted = normal(str(wanted)) or str(wanted).lower()
    left = r"(?<![\w])" if wanted[0].isalnum() else ""
    stem = r"" if not wanted[-1].isdigit() else r"(?!\d|[.,:]\d)"
    return re.search(left + (r"(?<![\d][.,:])" if wanted[0].isdigit() else "") + re.escape(wanted) + stem, normal(text)) is not None


def whole(text, wanted):
    """Like `occurs`, ending at a word's end too."""
    return re.search(r"(?<!\w)" + re.escape(normal(wanted)) + r"(?!\w)", normal(text)) is not None


def sentences(text):
    return len([s for s in re.split(r"[.!?]+(?:\s|$)", text.strip()) if re.search(r"\w", s)])


def json_of(text):
    found = re.search(r"```(?:json)?\s*(.*?)```", text, re.S)
    try:
        return json.loads(found[1] if found else text)
    except ValueError:
        return None


def equal(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a.casefold() == b.casefold() if isinstance(a, str) and isinstance(b, str) else type(a) is type(b) and a == b or (
        isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool) and not isinstance(b, bool) and a == b)


def argument_right(found, wanted):
    if isinstance(wanted, dict) and "has" in wanted:
        return wanted["has"].lower() in str(found).lower()
    if isinstance(wanted, dict) and "regex" in wanted:
        return re.search(wanted["regex"], str(found), re.I) is not None
    return any(equal(found, w) for w in (wanted if isinstance(wanted, list) else [wanted]))


def call_right(found, wanted):
    names = wanted["name"] if isinstance(wanted["name"], list) else [wanted["name"]]
    may, arguments = wanted.get("may", {}), wanted["arguments"]
    if found["name"] not in names or not arguments.keys() <= found["arguments"].keys():
        return False
    return not arguments or all(argument_right(v, arguments.get(k, may.get(k))) for k, v in found["arguments"].items() if k in arguments or k in may) and all(
        k in arguments or k in may for k in found["arguments"])


def calls_right(found, wanted):
    left = list(found)
    for w in wanted:
        fitting = next((f for f in left if call_right(f, w)), None)
        if fitting is None:
            return False
        left.remove(fitting)
    return not left


def in_language(text, language):
    if language == "ru":
        return sum("а" <= c <= "я" for c in text.lower()) > len(text) / 3
    words = re.findall(r"[^\W\d_]+", text.lower())
    return sum(w in LANGUAGES[language].split() for w in words) >= max(2, len(words) * 0.3)


def json_flat(value):
    if isinstance(value, dict):
        return [str(k) for k in value] + [x for v in value.values() for x in json_flat(v)]
    return [x for v in value for x in json_flat(v)] if isinstance(value, list) else [json.dumps(value) if not isinstance(value, str) else value]


def right(check, output):
    """output: {content, calls, ended}. Whether all rules hold."""
    text, calls = output["content"].strip(), output["calls"]
    if "either" in check:
        return any(right(c, output) for c in check["either"])
    if not output["ended"]:
        return False
    if "calls" in check:
        return calls_right(calls, check["calls"])
    if calls or not text:
        return False
    count = len(text.split())
    value = json_of(text) if any(k.startswith("json") for k in check) else None
    flat = " ".join(json_flat(value)) if isinstance(value, (dict, list)) else ""
    rules = {
        "is": lambda x: normal(text) in map(normal, x), "case": lambda x: all(s in text for s in x), "case_any": lambda x: any(s in text for s in x),
        "has": lambda x: all(occurs(text, s) for s in x), "any": lambda x: any(occurs(text, s) for s in x),
        "has_code": lambda x: all(s.lower() in text.lower() for s in x), "lacks": lambda x: not any(whole(text, s) for s in x),
        "regex": lambda x: re.search(x, text, re.I | re.S) is not None, "words": lambda x: count <= x, "min_words": lambda x: count >= x,
        "sentences": lambda x: sentences(text) <= x, "min_sentences": lambda x: sentences(text) >= x,
        "last_number": lambda x: (re.findall(r"-?\d+(?:\.\d+)?", normal(text)) or [""])[-1] == x,
        "json": lambda x: equal(value, x), "json_any": lambda x: any(equal(value, v) for v in x), "json_has": lambda x: bool(flat) and all(s.lower() in flat.lower() for s in x),
        "asks": lambda x: any(occurs(text, s) for s in x) and bool(re.search(r"\?|please|tell me|need|give me|let me know", text, re.I)),
        "unknown": lambda x: UNKNOWN.search(text) is not None, "not_said": lambda x: NOT_SAID.search(text) is not None,
        "language": lambda x: in_language(text, x), "no_calls": lambda x: True}
    return all(rules[k](x) for k, x in check.items())
