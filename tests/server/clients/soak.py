#!/usr/bin/env python3
"""Mixed load for some minutes: soak.py MINUTES [--leavers N] [--model DIR] [--device D] [-- serve flags]

Answers of every API, whole and streamed, of every length, with several choices, stop strings, log-probabilities,
penalties, tools, bounds on thinking, schemas and grammars that they follow; clients that leave at any moment; bad requests; idle connections. It goes on until the minutes are
over and N clients (default 2,000) have left. Every answer that ended is kept; at the end each request is asked again,
alone, and every answer that it got must be that one, to the last log-probability. Afterwards nothing may be in use, and
memory, descriptors and threads, and a GPU's memory where nvidia-smi says it, must not have grown.

Every ten seconds the process and its metrics are sampled; the samples are printed as a table. Needs python3 and nothing
else; the model is the bundled one unless another is named.
"""

import argparse
import asyncio
import hashlib
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

import served as serving
from plain import Link
from served import NAME, TALKING_MODEL, Served

WORKERS = 24
IDLE = 100
KINDS = 160
SAMPLE_SECONDS = 10
LEAVE = 0.88  # kinds of work are shares of chance: up to here, from 0.55 on, a client that leaves
CHAT, TEXT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}}}}
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}, "counts": {"type": "array", "items": {
    "type": "integer"}, "minItems": 3}}, "required": ["word", "counts"]}
GUIDES = [{"guided_json": SCHEMA}, {"guided_choice": ["yes", "no", "yes, but"]}, {"bad_words": ["is", "the", "4"]},
          {"guided_regex": "[A-Z][a-z ]{3,80}[.!]"}, {"guided_grammar": 'root ::= "a" root | "b"'}]
BROKEN = (ConnectionError, asyncio.IncompleteReadError, OSError)


def known_request(index: int) -> tuple[str, dict]:
    """Path and body of one of the requests that are asked again and again: the same index, the same answer."""
    rng = random.Random(index)
    body = {"model": NAME, "max_tokens": rng.choice([1, 7, 30, 90, 240]), "n": rng.choice([1, 1, 1, 2, 4])}
    body |= {"temperature": 0} if rng.random() < 0.4 else {"temperature": 0.9, "seed": index}
    if rng.random() < 0.3:
        body |= rng.choice([{"top_p": 0.8}, {"top_k": 5}, {"min_p": 0.1}])
    if rng.random() < 0.3:
        body |= rng.choice([{"repetition_penalty": 1.2}, {"presence_penalty": 0.7}, {"frequency_penalty": 0.4}])
    if rng.random() < 0.3:
        body["stop"] = rng.sample(["e", " the", "\n\n", "7", "zebra"], rng.randrange(1, 4))
        body["include_stop_str_in_output"] = rng.random() < 0.5
    if rng.random() < 0.2:
        body |= {"ignore_eos": True}
    if rng.random() < 0.2:
        body |= {"min_tokens": min(5, body["max_tokens"])}
    words = f"Number {index}. " * rng.choice([1, 3, 20, 120]) + "What is 17 + 25?"
    if index % 8 in (0, 2, 3, 6) and rng.random() < 0.4:
        body |= rng.choice(GUIDES)
    if index % 4 == 0:
        body |= {"prompt": words} | ({"logprobs": 2} if rng.random() < 0.5 else {})
        return TEXT, body
    if index % 8 == 6:
        return RESPONSES, as_responses(body | {"input": words}, rng)
    body["messages"] = [{"role": "user", "content": words}]
    if index % 4 == 1:
        return MESSAGES, as_messages(body, rng)
    if rng.random() < 0.4:
        body |= {"logprobs": True, "top_logprobs": rng.randrange(4)}
    if rng.random() < 0.3:
        body["chat_template_kwargs"] = {"enable_thinking": False}
    elif rng.random() < 0.3:
        body["thinking_token_budget"] = rng.randrange(40)
    if index % 8 == 7 and rng.random() < 0.6:
        strict = {"type": "function", "function": TOOL["function"] | {"strict": True}}
        body |= {"tools": [rng.choice([TOOL, strict])], "tool_choice": rng.choice(["auto", "required", "none"])}
    return CHAT, body


def as_messages(body: dict, rng: random.Random) -> dict:
    """The same in the words of Anthropic's API."""
    body |= {"stop_sequences": body.pop("stop", []), "system": [{"type": "text", "text": "Be brief."}]}
    body["thinking"] = rng.choice([{"type": "disabled"}, {"type": "adaptive"}, {"type": "enabled", "budget_tokens": 20}])
    if rng.random() < 0.3:
        function = TOOL["function"]
        body["tools"] = [{"name": function["name"], "input_schema": function["parameters"]}]
        body["tool_choice"] = {"type": rng.choice(["auto", "any", "none"])}
    return body


def as_responses(body: dict, rng: random.Random) -> dict:
    """The same as one of Responses, which has one choice. It is not kept: what is would be growth."""
    del body["n"]
    body |= {"max_output_tokens": body.pop("max_tokens"), "instructions": "Be brief.", "store": False,
             "reasoning": {"effort": rng.choice(["none", "low", "medium"])}}
    if rng.random() < 0.4 and not any(name.startswith("guided") for name in body):
        custom = {"type": "custom", "name": "note", "format": {"type": "grammar", "syntax": "regex",
                                                                "definition": "[a-z ]{1,40}"}}
        body |= {"tools": [custom, {"type": "function", **TOOL["function"]}],
                 "tool_choice": rng.choice(["auto", "required", {"type": "custom", "name": "note"}])}
    return body


class Gathered:
    """An answer's choices, the same however it came: whole, or in the chunks of a stream."""

    def __init__(self):
        self.choices: dict[int, dict] = {}

    def add(self, choice: dict) -> None:
        into = self.choices.setdefault(choice["index"], {"text": "", "reasoning": "", "calls": {}, "logprobs": []})
        part = choice.get("message") or choice.get("delta") or {}
        into["text"] += choice.get("text") or part.get("content") or ""
        into["reasoning"] += part.get("reasoning_content") or ""
        for number, call in enumerate(part.get("tool_calls") or []):
            name_and_arguments = into["calls"].setdefault(call.get("index", number), ["", ""])
            name_and_arguments[0] += call["function"].get("name") or ""
            name_and_arguments[1] += call["function"].get("arguments") or ""
        logprobs = choice.get("logprobs") or {}
        into["logprobs"] += logprobs.get("content") or list(
            zip(logprobs.get("tokens") or [], logprobs.get("token_logprobs") or [], strict=True))
        into["finish"] = choice.get("finish_reason") or into.get("finish")

    def add_message(self, message: dict) -> None:
        """A whole answer of /v1/messages."""
        for block in message["content"]:
            self.add_block(block)
        self.end_message(message["stop_reason"], message["usage"])

    def add_event(self, event: dict) -> None:
        """One event of its stream."""
        if event["type"] == "content_block_start":
            self.add_block(event["content_block"] | {"input": None})
        elif event["type"] == "content_block_delta":
            self.add_block(event["delta"])
        elif event["type"] == "message_delta":
            self.end_message(event["delta"]["stop_reason"], event["usage"])

    def add_response(self, response: dict) -> None:
        """One of /v1/responses, or the last event of its stream has it."""
        items = [{key: value for key, value in item.items() if key not in ("id", "call_id")}
                 for item in response["output"]]
        usage = response["usage"]
        self.choices[0] = {"items": items, "finish": response["status"],
                           "usage": [usage["input_tokens"], usage["output_tokens"]]}

    def add_block(self, block: dict) -> None:
        into = self.choices.setdefault(0, {"text": "", "thinking": "", "signature": "", "calls": []})
        for key in ("text", "thinking", "signature"):
            into[key] += block.get(key) or ""
        if "name" in block:
            into["calls"].append([block["id"][:6], block["name"], json.dumps(block["input"]) if block["input"] else ""])
        elif "partial_json" in block:
            into["calls"][-1][2] += block["partial_json"]

    def end_message(self, reason: str, usage: dict) -> None:
        into = self.choices.setdefault(0, {"calls": []})
        # A call that was cut is in the stream alone.
        into["calls"] = [] if reason == "max_tokens" else [
            [prefix, name, json.loads(arguments or "{}")] for prefix, name, arguments in into["calls"]]
        # What of the prompt the prefix cache had is the company's doing.
        prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
        into["finish"], into["usage"] = reason, [prompt, usage["output_tokens"]]

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(sorted(self.choices.items())).encode()).hexdigest()[:16]


def gpu_bytes(pid: int) -> float:
    """What the process holds of GPUs' memory, as the driver says; 0 where it does not."""
    if not shutil.which("nvidia-smi"):
        return 0
    said = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=False).stdout
    rows = [line.split(", ") for line in said.splitlines()]
    mine = [float(row[1]) for row in rows if len(row) == 2 and row[0] == str(pid) and row[1].strip().isdigit()]
    if not mine:  # in a container the driver names no process; then what all of the GPU holds
        said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, check=False).stdout
        mine = [float(line) for line in said.split() if line.isdigit()]
    return sum(mine) * (1 << 20)


class Soak:
    def __init__(self, server: Served, seconds: float, leavers: int):
        self.server = server
        self.end = time.monotonic() + seconds
        self.leavers = leavers
        self.counts: dict[str, int] = {}
        self.faults: list[str] = []
        self.answers: dict[int, dict[str, int]] = {}  # by request: digests, and how often

    def going(self) -> bool:
        return time.monotonic() < self.end or self.counts.get("left", 0) < self.leavers

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def fault(self, what: str) -> None:
        self.count("FAULT")
        self.faults.append(what)
        print(f"FAULT {what}", flush=True)

    def keep(self, index: int, digest: str) -> None:
        found = self.answers.setdefault(index, {})
        found[digest] = found.get(digest, 0) + 1

    async def whole(self, link: Link, index: int) -> str | None:
        path, body = known_request(index)
        status, text = await link.post(path, body)
        if status == 429:
            return self.count("429")
        if status != 200:
            return self.fault(f"request {index}: {status} {text[:200]!r}")
        gathered = Gathered()
        if path == MESSAGES:
            gathered.add_message(json.loads(text))
        elif path == RESPONSES:
            gathered.add_response(json.loads(text))
        else:
            for choice in json.loads(text)["choices"]:
                gathered.add(choice)
        self.count("whole")
        return gathered.digest()

    async def stream(self, link: Link, index: int) -> str | None:
        path, body = known_request(index)
        await link.send(path, body | {"stream": True})
        status = await link.status()
        if status != 200:
            text = b"".join([piece async for piece in link.pieces()])
            return self.count("429") if status == 429 else self.fault(f"stream {index}: {status} {text[:200]!r}")
        gathered, last = Gathered(), ""
        async for event in link.events():
            last = event
            if path == MESSAGES:
                gathered.add_event(json.loads(event))
            elif path == RESPONSES:
                continue
            elif event != "[DONE]":
                for choice in json.loads(event).get("choices", []):
                    gathered.add(choice)
        if path == RESPONSES and "response" in json.loads(last):
            gathered.add_response(json.loads(last)["response"])
        elif last != "[DONE]" and json.loads(last)["type"] != "message_stop":
            return self.fault(f"stream {index} ended with {last[:200]}")
        self.count("stream")
        return gathered.digest()

    async def leave(self, rng: random.Random) -> None:
        """Goes while the request is sent, waits, is read, or streams; with a FIN or a reset."""
        link = Link(self.server.port)
        path, body = known_request(rng.randrange(1 << 30))
        bound = "max_output_tokens" if path == RESPONSES else "max_tokens"
        body |= {"stream": rng.random() < 0.7, bound: rng.randrange(1, 400)}
        body.pop("min_tokens", None)
        try:
            await link.send(path, body)
            kind = rng.random()
            if kind < 0.4:
                await asyncio.sleep(rng.random() * rng.choice([0.01, 0.1, 1]))
            elif kind < 0.9:
                await link.status()
                events = rng.randrange(100)
                async for _ in link.events() if body["stream"] else link.pieces():
                    events -= 1
                    if events <= 0:
                        break
        finally:
            link.close(abort=rng.random() < 0.5)
        self.count("left")

    async def bad(self, link: Link, rng: random.Random) -> None:
        status, _ = await link.post(CHAT, rng.choice([
            b"{", b"[" * 5000, b'{"messages": 5}', b'{"messages": [], "n": -1}', b"\xff" * 100,
            b'{"messages": [{"role": "user", "content": "' + b"x" * 300_000 + b'"}]}']))
        if not 400 <= status < 500:
            return self.fault(f"a bad request got {status}")
        self.count("bad")

    async def work(self, seed: int) -> None:
        rng = random.Random(seed)
        link = Link(self.server.port)
        while self.going():
            kind, index = rng.random(), rng.randrange(KINDS)
            if time.monotonic() > self.end:  # only leavers are missing
                kind = LEAVE
            try:
                if kind < 0.25:
                    digest = await self.whole(link, index)
                    self.keep(index, digest) if digest else None
                elif kind < 0.55:
                    digest = await self.stream(link, index)
                    self.keep(index, digest) if digest else None
                elif kind <= LEAVE:
                    await self.leave(rng)
                elif kind < 0.95:
                    await self.bad(link, rng)
                else:
                    await asyncio.sleep(rng.random())
            except BROKEN as error:
                link.close(abort=True)
                if 0.55 <= kind <= LEAVE:  # it left; whether the server ended it first does not matter
                    self.count("left")
                else:
                    self.fault(f"{type(error).__name__}: {error}")
        link.close()

    async def idle(self) -> None:
        """Connections that say nothing, opened again when the server has had enough of them."""
        while self.going():
            links = [await asyncio.open_connection("127.0.0.1", self.server.port) for _ in range(IDLE)]
            until = time.monotonic() + 30
            while self.going() and time.monotonic() < until:
                await asyncio.sleep(0.5)
            for _, writer in links:
                writer.close()

    async def sample(self, rows: list[dict]) -> None:
        begin = time.monotonic()
        print(f"{'s':>6} {'MB':>8} {'GPU MB':>8} {'fds':>5} {'threads':>7} {'running':>7} {'waiting':>7} {'tokens':>10}"
              f"{'read':>6}  requests")
        while self.going():
            until = time.monotonic() + SAMPLE_SECONDS
            while self.going() and time.monotonic() < until:
                await asyncio.sleep(0.2)
            metrics = await asyncio.to_thread(self.server.metrics)
            row = {"s": time.monotonic() - begin, "mb": self.server.resident_bytes() / 1e6,
                   "gpu_mb": await asyncio.to_thread(gpu_bytes, self.server.pid) / 1e6,
                   "fds": self.server.descriptors(), "threads": len(self.server.threads())}
            rows.append(row)
            print(f"{row['s']:6.0f} {row['mb']:8.1f} {row['gpu_mb']:8.0f} {row['fds']:5} {row['threads']:7} "
                  f"{metrics['vllm:num_requests_running']:7.0f} {metrics['vllm:num_requests_waiting']:7.0f} "
                  f"{metrics['vllm:generation_tokens_total']:10.0f} "
                  f"{100 * metrics.get('tessera:step_read_fraction', 0):4.0f}%  {self.counts}", flush=True)

    async def run(self) -> list[dict]:
        rows: list[dict] = []
        await asyncio.gather(self.sample(rows), self.idle(), *(self.work(seed) for seed in range(WORKERS)))
        return rows

    async def compare(self) -> None:
        """Each request alone, against every answer that it got in company."""
        link = Link(self.server.port)
        answers = 0
        for index, found in sorted(self.answers.items()):
            alone = await self.whole(link, index)
            answers += sum(found.values())
            for digest, times in found.items():
                if digest != alone:
                    self.fault(f"request {index} got another answer {times} times: {known_request(index)}")
        print(f"{answers} answers of {len(self.answers)} requests compared with those given alone")
        link.close()


def check_growth(rows: list[dict]) -> None:
    quarter = max(1, len(rows) // 4)
    for key, slack in [("mb", 16), ("gpu_mb", 8), ("fds", WORKERS + 4), ("threads", 0)]:
        early = statistics.median(row[key] for row in rows[quarter:2 * quarter] or rows)
        late = statistics.median(row[key] for row in rows[-quarter:])
        print(f"{key}: {early:.1f} in the second quarter, {late:.1f} in the last")
        assert late <= early * (1.05 if key == "mb" else 1) + slack, f"{key} grew"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--leavers", type=int, default=2000)
    parser.add_argument("--model", default=str(TALKING_MODEL))
    parser.add_argument("--device", default=serving.DEVICE, help="cpu, cuda or cuda:N")
    parser.add_argument("flags", nargs="*", help="more flags of `tessera serve`, after --")
    return parser.parse_intermixed_args()


def main() -> None:
    given = arguments()
    serving.DEVICE = given.device
    with tempfile.TemporaryDirectory() as name:
        server = Served(given.model, pathlib.Path(name), "--max-model-len", "2048", "--max-num-seqs", "16", *given.flags)
        try:
            soak = Soak(server, given.minutes * 60, given.leavers)
            rows = asyncio.run(soak.run())
            server.wait_idle(60)
            asyncio.run(soak.compare())
            server.wait_idle(60)
            assert not soak.faults, soak.faults[:10]
            assert soak.counts["left"] >= given.leavers
            assert server.ask("/health")[0] == 200
            check_growth(rows)
        finally:
            assert server.stop() == 0
    print("no fault, no growth, every answer as alone")


if __name__ == "__main__":
    main()
