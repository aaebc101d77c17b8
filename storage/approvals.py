"""The heart: one row per call that waits for somebody, and the conditional updates that move it.

    pending ──┬─> approved ──┬─> running ──┬─> succeeded
              │              │             ├─> failed
              │              │             ├─> nothing_ran    approved, but certainly never started
              │              │             └─> interrupted    the process died after the claim: nobody knows
              │              ├─> cancelled
              │              └─> void                         what would run is not what was shown
              ├─> denied
              ├─> expired
              ├─> cancelled
              ├─> undeliverable                               nobody could be asked
              ├─> void
              └─> succeeded | failed                          a question or external call: the answer is the result

*Settled* is everything right of `pending`. Settling commits before anything runs; the claim
(`approved -> running`) commits before the tool's first line. Each move and its audit entry are one commit.
The number of rows an update changed decides every race: 1 won, 0 lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from storage import audit, cards, runs, stored
from storage.database import Reader, Row, Transaction


class ApprovalState(StrEnum):
    """Where a call stands. The one stored word from which every sentence about it derives."""

    PENDING = "pending"
    """The card is up, or about to be."""
    APPROVED = "approved"
    """Signed off; the tool has not been claimed yet."""
    RUNNING = "running"
    """Claimed: the tool may have begun."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """It ran, and did not do what it should."""
    NOTHING_RAN = "nothing_ran"
    INTERRUPTED = "interrupted"
    """The process died while it ran; it is never run again by itself."""
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody decided in time. Silence is not a no."""
    CANCELLED = "cancelled"
    """Taken back before it ran: by a person, with its job, or because a new conversation was begun. That a newer
    request superseded it would be the same move; its note says which it was, so there is no word of its own for it."""
    UNDELIVERABLE = "undeliverable"
    VOID = "void"


MOVES: dict[ApprovalState, frozenset[ApprovalState]] = {
    ApprovalState.PENDING: frozenset(
        {
            ApprovalState.APPROVED,
            ApprovalState.DENIED,
            ApprovalState.EXPIRED,
            ApprovalState.CANCELLED,
            ApprovalState.UNDELIVERABLE,
            ApprovalState.VOID,
            ApprovalState.SUCCEEDED,
            ApprovalState.FAILED,
        }
    ),
    ApprovalState.APPROVED: frozenset({ApprovalState.RUNNING, ApprovalState.CANCELLED, ApprovalState.VOID}),
    ApprovalState.RUNNING: frozenset(
        {
            ApprovalState.SUCCEEDED,
            ApprovalState.FAILED,
            ApprovalState.NOTHING_RAN,
            ApprovalState.INTERRUPTED,
        }
    ),
}
"""The arrows of the diagram; a state that is not a key is final."""

OPEN = frozenset({ApprovalState.PENDING, ApprovalState.APPROVED, ApprovalState.RUNNING})
"""States in which the run still waits for this call."""

_ASKED = (
    "id", "run", "conversation", "card", "pause", "position", "call_id", "kind", "tool", "arguments", "reason", "bound",
    "digest", "seal", "intent", "action", "replaces", "edited_by", "original", "requester", "place", "within",
    "requested_at", "expires_at", "sources",
)  # fmt: skip
"""Columns that are known when a call is asked about."""

_BY_PEOPLE = {ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.SUCCEEDED, ApprovalState.FAILED}
"""Where a person moves a call that waits: in time, or not at all."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """One call as stored. Times are milliseconds UTC."""

    id: str
    run: str
    conversation: str
    card: str
    pause: int
    position: int
    call_id: str
    kind: str
    tool: str
    arguments: dict[str, Any]
    reason: str
    digest: str
    seal: str
    intent: str | None
    action: str
    requester: str
    place: str
    state: ApprovalState
    requested_at: int
    expires_at: int
    within: str = ""
    """The channel that the place is a thread of, or ''."""
    bound: dict[str, Any] = field(default_factory=dict)
    replaces: str | None = None
    edited_by: str | None = None
    original: dict[str, Any] | None = None
    """The model's own arguments, where a person changed them."""
    granted: str | None = None
    """The grant that approved it; None: a person has to, or did."""
    settled_at: int | None = None
    settled_by: str | None = None
    note: str | None = None
    owner: str | None = None
    started_at: int | None = None
    finished_at: int | None = None
    exit_code: int | None = None
    result: str | None = None
    sources: tuple[str, ...] = ()
    """What the model had read before that nobody here wrote, by name; the newest last."""

    @property
    def is_open(self) -> bool:
        """Whether the run still waits for this call."""
        return self.state in OPEN


async def open_approval(tx: Transaction, approval: Approval) -> bool:
    """Store a pending call. False if its intent is already taken: another turn was first."""
    values = [getattr(approval, name) for name in _ASKED]
    done = await tx.execute(
        f"INSERT INTO approval (state, {', '.join(_ASKED)}) VALUES ('pending'{', ?' * len(_ASKED)})"
        " ON CONFLICT DO NOTHING",
        *(json.dumps(value, ensure_ascii=False) if isinstance(value, dict | tuple) else value for value in values),
    )
    if not done:
        return False
    again = {"replaces": approval.replaces} if approval.replaces else {}
    await trail(tx, approval, "asked", approval.requester, approval.requested_at, {"tool": approval.tool} | again)
    return True


async def settle(
    tx: Transaction,
    id: str,
    to: ApprovalState,
    *,
    by: str,
    at: int,
    note: str | None = None,
    result: str | None = None,
    seal: str | None = None,
    frm: ApprovalState = ApprovalState.PENDING,
) -> Approval | None:
    """Move `frm -> to` before anything ran. None if somebody was first, or the deadline has passed.

    A `seal` replaces the one from before: the decision's own. The deadline is compared here, inside the deciding
    transaction: an approval, a denial or an answer counts only before it, an expiry only after it.
    """
    _check(frm, to)
    if ApprovalState.RUNNING in {frm, to}:
        raise ValueError("what runs is claimed and finished, not settled")
    in_time = "? IS NOT NULL"
    if to is ApprovalState.EXPIRED:
        in_time = "expires_at <= ?"
    elif frm is ApprovalState.PENDING and to in _BY_PEOPLE:
        in_time = "expires_at > ?"
    done = await tx.execute(
        "UPDATE approval SET state = ?, settled_at = ?, settled_by = ?, note = ?, result = ?,"
        " seal = coalesce(?, seal), finished_at = CASE WHEN ? IN ('succeeded', 'failed') THEN ? ELSE finished_at END"
        f" WHERE id = ? AND state = ? AND {in_time}",
        to,
        at,
        by,
        note,
        result,
        seal,
        to,
        at,
        id,
        frm,
        at,
    )
    return await moved(tx, id, to, by, at, {"note": note} if note else {}) if done else None


async def claim(tx: Transaction, id: str, *, owner: str, digest: str, at: int) -> Approval | None:
    """`approved -> running` for the process `owner`, if what would run is still what was shown.

    None if it is not approved (any more) or the digest differs. Commit before the tool's first line.
    """
    done = await tx.execute(
        "UPDATE approval SET state = 'running', owner = ?, started_at = ?"
        " WHERE id = ? AND state = 'approved' AND digest = ?",
        owner,
        at,
        id,
        digest,
    )
    return await moved(tx, id, ApprovalState.RUNNING, audit.SYSTEM, at, {}) if done else None


async def finish(
    tx: Transaction,
    id: str,
    to: ApprovalState,
    *,
    owner: str,
    at: int,
    result: str,
    exit_code: int | None = None,
    note: str | None = None,
) -> Approval | None:
    """`running -> to` by the process that claimed it. None if it does not hold the claim (any more)."""
    _check(ApprovalState.RUNNING, to)
    done = await tx.execute(
        "UPDATE approval SET state = ?, finished_at = ?, result = ?, exit_code = ?, note = ?"
        " WHERE id = ? AND state = 'running' AND owner = ?",
        to,
        at,
        result,
        exit_code,
        note,
        id,
        owner,
    )
    return await moved(tx, id, to, audit.SYSTEM, at, {"exit_code": exit_code}) if done else None


async def interrupt_orphans(tx: Transaction, *, owner: str, at: int, result: str) -> list[Approval]:
    """Every call that runs for a process other than `owner` is `interrupted`: that process is dead."""
    rows = await tx.all(
        "UPDATE approval SET state = 'interrupted', finished_at = ?, result = ?"
        " WHERE state = 'running' AND owner <> ? RETURNING id",
        at,
        result,
        owner,
    )
    orphans = [await moved(tx, row["id"], ApprovalState.INTERRUPTED, audit.SYSTEM, at, {}) for row in rows]
    return [approval for approval in orphans if approval is not None]


async def get(reader: Reader, id: str) -> Approval | None:
    """One call, or None."""
    row = await reader.one("SELECT * FROM approval WHERE id = ?", id)
    return read(row) if row else None


async def find(reader: Reader, prefix: str) -> list[Approval]:
    """The calls whose id begins with `prefix` (at most two: enough to know that it is ambiguous)."""
    low = prefix.lower()
    rows = await reader.all("SELECT * FROM approval WHERE id >= ? AND id < ? ORDER BY id LIMIT 2", low, low + "~")
    return [read(row) for row in rows]


async def of_card(reader: Reader, card: str) -> list[Approval]:
    """The calls of one card, in the model's emission order; of one that was edited, the newest row."""
    return await _every(
        reader,
        "SELECT * FROM approval WHERE card = ? AND NOT EXISTS (SELECT 1 FROM approval AS newer"
        " WHERE newer.replaces = approval.id AND newer.card = approval.card) ORDER BY position",
        card,
    )


async def of_pause(reader: Reader, run: str, pause: int) -> list[Approval]:
    """The calls of one pause of a run, in the model's emission order; of one that was asked again, the newest row."""
    return await _every(
        reader,
        "SELECT * FROM approval WHERE run = ? AND pause = ? AND NOT EXISTS"
        " (SELECT 1 FROM approval AS newer WHERE newer.replaces = approval.id) ORDER BY position",
        run,
        pause,
    )


async def undecided(reader: Reader) -> list[str]:
    """Ids of calls that wait or were signed off and have not begun."""
    return await _ids(reader, "SELECT id FROM approval WHERE state = 'pending'") + await approved(reader)


async def newest_in(reader: Reader, conversation: str, *, limit: int) -> list[Approval]:
    """The newest calls of a conversation, oldest of them first."""
    return await _every(
        reader,
        "SELECT * FROM (SELECT * FROM approval WHERE conversation = ? ORDER BY requested_at DESC, position DESC"
        " LIMIT ?) AS newest ORDER BY requested_at, position",
        conversation,
        limit,
    )


async def listed(reader: Reader, *, every: bool = False, space: str = "", limit: int = 500) -> list[Approval]:
    """Open calls, oldest first; with `every`, also ended ones; with `space`, those of places below it."""
    condition = "" if every else "AND state IN ('pending', 'approved', 'running')"
    sql = f"SELECT * FROM approval WHERE place || '/' LIKE ? {condition} ORDER BY requested_at, position LIMIT ?"
    return await _every(reader, sql, f"{space.rstrip('/')}/%" if space else "%", limit)


async def overdue(reader: Reader, *, now: int) -> list[str]:
    """Ids of pending calls whose deadline has passed."""
    return await _ids(reader, "SELECT id FROM approval WHERE state = 'pending' AND expires_at <= ?", now)


async def next_deadline(reader: Reader) -> int | None:
    """When the next pending call expires, or None if nothing is pending."""
    row = await reader.one("SELECT min(expires_at) AS at FROM approval WHERE state = 'pending'")
    return row["at"] if row else None


async def approved(reader: Reader) -> list[str]:
    """Ids of calls that were signed off and not yet claimed."""
    return await _ids(reader, "SELECT id FROM approval WHERE state = 'approved' ORDER BY settled_at")


async def running_of(reader: Reader, *, owner: str) -> list[str]:
    """Ids of calls that run for the process `owner`."""
    return await _ids(reader, "SELECT id FROM approval WHERE state = 'running' AND owner = ? ORDER BY id", owner)


async def refused_press(tx: Transaction, id: str | None, *, actor: str, at: int, code: str) -> None:
    """A press that changed nothing is on the trail too."""
    row = await tx.one("SELECT run, conversation FROM approval WHERE id = ?", id) if id else None
    await audit.record(
        tx,
        at=at,
        actor=actor,
        event="press_refused",
        approval=id if row else None,
        run=row["run"] if row else None,
        conversation=row["conversation"] if row else None,
        detail={"code": code},
    )


async def _every(reader: Reader, sql: str, *parameters: object) -> list[Approval]:
    return [read(row) for row in await reader.all(sql, *parameters)]


async def _ids(reader: Reader, sql: str, *parameters: object) -> list[str]:
    return [row["id"] for row in await reader.all(sql, *parameters)]


def _check(frm: ApprovalState, to: ApprovalState) -> None:
    if to not in MOVES.get(frm, frozenset()):
        raise ValueError(f"no move {frm} -> {to}")


async def moved(
    tx: Transaction, id: str, to: ApprovalState, by: str, at: int, detail: dict[str, Any]
) -> Approval | None:
    """After a won move: the trail, the card that is now out of date, and the run that may now go on."""
    approval = await get(tx, id)
    if approval is not None:
        await trail(tx, approval, to, by, at, detail)
        await cards.touch(tx, approval.card)
        if not approval.is_open:
            await runs.queue_if_settled(tx, approval.run)
    return approval


async def trail(tx: Transaction, approval: Approval, event: str, by: str, at: int, detail: dict[str, Any]) -> None:
    await audit.record(
        tx,
        at=at,
        actor=by,
        event=event,
        approval=approval.id,
        run=approval.run,
        conversation=approval.conversation,
        detail=detail,
    )


def read(row: Row) -> Approval:
    """A row of the table as an `Approval`."""
    fields = dict(row)
    parsed: dict[str, Any] = {name: stored.mapping(fields[name]) for name in ("arguments", "bound")}
    parsed |= {"original": stored.maybe_mapping(fields["original"]), "sources": stored.texts(fields["sources"])}
    return Approval(**{**fields, **parsed, "state": ApprovalState(fields["state"])})
