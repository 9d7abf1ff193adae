"""The bytes themselves, as curl shows them."""

import json
import re
import shutil
import subprocess

import pytest
from served import NAME

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def curl(server, path, *flags):
    return subprocess.run(["curl", "-sS", "-i", "--max-time", "60", *flags, f"{server.url}{path}"], check=True,
                          capture_output=True, text=True).stdout.replace("\r\n", "\n")


def test_events(server):
    body = json.dumps({"model": NAME, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 6, "stream": True})
    answer = curl(server, "/v1/chat/completions", "-N", "-H", "Content-Type: application/json", "-d", body)
    head, _, events = answer.partition("\n\n")
    assert head.startswith("HTTP/1.1 200")
    headers = {line.split(": ")[0].lower(): line.split(": ", 1)[1] for line in head.split("\n")[1:]}
    assert headers["content-type"].startswith("text/event-stream")
    assert "no-cache" in headers["cache-control"] or "no-store" in headers["cache-control"]
    assert headers["x-request-id"]
    assert events.endswith("data: [DONE]\n\n")
    data = [event for event in events.split("\n\n") if event]
    assert all(event.startswith("data: ") and "\n" not in event for event in data)
    chunks = [json.loads(event[6:]) for event in data[:-1]]
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length")


def test_small_endpoints(server):
    assert " 200" in curl(server, "/health").split("\n")[0]
    assert " 200" in curl(server, "/live").split("\n")[0]
    assert json.loads(curl(server, "/version").split("\n\n")[1])["version"]
    assert "vllm:num_requests_running{" in curl(server, "/metrics")
    head = curl(server, "/health", "-I")
    assert " 200" in head.split("\n")[0]


def test_page_is_strict(server):
    head = curl(server, "/").split("\n\n")[0].lower()
    assert "content-type: text/html" in head
    assert "content-security-policy: default-src 'self'" in head
    assert "x-content-type-options: nosniff" in head
    for path, kind in [("app.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml"),
                       ("lib/katex.css", "text/css"), ("lib/prism.js", "text/javascript"), ("lib/licenses.txt", "text/plain"),
                       ("lib/fonts/KaTeX_Main-Regular.woff2", "font/woff2")]:
        head = curl(server, f"/{path}", "-I").lower()
        assert f"content-type: {kind}" in head
        tag = re.search(r'etag: (".*")', head)[1]
        assert " 304" in curl(server, f"/{path}", "-I", "-H", f"If-None-Match: {tag}").split("\n")[0]


def test_no_other_origin_without_the_flag(server):
    assert "access-control-allow-origin" not in curl(server, "/v1/models", "-H", "Origin: http://evil.example").lower()


def test_a_connection_is_kept(server):
    answer = curl(server, "/health", "-v", f"{server.url}/live")
    assert answer.count("HTTP/1.1 200") == 2


def test_what_web_pages_could_send(server):
    """curl works with and without a content type; what a browser sends for another page does not."""
    def status(*flags):
        body = json.dumps({"model": NAME, "prompt": "Hi", "max_tokens": 1})
        return int(curl(server, "/v1/completions", "-d", body, *flags).split()[1])

    assert status() == 200
    assert status("-H", "Content-Type: application/json") == 200
    assert status("-H", f"Origin: {server.url}") == 200
    assert status("-H", "Origin: http://evil.example") == 403
    assert status("-H", "Content-Type: text/plain") == 415
    assert status("-H", "Host: evil.example") == 403
