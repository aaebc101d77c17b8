"""Puts files that people attach into the workspace: in one folder, under safe names, within limits, over nothing.

What counts is what comes, not what was said of it: a file is counted while it is written, and one that grows beyond its
limit is gone again. Nothing is opened, unpacked or run. Where a file lies the model is told, and that it is no one's
instruction.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import anyio.to_thread

from bot.clock import NewId
from bot.files.names import numbered, safe_name
from bot.texts.text import Text, say
from bot.toolbox.beneath import Refused, directory, same_owner
from storage.attachments import LANDED, Attached

FOLDER = "uploads"
"""Below the workspace."""
MOST_AT_ONCE = 10
"""Files of one message; Discord takes as many."""
MOST_KEPT = 1_000
"""Files in the folder."""
_UNFINISHED = ".unfinished-"
_MOST_NUMBERED = 1_000
_MEGABYTE = 1_000_000


class NotTaken(Exception):
    """The file does not go into the workspace; `why` is half a sentence for people."""

    def __init__(self, why: Text) -> None:
        self.why = why
        super().__init__(why)


class Uploads:
    """The folder of uploads, for one process."""

    def __init__(self, workspace: Path, each: int, all: int, new_id: NewId) -> None:
        """`each` is the most megabytes of one file (0: none lands at all), `all` those of everything in the folder."""
        self._workspace = workspace
        self._each, self._all = each * _MEGABYTE, all * _MEGABYTE
        self._new_id = new_id
        self._reserved = 0
        """Bytes that files which are being written may still take."""
        self._swept = False

    @property
    def on(self) -> bool:
        """Whether files land at all."""
        return self._each > 0

    async def begin(self, name: str, *, size: int) -> Landing:
        """Begin to write a file that somebody calls `name` and says to have `size` bytes. Raises `NotTaken`."""
        if size > self._each:
            raise NotTaken(self.too_large)
        try:
            taken, count = await anyio.to_thread.run_sync(self._taken)
            room = self._all - taken - self._reserved
            if count >= MOST_KEPT or room < max(1, size):
                raise NotTaken(say("files.folder_full", folder=FOLDER))
            landing = Landing(self, most=min(self._each, room), name=safe_name(name), unique=self._new_id())
            self._reserved += landing.most
            try:
                await anyio.to_thread.run_sync(landing.open, self._workspace)
            except BaseException:
                self._reserved -= landing.most
                raise
        except (Refused, OSError) as error:
            raise NotTaken(say("files.not_stored", why=_why(error))) from error
        return landing

    def ended(self, landing: Landing) -> None:
        """The file is there, or it is not: what was reserved for it is free. Called by `Landing`."""
        self._reserved -= landing.most

    @property
    def too_large(self) -> Text:
        """Why a file that is too large does not land."""
        return say("attachments.too_large", n=self._each // 1_000)

    def _taken(self) -> tuple[int, int]:
        """Bytes and number of the files there. At first, what a dead process did not finish is removed."""
        size = count = 0
        with directory(self._workspace, [FOLDER], create=True) as folder, os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(_UNFINISHED) and not self._swept:
                    os.unlink(entry.name, dir_fd=folder)
                    continue
                count += 1
                if entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_size
        self._swept = True
        return size, count


class Landing:
    """One file on its way into the folder. It ends with `finish` or with `drop`."""

    def __init__(self, uploads: Uploads, *, most: int, name: str, unique: str) -> None:
        self._uploads = uploads
        self.most = most
        self._name = name
        self._unfinished = f"{_UNFINISHED}{unique}"
        self._folder = self._file = -1
        self._size = 0

    def open(self, workspace: Path) -> None:
        """Make the file. Blocks; raises `Refused`, OSError."""
        with directory(workspace, [FOLDER], create=True) as folder:
            self._folder = os.dup(folder)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._unfinished, flags, 0o644, dir_fd=self._folder)
            same_owner(self._file, self._folder)
        except BaseException:
            self._close()
            raise

    async def write(self, chunk: bytes) -> None:
        """More of it. Raises `NotTaken` when that is too much, or cannot be stored; it is gone then."""
        self._size += len(chunk)
        problem: Text | None = self._uploads.too_large if self._size > self.most else None
        if problem is None:
            try:
                await anyio.to_thread.run_sync(self._write, chunk)
            except OSError as error:
                problem = say("files.not_stored", why=_why(error))
        if problem is not None:
            await self.drop()
            raise NotTaken(problem)

    async def finish(self, said: str) -> Attached:
        """It is whole: give it its name. What the model is told of the file that people call `said`.

        Raises `NotTaken`.
        """
        try:
            path = await anyio.to_thread.run_sync(self._settle)
        except OSError as error:
            raise NotTaken(say("files.not_stored", why=_why(error))) from error
        finally:
            await self.drop()
        return Attached(name=said, media_type=LANDED, body=f"{path} ({self._size} bytes)")

    async def drop(self) -> None:
        """Leave nothing of it behind but what `finish` has named. Safe to repeat."""
        if self._folder >= 0:
            await anyio.to_thread.run_sync(self._remove)
            self._uploads.ended(self)

    def _write(self, chunk: bytes) -> None:
        while chunk:
            chunk = chunk[os.write(self._file, chunk) :]

    def _settle(self) -> str:
        os.fsync(self._file)
        for number in range(1, _MOST_NUMBERED):
            name = numbered(self._name, number)
            try:
                # A link never takes the place of a file that is there; its second name goes in `drop`.
                os.link(self._unfinished, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
            except FileExistsError:
                continue
            return f"{FOLDER}/{name}"
        raise FileExistsError

    def _remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._unfinished, dir_fd=self._folder)
        self._close()

    def _close(self) -> None:
        for handle in (self._file, self._folder):
            if handle >= 0:
                os.close(handle)
        self._file = self._folder = -1


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
