#!/usr/bin/env python3
"""What docs/demo-model.md says of a checkpoint besides its scores: measures.py TESSERA MODEL [WHAT ...]

  perplexity  of the assistant's tokens of 100 held-out dialogues, thinking included
  drafts      of the MTP head, three at a time, that held on 108 held-out dialogues, by position
  needles     right answers about one sentence hidden among others, 24 of each length

All three by default. Starts a server of its own on the CPU.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import evaluate, generate, render, scoring  # noqa: E402
from demo_model.generate.free import longer  # noqa: E402
from demo_model.generate.words import Words  # noqa: E402

DRAFTS = 3
# Of text around the needle, as longer.noise counts; the tokens of the prompts are some more or less.
NEEDLES = (600, 1200, 2400, 4800, 6400)


class Server:
    def __init__(self, program, model, port=8391):
        self.base = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([program, "serve", model, "--device", "cpu", "--port", str(port), "--quiet", "--speculative-config",
                                         json.dumps({"method": "mtp", "num_speculative_tokens": DRAFTS, "adaptive": False})])

    def __enter__(self):
        while True:
            try:
                self.get("/health")
                return self
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the server has ended")
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path):
        return urllib.request.urlopen(self.base + path, timeout=10).read().decode()

    def complete(self, ids, **fields):
        """The choice of /v1/completions."""
        body = {"prompt": ids, "temperature": 0, **fields}
        request = urllib.request.Request(f"{self.base}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=600))["choices"][0]

    def kept_drafts(self):
        """[drafts kept with all before them], by position."""
        found = re.findall(r'^vllm:spec_decode_num_accepted_tokens_per_pos_total\{.*position="(\d+)".*\} (\S+)$', self.get("/metrics"), re.M)
        return [int(float(count)) for _, count in sorted(found, key=lambda x: int(x[0]))]

    def draft_steps(self):
        return int(float(re.search(r"^vllm:spec_decode_num_drafts_total\{.*\} (\S+)$", self.get("/metrics"), re.M)[1]))


def perplexity(server, tokenizer):
    nats = tokens = 0
    for i in range(100):
        d = generate.dialogue(f"perplexity {i}", True)
        if "text" in d:
            continue
        ids, learnt = render.encode(tokenizer, d)
        rows = server.complete(ids, max_tokens=1, prompt_logprobs=0)["prompt_logprobs"]
        for token, flag, row in zip(ids, learnt, rows):
            if flag:
                nats -= row[str(token)]["logprob"]
                tokens += 1
    print(f"perplexity: {math.exp(nats / tokens):.4f} over {tokens} tokens of the assistant", flush=True)


def drafts(server, tokenizer):
    before, steps = server.kept_drafts(), server.draft_steps()
    dialogues = [generate.dialogue(f"drafts {i}", True, kind) for kind in evaluate.KINDS for i in range(9)]
    for d in dialogues:
        prompt = render.questions(d)[0][1]
        server.complete(tokenizer.encode(prompt, add_special_tokens=False).ids, max_tokens=evaluate.MAX_TOKENS)
    steps = server.draft_steps() - steps
    kept = [after - b for after, b in zip(server.kept_drafts(), before)][:DRAFTS]
    print(f"drafts: of {steps} each were kept with all before them " + ", ".join(f"{k} ({100 * k / steps:.0f} %)" for k in kept), flush=True)


def needles(server, tokenizer):
    def ask(d):
        ids = tokenizer.encode(render.render(d, d["messages"][:-1], add_generation_prompt=True), add_special_tokens=False).ids
        choice = server.complete(ids, max_tokens=evaluate.MAX_TOKENS, skip_special_tokens=False)
        text = choice["text"].removesuffix(render.END)
        return len(ids), scoring.parse(text, None)["content"] == d["check"]["equals"]

    good = asked = 0
    for tokens in NEEDLES:
        dialogues = []
        for i in range(24):
            w = Words(random.Random(f"needle {tokens} {i}"), True)
            w.thinking = True
            dialogues.append({**longer.needle(w, tokens), "thinking": True})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(ask, dialogues))
        sizes, right = [size for size, _ in rows], sum(r for _, r in rows)
        print(f"needles: {right} of {len(rows)} in prompts of {min(sizes)} to {max(sizes)} tokens", flush=True)
        good, asked = good + right, asked + len(rows)
    print(f"needles: {good} of {asked}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TESSERA")
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("what", nargs="*", choices=("perplexity", "drafts", "needles", []), default=[])
    arguments = parser.parse_args()
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(pathlib.Path(arguments.model) / "tokenizer.json"))
    with Server(arguments.program, arguments.model) as server:
        for measure in (perplexity, drafts, needles):
            if not arguments.what or measure.__name__ in arguments.what:
                measure(server, tokenizer)


if __name__ == "__main__":
    main()
