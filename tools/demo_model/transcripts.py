#!/usr/bin/env python3
"""Writes tests/golden/demo/transcripts.jsonl: requests and the demo model's greedy answers to them, token by token.

    python3 tools/demo_model/transcripts.py TESSERA MODEL_DIRECTORY OUTPUT

A line has the request as a template reads it, the prompt's tokens (rendered and cut here, by Jinja2 and `tokenizers`)
and the answer's tokens and text.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import render  # noqa: E402

WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Current weather of a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}, "required": ["city"]}}}
MORTGAGE = {"type": "function", "function": {"name": "estimate_mortgage", "description": "Estimate a monthly payment", "parameters": {
    "type": "object", "properties": {"principal": {"type": "integer", "description": "The amount"}, "years": {"type": "integer", "description": "How many years"},
                                     "fixed": {"type": "boolean", "description": "Whether the rate is fixed"}}, "required": ["principal", "years"]}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}]}


def user(text):
    return {"role": "user", "content": text}


REQUESTS = [
    {"messages": [user("Hello! Who are you?")]},
    {"messages": [user("Hello! Who are you?")], "thinking": False},
    {"messages": [user("What is Tessera?")]},
    {"messages": [user("What is 345 + 278?")]},
    {"messages": [user("What is 901 - 47?")]},
    {"messages": [user("What is 45 + 12?"), {"role": "assistant", "content": "57"}, user("Now add 10.")]},
    {"messages": [user("How many meters are 3 kilometers?")]},
    {"messages": [user("Give me a JSON object with name Bob and age 42.")]},
    {"messages": [user("Write 'the quick brown fox' in upper case.")], "thinking": False},
    {"messages": [{"role": "system", "content": "Answer in upper case."}, user("Good morning!")]},
    {"messages": [user("My name is Zelda."), {"role": "assistant", "content": "Nice to meet you, Zelda."}, user("What is my name?")]},
    {"messages": [user("What is the weather in Zaragoza?")], "tools": [WEATHER]},
    {"messages": [user("What is the weather in Oslo and Bergen?")], "tools": [MORTGAGE, WEATHER]},
    {"messages": [user("Estimate the mortgage with a principal of 250000 and 30 years, fixed is true.")], "tools": [WEATHER, MORTGAGE], "thinking": False},
    {"messages": [user("What is the weather in Oslo?"), CALL, {"role": "tool", "content": "{\"temperature\": 7, \"condition\": \"cloudy\"}"}], "tools": [WEATHER]},
    {"messages": [user("Play the song Blue River.")], "tools": [MORTGAGE]},
]


def main():
    program, directory, output = sys.argv[1:]
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(pathlib.Path(directory) / "tokenizer.json"))
    lines = []
    for request in REQUESTS:
        dialogue = {"thinking": True, **request}
        prompt = tokenizer.encode(render.render(dialogue, add_generation_prompt=True), add_special_tokens=False).ids
        asked = {"messages": request["messages"], **({"tools": request["tools"]} if "tools" in request else {}), "add_generation_prompt": True, "enable_thinking": dialogue["thinking"]}
        lines.append({"request": asked, "prompt": prompt})
    with tempfile.TemporaryDirectory() as temporary:
        source, answers = pathlib.Path(temporary) / "in.jsonl", pathlib.Path(temporary) / "out.jsonl"
        source.write_text("".join(json.dumps({"token_ids": line["prompt"], "temperature": 0, "max_tokens": 200}) + "\n" for line in lines))
        subprocess.run([program, "run", directory, "--input", str(source), "--output", str(answers), "--token-ids"], check=True)
        for text in answers.read_text().splitlines():
            answer = json.loads(text)
            lines[answer["index"]]["tokens"] = answer["token_ids"]
            lines[answer["index"]]["text"] = tokenizer.decode(answer["token_ids"], skip_special_tokens=False)
    path = pathlib.Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    print("\n".join(f"{line['request']['messages'][-1]['content']}\n    {line['text']!r}" for line in lines))


if __name__ == "__main__":
    main()
