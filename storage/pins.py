"""Definitions of tools that come from outside, as they were when somebody last took them for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage import audit
from storage.database import Reader, Transaction


@dataclass(frozen=True, kw_only=True)
class Pin:
    """One tool's pinned definition. Times are milliseconds UTC."""

    server: str
    tool: str
    """The server's own name for it."""
    definition: str
    hash: str
    """SHA-256 of the definition."""
    pinned_at: int
    pinned_by: str
    """A call that somebody approved with the change in view, or `SYSTEM` when the server was new."""


async def of_server(reader: Reader, server: str) -> list[Pin]:
    """Every pinned tool of a server, by name."""
    rows = await reader.all("SELECT * FROM pin WHERE server = ? ORDER BY tool", server)
    return [Pin(**row) for row in rows]


async def every(reader: Reader) -> list[Pin]:
    """Every pin there is."""
    return [Pin(**row) for row in await reader.all("SELECT * FROM pin ORDER BY server, tool")]


async def put(tx: Transaction, pins: Sequence[Pin], *, approval: str | None = None) -> None:
    """Pin definitions, in the place of older ones; on the trail."""
    for pin in pins:
        await tx.execute(
            "INSERT INTO pin (server, tool, definition, hash, pinned_at, pinned_by) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (server, tool) DO UPDATE SET definition = excluded.definition, hash = excluded.hash,"
            " pinned_at = excluded.pinned_at, pinned_by = excluded.pinned_by",
            pin.server,
            pin.tool,
            pin.definition,
            pin.hash,
            pin.pinned_at,
            pin.pinned_by,
        )
        await audit.record(
            tx,
            at=pin.pinned_at,
            actor=audit.SYSTEM,
            event="pinned",
            approval=approval,
            detail={"tool": f"{pin.server}_{pin.tool}", "hash": pin.hash},
        )
