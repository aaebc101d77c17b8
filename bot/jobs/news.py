"""How a conversation learns that a job of it has ended: an event in the user position, which no person wrote.

The outcome itself is one row of the outbox, stored with the ending and only held back for a while. The announcement
turn can add words below it. Whatever becomes of that turn (it has nothing to add, fails, is lost with its process,
waits for people), the outcome goes out, once: at the latest when `HELD_MS` are over.
"""

from __future__ import annotations

import re

from bot.jobs import words
from storage import audit, conversations, jobs, outbox, runs
from storage.database import Reader, Transaction
from storage.jobs import Job
from storage.runs import Run, RunKind, RunState

HELD_MS = 30_000
"""How long an outcome waits for the words of its announcement turn."""
BUDGET_MS = 120_000
"""Compute time of an announcement turn."""
PROGRAM = ""
"""Who writes a note that no person wrote."""

_NOTHING = re.compile(r"[\W_]*(nothing to add)?[\W_]*", re.IGNORECASE)


async def spread(tx: Transaction, run: Run, job: Job, state: RunState, text: str, *, at: int) -> bool:
    """Let the conversation that a job came from know how it ended; in the commit of its ending.

    A conversation that another open job owns is told as that job's note, and nothing is announced a second time. Of
    any other one the announcement turn is stored. Returns whether there is one, so that the outcome is held back.
    """
    ended = Run(**{**vars(run), "state": state, "result": text})
    while (owner := await jobs.owner_of(tx, job.origin)) is not None:
        if owner.ended_at is None:
            await jobs.add_note(tx, owner.id, person=PROGRAM, text=words.event_for_job(ended), at=at)
            await jobs.touch(tx, owner.id)
            return False
        above = await jobs.get(tx, owner.id)
        if above is None or above.origin == job.origin:
            return False
        job = above
    if not job.origin:
        return False
    turn = Run(
        id=f"{run.id}-news",
        conversation=job.origin,
        kind=RunKind.TURN,
        state=RunState.QUEUED,
        place=run.place,
        within=run.within,
        roles=run.roles,
        requester=run.requester,
        request=job.anchor,
        prompt="",
        notify=run.notify,
        parent=run.id,
        announces=run.id,
        budget_ms=BUDGET_MS,
        created_at=at,
    )
    await conversations.ensure(tx, turn.conversation, at=at)
    await runs.create(tx, turn)
    await audit.record(
        tx,
        at=at,
        actor=audit.SYSTEM,
        event="announcement_started",
        run=turn.id,
        conversation=turn.conversation,
        detail={"job": run.id},
    )
    return True


async def release(tx: Transaction, turn: Run, added: str, *, at: int) -> bool:
    """Let the outcome go out, with what its announcement turn adds. False if it has gone without."""
    more = "" if is_nothing(added) else f"\n\n{added.strip()}"
    return await outbox.release_held(tx, run=turn.announces or "", more=more, at=at)


def is_nothing(text: str) -> bool:
    """Whether an announcement turn has said that there is nothing to add."""
    return _NOTHING.fullmatch(text) is not None


async def prompt(reader: Reader, turn: Run) -> str:
    """What an announcement turn begins with."""
    ended = await runs.get(reader, turn.announces or "")
    return words.event(ended) if ended is not None else ""
