"""Whether a database can be trusted with the next write."""

from __future__ import annotations

import sqlite3

from storage.database import Reader


async def damage(reader: Reader) -> list[str]:
    """What is broken in the file, in the database's own words; empty when it is sound.

    `quick_check` reads every page (https://www.sqlite.org/pragma.html#pragma_quick_check).
    """
    try:
        rows = await reader.all("PRAGMA quick_check(5)")
    except sqlite3.DatabaseError as error:  # damaged beyond being checked
        return [str(error)]
    found = [str(next(iter(dict(row).values()))) for row in rows]
    return [] if found == ["ok"] else found
