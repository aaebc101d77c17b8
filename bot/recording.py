"""Writes down the steps of one stretch as they come, and finds what an earlier process had written of it.

A step is a model answer that calls tools, or the results of such a batch: what is recorded is not done again. The last
answer of a stretch needs no row of its own, for the commit that ends the stretch has it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.clock import Clock
from bot.deferral.calls import Steps
from storage import jobs, steps, undo
from storage.database import Database, Transaction
from storage.jobs import Note
from storage.undo import Undo


@dataclass(frozen=True)
class Told:
    """What a stretch tells the model beside what it is about: each of it is told once."""

    notes: Sequence[Note] = ()
    undone: Sequence[Undo] = ()

    async def store(self, tx: Transaction, *, at: int) -> None:
        """The model has been told, in the commit that stores what it made of it."""
        await jobs.take_notes(tx, self.notes, at=at)
        await undo.told(tx, self.undone)


class Recording:
    """The steps of one stretch of one run."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        run: str,
        owner: str,
        length: int,
        count: Callable[[Transaction, str], Awaitable[None]],
    ) -> None:
        """`length`: the conversation's, where the stretch begins. `count` writes down what the run has used."""
        self._count = count
        self._database = database
        self._clock = clock
        self._run = run
        self._owner = owner
        self._length = length
        self._kept = 0
        self._told = Told()

    async def found(self) -> Steps | None:
        """What a process that died in the stretch had recorded of it, or None.

        Nothing, if the conversation has grown since: then the stretch begins again behind what was said meanwhile.
        """
        recorded = await steps.of(self._database.reader, self._run)
        if recorded is None:
            return None
        if recorded.length != self._length:
            async with self._database.begin("drop steps") as tx:
                await steps.clear(tx, self._run)
            return None
        self._kept = len(recorded.bodies)
        return Steps(messages=recorded.bodies, turned_away=recorded.turned_away)

    def tells(self, told: Told) -> None:
        """What the stretch tells its model: told with the first step, and then not again."""
        self._told = told

    async def keep(self, new: Steps) -> None:
        """Write down what came since the last time. Nothing, once somebody has ended the run."""
        async with self._database.begin("keep step") as tx:
            kept = await steps.keep(
                tx,
                self._run,
                owner=self._owner,
                length=self._length,
                after=self._kept,
                bodies=new.messages,
                turned_away=new.turned_away,
            )
            await self._count(tx, self._run)  # it was used, whoever has ended the run meanwhile
            if kept:
                await self._told.store(tx, at=self._clock.now())
        self._kept += len(new.messages)
        self._told = Told()
