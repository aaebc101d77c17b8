"""A server on this machine whose answers a test writes, and names that lead where a test says."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Names(AbstractResolver):
    """Answers every name with the given addresses, and remembers what it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        return [
            ResolveResult(
                hostname=host, host=one, port=port, proto=0, flags=socket.AI_NUMERICHOST,
                family=socket.AF_INET6 if ":" in one else socket.AF_INET,
            )
            for one in self.addresses
        ]  # fmt: skip

    async def close(self) -> None:
        pass


class Server:
    """A server whose answers a test writes, and which counts who came."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.routes: dict[str, Handler] = {}
        self.port = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        return await self.routes[request.path](request)

    def serves(self, path: str, **answer: Any) -> str:
        """Have `path` answered; returns its URL under a name that is not this machine's."""

        async def handler(request: web.Request) -> web.StreamResponse:
            return web.Response(**answer)

        return self.handles(path, handler)

    def handles(self, path: str, handler: Handler) -> str:
        self.routes[path] = handler
        return f"http://page.example:{self.port}{path}"


def unused_port() -> int:
    """One at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
