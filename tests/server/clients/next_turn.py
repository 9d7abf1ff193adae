#!/usr/bin/env python3
"""What idle prefill gives and costs: next_turn.py [--rounds N] [--tokens N] [--model DIR] [--device D]

Two servers, one with --no-idle-prefill, are asked by turns, one behind the other. A round: an answer of about so many
tokens; right behind it a question of somebody else, who comes while the first server prefills; a pause of a second; the
next turn behind the answer. Prints from the request to the first token, of both servers, and the median of their
differences in each round.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
import time
import urllib.request

import served as serving
from served import NAME, TALKING_MODEL, Served

PAUSE_SECONDS = 1.0


def first_token(served: Served, messages: list, **fields) -> tuple[float, str, dict]:
    """Milliseconds to the first token, the answer and its usage."""
    body = {"model": NAME, "messages": messages, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True}, "chat_template_kwargs": {"enable_thinking": False}, **fields}
    request = urllib.request.Request(f"{served.url}/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    begin, first, text, usage = time.perf_counter(), None, "", {}
    with urllib.request.urlopen(request) as reply:
        for line in reply:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            usage = event.get("usage") or usage
            for choice in event["choices"]:
                text += choice["delta"].get("content") or ""
                if text and first is None:
                    first = time.perf_counter()
    return 1000 * (first - begin), text, usage


def round_of(served: Served, number: int, tokens: int) -> dict[str, float]:
    question = [{"role": "user", "content": f"Story number {number}: tell me of a shop and of who comes there."}]
    # A stop string counts from min_tokens on: the answer ends with its sentence, not for its length.
    _, answer, usage = first_token(served, question, min_tokens=tokens, max_tokens=2 * tokens, stop=[".", ","])
    other, _, _ = first_token(served, [{"role": "user", "content": f"I am number {number}. Hello!"}], max_tokens=2)
    time.sleep(PAUSE_SECONDS)
    turn, _, next_usage = first_token(served, [*question, {"role": "assistant", "content": answer},
                                               {"role": "user", "content": "And then?"}], max_tokens=2)
    return {"the next turn, ms": turn, "somebody else right behind the answer, ms": other,
            "tokens of the answer": usage["completion_tokens"], "tokens of the next turn": next_usage["prompt_tokens"],
            "of these cached": next_usage["prompt_tokens_details"]["cached_tokens"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--tokens", type=int, default=500, help="of the answer")
    parser.add_argument("--model", default=str(TALKING_MODEL))
    parser.add_argument("--device", default=serving.DEVICE, help="cpu, cuda or cuda:N")
    arguments = parser.parse_args()
    serving.DEVICE = arguments.device
    with tempfile.TemporaryDirectory() as folder:
        servers = [Served(arguments.model, pathlib.Path(folder), *flags) for flags in ((), ("--no-idle-prefill",))]
        try:
            seen: list[list[dict[str, float]]] = [[], []]
            for number in range(arguments.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    seen[which].append(round_of(servers[which], number, arguments.tokens))
            for each in seen:
                each.pop(0)  # to warm up
            for name in seen[0][0]:
                median = [statistics.median(one[name] for one in each) for each in seen]
                difference = statistics.median(a[name] - b[name] for a, b in zip(*seen))
                print(f"{name}: {median[0]:.1f}, without {median[1]:.1f}, difference {difference:+.1f}")
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
