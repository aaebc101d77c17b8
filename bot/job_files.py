"""The files that a job made, for people: attached to its ending when they are few and small, and to fetch at its card.

What `write_file` and `edit_file` wrote is the job's for certain. Of commands nobody can say that: in a workspace that
others write to as well, what changed while one of the job's ran may be somebody else's. So that is named, and handed
over only in private, at the card. Everything is read at the moment it is offered, and what is secret in it is masked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from posixpath import normpath

import anyio.to_thread

from bot.agent import transcript
from bot.clock import Clock
from bot.surface import Offered
from bot.toolbox import made
from storage import conversations
from storage import made as calls
from storage.database import Database
from storage.runs import Run

MOST = 20
"""Files of one job that are offered."""
ATTACHED = 3
"""So few are attached to the ending, if they are small."""
SMALL = 256 * 1024
"""Bytes of one that is attached to the ending."""
FETCHED = 10
"""Files that one press brings; Discord takes as many in a message."""
LARGEST = 8 * 1024 * 1024
"""Bytes of all that one press brings; Discord takes 10 MiB where nobody has paid for more."""

_WRITES = ("write_file", "edit_file")
_COMMANDS = ("shell", "execute_code")
_HISTORY = 1_000
_LONGEST_WRITE_MS = 60_000
"""Writes of others that began so long before a command may have been at work in it."""


class JobFiles:
    """Finds and reads them, for one process."""

    def __init__(self, *, database: Database, clock: Clock, workspace: Path, mask: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._workspace = workspace
        self._mask = mask

    async def any(self, run: Run) -> bool:
        """Whether there are any."""
        return bool(await self.of(run))

    async def with_ending(self, run: Run) -> tuple[Offered, ...]:
        """All of them by name; with what they hold those that it wrote itself, if they are few and small."""
        written, found = await self._found(run)
        own = [one for one in found if one.path in written]
        if len(own) > ATTACHED or any(one.size > SMALL for one in own):
            return found
        return tuple([await self._read(one) if one in own else one for one in found])

    async def fetched(self, run: Run) -> tuple[Offered, ...]:
        """All of them by name, with what they hold as far as one message can carry it."""
        left, given = LARGEST, 0
        found: list[Offered] = []
        for one in await self.of(run):
            if one.size <= left and given < FETCHED:
                one = await self._read(one)
                given, left = given + 1, left - len(one.body or b"")
            found.append(one)
        return tuple(found)

    async def of(self, run: Run) -> tuple[Offered, ...]:
        """What there is now of what the job made, by path."""
        return (await self._found(run))[1]

    async def _found(self, run: Run) -> tuple[set[str], tuple[Offered, ...]]:
        """The paths that it wrote itself, and everything that is offered."""
        began = await calls.ran(self._database.reader, run.id, (*_WRITES, *_COMMANDS))
        now = self._clock.now()
        wrote = dict.fromkeys(await self._allowed(run, {call.call_id for call in began}), run.created_at)
        wrote |= {
            normpath(str(call.arguments.get("path", ""))): call.started_at
            for call in began
            if call.tool in _WRITES and call.succeeded
        }
        windows = [(call.started_at, call.finished_at or now) for call in began if call.tool in _COMMANDS]
        since = min([*wrote.values(), *(begin for begin, _end in windows)], default=now)
        others = [
            (normpath(str(call.arguments.get("path", ""))), call.started_at)
            for call in await calls.beside(self._database.reader, run.id, _WRITES, since=since - _LONGEST_WRITE_MS)
        ]
        # What somebody wrote over it is not this job's any more.
        written = {path for path, at in wrote.items() if not any(path == one and at <= begun for one, begun in others)}
        theirs = {
            path
            for path, begun in others
            if path not in written and any(begin - _LONGEST_WRITE_MS <= begun <= end for begin, end in windows)
        }
        changed = await anyio.to_thread.run_sync(lambda: made.changed(self._workspace, windows, most=MOST, but=theirs))
        sizes = await anyio.to_thread.run_sync(
            lambda: {path: made.size_of(self._workspace, path) for path in sorted(written.union(changed))}
        )
        # A name that holds a secret cannot be told, and by another name nobody would find the file.
        offered = [
            Offered(path=path, size=size)
            for path, size in sizes.items()
            if size is not None and self._mask(path) == path
        ]
        return written, tuple(offered[:MOST])

    async def _allowed(self, run: Run, known: set[str]) -> list[str]:
        """Paths of writes that a rule allowed; of the others, `known`, the rows say what was signed off."""
        bodies = await conversations.of_run(self._database.reader, run.conversation, run=run.id, last=_HISTORY)
        return [
            normpath(str(arguments["path"]))
            for tool in _WRITES
            for call_id, arguments in transcript.succeeded(bodies, tool)
            if call_id not in known and "path" in arguments
        ]

    async def _read(self, one: Offered) -> Offered:
        body = await anyio.to_thread.run_sync(lambda: self._masked(one.path))
        return one if body is None else Offered(path=one.path, size=one.size, body=body)

    def _masked(self, path: str) -> bytes | None:
        """What the file holds. A secret can stand in what is no text as well: every byte is looked at, and kept."""
        body = made.read(self._workspace, path, most=LARGEST)
        if body is None:
            return None
        return self._mask(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
