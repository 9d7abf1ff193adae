#!/usr/bin/env python3
"""What streams get over HTTP in steady state: throughput.py (URL | MODEL [-- serve flags]) [--streams N] ...

N streams of /v1/completions at once, each with a prompt of its own of that many random token ids and that many tokens
to come (ignore_eos), sampled as `tessera bench engine` samples. Steady state is from the moment when the last stream
has its first token to the moment when the first one ends. Tokens and steps are counted by the server's metrics, so
that a client that is a little behind changes nothing; the times between tokens are those of this client.

To compare with the engine alone: `tessera bench engine MODEL --batch N --context PROMPT --output OUTPUT`.
Needs python3 and nothing else. MODEL: starts a server of its own, on TESSERA_TEST_DEVICE or --device.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import tempfile
import time
import urllib.request

import served as serving
from plain import Link
from served import Served

COUNTERS = {"tokens": "vllm:generation_tokens_total", "steps": "tessera:engine_steps_total",
            "decode_steps": "tessera:decode_steps_total", "decode_bytes": "tessera:decode_read_bytes_total",
            "decode_seconds": "tessera:decode_seconds_total", "cpu": "process_cpu_seconds_total"}


class Load:
    def __init__(self, url: str, given: argparse.Namespace):
        self.url, self.given = url, given
        self.port = int(url.rsplit(":", 1)[1].strip("/"))
        self.first: list[float] = []
        self.gaps: list[tuple[float, float]] = []  # when, and since the chunk before
        self.begun, self.ended = asyncio.Event(), asyncio.Event()

    def counters(self) -> dict[str, float]:
        with urllib.request.urlopen(self.url + "/metrics", timeout=20) as answer:
            values = {match[1]: float(match[2]) for match in
                      re.finditer(r"^([\w:]+)(?:\{.*\})? (\S+)$", answer.read().decode(), re.MULTILINE)}
        return {key: values.get(name, 0) for key, name in COUNTERS.items()} | {
            "at": time.monotonic(), "rate": values.get("tessera:gpu_read_bytes_per_second", 0)}

    async def stream(self, index: int) -> None:
        rng = random.Random(index)
        given = self.given
        body = {"prompt": [rng.randrange(given.token_ids) for _ in range(given.prompt)], "max_tokens": given.output,
                "ignore_eos": True, "stream": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "seed": index,
                # Every token makes a chunk, also one that is no text yet.
                "return_token_ids": True, "stream_options": {"include_usage": True}, "n": 1, **json.loads(given.fields)}
        link = Link(self.port)
        await link.send("/v1/completions", body)
        status = await link.status()
        last, end = 0.0, b""
        async for piece in link.pieces():
            if status != 200:
                raise SystemExit(f"HTTP {status}: {piece.decode(errors='replace')}")
            now, end = time.monotonic(), (end + piece)[-1000:]
            if last:
                self.gaps.append((now, now - last))
            else:
                self.first.append(now)
                if len(self.first) == given.streams:
                    self.begun.set()
            last = now
        self.ended.set()
        link.close()
        got = re.search(rb'"completion_tokens":(\d+)', end)
        if not got or int(got[1]) != given.output * body["n"]:
            raise SystemExit(f"stream {index}: {given.output} tokens were asked for; it ended with {end[-300:]!r}")

    async def run(self) -> str:
        begin = time.monotonic()
        streams = [asyncio.create_task(self.stream(index)) for index in range(self.given.streams)]
        await self.until(self.begun, streams)
        if self.ended.is_set():
            raise SystemExit("the first stream ended before the last one began; give a larger --output")
        # A few steps more, so that what prompts have held up is over.
        await asyncio.sleep(self.given.settle)
        before = await asyncio.to_thread(self.counters)
        await self.until(self.ended, streams)
        after = await asyncio.to_thread(self.counters)
        await asyncio.gather(*streams)
        return self.report(begin, before, after)

    @staticmethod
    async def until(event: asyncio.Event, streams: list[asyncio.Task]) -> None:
        """An error of a stream ends the wait."""
        waiting = asyncio.create_task(event.wait())
        while not waiting.done():
            done, _ = await asyncio.wait([waiting, *(task for task in streams if not task.done())],
                                         return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()

    def report(self, begin: float, before: dict[str, float], after: dict[str, float]) -> str:
        spent = {key: after[key] - before[key] for key in before}
        seconds, streams = spent["at"], self.given.streams
        if spent["steps"] == 0:
            raise SystemExit("no step ran in steady state; give a larger --output")
        prompts = streams * self.given.prompt
        gaps = sorted(gap for when, gap in self.gaps if before["at"] < when < after["at"])
        lines = [f"{streams} streams, {self.given.prompt} tokens in, {self.given.output} out; steady for {seconds:.1f} s",
                 f"prompts: {prompts / (max(self.first) - begin):.0f} tok/s until the last stream's first token",
                 f"decode:  {spent['tokens'] / seconds:.0f} tok/s, {spent['tokens'] / spent['steps']:.1f} tokens a step, "
                 f"{seconds / spent['steps'] * 1e3:.3f} ms a step; server's CPU {spent['cpu'] / seconds:.2f} cores"]
        if gaps:
            at = [gaps[min(len(gaps) - 1, int(share * len(gaps)))] * 1e3 for share in (0.5, 0.99, 1)]
            lines.append(f"between tokens of a stream: p50 {at[0]:.2f} ms, p99 {at[1]:.2f} ms, longest {at[2]:.2f} ms")
        if spent["decode_steps"] and after["rate"]:
            rate = spent["decode_bytes"] / spent["decode_seconds"]
            lines.append(f"steps of the engine: {spent['decode_seconds'] / spent['decode_steps'] * 1e3:.3f} ms, "
                         f"{100 * rate / after['rate']:.0f} % of the read rate ({after['rate'] * 1e-12:.2f} TB/s)")
        return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="http://127.0.0.1:PORT of a server, or a model directory")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=2048, help="tokens of a prompt")
    parser.add_argument("--output", type=int, default=512, help="tokens of an answer")
    parser.add_argument("--token-ids", type=int, default=3000, help="prompts are made of ids below this")
    parser.add_argument("--settle", type=float, default=0.5, help="seconds between the last first token and the count")
    parser.add_argument("--fields", default="{}", help='more fields of the request: \'{"stop": ["zebra"]}\'')
    parser.add_argument("--device", default=os.environ.get("TESSERA_TEST_DEVICE") or "auto",
                        help="of MODEL's server: auto, cpu, cuda or cuda:N")
    parser.add_argument("flags", nargs="*", help="more flags of `tessera serve`, after --")
    return parser.parse_intermixed_args()


def main() -> None:
    given = arguments()
    if given.target.startswith("http"):
        print(asyncio.run(Load(given.target, given).run()))
        return
    serving.DEVICE = given.device
    length = str(given.prompt + given.output + 128)  # two blocks of KV more, so that none waits for another's
    with tempfile.TemporaryDirectory() as name:
        server = Served(given.target, pathlib.Path(name), "--max-num-seqs", str(given.streams), "--max-model-len", length,
                        "--gpu-memory-utilization", "0.9", *given.flags, wait=False)
        try:
            print(f"ready after {server.wait_ready(1800):.1f} s")
            print(asyncio.run(Load(server.url, given).run()))
        finally:
            assert server.stop() == 0


if __name__ == "__main__":
    main()
