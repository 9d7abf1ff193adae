"""A `tessera serve` under test: starts it, reads its metrics and what the kernel knows of its process.

TESSERA_BINARY: the program (default: that of the release build). TESSERA_TEST_MODEL: a model in place of the tiny random
one, whose words are noise. TESSERA_TEST_DEVICE: the device of every server (cpu unless told, cuda, cuda:N); on a GPU
each takes a tenth of its memory, so that several run beside each other.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("TESSERA_BINARY", str(ROOT / "build/release/bin/tessera"))
MODEL = os.environ.get("TESSERA_TEST_MODEL", "")
DEVICE = os.environ.get("TESSERA_TEST_DEVICE") or "cpu"
TALKING_MODEL = ROOT / "models/demo"
NAME = "tiny"


def tiny_model(folder: pathlib.Path) -> str:
    if MODEL:
        return MODEL
    model = folder / "model"
    if not model.exists():
        subprocess.run([BINARY, "synth", str(model), "--preset", "tiny", "--format", "nvfp4"], check=True,
                       capture_output=True)
    return str(model)


def device_flags(given: tuple[str, ...] = ()) -> list[str]:
    memory = [] if "--gpu-memory-utilization" in given else ["--gpu-memory-utilization", "0.1"]
    return ["--device", DEVICE, *memory]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Served:
    """A server on a port of its own. Its log goes to a file, which is printed if it dies."""

    def __init__(self, model: str, folder: pathlib.Path, *flags: str, scheme: str = "http", key: str = "",
                 wait: bool = True, **environment: str):
        self.port = free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.key = key
        self.log = folder / f"server-{self.port}.log"
        command = [BINARY, "serve", model, "--served-model-name", NAME, "--port", str(self.port),
                   *device_flags(flags), *flags]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                            env={**os.environ, **environment})
        self.pid = self.process.pid
        if wait:
            try:
                self.wait_ready()
            except BaseException:
                self.process.kill()
                raise

    @functools.cached_property
    def http(self):
        """An httpx.Client, for tests; the load programs do without that package."""
        import httpx
        return httpx.Client(base_url=self.url, headers=self.headers(), timeout=20, verify=False)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def ask(self, path: str, body: dict | None = None) -> tuple[int, str]:
        """Status and text of the answer; a POST if there is a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers())
        trust = ssl._create_unverified_context() if self.url.startswith("https") else None
        try:
            with urllib.request.urlopen(request, timeout=20, context=trust) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_ready(self, seconds: float = 60) -> float:
        """Seconds until /health said yes."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.log.read_text()}")
            try:
                if self.ask("/health")[0] == 200:
                    return time.monotonic() - begin
            except OSError:
                pass
            time.sleep(0.01)
        raise RuntimeError(f"not ready within {seconds} s:\n{self.log.read_text()}")

    def metrics(self) -> dict[str, float]:
        """Sums over labels; a histogram's buckets are left out."""
        sums: dict[str, float] = {}
        status, text = self.ask("/metrics")
        assert status == 200, text
        for line in text.splitlines():
            parts = re.match(r"([\w:]+)(?:\{.*\})? (\S+)", line)
            if parts and not parts[1].endswith("_bucket"):
                sums[parts[1]] = sums.get(parts[1], 0) + float(parts[2])
        return sums

    def busy(self) -> dict[str, float]:
        """What of the engine is in use, by name; empty when nothing is."""
        metrics = self.metrics()
        names = ["vllm:num_requests_running", "vllm:num_requests_waiting", "tessera:kv_blocks_used",
                 "tessera:state_slots_used", "tessera:http_requests_in_flight"]
        return {name: metrics[name] for name in names if metrics[name] != 0}

    def wait_idle(self, seconds: float = 20) -> None:
        """Until no request holds anything. Fails with what is still held."""
        end = time.monotonic() + seconds
        while held := self.busy():
            assert time.monotonic() < end, f"still held after {seconds} s: {held}"
            time.sleep(0.02)

    def resident_bytes(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self) -> dict[int, tuple[str, float]]:
        """Name and CPU seconds of each thread."""
        found = {}
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                text = (task / "stat").read_text()
            except FileNotFoundError:  # it ended meanwhile
                continue
            name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
            found[int(task.name)] = (name, (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK"))
        return found

    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self, seconds: float = 20) -> int:
        """SIGTERM; returns the exit status."""
        if "http" in self.__dict__:
            self.http.close()
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"did not end within {seconds} s of SIGTERM:\n{self.log.read_text()[-2000:]}") from None


def serving(model: str, folder: pathlib.Path, *flags: str):
    """For a fixture to yield from: a server that must live through the tests and end well, with nothing held."""
    served = Served(model, folder, *flags)
    yield served
    assert served.alive(), served.log.read_text()
    served.wait_idle()
    assert served.stop() == 0


def certificate(folder: pathlib.Path) -> tuple[str, str]:
    """Key and certificate of 127.0.0.1, signed by itself."""
    key, chain = folder / "key.pem", folder / "chain.pem"
    if not chain.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", chain], check=True, capture_output=True)
    return str(key), str(chain)


def chromium() -> str | None:
    """The distribution's browser. Ubuntu's package of that name is a stub that asks for snap; a stub does not count."""
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None
