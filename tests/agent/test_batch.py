"""One batch of calls when something in it breaks: no id is used twice, no call is cut off, what has acted stays known.

Once driven by our loop, and the ids also by pydantic-ai's, in which the user's own agents run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.agent.deferring import DeferringAgent
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import RunFailed
from bot.settings import Settings
from tests.agent.seed002 import Lab, tool, waiting
from tests.house import OWNER, Bench, DoArguments, Script, open_house


def calls(*named: tuple[str, str]) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, {"what": f"{n}"}, id) for n, (name, id) in enumerate(named)])


def saying(*answers: ModelResponse) -> FunctionModel:
    steps = iter(answers)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return next(steps)

    return FunctionModel(answer)


BATCHES = [
    [("act", "x"), ("act", "x")],
    [("look", "x"), ("act", "x")],
    [("act", "x"), ("look", "y"), ("look", "x")],
    [("look", "x"), ("look", "x")],
    [("look", ""), ("act", "y")],
    [("look", "y"), ("act", "")],
]


@pytest.mark.parametrize("batch", BATCHES, ids=str)
async def test_a_batch_whose_ids_cannot_tell_its_calls_apart_runs_and_asks_nothing(
    batch: Sequence[tuple[str, str]],
) -> None:
    """Else one decision would count for two calls, or a result for the call beside it (R5, R16)."""
    lab = Lab([])
    agent = DeferringAgent(model=saying(calls(*batch)), tools=lab.tools())
    with pytest.raises(RunFailed, match=r"model stage: The model (gave two of its calls one id|made a call .* no id)"):
        await agent.run("go")
    assert lab.bodies == []


@pytest.mark.parametrize("agent", [None, "tests.agent.plain:agent"], ids=["ours", "theirs"])
async def test_two_calls_under_one_id_get_no_card_and_the_person_is_told(tmp_path: Path, agent: str | None) -> None:
    class Twice(Script):
        def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            super()._answer(messages, info)
            return calls(("look", "x"), ("act", "x"))

    settings = Settings(approver_users=frozenset({OWNER.id}), agent=agent, streaming=False)
    async with open_house(tmp_path, Twice("."), settings=settings) as house:
        page = await house.ask()
        assert "Ask again" in (page.finished or "")
        assert (house.face.cards, house.bench.looks) == ({}, [])


class Quits(BaseException):
    """What some library raises and no `except Exception` sees."""


@pytest.mark.parametrize("error", [SystemExit(2), Quits("out"), asyncio.CancelledError("mine")], ids=repr)
async def test_nothing_that_a_tool_raises_ends_the_program_or_loses_the_pause(error: BaseException) -> None:
    finished: list[str] = []

    async def boom(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise error

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        for _ in range(10):
            await asyncio.sleep(0)
        finished.append(arguments.what)
        return ToolOutcome(text="slow")

    lab = Lab(
        [[("boom", {"what": "a"}), ("slow", {"what": "b"}), ("act", {"what": "c"})]],
        more=[tool("boom", boom), tool("slow", slow)],
    )
    paused = await lab.run()
    assert [call.call_id for call in waiting(paused)] == ["call3"]
    assert finished == ["b"]
    [failed, _] = paused.messages[-1]["parts"]
    assert failed["outcome"] == "failed"
    assert type(error).__name__ in failed["content"]


async def test_a_fault_of_ours_at_one_call_does_not_cut_off_another_and_its_result_is_kept() -> None:
    """Here the place of the registry breaks while a call that runs is in the middle of its effect."""
    broke = asyncio.Event()

    asked: list[str] = []

    async def screen(run: Any, intent: str | None, action: str) -> str | None:
        asked.append(action)
        if len(asked) < 2:
            return None
        broke.set()
        raise OSError("disk")

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        await broke.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        lab.effects.append("whole")
        return ToolOutcome(text="whole")

    lab = Lab(
        [[("slow", {"what": "a"}), ("act", {"what": "b"})]],
        more=[tool("slow", slow)],
        options={"screen": screen},
    )
    with pytest.raises(RunFailed) as caught:
        await lab.run()
    assert lab.effects == ["whole"]
    assert [part["outcome"] for part in caught.value.messages[-1]["parts"]] == ["success", "interrupted"]


async def test_what_a_batch_had_done_when_it_was_cut_short_is_not_done_again(tmp_path: Path) -> None:
    """Of two calls side by side one was through: behind the restart only the other one runs, and a card comes once."""
    done: list[str] = []
    stuck = asyncio.Event()

    class Half(Bench):
        at = "b"

        def tools(self) -> list[Tool]:
            async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
                if arguments.what == self.at:
                    while "a" not in done:
                        await asyncio.sleep(0)
                    stuck.set()
                    await asyncio.Event().wait()
                done.append(arguments.what)
                return ToolOutcome(text=f"saw {arguments.what}")

            others = [one for one in super().tools() if one.name != "look"]
            return [*others, Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]

    batch: Any = [("look", {"what": "a"}), ("look", {"what": "b"}), ("act", {"what": "c"})]
    async with open_house(tmp_path, Script(batch), bench=Half()) as house:
        turn = asyncio.ensure_future(house.ask())
        await stuck.wait()
        await house.app.engine.stop(grace=0)
        await asyncio.wait([turn])
    later = Half()
    later.at = ""
    async with open_house(tmp_path, Script("Done."), bench=later, ids="later") as house:
        assert done == ["a", "b"]
        await house.decide("approve")
        assert house.script.results()[:2] == [("success", "saw a"), ("success", "saw b")]
        assert [said.text for said in house.face.said] == ["Done."]


async def test_a_second_silence_for_want_of_tokens_is_told_as_that() -> None:
    """After the nudge, too: that the model was empty would be the wrong advice."""
    quiet = ModelResponse(parts=[ThinkingPart("hm")])
    cut = ModelResponse(parts=[ThinkingPart("hm")], finish_reason="length")
    agent = DeferringAgent(model=saying(quiet, cut, ModelResponse(parts=[TextPart("never")])), tools=[])
    with pytest.raises(RunFailed, match="used up its tokens"):
        await agent.run("go")
