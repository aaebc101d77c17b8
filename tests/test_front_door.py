"""The program from its first line to its last, as its own process, with the twin as Discord."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.playground.child import BotProcess
from bot.playground.twin import Twin
from tests.test_cli import DATABASE, ROOT, signoff

pytestmark = pytest.mark.wire


def program(
    folder: Path, env: dict[str, str], *words: str, say: Callable[[str], None] = lambda _line: None
) -> BotProcess:
    """`signoff run` in `folder`, in a clean environment."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), "SIGNOFF_DATABASE": DATABASE}
    return BotProcess([sys.executable, "-m", "bot", *(words or ("run",))], {**clean, **env}, say=say, cwd=folder)


@pytest.fixture
async def twin() -> AsyncIterator[Twin]:
    async with Twin.open(state_dir=None) as twin:
        yield twin


async def test_it_connects_answers_and_stops_in_order(twin: Twin, tmp_path: Path) -> None:
    bot = program(tmp_path, twin.bot_env({}))
    await bot.start()
    try:
        await twin.wait_until_connected()
        # Until the commands are synced nobody can ask.
        await twin.wait_for(lambda: twin.requests.of("PUT", r".*/commands"), what="synced commands")
        await twin.people["ben"].slash("ops", "ask", prompt="run `echo hello`")
        await twin.wait_for(lambda: twin.last("ops", label="Approve"), what="a card")
        listing = await asyncio.to_thread(signoff, tmp_path, "approvals", "list", "--json")
        (record,) = json.loads(listing.stdout)
        assert record["arguments"] == {"command": "echo hello"}
        assert (tmp_path / "data" / "workspace").is_dir()
    finally:
        code = await bot.stop()
    assert code == 0, bot.output
    assert "Traceback" not in bot.output


async def test_a_second_process_on_the_same_data_ends_with_a_sentence(twin: Twin, tmp_path: Path) -> None:
    first, second = program(tmp_path, twin.bot_env({})), program(tmp_path, twin.bot_env({}))
    await first.start()
    try:
        await twin.wait_until_connected()
        await second.start()
        assert await second.wait() == 1
        assert second.output.startswith(f"signoff: Another signoff (process {first.pid}) is already using the data in ")
    finally:
        await first.stop()


async def test_a_token_that_is_not_accepted_is_one_sentence_and_exit_code_1(twin: Twin, tmp_path: Path) -> None:
    token = "playground.aaaaaaaaaaaaaaaaaaaaaaaa"
    bot = program(tmp_path, {**twin.bot_env({}), "DISCORD_TOKEN": token, "SIGNOFF_LOG_LEVEL": "ERROR"})
    await bot.start()
    assert await bot.wait() == 1
    (line,) = bot.lines
    assert line.startswith("signoff: Discord does not accept the token")
    assert token not in bot.output


async def test_a_playground_token_never_goes_to_discord(tmp_path: Path) -> None:
    bot = program(tmp_path, {"DISCORD_TOKEN": "playground.aaaaaaaaaaaaaaaaaaaaaaaa"})
    await bot.start()
    assert await bot.wait() == 1
    assert "playground token" in bot.output


async def test_a_real_token_never_goes_to_a_twin(twin: Twin, tmp_path: Path) -> None:
    bot = program(tmp_path, {**twin.bot_env({}), "DISCORD_TOKEN": "a-real-looking-token"})
    await bot.start()
    assert await bot.wait() == 1
    assert "never given" in bot.output
    assert list(twin.requests.all) == []


async def test_without_a_token_the_playground_opens_with_the_bot_in_it(tmp_path: Path) -> None:
    connected = asyncio.Event()

    def say(line: str) -> None:
        if "has connected to Gateway" in line:
            connected.set()

    door = program(tmp_path, {}, "playground", "--port", "0", "--no-browser", say=say)
    await door.start()
    try:
        async with asyncio.timeout(20):
            await connected.wait()
        assert "http://127.0.0.1:" in door.output
        for word in ("Ana", "Ben", "Mallory", "/ask"):
            assert word in door.output
    finally:
        assert await door.stop() == 0, door.output
    assert (tmp_path / "playground" / "world.json").exists()
