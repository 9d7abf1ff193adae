"""Mixed load for some minutes: soak.py MINUTES

Streams that are checked against what the same request gave alone, clients that leave, bad requests, tools, several
choices, idle connections. Every ten seconds the process and its metrics are sampled; the samples are printed as a
table. Fails on any answer that is neither right nor 429, and on growth from the second quarter to the last.
"""

import asyncio
import pathlib
import random
import statistics
import sys
import tempfile
import time

import httpx
from served import NAME, Served, tiny_model

WORKERS = 24
IDLE = 100
SAMPLE_SECONDS = 10
CHAT = "/v1/chat/completions"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}}}}


def known_request(index: int) -> dict:
    return {"model": NAME, "messages": [{"role": "user", "content": f"Number {index}. " * (1 + index * 7 % 40)}],
            "max_tokens": 10 + index % 50, "seed": index, "temperature": 0.8, "n": 1 + index % 2}


class Soak:
    def __init__(self, served: Served, seconds: float):
        self.served = served
        self.end = time.monotonic() + seconds
        self.counts: dict[str, int] = {}
        self.faults: list[str] = []
        self.known: dict[int, list[str]] = {}

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def fault(self, what: str) -> None:
        self.count("FAULT")
        self.faults.append(what)
        print(f"FAULT {what}", flush=True)

    async def whole(self, http: httpx.AsyncClient, rng: random.Random) -> None:
        index = rng.randrange(50)
        answer = await http.post(CHAT, json=known_request(index))
        if answer.status_code == 429:
            return self.count("429")
        if answer.status_code != 200:
            return self.fault(f"{answer.status_code} {answer.text[:200]}")
        texts = [(choice["message"].get("reasoning_content") or "") + (choice["message"]["content"] or "")
                 for choice in answer.json()["choices"]]
        if self.known.setdefault(index, texts) != texts:
            self.fault(f"request {index} got another answer")
        self.count("whole")

    async def stream(self, http: httpx.AsyncClient, rng: random.Random, leave: bool) -> None:
        pieces = rng.randrange(1, 60) if leave else 1 << 30
        tools = {"tools": [TOOL], "tool_choice": rng.choice(["auto", "required", "none"])} if rng.random() < 0.3 else {}
        body = {**known_request(rng.randrange(1 << 30)), **tools, "stream": True, "max_tokens": rng.randrange(1, 120)}
        last = ""
        async with http.stream("POST", CHAT, json=body) as answer:
            if answer.status_code == 429:
                return self.count("429")
            if answer.status_code != 200:
                return self.fault(f"{answer.status_code} {(await answer.aread())[:200]!r}")
            async for line in answer.aiter_lines():
                last = line or last
                pieces -= 1
                if pieces == 0:
                    return self.count("left")
        if last != "data: [DONE]":
            self.fault(f"a stream ended with {last[:200]}")
        self.count("stream")

    async def bad(self, http: httpx.AsyncClient, rng: random.Random) -> None:
        body = rng.choice([b"{", b"[" * 5000, b'{"messages": 5}', b'{"messages": [], "n": -1}', b"\xff" * 100,
                           b'{"messages": [{"role": "user", "content": "' + b"x" * 300_000 + b'"}]}'])
        answer = await http.post(CHAT, content=body)
        if not 400 <= answer.status_code < 500:
            return self.fault(f"a bad request got {answer.status_code}")
        self.count("bad")

    async def work(self, seed: int) -> None:
        rng = random.Random(seed)
        async with httpx.AsyncClient(base_url=self.served.url, timeout=600) as http:
            while time.monotonic() < self.end:
                kind = rng.random()
                try:
                    if kind < 0.3:
                        await self.whole(http, rng)
                    elif kind < 0.6:
                        await self.stream(http, rng, leave=False)
                    elif kind < 0.85:
                        await self.stream(http, rng, leave=True)
                    elif kind < 0.95:
                        await self.bad(http, rng)
                    else:
                        await asyncio.sleep(rng.random())
                except httpx.HTTPError as error:
                    self.fault(f"{type(error).__name__}: {error}")

    async def idle(self) -> None:
        """Connections that say nothing, opened again when the server has had enough of them."""
        while time.monotonic() < self.end:
            links = [await asyncio.open_connection("127.0.0.1", self.served.port) for _ in range(IDLE)]
            await asyncio.sleep(min(30, max(0, self.end - time.monotonic())))
            for _, writer in links:
                writer.close()

    async def sample(self, rows: list[dict]) -> None:
        begin = time.monotonic()
        print(f"{'s':>6} {'MB':>8} {'fds':>5} {'threads':>7} {'running':>7} {'waiting':>7} {'tokens':>10}  requests")
        while time.monotonic() < self.end:
            await asyncio.sleep(min(SAMPLE_SECONDS, max(0.1, self.end - time.monotonic())))
            metrics = await asyncio.to_thread(self.served.metrics)
            row = {"s": time.monotonic() - begin, "mb": self.served.resident_bytes() / 1e6,
                   "fds": self.served.descriptors(), "threads": len(self.served.threads())}
            rows.append(row)
            print(f"{row['s']:6.0f} {row['mb']:8.1f} {row['fds']:5} {row['threads']:7} "
                  f"{metrics['vllm:num_requests_running']:7.0f} {metrics['vllm:num_requests_waiting']:7.0f} "
                  f"{metrics['vllm:generation_tokens_total']:10.0f}  {self.counts}", flush=True)

    async def run(self) -> list[dict]:
        rows: list[dict] = []
        await asyncio.gather(self.sample(rows), self.idle(), *(self.work(seed) for seed in range(WORKERS)))
        return rows


def main() -> None:
    minutes = float(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        served = Served(tiny_model(folder), folder, "--max-model-len", "2048", "--max-num-seqs", "16")
        try:
            soak = Soak(served, minutes * 60)
            rows = asyncio.run(soak.run())
            served.wait_idle(60)
            assert not soak.faults, soak.faults[:10]
            quarter = max(1, len(rows) // 4)
            for key, slack in [("mb", 16), ("fds", 16), ("threads", 0)]:
                early = statistics.median(row[key] for row in rows[quarter:2 * quarter] or rows)
                late = statistics.median(row[key] for row in rows[-quarter:])
                print(f"{key}: {early:.1f} in the second quarter, {late:.1f} in the last")
                assert late <= early * 1.05 + slack, f"{key} grew"
        finally:
            assert served.stop() == 0
    print("no fault, no growth")


if __name__ == "__main__":
    main()
