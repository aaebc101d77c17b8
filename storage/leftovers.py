"""What a process that is gone has left open: looked at before anything of it is made good."""

from __future__ import annotations

from dataclasses import dataclass

from storage.approvals import Approval, read
from storage.database import Reader

MOST = 10
"""Calls that are fetched one by one; all of them are counted."""


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """How much of each."""

    waiting: int
    """Calls that wait for people, and still can."""
    overdue: int
    """Calls whose deadline passed while nobody was there."""
    approved: int
    """Calls that were signed off and not begun."""
    running: int
    """Calls that were begun: nobody knows how far they got."""
    interrupted: tuple[Approval, ...]
    """The first of them."""
    turns: int
    """Turns that are gone on with."""
    jobs: int
    """Background jobs that are gone on with."""
    lost: int
    """Turns and jobs that are given up: a process died over them once before."""
    unsent: int
    """Messages that people are owed."""


async def look(reader: Reader, *, owner: str, now: int, most_losses: int) -> Leftovers:
    """Everything that no process works on: `owner` is the one that has just begun."""
    calls = await reader.one(
        "SELECT count(*) FILTER (WHERE state = 'pending' AND expires_at > ?) AS waiting,"
        " count(*) FILTER (WHERE state = 'pending' AND expires_at <= ?) AS overdue,"
        " count(*) FILTER (WHERE state = 'approved') AS approved,"
        " count(*) FILTER (WHERE state = 'running' AND owner <> ?) AS running"
        " FROM approval WHERE state IN ('pending', 'approved', 'running')",
        now,
        now,
        owner,
    )
    broken = await reader.all(
        "SELECT * FROM approval WHERE state = 'running' AND owner <> ? ORDER BY started_at, id LIMIT ?", owner, MOST
    )
    runs = await reader.one(
        "SELECT count(*) FILTER (WHERE kind = 'turn' AND NOT given_up) AS turns,"
        " count(*) FILTER (WHERE kind = 'job' AND NOT given_up) AS jobs,"
        " count(*) FILTER (WHERE given_up) AS lost"
        " FROM (SELECT kind, state = 'running' AND losses >= ? AS given_up FROM run"
        " WHERE state = 'queued' OR (state = 'running' AND owner <> ?)) AS open_run",
        most_losses,
        owner,
    )
    owed = await reader.one(
        "SELECT count(*) AS n FROM outbox WHERE (state = 'pending' OR state = 'attempting') AND due_at <= ?", now
    )
    found = {**(dict(calls) if calls else {}), **(dict(runs) if runs else {})}
    return Leftovers(
        **{name: int(value) for name, value in found.items()},
        interrupted=tuple(read(row) for row in broken),
        unsent=int(owed["n"]) if owed else 0,
    )
