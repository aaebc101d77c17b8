"""How attached files are read from Discord, over a real connection: as they come, from there and nowhere else."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from cogs.downloads import from_discord


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """A server that does what servers may do."""

    async def plain(request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 200_000)

    async def moved(request: web.Request) -> web.Response:
        raise web.HTTPFound("/plain")

    async def packed(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b"0" * 1_000_000), headers={"Content-Encoding": "gzip"})

    async def gone(request: web.Request) -> web.Response:
        raise web.HTTPNotFound

    app = web.Application()
    app.router.add_get("/plain", plain)
    app.router.add_get("/moved", moved)
    app.router.add_get("/packed", packed)
    app.router.add_get("/gone", gone)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def pieces(address: str) -> list[bytes]:
    file: Any = SimpleNamespace(url=address)
    return [piece async for piece in from_discord(None)(file)]


async def test_a_file_comes_in_pieces(address: str) -> None:
    got = await pieces(f"{address}/plain")
    assert b"".join(got) == b"x" * 200_000
    assert max(map(len, got)) <= 65_536


@pytest.mark.parametrize("path", ["/moved", "/gone"])
async def test_no_redirect_is_followed_and_an_error_page_is_no_file(address: str, path: str) -> None:
    with pytest.raises(aiohttp.ClientError):
        await pieces(f"{address}{path}")


async def test_nothing_is_unpacked_on_the_way(address: str) -> None:
    assert len(b"".join(await pieces(f"{address}/packed"))) < 10_000
