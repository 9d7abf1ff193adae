"""TLS, other origins, sockets, and clients that take their time."""

import shutil
import socket
import ssl
import time

import httpx
import pytest
from served import NAME, Served, certificate

BODY = {"model": NAME, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}


@pytest.fixture
def serve(model, folder):
    made = []

    def start(*flags, **options):
        made.append(Served(model, folder, "--max-model-len", "512", *flags, **options))
        return made[-1]
    yield start
    for served in made:
        served.stop()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1:DeprecationWarning")
def test_tls(serve, folder):
    key, chain = certificate(folder)
    served = serve("--ssl-keyfile", key, "--ssl-certfile", chain, scheme="https")
    with httpx.Client(base_url=served.url, verify=ssl.create_default_context(cafile=chain)) as http:
        assert http.post("/v1/chat/completions", json=BODY).status_code == 200
        with http.stream("POST", "/v1/chat/completions", json={**BODY, "stream": True}) as answer:
            assert [line for line in answer.iter_lines() if line][-1] == "data: [DONE]"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.load_verify_locations(chain)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)), socket.create_connection(("127.0.0.1", served.port)) as link:
        old.wrap_socket(link, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", served.port)) as link:  # no TLS at all
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        link.settimeout(20)
        try:
            assert not link.recv(100).startswith(b"HTTP/1.1 200")
        except ConnectionError:
            pass
    assert served.http.get("/health").status_code == 200


def test_other_origins(serve):
    served = serve("--allowed-origins", "https://chat.example")
    preflight = {"Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization,content-type"}
    good = served.http.options("/v1/chat/completions", headers={"Origin": "https://chat.example", **preflight})
    assert good.status_code in (200, 204)
    assert good.headers["access-control-allow-origin"] == "https://chat.example"
    assert "POST" in good.headers["access-control-allow-methods"]
    assert "authorization" in good.headers["access-control-allow-headers"].lower()
    answer = served.http.post("/v1/chat/completions", json=BODY, headers={"Origin": "https://chat.example"})
    assert answer.headers["access-control-allow-origin"] == "https://chat.example"
    other = served.http.post("/v1/chat/completions", json=BODY, headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def trickle(served, text, pause):
    """Sends a byte at a time until the server ends the connection; what it said."""
    with socket.create_connection(("127.0.0.1", served.port)) as link:
        link.settimeout(pause)
        for byte in text:
            try:
                link.sendall(bytes([byte]))
                return link.recv(4096)
            except TimeoutError:
                continue
            except ConnectionError:
                return b""
    raise AssertionError("the server took it all")


def test_slow_senders_are_sent_away(serve):
    served = serve("--header-timeout", "1", "--body-timeout", "1", "--keep-alive-timeout", "1")
    assert trickle(served, b"GET /health HTTP/1.1\r\n" + b"X-A: b\r\n" * 100, 0.05).startswith(b"HTTP/1.1 408")
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
    assert trickle(served, head + b" " * 5000, 0.02).startswith(b"HTTP/1.1 408")
    with socket.create_connection(("127.0.0.1", served.port)) as link:  # says nothing
        link.settimeout(20)
        assert link.recv(100) == b""
    end = time.monotonic() + 20
    while served.metrics()["tessera:http_connections"] > 1:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_half_closed_clients_still_get_their_answer(serve):
    """A client that has said all it will may shut its sending side and wait."""
    served = serve()
    with socket.create_connection(("127.0.0.1", served.port)) as link:
        link.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        link.shutdown(socket.SHUT_WR)
        link.settimeout(20)
        assert link.recv(4096).startswith(b"HTTP/1.1 200")


def test_unix_socket(serve, folder):
    path = str(folder / "s")
    served = serve("--uds", path, wait=False)
    end = time.monotonic() + 20
    with httpx.Client(transport=httpx.HTTPTransport(uds=path), base_url="http://x") as http:
        while True:
            try:
                if http.get("/health").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            assert time.monotonic() < end, served.log.read_text()
            time.sleep(0.02)
        assert http.post("/v1/chat/completions", json=BODY).status_code == 200


def test_systemd_is_told(serve, folder):
    """Ready, alive, stopping: what deploy/tessera.service relies on."""
    path = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(path)
        notified.settimeout(20)
        served = serve(NOTIFY_SOCKET=path, WATCHDOG_USEC="400000")
        said = ""
        while "READY=1" not in said or "WATCHDOG=1" not in said:
            said += notified.recv(4096).decode() + "\n"
        served.process.terminate()
        while "STOPPING=1" not in said:
            said += notified.recv(4096).decode() + "\n"
