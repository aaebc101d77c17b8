"""Things that go wrong on cue: a database whose commits fail, a face that breaks or gets stuck.

The database is real underneath: a failing step fails where a full disk would make it fail, at its commit.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.surface import Announcement, CardView
from storage.database import Database, Reader, Row, Transaction, open_database
from tests.house import Face, Page


class FaultyDatabase:
    """`Database`: steps named in `failing` fail so many times, steps in `stuck` wait before they begin."""

    def __init__(self) -> None:
        self.inner: Any = None
        self.failing: Counter[str] = Counter()
        self.failing_reads = 0
        self.stuck: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {}
        self.steps: list[str] = []

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Database]:
        """Stands in for `open_database`."""
        async with open_database(url) as self.inner:
            yield self

    def hold(self, step: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Make a step wait. Returns what is set when it is reached, and what lets it go on."""
        self.reached[step], self.stuck[step] = asyncio.Event(), asyncio.Event()
        return self.reached[step], self.stuck[step]

    @property
    def reader(self) -> Reader:
        return self

    async def all(self, sql: str, *parameters: object) -> list[Row]:
        if self.failing_reads:
            self.failing_reads -= 1
            raise sqlite3.OperationalError("disk I/O error")
        return list(await self.inner.reader.all(sql, *parameters))

    async def one(self, sql: str, *parameters: object) -> Row | None:
        rows = await self.all(sql, *parameters)
        return rows[0] if rows else None

    @asynccontextmanager
    async def begin(self, step: str, *, durable: bool = True) -> AsyncIterator[Transaction]:
        if step in self.stuck:
            self.reached[step].set()
            await self.stuck.pop(step).wait()
        async with self.inner.begin(step, durable=durable) as tx:
            yield tx
            if self.failing[step]:
                self.failing[step] -= 1
                raise sqlite3.OperationalError("database or disk is full")
        self.steps.append(step)

    async def data_version(self) -> int:
        return int(await self.inner.data_version())


@dataclass
class BadFace(Face):
    """A face that can break in ways it promised not to, and get stuck."""

    break_marks: Exception | None = None
    stuck_card: asyncio.Event | None = None
    stuck_say: asyncio.Event | None = None
    posting: asyncio.Event = field(default_factory=asyncio.Event)
    attempts: list[str] = field(default_factory=list)

    async def post_card(self, view: CardView) -> str:
        self.attempts.append("post")
        if self.fail_card is None and self.stuck_card is not None:
            self.cards["early"] = view  # people see it before we are told so
            self.posting.set()
            await self.stuck_card.wait()
            del self.cards["early"]
        return await super().post_card(view)

    async def edit_card(self, view: CardView) -> None:
        self.attempts.append("edit")
        await super().edit_card(view)

    async def announce(self, announcement: Announcement) -> str:
        self.attempts.append(announcement.key)
        if self.stuck_say is not None:
            await self.stuck_say.wait()
        return await super().announce(announcement)

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        if self.break_marks is not None:
            raise self.break_marks
        await super().mark_moved(place, message, to)


@dataclass
class BadPage(Page):
    """A reply that breaks."""

    break_show: Exception | None = None
    break_rest: Exception | None = None
    break_finish: Exception | None = None
    finishes: int = 0

    async def show(self, text: str) -> None:
        if self.break_show is not None:
            raise self.break_show
        await super().show(text)

    async def rest(self, text: str) -> None:
        if self.break_rest is not None:
            raise self.break_rest
        await super().show(text)

    async def finish(self, text: str, *, key: str | None = None) -> str:
        self.finishes += 1
        if self.break_finish is not None:
            raise self.break_finish
        return await super().finish(text, key=key)
