"""The trail: who did what to which call, and what became of it. Insert only, each row chained to the last.

Written inside the transaction of the move it describes, so that the trail cannot disagree with the row.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from storage.database import Reader, Row, Transaction

SYSTEM = "system"
"""The actor when no person acted: the clock, a restart, the program itself."""

FIRST = "0" * 64
"""What the first row is chained to."""


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
    text = json.dumps(detail or {}, sort_keys=True, ensure_ascii=False)
    last = await tx.one("SELECT hash FROM audit ORDER BY n DESC LIMIT 1")
    chained = _hash(last["hash"] if last else FIRST, at, actor, event, approval, run, conversation, text)
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


async def verify(reader: Reader) -> int | None:
    """The number of the first row that was altered or follows a missing one, or None if the chain holds."""
    last, number = FIRST, 0
    while rows := await reader.all("SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT 1000", number):
        for row in rows:
            number = int(row["n"])
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
            if last != row["hash"]:
                return number
    return None


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(**{**dict(row), "detail": json.loads(row["detail"])})


def _hash(last: str, *fields: object) -> str:
    return hashlib.sha256(json.dumps([last, *fields], ensure_ascii=False).encode()).hexdigest()
