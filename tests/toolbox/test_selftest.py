"""The self-test finds out whether the sandbox keeps its promises, and notices when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import NothingRan
from bot.toolbox import probe, selftest
from bot.toolbox.sandbox import Sandbox
from tests.needs import needs
from tests.toolbox.test_sandbox import sh


@needs("bwrap")
async def test_every_promise_is_kept_here() -> None:
    report = await Sandbox().self_test()
    assert report.works, report.reason
    assert {check.name for check in report.checks} >= set(probe.PROMISES)
    assert all(check.holds for check in report.checks)


async def test_it_notices_that_there_is_no_sandbox() -> None:
    """Run in the open, the very same probe must find nearly everything broken."""
    bare = Sandbox(bare=True)
    report = await selftest.examine(bare._run, python=bare.python, environment=bare.environment_names)
    assert not report.works
    broken = {check.name for check in report.checks if not check.holds}
    assert broken >= {
        "the environment is clean",
        "only the workspace is writable",
        "sizes are limited",
        "processes are limited",
        "a stopped command leaves no process behind",
    }
    assert all(name in report.reason for name in broken)


async def test_a_program_that_does_not_even_start_is_a_broken_promise(workspace: Path) -> None:
    bare = Sandbox(bare=True)
    report = await selftest.examine(bare._run, python="/bin/false", environment=())
    assert not report.works
    assert "a program runs in it" in report.reason


@needs("bwrap")
async def test_a_broken_promise_switches_commands_off(workspace: Path) -> None:
    sandbox = Sandbox()

    async def broken() -> selftest.SandboxReport:
        sandbox.report = selftest.SandboxReport(works=False, reason="there is a network in it")
        return sandbox.report

    sandbox.self_test = broken  # type: ignore[method-assign]
    with pytest.raises(NothingRan, match="there is a network in it"):
        await sh(sandbox, workspace, "touch ran")
    assert list(workspace.iterdir()) == []
