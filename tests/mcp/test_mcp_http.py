"""An MCP server behind an address: real sockets on loopback, real JSON-RPC, no SDK on its side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.agent.mcp_wire import MOST_MESSAGE
from bot.outside import McpServer
from tests.house import Script
from tests.mcp.kit import Heard, house_with, tool


@asynccontextmanager
async def serving(answer: str) -> AsyncIterator[tuple[McpServer, list[Any]]]:
    """A server whose tool `do` answers with this text, and what it was asked."""
    asked: list[Any] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        result: dict[str, Any] = {}
        if message["method"] == "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "probe", "version": "1"},
            }
        elif message["method"] == "tools/list":
            result = {"tools": [tool("do")]}
        elif message["method"] == "tools/call":
            asked.append((message["params"]["arguments"], request.headers.get("Authorization")))
            result = {"content": [{"type": "text", "text": answer}]}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    try:
        yield McpServer(name="far", url=address, headers={"Authorization": "Bearer of-the-server"}, timeout=20), asked
    finally:
        await runner.cleanup()


async def test_a_server_behind_an_address_is_asked_after_approval(tmp_path: Path, heard: Heard) -> None:
    script = Script([("far_do", {"what": "x"})], "done")
    async with serving("hello") as (server, asked), house_with(tmp_path, script, server) as house:
        await heard.wait("mcp_connected")
        await house.ask()
        assert (asked, house.card[1].profiles) == ([], {"far_do": "MCP server far, at 127.0.0.1"})
        await house.decide("approve")
        assert asked == [({"what": "x"}, "Bearer of-the-server")]
        assert script.results()[0][1].endswith("hello")


async def test_an_answer_longer_than_any_message_fails_the_call_only(tmp_path: Path, heard: Heard) -> None:
    script = Script([("far_do", {"what": "x"})], "done")
    async with serving("x" * (MOST_MESSAGE + 1)) as (server, asked), house_with(tmp_path, script, server) as house:
        await heard.wait("mcp_connected")
        page = await house.ask()
        await house.decide("approve")
        assert (len(asked), page.finished) == (1, "done")
        ((outcome, text),) = script.results()
        assert outcome == "failed"
        assert len(text) < 1_000


async def test_a_server_that_is_not_reached_says_that_nothing_ran(tmp_path: Path, heard: Heard) -> None:
    script = Script([("far_do", {"what": "x"})], "done")
    async with serving("hello") as (server, _), house_with(tmp_path, script, server) as house:
        await heard.wait("mcp_connected")
        await house.ask()
        posted = house.card
    async with house_with(tmp_path, script, server, ids="b") as house:
        house.face.cards[posted[0]] = posted[1]
        await house.decide("approve")
        (row,) = await house.rows("SELECT state FROM approval")
        assert row["state"] == "nothing_ran"
