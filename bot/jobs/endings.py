"""What people are owed when a job has ended, and the ways by which it can reach them.

An ending is one obligation with a ladder: the place where the job was asked for, the channel of that thread, the
person directly; what nobody can be told waits in the person's inbox. With `dm` the person comes first.
"""

from __future__ import annotations

from typing import Any

from bot.clock import Clock
from bot.errors import DecisionRefused
from bot.jobs import news, words
from bot.place import is_private
from bot.texts.text import say, worded
from storage import jobs, outbox
from storage.database import Database, Transaction
from storage.outbox import Owed
from storage.runs import Run, RunState

KEPT_MS = 7 * 24 * 3_600_000
"""How long an ending in an inbox is tried anew at each start."""
MOST_RETURNS = 3
"""At how many starts."""


async def owe(tx: Transaction, run: Run, state: RunState, text: str, *, at: int) -> None:
    """Promise the ending of a job, in the commit that stores it; its card has something new to show as well.

    It waits a moment for what the conversation's model has to add: see `bot.jobs.news`.
    """
    job = await jobs.get(tx, run.id)
    said = words.ending(run, state, text)
    held = job is not None and await news.spread(tx, run, job, state, text, at=at)
    due_at = at + news.HELD_MS if held else at
    await outbox.owe(
        tx,
        key=f"answer:{run.id}",
        run=run.id,
        place=run.place,
        body={**worded(said), "ping": [run.requester], "ladder": ladder(run, job.above if job is not None else None)},
        at=at,
        due_at=due_at,
        person=run.requester,
    )
    if run.notify == "both" and not is_private(run.place):
        await outbox.owe(
            tx,
            key=f"dm:{run.id}",
            run=run.id,
            place=run.place,
            body={
                **worded(said),
                "person": run.requester,
                "instead": say("delivery.result_here").data,
            },
            at=at,
            due_at=due_at,
        )
    await jobs.touch(tx, run.id)
    await jobs.queue_moved(tx, run.id)


def ladder(run: Run, above: str | None) -> list[dict[str, Any]]:
    """The ways to tell a job's ending, best first."""
    places: list[dict[str, Any]] = [{"place": place} for place in (run.place, above) if place is not None]
    if is_private(run.place):
        return places
    person: list[dict[str, Any]] = [{"person": run.requester}]
    if run.notify == "both":
        return places  # the direct message is owed by itself
    return [*person, *places] if run.notify == "dm" else [*places, *person]


class Inbox:
    """What a person could not be told."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def of(self, person: str) -> list[Owed]:
        """Their endings that could not be delivered, oldest first."""
        return await outbox.inbox_of(self._database.reader, person)

    async def handed_over(self, owed: Owed, *, receipt: str) -> None:
        """The person has read it in the message `receipt`. Raises `DecisionRefused` if it has gone out meanwhile."""
        async with self._database.begin("inbox read") as tx:
            if not await outbox.handed_over(tx, owed.id, receipt=receipt):
                raise DecisionRefused("gone", say("delivery.reached_meanwhile"))

    async def try_again(self, tx: Transaction) -> None:
        """At a start: what lies in inboxes may have a way now. Bounded in time and in number."""
        now = self._clock.now()
        await outbox.return_to_sender(tx, now=now, not_before=now - KEPT_MS, most=MOST_RETURNS)
