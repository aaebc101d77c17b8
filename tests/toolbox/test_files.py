"""The file tools reach what is below the workspace, by a path that nobody can bend, and nothing else."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.clock import new_id
from bot.deferral.tool import ToolOutcome
from bot.errors import NothingRan
from bot.toolbox.beneath import Refused, components
from bot.toolbox.files import (
    MOST_LISTED,
    MOST_READ,
    MOST_WRITTEN,
    ListArguments,
    ReadArguments,
    WriteArguments,
    make_list_files,
    make_read_file,
    make_write_file,
)
from tests.toolbox.conftest import CALL


async def read(workspace: Path, path: str) -> ToolOutcome:
    return await make_read_file(workspace=workspace).body(ReadArguments(path=path), CALL)


async def listing(workspace: Path, path: str = ".") -> ToolOutcome:
    return await make_list_files(workspace=workspace).body(ListArguments(path=path), CALL)


async def write(workspace: Path, path: str, content: str) -> ToolOutcome:
    tool = make_write_file(workspace=workspace, new_id=new_id)
    return await tool.body(WriteArguments(path=path, content=content), CALL)


async def refused_write(workspace: Path, path: str) -> str:
    before = sorted(workspace.rglob("*"))
    with pytest.raises(NothingRan) as refusal:
        await write(workspace, path, "content")
    assert sorted(workspace.rglob("*")) == before
    return str(refusal.value)


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "~/x", "~root", "a\0b", "..", "../x", "a/../../x", "a/..", "x" * 1025, "a/" + "x" * 256]
)
def test_a_path_that_could_lead_out_is_refused_before_a_card(path: str) -> None:
    """S-A84, S-A28."""
    for arguments in (
        lambda: ReadArguments(path=path),
        lambda: ListArguments(path=path),
        lambda: WriteArguments(path=path, content=""),
    ):
        with pytest.raises(ValidationError) as refusal:
            arguments()
        assert str(refusal.value.errors()[0]["msg"]).endswith(".")


@pytest.mark.parametrize("path", [".", "./", "a/"])
def test_a_path_of_a_directory_is_no_path_of_a_file(path: str) -> None:
    with pytest.raises(ValidationError, match="names a directory"):
        ReadArguments(path=path)
    ListArguments(path=path)


def test_each_refusal_is_one_sentence() -> None:
    for path in ("", "/x", "~", "a\0", "../x"):
        with pytest.raises(Refused, match=r"^The path [^.]*(`\.\.`[^.]*)?\.$"):
            components(path)


@pytest.mark.parametrize("name", ["%2e%2e", "...", "a b", "-rf", "é", "a\\..\\b"])
async def test_an_odd_name_is_just_a_name(workspace: Path, name: str) -> None:
    """S-A84: no second reading of what was given."""
    assert (await write(workspace, f"{name}/x", "here")).ok
    assert (workspace / name / "x").read_text() == "here"
    assert (await read(workspace, f"./{name}//x")).text == "here"


async def test_what_was_written_is_read_back(workspace: Path) -> None:
    outcome = await write(workspace, "a/b/c.txt", "häl\r\nlo")
    assert outcome.text == "created `a/b/c.txt`: 8 bytes."
    assert (workspace / "a/b/c.txt").read_bytes() == "häl\r\nlo".encode()
    assert (await read(workspace, "a/b/c.txt")).text == "häl\r\nlo"
    assert (await write(workspace, "a/b/c.txt", "")).text == "replaced `a/b/c.txt`: 0 bytes."
    assert (await read(workspace, "a/b/c.txt")).text == "`a/b/c.txt` is empty."
    assert [path.name for path in (workspace / "a/b").iterdir()] == ["c.txt"]


async def test_a_replaced_file_keeps_its_permissions_but_not_its_privileges(workspace: Path) -> None:
    script = workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o4750)
    await write(workspace, "run.sh", "new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750


@pytest.mark.skipif(os.geteuid() != 0, reason="about a bot that runs as root")
async def test_what_root_writes_belongs_to_whom_the_commands_run_as(workspace: Path) -> None:
    os.chown(workspace, 4321, 4321)
    await write(workspace, "a/b", "x")
    assert {(workspace / name).stat().st_uid for name in ("a", "a/b")} == {4321}


async def test_readers_never_see_half_a_file(workspace: Path) -> None:
    """The old file itself is not touched: it stays whole for whoever has it open."""
    await write(workspace, "x", "old")
    with (workspace / "x").open() as still_open:
        await write(workspace, "x", "new")
        assert still_open.read() == "old"


async def test_a_link_is_never_followed(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (workspace / "link").symlink_to(outside / "secret")
    (workspace / "dirlink").symlink_to(outside)
    (workspace / "inner").symlink_to(".")
    for path in ("link", "dirlink/secret", "inner/link"):
        outcome = await read(workspace, path)
        assert not outcome.ok
        assert "links are not followed" in outcome.text
        assert "links are not followed" in await refused_write(workspace, path)
    assert not (await listing(workspace, "dirlink")).ok
    assert (outside / "secret").read_text() == "secret"


async def test_a_file_with_a_second_name_is_refused(workspace: Path) -> None:
    """S-A26: the other name may lie outside."""
    outside = workspace.parent / "outside"
    outside.write_text("secret")
    os.link(outside, workspace / "x")
    assert "more than one name" in (await read(workspace, "x")).text
    assert "more than one name" in await refused_write(workspace, "x")


async def test_a_fifo_holds_nobody_up(workspace: Path) -> None:
    """S-A26."""
    os.mkfifo(workspace / "x")
    assert (await read(workspace, "x")).text == "`x` is not an ordinary file."
    assert "not an ordinary file" in await refused_write(workspace, "x")


async def test_a_socket_and_a_directory_are_no_files(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    (workspace / "d").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert not (await read(workspace, "s")).ok
        assert "not an ordinary file" in await refused_write(workspace, "s")
    assert (await read(workspace, "d")).text == "`d` is a directory."
    assert "is a directory" in await refused_write(workspace, "d")


async def test_no_refusal_leaves_anything_open(workspace: Path) -> None:
    os.mkfifo(workspace / "p")
    (workspace / "d").mkdir()
    (workspace / "l").symlink_to("d")
    before = os.listdir("/proc/self/fd")
    for path in ("p", "d", "l", "l/x", "d/x", "x", "p/x"):
        await read(workspace, path)
        await listing(workspace, path)
        if path != "x":
            await refused_write(workspace, path if path != "d/x" else "d")
    assert os.listdir("/proc/self/fd") == before


async def test_a_file_is_no_directory(workspace: Path) -> None:
    (workspace / "f").write_text("x")
    assert "`f` is not a directory" in (await read(workspace, "f/x")).text
    assert "`f` is not a directory" in (await listing(workspace, "f")).text
    assert "`f` is not a directory" in await refused_write(workspace, "f/x")


async def test_what_is_missing_is_said_to_be(workspace: Path) -> None:
    assert (await read(workspace, "a/b")).text == "There is no `a` in the workspace."
    assert (await listing(workspace, "a")).text == "There is no `a` in the workspace."
    workspace.rmdir()
    for outcome in (await read(workspace, "a"), await listing(workspace)):
        assert (outcome.text, outcome.ok) == ("The workspace does not exist.", False)


async def test_a_long_text_is_cut_between_characters_and_says_so(workspace: Path) -> None:
    (workspace / "long").write_text("x" + "é" * MOST_READ)
    text = (await read(workspace, "long")).text
    assert text.startswith("xéé")
    assert "\ufffd" not in text
    assert f"the first {MOST_READ} of {2 * MOST_READ + 1} bytes" in text


@pytest.mark.parametrize("raw", [b"\x89PNG\0\1", b"caf\xe9", b"\xff" * (MOST_READ + 5)])
async def test_a_binary_file_is_not_shown(workspace: Path, raw: bytes) -> None:
    (workspace / "b").write_bytes(raw)
    assert (await read(workspace, "b")).text == f"`b` is a binary file of {len(raw)} bytes; its content is not shown."


async def test_a_listing_names_kinds_and_sizes_and_stays_bounded(workspace: Path) -> None:
    assert (await listing(workspace)).text == "`.` is an empty directory."
    (workspace / "d").mkdir()
    (workspace / "a.txt").write_text("four")
    (workspace / "l").symlink_to("a.txt")
    os.mkfifo(workspace / "p")
    (workspace / "two\nlines").touch()
    Path(os.fsdecode(os.fsencode(workspace) + b"/\xff")).touch()
    assert (await listing(workspace)).text.split("\n") == [
        "'\\udcff'  0 bytes",
        "'two\\nlines'  0 bytes",
        "a.txt  4 bytes",
        "d/",
        "l  (link)",
        "p  (not an ordinary file)",
    ]
    for number in range(MOST_LISTED):
        (workspace / "d" / str(number)).touch()
    (workspace / "d" / "one-more").touch()
    lines = (await listing(workspace, "d")).text.split("\n")
    assert len(lines) == MOST_LISTED + 1
    assert lines[-1] == "[... and 1 more ...]"


def test_too_much_to_write_is_refused_before_a_card() -> None:
    with pytest.raises(ValidationError):
        WriteArguments(path="x", content="x" * (MOST_WRITTEN + 1))
    with pytest.raises(ValidationError):
        WriteArguments(path="x", content="\ud800")


async def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(workspace: Path) -> None:
    (workspace / "x").write_text("old")
    (workspace / ".signoff-taken").touch()
    tool = make_write_file(workspace=workspace, new_id=lambda: "taken")
    outcome = await tool.body(WriteArguments(path="x", content="new"), CALL)
    assert not outcome.ok
    assert outcome.text == "`x` was not written: File exists."
    assert (workspace / "x").read_text() == "old"


def test_only_writing_asks_somebody(workspace: Path) -> None:
    assert make_write_file(workspace=workspace, new_id=new_id).gated
    assert not make_read_file(workspace=workspace).gated
    assert not make_list_files(workspace=workspace).gated
