#!/usr/bin/env python3
"""What drafts give users who ask again once answered: drafts.py [--users 1,8,32] [--rounds N] [--seconds S] [--output N] ...

Two servers of the bundled model, one without drafts and one as it comes (--flags), are asked by turns, each round in the
other order, for whole answers of held-out dialogues of all kinds with thinking. With --output answers go on to half to
one and a half times so many tokens, with --equal to just as many: then users who began together ask together for ever
and their prompts are read in one step, unless drafts let one of them be earlier. Both have been idle for some seconds
before, and have no prefix cache. A round's tokens are over when its last answer is there. "Decoding" is what a user has
from an answer's first token to its last, by the servers' own histograms. Needs python3 and nothing else; clients are
processes, so that they are not what is measured.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import shlex
import statistics
import sys
import tempfile
import threading
import time
import urllib.request

import served as serving
from served import NAME, ROOT, TALKING_MODEL, Served

sys.path.insert(0, str(ROOT / "tools"))
from demo_model import generate  # noqa: E402

KINDS = [kind for kind in generate.SHARES if kind not in ("plain", "longer", "agents")]
PROCESSES = 8


def bodies(count: int, output: int, equal: bool) -> list[bytes]:
    """Requests of held-out dialogues up to their last question, by turns of all kinds."""
    made = []
    for i in range(count):
        dialogue = generate.dialogue(f"drafts of users {i}", True, KINDS[i % len(KINDS)], True)
        messages = dialogue["messages"]
        last = max(k for k, message in enumerate(messages) if message["role"] == "user")
        body = {"model": NAME, "messages": [generate.api_message(m) for m in messages[:last + 1]], "temperature": 0,
                "max_tokens": output or 320}
        if output:
            if not equal:
                body["max_tokens"] = output // 2 + i * 61 % output
            body["ignore_eos"] = True
        if dialogue.get("tools"):
            body["tools"] = dialogue["tools"]
        made.append(json.dumps(body).encode())
    return made


def ask(port: int, requests: list[bytes], first: int, end: float, out: list[tuple[int, float]]) -> None:
    """A user until `end`; appends (tokens, when the last one was there)."""
    link, tokens = http.client.HTTPConnection("127.0.0.1", port), 0
    while time.time() < end:
        link.request("POST", "/v1/chat/completions", requests[first % len(requests)],
                     {"Content-Type": "application/json"})
        answer = link.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"HTTP {answer.status}: {text.decode(errors='replace')}")
        tokens += json.loads(text)["usage"]["completion_tokens"]
        first += 1
    out.append((tokens, time.time()))


def some_users(port: int, requests: list[bytes], firsts: list[int], end: float, queue) -> None:
    out: list[tuple[int, float]] = []
    threads = [threading.Thread(target=ask, args=(port, requests, first, end, out)) for first in firsts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(out if len(out) == len(firsts) else None)


def decoded(port: int) -> tuple[float, float]:
    """So far: (tokens behind the first of each answer, seconds that they took)."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = [line.split() for line in answer.read().decode().splitlines() if not line.startswith("#")]

    def total(name: str) -> float:
        return sum(float(value) for key, value in lines if key.partition("{")[0] == name)

    return (total("vllm:generation_tokens_total") - total("vllm:request_generation_tokens_count"),
            total("vllm:request_decode_time_seconds_sum"))


def tokens_per_second(port: int, requests: list[bytes], users: int, seconds: float, first: int) -> tuple[float, float]:
    """(of all users, of one user from an answer's first token to its last)"""
    before = decoded(port)
    queue, begin = multiprocessing.Queue(), time.time() + 0.2
    shares = [[first + 37 * user for user in range(users)[k::PROCESSES]] for k in range(min(users, PROCESSES))]
    processes = [multiprocessing.Process(target=some_users, args=(port, requests, share, begin + seconds, queue))
                 for share in shares]
    for process in processes:
        process.start()
    parts = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    if None in parts:
        raise SystemExit("a user was not answered")
    answers = [answer for part in parts for answer in part]
    tokens, decoding = (after - so_far for after, so_far in zip(decoded(port), before))
    return sum(tokens for tokens, _ in answers) / (max(end for _, end in answers) - begin), tokens / decoding


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", default="1,8,32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--output", type=int, default=0, help="tokens of an answer (default: as long as it is)")
    parser.add_argument("--equal", action="store_true", help="answers are of --output tokens, all of them")
    parser.add_argument("--flags", default="--num-speculative-tokens 5", help="of `tessera serve`, with drafts")
    parser.add_argument("--device", default=os.environ.get("TESSERA_TEST_DEVICE") or "cpu")
    given = parser.parse_args()
    serving.DEVICE = given.device
    requests = bodies(500, given.output, given.equal)
    with tempfile.TemporaryDirectory() as name:
        start = [str(TALKING_MODEL), pathlib.Path(name), "--no-enable-prefix-caching"]
        servers = {"without": Served(*start, "--num-speculative-tokens", "0"),
                   "with": Served(*start, *shlex.split(given.flags))}
        try:
            time.sleep(4)
            for users in map(int, given.users.split(",")):
                ratios = []
                for number in range(given.rounds):
                    order = list(servers) if number % 2 == 0 else list(servers)[::-1]
                    rates = {which: tokens_per_second(servers[which].port, requests, users, given.seconds, 100 * number)
                             for which in order}
                    ratios.append([ours / none for ours, none in zip(rates["with"], rates["without"])])
                    print(f"{users} users: {rates['without'][0]:.0f} tok/s without drafts, {rates['with'][0]:.0f} with, "
                          f"{ratios[-1][0]:.2f} times; decoding {ratios[-1][1]:.2f} times", flush=True)
                print("{} users: {:.2f} times in the median; decoding {:.2f} times".format(
                    users, *map(statistics.median, zip(*ratios))), flush=True)
        finally:
            for server in servers.values():
                server.stop()


if __name__ == "__main__":
    main()
