"""Requests that send something, on Discord: what is seen before anybody can approve, and what is said afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from bot.deferral.tool import Tool
from bot.toolbox.web import make_http_fetch
from tests.cogs.guild import open_guild, text_of
from tests.house import Bench, Script

BODY = "a body " + "x" * 50_000 + " its end"


class Requests(Bench):
    """The bench with the real `http_fetch`, which may reach this machine."""

    def tools(self) -> list[Tool]:
        return [*super().tools(), make_http_fetch(timeout=10, allow_private=True)]


@pytest.fixture
async def site() -> AsyncIterator[tuple[str, list[str]]]:
    """Takes a body and breaks the connection off."""
    taken: list[str] = []

    async def take(request: web.Request) -> web.Response:
        taken.append(await request.text())
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    runner = web.ServerRunner(web.Server(take))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", taken
    await runner.cleanup()


async def test_a_large_body_is_there_in_full_before_it_can_be_approved_in_two_steps(
    tmp_path: Path, site: tuple[str, list[str]]
) -> None:
    """S-A88, on the real surface; and when the connection breaks, the card says that nobody knows."""
    address, taken = site
    call = ("http_fetch", {"url": f"{address}/things", "method": "POST", "headers": {"X-Key": "1"}, "body": BODY})
    async with open_guild(tmp_path, Script([call], "Done."), bench=Requests()) as here:
        await here.ben.slash(here.channel, "ask", prompt="send it")
        text = text_of(here.card)
        host = address.removeprefix("http://")
        assert f"Sends `POST` to `{host}`, path `/things` · Headers: `X-Key`, `Content-Type`" in text
        assert f"Body: {len(BODY):,} bytes, SHA-256" in text
        [file] = here.card.attachments
        assert file.size > len(BODY)
        form = await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert taken == []
        await here.ana.submit_modal(form, {"text": "Approve"})
        await here.settle()
        assert taken == [BODY]
        told = text_of(here.card)
        assert "unknown" in told
        assert "The request was sent, but the connection ended before an answer came." in told
        assert "Nobody knows whether it took effect" in told
