"""Where the sandbox does not hold, commands are off: not offered to the model, no card, and the fix is named."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo

from bot.clock import SystemClock, new_id
from bot.deferral.tool import Tool
from bot.settings import Settings
from bot.toolbox.code import make_execute_code
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from bot.toolbox.selftest import SandboxReport
from bot.toolbox.shell import make_shell
from tests.house import OWNER, Bench, House, Script, open_house
from tests.needs import needs


@dataclass
class Commands(Bench):
    """The tools that run commands, over one sandbox."""

    workspace: Path = Path()
    sandbox: Sandbox = field(default_factory=Sandbox)

    def tools(self) -> list[Tool]:
        detached = Detached(
            folder=self.workspace.parent / "commands",
            workspace=self.workspace,
            sandbox=self.sandbox,
            clock=SystemClock(),
            new_id=new_id,
        )
        return [
            make_shell(workspace=self.workspace, sandbox=self.sandbox, detached=detached),
            make_execute_code(workspace=self.workspace, sandbox=self.sandbox),
            *super().tools()[:1],
        ]


class Looking(Script):
    """A script that remembers what it was offered."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*steps)
        self.offered: list[set[str]] = []

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered.append({tool.name for tool in info.function_tools} - {"start_job"})
        return super()._answer(messages, info)


def launcher(folder: Path, says: str) -> str:
    """A bubblewrap that fails as the real one does."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\necho 'bwrap: {says}' >&2\nexit 1\n")
    program.chmod(0o755)
    return str(program)


BACK_ENDS = {
    "removed": ("", "apt install bubblewrap"),
    "denied": ("Creating new namespace failed: Operation not permitted", "AppArmor profile"),
    "too old": ("Unknown option --disable-userns", "version 0.8 or newer"),
    "not set up": ("Creating /run/x: No space left on device", "No space left"),
}
CALLS = {
    "shell": ("shell", {"command": "touch ran"}),
    "in the background": ("shell", {"command": "touch ran", "run_in_background": True}),
    "code": ("execute_code", {"code": "open('ran', 'w')"}),
}


async def asked(folder: Path, sandbox: Sandbox, script: Looking) -> tuple[House, Path]:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    bench = Commands(workspace=workspace, sandbox=sandbox)
    settings = Settings(approver_users=frozenset({OWNER.id}))
    async with open_house(folder, script, bench=bench, settings=settings, workspace=workspace) as house:
        await house.ask()
    return house, workspace


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("back_end", BACK_ENDS)
async def test_a_call_that_slips_in_is_refused_without_a_card_and_the_fix_is_named(
    tmp_path: Path, back_end: str, call: str
) -> None:
    """S-A93: bare runs 0, whatever is wrong with the back end."""
    says, fix = BACK_ENDS[back_end]
    sandbox = Sandbox(bwrap=launcher(tmp_path, says) if says else str(tmp_path / "nowhere"))
    script = Looking([CALLS[call]], "I cannot.")
    house, workspace = await asked(tmp_path, sandbox, script)
    assert script.offered == [{"careful"}, {"careful"}]
    assert house.face.cards == {}
    [(_, answer)] = script.results()
    assert f"the tool {CALLS[call][0]} is off here" in answer
    assert fix in answer
    assert list(workspace.iterdir()) == []


async def test_a_broken_promise_switches_them_off_too(tmp_path: Path) -> None:
    sandbox = Sandbox()

    async def broken() -> SandboxReport:
        sandbox.report = SandboxReport(works=False, reason="there is a network in it")
        return sandbox.report

    sandbox.self_test = broken  # type: ignore[method-assign]
    script = Looking([CALLS["code"]], "I cannot.")
    house, workspace = await asked(tmp_path, sandbox, script)
    assert script.offered[0] == {"careful"}
    assert (house.face.cards, list(workspace.iterdir())) == ({}, [])


@needs("bwrap")
async def test_once_it_is_mended_they_are_offered_again_without_a_restart(tmp_path: Path) -> None:
    sandbox = Sandbox(bwrap=str(tmp_path / "nowhere"))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    script = Looking("cannot", [CALLS["shell"]], "did")
    bench = Commands(workspace=workspace, sandbox=sandbox)
    settings = Settings(approver_users=frozenset({OWNER.id}))
    async with open_house(tmp_path, script, bench=bench, settings=settings, workspace=workspace) as house:
        await house.ask()
        sandbox._bwrap = "bwrap"  # now it is installed
        await house.ask(request="r2")
        await house.decide("approve")
        assert script.offered[:2] == [{"careful"}, {"careful", "shell", "execute_code"}]
        assert (workspace / "ran").exists()


async def test_without_a_sandbox_by_choice_nothing_is_offered_for_the_background(tmp_path: Path) -> None:
    shell, *_ = Commands(workspace=tmp_path, sandbox=Sandbox(bare=True)).tools()
    assert (shell.missing(), set(shell.schema["properties"])) == ("", {"command"})
    assert "background" not in shell.description


async def test_the_report_after_a_start_names_what_is_off_and_what_helps(tmp_path: Path) -> None:
    bench = Commands(workspace=tmp_path, sandbox=Sandbox(bwrap=str(tmp_path / "nowhere")))
    async with open_house(tmp_path, Looking(), bench=bench) as house:
        await house.app.upkeep.startup.begin("1", warnings=tuple(await house.app.upkeep.toolbook.warnings()))
        [owed] = await house.rows("SELECT body FROM outbox WHERE key LIKE 'startup:%'")
    assert "Off here, and not offered to the model: `shell`, `execute_code`. Why: there is no sandbox" in owed["body"]
    assert "apt install bubblewrap" in owed["body"]
