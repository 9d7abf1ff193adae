#!/usr/bin/env python3
"""What the server costs: overhead.py [STREAMS, default 64] [MODEL]

First the memory of 1,000 connections that are idle, and of 1,000 streams that wait for their first token. Then the CPU
time beside the engine's steps:

Holds so many streams open and reads, over some seconds, the engine's step counter and the CPU time of each thread from
/proc/PID/task. The network thread and the text threads are the server's; their CPU time per step, against the time of
a step, is what serving adds. The client's own CPU time is not in it, but the machine's cores are shared with it, so
steps are slower than they would be alone: give the client cores of its own where there are some.

The tiny model's steps take well under a millisecond; MODEL names one whose steps are as long as those of a model that
people serve.
"""

import asyncio
import pathlib
import sys
import tempfile
import time

from served import NAME, Served, tiny_model

SECONDS = 10
MANY = 1000
SERVER_THREADS = ("network", "text")


def cpu_seconds(served: Served) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, seconds in served.threads().values():
        group = name if name in SERVER_THREADS else "engine and others"
        sums[group] = sums.get(group, 0) + seconds
    return sums


async def stream(served: Served, index: int) -> None:
    """Reads and drops: parsing events would be the client's cost."""
    body = ('{"model": "%s", "messages": [{"role": "user", "content": "Number %d"}], "stream": true, '
            '"ignore_eos": true, "max_tokens": 100000}' % (NAME, index)).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    try:
        while await reader.read(1 << 16):
            pass
    finally:
        writer.close()


async def memory(served: Served) -> None:
    empty = served.resident_bytes()
    links = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(MANY)]
    while (await asyncio.to_thread(served.metrics))["tessera:http_connections"] < MANY:
        await asyncio.sleep(0.05)
    idle = served.resident_bytes()
    for _, writer in links:
        writer.close()
    tasks = [asyncio.create_task(stream(served, index)) for index in range(MANY)]
    while (await asyncio.to_thread(served.metrics))["tessera:http_requests_in_flight"] < MANY:
        await asyncio.sleep(0.05)
    waiting = served.resident_bytes()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(f"{MANY} idle connections: {(idle - empty) / 1e6:.1f} MB; {MANY} streams, most of them waiting: "
          f"{(waiting - empty) / 1e6:.1f} MB")


async def measure(served: Served, streams: int) -> None:
    tasks = [asyncio.create_task(stream(served, index)) for index in range(streams)]
    while (await asyncio.to_thread(served.metrics))["vllm:num_requests_running"] < streams:
        await asyncio.sleep(0.1)
    await asyncio.sleep(2)
    before, steps, begin = cpu_seconds(served), (await asyncio.to_thread(served.metrics)), time.monotonic()
    await asyncio.sleep(SECONDS)
    after, last, seconds = cpu_seconds(served), (await asyncio.to_thread(served.metrics)), time.monotonic() - begin
    for task in tasks:
        task.cancel()
    count = last["tessera:engine_steps_total"] - steps["tessera:engine_steps_total"]
    tokens = last["vllm:generation_tokens_total"] - steps["vllm:generation_tokens_total"]
    print(f"{streams} streams: {tokens / seconds:.0f} tok/s, a step takes {seconds / count * 1e3:.3f} ms")
    for name in sorted(after):
        cost = after[name] - before.get(name, 0)
        print(f"{name:18} {cost / count * 1e6:9.1f} us of CPU a step {100 * cost / seconds:7.2f} % of its time")


def main() -> None:
    streams = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = sys.argv[2] if len(sys.argv) > 2 else tiny_model(folder)
        served = Served(model, folder, "--max-num-seqs", str(streams), "--max-model-len", "32768")
        try:
            asyncio.run(memory(served))
            served.wait_idle()
            asyncio.run(measure(served, streams))
        finally:
            served.stop()


if __name__ == "__main__":
    main()
