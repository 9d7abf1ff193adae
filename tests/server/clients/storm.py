#!/usr/bin/env python3
"""Clients that leave at a random moment: storm.py [clients, default 10000] [tls]

Each connects, goes as far as a random stage (half-open, in the headers, in the body, in prefill, in the stream, or
never reading what streams), and leaves in a random way (close, reset, or half-close). Afterwards nothing of them may
be left: no request, block, slot, connection or thread, and the memory must be flat.
"""

import asyncio
import json
import pathlib
import random
import socket
import ssl
import struct
import sys
import tempfile

from served import NAME, Served, certificate, tiny_model

STAGES = ["connect", "headers", "body", "prefill", "stream", "deaf"]
AT_ONCE = 100


def request(rng: random.Random, stage: str) -> tuple[bytes, bytes]:
    words = rng.randrange(1, 400 if stage == "prefill" else 20)
    body = {"model": NAME, "messages": [{"role": "user", "content": "word " * words}], "ignore_eos": True,
            "max_tokens": rng.randrange(100, 1500), "stream": stage != "prefill" or rng.random() < 0.5,
            "n": rng.choice([1, 1, 1, 3]), "seed": rng.randrange(1 << 32)}
    text = json.dumps(body).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(text), text


async def client(served: Served, seed: int, statuses: dict[str, int]) -> None:
    rng = random.Random(seed)
    stage = rng.choice(STAGES)
    encrypted = served.url.startswith("https") and stage != "connect"  # else it leaves before the handshake
    trust = ssl._create_unverified_context() if encrypted else None
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=4096, ssl=trust)
    try:
        head, body = request(rng, stage)
        if stage == "headers":
            writer.write(head[:rng.randrange(1, len(head))])
        elif stage == "body":
            writer.write(head + body[:rng.randrange(len(body))])
        elif stage != "connect":
            writer.write(head + body)
        if stage == "stream":
            line = (await asyncio.wait_for(reader.readline(), 60)).decode()
            statuses[line[9:12]] = statuses.get(line[9:12], 0) + 1
            for _ in range(rng.randrange(30)):
                await asyncio.wait_for(reader.read(512), 60)
        elif stage == "deaf":
            writer.transport.pause_reading()
            await asyncio.sleep(rng.random())
        else:
            await asyncio.sleep(rng.choice([0, 0, rng.random() * 0.3]))
        leave = rng.choice(["close", "reset", "half"])
        if leave == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif leave == "half" and writer.can_write_eof():
            writer.write_eof()
            await asyncio.sleep(rng.random() * 0.2)
    except (ConnectionError, asyncio.TimeoutError, OSError):
        pass  # the server may end it first
    finally:
        writer.transport.abort() if rng.random() < 0.5 else writer.close()


async def storm(served: Served, first: int, count: int) -> dict[str, int]:
    gate = asyncio.Semaphore(AT_ONCE)
    statuses: dict[str, int] = {}

    async def gated(seed: int) -> None:
        async with gate:
            await client(served, seed, statuses)
    await asyncio.gather(*(gated(first + index) for index in range(count)))
    return statuses


def left(served: Served) -> dict[str, float]:
    served.wait_idle(60)
    return {"resident_mb": served.resident_bytes() / 1e6, "descriptors": served.descriptors(),
            "threads": len(served.threads()), "connections": served.metrics()["tessera:http_connections"]}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flags, scheme = ["--max-model-len", "2048"], "http"
        if "tls" in sys.argv:
            key, chain = certificate(folder)
            flags, scheme = flags + ["--ssl-keyfile", key, "--ssl-certfile", chain], "https"
        served = Served(tiny_model(folder), folder, *flags, scheme=scheme)
        try:
            # The first tenth warms up: buffers, allocator arenas and the template worker grow to their size.
            asyncio.run(storm(served, 0, max(200, count // 10)))
            before = left(served)
            statuses = asyncio.run(storm(served, 1 << 20, count))
            after = left(served)
            print(f"{count} clients; first lines that streams got: {statuses}")
            for key, value in before.items():
                print(f"{key:12} {value:10.1f} -> {after[key]:10.1f}")
            assert served.alive()
            assert after["connections"] <= 1, "connections are left"  # the one that asks
            assert after["descriptors"] <= before["descriptors"] + 2, "descriptors are left"
            assert after["threads"] == before["threads"], "threads are left"
            assert after["resident_mb"] < before["resident_mb"] * 1.1 + 8, "memory grew"
            assert served.ask("/v1/completions", {"prompt": "x", "max_tokens": 2})[0] == 200
        finally:
            assert served.stop() == 0
    print("nothing is left of them")


if __name__ == "__main__":
    main()
