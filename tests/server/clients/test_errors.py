"""What must not be answered: each a 4xx with a message that names the fault, and the server goes on."""

import json
import socket

import openai
import pytest
from served import NAME, Served

CHAT = "/v1/chat/completions"
HELLO = {"model": NAME, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}


def refused(response, status=400, param=None, words=()):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["message"] and error["type"]
    if param is not None:
        assert error["param"] == param, error
    for word in words:
        assert word in error["message"], error
    return error


@pytest.fixture(autouse=True)
def goes_on(server):
    yield
    assert server.http.post(CHAT, json=HELLO).status_code == 200


# The field at fault, and what it holds, as JSON text: Python's own writer would not write some of these.
BAD_FIELDS = [
    ("temperature", "-1"), ("temperature", "1e999"), ("temperature", "\"hot\""), ("temperature", "NaN"),
    ("top_p", "0"), ("top_p", "1.5"), ("top_p", "[]"), ("top_k", "-5"), ("top_k", "1.5"), ("top_k", "99999999999999"),
    ("min_p", "2"), ("n", "0"), ("n", "1000000000000"), ("n", "-1"), ("n", "\"two\""),
    ("max_tokens", "-7"), ("max_tokens", "1e30"), ("max_tokens", "99999999999999999999999"), ("max_tokens", "{}"),
    ("seed", "\"lucky\""), ("seed", "1e40"), ("presence_penalty", "3"), ("frequency_penalty", "-1e300"),
    ("repetition_penalty", "0"), ("logit_bias", "{\"99999999\": 1}"), ("logit_bias", "{\"x\": 1}"),
    ("logit_bias", "{\"1\": 1e9}"), ("stop", "5"), ("stop", json.dumps(["x"] * 1000)), ("stop_token_ids", "[-1]"),
    ("bad_words", "[\"\"]"), ("allowed_token_ids", "[]"), ("allowed_token_ids", "[99999999]"),
    ("truncate_prompt_tokens", "0"), ("truncate_prompt_tokens", "9999"), ("echo", "1"), ("top_logprobs", "21"), ("stream", "\"yes\""), ("stream_options", "7"), ("min_tokens", "-1"),
    ("tools", "\"none\""), ("tools", "[5]"), ("tools", "[{\"type\": \"function\"}]"), ("tool_choice", "\"always\""),
    ("chat_template_kwargs", "\"x\""), ("model", "5"), ("messages", "\"Hi\""), ("messages", "[]"), ("messages", "null"),
    ("messages", "[{\"role\": \"user\"}, 5]"), ("messages", "[{\"role\": \"boss\", \"content\": \"x\"}]"),
    ("messages", "[{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": {\"url\": \"x\"}}]}]"),
]


@pytest.mark.parametrize("name, value", BAD_FIELDS)
def test_fields(server, name, value):
    fields = {key: json.dumps(held) for key, held in HELLO.items()} | {name: value}
    if name == "top_logprobs":
        fields["logprobs"] = "true"
    body = "{" + ", ".join(f'"{key}": {held}' for key, held in fields.items()) + "}"
    error = refused(server.http.post(CHAT, content=body, headers={"Content-Type": "application/json"}))
    if value not in ("NaN", "1e999"):  # these are no JSON, or none that fits a double: the whole body is at fault
        assert name in (error["param"] or "") or name in error["message"], error


@pytest.mark.parametrize("parameters", ["nope", 5, [], {"type": "object", "properties": []},
                                        {"type": "object", "properties": {"x": 7}}])
def test_a_schema_that_is_none(server, parameters):
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    error = refused(server.http.post(CHAT, json={**HELLO, "tools": tools}))
    assert error["param"].startswith("tools"), error


@pytest.mark.parametrize("body", [
    b"", b"{", b"null", b"[]", b"5", b'"x"', b"{} {}", b"\x00", b"not json", b'{"messages": [}', b"\xff\xfe{}",
    b"[" * 1_000_000, b'{"a":' * 100_000, b'{"messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"messages": [{"role": "user", "content": "\xc3\x28"}]}',
    b'{"messages": [{"role": "user", "content": "\xed\xa0\x80"}]}',
], ids=lambda body: repr(body[:24]))
def test_bodies(server, body):
    refused(server.http.post(CHAT, content=body, headers={"Content-Type": "application/json"}))


def raw_answer(server, head: bytes, pieces) -> bytes:
    """Sends until the server has enough, and returns what it said."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        try:
            link.sendall(head)
            for piece in pieces:
                link.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough; its answer may still be there
        answer = b""
        try:
            while piece := link.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_100_mb(server, chunked):
    size, piece = 100 << 20, b"x" * (1 << 20)
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n" % (CHAT.encode(), length)
    pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece] * 100
    before = server.resident_bytes()
    answer = raw_answer(server, head, pieces)
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:300]
    assert b'"error"' in answer
    assert server.resident_bytes() - before < 64 << 20


@pytest.mark.parametrize("head, status", [
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", b"431"),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)) + b"\r\n", b"431"),
    (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"4"),
    (b"nonsense\r\n\r\n", b"400"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), b"400"),  # TLS to a port without
    (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"400"),
    (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", b"4"),
    (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", b"400"),
], ids=["long header", "many headers", "long path", "nonsense", "tls", "negative length", "huge length", "bad chunk"])
def test_http_that_is_none(server, head, status):
    answer = raw_answer(server, head, [])
    assert answer.startswith(b"HTTP/1.1 " + status), answer[:200]


def test_paths_and_methods(server):
    refused(server.http.get("/nowhere"), 404)
    refused(server.http.get(CHAT), 405)
    assert "POST" in server.http.get(CHAT).headers["allow"]
    refused(server.http.delete("/v1/models"), 405)
    refused(server.http.get("/../../etc/passwd"), 404)


def test_errors_are_those_of_openai(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**{**HELLO, "temperature": -1})
    assert caught.value.param == "temperature" and "temperature" in caught.value.message
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(**{**HELLO, "model": "gpt-x"})
    assert caught.value.code == "model_not_found" and NAME in caught.value.message
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**{**HELLO, "messages": [{"role": "user", "content": "word " * 5000}]})
    assert caught.value.code == "context_length_exceeded" and "2048" in caught.value.message


def test_key(model, folder):
    file = folder / "keys"
    file.write_text("# of two users\nfile-1\nfile-2\n")
    served = Served(model, folder, "--api-key", "first", "--api-key", "second", "--api-key-file", str(file),
                    "--max-model-len", "512", key="second", TESSERA_API_KEY="of-tessera", VLLM_API_KEY="of-vllm")
    try:
        for key in ["wrong", "firs", "firstt", "first second"]:
            with pytest.raises(openai.AuthenticationError):
                openai.OpenAI(base_url=f"{served.url}/v1", api_key=key, max_retries=0).models.list()
        for key in ["first", "second", "file-1", "file-2", "of-tessera", "of-vllm"]:  # of every source
            assert openai.OpenAI(base_url=f"{served.url}/v1", api_key=key).models.list().data[0].id == NAME
        bare = {"Authorization": ""}
        for path in ["/v1/models", "/metrics", "/version"]:
            refused(served.http.get(path, headers=bare), 401)
        for path in [CHAT, "/v1/completions", "/tokenize", "/detokenize"]:
            refused(served.http.post(path, json=HELLO, headers=bare), 401)
        for path in ["/health", "/live", "/", "/app.js"]:  # the page has no secrets and asks for the key itself
            assert served.http.get(path, headers=bare).status_code == 200, path
    finally:
        served.stop()
