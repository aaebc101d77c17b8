"""Drills: a harmless request to everybody who decides in a guild, and who could and did press it.

    open ──> ended        at its deadline, when everybody who was named has pressed, or by hand

Like other cards, a drill's is owed by version: `shown` is the version that people see.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from storage.database import Reader, Row, Transaction


@dataclass(frozen=True, kw_only=True)
class Drill:
    """One drill as stored. Times are milliseconds UTC."""

    id: str
    space: str
    """The guild."""
    place: str
    within: str
    started_by: str
    started_at: int
    ends_at: int
    roles: tuple[str, ...]
    """Roles whose members decide there; who they are is known only from who presses."""
    ended_at: int | None = None
    message: str | None = None
    version: int = 1
    shown: int = 0
    tries: int = 0
    due_at: int = 0
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One person of a drill."""

    drill: str
    person: str
    named: bool
    """Whether a rule names the person; if not, they pressed as members of a role."""
    way: str | None = None
    """`channel` or `dm`: how the request reached them; None: it has not yet."""
    problem: str | None = None
    """Why it could not reach them."""
    pressed_at: int | None = None
    roles: tuple[str, ...] = ()
    """Roles of the drill's that they held when they pressed."""


async def create(tx: Transaction, drill: Drill, people: list[str]) -> bool:
    """Store a drill and whom it names. False if one is open in that guild already."""
    if await open_of(tx, drill.space) is not None:
        return False
    await tx.execute(
        "INSERT INTO drill (id, space, place, within, started_by, started_at, ends_at, roles)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        drill.id,
        drill.space,
        drill.place,
        drill.within,
        drill.started_by,
        drill.started_at,
        drill.ends_at,
        json.dumps(drill.roles),
    )
    for person in people:
        await tx.execute("INSERT INTO drill_person (drill, person, named) VALUES (?, ?, 1)", drill.id, person)
    return True


async def get(reader: Reader, id: str) -> Drill | None:
    """One drill, or None."""
    row = await reader.one("SELECT * FROM drill WHERE id = ?", id)
    return _drill(row) if row else None


async def open_of(reader: Reader, space: str) -> Drill | None:
    """The guild's open drill, or None."""
    row = await reader.one("SELECT * FROM drill WHERE space = ? AND ended_at IS NULL", space)
    return _drill(row) if row else None


async def unfinished(reader: Reader) -> list[Drill]:
    """Drills that are open, or whose card lags behind."""
    rows = await reader.all("SELECT * FROM drill WHERE ended_at IS NULL OR shown < version ORDER BY started_at, id")
    return [_drill(row) for row in rows]


async def people_of(reader: Reader, drill: str) -> list[Asked]:
    """Everybody of a drill: who pressed first comes first."""
    rows = await reader.all(
        "SELECT * FROM drill_person WHERE drill = ? ORDER BY pressed_at IS NULL, pressed_at, person", drill
    )
    return [
        Asked(**{**dict(row), "named": bool(row["named"]), "roles": tuple(json.loads(row["roles"]))}) for row in rows
    ]


async def reached(tx: Transaction, drill: str, person: str, *, way: str | None, problem: str | None) -> None:
    """The request got to the person by `way`, or could not."""
    await tx.execute(
        "UPDATE drill_person SET way = ?, problem = ? WHERE drill = ? AND person = ?", way, problem, drill, person
    )
    await touch(tx, drill)


async def press(tx: Transaction, drill: str, person: str, *, at: int, roles: tuple[str, ...]) -> bool:
    """The person has pressed. False if they had before, or the drill has ended."""
    done = await tx.execute(
        "INSERT INTO drill_person (drill, person, named, pressed_at, roles)"
        " SELECT id, ?, 0, ?, ? FROM drill WHERE id = ? AND ended_at IS NULL AND ends_at > ?"
        " ON CONFLICT (drill, person) DO UPDATE SET pressed_at = excluded.pressed_at, roles = excluded.roles"
        " WHERE drill_person.pressed_at IS NULL",
        person,
        at,
        json.dumps(roles),
        drill,
        at,
    )
    if done:
        await touch(tx, drill)
    return bool(done)


async def end(tx: Transaction, drill: str, *, at: int) -> bool:
    """It is over. False if it was before."""
    done = await tx.execute("UPDATE drill SET ended_at = ? WHERE id = ? AND ended_at IS NULL", at, drill)
    if done:
        await touch(tx, drill)
    return bool(done)


async def touch(tx: Transaction, drill: str) -> None:
    """What people see is out of date."""
    await tx.execute("UPDATE drill SET version = version + 1, tries = 0, due_at = 0 WHERE id = ?", drill)


async def shown(tx: Transaction, drill: str, *, version: int, message: str) -> None:
    """The message shows `version`."""
    await tx.execute(
        "UPDATE drill SET message = ?, shown = max(shown, ?), tries = 0, error = NULL WHERE id = ?",
        message,
        version,
        drill,
    )


async def failed(tx: Transaction, drill: str, *, due_at: int, error: str) -> None:
    """It could not be shown; the next try is at `due_at`."""
    await tx.execute("UPDATE drill SET tries = tries + 1, due_at = ?, error = ? WHERE id = ?", due_at, error, drill)


async def give_up(tx: Transaction, drill: str, *, version: int, error: str) -> None:
    """It cannot be shown at all."""
    await tx.execute("UPDATE drill SET shown = max(shown, ?), error = ? WHERE id = ?", version, error, drill)


def _drill(row: Row) -> Drill:
    return Drill(**{**dict(row), "roles": tuple(json.loads(row["roles"]))})
