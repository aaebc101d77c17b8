"""Everything at once: turns, presses, sweeps and time in any order, while commits, reads and the face fail at random.

When the faults stop, everything must come to its end: each run with a word, each effect once, each answer once, and
nothing left in memory. A seed that fails can be run again by its number.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo

from bot.errors import DecisionRefused, DeliveryError
from bot.surface import Announcement, CardView, Press, TurnContext
from storage import audit
from storage.database import Row, Transaction
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, Face, House, Page, Script, open_house

STEPS = 40
OWED = "SELECT key FROM outbox WHERE state IN ('pending', 'attempting') AND key NOT LIKE 'remind:%'"
ENDED = "('done', 'failed', 'lost', 'cancelled', 'timed_out')"


class Chaos(FaultyDatabase):
    """A database whose commits and reads fail at random."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.dice = dice
        self.odds = 0.0

    @contextlib.asynccontextmanager
    async def begin(self, step: str, *, durable: bool = True) -> AsyncIterator[Transaction]:
        async with self.inner.begin(step, durable=durable) as tx:
            yield tx
            if self.dice.random() < self.odds:
                raise sqlite3.OperationalError("database or disk is full")

    async def all(self, sql: str, *parameters: object) -> list[Row]:
        if self.dice.random() < self.odds / 4:
            raise sqlite3.OperationalError("disk I/O error")
        if self.dice.random() < 0.3:
            await asyncio.sleep(0)
        return await self.surely(sql, *parameters)

    async def surely(self, sql: str, *parameters: object) -> list[Row]:
        return list(await self.inner.reader.all(sql, *parameters))


@dataclass
class ChaosFace(Face):
    """A face that takes its time, fails, and breaks."""

    dice: random.Random = field(default_factory=random.Random)
    odds: float = 0.0

    async def _mood(self) -> None:
        for _ in range(self.dice.randint(0, 3)):
            await asyncio.sleep(0)
        if self.dice.random() < self.odds:
            raise self.dice.choice([DeliveryError("503"), DeliveryError("503"), ValueError("a bug in the face")])

    async def post_card(self, view: CardView) -> str:
        await self._mood()
        return await super().post_card(view)

    async def edit_card(self, view: CardView) -> None:
        await self._mood()
        await super().edit_card(view)

    async def announce(self, announcement: Announcement) -> str:
        await self._mood()
        return await super().announce(announcement)


class Moody(Script):
    """A model that calls tools, answers or fails, as the dice fall."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.dice = dice
        self.odds = 0.05
        self.turns = 0

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if self.dice.random() < self.odds:
            raise RuntimeError("the model is down")
        if self.dice.random() < 0.4:
            return ModelResponse(parts=[TextPart("That is all.")])
        self.turns += 1
        marks = [f"{self.turns}-{n}" for n in range(self.dice.randint(1, 3))]
        tool = self.dice.choice(["act", "act", "look"])
        return ModelResponse(parts=[ToolCallPart(tool, {"what": mark}, f"call{mark}") for mark in marks])


async def _turn(house: House, number: int) -> None:
    where = f"conversation{number % 3}"
    ctx = TurnContext(conversation=where, place=PLACE, requester=ASKER.id, request=f"r{number}", prompt=f"{number}")
    with contextlib.suppress(sqlite3.OperationalError):
        await house.app.engine.take_turn(ctx, Page())


async def _presses(house: House, database: Chaos, verdicts: list[Any]) -> None:
    """Presses on one waiting call, all at once."""
    waiting = await database.surely("SELECT id FROM approval WHERE state = 'pending'")
    if not waiting:
        return
    press = Press(actor=OWNER, approval=database.dice.choice(waiting)["id"], place=PLACE, message=None)
    decisions = [house.app.engine.decide(press, verdict) for verdict in verdicts]
    for ending in await asyncio.gather(*decisions, return_exceptions=True):
        if isinstance(ending, BaseException) and not isinstance(ending, DecisionRefused | sqlite3.OperationalError):
            raise ending


async def _sweep(house: House) -> None:
    with contextlib.suppress(sqlite3.OperationalError, ExceptionGroup):
        await house.app.engine.sweep()


async def _chaos(house: House, database: Chaos) -> None:
    dice, tasks = database.dice, []
    for number in range(STEPS):
        match dice.random():
            case chance if chance < 0.2:
                tasks.append(asyncio.ensure_future(_turn(house, number)))
            case chance if chance < 0.6:
                verdicts = [dice.choice(["approve", "approve", "deny"]) for _ in range(dice.randint(1, 2))]
                tasks.append(asyncio.ensure_future(_presses(house, database, verdicts)))
            case chance if chance < 0.8:
                tasks.append(asyncio.ensure_future(_sweep(house)))
            case chance if chance < 0.85:
                house.clock.advance(seconds=dice.choice([1, 5, 61]))
        for _ in range(dice.randint(0, 30)):
            await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)
        await house.app.background.idle()


async def _peace(house: House, database: Chaos) -> None:
    """Without faults, sweeps and an approver bring everything to its end."""
    for _ in range(60):
        await house.later(seconds=301)
        for row in await database.surely("SELECT id FROM approval WHERE state = 'pending'"):
            press = Press(actor=OWNER, approval=row["id"], place=PLACE, message=None)
            with contextlib.suppress(DecisionRefused):
                await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        open_runs = await database.surely(f"SELECT 1 FROM run WHERE state NOT IN {ENDED}")
        # What one sweep leaves to another errand that is on its way, the next one looks after.
        if not open_runs and not await database.surely(OWED):
            break
    await house.later(seconds=301)


async def _check(house: House, database: Chaos, face: ChaosFace) -> None:
    assert await database.surely(f"SELECT id, state FROM run WHERE state NOT IN {ENDED}") == []
    calls = await database.surely("SELECT state, json_extract(arguments, '$.what') AS what FROM approval")
    assert {row["state"] for row in calls} <= {"succeeded", "denied", "expired", "undeliverable", "interrupted"}
    done = {row["what"] for row in calls if row["state"] == "succeeded"}
    unknown = {row["what"] for row in calls if row["state"] == "interrupted"}
    effects = Counter(house.bench.effects)
    assert set(effects.values()) <= {1}, "it ran twice"
    assert done <= effects.keys() <= done | unknown, "rows and effects differ"
    first = Counter(said.key for said in face.said if not said.repeated)
    assert set(first.values()) <= {1}, "said twice, and not marked as a repeat"
    assert await database.surely(OWED) == []
    assert await database.surely("SELECT id FROM card WHERE shown < version") == []
    assert await audit.verify(database.inner.reader) is None
    engine = house.app.engine
    assert engine._delivery.replies == {}
    assert engine._turns._going == set()
    assert engine._executor._claimed == set()
    assert engine._executor._unrecorded == {}


async def _story(folder: Path, seed: int) -> None:
    dice = random.Random(seed)
    database, face, script = Chaos(dice), ChaosFace(dice=dice), Moody(dice)
    async with open_house(folder, script, face=face, open_db=database.open) as house:
        database.odds, face.odds = dice.choice([0, 0.02, 0.1, 0.3]), dice.choice([0, 0.1, 0.3])
        await _chaos(house, database)
        database.odds = face.odds = script.odds = 0
        await _peace(house, database)
        await _check(house, database, face)


@pytest.mark.parametrize("seed", range(4))
async def test_everything_comes_to_its_end_whatever_fails_on_the_way(tmp_path: Path, seed: int) -> None:
    await _story(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
async def test_everything_comes_to_its_end_whatever_fails_on_the_way_many_times(tmp_path: Path, seed: int) -> None:
    await _story(tmp_path, seed)
