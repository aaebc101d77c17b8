"""Schedules: goals whose jobs start by themselves, and a row for each of their times that has come.

    draft ──> active <──> paused      a draft was shown to its person and is not saved yet
      │         │            │
      └─────────┴────────────┴──> removed

`next_at` is the time that comes next. It moves on in the commit that stores what became of it (`occurrence`) and the
job itself, if there is one; the occurrence's key makes a second job for the same time impossible, whatever crashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from storage.database import Reader, Row, Transaction


class ScheduleState(StrEnum):
    """Where a schedule stands."""

    DRAFT = "draft"
    ACTIVE = "active"
    PAUSED = "paused"
    """By a person, or by itself: then `note` says why."""
    REMOVED = "removed"


class Why(StrEnum):
    """What became of one time of a schedule."""

    DUE = "due"
    LATE = "late"
    """It was missed, and its job started when that was possible again."""
    BY_HAND = "by hand"
    """A person wanted it now."""
    MISSED = "missed"
    """It was missed, and so was its job."""
    BUSY = "busy"
    """The job before it had not ended."""


@dataclass(frozen=True, kw_only=True)
class ScheduleLimits:
    """How many schedules there may be, and how often one may run."""

    person: int = 10
    space: int = 50
    """In one guild, or in the direct messages with one person."""
    shortest_ms: int = 900_000
    """Between two times of one schedule."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One schedule. Times are milliseconds UTC."""

    id: str
    person: str
    space: str
    place: str
    goal: str
    spoken: str
    cron: str
    zone: str
    missed: str
    notify: str
    state: ScheduleState
    created_at: int
    within: str = ""
    above: str | None = None
    note: str | None = None
    next_at: int | None = None
    due_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """What became of one time of a schedule."""

    schedule: str
    at: int
    run: str | None
    why: Why


async def create(tx: Transaction, new: Schedule) -> None:
    """Store a schedule as it is given."""
    await tx.execute(
        "INSERT INTO schedule (id, person, space, place, within, above, goal, spoken, cron, zone, missed, notify,"
        " state, note, next_at, due_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        new.id,
        new.person,
        new.space,
        new.place,
        new.within,
        new.above,
        new.goal,
        new.spoken,
        new.cron,
        new.zone,
        new.missed,
        new.notify,
        new.state,
        new.note,
        new.next_at,
        new.due_at,
        new.created_at,
    )


async def get(reader: Reader, id: str) -> Schedule | None:
    """One schedule, or None."""
    row = await reader.one("SELECT * FROM schedule WHERE id = ?", id)
    return _schedule(row) if row else None


async def listed(reader: Reader, *, space: str | None = None, every: bool = False) -> list[Schedule]:
    """Schedules that run or are paused, oldest first, of one space or of all; with `every`, removed ones too."""
    states = "'active', 'paused', 'removed'" if every else "'active', 'paused'"
    where, values = ("", []) if space is None else (" AND space = ?", [space])
    rows = await reader.all(f"SELECT * FROM schedule WHERE state IN ({states}){where} ORDER BY created_at, id", *values)
    return [_schedule(row) for row in rows]


async def count(reader: Reader, *, person: str, space: str) -> tuple[int, int]:
    """How many schedules the person has, and how many there are in the space."""
    row = await reader.one(
        "SELECT coalesce(sum(person = ?), 0) AS person, coalesce(sum(space = ?), 0) AS space FROM schedule"
        " WHERE state IN ('active', 'paused')",
        person,
        space,
    )
    return (int(row["person"]), int(row["space"])) if row else (0, 0)


async def due(reader: Reader, *, now: int) -> list[Schedule]:
    """What should be looked at now, longest due first."""
    rows = await reader.all("SELECT * FROM schedule WHERE state = 'active' AND due_at <= ? ORDER BY due_at, id", now)
    return [_schedule(row) for row in rows]


async def next_due(reader: Reader) -> int | None:
    """When something is to be looked at next, or None."""
    row = await reader.one("SELECT min(due_at) AS at FROM schedule WHERE state = 'active'")
    return row["at"] if row else None


async def move(
    tx: Transaction,
    id: str,
    to: ScheduleState,
    *,
    frm: ScheduleState,
    next_at: int | None = None,
    note: str | None = None,
) -> bool:
    """`frm -> to`; False if it stands elsewhere. An active one needs its `next_at`."""
    done = await tx.execute(
        "UPDATE schedule SET state = ?, next_at = ?, due_at = ?, note = ? WHERE id = ? AND state = ?",
        to,
        next_at,
        next_at,
        note,
        id,
        frm,
    )
    return bool(done)


async def go_on(tx: Transaction, id: str, *, past: int, next_at: int) -> bool:
    """The time `past` has been dealt with. False if that was not what came next (any more)."""
    done = await tx.execute(
        "UPDATE schedule SET next_at = ?, due_at = ? WHERE id = ? AND state = 'active' AND next_at = ?",
        next_at,
        next_at,
        id,
        past,
    )
    return bool(done)


async def put_off(tx: Transaction, id: str, *, due_at: int) -> None:
    """Its time has come, and nothing could be done yet: look again at `due_at`."""
    await tx.execute("UPDATE schedule SET due_at = ? WHERE id = ? AND state = 'active'", due_at, id)


async def drop_drafts(tx: Transaction, *, person: str) -> None:
    """What a person was shown before and did not save. Nothing refers to it."""
    await tx.execute("DELETE FROM schedule WHERE state = 'draft' AND person = ?", person)


async def happened(tx: Transaction, one: Occurrence) -> None:
    """Store what became of a time. Fails, and the commit with it, if that is stored already."""
    await tx.execute(
        "INSERT INTO occurrence (schedule, at, run, why) VALUES (?, ?, ?, ?)", one.schedule, one.at, one.run, one.why
    )


async def has_happened(reader: Reader, schedule: str, at: int) -> bool:
    """Whether it is stored what became of a time."""
    return await reader.one("SELECT 1 AS one FROM occurrence WHERE schedule = ? AND at = ?", schedule, at) is not None


async def last(reader: Reader, schedule: str) -> Occurrence | None:
    """What became of its latest time, or None if none has come yet."""
    row = await reader.one("SELECT * FROM occurrence WHERE schedule = ? ORDER BY at DESC LIMIT 1", schedule)
    return _occurrence(row) if row else None


async def at_work(reader: Reader, schedule: str) -> str | None:
    """A job of the schedule that has not ended, or None."""
    row = await reader.one(
        "SELECT run.id FROM run JOIN occurrence ON occurrence.run = run.id"
        " WHERE run.state IN ('queued', 'running', 'waiting') AND occurrence.schedule = ? LIMIT 1",
        schedule,
    )
    return str(row["id"]) if row else None


async def behind(reader: Reader, run: str) -> Schedule | None:
    """The schedule that a job comes from, by itself or by the jobs that started it; None if no schedule did."""
    row = await reader.one(
        "WITH RECURSIVE above (id, parent) AS (SELECT id, parent FROM run WHERE id = ?"
        " UNION SELECT run.id, run.parent FROM run JOIN above ON run.id = above.parent)"
        " SELECT schedule.* FROM above JOIN occurrence ON occurrence.run = above.id"
        " JOIN schedule ON schedule.id = occurrence.schedule LIMIT 1",
        run,
    )
    return _schedule(row) if row else None


async def set_zone(tx: Transaction, person: str, zone: str) -> None:
    """Keep the time zone that a person told us."""
    await tx.execute(
        "INSERT INTO person_zone (person, zone) VALUES (?, ?) ON CONFLICT (person) DO UPDATE SET zone = excluded.zone",
        person,
        zone,
    )


async def zone_of(reader: Reader, person: str) -> str | None:
    """The time zone that the person told us, or None."""
    row = await reader.one("SELECT zone FROM person_zone WHERE person = ?", person)
    return str(row["zone"]) if row else None


def _schedule(row: Row) -> Schedule:
    return Schedule(**{**dict(row), "state": ScheduleState(row["state"])})


def _occurrence(row: Row) -> Occurrence:
    return Occurrence(**{**dict(row), "why": Why(row["why"])})
