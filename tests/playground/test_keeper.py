"""The bot's process: kept running, killed, stopped, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.clock import SystemClock
from bot.playground.changes import Changes
from bot.playground.child import BotProcess, Keeper

pytestmark = pytest.mark.wire

ROOT = str(Path(__file__).parents[2])
STAYS = "import os, sys, time; print('up', os.getpid(), flush=True); time.sleep(60)"
DIES = "print('up', flush=True); raise SystemExit(3)"


class Kept:
    """A keeper with everything it said."""

    def __init__(self, program: str) -> None:
        self.said: list[str] = []
        self.changes = Changes()
        self.bot = BotProcess([sys.executable, "-c", program], dict(os.environ), say=self.hear)
        self.keeper = Keeper(
            self.bot, clock=SystemClock(), connected=lambda: False, changed=self.changes.note, say=self.hear
        )

    def hear(self, line: str) -> None:
        self.said.append(line)
        self.changes.note()

    async def ups(self, count: int) -> None:
        """Wait until the program has come up `count` times."""
        await self.changes.wait_for(lambda: sum(s.startswith("up") for s in self.said) >= count, timeout=10)


@pytest.fixture
async def kept(request: pytest.FixtureRequest) -> AsyncIterator[Kept]:
    made = Kept(request.param)
    made.keeper.start()
    yield made
    await made.keeper.stop()


@pytest.mark.parametrize("kept", [DIES], indirect=True)
async def test_a_bot_that_ends_is_started_again_later_and_later(kept: Kept) -> None:
    await kept.ups(3)
    ends = [s for s in kept.said if "by itself" in s]
    assert "(exit code 3); it is started again in 0.5 s" in ends[0]
    assert "in 1 s" in ends[1]


@pytest.mark.parametrize("kept", [STAYS], indirect=True)
async def test_the_restart_kills_and_starts_at_once(kept: Kept) -> None:
    await kept.ups(1)
    first = kept.bot.pid
    kept.keeper.restart()
    await kept.ups(2)
    assert kept.bot.pid != first
    assert not any("by itself" in s for s in kept.said)
    assert kept.keeper.state.word == "starting"


@pytest.mark.parametrize("kept", [STAYS], indirect=True)
async def test_stopping_sends_sigterm_and_keeps_it_ended(kept: Kept) -> None:
    await kept.ups(1)
    await kept.keeper.stop()
    assert not kept.bot.running
    assert await kept.bot.wait() == -signal.SIGTERM
    assert kept.keeper.state.word == "stopped"


async def test_a_bot_that_ignores_sigterm_is_killed() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    bot = BotProcess([sys.executable, "-c", deaf], dict(os.environ))
    await bot.start()
    await bot.wait_for_output("up")
    assert await bot.stop(grace=0.1) == -signal.SIGKILL


async def test_a_program_that_does_not_exist_is_said_and_tried_again() -> None:
    bot = BotProcess([sys.executable, "-c", "x"], dict(os.environ), cwd=Path("/nowhere/at/all"))
    said: list[str] = []
    changes = Changes()
    keeper = Keeper(bot, clock=SystemClock(), connected=lambda: False, changed=changes.note, say=said.append)
    keeper.start()
    await changes.wait_for(lambda: said)
    assert said[0].startswith("The bot could not be started")
    await keeper.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a child's life to its parent's")
async def test_the_bot_ends_when_its_keeper_is_killed() -> None:
    keeper = (
        "import asyncio, os, sys\n"
        "from bot.playground.child import BotProcess\n"
        "async def main():\n"
        f"    bot = BotProcess([sys.executable, '-c', {STAYS!r}], dict(os.environ), say=print)\n"
        "    await bot.start(); await bot.wait()\n"
        "asyncio.run(main())\n"
    )
    outer = BotProcess([sys.executable, "-c", keeper], {**os.environ, "PYTHONPATH": ROOT})
    await outer.start()
    await outer.wait_for_output("up ")
    inner = int(outer.output.split("up ")[1].split()[0])
    watch = os.pidfd_open(inner)
    try:
        outer.kill()
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(watch, ended.set)
        async with asyncio.timeout(5):
            await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(watch)
        os.close(watch)
        await outer.stop()
