"""The tool `edit_file`: replaces one part of a text file, and shows what it would change before anybody decides."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.clock import NewId
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.texts.text import say
from bot.toolbox.beneath import Refused
from bot.toolbox.bound import file_mark
from bot.toolbox.diffs import difference, read_text, text_of
from bot.toolbox.files import MOST_WRITTEN, PROFILE, File
from bot.toolbox.writing import overwrite


class EditArguments(Arguments):
    """What `edit_file` takes."""

    path: File
    old: Annotated[str, Field(min_length=1, max_length=MOST_WRITTEN)]
    """What is replaced: it stands in the file exactly once."""
    new: Annotated[str, Field(max_length=MOST_WRITTEN)]


def make_edit_file(*, workspace: Path, new_id: NewId) -> Tool:
    """The tool. `new_id` names the file that exists until the new content is complete."""

    async def body(arguments: EditArguments, call: Call) -> ToolOutcome:
        path = arguments.path

        def after(before: bytes | None) -> bytes:
            if before is None:
                raise Refused(f"There is no `{path}` in the workspace.", missing=True)
            return edited(text_of(before, path), arguments).encode()

        try:
            done = await overwrite(workspace, path, call, after, unique=new_id())
        except OSError as error:
            return ToolOutcome(text=f"`{path}` was not changed: {error.strerror}.", ok=False)
        return ToolOutcome(text=f"changed `{path}`: {done.size} bytes now.")

    def preview(arguments: EditArguments) -> str:
        try:
            before = read_text(workspace, arguments.path)
            return difference(arguments.path, before, edited(before, arguments))
        except Refused as refusal:
            return say("toolbox.cannot_edit", why=str(refusal))

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
