"""What one call hands to its child by descriptor: no name on disk stands between what was meant and what runs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO

logger = logging.getLogger(__name__)


@dataclass
class Handed:
    """What one call hands to its child by descriptor: its files, its stdin, and the sandbox's own account."""

    status_read: int = -1
    status_writes: tuple[int, ...] = ()
    """One for each launcher, which closes it before it starts anything; all are the same pipe."""
    stdin: IO[bytes] | None = None
    data: dict[str, IO[bytes]] = field(default_factory=dict)
    _reported: bytes = b""

    def __enter__(self) -> Handed:
        self.status_read, write = os.pipe()
        self.status_writes = (write,)
        return self

    def another_status_write(self) -> int:
        """A descriptor for one more launcher."""
        self.status_writes = (*self.status_writes, os.dup(self.status_writes[0]))
        return self.status_writes[-1]

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.status_read)
        self.close_status_writes()
        for handle in (self.stdin, *self.data.values()):
            if handle is not None:
                handle.close()

    def close_status_writes(self) -> None:
        """Once the launchers run: the account ends when the last of them does, so nobody else may hold it open."""
        for fd in self.status_writes:
            os.close(fd)
        self.status_writes = ()

    def inherited(self, *, status: bool) -> tuple[int, ...]:
        """The descriptors, besides stdin, that the child must get."""
        return (*self.fds().values(), *(self.status_writes if status else ()))

    def fds(self) -> dict[str, int]:
        """The descriptor behind each path."""
        return {path: handle.fileno() for path, handle in self.data.items()}

    async def status(self, *, within: float) -> dict[str, int]:
        """All that bubblewrap reported: `child-pid` once there was one, `exit-code` once the command ended.

        Of the two launchers that a root bot needs, the outer one is the first to name its child.

        To be asked when the launcher has ended. Waits until nobody can report any more, which is when all that
        bubblewrap had started before the sandbox was ready has ended too; at most `within` seconds.
        """
        self.close_status_writes()
        os.set_blocking(self.status_read, False)
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self.status_read, readable.set)
        try:
            async with asyncio.timeout(within):
                while piece := await self._next_piece(readable):
                    self._reported += piece
        except TimeoutError:
            logger.error("a killed sandbox is still being set up", extra={"action": "sandbox_lives"})
        finally:
            loop.remove_reader(self.status_read)
        return _first_of_each(self._reported.decode())

    async def _next_piece(self, readable: asyncio.Event) -> bytes:
        while True:
            try:
                return os.read(self.status_read, 65_536)
            except BlockingIOError:
                readable.clear()
                await readable.wait()


def _first_of_each(reported: str) -> dict[str, int]:
    """The values of the objects that were reported one after the other."""
    told: dict[str, int] = {}
    read = json.JSONDecoder().raw_decode
    while reported := reported.strip():
        found, end = read(reported)
        told = found | told
        reported = reported[end:]
    return told


def unnamed(content: bytes) -> IO[bytes]:
    """A file without a name that holds `content`: nothing on disk can be swapped for it."""
    handle = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `Handed` closes it
    handle.write(content)
    handle.seek(0)
    return handle
