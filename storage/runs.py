"""Runs: one request on its way through the model, from the prompt to its one ending.

    queued ──> running ──> waiting ──> queued     waiting: for people; holds no task and no memory
       │          │           │
       └──────────┴───────────┴─> done | failed | timed_out | cancelled | lost

A process owns what it runs (`owner`, the boot id). What a dead process owned is queued again once; a run
that loses its process twice is `lost`, and said to be.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from storage import attachments, steps
from storage.database import Reader, Row, Transaction

PAUSE_VERSION = 1
"""The format of a stored pause. An unknown one is refused, not guessed."""


class RunKind(StrEnum):
    """What started a run."""

    TURN = "turn"
    """Somebody asked."""
    JOB = "job"
    """Detached work, in a conversation of its own."""


class RunState(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    """At least one of its calls is open."""
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    """It used up its compute time."""
    CANCELLED = "cancelled"
    LOST = "lost"
    """Two processes died working on it."""


@dataclass(frozen=True, kw_only=True)
class Pause:
    """What a waiting run needs to go on."""

    number: int
    length: int
    """The conversation's length at the pause: if it has grown, somebody spoke meanwhile."""
    call_ids: tuple[str, ...]
    """The calls that wait, in the model's emission order."""


class UnknownPause(Exception):
    """A stored pause of a format that this program does not know."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run as stored. Times are milliseconds UTC."""

    id: str
    conversation: str
    kind: RunKind
    state: RunState
    place: str
    requester: str
    request: str | None
    prompt: str
    notify: str
    again: str | None = None
    """An ended call that the run begins with, asked about once more."""
    within: str = ""
    """The channel that the place is a thread of, or ''."""
    roles: frozenset[str] = frozenset()
    """The roles that the requester held there when they asked."""
    parent: str | None = None
    moved_from: str | None = None
    """The conversation it was asked in, if it has gone on in the background since: then it is a job."""
    announces: str | None = None
    """The job whose ending this turn tells its conversation about; nobody asked for it then, and its prompt is ''."""
    owner: str | None = None
    losses: int = 0
    clocked: bool = False
    """Whether somebody outside held a clock over it: its jobs get less time."""
    reply: str | None = None
    hold_until: int | None = None
    pauses: int = 0
    turned_away: int = 0
    """Calls that were answered in place of a card."""
    stored_pause: str | None = None
    budget_ms: int | None = None
    spent_ms: int = 0
    result: str | None = None
    created_at: int
    ended_at: int | None = None

    @property
    def asked_in(self) -> str:
        """The conversation it was asked in: with the request, what it may do once is kept under that."""
        return self.moved_from or self.conversation

    @property
    def pause(self) -> Pause | None:
        """What the run waits for, or None. Raises `UnknownPause`."""
        if self.stored_pause is None:
            return None
        stored = json.loads(self.stored_pause)
        if stored.get("version") != PAUSE_VERSION:
            raise UnknownPause(f"stored pause of version {stored.get('version')!r}, this program knows {PAUSE_VERSION}")
        return Pause(number=stored["number"], length=stored["length"], call_ids=tuple(stored["call_ids"]))


async def create(tx: Transaction, run: Run) -> None:
    """Store a new run as it is given (`queued` or `running`)."""
    await tx.execute(
        "INSERT INTO run (id, conversation, kind, state, place, within, roles, again, requester, request, prompt,"
        " notify, parent, announces, owner, clocked, budget_ms, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run.id,
        run.conversation,
        run.kind,
        run.state,
        run.place,
        run.within,
        " ".join(sorted(run.roles)),
        run.again,
        run.requester,
        run.request,
        run.prompt,
        run.notify,
        run.parent,
        run.announces,
        run.owner,
        int(run.clocked),
        run.budget_ms,
        run.created_at,
    )


async def get(reader: Reader, id: str) -> Run | None:
    """One run, or None."""
    row = await reader.one("SELECT * FROM run WHERE id = ?", id)
    return _run(row) if row else None


async def of_request(reader: Reader, conversation: str, request: str | None) -> Run | None:
    """The turn that this occurrence has started in the conversation, also if it is a job by now; or None."""
    row = await reader.one(
        "SELECT * FROM run WHERE kind = 'turn' AND announces IS NULL AND conversation = ? AND request = ?"
        " UNION ALL SELECT * FROM run WHERE moved_from = ? AND request = ?",
        conversation,
        request,
        conversation,
        request,
    )
    return _run(row) if row else None


async def job_of(reader: Reader, parent: str, prompt: str) -> Run | None:
    """The job that the run `parent` has started for this goal, or None."""
    row = await reader.one("SELECT * FROM run WHERE parent = ? AND prompt = ? LIMIT 1", parent, prompt)
    return _run(row) if row else None


async def queue_if_settled(tx: Transaction, id: str) -> None:
    """`waiting -> queued` when none of the run's calls is open any more. In the commit that settled the last one."""
    await tx.execute(
        "UPDATE run SET state = 'queued' WHERE id = ? AND state = 'waiting' AND NOT EXISTS (SELECT 1 FROM approval"
        " WHERE approval.run = run.id AND approval.state IN ('pending', 'approved', 'running'))",
        id,
    )


async def take_up(tx: Transaction, id: str, *, owner: str) -> Run | None:
    """`queued -> running` for `owner`. None if somebody else was first, or the run waits or has ended."""
    done = await tx.execute("UPDATE run SET state = 'running', owner = ? WHERE id = ? AND state = 'queued'", owner, id)
    return await get(tx, id) if done else None


async def wait(
    tx: Transaction, id: str, *, owner: str, length: int, call_ids: Sequence[str], hold_until: int | None
) -> bool:
    """`running -> waiting` for people. False if `owner` does not hold the run (any more)."""
    row = await tx.one("SELECT pauses FROM run WHERE id = ?", id)
    if row is None:
        return False
    number = int(row["pauses"]) + 1
    pause = json.dumps(
        {"version": PAUSE_VERSION, "number": number, "length": length, "call_ids": list(call_ids)},
        ensure_ascii=False,
    )
    done = await tx.execute(
        "UPDATE run SET state = 'waiting', pauses = ?, pause = ?, hold_until = ?"
        " WHERE id = ? AND state = 'running' AND owner = ?",
        number,
        pause,
        hold_until,
        id,
        owner,
    )
    if done:
        await steps.clear(tx, id)
    return bool(done)


async def end(tx: Transaction, id: str, to: RunState, *, owner: str | None, at: int, result: str) -> bool:
    """Move to an ending. With `owner`, only if that process still holds the run. False if it has ended already."""
    holder = "owner = ?" if owner is not None else "? IS NULL"
    done = await tx.execute(
        "UPDATE run SET state = ?, result = ?, ended_at = ?, pause = NULL"
        f" WHERE id = ? AND state IN ('queued', 'running', 'waiting') AND {holder}",
        to,
        result,
        at,
        id,
        owner,
    )
    if done:
        await steps.clear(tx, id)
        await attachments.forget(tx, id)
    return bool(done)


async def set_reply(tx: Transaction, id: str, message: str) -> None:
    """Remember the message in which the answer grows, so that it can be found after a restart."""
    await tx.execute("UPDATE run SET reply = ? WHERE id = ?", message, id)


async def add_spent(tx: Transaction, id: str, milliseconds: int) -> None:
    """Charge compute time to the run; waiting for people is never charged."""
    await tx.execute("UPDATE run SET spent_ms = spent_ms + ? WHERE id = ?", milliseconds, id)


async def add_turned_away(tx: Transaction, id: str, calls: int) -> None:
    """Count calls that were answered in place of a card: over all stretches, a model that keeps on is stopped."""
    await tx.execute("UPDATE run SET turned_away = turned_away + ? WHERE id = ?", calls, id)


async def again(tx: Transaction, id: str, *, owner: str) -> bool:
    """`running -> queued` without an ending: there is more to tell it. False if `owner` does not hold it (any more)."""
    done = await tx.execute(
        "UPDATE run SET state = 'queued', pause = NULL WHERE id = ? AND state = 'running' AND owner = ?", id, owner
    )
    if done:
        await steps.clear(tx, id)
    return bool(done)


async def extend(tx: Transaction, id: str, *, by: int, most: int) -> Run | None:
    """Give an open run `by` milliseconds more compute time, up to `most` in all. None if it has ended, or has them."""
    done = await tx.execute(
        "UPDATE run SET budget_ms = CASE WHEN budget_ms < ? THEN budget_ms + ? ELSE ? END"
        " WHERE id = ? AND budget_ms < ? AND state IN ('queued', 'running', 'waiting')",
        most - by,
        by,
        most,
        id,
        most,
    )
    return await get(tx, id) if done else None


async def set_spent(tx: Transaction, id: str, milliseconds: int) -> None:
    """The run's whole compute time so far. It only ever grows."""
    await tx.execute("UPDATE run SET spent_ms = ? WHERE id = ? AND spent_ms < ?", milliseconds, id, milliseconds)


async def put_back(tx: Transaction, id: str, *, owner: str) -> bool:
    """`running -> queued`: its process stops in order, which is no loss. False if `owner` does not hold it."""
    done = await tx.execute(
        "UPDATE run SET state = 'queued' WHERE id = ? AND state = 'running' AND owner = ?", id, owner
    )
    return bool(done)


async def requeue_orphans(tx: Transaction, *, owner: str) -> list[Run]:
    """Queue again what a dead process (any owner but `owner`) was working on, counting the loss."""
    rows = await tx.all(
        "UPDATE run SET state = 'queued', losses = losses + 1 WHERE state = 'running' AND owner <> ? RETURNING id",
        owner,
    )
    found = [await get(tx, row["id"]) for row in rows]
    return [run for run in found if run is not None]


async def running_of(reader: Reader, *, owner: str) -> list[str]:
    """Ids of runs that the process `owner` works on, as far as the rows know."""
    rows = await reader.all("SELECT id FROM run WHERE state = 'running' AND owner = ?", owner)
    return [row["id"] for row in rows]


async def requeue(tx: Transaction, id: str) -> Run | None:
    """`running -> queued`, counting the loss: its own process is not working on it after all. None if it ended."""
    done = await tx.execute(
        "UPDATE run SET state = 'queued', losses = losses + 1 WHERE id = ? AND state = 'running'", id
    )
    return await get(tx, id) if done else None


async def queued_turns(reader: Reader) -> list[tuple[str, str, str]]:
    """Id, requester and place of the turns that can go on, oldest first."""
    rows = await reader.all(
        "SELECT id, requester, place FROM run WHERE state = 'queued' AND kind = 'turn' ORDER BY created_at, id"
    )
    return [(row["id"], row["requester"], row["place"]) for row in rows]


async def turns_at_work(reader: Reader) -> list[tuple[str, str]]:
    """Requester and place of the turns that are worked on."""
    rows = await reader.all("SELECT requester, place FROM run WHERE state = 'running' AND kind = 'turn'")
    return [(row["requester"], row["place"]) for row in rows]


async def in_line(reader: Reader, conversation: str) -> int:
    """How many turns of a conversation are worked on or could be. One that waits for people is not in line."""
    row = await reader.one(
        "SELECT count(*) AS n FROM run WHERE conversation = ? AND kind = 'turn' AND state <> 'waiting'"
        " AND (state = 'queued' OR state = 'running' OR state = 'waiting')",  # the index's own words, or it is not used
        conversation,
    )
    return int(row["n"]) if row else 0


async def open_in(reader: Reader, conversation: str) -> list[Run]:
    """Open runs of a conversation, oldest first."""
    rows = await reader.all(
        "SELECT * FROM run WHERE conversation = ? AND state IN ('queued', 'running', 'waiting')"
        " ORDER BY created_at, id",
        conversation,
    )
    return [_run(row) for row in rows]


async def of_kind(reader: Reader, kind: RunKind, *, every: bool = False, limit: int = 500) -> list[Run]:
    """Open runs of a kind, oldest first; with `every`, also ended ones."""
    condition = "" if every else " AND state IN ('queued', 'running', 'waiting')"
    rows = await reader.all(
        f"SELECT * FROM run WHERE kind = ?{condition} ORDER BY created_at, id LIMIT ?",
        kind,
        limit,
    )
    return [_run(row) for row in rows]


def _run(row: Row) -> Run:
    fields = dict(row)
    pause = fields.pop("pause")
    kind, state, roles = RunKind(fields["kind"]), RunState(fields["state"]), frozenset(fields["roles"].split())
    parsed = {"kind": kind, "state": state, "roles": roles, "clocked": bool(fields["clocked"])}
    return Run(**{**fields, **parsed, "stored_pause": pause})
