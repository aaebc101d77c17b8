"""One HTTP request and its answer, within bounds: to a public address only, and as much of a body as is wanted."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from bot.toolbox.addresses import Guard

REDIRECTS = (301, 302, 303, 307, 308)
_OURS = {"User-Agent": "Signoff", "Accept": "text/html, text/*;q=0.9, */*;q=0.5"}


class Body:
    """A body as it arrives, unpacked on the way and never longer than `most` bytes, whatever a header says."""

    def __init__(self, encoding: str, most: int) -> None:
        """Raises ValueError for an encoding it cannot unpack."""
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"the body is packed with {encoding!r}, which was not asked for")
        # 32 + 15: either of gzip's and zlib's headers (zlib.decompressobj).
        self._unpacker = None if encoding in ("", "identity") else zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._most = most
        self._received = 0
        self.content = bytearray()
        self.cut = False

    def add(self, chunk: bytes) -> None:
        """Take the next piece as sent. Raises zlib.error for what is not packed as it says."""
        self._received += len(chunk)
        room = self._most - len(self.content)
        if self._unpacker is not None and not self._unpacker.eof:
            # One more than fits shows that something did not; 0 would mean no limit.
            chunk = self._unpacker.decompress(chunk, room + 1)
        elif self._unpacker is not None:
            chunk = b""
        self.content += chunk[:room]
        self.cut = len(chunk) > room or self._received > self._most


@dataclass(frozen=True, kw_only=True)
class Page:
    """An answer."""

    status: int
    url: URL
    kind: str
    charset: str | None
    body: bytes
    cut: bool
    location: str | None = None


@dataclass(kw_only=True)
class Exchange:
    """One request on its way. What it knows of itself stays, whatever is raised."""

    url: URL
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    guard: Guard
    connected: bool = False
    """A connection is there: from now on the request may have arrived."""
    status: int | None = None
    """That of the answer, once its head is there."""

    async def run(self, *, resolver: AbstractResolver | None, most: int) -> Page:
        """Send it and read the answer. Raises aiohttp.ClientError, zlib.error, ValueError."""
        connector = aiohttp.TCPConnector(
            resolver=resolver, use_dns_cache=False, socket_factory=self.guard, force_close=True, limit=1
        )
        given = {name.lower() for name in self.headers}
        ours = {name: value for name, value in _OURS.items() if name.lower() not in given}
        async with (
            aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                trust_env=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),  # The caller's covers all hops.
                trace_configs=[self._watched()],
                # Otherwise aiohttp makes a form or a stream of what has no type.
                skip_auto_headers={"Content-Type"},
            ) as session,
            session.request(
                self.method,
                self.url,
                headers={**ours, **self.headers, "Accept-Encoding": "identity"},
                data=self.content or None,
                allow_redirects=False,
            ) as answer,
        ):
            self.status = answer.status
            location = answer.headers.get("Location") if answer.status in REDIRECTS else None
            body = Body(answer.headers.get("Content-Encoding", "").strip().lower(), most)
            if location is None:
                async for chunk in answer.content.iter_chunked(16_384):
                    body.add(chunk)
                    if body.cut:
                        break
            return Page(
                status=answer.status,
                url=self.url,
                kind=answer.content_type if "Content-Type" in answer.headers else "",
                charset=answer.charset,
                body=bytes(body.content),
                cut=body.cut,
                location=location,
            )

    def _watched(self) -> aiohttp.TraceConfig:
        async def connecting(session: aiohttp.ClientSession, context: SimpleNamespace, about: Any) -> None:
            # aiohttp sends PUT and DELETE a second time when the connection breaks (RFC 9110 lets it).
            if self.connected:
                raise aiohttp.ServerDisconnectedError

        async def connected(session: aiohttp.ClientSession, context: SimpleNamespace, made: Any) -> None:
            self.connected = True

        trace = aiohttp.TraceConfig()
        trace.on_connection_create_start.append(connecting)
        trace.on_connection_create_end.append(connected)
        return trace
