"""Which files a command is bound to, and that a change of one is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.clock import new_id
from bot.toolbox import bound, builtin_tools
from bot.toolbox.bound import ABSENT, NOT_ORDINARY, file_mark, scripts_of
from bot.toolbox.files import WriteArguments
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import ShellArguments


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "build.py").write_text("print(1)")
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / "my script.sh").write_text("true")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run.sh").write_text("true")
    return tmp_path


BOUND = {
    "python3 build.py": ["build.py"],
    "python3 build.py data.csv": ["build.py"],
    "/usr/bin/python3.11 -u ./build.py": ["build.py"],
    "python3 -W ignore build.py": ["ignore", "build.py"],
    "sh sub/run.sh": ["sub/run.sh"],
    "sh -e sub/run.sh": ["sub/run.sh"],
    "bash 'my script.sh'": ["my script.sh"],
    ". sub/run.sh": ["sub/run.sh"],
    "./sub/run.sh --now": ["sub/run.sh"],
    "A=1 timeout 5 python3 build.py": ["build.py"],
    "python3 build.py && sh sub/run.sh": ["build.py", "sub/run.sh"],
    "cat data.csv | python3 build.py": ["build.py"],
    "if true; then sh sub/run.sh; fi": ["sub/run.sh"],
    "true\nsh sub/run.sh": ["sub/run.sh"],
}

NOT_BOUND = [
    "uname -a",
    "cat data.csv",
    "echo build.py",
    "/bin/ls -l",
    "python3 -m build",
    "python3 -c 'import build' build.py",
    "node -e 1 build.py",
    "sh $SCRIPT",
    "sh ../outside.sh",
    "sh /etc/profile",
    "cd sub && ./run.sh",
    "sh 'not closed",
]


@pytest.mark.parametrize("command", BOUND)
def test_a_script_that_a_command_names_is_bound(command: str, workspace: Path) -> None:
    assert list(scripts_of(command, workspace)) == BOUND[command]


def test_a_script_named_by_its_whole_path_is_bound_by_its_path_below_the_workspace(workspace: Path) -> None:
    assert list(scripts_of(f"sh {workspace}/sub/run.sh", workspace)) == ["sub/run.sh"]


@pytest.mark.parametrize("command", NOT_BOUND)
def test_what_is_no_script_by_its_looks_is_not_bound(command: str, workspace: Path) -> None:
    assert scripts_of(command, workspace) == {}


def test_a_script_that_is_not_there_yet_is_bound_as_absent(workspace: Path) -> None:
    assert scripts_of("sh later.sh", workspace) == {"later.sh": ABSENT}
    (workspace / "later.sh").write_text("true")
    assert scripts_of("sh later.sh", workspace)["later.sh"] != ABSENT


def test_one_changed_byte_changes_the_mark_and_the_same_bytes_do_not(workspace: Path) -> None:
    before = file_mark(workspace, "build.py")
    (workspace / "build.py").write_text("print(2)")
    assert file_mark(workspace, "build.py") != before
    (workspace / "build.py").write_text("print(1)")
    assert file_mark(workspace, "build.py") == before


def test_links_and_pipes_are_not_opened(workspace: Path) -> None:
    (workspace / "link").symlink_to("build.py")
    os.mkfifo(workspace / "pipe")
    assert {file_mark(workspace, name) for name in ("link", "pipe", "sub")} == {NOT_ORDINARY}
    assert file_mark(workspace, "nowhere/x") == ABSENT


def test_a_huge_file_is_known_by_its_size_and_the_time_of_its_last_change(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound, "MOST_HASHED", 4)
    before = file_mark(workspace, "build.py")
    assert before.startswith("8 bytes, changed at ")
    os.utime(workspace / "build.py", ns=(1, 1))
    assert file_mark(workspace, "build.py") != before


def test_the_shell_binds_scripts_and_a_write_binds_what_it_replaces(workspace: Path) -> None:
    tools = {tool.name: tool for tool in builtin_tools(workspace=workspace, sandbox=Sandbox(), new_id=new_id)}
    shell, write = tools["shell"].binds, tools["write_file"].binds
    assert shell is not None
    assert write is not None
    assert shell(ShellArguments(command="python3 build.py")) == {"build.py": file_mark(workspace, "build.py")}
    assert write(WriteArguments(path="new.txt", content="x")) == {"new.txt": ABSENT}
    assert write(WriteArguments(path="build.py", content="x")) == {"build.py": file_mark(workspace, "build.py")}
