"""The real bot in a simulated guild: real discord.py, engine, gate and database; a scripted model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import discord
import simcord

from bot.app import App, open_app
from bot.clock import new_id
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.where import Configured, Places, PlacesRule
from cogs.client import SignoffClient
from storage.jobs import JobLimits
from tests.house import Bench, ManualClock, Script

PACE_MS = 600_000
"""Between two edits of a job's card: no timer of theirs is due while the guild settles."""


@dataclass
class Guild:
    """A running bot and the people around it: Ana approves, Ben asks, Mallory should not be here."""

    env: Any
    app: App
    bench: Bench
    script: Script
    clock: ManualClock
    guild: Any
    channel: Any
    ana: Any
    ben: Any
    mallory: Any
    people: dict[str, Any]
    """The same three as users, with their direct messages."""
    face: dict[str, Any] = field(default_factory=dict)
    """What the client was made with."""

    @property
    def messages(self) -> list[discord.Message]:
        """The channel's messages, oldest first."""
        return list(self.channel.history())

    @property
    def texts(self) -> list[str]:
        """What ordinary messages say, oldest first."""
        return [message.content for message in self.messages if message.content]

    @property
    def card(self) -> discord.Message:
        """The newest card."""
        return self.cards[-1]

    @property
    def cards(self) -> list[discord.Message]:
        """Every card, oldest first."""
        return [message for message in self.messages if message.flags.components_v2]

    def requests(self, method: str, part: str) -> list[Any]:
        """Bodies that the bot sent, by method and a part of the path."""
        return [entry.json for entry in self.env.http_requests if entry.method == method and part in entry.path]

    async def settle(self) -> None:
        """Until nothing goes on any more."""
        await self.env.settle()

    async def later(self, *, seconds: float = PACE_MS / 1000) -> None:
        """Let time pass and do what is due."""
        self.clock.advance(seconds=seconds)
        await self.app.engine.sweep()
        await self.settle()

    async def restart(self) -> None:
        """A new client on the same engine, as after a start: nothing is registered with discord.py."""
        await self.env.restart_bot(make_client(self.app, **self.face))
        self.app.engine.set_owners(frozenset({str(self.ana.id)}))

    def approve_by(self, *rules: ApproverRule, users: Iterable[int] = (), roles: Iterable[int] = ()) -> None:
        """Set up who decides, as settings do; people and roles have their ids only once the guild is there."""
        self.app.engine.authority.__init__(  # type: ignore[misc]
            users=frozenset(map(str, users)), roles=frozenset(map(str, roles)), self_approval=True, rules=rules
        )
        self.app.engine.authority.connect(self.env.bot.surface)
        self.app.engine.set_owners(frozenset({str(self.ana.id)}))

    def cards_go(self, places: Places) -> None:
        """Say where the guild's cards go, as settings do; channels have their ids only once the guild is there."""
        self.app.engine.showing._where._file = Configured([PlacesRule(places=places)])  # type: ignore[attr-defined]

    async def rows(self, sql: str, *parameters: object) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.app.database.reader.all(sql, *parameters)]


def text_of(message: discord.Message) -> str:
    """Every word of a card."""
    return "\n".join(_texts(message.components))


def labels(message: discord.Message) -> list[str]:
    """The buttons of a message, in order."""
    return [str(item.label) for item in _walk(message.components) if isinstance(item, discord.Button)]


def custom_id(message: discord.Message, label: str, nth: int = 0) -> str:
    """What a button would send."""
    found = [item for item in _walk(message.components) if isinstance(item, discord.Button) and item.label == label]
    assert found[nth].custom_id is not None
    return found[nth].custom_id


def _texts(components: Any) -> list[str]:
    return [item.content for item in _walk(components) if isinstance(item, discord.TextDisplay)]


def _walk(components: Any) -> Any:
    for component in components:
        yield component
        yield from _walk(getattr(component, "children", []))


async def read_whole(file: discord.Attachment) -> AsyncGenerator[bytes, None]:
    """simcord's files are not on any server: as discord.py reads them, in pieces all the same."""
    data = await file.read()
    for start in range(0, len(data), 1_000):
        yield data[start : start + 1_000]


def make_client(app: App, **face: Any) -> SignoffClient:
    return SignoffClient(
        engine=app.engine,
        background=app.background,
        remember=app.remember,
        recall=app.recall,
        upkeep=app.upkeep,
        **{"download": read_whole, **face},
    )


@asynccontextmanager
async def open_guild(
    folder: Path,
    script: Script,
    *,
    bench: Bench | None = None,
    settings: Settings | None = None,
    job_limits: JobLimits | None = None,
    face: dict[str, Any] | None = None,
    house: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Guild]:
    """A guild with one channel, and the bot in it; `face`: see `SignoffClient`, `house`: see `open_app`."""
    face = face or {}
    bench, clock = bench or Bench(), ManualClock()
    settings = (settings or Settings()).model_copy(update={"database": folder / "guild.sqlite3", "workspace": folder})
    async with (
        open_app(
            settings,
            tools=bench.tools(),
            mask=lambda text: text,
            clock=clock,
            new_id=new_id,
            model=script.model,
            sweep_ms=3_600_000,
            job_limits=job_limits or JobLimits(edit_ms=PACE_MS),
            **(house or {}),
        ) as app,
        simcord.run(make_client(app, **face), **options) as env,
    ):
        guild = env.create_guild("Harbour")
        channel = guild.create_text_channel("ops")
        users = {name: env.create_user(name) for name in ("ana", "ben", "mallory")}
        people = {name: guild.add_member(user) for name, user in users.items()}
        app.engine.set_owners(frozenset({str(people["ana"].id)}))
        yield Guild(
            env=env,
            app=app,
            bench=bench,
            script=script,
            clock=clock,
            guild=guild,
            channel=channel,
            people=users,
            face=face,
            **people,
        )
