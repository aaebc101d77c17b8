"""Who may talk to the twin: only this machine's own browser and bot, and only with a secret.

The port is open to every program of the machine and to every web page its browser shows. Host defeats DNS
rebinding, Origin defeats foreign pages, the secret defeats other users of the machine. The secret travels in
the URL's fragment, which browsers send to nobody, and from there in a header.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web

SECRET_HEADER = "X-Playground-Secret"  # noqa: S105 - a header's name

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

STATIC_HEADERS = {
    "Cache-Control": "max-age=86400",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Checks every request to the twin's port."""

    def __init__(self, secret: str) -> None:
        self.port = 0
        self._secret = secret

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse (403) a request that names another host, or comes from another page."""
        names = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        if request.headers.get("Host") not in names:
            raise web.HTTPForbidden(text="this twin answers on its own loopback address only")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in [f"http://{name}" for name in names]:
            raise web.HTTPForbidden(text="this twin answers its own pages only")
        return await handler(request)

    def knows(self, secret: str) -> bool:
        """Whether this is the playground's secret; takes the same time either way."""
        return secrets.compare_digest(secret.encode(), self._secret.encode())

    def require_secret(self, request: web.Request) -> None:
        """Raise 401 unless the request carries the secret in its header."""
        if not self.knows(request.headers.get(SECRET_HEADER, "")):
            raise web.HTTPUnauthorized(text="open the address that the playground printed")
