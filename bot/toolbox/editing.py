"""The tool `edit_file`: replaces one part of a text file, and shows what it would change before anybody decides."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from bot.clock import NewId
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox.beneath import Refused, components, directory
from bot.toolbox.bound import file_mark
from bot.toolbox.diffs import difference, read_text
from bot.toolbox.files import MOST_WRITTEN, PROFILE, File, mode_of, replace_file


class EditArguments(Arguments):
    """What `edit_file` takes."""

    path: File
    old: Annotated[str, Field(min_length=1, max_length=MOST_WRITTEN)]
    """What is replaced: it stands in the file exactly once."""
    new: Annotated[str, Field(max_length=MOST_WRITTEN)]


def make_edit_file(*, workspace: Path, new_id: NewId) -> Tool:
    """The tool. `new_id` names the file that exists until the new content is complete."""

    async def body(arguments: EditArguments, call: Call) -> ToolOutcome:
        return await anyio.to_thread.run_sync(_edit, workspace, arguments, new_id())

    def preview(arguments: EditArguments) -> str:
        try:
            before = read_text(workspace, arguments.path)
            return difference(arguments.path, before, edited(before, arguments))
        except Refused as refusal:
            return f"This edit cannot be made: {refusal}"

    return Tool(
        name="edit_file",
        description=(
            "Replace one part of a text file in the workspace. `old` must stand in the file exactly once, with its "
            "blanks and line ends; give enough of what is around it. The path is relative to the workspace."
        ),
        arguments=EditArguments,
        body=body,
        profile=PROFILE,
        binds=lambda arguments: {arguments.path: file_mark(workspace, arguments.path)},
        preview=preview,
    )


def edited(before: str, arguments: EditArguments) -> str:
    """The text with the one part replaced. Raises `Refused` if it is not there exactly once."""
    found = before.count(arguments.old)
    # `count` skips what overlaps, and a part that overlaps itself is not one place either.
    if found == 1 and before.find(arguments.old, before.find(arguments.old) + 1) != -1:
        found = 2
    if found != 1:
        where = "not in" if not found else "more than once in"
        raise Refused(f"What is to be replaced stands {where} `{arguments.path}`.")
    after = before.replace(arguments.old, arguments.new)
    if len(after) > MOST_WRITTEN:
        raise Refused(f"`{arguments.path}` would grow beyond {MOST_WRITTEN} characters.")
    return after


def _edit(workspace: Path, arguments: EditArguments, unique: str) -> ToolOutcome:
    path = arguments.path
    *parents, name = components(path)
    try:
        data = edited(read_text(workspace, path), arguments).encode()
        with directory(workspace, parents) as parent:
            replace_file(parent, name, data, mode_of(parent, name, path), f".signoff-{unique}")
    except Refused as refusal:
        raise NothingRan(str(refusal)) from None
    except OSError as error:
        return ToolOutcome(text=f"`{path}` was not changed: {error.strerror}.", ok=False)
    return ToolOutcome(text=f"changed `{path}`: {len(data)} bytes now.")
