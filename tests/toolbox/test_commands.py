"""The tools `shell` and `execute_code`: what they take, and what the model reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.toolbox.bubblewrap import Limits
from bot.toolbox.code import CodeArguments, make_execute_code
from bot.toolbox.commands import MOST_CHARACTERS
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.shell import ShellArguments, make_shell
from tests.needs import needs
from tests.toolbox.conftest import CALL, PASSED

needs_bwrap = needs("bwrap")


@needs_bwrap
async def test_the_model_reads_the_output_and_then_the_exit_code(sandbox: Sandbox, workspace: Path) -> None:
    tool = make_shell(workspace=workspace, sandbox=sandbox)
    outcome = await tool.body(ShellArguments(command="echo out; echo err >&2; exit 2"), CALL)
    assert outcome.text == "out\nerr\nexit code: 2"
    assert (outcome.ok, outcome.exit_code) == (False, 2)


@needs_bwrap
async def test_success_without_a_word_says_that_there_was_none(sandbox: Sandbox, workspace: Path) -> None:
    outcome = await make_shell(workspace=workspace, sandbox=sandbox).body(ShellArguments(command="true"), CALL)
    assert outcome.text == "(no output)\nexit code: 0"
    assert outcome.ok


@needs_bwrap
async def test_a_stopped_command_is_said_to_have_started(sandbox: Sandbox, workspace: Path) -> None:
    tool = make_shell(workspace=workspace, sandbox=sandbox, timeout=0.3)
    outcome = await tool.body(ShellArguments(command="echo begun; sleep 9"), CALL)
    assert outcome.text.startswith("begun\nstopped after 0.3 s; it had started")
    assert (outcome.ok, outcome.exit_code) == (False, None)


@needs_bwrap
async def test_a_command_that_never_ends_its_output_is_stopped_and_says_so(workspace: Path) -> None:
    sandbox = Sandbox(limits=Limits(output=100_000, kept_output=200))
    sandbox.report = PASSED
    outcome = await make_shell(workspace=workspace, sandbox=sandbox).body(ShellArguments(command="yes"), CALL)
    assert "printed too much" in outcome.text
    assert not outcome.ok


@needs_bwrap
async def test_a_program_runs_with_its_exact_bytes_and_quotes_its_lines(sandbox: Sandbox, workspace: Path) -> None:
    code = "text = '''a\tb\n  é'''\nprint(len(text), text)\nraise ValueError('no')  # here\n"
    outcome = await make_execute_code(workspace=workspace, sandbox=sandbox).body(CodeArguments(code=code), CALL)
    assert outcome.text.startswith("7 a\tb\n  é\nTraceback")
    assert "raise ValueError('no')  # here" in outcome.text
    assert outcome.text.endswith("ValueError: no\nexit code: 1")
    assert list(workspace.iterdir()) == []


@needs_bwrap
async def test_a_program_works_in_the_workspace_and_keeps_what_it_printed_when_stopped(
    sandbox: Sandbox, workspace: Path
) -> None:
    tool = make_execute_code(workspace=workspace, sandbox=sandbox, timeout=1.0)
    code = "import time, pathlib; pathlib.Path('made').write_text('x'); print('so far'); time.sleep(60)"
    outcome = await tool.body(CodeArguments(code=code), CALL)
    assert outcome.text.startswith("so far\nstopped after 1 s")
    assert (workspace / "made").read_text() == "x"


@needs_bwrap
async def test_a_program_cannot_be_swapped_by_a_file_in_the_workspace(sandbox: Sandbox, workspace: Path) -> None:
    """Nor can a module of the standard library: the workspace is not on the search path."""
    (workspace / "json.py").write_text("raise SystemExit('swapped')")
    outcome = await make_execute_code(workspace=workspace, sandbox=sandbox).body(
        CodeArguments(code="import json; print(json.dumps([1]))"), CALL
    )
    assert outcome.text == "[1]\nexit code: 0"


@pytest.mark.parametrize("text", ["", "  \n", "a\0b", "\ud800", "x" * (MOST_CHARACTERS + 1)])
def test_what_cannot_be_run_is_refused_before_a_card(text: str) -> None:
    with pytest.raises(ValidationError):
        ShellArguments(command=text)
    with pytest.raises(ValidationError):
        CodeArguments(code=text)


def test_the_model_may_not_choose_where_or_with_what_environment() -> None:
    """S-A28, S-A29."""
    for extra in ({"cwd": "/"}, {"env": {"LD_PRELOAD": "./x.so"}}, {"timeout": 9}):
        with pytest.raises(ValidationError):
            ShellArguments.model_validate({"command": "ls", **extra})


def test_card_and_digest_see_what_a_command_may_touch(workspace: Path) -> None:
    for bare, words in ((False, "bubblewrap, no network"), (True, "no sandbox (opted in)")):
        sandbox = Sandbox(bare=bare)
        for tool in (
            make_shell(workspace=workspace, sandbox=sandbox),
            make_execute_code(workspace=workspace, sandbox=sandbox),
        ):
            assert tool.profile.startswith(words)
            assert tool.profile in tool.description
            assert set(tool.environment) >= {"PATH", "LANG", "HOME"}
            assert tool.gated
