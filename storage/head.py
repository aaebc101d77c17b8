"""How far the trail goes, written down once more outside the database: so that an end that was cut off is noticed.

Whoever writes to the database can make a chain of hashes anew, from any row to its end. They cannot make one that
agrees with a file they did not write. The file is the newest of a few seconds; what was cut off within them is not
noticed, and neither is anything if somebody can write both.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from storage.database import Reader

logger = logging.getLogger(__name__)


class HeadUnreadable(Exception):
    """The file is there and does not say how far the trail goes."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """An entry of the trail: that there is one of this number, with this hash."""

    n: int
    hash: str


def path_of(database: Path) -> Path:
    """The file that belongs to a database file."""
    return database.with_suffix(".head")


def read(path: Path) -> Mark | None:
    """What the file says, or None if there is none. Raises `HeadUnreadable`."""
    try:
        stored = json.loads(path.read_text(encoding="ascii"))
        return Mark(n=int(stored["n"]), hash=str(stored["hash"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HeadUnreadable(f"{path} cannot be read ({error})") from error


async def broken_at(reader: Reader, path: Path) -> int | None:
    """The number of the first entry that is missing or another one, by what the file says; None if it agrees.

    Raises `HeadUnreadable`.
    """
    mark = read(path)
    return None if mark is None else await _broken_at(reader, mark)


class Head:
    """Keeps the file, for the one process that writes the database."""

    def __init__(self, reader: Reader, database: Path) -> None:
        self._reader = reader
        self._path = path_of(database)
        self._noted: Mark | None = None
        self._disagrees = False

    async def note(self) -> None:
        """Write down the newest entry. Part of the sweep.

        Not over a file that the trail does not agree with: that is what tells of it. It is said in the log, once.
        """
        row = await self._reader.one("SELECT n, hash FROM audit WHERE n = (SELECT max(n) FROM audit)")
        newest = None if row is None else Mark(n=int(row["n"]), hash=str(row["hash"]))
        if self._disagrees or (newest == self._noted and self._noted is not None):
            return
        try:
            before = self._noted or read(self._path)
            at = None if before is None else await _broken_at(self._reader, before)
        except HeadUnreadable as error:
            self._refuse(str(error))
            return
        if at is not None:
            self._refuse(f"the trail is not what it was at entry {at}")
        elif newest is not None:
            self._write(newest)
            self._noted = newest

    def _refuse(self, problem: str) -> None:
        self._disagrees = True
        logger.error(
            "%s; see `signoff audit verify`. If a backup was put back, move %s away and start again",
            problem,
            self._path,
            extra={"action": "trail_disagrees"},
        )

    def _write(self, mark: Mark) -> None:
        """Whole or not at all. Not forced to the disk: after a power cut an older one is as true."""
        draft = self._path.with_name(f"{self._path.name}.new")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(json.dumps({"n": mark.n, "hash": mark.hash}) + "\n")
        draft.replace(self._path)


async def _broken_at(reader: Reader, mark: Mark) -> int | None:
    row = await reader.one("SELECT hash FROM audit WHERE n = ?", mark.n)
    if row is not None:
        return None if row["hash"] == mark.hash else mark.n
    last = await reader.one("SELECT max(n) AS n FROM audit")
    return min(mark.n, int((last or {"n": None})["n"] or 0) + 1)
