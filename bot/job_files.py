"""The files that a job made, for people: attached to its ending when they are few and small, and to fetch at its card.

What `write_file` wrote is the job's for certain. Of commands nobody can say that; what changed below the workspace
while one of the job's ran is offered as well. Everything is read at the moment it is offered, and what is secret in
a text is masked in it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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

_WRITES = "write_file"
_COMMANDS = ("shell", "execute_code")
_HISTORY = 1_000


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
        """All of them by name; with what they hold if they are few and small."""
        found = await self.of(run)
        if len(found) > ATTACHED or any(one.size > SMALL for one in found):
            return found
        return tuple([await self._read(one) for one in found])

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
        began = await calls.ran(self._database.reader, run.id, (_WRITES, *_COMMANDS))
        paths = {str(call.arguments.get("path", "")) for call in began if call.tool == _WRITES}
        paths |= set(await self._written(run, {call.call_id for call in began}))
        now = self._clock.now()
        windows = [(call.started_at, call.finished_at or now) for call in began if call.tool in _COMMANDS]
        paths |= set(await anyio.to_thread.run_sync(lambda: made.changed(self._workspace, windows, most=MOST)))
        sizes = await anyio.to_thread.run_sync(
            lambda: {path: made.size_of(self._workspace, path) for path in sorted(paths)}
        )
        return tuple([Offered(path=path, size=size) for path, size in sizes.items() if size is not None][:MOST])

    async def _written(self, run: Run, known: set[str]) -> list[str]:
        """Paths of `write_file` calls that a rule allowed; of the others, `known`, the rows say what was signed off."""
        bodies = await conversations.of_run(self._database.reader, run.conversation, run=run.id, last=_HISTORY)
        return [
            str(arguments["path"])
            for call_id, arguments in transcript.succeeded(bodies, _WRITES)
            if call_id not in known and "path" in arguments
        ]

    async def _read(self, one: Offered) -> Offered:
        body = await anyio.to_thread.run_sync(lambda: made.read(self._workspace, one.path, most=LARGEST))
        if body is None:
            return one
        with suppress(UnicodeDecodeError):  # what is no text has nothing that could be read in it, nor masked
            body = self._mask(body.decode()).encode()
        return Offered(path=one.path, size=one.size, body=body)
