"""A turn that goes on as a background job: what moves in the tables when it does.

Its messages are copied into a conversation of its own, each under the number that it has where it comes from. So all
that counts messages, a stretch that goes on at this moment, its recorded steps, a pause, counts the same as before.
"""

from __future__ import annotations

from storage.database import Reader, Transaction
from storage.jobs import JobLimits
from storage.runs import Run


async def to_job(tx: Transaction, run: Run, *, conversation: str, first: int, budget_ms: int) -> bool:
    """Make the open turn a job in the new `conversation`, which begins with message `first` of its old one.

    Its compute time begins anew. False, and nothing is changed, if it is no open turn (any more).
    """
    done = await tx.execute(
        "UPDATE run SET kind = 'job', conversation = ?, moved_from = conversation, clocked = 0, hold_until = NULL,"
        " budget_ms = ?, spent_ms = 0 WHERE id = ? AND kind = 'turn' AND announces IS NULL"
        " AND state IN ('queued', 'running', 'waiting')",
        conversation,
        budget_ms,
        run.id,
    )
    if done:
        await tx.execute(
            "INSERT INTO message (conversation, seq, run, body)"
            " SELECT ?, seq, run, body FROM message WHERE conversation = ? AND seq >= ?",
            conversation,
            run.conversation,
            first,
        )
        await tx.execute(
            "UPDATE conversation SET start = ?, length = (SELECT length FROM conversation WHERE id = ?) WHERE id = ?",
            first,
            run.conversation,
            conversation,
        )
    return bool(done)


async def others_work(reader: Reader, run: Run) -> bool:
    """Whether another run is at work in the run's conversation."""
    row = await reader.one(
        "SELECT 1 AS one FROM run WHERE state = 'running' AND conversation = ? AND id <> ? LIMIT 1",
        run.conversation,
        run.id,
    )
    return row is not None


async def lacks_room(reader: Reader, limits: JobLimits, *, person: str, space: str) -> str | None:
    """Which of the limits on jobs at work is reached: `person`, `space` or `bot`; None if there is room for one."""
    row = await reader.one(
        "SELECT count(*) AS bot, count(*) FILTER (WHERE run.requester = ?) AS person,"
        " count(*) FILTER (WHERE job.space = ?) AS space"
        " FROM run JOIN job ON job.run = run.id WHERE run.state = 'running'",
        person,
        space,
    )
    busy = dict(row) if row else {}
    return next((name for name in ("person", "space", "bot") if busy.get(name, 0) >= getattr(limits, name)), None)
