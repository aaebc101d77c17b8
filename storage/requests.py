"""What one request has come to: calls that answer for an action, were refused, or are asked in another's place."""

from __future__ import annotations

from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from storage.database import Reader, Transaction


async def of_request(reader: Reader, intent: str) -> Approval | None:
    """The call that answers for this intent, whatever its state, or None. Of one that was edited, what it became."""
    row = await reader.one("SELECT * FROM approval WHERE intent = ?", intent)
    return await newest(reader, approvals.read(row)) if row else None


async def open_action(reader: Reader, *, conversation: str, requester: str, action: str) -> Approval | None:
    """The same person's identical call that still waits in the same conversation, or None."""
    row = await reader.one(
        "SELECT * FROM approval WHERE action = ? AND state = 'pending' AND conversation = ? AND requester = ?"
        " ORDER BY requested_at LIMIT 1",
        action,
        conversation,
        requester,
    )
    return approvals.read(row) if row else None


async def refused(reader: Reader, run: str, *, before: int) -> list[Approval]:
    """Calls of the run that people denied, or left to expire, before its `before`-th pause; oldest first."""
    rows = await reader.all(
        "SELECT * FROM approval WHERE run = ? AND pause < ? AND kind = 'approval' AND state IN ('denied', 'expired')"
        " ORDER BY pause, position",
        run,
        before,
    )
    return [approvals.read(row) for row in rows]


async def refusals(reader: Reader, run: str) -> int:
    """How often people said no to the run, or nothing: once for each pause, however many calls it had."""
    row = await reader.one(
        "SELECT count(DISTINCT pause) AS n FROM approval WHERE run = ? AND kind = 'approval'"
        " AND state IN ('denied', 'expired')",
        run,
    )
    return int(row["n"]) if row else 0


async def newest(reader: Reader, approval: Approval) -> Approval:
    """The call that stands in this one's place now: itself, unless it was edited or asked again."""
    while (row := await reader.one("SELECT * FROM approval WHERE replaces = ?", approval.id)) is not None:
        approval = approvals.read(row)
    return approval


async def replace(
    tx: Transaction, old: Approval, new: Approval, to: ApprovalState, *, by: str = audit.SYSTEM, note: str
) -> bool:
    """Ask `new` in place of the open call `old`, at its `requested_at`, and settle `old`. False if it is too late, or
    if another call of the same request is `new` already."""
    if await approvals.get(tx, old.id) != old or await _is_taken(tx, old, new.intent):
        return False
    # The new row first, so that the run goes on waiting; its intent is answered for by it alone from now on.
    await tx.execute("UPDATE approval SET intent = NULL WHERE intent = ?", new.intent)
    if not await approvals.open_approval(tx, new):
        return False
    return await approvals.settle(tx, old.id, to, by=by, at=new.requested_at, note=note, frm=old.state) is not None


async def _is_taken(reader: Reader, old: Approval, intent: str | None) -> bool:
    """Whether another call answers for this intent than `old` and what it stands in the place of."""
    other = await of_request(reader, intent) if intent is not None else None
    return other is not None and (other.run, other.pause, other.call_id) != (old.run, old.pause, old.call_id)


async def extend(tx: Transaction, old: Approval, new: Approval, *, by: str, at: int) -> bool:
    """Put the deadline of a waiting call off: `new` is the same with another deadline, digest and seal.

    False if it does not wait any more.
    """
    done = await tx.execute(
        "UPDATE approval SET expires_at = ?, digest = ?, seal = ?"
        " WHERE id = ? AND state = 'pending' AND digest = ? AND expires_at > ?",
        new.expires_at,
        new.digest,
        new.seal,
        old.id,
        old.digest,
        at,
    )
    if done:
        await approvals.trail(tx, new, "extended", by, at, {"expires_at": new.expires_at})
    return bool(done)
