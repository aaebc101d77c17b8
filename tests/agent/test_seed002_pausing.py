"""Pausing, row by row: G1-G11 of the seed's behaviours, and the deliberate stop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import exceptions as pydantic_ai

from bot.deferral.calls import Limits
from bot.deferral.tool import Call, ToolKind, ToolOutcome
from bot.errors import ApprovalRequired, RunCancelled, RunFailed, RunStopped
from tests.agent.seed002 import YES, Lab, decide, parts, tool, waiting
from tests.house import DoArguments


async def test_a_pause_is_a_success_that_lists_what_waits() -> None:
    """G1: the body ran once, unapproved; one approval, exact arguments, the tool's reason; one model request."""
    lab = Lab([[("careful", {"what": "big"})]])
    result = await lab.run()
    assert lab.bodies == [("big", False)]
    assert lab.effects == []
    assert result.output is None
    (call,) = waiting(result).approvals
    assert waiting(result).external == ()
    assert (call.call_id, call.tool_name, call.args) == ("call1", "careful", {"what": "big"})
    assert (call.reason, call.kind) == ("needs a second look", ToolKind.APPROVAL)
    assert len(lab.script.seen) == result.usage.requests == 1
    assert parts(result.messages) == [("user-prompt", "please"), ("tool-call", "call1")]


async def test_a_call_gated_by_policy_pauses_before_its_body() -> None:
    """G1, as the house prefers it: policy speaks before the tool does."""
    lab = Lab([[("act", {"what": "x"})]])
    result = await lab.run()
    assert lab.bodies == []
    assert [call.reason for call in waiting(result).approvals] == ["act needs a person's sign-off"]


async def test_the_other_calls_of_the_batch_run_and_are_recorded() -> None:
    """G2: every other result is in the history, the deferred call has none."""
    lab = Lab([[("look", {"what": "a"}), ("act", {"what": "b"}), ("look", {"what": "c"})]])
    result = await lab.run()
    assert lab.bodies == [("a", False), ("c", False)]
    assert [id for kind, id in parts(result.messages) if kind == "tool-return"] == ["call1", "call3"]
    assert [call.call_id for call in waiting(result)] == ["call2"]


async def test_a_result_from_elsewhere_is_waited_for_under_its_own_kind_and_key() -> None:
    """G3: listed under externals only; the correlation key survives."""
    result = await Lab([[("report", {"what": "7"})]]).run()
    assert waiting(result).approvals == ()
    (call,) = waiting(result).external
    assert (call.reason, call.kind) == ("job 7", ToolKind.EXTERNAL)


async def test_a_question_is_grouped_with_the_externals_and_keeps_its_kind() -> None:
    """G3, for questions: what answers them is a text, not a decision."""
    result = await Lab([[("ask_user", {"question": "which?"})]]).run()
    assert [(call.tool_name, call.kind) for call in waiting(result).external] == [("ask_user", ToolKind.QUESTION)]


async def test_a_pause_is_heard_as_deferred_and_never_as_an_end() -> None:
    """G4: model start, model end, tool start, deferred; stamped with call, tool, run and conversation."""
    lab = Lab([[("act", {"what": "x"})]])
    result = await lab.run()
    assert lab.heard() == [
        ("model_start", None), ("model_end", None), ("tool_start", "call1"), ("deferred", "call1")
    ]  # fmt: skip
    assert lab.events[-1].tool_name == "act"
    assert {(one.run_id, one.conversation_id) for one in lab.events} == {(result.run_id, result.conversation_id)}


async def test_a_deferral_of_no_kind_never_pauses_and_says_so() -> None:
    """G5: the model is told that the tool failed, and how; with `strict` the resume of it ends at the tool stage."""

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise pydantic_ai.CallDeferred  # the model library's own signal, which names no kind of ours

    lab = Lab([[("odd", {"what": "x"})], "done"], more=[tool("odd", body)])
    result = await lab.run()
    assert result.pending is None
    assert lab.script.results() == [("failed", "The tool failed: CallDeferred: ")]


async def test_a_streamed_run_pauses_the_same_and_resumes_through_the_same_call() -> None:
    """G6: the text streams, the call waits, the ordinary resume goes on."""
    lab = Lab(["one two", [("act", {"what": "x"})], "done now"], options={"streaming": True})
    shown: list[str] = []

    async def on_text(text: str) -> None:
        shown.append(text)

    first = await lab.run(on_text=on_text)
    assert (first.output, shown) == ("one two", ["one", "one two"])
    paused = await lab.run(history=first.messages, on_text=on_text)
    assert lab.heard()[-2:] == [("tool_start", "call1"), ("deferred", "call1")]
    done = await lab.resume(paused, decide(call1=YES), on_text=on_text)
    assert (done.output, shown[-1]) == ("done now", "done now")


async def test_starts_then_ends_are_heard_in_emission_order_whatever_finished_first() -> None:
    """G7: and what waits is in emission order; deferred calls do not count as executions."""
    quick = asyncio.Event()

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        await quick.wait()
        return ToolOutcome(text="slow")

    async def fast(arguments: DoArguments, call: Call) -> ToolOutcome:
        quick.set()
        return ToolOutcome(text="fast")

    batch: list[tuple[str, dict[str, Any]]] = [
        ("slow", {"what": "1"}), ("act", {"what": "2"}), ("fast", {"what": "3"}), ("act", {"what": "4"})
    ]  # fmt: skip
    lab = Lab([batch], more=[tool("slow", slow), tool("fast", fast)])
    result = await lab.run()
    assert lab.heard("tool_start", "tool_end", "deferred") == [
        *(("tool_start", f"call{n}") for n in (1, 2, 3, 4)),
        ("tool_end", "call1"), ("deferred", "call2"), ("tool_end", "call3"), ("deferred", "call4"),
    ]  # fmt: skip
    assert [call.call_id for call in waiting(result).approvals] == ["call2", "call4"]
    assert result.usage.tool_calls == 2


async def test_of_a_batch_that_names_an_unknown_tool_nothing_runs() -> None:
    """G8: before any call runs. The seed fails the run; here the model is told and can correct itself."""
    lab = Lab([[("look", {"what": "a"}), ("nosuch", {}), ("act", {"what": "b"})], "sorry"])
    result = await lab.run()
    assert (result.output, result.pending, lab.bodies) == ("sorry", None, [])
    told = [text for _, text in lab.script.results()]
    assert (
        told[0] == told[2] == "Not run, like every other call of this batch: it names tools that do not exist (nosuch)."
    )
    assert "nosuch" in told[1]
    assert result.usage.tool_calls == 0


async def test_a_failing_sibling_does_not_lose_the_pause() -> None:
    """G9: the seed fails the run and the pause is lost with it; here the failure is that call's own result."""

    async def broken(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise ValueError("no luck")

    lab = Lab([[("broken", {"what": "a"}), ("act", {"what": "b"})], "done"], more=[tool("broken", broken)])
    paused = await lab.run()
    assert [call.call_id for call in waiting(paused)] == ["call2"]
    await lab.resume(paused, decide(call2=YES))
    assert lab.script.results() == [("failed", "The tool failed: ValueError: no luck"), ("success", "did b")]


async def test_a_deliberate_stop_discards_the_pause_and_closes_every_call() -> None:
    """G10: the run ends cancelled, nothing waits, results that say "no result" stand in emission order."""

    async def stop(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise RunStopped("that is enough")

    lab = Lab([[("act", {"what": "a"}), ("stop", {"what": "b"})], "never"], more=[tool("stop", stop)])
    with pytest.raises(RunCancelled, match="cancellation stage: that is enough") as caught:
        await lab.run()
    assert isinstance(caught.value.__cause__, RunStopped)
    assert parts(caught.value.messages)[1:] == [
        ("tool-call", "call1"), ("tool-call", "call2"), ("tool-return", "call1"), ("tool-return", "call2")
    ]  # fmt: skip
    results = caught.value.messages[-1]["parts"]
    assert {part["outcome"] for part in results} == {"interrupted"}
    assert lab.heard()[2:] == [
        ("tool_start", "call1"), ("tool_start", "call2"), ("tool_end", "call2"), ("cancelled", None)
    ]  # fmt: skip
    assert len(lab.script.seen) == 1
    assert [one.outcome for one in lab.events if one.kind == "tool_end"] == ["stopped"]


async def test_siblings_of_a_stop_run_to_their_end_and_the_transcript_needs_no_repair() -> None:
    """In-tool cancellation: they are not cut off, their results are discarded, the conversation can go on."""
    stopped = asyncio.Event()

    async def stop(arguments: DoArguments, call: Call) -> ToolOutcome:
        stopped.set()
        raise RunStopped("enough")

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        await stopped.wait()
        lab.effects.append("finished")
        return ToolOutcome(text="finished")

    batch = [("look", {"what": "first"})], [("slow", {"what": "a"}), ("stop", {"what": "b"})], "on we go"
    lab = Lab(list(batch), more=[tool("stop", stop), tool("slow", slow)])
    with pytest.raises(RunCancelled) as caught:
        await lab.run()
    assert lab.effects == ["finished"]
    kept = [
        part["outcome"] for one in caught.value.messages for part in one["parts"] if part["part_kind"] == "tool-return"
    ]
    assert kept == ["success", "interrupted", "interrupted"]
    assert (await lab.run("and now?", history=caught.value.messages)).output == "on we go"


async def test_text_beside_a_gated_call_does_not_win_over_it(tmp_path: Path) -> None:
    """G11: the seed's output tool would end the run and close the gated call unasked; so this agent has none."""
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from bot.agent.deferring import DeferringAgent

    offered: list[str] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.extend(one.name for one in info.output_tools)
        return ModelResponse(parts=[TextPart("All done!"), ToolCallPart("act", {"what": "x"}, "c")])

    agent = DeferringAgent(model=FunctionModel(answer), tools=Lab([]).tools())
    result = await agent.run("go")
    assert result.output is None
    assert [call.call_id for call in waiting(result)] == ["c"]
    assert offered == []


async def test_an_agent_inside_a_tool_cannot_pass_its_pause_for_an_answer() -> None:
    """A sub-agent's pause: the tool's author has to deal with it; else the call fails, and says so."""
    inner = Lab([[("act", {"what": "x"})]])

    async def delegate(arguments: DoArguments, call: Call) -> ToolOutcome:
        return ToolOutcome(text=(await inner.run()).output)  # type: ignore[arg-type]

    lab = Lab([[("delegate", {"what": "x"})], "done"], more=[tool("delegate", delegate)])
    await lab.run()
    ((outcome, text),) = lab.script.results()
    assert outcome == "failed"
    assert "instead of an outcome with a text" in text


async def test_an_agent_inside_a_tool_that_is_stopped_stops_the_one_around_it() -> None:
    """In-tool cancellation: the inner signal can be reached from the outer error."""

    async def stop(arguments: DoArguments, call: Call) -> ToolOutcome:
        raise RunStopped("enough")

    inner = Lab([[("stop", {"what": "x"})]], more=[tool("stop", stop)])

    async def delegate(arguments: DoArguments, call: Call) -> ToolOutcome:
        return ToolOutcome(text=str((await inner.run()).output))

    with pytest.raises(RunCancelled) as caught:
        await Lab([[("delegate", {"what": "x"})]], more=[tool("delegate", delegate)]).run()
    signal = caught.value.__cause__
    assert signal is not None
    assert isinstance(signal.__cause__, RunCancelled)


async def test_a_call_that_a_limit_keeps_from_running_ends_the_run_with_all_that_was_done() -> None:
    """Limits: the calls that ran keep their results, and the conversation can go on from there."""
    lab = Lab([[("look", {"what": "a"}), ("look", {"what": "b"})], "on"])
    with pytest.raises(RunFailed, match="limits stage") as caught:
        await lab.run(limits=Limits(tool_calls=1))
    assert lab.bodies == [("a", False)]
    assert (await lab.run("go on", history=caught.value.messages)).output == "on"
    assert [text for _, text in lab.script.results()] == [
        "saw a", "Not run: this run has used up the tool calls it may make."
    ]  # fmt: skip


async def test_calls_that_defer_take_nothing_of_the_limit_of_tool_calls() -> None:
    """Limits: two bodies that defer, and then one that runs, under a limit of one."""
    lab = Lab([[("careful", {"what": "a"}), ("careful", {"what": "b"}), ("look", {"what": "c"})]])
    result = await lab.run(limits=Limits(tool_calls=1))
    assert [call.call_id for call in waiting(result)] == ["call1", "call2"]
    assert lab.bodies[-1] == ("c", False)
    assert result.usage.tool_calls == 1


async def test_a_body_may_not_start_while_others_that_may_still_count_fill_the_limit() -> None:
    """Limits: it waits for them, and runs if they defer after all."""
    go, began = asyncio.Event(), []

    async def thinks(arguments: DoArguments, call: Call) -> ToolOutcome:
        await go.wait()
        raise ApprovalRequired("on second thoughts")

    async def runs(arguments: DoArguments, call: Call) -> ToolOutcome:
        began.append(go.is_set())
        return ToolOutcome(text="ran")

    batch = [("thinks", {"what": "a"}), ("runs", {"what": "b"})]
    lab = Lab([batch], more=[tool("thinks", thinks), tool("runs", runs)])
    running = asyncio.ensure_future(lab.run(limits=Limits(tool_calls=1)))
    for _ in range(50):
        await asyncio.sleep(0)
    go.set()
    result = await running
    assert began == [True]
    assert [call.call_id for call in waiting(result)] == ["call1"]
    assert result.usage.tool_calls == 1


async def test_an_onlooker_that_breaks_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Events: its error is logged; the run goes on."""
    lab = Lab(["hello"])
    result = await lab.agent.run("hi", on_event=lambda event: 1 / 0)  # type: ignore[arg-type, return-value]
    assert result.output == "hello"
    assert "onlooker failed" in caplog.text
