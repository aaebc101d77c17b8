"""The whole program as its own process, on one folder, against a twin: it can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.playground.child import BotProcess
from bot.playground.people import Answer, Post
from bot.playground.twin import Twin
from tests.wire.provider import Provider, open_provider

ROOT = Path(__file__).parents[2]


@dataclass
class Signoff:
    """`signoff run` in a folder."""

    twin: Twin
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    process: BotProcess | None = None

    @property
    def workspace(self) -> Path:
        return self.folder / "data" / "workspace"

    @property
    def output(self) -> str:
        return self.process.output if self.process is not None else ""

    async def start(self) -> None:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        env = {**self.twin.bot_env(clean), **self.env}
        self.process = BotProcess([sys.executable, "-m", "bot", "run"], env, say=lambda _: None, cwd=self.folder)
        await self.process.start()
        await self.twin.wait_until_connected()
        await self.twin.wait_for(lambda: self.twin.world.backend.commands, what="synced commands")

    async def kill(self) -> None:
        """SIGKILL, and wait for its end."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()
        await self.twin.wait_for(lambda: not self.twin.gateway.connected, what="a dead bot")

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    async def stop(self) -> None:
        if self.process is not None:
            await self.process.stop()

    async def ask(self, prompt: str, *, place: str = "ops", person: str = "ben", **options: str) -> Answer:
        return await self.twin.people[person].slash(place, "ask", prompt=prompt, **options)

    async def card(self, text: str, *, place: str = "ops") -> Post:
        """The newest card with `text`, once it is posted and its message is known to the bot's rows."""
        card = await self.twin.wait_for(lambda: self.twin.last(place, text=text, label="Approve"), what="a card")
        await self.until("SELECT count(*) FROM card WHERE message = ?", 1, str(card.id))
        return card

    def row(self, sql: str, *parameters: str) -> object:
        """The first value of the bot's own database, read while it runs."""
        with closing(sqlite3.connect(self.folder / "data" / "signoff.sqlite3")) as database:
            found = database.execute(sql, parameters).fetchone()
        return found[0] if found else None

    async def until(self, sql: str, wanted: object, *parameters: str) -> None:
        """Wait for a row; looks again and again, because another process's file has no event to wait for."""
        async with asyncio.timeout(10):
            while self.row(sql, *parameters) != wanted:
                await asyncio.sleep(0.02)

    async def until_logged(self, count: int) -> None:
        """Wait until the file `log` in the workspace has so many lines."""
        async with asyncio.timeout(10):
            while len(self.logged()) < count:
                await asyncio.sleep(0.02)

    def logged(self) -> list[str]:
        """The lines of the file `log` in the workspace."""
        log = self.workspace / "log"
        return log.read_text().splitlines() if log.exists() else []

    async def shows(self, post: Post, text: str, *, timeout: float = 10.0) -> None:
        await self.twin.wait_for(lambda: text in post.text, timeout=timeout, what=f"{text!r} on the card")

    async def says(self, text: str, *, place: str = "ops", timeout: float = 10.0) -> Post:
        return await self.twin.wait_for(
            lambda: self.twin.last(place, text=text), timeout=timeout, what=f"{text!r} in #{place}"
        )


@pytest.fixture
async def twin() -> AsyncIterator[Twin]:
    async with Twin.open(state_dir=None) as twin:
        yield twin


@pytest.fixture
async def signoff(twin: Twin, tmp_path: Path) -> AsyncIterator[Signoff]:
    """A running bot. Ana owns the application, so she approves."""
    signoff = Signoff(twin, tmp_path)
    await signoff.start()
    yield signoff
    await signoff.stop()


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with open_provider() as provider:
        yield provider


@pytest.fixture
async def working(twin: Twin, provider: Provider, tmp_path: Path) -> AsyncIterator[Signoff]:
    """A running bot that asks the provider. Three jobs of one person work at once."""
    settings = {"SIGNOFF_JOBS_PER_PERSON": "3", "SIGNOFF_STARTUP_REPORT": "false"}
    signoff = Signoff(twin, tmp_path, env={**provider.env, **settings})
    await signoff.start()
    yield signoff
    await signoff.stop()
