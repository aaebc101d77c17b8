"""Who is kept out of the twin's port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from bot.playground.guard import SECRET_HEADER
from bot.playground.twin import Twin

pytestmark = pytest.mark.wire

EVERYWHERE = [
    "/",
    "/frame.js",
    "/view.js",
    "/api/menu",
    "/view",
    "/app.js",
    "/faces/ana.png",
    "/playground/events",
    "/api/state",
    "/api/v10/users/@me",
    "/gateway",
    "/cdn/x/y",
]


@pytest.fixture
async def browser(twin: Twin) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=twin.url) as session:
        yield session


@pytest.mark.parametrize("path", EVERYWHERE)
async def test_a_foreign_host_is_refused_everywhere(twin: Twin, browser: aiohttp.ClientSession, path: str) -> None:
    """S-A71."""
    headers = {"Host": f"evil.example:{twin.guard.port}", SECRET_HEADER: twin.secret}
    async with browser.get(path, headers=headers) as answer:
        assert answer.status == 403


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_a_foreign_page_is_refused_everywhere(
    twin: Twin, browser: aiohttp.ClientSession, path: str, origin: str
) -> None:
    async with browser.get(path, headers={"Origin": origin, SECRET_HEADER: twin.secret}) as answer:
        assert answer.status == 403


async def test_lists_and_the_restart_need_the_secret(twin: Twin, browser: aiohttp.ClientSession) -> None:
    for headers in ({}, {SECRET_HEADER: "guessed"}):
        async with browser.get("/playground/events", headers=headers) as answer:
            assert answer.status == 401
        async with browser.post("/playground/restart-bot", headers=headers) as answer:
            assert answer.status == 401


@pytest.mark.parametrize("capability", ["", "guessed.ana.dm", "..", "ana", "{secret}", "{secret}.ana"])
async def test_a_view_needs_the_secret(twin: Twin, browser: aiohttp.ClientSession, capability: str) -> None:
    headers = {"X-Simcord-Capability": capability.format(secret=twin.secret)}
    for path in ("/api/pages", "/api/action"):
        async with browser.post(path, headers=headers, json={}) as answer:
            assert answer.status == 401


@pytest.mark.parametrize("view", ["eve.dm", "ana.999", "ana.../../x", "signoff.dm"])
async def test_a_view_of_nobody_or_nowhere_does_not_exist(
    twin: Twin, browser: aiohttp.ClientSession, view: str
) -> None:
    headers = {"X-Simcord-Capability": f"{twin.secret}.{view}"}
    async with browser.post("/api/pages", headers=headers, json={}) as answer:
        assert answer.status in (401, 404)


async def test_the_api_needs_the_bots_token(twin: Twin, browser: aiohttp.ClientSession) -> None:
    for headers in ({}, {"Authorization": "Bot playground.guessed-guessed-guessed"}, {SECRET_HEADER: twin.secret}):
        async with browser.get("/api/v10/users/@me", headers=headers) as answer:
            assert answer.status == 401
    async with browser.get("/api/v10/users/@me", headers={"Authorization": f"Bot {twin.token}"}) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/json"


async def test_the_page_itself_holds_no_secret(twin: Twin, browser: aiohttp.ClientSession) -> None:
    for path in ("/", "/frame.js", "/view.js", "/view"):
        async with browser.get(path) as answer:
            page = await answer.text()
        assert twin.secret not in page
        assert twin.token not in page


async def test_a_socket_without_the_token_is_closed(twin: Twin, browser: aiohttp.ClientSession) -> None:
    async with browser.ws_connect("/gateway") as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json({"op": 2, "d": {"token": "playground.guessed-guessed-guessed", "intents": 1}})
        await socket.receive()
        assert socket.close_code == 4004


async def test_it_listens_on_the_loopback_only(twin: Twin) -> None:
    assert twin._runner is not None
    assert [address[0] for address in twin._runner.addresses] == ["127.0.0.1"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Bearer null", "Bearer undefined", "Bot ", "Bot null"])
async def test_an_empty_token_is_no_token(twin: Twin, browser: aiohttp.ClientSession, header: str) -> None:
    """S-A71."""
    for headers in ({"Authorization": header}, {SECRET_HEADER: header}, {SECRET_HEADER: ""}):
        async with browser.get("/api/v10/users/@me", headers=headers) as answer:
            assert answer.status == 401
        async with browser.post("/playground/restart-bot", headers=headers) as answer:
            assert answer.status == 401


@pytest.mark.parametrize("path", ["/api/v10/channels/1/messages", "/playground/restart-bot", "/api/action"])
async def test_a_large_body_of_a_stranger_is_refused_unread(twin: Twin, path: str) -> None:
    """S-A73: the answer is there before the body is, and most of it is never taken."""
    reader, writer = await asyncio.open_connection("127.0.0.1", twin.guard.port)
    try:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{twin.guard.port}\r\nContent-Length: 10485760\r\n\r\n"
        writer.write(head.encode() + b"x" * 1_000)
        async with asyncio.timeout(30):
            status = await reader.readline()
        assert status.split()[1] in {b"401", b"403", b"413"}
    finally:
        writer.close()
