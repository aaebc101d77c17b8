"""Without a sandbox, by the operator's own choice: less is kept apart, but the rest still holds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.toolbox.code import CodeArguments, make_execute_code
from bot.toolbox.sandbox import Sandbox
from tests.toolbox.conftest import CALL, Mark
from tests.toolbox.test_sandbox import CANARY, drive, sh


@pytest.fixture
def bare() -> Sandbox:
    return Sandbox(bare=True)


def test_the_profile_says_so() -> None:
    assert Sandbox(bare=True).profile.startswith("no sandbox")
    assert "no sandbox" not in Sandbox().profile


async def test_commands_run_in_the_workspace(bare: Sandbox, workspace: Path) -> None:
    result = await sh(bare, workspace, "pwd; touch made; exit 3")
    assert (result.output, result.exit_code) == (f"{workspace}\n", 3)
    assert (workspace / "made").exists()


def test_the_environment_is_clean_all_the_same(workspace: Path) -> None:
    told = drive(workspace, "env", bare=True)
    assert "PATH=" in told["output"]
    assert CANARY not in told["output"]


async def test_a_program_runs_from_memory(bare: Sandbox, workspace: Path) -> None:
    tool = make_execute_code(workspace=workspace, sandbox=bare)
    outcome = await tool.body(CodeArguments(code="print(6 * 7)\n1 / 0"), CALL)
    assert outcome.text.startswith("42\n")
    assert "1 / 0" in outcome.text
    assert list(workspace.iterdir()) == []


async def test_time_output_and_orphans_are_bounded(bare: Sandbox, workspace: Path, mark: Mark) -> None:
    result = await sh(bare, workspace, f"sleep {mark.seconds} & sleep {mark.seconds}", timeout=0.2)
    assert result.timed_out
    assert (await sh(bare, workspace, "yes")).flooded
    result = await sh(bare, workspace, f"sleep {mark.seconds} & echo done")
    assert (result.output, result.exit_code) == ("done\n", 0)
    assert result.duration_ms < 1000
    assert mark.all_end_within(1)


async def test_cancelling_stops_what_it_started(bare: Sandbox, workspace: Path, mark: Mark) -> None:
    running = asyncio.ensure_future(sh(bare, workspace, f"sleep {mark.seconds} & sleep {mark.seconds}"))
    async with asyncio.timeout(5):
        while len(mark.alive()) < 3:
            await asyncio.sleep(0.005)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert mark.all_end_within(1)
