"""What a guild's calls of late were, as the trail has them: for trying rules on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from storage.database import Reader

Was = Literal["ask", "allow", "refuse"]

STRETCH = 5_000
"""Entries of the trail that are looked through at once."""
_EVENTS: dict[str, Was] = {"asked": "ask", "allowed": "allow", "refused": "refuse"}


@dataclass(frozen=True, kw_only=True)
class PastCall:
    """One call that came to the gate. `at` is in milliseconds UTC."""

    id: str
    """The approval's id; for a call without one `#` and its number on the trail."""
    was: Was
    tool: str
    arguments: dict[str, Any]
    at: int
    requester: str
    place: str
    within: str
    roles: frozenset[str]


async def calls_since(reader: Reader, space: str, since: int) -> AsyncIterator[list[PastCall]]:
    """The calls of places below `space` since then, newest first, in stretches.

    A call that somebody edited counts as the model made it. What only looks and ran by default is not on the trail.
    """
    newest = await reader.one("SELECT max(n) AS n FROM audit")
    top = int(newest["n"] or 0) if newest is not None else 0
    while top > 0:
        rows = await reader.all(
            "SELECT u.n, u.at, u.event, u.detail, a.id, a.kind, a.replaces, a.tool, a.arguments,"
            " r.requester, r.place, r.within, r.roles"
            " FROM audit u JOIN run r ON r.id = u.run LEFT JOIN approval a ON a.id = u.approval"
            " WHERE u.n > ? AND u.n <= ? AND u.at >= ? AND u.event IN ('asked', 'allowed', 'refused')"
            " AND r.place >= ? AND r.place < ? ORDER BY u.n DESC",
            top - STRETCH,
            top,
            since,
            f"{space}/",
            f"{space}0",  # the character behind `/`
        )
        yield [call for row in rows if (call := _call(dict(row))) is not None]
        oldest = await reader.one("SELECT at FROM audit WHERE n > ? ORDER BY n LIMIT 1", top - STRETCH)
        if oldest is None or int(oldest["at"]) < since:
            return
        top -= STRETCH


def _call(row: dict[str, Any]) -> PastCall | None:
    detail = json.loads(row["detail"])
    if row["event"] == "asked":
        if row["id"] is None or row["kind"] != "approval" or row["replaces"] is not None:
            return None
        id, tool, arguments = row["id"], row["tool"], row["arguments"]
    else:
        id, tool, arguments = f"#{row['n']}", detail["tool"], detail["arguments"]
    try:
        given = json.loads(arguments)
    except ValueError:
        return None  # a mask has cut into it
    return PastCall(
        id=id,
        was=_EVENTS[row["event"]],
        tool=tool,
        arguments=given,
        at=row["at"],
        requester=row["requester"],
        place=row["place"],
        within=row["within"],
        roles=frozenset(row["roles"].split()),
    )
