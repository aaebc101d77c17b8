"""`edit_file`, and the difference that a card shows before anybody decides."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.clock import new_id
from bot.deferral.tool import Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox.diffs import MOST_COMPARED, difference
from bot.toolbox.editing import make_edit_file
from bot.toolbox.files import make_write_file
from tests.toolbox.conftest import CALL

DIFF = """\
--- notes.txt (now)
+++ notes.txt (after)
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\n")
    return tmp_path


@pytest.fixture
def edit(workspace: Path) -> Tool:
    return make_edit_file(workspace=workspace, new_id=new_id)


async def run(tool: Tool, **arguments: str) -> ToolOutcome:
    return await tool.body(tool.arguments.model_validate(arguments), CALL)


def shown(tool: Tool, **arguments: str) -> str:
    assert tool.preview is not None
    return tool.preview(tool.arguments.model_validate(arguments))


async def test_one_part_is_replaced_and_nothing_else(edit: Tool, workspace: Path) -> None:
    done = await run(edit, path="notes.txt", old="two", new="2")
    assert (done.text, done.ok) == ("changed `notes.txt`: 12 bytes now.", True)
    assert (workspace / "notes.txt").read_text() == "one\n2\nthree\n"


async def test_the_permissions_stay(edit: Tool, workspace: Path) -> None:
    (workspace / "notes.txt").chmod(0o640)
    await run(edit, path="notes.txt", old="two", new="2")
    assert (workspace / "notes.txt").stat().st_mode & 0o777 == 0o640


def test_the_difference_is_shown_before_it_is_made(edit: Tool, workspace: Path) -> None:
    assert shown(edit, path="notes.txt", old="two", new="2") == DIFF
    assert (workspace / "notes.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("content", "old", "why"),
    [
        ("one", "two", "stands not in `notes.txt`"),
        ("two two", "two", "stands more than once in `notes.txt`"),
        ("aaa", "aa", "stands more than once in `notes.txt`"),
        ("Two", "two", "stands not in"),
        ("two ", "two  ", "stands not in"),
    ],
)
async def test_a_part_that_is_not_there_exactly_once_changes_nothing(
    content: str, old: str, why: str, edit: Tool, workspace: Path
) -> None:
    (workspace / "notes.txt").write_text(content)
    assert why in shown(edit, path="notes.txt", old=old, new="x")
    with pytest.raises(NothingRan, match=why):
        await run(edit, path="notes.txt", old=old, new="x")
    assert (workspace / "notes.txt").read_text() == content


async def test_what_is_no_text_file_of_the_workspace_is_not_edited(edit: Tool, workspace: Path) -> None:
    (workspace / "binary").write_bytes(b"two\0")
    (workspace / "latin").write_bytes(b"two \xe9")
    (workspace / "link").symlink_to("notes.txt")
    (workspace / "folder").mkdir()
    os.mkfifo(workspace / "pipe")
    for path in ("binary", "latin", "link", "folder", "pipe", "nothing"):
        with pytest.raises(NothingRan):
            await run(edit, path=path, old="two", new="2")
    assert (workspace / "notes.txt").read_text() == "one\ntwo\nthree\n"


async def test_a_file_does_not_grow_without_end(edit: Tool, workspace: Path) -> None:
    (workspace / "notes.txt").write_text("x" * 600_000 + "two")
    with pytest.raises(NothingRan, match="would grow beyond"):
        await run(edit, path="notes.txt", old="two", new="y" * 600_000)


def test_an_edit_is_bound_to_the_file_as_it_is(edit: Tool, workspace: Path) -> None:
    assert edit.binds is not None
    arguments = edit.arguments.model_validate({"path": "notes.txt", "old": "two", "new": "2"})
    before = edit.binds(arguments)
    (workspace / "notes.txt").write_text("one\ntwo\nfour\n")
    assert list(before) == ["notes.txt"]
    assert edit.binds(arguments) != before


def test_a_write_over_a_file_shows_the_difference(workspace: Path) -> None:
    write = make_write_file(workspace=workspace, new_id=new_id)
    assert shown(write, path="notes.txt", content="one\n2\nthree\n") == DIFF


@pytest.mark.parametrize("path", ["new.txt", "binary", "folder/x"])
def test_a_write_where_no_text_is_shows_its_content_alone(path: str, workspace: Path) -> None:
    (workspace / "binary").write_bytes(b"\0")
    assert shown(make_write_file(workspace=workspace, new_id=new_id), path=path, content="x") == ""


def test_a_missing_end_of_line_is_told() -> None:
    assert difference("a", "x\n", "x").endswith("-x\n+x\n\\ No newline at end of file\n")


def test_what_is_too_long_to_compare_is_not_compared() -> None:
    assert difference("a", "x" * (MOST_COMPARED + 1), "y") == ""
    assert difference("a", "x\n" * 5_000, "y") == ""
