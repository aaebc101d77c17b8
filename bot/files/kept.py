"""Keeps what a write is about to replace, so that it can be taken back.

The bytes lie in a folder beside the database, one file each, readable by the bot's user alone and out of reach of every
tool: what a file held may be a secret, and goes into no row, card or log. The row, sealed, says where they belong. Both
are on the disk before the write begins; a copy that cannot be kept keeps the write from happening.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from bot.clock import Clock, NewId
from bot.deferral.seal import Seal
from bot.deferral.tool import Call, Overwriting
from bot.errors import NothingRan
from bot.texts.text import say
from bot.toolbox.undoing import mark
from storage import undo
from storage.database import Database, DatabaseError
from storage.undo import Undo

logger = logging.getLogger(__name__)

UNDO_FOLDER = "undo"
"""Beside the database."""
MOST_KEPT = 256_000_000
"""Bytes of all copies together; the oldest go first."""


class Kept:
    """The copies of one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        seal: Seal,
        folder: Path,
        root: Path,
        for_ms: int,
        most: int = MOST_KEPT,
    ) -> None:
        """`root` is the workspace; `for_ms` how long a copy is kept."""
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._seal = seal
        self._folder = folder
        self._root = str(root)
        self._for_ms = for_ms
        self._most = most
        self._swept = False
        self._fresh: set[str] = set()
        """Copies whose row may not be committed yet."""

    async def keep(self, call: Call, change: Overwriting) -> None:
        """See `bot.deferral.tool.Keep`."""
        id, before = self._new_id(), change.before
        one = Undo(
            id=id,
            approval=call.id if call.approved else None,
            call=call.id,
            run=call.run,
            root=self._root,
            path=change.path,
            before=None if before is None else mark(before),
            after=mark(change.after),
            size=len(before or b""),
            seal="",
            kept_at=self._clock.now(),
        )
        self._fresh.add(id)
        try:
            if before is not None:
                await anyio.to_thread.run_sync(self._put, id, before)
            async with self._database.begin("keep undo") as tx:
                await undo.keep(tx, _sealed(self._seal, one))
                gone = await undo.make_room(tx, most=self._most)
        except (OSError, DatabaseError) as error:
            logger.exception("no undo copy", extra={"action": "undo_not_kept", "call": call.id})
            await self.remove([id])
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise NothingRan(say("files.not_kept", why=why)) from None
        finally:
            self._fresh.discard(id)
        await self.remove(gone)

    def is_genuine(self, one: Undo) -> bool:
        """Whether the row is as this bot stored it, and about the workspace that there is now."""
        return one.root == self._root and self._seal.holds(one.seal, _sealed(self._seal, one).seal)

    def content(self, one: Undo) -> bytes | None:
        """What there was before the write; None: no file. Blocks. Raises OSError, also for a copy that was altered."""
        if one.before is None:
            return None
        handle = os.open(self._folder / one.id, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            data = file.read()
        if mark(data) != one.before:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data

    def is_there(self, one: Undo) -> bool:
        """Whether the bytes are, as they were kept. Blocks."""
        try:
            self.content(one)
        except OSError:
            logger.exception("undo copy unusable", extra={"action": "undo_copy_unusable", "undo": one.id})
            return False
        return True

    async def remove(self, ids: Iterable[str]) -> None:
        """Remove the bytes of copies that no row holds any more; what is left over goes at the next start."""
        await anyio.to_thread.run_sync(self._remove, list(ids))

    async def tidy(self) -> None:
        """Let go what is too old. At first also what a dead process left without a row. Part of the sweep."""
        before = self._clock.now() - self._for_ms
        if ids := await undo.older(self._database.reader, before=before):
            async with self._database.begin("drop undo copies") as tx:
                await undo.drop(tx, ids)
            await self.remove(ids)
        if not self._swept:
            self._swept = True
            there = await anyio.to_thread.run_sync(self._names)
            # In this order: what is there and not committed when it is looked for is fresh.
            fresh = frozenset(self._fresh)
            await self.remove(there - fresh - await undo.held(self._database.reader))

    def _put(self, id: str, data: bytes) -> None:
        """Whole and on the disk, before this returns."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._folder / id, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _names(self) -> frozenset[str]:
        try:
            return frozenset(os.listdir(self._folder))
        except FileNotFoundError:
            return frozenset()
        except OSError:
            logger.exception("undo copies not listed", extra={"action": "undo_folder_failed"})
            return frozenset()

    def _remove(self, ids: list[str]) -> None:
        for id in ids:
            try:
                (self._folder / id).unlink(missing_ok=True)
            except OSError:
                # It only takes room, and its row says that it is not held: no reason to fail what was done with it.
                logger.exception("undo copy not removed", extra={"action": "undo_not_removed", "undo": id})


def _sealed(seal: Seal, one: Undo) -> Undo:
    """The row with its seal: this call left that in this file, and there had been this."""
    made = seal.undo(one.id, one.call, one.root, one.path, one.before or "", one.after)
    return Undo(**{**one.__dict__, "seal": made})
