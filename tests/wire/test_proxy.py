"""`DISCORD_PROXY`: everything the bot says to Discord goes through it, REST and gateway alike."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from bot.playground.twin import Twin
from tests.wire.conftest import Signoff

pytestmark = pytest.mark.wire


REQUEST = re.compile(rb"(?:GET|POST|PUT|PATCH) (\S+) HTTP/1\.1\r\n")


@asynccontextmanager
async def open_proxy(port: int) -> AsyncIterator[tuple[str, list[str]]]:
    """A plain forwarding proxy to 127.0.0.1:`port`: its address, and what was requested through it."""
    requested: list[str] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, forth: bool) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if forth:
                    requested.extend(found.decode() for found in REQUEST.findall(data))
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, onward_writer, forth=True), pipe(onward_reader, writer, forth=False))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requested
    finally:
        server.close()


async def test_rest_and_gateway_go_through_the_proxy(twin: Twin, tmp_path: Path) -> None:
    async with open_proxy(int(twin.url.rsplit(":", 1)[1])) as (address, requested):
        signoff = Signoff(twin, tmp_path, env={"DISCORD_PROXY": address})
        await signoff.start()
        try:
            await signoff.ask("what can you do?")
            await signoff.says("offline model")
        finally:
            await signoff.stop()
    assert f"{twin.url}/api/v10/users/@me" in requested
    assert any(url.startswith(twin.url.replace("http", "ws") + "/gateway") for url in requested)
    assert len([r for r in twin.requests.all if r.status is not None]) <= len(requested), "something went around it"
