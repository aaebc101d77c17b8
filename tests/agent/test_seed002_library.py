"""Pause and resume as a library: what it needs, and where an application hooks in."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.agent.gate import Gate, RunDeps
from bot.agent.loop import AgentLoop
from bot.clock import SystemClock
from bot.deferral.policy import DefaultPolicy
from bot.deferral.tool import Call, ToolOutcome
from bot.errors import RunStopped, TurnStopped
from storage.runs import Run, RunKind, RunState
from tests.agent.seed002 import YES, Lab, decide, tool, waiting
from tests.house import DoArguments, Script, open_house

ROOT = Path(__file__).parent.parent.parent


def test_it_needs_neither_discord_nor_a_database() -> None:
    program = "import sys, bot.agent.deferring, bot.agent.sanitize; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"discord", "aiosqlite", "sqlite3", "psycopg"} & set(done.stdout.split())


async def test_the_screen_may_answer_a_call_in_place_of_a_pause() -> None:
    """The registry's place; a resume inherits the request that the call is known under."""
    asked: list[tuple[str | None, str | None]] = []

    async def screen(run: Run, intent: str | None, action: str) -> str | None:
        asked.append((run.request, intent))
        return "This ran already." if len(asked) > 1 else None

    again = [("act", {"what": "a"})]
    lab = Lab([again, again, "fine"], options={"screen": screen})
    done = await lab.resume(await lab.run(request="message 1"), decide(call1=YES))
    assert (done.output, lab.effects) == ("fine", ["a"])
    assert lab.script.results()[-1] == ("success", "This ran already.")
    assert [request for request, _ in asked] == ["message 1"] * 2
    assert len({intent for _, intent in asked}) == 1


async def test_the_same_action_twice_in_a_batch_is_asked_about_once() -> None:
    lab = Lab([[("act", {"what": "a"}), ("act", {"what": "a"})]])
    assert [call.call_id for call in waiting(await lab.run())] == ["call1"]


async def test_an_application_may_name_the_conversation_itself() -> None:
    """A history from outside could name any."""
    lab = Lab(["hello", "again"])
    first = await lab.run(conversation_id="mine")
    assert first.conversation_id == "mine"
    assert (await lab.run("more", history=first.messages, conversation_id="other")).conversation_id == "other"


async def test_the_mask_goes_over_what_approved_calls_return() -> None:
    lab = Lab([[("act", {"what": "secret"})], "ok"], options={"mask": lambda text: text.replace("secret", "***")})
    await lab.resume(await lab.run(), decide(call1=YES))
    assert lab.script.results() == [("success", "did ***")]


async def test_a_fault_of_ours_surfaces_after_the_other_calls_have_come_to_their_end() -> None:
    ended = []

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        for _ in range(10):
            await asyncio.sleep(0)
        ended.append(arguments.what)
        return ToolOutcome(text="slow")

    def mask(text: str) -> str:
        if text == "did b":
            raise LookupError("the mask is broken")
        return text

    lab = Lab(
        [[("slow", {"what": "a"}), ("act", {"what": "b"})]],
        more=[tool("slow", slow, gated=True)],
        options={"mask": mask},
    )
    with pytest.raises(LookupError):
        await lab.resume(await lab.run(), decide(call1=YES, call2=YES))
    assert ended == ["a"]


async def test_an_allowed_call_is_bounded_in_time_as_well() -> None:
    async def hangs(arguments: DoArguments, call: Call) -> ToolOutcome:
        await asyncio.Event().wait()
        raise AssertionError

    lab = Lab([[("hangs", {"what": "a"})], "ok"], more=[tool("hangs", hangs)], options={"tool_timeout_seconds": 0.01})
    await lab.run()
    assert "took longer than 0.01 seconds" in lab.script.results()[0][1]


async def test_a_tool_that_stops_the_run_stops_the_bots_turn_too() -> None:
    """The engine's loop says so to the person who asked."""

    async def stop(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise RunStopped("the budget is used up")

    def nobody(run: Run) -> str | None:
        return None

    async def new(run: Run, intent: str | None, action: str) -> str | None:
        return None

    gate = Gate(
        {"stop": tool("stop", stop)},
        policy=DefaultPolicy(),
        clock=SystemClock(),
        screen=new,
        nobody_can_decide=nobody,
        mask=lambda text: text,
    )
    loop = AgentLoop(model=Script([("stop", {"what": "x"})]).model, gate=gate, streaming=False, timeout_seconds=5)
    run = Run(
        id="r", conversation="c", kind=RunKind.TURN, state=RunState.RUNNING, place="p", requester="1", request=None,
        prompt="go", notify="", created_at=0,
    )  # fmt: skip
    with pytest.raises(TurnStopped) as caught:
        await loop.start(run, [], "go", waiting={}, on_text=None)
    assert caught.value.advice == "the budget is used up"


async def test_in_the_bot_a_batch_with_an_unknown_tool_gets_no_card(tmp_path: Path) -> None:
    """G8 through the engine: nothing is asked, nothing runs, the turn ends with an answer."""
    batch: list[tuple[str, dict[str, Any]]] = [("act", {"what": "a"}), ("look", {"what": "b"}), ("nosuch", {})]
    async with open_house(tmp_path, Script(batch, "sorry")) as house:
        page = await house.ask()
        assert (page.finished, house.face.cards, house.bench.effects, house.bench.looks) == ("sorry", {}, [], [])


async def test_in_the_bot_an_id_may_be_used_again_in_a_later_turn(tmp_path: Path) -> None:
    """R16 through the engine: some providers count their calls from one in each turn."""
    script = Script([("act", {"what": "a"})], [("act", {"what": "b"})], "both done")
    script._calls = iter(["same", "same"])  # type: ignore[assignment]
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        await house.decide("approve")
        await house.decide("approve")
        assert house.bench.effects == ["a", "b"]
        assert page.finished == "both done"


def test_what_a_stretch_carries_begins_empty() -> None:
    """Nothing of one run may be left in the next."""
    run = Run(
        id="r", conversation="c", kind=RunKind.TURN, state=RunState.RUNNING, place="p", requester="1", request=None,
        prompt="go", notify="", created_at=0,
    )  # fmt: skip
    one, two = RunDeps(run), RunDeps(run)
    one.deferred.add("x")
    one.executions.done = 3
    one.stopped["x"] = RunStopped("x")
    assert two.tools == {}
    assert (two.deferred, two.executions.done, two.stopped) == (set(), 0, {})
