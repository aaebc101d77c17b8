"""However a command ends, nothing of it is left, and what is said about it is true."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import NothingRan
from bot.toolbox.sandbox import Lost, Sandbox
from tests.needs import needs
from tests.toolbox.conftest import PASSED, Mark
from tests.toolbox.test_sandbox import ROOT, sh

pytestmark = needs("bwrap")
Started = Callable[[], "asyncio.Future[bytes]"]


async def test_a_failing_command_is_not_one_that_never_was(sandbox: Sandbox, workspace: Path) -> None:
    result = await sh(sandbox, workspace, "echo hello; exit 1")
    assert (result.output, result.exit_code, result.timed_out) == ("hello\n", 1, False)


async def test_a_command_ended_by_a_signal_says_so(sandbox: Sandbox, workspace: Path) -> None:
    assert (await sh(sandbox, workspace, "kill -9 $$")).exit_code == 137


async def test_an_orphan_that_holds_the_output_holds_nobody_up(sandbox: Sandbox, workspace: Path, mark: Mark) -> None:
    """S-A74."""
    result = await sh(sandbox, workspace, f"(setsid sleep {mark.seconds} &); echo done")
    assert result.output == "done\n"
    assert result.exit_code == 0
    assert result.duration_ms < 1000
    assert mark.alive() == []


async def test_a_command_that_takes_too_long_is_stopped_with_all_it_started(
    sandbox: Sandbox, workspace: Path, mark: Mark
) -> None:
    result = await sh(
        sandbox, workspace, f"echo begun; setsid sleep {mark.seconds} & sleep {mark.seconds}", timeout=0.4
    )
    assert result.timed_out
    assert result.exit_code is None
    assert result.output == "begun\n"
    assert result.duration_ms < 1500
    assert mark.alive() == []


async def test_cancelling_stops_a_command_with_all_it_started(
    sandbox: Sandbox, workspace: Path, mark: Mark, started: Started
) -> None:
    """S-A78."""
    begun = started()
    command = f"setsid sleep {mark.seconds} & echo > started; sleep {mark.seconds}"
    running = asyncio.ensure_future(sh(sandbox, workspace, command))
    await begun
    assert mark.alive()
    running.cancel()
    async with asyncio.timeout(1):
        with pytest.raises(asyncio.CancelledError):
            await running
    assert mark.alive() == []


async def test_cancelling_twice_leaves_nothing_either(
    sandbox: Sandbox, workspace: Path, mark: Mark, started: Started
) -> None:
    begun = started()
    running = asyncio.ensure_future(sh(sandbox, workspace, f"echo > started; sleep {mark.seconds}"))
    await begun
    while not running.done():
        running.cancel()
        await asyncio.sleep(0)
    assert running.cancelled()
    assert mark.alive() == []


async def test_cancelling_at_any_moment_leaves_nothing(sandbox: Sandbox, workspace: Path, mark: Mark) -> None:
    for turns in range(40):
        running = asyncio.ensure_future(sh(sandbox, workspace, f"sleep {mark.seconds}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert mark.alive() == [], f"after {turns} turns of the loop"


async def test_nothing_is_left_open_in_the_bot(sandbox: Sandbox, workspace: Path) -> None:
    await sh(sandbox, workspace, "true")
    before = set(os.listdir("/proc/self/fd"))
    for command in ("true", "exit 1", "setsid sleep 9 & yes", "sleep 9"):
        await sh(sandbox, workspace, command, timeout=0.2)
    assert len(set(os.listdir("/proc/self/fd"))) <= len(before)


def test_nothing_outlives_a_bot_that_is_killed(workspace: Path, mark: Mark) -> None:
    fifo = workspace / "started"
    os.mkfifo(fifo)
    fifo.chmod(0o622)
    command = f"setsid sleep {mark.seconds} & echo > started; sleep {mark.seconds}"
    argument = json.dumps({"command": command, "workspace": str(workspace)})
    bot = subprocess.Popen([sys.executable, "-m", "tests.toolbox.driver", argument], cwd=ROOT)
    fifo.read_bytes()
    assert mark.alive()
    bot.kill()
    bot.wait()
    assert mark.all_end_within(2)


async def test_a_sandbox_killed_by_somebody_else_may_have_run(
    sandbox: Sandbox, workspace: Path, mark: Mark, started: Started
) -> None:
    """Nobody knows, so it is neither called a failure nor `NothingRan`."""
    begun = started()
    running = asyncio.ensure_future(sh(sandbox, workspace, f"echo > started; sleep {mark.seconds}"))
    await begun
    os.kill(min(mark.alive()), signal.SIGKILL)
    with pytest.raises(Lost):
        await running
    assert mark.alive() == []


def fake_bwrap(tmp_path: Path, says: str) -> Sandbox:
    """A sandbox whose launcher fails as bubblewrap does."""
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho 'bwrap: {says}' >&2\nexit 1\n")
    program.chmod(0o755)
    return Sandbox(bwrap=str(program))


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("Creating new namespace failed: Operation not permitted", "does not let bubblewrap make namespaces"),
        ("setting up uid map: Permission denied", "does not let bubblewrap make namespaces"),
        ("Unknown option --disable-userns", "too old"),
        ("Creating /run/x: No space left on device", "No space left"),
    ],
)
async def test_a_sandbox_that_cannot_be_set_up_means_that_nothing_ran(
    tmp_path: Path, workspace: Path, says: str, told: str
) -> None:
    """S-A93, S-A94: bubblewrap exits 1 for this, as an ordinary command may."""
    sandbox = fake_bwrap(tmp_path, says)
    with pytest.raises(NothingRan, match=told):
        await sh(sandbox, workspace, "touch ran")
    sandbox.report = PASSED  # It worked at first, and fails only now.
    with pytest.raises(NothingRan, match=told):
        await sh(sandbox, workspace, "touch ran")
    assert list(workspace.iterdir()) == []


def test_where_namespaces_are_really_denied_nothing_runs_and_the_fix_is_named(workspace: Path) -> None:
    """S-A93, with the kernel itself saying no."""
    argument = json.dumps({"command": "touch ran", "workspace": str(workspace)})
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--uid", "1000", "--",
         sys.executable, "-m", "tests.toolbox.driver", argument],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "SIGNOFF_SANDBOX=none" in json.loads(done.stdout)["nothing_ran"]
    assert list(workspace.iterdir()) == []


async def test_without_bubblewrap_nothing_runs_and_the_fix_is_named(tmp_path: Path, workspace: Path) -> None:
    """S-A93."""
    missing = Sandbox(bwrap=str(tmp_path / "nowhere"))
    with pytest.raises(NothingRan, match="apt install bubblewrap"):
        await sh(missing, workspace, "touch ran")
    assert list(workspace.iterdir()) == []


async def test_a_sandbox_that_is_repaired_meanwhile_is_used(tmp_path: Path, workspace: Path) -> None:
    program = tmp_path / "bwrap"
    sandbox = Sandbox(bwrap=str(program))
    with pytest.raises(NothingRan):
        await sh(sandbox, workspace, "true")
    sandbox._bwrap = "bwrap"
    assert (await sh(sandbox, workspace, "true")).exit_code == 0


async def test_a_workspace_that_is_gone_means_that_nothing_ran(sandbox: Sandbox, workspace: Path) -> None:
    workspace.rmdir()
    with pytest.raises(NothingRan, match="is not a directory"):
        await sh(sandbox, workspace, "true")


async def test_arguments_no_program_can_get_mean_that_nothing_ran(sandbox: Sandbox, workspace: Path) -> None:
    for impossible in ("a\0b", "a" * 3_000_000, "\ud800"):
        with pytest.raises(NothingRan):
            await sh(sandbox, workspace, impossible)
