#!/usr/bin/env python3
"""Scores a demo model on held-out dialogues, greedily.

  evaluate.py torch STATE_DIRECTORY [--rounded]        with the training forward
  evaluate.py run TESSERA MODEL_DIRECTORY              through `tessera run --input --output`
  evaluate.py serve http://127.0.0.1:8000/v1           through an OpenAI-compatible server, which parses calls itself

--seed chooses other dialogues of the same held-out words, --count how many of each kind.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import generate, render, scoring  # noqa: E402

KINDS = ("call", "parallel", "follow_up", "chain", "no_call", "arithmetic", "measures", "formats", "system", "talk", "references", "copying")
TOKENIZER = pathlib.Path(__file__).parent / "files" / "tokenizer.json"
MAX_TOKENS = 400


def questions(arguments):
    """[(dialogue, turn, prompt text, messages before)]"""
    out = []
    for kind in arguments.kinds.split(","):
        for i in range(arguments.count):
            thinking = {"both": None, "on": True, "off": False}[arguments.thinking]
            d = generate.dialogue(f"{arguments.seed} {i}", True, kind, thinking)
            for turn, prompt, message in render.questions(d):
                out.append((d, turn, prompt, d["messages"][:next(j for j, m in enumerate(d["messages"]) if m is message)]))
    return out


def tokenizer_of(arguments):
    """The checkpoint's own, which may be older than that of files/."""
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(pathlib.Path(arguments.where[1]) / "tokenizer.json" if arguments.how == "run" else TOKENIZER))


def by_torch(arguments, asked, tokenizer):
    """[(output text, whether it ended)]"""
    import torch

    from demo_model import checkpoint, decode, quantise
    device = "cuda" if torch.cuda.device_count() else "cpu"
    c, params, state = checkpoint.load_pieces(arguments.where[0], device)
    with torch.no_grad():
        weights = quantise.effective(params, torch.bfloat16 if device == "cuda" else torch.float32, quantise.plan(params, state.get("recipe", "balanced")) if arguments.rounded else None)
    ends = [tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")]
    prompts = [tokenizer.encode(p, add_special_tokens=False).ids for _, _, p, _ in asked]
    rows = decode.generate_all(c, weights, prompts, MAX_TOKENS, ends, 512 if device == "cuda" else 32)
    return [(tokenizer.decode(ids, skip_special_tokens=False), len(ids) < MAX_TOKENS) for ids in rows]


def by_run(arguments, asked, tokenizer):
    """Prompts go in as token ids, rendered here, so that tools can be given too."""
    program, directory = arguments.where
    with tempfile.TemporaryDirectory() as temporary:
        source, answers = pathlib.Path(temporary) / "in.jsonl", pathlib.Path(temporary) / "out.jsonl"
        with source.open("w") as f:
            for _, _, prompt, _ in asked:
                f.write(json.dumps({"token_ids": tokenizer.encode(prompt, add_special_tokens=False).ids, "temperature": 0, "max_tokens": MAX_TOKENS}) + "\n")
        subprocess.run([program, "run", directory, "--input", str(source), "--output", str(answers), "--token-ids"])
        out = [("", False)] * len(asked)
        for line in answers.read_text().splitlines():
            answer = json.loads(line)
            if "token_ids" not in answer:
                continue  # longer than the model reads, which the program has said
            text = tokenizer.decode(answer["token_ids"], skip_special_tokens=False).removesuffix(render.END)
            out[answer["index"]] = text, len(answer["token_ids"]) < MAX_TOKENS
    return out


def by_server(arguments, asked, _):
    """Finished outputs {reasoning, content, calls}."""
    base = arguments.where[0].rstrip("/")
    name = json.load(urllib.request.urlopen(f"{base}/models"))["data"][0]["id"]

    def ask(item):
        d, _, _, messages = item
        body = {"model": name, "messages": [generate.api_message(m) for m in messages], "temperature": 0, "max_tokens": MAX_TOKENS, "chat_template_kwargs": {"enable_thinking": d["thinking"]}}
        if d.get("tools"):
            body["tools"] = d["tools"]
        request = urllib.request.Request(f"{base}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        choice = json.load(urllib.request.urlopen(request, timeout=600))["choices"][0]
        message = choice["message"]
        calls = [{"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])} for c in message.get("tool_calls") or []]
        return {"reasoning": message.get("reasoning_content") or "", "content": (message.get("content") or "").strip(), "calls": calls, "clean": True,
                "ended": choice["finish_reason"] != "length"}

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        return list(pool.map(ask, asked))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("how", choices=("torch", "run", "serve"))
    parser.add_argument("where", nargs="+")
    parser.add_argument("--rounded", action="store_true", help="torch: with the weights rounded as `tessera quantize` stores them")
    parser.add_argument("--seed", default="score", help="any text")
    parser.add_argument("--count", type=int, default=100, help="dialogues of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--thinking", choices=("both", "on", "off"), default="both")
    parser.add_argument("--wrong", type=int, default=0, help="print so many wrong answers")
    arguments = parser.parse_args()
    tokenizer = tokenizer_of(arguments)
    asked = questions(arguments)
    start = time.time()
    answers = {"torch": by_torch, "run": by_run, "serve": by_server}[arguments.how](arguments, asked, tokenizer)
    table, shown = {}, 0
    for (d, turn, prompt, _), answer in zip(asked, answers):
        output = answer if isinstance(answer, dict) else scoring.parse(answer[0], d.get("tools"), d["thinking"])
        what, good = scoring.right(d, turn, output)
        row = table.setdefault((d["kind"], "on" if d["thinking"] else "off", what), [0, 0])
        row[0] += good
        row[1] += 1
        if not good and shown < arguments.wrong:
            shown += 1
            print(f"--- {d['kind']}, {what}, expected {json.dumps(d['check'], ensure_ascii=False)}\n{prompt[-600:]}>>> {answer}")
    for (kind, thinking, what), (good, count) in sorted(table.items()):
        print(f"{kind:11s} thinking {thinking:3s} {what:8s} {good:5d} of {count:5d}  {100 * good / count:6.2f} %")
    print(f"{len(asked)} answers in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
