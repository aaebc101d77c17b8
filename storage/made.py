"""Which of a run's calls may have written files, and when: for offering people what a job has made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage.database import Reader


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A call that was signed off and began. Times are milliseconds UTC."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    started_at: int
    finished_at: int | None
    """None: it runs still, or nobody knows how far it came."""


async def ran(reader: Reader, run: str, tools: Sequence[str]) -> list[Ran]:
    """The run's calls of these tools that began, in order."""
    rows = await reader.all(
        "SELECT call_id, tool, arguments, started_at, finished_at FROM approval"
        f" WHERE run = ? AND started_at IS NOT NULL AND tool IN ({', '.join('?' * len(tools))})"
        " ORDER BY started_at, id",
        run,
        *tools,
    )
    return [Ran(**{**dict(row), "arguments": json.loads(row["arguments"])}) for row in rows]
