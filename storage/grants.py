"""Grants: what people allowed beforehand. Each is one exact call of one person in one place, and ends.

A grant that is spent or out of time needs no move: it does not hold any more, and that is read from the row. The use
is counted in the commit that claims the call, and each move is on the trail in its own commit: a grant whose line
cannot be written is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from storage.database import Reader, Row, Transaction

Why = Literal["revoked", "denied"]
"""Why a grant ended before its time."""


class NotRecorded(Exception):
    """What was to happen to a grant could not be put on the trail, so nothing of it may count."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One grant as stored. Times are milliseconds UTC."""

    id: str
    mark: str
    action: str
    origin: str
    space: str
    place: str
    within: str
    requester: str
    tool: str
    arguments: dict[str, Any]
    bound: dict[str, Any]
    reason: str
    makers: tuple[str, ...]
    made_at: int
    expires_at: int | None
    uses: int | None
    seal: str
    used: int = 0
    last_used_at: int | None = None
    ended_at: int | None = None
    ended_by: str | None = None
    why: Why | None = None

    @property
    def left(self) -> int | None:
        """How many calls it still lets through; None: any number."""
        return None if self.uses is None else max(0, self.uses - self.used)

    def holds_at(self, now: int) -> bool:
        """Whether it has neither ended nor been used up."""
        in_time = self.expires_at is None or self.expires_at > now
        return self.ended_at is None and in_time and self.left != 0


_JSON = ("arguments", "bound", "makers")
_MADE = (
    "id", "mark", "action", "origin", "space", "place", "within", "requester", "tool", "arguments", "bound", "reason",
    "makers", "made_at", "expires_at", "uses", "seal",
)  # fmt: skip
"""Columns that are known when a grant is made."""


async def make(tx: Transaction, grant: Grant, origin: Approval, *, by: str) -> None:
    """Store a grant, made with the call `origin` by the press of `by`. Raises `NotRecorded`."""
    values = [_text(name, getattr(grant, name)) for name in _MADE]
    await tx.execute(f"INSERT INTO call_grant ({', '.join(_MADE)}) VALUES ({', '.join('?' * len(_MADE))})", *values)
    detail = {"makers": grant.makers, "expires_at": grant.expires_at, "uses": grant.uses}
    await _record(tx, "grant_made", grant, origin, by=by, at=grant.made_at, detail=detail)


async def allow(tx: Transaction, approval: Approval, grant: Grant, *, seal: str, at: int) -> Approval | None:
    """`pending -> approved` by a grant, in place of a person. None if the call does not wait any more."""
    done = await tx.execute(
        "UPDATE approval SET state = 'approved', settled_at = ?, settled_by = ?, granted = ?, seal = ?"
        " WHERE id = ? AND state = 'pending' AND expires_at > ?",
        at,
        audit.SYSTEM,
        grant.id,
        seal,
        approval.id,
        at,
    )
    if not done:
        return None
    detail = {"grant": grant.id, "makers": grant.makers}
    return await approvals.moved(tx, approval.id, ApprovalState.APPROVED, audit.SYSTEM, at, detail)


async def spend(tx: Transaction, grant: Grant, approval: Approval, *, seal: str, at: int) -> bool:
    """Count one use, for the call that is claimed in the same commit. False if the grant does not hold any more.

    `seal` is that of the grant with one use more. Raises `NotRecorded`.
    """
    done = await tx.execute(
        "UPDATE call_grant SET used = used + 1, last_used_at = ?, seal = ? WHERE id = ? AND used = ?"
        " AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AND (uses IS NULL OR used < uses)",
        at,
        seal,
        grant.id,
        grant.used,
        at,
    )
    if done:
        detail = {"use": grant.used + 1, "of": grant.uses, "makers": grant.makers}
        await _record(tx, "grant_used", grant, approval, by=audit.SYSTEM, at=at, detail=detail)
    return bool(done)


async def end(tx: Transaction, grant: Grant, why: Why, *, by: str, at: int) -> bool:
    """End a grant before its time; its seal goes with it. False if it had been ended already. Raises `NotRecorded`."""
    done = await tx.execute(
        "UPDATE call_grant SET ended_at = ?, ended_by = ?, why = ?, seal = '' WHERE id = ? AND ended_at IS NULL",
        at,
        by,
        why,
        grant.id,
    )
    if done:
        origin = await approvals.get(tx, grant.origin)
        await _record(tx, "grant_ended", grant, origin, by=by, at=at, detail={"why": why, "used": grant.used})
    return bool(done)


async def get(reader: Reader, id: str) -> Grant | None:
    """One grant, or None."""
    row = await reader.one("SELECT * FROM call_grant WHERE id = ?", id)
    return _grant(row) if row else None


async def made_with(reader: Reader, origin: str) -> Grant | None:
    """The grant that was made with this call, or None."""
    row = await reader.one("SELECT * FROM call_grant WHERE origin = ?", origin)
    return _grant(row) if row else None


async def matching(reader: Reader, mark: str) -> list[Grant]:
    """Grants of this mark that nobody has ended, oldest first."""
    rows = await reader.all("SELECT * FROM call_grant WHERE mark = ? AND ended_at IS NULL ORDER BY made_at, id", mark)
    return [_grant(row) for row in rows]


async def alike(reader: Reader, *, action: str, requester: str, place: str) -> list[Grant]:
    """Grants for the same action of the same person in the same place, whatever else they are bound to."""
    rows = await reader.all(
        "SELECT * FROM call_grant WHERE action = ? AND ended_at IS NULL AND requester = ? AND place = ?",
        action,
        requester,
        place,
    )
    return [_grant(row) for row in rows]


async def listed(reader: Reader, *, space: str | None = None) -> list[Grant]:
    """Every grant there ever was, oldest first; with `space`, those of one guild or of one person's messages."""
    where, values = ("", ()) if space is None else (" WHERE space = ?", (space,))
    return [_grant(row) for row in await reader.all(f"SELECT * FROM call_grant{where} ORDER BY made_at, id", *values)]


async def live(reader: Reader, *, space: str, now: int) -> list[Grant]:
    """The grants of a space that hold, oldest first."""
    rows = await reader.all(
        "SELECT * FROM call_grant WHERE space = ? AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"
        " AND (uses IS NULL OR used < uses) ORDER BY made_at, id",
        space,
        now,
    )
    return [_grant(row) for row in rows]


async def _record(
    tx: Transaction,
    event: str,
    grant: Grant,
    about: Approval | None,
    *,
    by: str,
    at: int,
    detail: Mapping[str, object],
) -> None:
    try:
        await audit.record(
            tx,
            at=at,
            actor=by,
            event=event,
            approval=about.id if about is not None else None,
            run=about.run if about is not None else None,
            conversation=about.conversation if about is not None else None,
            detail={"grant": grant.id, "tool": grant.tool, **detail},
        )
    except Exception as error:
        # Whatever a driver raises: what is not on the trail must not have happened.
        raise NotRecorded(f"{event} of grant {grant.id} could not be recorded: {error}") from error


def _text(name: str, value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if name in _JSON else value


def _grant(row: Row) -> Grant:
    fields = dict(row)
    parsed = {name: json.loads(fields[name]) for name in _JSON}
    return Grant(**{**fields, **parsed, "makers": tuple(parsed["makers"])})
