"""`edit_file`, and the difference that a card shows before anybody decides."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bot.clock import new_id
from bot.deferral.tool import Call, Overwriting, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.toolbox.diffs import MOST_COMPARED, difference
from bot.toolbox.editing import make_edit_file
from bot.toolbox.files import make_write_file
from bot.toolbox.writing import MOST_REPLACED
from tests.needs import needs
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


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("new.txt", "new.txt is not there yet: this makes it."),
        ("folder/x", "folder/x is not there yet: this makes it."),
        ("binary", "binary is there and is no text (1 byte), so no difference can be shown. It is replaced whole."),
        ("latin", "latin is there and is no text (5 bytes), so no difference can be shown. It is replaced whole."),
        ("link", "This write cannot be made: `link` is a link; links are not followed."),
        ("here", "This write cannot be made: `here` is a directory."),
        ("same", "Nothing changes: same holds exactly this already."),
        (
            "long",
            f"long is too long to be compared ({MOST_COMPARED + 1} characters now, 1 after): no difference is shown,",
        ),
        ("huge", f"This write cannot be made: `huge` has {MOST_REPLACED + 1} bytes; only files of up to"),
        ("a\nb", r"'a\nb' is not there yet: this makes it."),
    ],
)
def test_where_no_difference_can_be_shown_the_card_says_what_is_the_case(path: str, told: str, workspace: Path) -> None:
    (workspace / "binary").write_bytes(b"\0")
    (workspace / "latin").write_bytes(b"two \xe9")
    (workspace / "link").symlink_to("notes.txt")
    (workspace / "here").mkdir()
    (workspace / "same").write_text("x")
    (workspace / "long").write_text("x" * (MOST_COMPARED + 1))
    os.truncate(os.open(workspace / "huge", os.O_CREAT | os.O_WRONLY), MOST_REPLACED + 1)
    assert shown(make_write_file(workspace=workspace, new_id=new_id), path=path, content="x").startswith(told)


@needs("patch")
@pytest.mark.parametrize(
    "before", ["", "a", "a\n", "a\nb", "\n", "a\r\nb\r\n", "a\x0bb\x0c\x1cc\x85d\u2028e\n", "-a\n--- b\n"]
)
@pytest.mark.parametrize(
    "after", ["", "a", "a\n", "b\n", "a\nb\n", "a\r\nc", "a\x0bb\x0c\x1cX\x85d\u2028e", "+++ b\n@@ -1 +1 @@\n"]
)
def test_the_difference_applied_to_what_is_there_gives_what_is_written(
    before: str, after: str, workspace: Path
) -> None:
    """By another program than the one that made it."""
    if before == after:
        return
    (workspace / "file").write_bytes(before.encode())
    (workspace / "patch").write_bytes(difference("file", before, after).encode())
    patch = ["patch", "--binary", "--no-backup-if-mismatch", "-s", "-o", "after", "file", "patch"]
    done = subprocess.run(patch, cwd=workspace, env={}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    made = workspace / "after"
    assert (made.read_bytes() if made.exists() else b"") == after.encode()


def test_a_missing_end_of_line_is_told() -> None:
    assert difference("a", "x\n", "x").endswith("-x\n+x\n\\ No newline at end of file\n")
    assert difference("a", "x", "x\n").endswith("-x\n\\ No newline at end of file\n+x\n")


def test_too_many_lines_are_not_compared() -> None:
    assert difference("a", "x\n" * 5_000, "y").startswith(
        "a is too long to be compared (10000 characters now, 1 after)"
    )


def test_what_an_edit_of_a_long_file_changes_is_said_in_its_arguments(edit: Tool, workspace: Path) -> None:
    (workspace / "notes.txt").write_text("x" * MOST_COMPARED + "two")
    assert "is too long to be compared" in shown(edit, path="notes.txt", old="two", new="2")


async def test_a_file_that_changes_after_its_copy_was_kept_is_left_alone(workspace: Path) -> None:
    async def keep(call: Call, change: Overwriting) -> None:
        (workspace / "notes.txt").write_text("somebody else's")

    write = make_write_file(workspace=workspace, new_id=new_id)
    with pytest.raises(NothingRan, match="changed while it was about to be written"):
        await write.body(
            write.arguments.model_validate({"path": "notes.txt", "content": "x"}), replace(CALL, keep=keep)
        )
    assert (workspace / "notes.txt").read_text() == "somebody else's"


async def test_what_is_handed_out_to_be_kept_is_what_was_there_and_what_will_be(workspace: Path) -> None:
    kept: list[Overwriting] = []

    async def keep(call: Call, change: Overwriting) -> None:
        kept.append(change)
        assert not (workspace / "new.txt").exists()

    write = make_write_file(workspace=workspace, new_id=new_id)
    for path in ("notes.txt", "new.txt"):
        await write.body(write.arguments.model_validate({"path": path, "content": "x"}), replace(CALL, keep=keep))
        (workspace / "new.txt").unlink(missing_ok=True)
    assert [(one.path, one.before, one.after) for one in kept] == [
        ("notes.txt", b"one\ntwo\nthree\n", b"x"),
        ("new.txt", None, b"x"),
    ]


async def test_without_a_copy_nothing_is_written(edit: Tool, workspace: Path) -> None:
    async def keep(call: Call, change: Overwriting) -> None:
        raise NothingRan("the disk is full")

    with pytest.raises(NothingRan, match="the disk is full"):
        await edit.body(
            edit.arguments.model_validate({"path": "notes.txt", "old": "two", "new": "2"}), replace(CALL, keep=keep)
        )
    assert (workspace / "notes.txt").read_text() == "one\ntwo\nthree\n"
