"""Opens files below a directory and nowhere else, by handles and never by comparing path strings.

Between a check of a path and its use somebody may swap a directory for a link. So each component is opened relative
to the handle of the one before it, and no link is ever followed; what is checked is the opened thing itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

LONGEST_PATH = 1024
LONGEST_NAME = 255  # NAME_MAX in limits.h
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not wait for somebody to open its other end.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Refused(Exception):
    """This path is not for the tools; `str()` is one sentence that says why. `missing`: because nothing is there."""

    def __init__(self, sentence: str, *, missing: bool = False) -> None:
        self.missing = missing
        super().__init__(sentence)


def components(path: str) -> tuple[str, ...]:
    """The names in a path below the workspace; none for `.`. Raises `Refused` for any path that could lead out."""
    if not path:
        raise Refused("The path is empty.")
    if "\0" in path:
        raise Refused("The path contains a NUL character.")
    if len(path) > LONGEST_PATH:
        raise Refused(f"The path is longer than {LONGEST_PATH} characters.")
    if path.startswith("/"):
        raise Refused("The path is absolute; give it relative to the workspace.")
    if path.startswith("~"):
        raise Refused("The path begins with ~; give it relative to the workspace.")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if any(len(os.fsencode(name)) > LONGEST_NAME for name in names):
        raise Refused(f"A name in the path is longer than {LONGEST_NAME} bytes.")
    if ".." in names:
        raise Refused("The path contains `..`; only what is below the workspace can be reached.")
    return names


@contextlib.contextmanager
def directory(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """A handle of the directory `names` below `root`, with missing ones made if `create`.

    Raises `Refused` for links and for what is not there, and OSError.
    """
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Refused("The workspace does not exist.") from None
    try:
        for done, name in enumerate(names, start=1):
            made = create and _made(handle, name)
            with refusals("/".join(names[:done])):
                below = os.open(name, DIRECTORY, dir_fd=handle)
            if made:
                same_owner(below, handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _made(handle: int, name: str) -> bool:
    try:
        os.mkdir(name, dir_fd=handle)
    except FileExistsError:
        return False
    return True


def same_owner(new: int, parent: int) -> None:
    """When this program is root, give what it has made to the owner of the directory it lies in.

    The sandbox's commands do not run as root, and are to work with these files.
    """
    if os.geteuid() == 0:
        owner = os.fstat(parent)
        os.fchown(new, owner.st_uid, owner.st_gid)


@contextlib.contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn what opening `path` can fail with into `Refused`."""
    try:
        yield
    except FileNotFoundError:
        raise Refused(f"There is no `{path}` in the workspace.", missing=True) from None
    except NotADirectoryError:
        # Also what a link gives when a directory is asked for (open(2), O_NOFOLLOW with O_DIRECTORY).
        raise Refused(f"`{path}` is not a directory, or is a link; links are not followed.") from None
    except IsADirectoryError:
        raise Refused(f"`{path}` is a directory.") from None
    except PermissionError:
        raise Refused(f"`{path}` may not be accessed.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"`{path}` is a link; links are not followed.") from None
        if error.errno == errno.ENXIO:  # a socket (open(2))
            raise Refused(f"`{path}` is not an ordinary file.") from None
        raise Refused(f"`{path}` cannot be used: {error.strerror}.") from None


def ordinary(found: os.stat_result, path: str) -> os.stat_result:
    """`found`, if it describes a regular file with this one name only. Raises `Refused`.

    A second name (a hard link) may lie outside the workspace.
    """
    if stat.S_ISLNK(found.st_mode):
        raise Refused(f"`{path}` is a link; links are not followed.")
    if stat.S_ISDIR(found.st_mode):
        raise Refused(f"`{path}` is a directory.")
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"`{path}` is not an ordinary file.")
    if found.st_nlink != 1:
        raise Refused(f"`{path}` has more than one name (hard links), so it may lie outside the workspace.")
    return found
