"""Messages that people want to ask about: what they said, from the form that was opened on one to its submit.

The form's submit does not bring the message again, and it may come after a restart. So it is kept here meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storage.database import Reader, Transaction


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """One message as it was when the form was opened on it. `at` is in milliseconds UTC."""

    id: str
    person: str
    """Who opened the form, and alone may submit it."""
    place: str
    message: str
    author: str
    """Who wrote it, in words."""
    body: str
    """What stands in it; '' if it is nothing but files."""
    files: tuple[Mapping[str, Any], ...]
    """What hangs on it, as the face describes it."""
    at: int


async def keep(tx: Transaction, clipping: Clipping) -> None:
    """Store it. The same opening a second time changes nothing."""
    await tx.execute(
        "INSERT INTO clipping (id, person, place, message, author, body, files, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        clipping.id,
        clipping.person,
        clipping.place,
        clipping.message,
        clipping.author,
        clipping.body,
        json.dumps(list(clipping.files), ensure_ascii=False),
        clipping.at,
    )


async def get(reader: Reader, id: str) -> Clipping | None:
    """One, or None."""
    row = await reader.one("SELECT * FROM clipping WHERE id = ?", id)
    return None if row is None else Clipping(**{**dict(row), "files": tuple(json.loads(row["files"]))})


async def any_older(reader: Reader, *, before: int) -> bool:
    """Whether there is anything to `forget`."""
    return await reader.one("SELECT 1 FROM clipping WHERE at < ? LIMIT 1", before) is not None


async def forget(tx: Transaction, *, before: int) -> None:
    """Drop those that are older: nobody submits such a form any more."""
    await tx.execute("DELETE FROM clipping WHERE at < ?", before)
