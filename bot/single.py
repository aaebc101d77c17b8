"""One process to a database, one process to a token.

Two processes on the same rows would run what the other is running and call each other dead; two on the same
token would answer every press twice. Both are kept out by locks of the operating system, which end with the process
that holds them, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import StartError


def data_lock(database: Path) -> Path:
    """The lock that goes with a database file: beside it, the same by whatever link it is reached."""
    real = database.resolve()
    return real.with_name(real.name + ".lock")


def token_lock(token: str) -> Path:
    """The lock that goes with a token, for all processes of this user. Its name does not give the token away.

    Raises `StartError` if the folder for such locks is somebody else's.
    """
    folder = Path(tempfile.gettempdir()) / f"signoff-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StartError(f"The folder {folder} for locks cannot be made ({error.strerror}).") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise StartError(f"{folder} should be a folder of this user's, for locks, and is not; have it removed.")
    return folder / f"token-{hashlib.sha256(token.encode()).hexdigest()[:24]}.lock"


@contextmanager
def hold(lock: Path, *, what: str, advice: str) -> Iterator[None]:
    """Hold `lock` until the block ends. Raises `StartError` if another process does.

    `what` and `advice` make its sentence: "Another signoff (process 12) is already using `what`; `advice`."
    """
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StartError(f"The lock {lock} cannot be opened ({error.strerror}).") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(f"Another signoff ({_holder(lock)}) is already using {what}; {advice}.") from None
        except OSError as error:
            raise StartError(f"{lock} cannot be locked ({error.strerror}): is it on a network drive?") from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        # The file stays: removing it would let a third process lock a file that no fourth one finds.
        yield
    finally:
        os.close(descriptor)


def holder(lock: Path) -> str | None:
    """Who holds `lock` at this moment, as `process 12`, or None. Does not take it."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(lock)
    finally:
        os.close(descriptor)
    return None


def _holder(lock: Path) -> str:
    try:
        written = lock.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        written = ""
    return f"process {written}" if written.isdigit() else "its process is not known"
