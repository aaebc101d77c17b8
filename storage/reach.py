"""Whether people could be written to directly the last time that somebody tried: read off what they were owed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from storage.database import Reader

_NEWEST = 20
"""Messages of one person that are looked through."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The last attempt to write to one person."""

    at: int
    """When that message was owed, in milliseconds UTC."""
    problem: str | None
    """Why it failed; None: it got there."""


async def last(reader: Reader, person: str) -> Reach | None:
    """What is known of a person, or None. Walks the outbox from its end: for rare questions only."""
    rows = await reader.all(
        "SELECT state, body, rung, failures, error, created_at FROM outbox"
        " WHERE state IN ('delivered', 'undeliverable', 'inbox') AND body LIKE ? ORDER BY id DESC LIMIT ?",
        f'%"person": {json.dumps(person)}%',
        _NEWEST,
    )
    for row in rows:
        body, at = json.loads(row["body"]), int(row["created_at"])
        way = body["ladder"][row["rung"]] if "ladder" in body else body
        if way.get("person") == person and row["state"] != "inbox":
            return Reach(at=at, problem=None if row["state"] == "delivered" else str(row["error"]))
        for failure in json.loads(row["failures"]):
            if failure["way"].get("person") == person:
                return Reach(at=int(failure["at"]), problem=str(failure["error"]))
    return None


async def places(reader: Reader, space: str, *, limit: int) -> list[str]:
    """Where something was asked below `space`, the latest first. Likewise for rare questions only."""
    rows = await reader.all(
        "SELECT place FROM run WHERE place LIKE ? GROUP BY place ORDER BY max(created_at) DESC LIMIT ?",
        f"{space}%",
        limit,
    )
    return [str(row["place"]) for row in rows]
