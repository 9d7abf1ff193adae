"""Many clients at once, and clients that leave."""

import asyncio
import json
import socket
import subprocess

import httpx
import openai
import pytest
from served import BINARY, NAME, Served, device_flags

STREAMS = 200


def request(index):
    words = f"Tell me about the number {index} " * (1 + index % 9)
    return {"model": NAME, "messages": [{"role": "user", "content": words}], "max_tokens": 8 + index % 17,
            "seed": index, "temperature": index % 3 * 0.7,
            "extra_body": {"chat_template_kwargs": {"enable_thinking": index % 2 == 0}}}


async def streamed(client, index):
    text, usage = "", None
    async for chunk in await client.chat.completions.create(**request(index), stream=True,
                                                            stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += getattr(choice.delta, "reasoning_content", None) or ""
            text += choice.delta.content or ""
    return text, usage.completion_tokens


def test_200_streams_each_as_if_alone(server):
    async def run():
        limits = httpx.Limits(max_connections=STREAMS)
        http = httpx.AsyncClient(limits=limits, timeout=120)
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0,
                                      http_client=http) as client:
            together = await asyncio.gather(*(streamed(client, index) for index in range(STREAMS)))
            alone = [await streamed(client, index) for index in range(STREAMS)]
            assert together == alone
    asyncio.run(run())
    server.wait_idle()


def test_tokens_are_those_of_the_engine_alone(server, model, folder):
    """64 mixed requests at once over HTTP, against `tessera run` on the same lines."""
    lines = [{**request(index), **request(index)["extra_body"], "top_k": index % 5 * 10, "min_p": index % 4 * 0.02}
             for index in range(64)]
    for line in lines:
        del line["extra_body"], line["model"]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = subprocess.run([BINARY, "run", model, *device_flags(), "--input", folder / "prompts.jsonl", "--token-ids",
                          "--max-model-len", "2048"], capture_output=True, text=True, check=True)
    engine = {answer["index"]: answer["token_ids"] for answer in map(json.loads, run.stdout.splitlines())}

    async def served_ids(http, index):
        body = {**lines[index], "model": NAME, "return_token_ids": True, "stream": index % 3 == 0}
        answer = await http.post("/v1/chat/completions", json=body)
        if not body["stream"]:
            return answer.json()["choices"][0]["token_ids"]
        chunks = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
        return [token for chunk in chunks for choice in chunk["choices"] for token in choice.get("token_ids") or []]

    async def run_all():
        async with httpx.AsyncClient(base_url=server.url, timeout=120,
                                     limits=httpx.Limits(max_connections=64)) as http:
            return await asyncio.gather(*(served_ids(http, index) for index in range(64)))
    assert dict(enumerate(asyncio.run(run_all()))) == engine


def test_leaving_in_mid_stream_frees_everything(server):
    def leave_after(pieces):
        body = {"model": NAME, "messages": [{"role": "user", "content": "Go on for long"}], "stream": True,
                "ignore_eos": True, "max_tokens": 1500}
        with server.http.stream("POST", "/v1/chat/completions", json=body) as answer:
            lines = answer.iter_lines()
            for _ in range(pieces):
                next(lines)
            assert server.busy()
    for pieces in (1, 5, 40):
        leave_after(pieces)
        server.wait_idle()
    generated = server.metrics()["vllm:generation_tokens_total"]
    server.wait_idle()
    assert server.metrics()["vllm:generation_tokens_total"] == generated


def test_leaving_before_the_answer_frees_everything(server):
    """Not streamed, so that the server has nothing to write when the client leaves."""
    body = json.dumps({"model": NAME, "messages": [{"role": "user", "content": "x " * 900}], "ignore_eos": True,
                       "max_tokens": 1000, "n": 8}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(head + body)
        while not server.busy():
            pass
    server.wait_idle()


def test_a_client_that_never_reads_holds_nobody_back(server):
    body = json.dumps({"model": NAME, "messages": [{"role": "user", "content": "Go"}], "ignore_eos": True,
                       "max_tokens": 1500, "stream": True}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    deaf = []
    for _ in range(8):
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        link.connect(("127.0.0.1", server.port))
        link.sendall(head + body)
        deaf.append(link)
    for index in range(5):
        answer = server.http.post("/v1/chat/completions", json={**request(index), "extra_body": None})
        assert answer.status_code == 200
    for link in deaf:
        link.close()
    server.wait_idle()


def test_too_many_are_told_to_come_back(model, folder):
    served = Served(model, folder, "--max-num-seqs", "1", "--max-queue", "2", "--max-model-len", "4096")
    try:
        async def run():
            async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
                async def one():
                    try:
                        await client.chat.completions.create(
                            model=NAME, messages=[{"role": "user", "content": "Go"}], max_tokens=400,
                            extra_body={"ignore_eos": True})
                        return None
                    except openai.RateLimitError as error:
                        return error
                return await asyncio.gather(*(one() for _ in range(12)))
        outcomes = asyncio.run(run())
        refusals = [error for error in outcomes if error]
        assert refusals and len(refusals) < len(outcomes)
        assert all(int(error.response.headers["retry-after"]) >= 1 for error in refusals)
        served.wait_idle()
    finally:
        served.stop()


@pytest.mark.parametrize("deadline, finishes", [("20", True), ("1", False)])
def test_sigterm_drains(model, folder, deadline, finishes):
    served = Served(model, folder, "--max-model-len", "40000", "--shutdown-timeout", deadline)
    tokens = 200 if finishes else 39000
    body = {"model": NAME, "messages": [{"role": "user", "content": "Go"}], "stream": True, "ignore_eos": True,
            "max_tokens": tokens, "stream_options": {"include_usage": True}}
    lines = []
    with httpx.stream("POST", f"{served.url}/v1/chat/completions", json=body, timeout=60) as answer:
        received = answer.iter_lines()
        lines.append(next(received))
        served.process.terminate()
        try:
            lines += [line for line in received if line]
        except httpx.RemoteProtocolError:
            assert not finishes
    if finishes:
        assert lines[-1] == "data: [DONE]"
        assert json.loads(lines[-2][6:])["usage"]["completion_tokens"] == tokens
    assert served.process.wait(15) == 0
