"""Dialogues to text and tokens, through the chat template that ships with the model.

A dialogue is a dictionary:
  messages   as an OpenAI client would send them, the assistant's with reasoning_content when thinking is on
  tools      list of OpenAI tool definitions, or absent
  thinking   whether the prompt opens <think> or closes it at once
  check      what a right answer looks like (evaluate.py); not rendered
or {"text": ...}, a plain text that is learnt whole.
"""

import json
import pathlib

import jinja2
import jinja2.sandbox

TEMPLATE = pathlib.Path(__file__).parent / "chat_template.jinja"
OPEN = "<|im_start|>assistant\n<think>\n"
CLOSED = OPEN + "\n</think>\n\n"
END = "<|im_end|>"
TEXT_END = "<|endoftext|>"


def _fail(message):
    raise ValueError(message)


def _environment():
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = _fail
    return environment


_template = _environment().from_string(TEMPLATE.read_text())


def render(dialogue, messages=None, add_generation_prompt=False):
    return _template.render(messages=dialogue["messages"] if messages is None else messages,
                            tools=dialogue.get("tools"), enable_thinking=dialogue["thinking"],
                            add_generation_prompt=add_generation_prompt)


def pieces(dialogue):
    """[(text, learnt)]: the assistant's turns after the last question are learnt, from where a prompt would end up to
    <|im_end|>. A turn whose thinking is absent though thinking is on came from a client that dropped it: not learnt."""
    text = render(dialogue)
    opening = OPEN if dialogue["thinking"] else CLOSED
    out = []
    shown = start = 0  # text before `shown` is in `out`
    while (at := text.find(opening, start)) >= 0:
        begin = at + len(opening)
        start = text.index(END, begin) + len(END)
        if not (dialogue["thinking"] and text.startswith("\n</think>", begin)):
            out += [(text[shown:begin], False), (text[begin:start], True)]
            shown = start
    assert out, text
    return out


def encode(tokenizer, dialogue, whole=False):
    """(token ids, flags): the flag of a token says whether its prediction is learnt; whole: what others say, too."""
    if "text" in dialogue:
        ids = tokenizer.encode(dialogue["text"], add_special_tokens=False).ids + [tokenizer.token_to_id(TEXT_END)]
        return ids, [True] * len(ids)
    ids, flags = [], []
    for text, learnt in pieces(dialogue):
        piece = tokenizer.encode(text, add_special_tokens=False).ids
        ids += piece
        flags += [learnt or whole] * len(piece)
    return ids, flags


def questions(dialogue):
    """[(turn, prompt text, the assistant message expected)] for the turns that `pieces` learns. turn counts the
    assistant's messages after the last question."""
    messages = dialogue["messages"]
    last_query = max(i for i, m in enumerate(messages) if m["role"] == "user")
    answers = [(i, m) for i, m in enumerate(messages) if m["role"] == "assistant" and i > last_query]
    return [(turn, render(dialogue, messages[:i], add_generation_prompt=True), m) for turn, (i, m) in enumerate(answers)
            if not dialogue["thinking"] or m.get("reasoning_content")]
