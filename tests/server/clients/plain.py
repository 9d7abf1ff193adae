"""HTTP/1.1 as far as the load programs need it, with nothing but the standard library: they run where PyPI is out of
reach."""

import asyncio
import json
from collections.abc import AsyncIterator


class Link:
    """One connection to a server on this machine, for one request after another."""

    def __init__(self, port: int):
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.headers: dict[str, str] = {}

    async def send(self, path: str, body: dict | bytes) -> None:
        """Begins a POST."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
        self.writer.write(head.encode() + text)

    async def status(self) -> int:
        """Waits for the head of the answer."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        self.headers = {name.lower(): value.strip() for name, _, value in
                        (line.partition(":") for line in lines[1:] if line)}
        return int(lines[0].split()[1])

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, without the framing of chunks."""
        if "content-length" in self.headers:
            yield await self.reader.readexactly(int(self.headers["content-length"]))
        else:
            while size := int(await self.reader.readline(), 16):
                yield (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        if self.headers.get("connection", "").lower() == "close":
            self.close()

    async def post(self, path: str, body: dict | bytes) -> tuple[int, bytes]:
        await self.send(path, body)
        status = await self.status()
        return status, b"".join([piece async for piece in self.pieces()])

    async def events(self) -> AsyncIterator[str]:
        """What stands behind "data: " of each server-sent event; comments are left out."""
        held = b""
        async for piece in self.pieces():
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data: "):
                    yield line[6:].decode()

    def close(self, abort: bool = False) -> None:
        if self.writer is None:
            return
        self.writer.transport.abort() if abort else self.writer.close()
        self.reader = self.writer = None
