#!/usr/bin/env python3
"""Scores a demo model on the prompts in free words of heldout/, which no generator knows.

  freeform.py torch STATE_DIRECTORY [--rounded]      with the training forward
  freeform.py run TESSERA MODEL_DIRECTORY            through `tessera run --input --output`
  freeform.py serve http://127.0.0.1:8000/v1         through an OpenAI-compatible server, which parses calls itself
"""

import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import evaluate, judge, render, scoring  # noqa: E402

def prompt_text(d):
    return render.render(d, d["messages"], add_generation_prompt=True)


def output_of(d, text, ended):
    return {**scoring.parse(text, d.get("tools"), d["thinking"]), "ended": ended}


def judged(dialogues, outputs):
    """({category: [right, all]}, the number that did not end, [(dialogue, output)] of the wrong ones)"""
    table, wrong = {}, []
    for d, output in zip(dialogues, outputs):
        good = judge.right(d["check"], output)
        row = table.setdefault(d["kind"], [0, 0])
        row[0] += good
        row[1] += 1
        if not good:
            wrong.append((d, output))
    return table, sum(not o["ended"] for o in outputs), wrong


def print_scores(table, runaways):
    for kind, (good, count) in sorted(table.items()):
        print(f"  {kind:22s} {good:4d} of {count:4d}  {100 * good / count:6.1f} %")
    good, count = (sum(row[i] for row in table.values()) for i in (0, 1))
    print(f"  {'all free words':22s} {good:4d} of {count:4d}  {100 * good / count:6.1f} %, {runaways} without an end", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("how", choices=("torch", "run", "serve"))
    parser.add_argument("where", nargs="+")
    parser.add_argument("--rounded", action="store_true", help="torch: with the weights rounded as `tessera quantize` stores them")
    parser.add_argument("--no-thinking", action="store_true")
    parser.add_argument("--only", help="categories, with commas between")
    parser.add_argument("--wrong", type=int, default=0, help="print so many wrong answers of each category")
    arguments = parser.parse_args()
    tokenizer = evaluate.tokenizer_of(arguments)
    dialogues = [d for d in judge.prompts(not arguments.no_thinking) if not arguments.only or d["kind"] in arguments.only.split(",")]
    asked = [(d, 0, prompt_text(d), d["messages"]) for d in dialogues]
    start = time.time()
    answers = {"torch": evaluate.by_torch, "run": evaluate.by_run, "serve": evaluate.by_server}[arguments.how](arguments, asked, tokenizer)
    outputs = [a if isinstance(a, dict) else output_of(d, *a) for d, a in zip(dialogues, answers)]
    table, runaways, wrong = judged(dialogues, outputs)
    shown = {}
    for d, output in wrong:
        shown[d["kind"]] = shown.get(d["kind"], 0) + 1
        if shown[d["kind"]] <= arguments.wrong:
            said = output["content"] + "".join(f" CALL {json.dumps(c, ensure_ascii=False)}" for c in output["calls"])
            print(f"--- {d['kind']}: {d['messages'][-1]['content'][-160:]!r}\n    thought {output['reasoning'][:200]!r}\n    said {said[:300]!r}{'' if output['ended'] else ' WITHOUT AN END'}")
    print_scores(table, runaways)
    print(f"{len(asked)} answers in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
