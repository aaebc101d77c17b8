"""What one request has come to: calls that answer for an action, were refused, or are asked in another's place."""

from __future__ import annotations

from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from storage.database import Reader, Transaction


async def of_request(reader: Reader, intent: str) -> Approval | None:
    """The call that answers for this intent, whatever its state, or None."""
    row = await reader.one("SELECT * FROM approval WHERE intent = ?", intent)
    return approvals.read(row) if row else None


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


async def replace(tx: Transaction, old: Approval, new: Approval, *, note: str) -> bool:
    """Make the approved call `old` void and ask `new` in its place, at its `requested_at`. False if it is too late."""
    # The new row first, so that the run goes on waiting; the intent is answered for by the new row from now on.
    done = await tx.execute("UPDATE approval SET intent = NULL WHERE id = ? AND state = 'approved'", old.id)
    if not done or not await approvals.open_approval(tx, new):
        return False
    at, void = new.requested_at, ApprovalState.VOID
    await approvals.settle(tx, old.id, void, by=audit.SYSTEM, at=at, note=note, frm=ApprovalState.APPROVED)
    return True
