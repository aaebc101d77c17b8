"""`signoff playground` as its own process, with the sample bot in it."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest

from bot.playground.child import BotProcess
from bot.playground.guard import SECRET_HEADER
from tests.playground.conftest import SAMPLE

pytestmark = pytest.mark.wire

PROGRAM = f"""
import asyncio, os, sys
from pathlib import Path
from bot.errors import StartError
from bot.playground.run import run_playground

try:
    code = asyncio.run(run_playground(
        state_dir=Path(sys.argv[1]), port=int(sys.argv[2]), bot_command=[sys.executable, {str(SAMPLE)!r}],
        bot_env=dict(os.environ),
    ))
except StartError as error:
    sys.exit(str(error))
sys.exit(code)
"""

Open = Callable[..., BotProcess]


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[Open]:
    """Makes playgrounds (not started) in one folder."""
    made: list[BotProcess] = []
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": root, "DISCORD_TOKEN_FILE": "/a/real/one"}

    def make(port: int = 0) -> BotProcess:
        made.append(BotProcess([sys.executable, "-c", PROGRAM, str(tmp_path), str(port)], env))
        return made[-1]

    yield make
    for process in made:
        await process.stop()


def page(process: BotProcess) -> str:
    """The address it printed last."""
    return [line.strip() for line in process.lines if line.strip().startswith("http://")][-1]


async def lists(address: str) -> dict[str, object]:
    """What the frame at `address` is told first."""
    url, _, secret = address.partition("/#")
    headers = {SECRET_HEADER: secret}
    async with aiohttp.ClientSession() as session, session.get(f"{url}/playground/events", headers=headers) as answer:
        return dict(json.loads(await answer.content.readline()))


async def test_it_prints_where_who_and_what_to_try_and_ends_in_order(playground: Open) -> None:
    process = playground()
    await process.start()
    await process.wait_for_output("bot | READY as Signoff", timeout=15)
    text = process.output
    assert "/#" in page(process)
    assert [name for name in ("Ana", "Ben", "Mallory") if name in text] == ["Ana", "Ben", "Mallory"]
    assert all(f"    {number}. " in text for number in (1, 2, 3))
    bot = (await lists(page(process)))["bot"]
    assert bot == {"name": "Signoff", "state": "running", "detail": ""}
    assert await process.stop() == 0


async def test_after_kill_9_the_same_address_and_the_same_guild_come_back(playground: Open) -> None:
    first = playground()
    await first.start()
    await first.wait_for_output("/#")
    address, before = page(first), await lists(page(first))
    first.kill()
    await first.wait()

    second = playground(port=int(address.split(":")[2].split("/")[0]))
    await second.start()
    await second.wait_for_output("/#")
    assert page(second) == address
    assert (await lists(address))["channels"] == before["channels"]


async def test_a_second_one_in_the_same_folder_says_where_the_first_is(playground: Open) -> None:
    first, second = playground(), playground()
    await first.start()
    await first.wait_for_output("/#")
    await second.start()
    assert await second.wait() == 1
    assert second.lines[-1] == f"The playground of this folder is open already: {page(first)}"


async def test_a_taken_port_is_replaced_by_a_free_one(playground: Open) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = playground(port=port)
        await process.start()
        await process.wait_for_output("/#")
        assert f":{port}/" not in page(process)
        assert (await lists(page(process)))["guild"]
