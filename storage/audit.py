"""The trail: who did what to which call, and what became of it. Insert only, each row chained to the last.

Written inside the transaction of the move it describes, so that the trail cannot disagree with the row.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from storage import meta
from storage.database import Reader, Row, Transaction

SYSTEM = "system"
"""The actor when no person acted: the clock, a restart, the program itself."""

FIRST = "0" * 64
"""What the first row is chained to."""

STRETCH = 5_000
"""Entries looked through before others have their turn."""

HEAD = "audit_head"
"""Where the newest row's hash is kept once more, so that rows missing at the end are noticed too."""


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One line of the trail."""

    n: int
    at: int
    actor: str
    event: str
    approval: str | None
    run: str | None
    conversation: str | None
    detail: dict[str, Any]
    hash: str


async def record(
    tx: Transaction,
    *,
    at: int,
    actor: str,
    event: str,
    approval: str | None = None,
    run: str | None = None,
    conversation: str | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    """Append one entry. `actor` is a person's id or `SYSTEM`; `detail` is plain JSON without secrets."""
    text = tx.clean(json.dumps(detail or {}, sort_keys=True, ensure_ascii=False))
    chained = _hash(await meta.get(tx, HEAD) or FIRST, at, actor, event, approval, run, conversation, text)
    await tx.execute(
        "INSERT INTO audit (at, actor, event, approval, run, conversation, detail, hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        at,
        actor,
        event,
        approval,
        run,
        conversation,
        text,
        chained,
    )
    await meta.put(tx, HEAD, chained)


async def entries(
    reader: Reader, *, approval: str | None = None, after: int = 0, limit: int = 1000
) -> list[AuditEntry]:
    """Entries in order, of one approval or of all, starting behind number `after`."""
    if approval is not None:
        rows = await reader.all(
            "SELECT * FROM audit WHERE approval = ? AND n > ? ORDER BY n LIMIT ?", approval, after, limit
        )
    else:
        rows = await reader.all("SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT ?", after, limit)
    return [_entry(row) for row in rows]


async def has(reader: Reader, approval: str, event: str) -> bool:
    """Whether the trail has this event of the call."""
    row = await reader.one("SELECT 1 AS there FROM audit WHERE approval = ? AND event = ? LIMIT 1", approval, event)
    return row is not None


async def about(reader: Reader, *, approval: str, run: str) -> list[AuditEntry]:
    """Entries about one call: those that name it, and those of its run that name no call, from its asking on."""
    own = await entries(reader, approval=approval, limit=10_000)
    newest = await reader.one("SELECT max(n) AS n FROM audit")
    found = list(own)
    if own and newest is not None:
        # In stretches, without an index of its own: that would cost every entry something, and this is rarely asked.
        for after in range(own[0].n, int(newest["n"]), STRETCH):
            rows = await reader.all(
                "SELECT * FROM audit WHERE n > ? AND n <= ? AND run = ? AND approval IS NULL",
                after,
                after + STRETCH,
                run,
            )
            found += [_entry(row) for row in rows]
            await asyncio.sleep(0)
    return sorted(found, key=lambda entry: entry.n)


async def verify(reader: Reader) -> int | None:
    """The number of the first row that was altered, follows a missing one or is missing at the end.

    None if the chain holds.
    """
    # Read first: rows that are written during the walk come behind it, and are not missed as an ending.
    head = await meta.get(reader, HEAD) or FIRST
    last, number, headed = FIRST, 0, head == FIRST
    while rows := await reader.all("SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT 1000", number):
        for row in rows:
            # Numbers have no gaps: one that is rolled back is given again.
            expected, number = number + 1, int(row["n"])
            last = _hash(
                last,
                row["at"],
                row["actor"],
                row["event"],
                row["approval"],
                row["run"],
                row["conversation"],
                row["detail"],
            )
            if last != row["hash"] or number != expected:
                return number
            headed = headed or last == head
    return None if headed else number + 1


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(**{**dict(row), "detail": json.loads(row["detail"])})


def _hash(last: str, *fields: object) -> str:
    return hashlib.sha256(json.dumps([last, *fields], ensure_ascii=False).encode()).hexdigest()
