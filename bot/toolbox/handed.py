"""What one call hands to its child by descriptor: no name on disk stands between what was meant and what runs."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO


@dataclass
class Handed:
    """What one call hands to its child by descriptor: its files, its stdin, and the sandbox's own account."""

    status_read: int = -1
    status_write: int = -1
    stdin: IO[bytes] | None = None
    data: dict[str, IO[bytes]] = field(default_factory=dict)

    def __enter__(self) -> Handed:
        self.status_read, self.status_write = os.pipe()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.status_read)
        self.close_status_write()
        for handle in (self.stdin, *self.data.values()):
            if handle is not None:
                handle.close()

    def close_status_write(self) -> None:
        if self.status_write >= 0:
            os.close(self.status_write)
            self.status_write = -1

    def inherited(self, *, status: bool) -> tuple[int, ...]:
        """The descriptors, besides stdin, that the child must get."""
        return (*self.fds().values(), self.status_write) if status else tuple(self.fds().values())

    def fds(self) -> dict[str, int]:
        """The descriptor behind each path."""
        return {path: handle.fileno() for path, handle in self.data.items()}

    def status(self) -> dict[str, int]:
        """What bubblewrap has reported so far: `child-pid` once there is one, `exit-code` once the command ended."""
        os.set_blocking(self.status_read, False)
        told: dict[str, int] = {}
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self.status_read, 65_536).splitlines():
                told.update(json.loads(line))
        return told


def unnamed(content: bytes) -> IO[bytes]:
    """A file without a name that holds `content`: nothing on disk can be swapped for it."""
    handle = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `Handed` closes it
    handle.write(content)
    handle.seek(0)
    return handle
