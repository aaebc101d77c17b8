"""What a run has done in the stretch that it is in: written as it happens, so that a restart takes up behind it.

Only ever appended to, so that a step costs what it adds however long the stretch has become. The rows go when the
stretch ends, in the commit that ends it (`storage/runs.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.database import Reader, Transaction


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What is recorded of a stretch that has not ended."""

    length: int
    """The conversation's length where the stretch began."""
    turned_away: int
    """Calls of it that were answered in place of a card."""
    bodies: list[str]
    """Its messages in order, each as JSON."""


async def keep(
    tx: Transaction,
    run: str,
    *,
    owner: str,
    length: int,
    after: int,
    bodies: Sequence[str],
    turned_away: int,
) -> bool:
    """Append messages behind the first `after` of the stretch; the same ones again change nothing.

    False, and nothing is kept, if `owner` does not hold the run (any more).
    """
    held = await tx.one("SELECT 1 AS one FROM run WHERE id = ? AND state = 'running' AND owner = ?", run, owner)
    if held is None:
        return False
    for n, body in enumerate(bodies, start=after):
        await tx.execute(
            "INSERT INTO step (run, n, length, turned_away, body) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (run, n) DO UPDATE SET turned_away = excluded.turned_away, body = excluded.body",
            run,
            n,
            length,
            turned_away,
            body,
        )
    return True


async def of(reader: Reader, run: str) -> Recorded | None:
    """What is recorded of the run's stretch, or None."""
    rows = await reader.all("SELECT length, turned_away, body FROM step WHERE run = ? ORDER BY n", run)
    if not rows:
        return None
    last = rows[-1]
    return Recorded(length=last["length"], turned_away=last["turned_away"], bodies=[row["body"] for row in rows])


async def clear(tx: Transaction, run: str) -> None:
    """The stretch is over, or is begun again from its beginning."""
    await tx.execute("DELETE FROM step WHERE run = ?", run)
