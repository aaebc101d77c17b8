"""Writes that can be taken back: of each file that a call wrote what it held before, by hash, and what came of `Undo`.

    kept ──> undoing ──┬─> undone
      ^                ├─> unknown    the process died in it: nobody knows whether the file was put back
      └────────────────┘              it certainly changed nothing

`kept -> undoing` is the claim: it commits before the file is touched, and of two presses one wins it. The bytes
themselves are not here (see `bot.files.kept`); `holds` says whether they are still anywhere.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from storage.database import Reader, Row, Transaction


class UndoState(StrEnum):
    """How far taking the write back has come."""

    KEPT = "kept"
    """Nobody has taken it back."""
    UNDOING = "undoing"
    UNDONE = "undone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Undo:
    """One write. Times are milliseconds UTC."""

    id: str
    approval: str | None
    call: str
    run: str
    root: str
    path: str
    before: str | None
    after: str
    size: int
    seal: str
    kept_at: int
    holds: bool = True
    state: UndoState = UndoState.KEPT
    by: str | None = None
    at: int | None = None
    owner: str | None = None
    tell: str | None = None

    @property
    def possible(self) -> bool:
        """Whether somebody may try."""
        return self.holds and self.state is UndoState.KEPT


_STORED = ("id", "approval", "call", "run", "root", "path", "before", "after", "size", "seal", "kept_at")


async def keep(tx: Transaction, undo: Undo) -> None:
    """Store that the bytes are kept: the commit before the write."""
    await tx.execute(
        f"INSERT INTO undo ({', '.join(_STORED)}, state) VALUES ({', '.join('?' * len(_STORED))}, 'kept')",
        *(getattr(undo, name) for name in _STORED),
    )


async def make_room(tx: Transaction, *, most: int) -> list[str]:
    """Let the oldest copies go until at most `most` bytes are held. Their ids: their files can be removed."""
    row = await tx.one("SELECT coalesce(sum(size), 0) AS size FROM undo WHERE holds = 1")
    over = (int(row["size"]) if row else 0) - most
    gone: list[str] = []
    while over > 0:
        oldest = await tx.one(
            "SELECT id, size FROM undo WHERE holds = 1 AND state <> 'undoing' ORDER BY kept_at, id LIMIT 1"
        )
        if oldest is None:
            break
        await drop(tx, [oldest["id"]])
        gone.append(oldest["id"])
        over -= int(oldest["size"])
    return gone


async def older(reader: Reader, *, before: int) -> list[str]:
    """Copies from before then that nobody is at."""
    rows = await reader.all(
        "SELECT id FROM undo WHERE holds = 1 AND kept_at < ? AND state <> 'undoing' ORDER BY kept_at", before
    )
    return [row["id"] for row in rows]


async def drop(tx: Transaction, ids: Collection[str]) -> None:
    """The bytes are not held any more. Nothing of a claimed one is dropped."""
    for id in ids:
        await tx.execute("UPDATE undo SET holds = 0 WHERE id = ? AND state <> 'undoing'", id)


async def held(reader: Reader) -> frozenset[str]:
    """Every copy whose bytes are kept."""
    return frozenset(row["id"] for row in await reader.all("SELECT id FROM undo WHERE holds = 1"))


async def get(reader: Reader, id: str) -> Undo | None:
    """One, or None."""
    row = await reader.one("SELECT * FROM undo WHERE id = ?", id)
    return _undo(row) if row else None


async def of_calls(reader: Reader, approvals: Collection[str]) -> dict[str, Undo]:
    """By call: what it wrote over, where it wrote."""
    marks = ", ".join("?" * len(approvals))
    rows = await reader.all(f"SELECT * FROM undo WHERE approval IN ({marks})", *approvals) if approvals else []
    return {row["approval"]: _undo(row) for row in rows}


async def claim(tx: Transaction, id: str, *, by: str, at: int, owner: str) -> bool:
    """`kept -> undoing`. False if somebody was first, or the bytes have gone."""
    done = await tx.execute(
        "UPDATE undo SET state = 'undoing', by = ?, at = ?, owner = ? WHERE id = ? AND state = 'kept' AND holds = 1",
        by,
        at,
        owner,
        id,
    )
    return bool(done)


async def end(tx: Transaction, id: str, to: UndoState, *, owner: str, at: int, tell: str | None = None) -> bool:
    """`undoing -> to`, by whom it was claimed. False if it is not theirs (any more).

    Back to `kept`: nothing was changed, and the next press may try. `tell`: the conversation that is to hear of it.
    """
    done = await tx.execute(
        "UPDATE undo SET state = ?, at = ?, by = CASE ? WHEN 'kept' THEN NULL ELSE by END, tell = ?,"
        " holds = CASE ? WHEN 'undone' THEN 0 ELSE holds END WHERE id = ? AND state = 'undoing' AND owner = ?",
        to,
        None if to is UndoState.KEPT else at,
        to,
        tell,
        to,
        id,
        owner,
    )
    return bool(done)


async def claimed(reader: Reader) -> list[Undo]:
    """Those that somebody is at, or was when their process died."""
    return [_undo(row) for row in await reader.all("SELECT * FROM undo WHERE state = 'undoing' ORDER BY id")]


async def untold(reader: Reader, conversation: str) -> list[Undo]:
    """What the model of a conversation has not heard of yet, in order."""
    return [_undo(row) for row in await reader.all("SELECT * FROM undo WHERE tell = ? ORDER BY at, id", conversation)]


async def told(tx: Transaction, undone: Collection[Undo]) -> None:
    """The model has heard of these, in the commit that stores that."""
    for one in undone:
        await tx.execute("UPDATE undo SET tell = NULL WHERE id = ? AND at = ?", one.id, one.at)


def _undo(row: Row) -> Undo:
    fields: dict[str, Any] = dict(row)
    return Undo(**{**fields, "holds": bool(fields["holds"]), "state": UndoState(fields["state"])})
