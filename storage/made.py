"""Which of a run's calls may have written files, and when: for offering people what a job has made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage.database import Reader, Row

_RAN = "call_id, tool, arguments, started_at, finished_at, state"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A call that was signed off and began. Times are milliseconds UTC."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    started_at: int
    finished_at: int | None
    """None: it runs still, or nobody knows how far it came."""
    succeeded: bool


async def ran(reader: Reader, run: str, tools: Sequence[str]) -> list[Ran]:
    """The run's calls of these tools that began, in order."""
    rows = await reader.all(
        f"SELECT {_RAN} FROM approval"
        f" WHERE run = ? AND started_at IS NOT NULL AND tool IN ({', '.join('?' * len(tools))})"
        " ORDER BY started_at, id",
        run,
        *tools,
    )
    return [_row(row) for row in rows]


async def beside(reader: Reader, run: str, tools: Sequence[str], *, since: int) -> list[Ran]:
    """Calls of these tools that other runs began `since` then (milliseconds UTC)."""
    marks = ", ".join("?" * len(tools))
    rows = await reader.all(
        f"SELECT {_RAN} FROM approval WHERE tool IN ({marks}) AND started_at >= ? AND run != ?",
        *tools,
        since,
        run,
    )
    return [_row(row) for row in rows]


def _row(row: Row) -> Ran:
    return Ran(
        call_id=row["call_id"],
        tool=row["tool"],
        arguments=json.loads(row["arguments"]),
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        succeeded=row["state"] == "succeeded",
    )
