"""What people attached to requests, from the commit that stores the run to the one in which the conversation has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.database import Reader, Transaction

LANDED = "inode/file"
"""Of a file that was put into the workspace: its `body` says where it lies, and how large it is."""


@dataclass(frozen=True, kw_only=True)
class Attached:
    """One file or text that came with a request."""

    name: str
    media_type: str
    body: str
    """A text as it is; an image in base64; see also `LANDED`."""

    @property
    def is_image(self) -> bool:
        """Whether `body` is an image."""
        return self.media_type.startswith("image/")


async def put(tx: Transaction, run: str, attached: Sequence[Attached]) -> None:
    """Store what came with a run, in the commit that stores the run."""
    for n, one in enumerate(attached):
        await tx.execute(
            "INSERT INTO attachment (run, n, name, media_type, body) VALUES (?, ?, ?, ?, ?)",
            run,
            n,
            one.name,
            one.media_type,
            one.body,
        )


async def of(reader: Reader, run: str) -> list[Attached]:
    """What came with a run and is not in its conversation yet, in order."""
    rows = await reader.all("SELECT name, media_type, body FROM attachment WHERE run = ? ORDER BY n", run)
    return [Attached(**dict(row)) for row in rows]


async def forget(tx: Transaction, run: str) -> None:
    """The conversation has it, or the run has ended without."""
    await tx.execute("DELETE FROM attachment WHERE run = ?", run)
