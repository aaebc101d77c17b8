"""A twin for each test, and a small bot as a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.playground.child import BotProcess
from bot.playground.twin import Twin

SAMPLE = Path(__file__).with_name("sample_bot.py")


def sample_bot(twin: Twin, **env: str) -> BotProcess:
    """The sample bot, pointed at `twin`, not started; `env` has the last word."""
    root = str(Path(__file__).parents[2])
    told = twin.bot_env({**os.environ, "PYTHONPATH": root})
    return BotProcess([sys.executable, str(SAMPLE)], {**told, **env})


@pytest.fixture
async def twin(tmp_path: Path) -> AsyncIterator[Twin]:
    async with Twin.open(state_dir=tmp_path / "twin") as twin:
        yield twin


@pytest.fixture
async def bot(twin: Twin) -> AsyncIterator[BotProcess]:
    """The sample bot, connected, its commands synced."""
    bot = sample_bot(twin)
    await bot.start()
    try:
        await twin.wait_until_connected()
        yield bot
    finally:
        bot.kill()
        await bot.stop()
