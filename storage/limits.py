"""How much is under way: counted no further than a limit asks, so that it costs the same however much waits."""

from __future__ import annotations

from storage.database import Reader

_ASKED = "kind <> 'external'"
"""What waits for people; the rest waits for a program."""


async def asked_by(reader: Reader, run: str) -> int:
    """How many decisions a run has asked people for, those that were made included. One asked anew counts
    once, and one that a grant let through not at all."""
    row = await reader.one(
        f"SELECT count(*) AS n FROM approval WHERE run = ? AND {_ASKED} AND replaces IS NULL AND granted IS NULL",
        run,
    )
    return int(row["n"]) if row else 0


async def waiting_of(reader: Reader, person: str, *, most: int) -> int:
    """How many calls of the person's requests wait for a decision; no more than `most` are counted."""
    return await _count(reader, "requester = ?", most, person)


async def waiting_below(reader: Reader, places: str, *, most: int) -> int:
    """The same of all places that begin with `places/`."""
    return await _count(reader, "place >= ? AND place < ?", most, f"{places}/", f"{places}0")  # `0` comes after `/`


async def _count(reader: Reader, where: str, most: int, *parameters: object) -> int:
    row = await reader.one(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM approval WHERE state = 'pending' AND {where} AND {_ASKED} LIMIT ?)",
        *parameters,
        most,
    )
    return int(row["n"]) if row else 0
