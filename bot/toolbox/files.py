"""The tools `read_file`, `list_files` and `write_file`: the workspace, and nothing but the workspace."""

from __future__ import annotations

import codecs
import contextlib
import os
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import AfterValidator, Field

from bot.clock import NewId
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox.beneath import READ, Refused, components, directory, ordinary, refusals, same_owner
from bot.toolbox.bound import file_mark
from bot.toolbox.diffs import written_over

MOST_READ = 100_000
"""How many bytes of a file the model gets to see."""
MOST_WRITTEN = 1_000_000
"""The most characters one call writes."""
MOST_LISTED = 500
PROFILE = "in-process, the workspace only"


def _inside(path: str) -> str:
    try:
        components(path)
    except Refused as refusal:
        raise ValueError(str(refusal)) from None
    return path


def _a_name(path: str) -> str:
    if not components(_inside(path)) or path.endswith("/"):
        raise ValueError("The path names a directory, not a file.")
    return path


Directory = Annotated[str, AfterValidator(_inside)]
File = Annotated[str, AfterValidator(_a_name)]


class ReadArguments(Arguments):
    """What `read_file` takes."""

    path: File


class ListArguments(Arguments):
    """What `list_files` takes."""

    path: Directory = "."


class WriteArguments(Arguments):
    """What `write_file` takes."""

    path: File
    content: Annotated[str, Field(max_length=MOST_WRITTEN)]


def make_read_file(*, workspace: Path) -> Tool:
    """The tool. It asks nobody: it changes nothing."""

    async def body(arguments: ReadArguments, call: Call) -> ToolOutcome:
        return await anyio.to_thread.run_sync(_read, workspace, arguments.path)

    return Tool(
        name="read_file",
        description="Read a text file in the workspace. The path is relative to the workspace. Links are not followed.",
        arguments=ReadArguments,
        body=body,
        gated=False,
        profile=PROFILE,
        reads=lambda arguments: str(arguments.get("path", "")),
    )


def make_list_files(*, workspace: Path) -> Tool:
    """The tool. It asks nobody: it changes nothing."""

    async def body(arguments: ListArguments, call: Call) -> ToolOutcome:
        return await anyio.to_thread.run_sync(_list, workspace, arguments.path)

    return Tool(
        name="list_files",
        description="List one directory in the workspace, with sizes. The path is relative to the workspace.",
        arguments=ListArguments,
        body=body,
        gated=False,
        profile=PROFILE,
    )


def make_write_file(*, workspace: Path, new_id: NewId) -> Tool:
    """The tool. `new_id` names the file that exists until the new content is complete."""

    async def body(arguments: WriteArguments, call: Call) -> ToolOutcome:
        return await anyio.to_thread.run_sync(_write, workspace, arguments.path, arguments.content, new_id())

    return Tool(
        name="write_file",
        description=(
            "Write a text file in the workspace: a new one, or the whole new content of an existing one. Missing "
            "directories are made. The path is relative to the workspace."
        ),
        arguments=WriteArguments,
        body=body,
        profile=PROFILE,
        binds=lambda arguments: {arguments.path: file_mark(workspace, arguments.path)},
        preview=lambda arguments: written_over(workspace, arguments.path, arguments.content),
    )


def _read(workspace: Path, path: str) -> ToolOutcome:
    *parents, name = components(path)
    try:
        with directory(workspace, parents) as parent:
            size, raw = _beginning(parent, name, path)
    except Refused as refusal:
        return ToolOutcome(text=str(refusal), ok=False)
    if not raw:
        return ToolOutcome(text=f"`{path}` is empty.")
    try:
        # Not final: a character may have been cut in two at the end.
        text = codecs.getincrementaldecoder("utf-8")().decode(raw, final=size <= MOST_READ)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return ToolOutcome(text=f"`{path}` is a binary file of {size} bytes; its content is not shown.")
    if size > MOST_READ:
        text += f"\n[... cut here: the first {MOST_READ} of {size} bytes are shown ...]"
    return ToolOutcome(text=text)


def _beginning(parent: int, name: str, path: str) -> tuple[int, bytes]:
    """The size of a file and the first `MOST_READ` bytes of it. Raises `Refused`."""
    with refusals(path):
        handle = os.open(name, READ, dir_fd=parent)
    try:
        size = ordinary(os.fstat(handle), path).st_size
        with open(handle, "rb", closefd=False) as file:
            return size, file.read(MOST_READ)
    finally:
        os.close(handle)


def _list(workspace: Path, path: str) -> ToolOutcome:
    try:
        with directory(workspace, components(path)) as handle, os.scandir(handle) as entries:
            found = sorted((_shown(entry.name), _described(entry)) for entry in entries)
    except Refused as refusal:
        return ToolOutcome(text=str(refusal), ok=False)
    lines = [f"{name}{what}" for name, what in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        lines.append(f"[... and {len(found) - MOST_LISTED} more ...]")
    return ToolOutcome(text="\n".join(lines) or f"`{path}` is an empty directory.")


def _shown(name: str) -> str:
    # A name may hold newlines, or bytes that are no text at all.
    return name if name.isprintable() else ascii(name)


def _described(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "  (link)"
    if entry.is_dir(follow_symlinks=False):
        return "/"
    if not entry.is_file(follow_symlinks=False):
        return "  (not an ordinary file)"
    try:
        return f"  {entry.stat(follow_symlinks=False).st_size} bytes"
    except FileNotFoundError:
        return "  (gone meanwhile)"


def _write(workspace: Path, path: str, content: str, unique: str) -> ToolOutcome:
    *parents, name = components(path)
    data = content.encode()
    try:
        with directory(workspace, parents, create=True) as parent:
            mode = mode_of(parent, name, path)
            replaced = mode is not None
            replace_file(parent, name, data, mode, f".signoff-{unique}")
    except Refused as refusal:
        raise NothingRan(str(refusal)) from None
    except OSError as error:
        return ToolOutcome(text=f"`{path}` was not written: {error.strerror}.", ok=False)
    done = "replaced" if replaced else "created"
    return ToolOutcome(text=f"{done} `{path}`: {len(data)} bytes.")


def mode_of(parent: int, name: str, path: str) -> int | None:
    """The permissions of the file that is to be replaced; None when there is none. Raises `Refused`."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return ordinary(found, path).st_mode & 0o777


def replace_file(parent: int, name: str, data: bytes, mode: int | None, temporary: str) -> None:
    """Readers see the old content or all of the new one, also after a crash, and never a part."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666, dir_fd=parent)
    try:
        with open(handle, "wb") as file:
            same_owner(handle, parent)
            if mode is not None:
                os.fchmod(handle, mode)
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        raise
    os.fsync(parent)
