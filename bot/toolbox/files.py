"""The tools `read_file`, `list_files` and `write_file`: the workspace, and nothing but the workspace."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import AfterValidator, Field

from bot.clock import NewId
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.toolbox.beneath import READ, Refused, components, directory, ordinary, refusals
from bot.toolbox.bound import file_mark
from bot.toolbox.diffs import written_over
from bot.toolbox.writing import overwrite

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
        path, data = arguments.path, arguments.content.encode()
        try:
            done = await overwrite(workspace, path, call, lambda before: data, unique=new_id())
        except OSError as error:
            return ToolOutcome(text=f"`{path}` was not written: {error.strerror}.", ok=False)
        return ToolOutcome(text=f"{'replaced' if done.replaced else 'created'} `{path}`: {done.size} bytes.")

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
