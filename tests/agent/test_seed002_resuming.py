"""Resuming, row by row: R1-R17 of the seed's behaviours, and what it leaves open."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import ModelRetry

from bot.deferral.calls import Limits
from bot.deferral.results import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import (
    AlreadyResumed,
    ApprovalRequired,
    CallDeferred,
    NothingRan,
    ResultsMismatch,
    ResumeRefused,
    RunCancelled,
    RunFailed,
    RunStopped,
    UnknownPauseFormat,
)
from tests.agent.seed002 import NO, YES, Lab, decide, parts, tool, waiting
from tests.house import DoArguments

ROOT = Path(__file__).parent.parent.parent


# -- How each kind is resolved ---------------------------------------------------------------------


async def test_an_approved_body_runs_again_with_the_mark_on_and_its_value_is_the_result() -> None:
    """R1: two body runs, one effect; the result stands right after the requesting turn; no user message is added."""
    lab = Lab([[("careful", {"what": "big"})], "it is done"])
    paused = await lab.run()
    done = await lab.resume(paused, decide(call1=YES))
    assert lab.bodies == [("big", False), ("big", True)]
    assert lab.effects == ["big"]
    assert (done.output, done.pending) == ("it is done", None)
    assert parts(done.messages) == [
        ("user-prompt", "please"), ("tool-call", "call1"), ("tool-return", "call1"), ("text", "it is done")
    ]  # fmt: skip
    assert lab.script.results() == [("success", "did big")]


async def test_a_denial_tells_the_model_the_reason_and_what_not_to_do() -> None:
    """R2: no second run; the decision, the reason, and that it is to go on without the result."""
    lab = Lab([[("careful", {"what": "big"})], "then not"])
    await lab.resume(await lab.run(), decide(call1=ToolDenied(message="too big")))
    assert lab.bodies == [("big", False)]
    ((outcome, text),) = lab.script.results()
    assert outcome == "denied"
    assert text.startswith("A person denied this call: too big. It did not run. Do not call it again")
    assert "go on without its result" in text


async def test_a_denial_without_a_reason_says_the_same_without_one() -> None:
    """R2: no empty reason, no gap."""
    lab = Lab([[("careful", {"what": "big"})], "then not"])
    await lab.resume(await lab.run(), decide(call1=NO))
    assert lab.script.results()[0][1].startswith("A person denied this call. It did not run.")


@pytest.mark.parametrize("text", ["  the report\n\n{braces} \u2603 ", ""])
async def test_a_text_from_elsewhere_is_the_result_verbatim(text: str) -> None:
    """R3: not a byte is added or taken."""
    lab = Lab([[("report", {"what": "7"})], "thanks"])
    await lab.resume(await lab.run(), DeferredToolResults(external={"call1": text}))
    assert lab.script.results() == [("success", text)]


async def test_the_model_sees_results_in_the_order_in_which_it_asked() -> None:
    """R4: a re-run of call 1 stands before the result of call 2 that was recorded at the pause."""
    batch = [("act", {"what": "1"}), ("look", {"what": "2"}), ("report", {"what": "3"}), ("act", {"what": "4"})]
    lab = Lab([batch, "done"])
    results = DeferredToolResults(approvals={"call4": NO, "call1": YES}, external={"call3": "third"})
    await lab.resume(await lab.run(), results)
    assert [text[:8] for _, text in lab.script.results()] == ["did 1", "saw 2", "third", "A person"]


# -- What is refused before anything is done -------------------------------------------------------


class Changed(Arguments):
    path: str


class Widened(Arguments):
    what: str
    force: bool = False


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        (decide(), r"the call call1 \(act\) waits for a decision and has none"),
        (decide(call1=YES, call9=NO), "nothing waits under the id 'call9'"),
        (decide(call1=YES, **{"": NO}), "nothing waits under the id ''"),
        (
            DeferredToolResults(approvals={"call1": YES}, external={"call1": "x", "call2": "y"}),
            "the call call1 is resolved twice",
        ),
        (DeferredToolResults(external={"call1": "made up", "call2": "y"}), "waits for a decision and has a text"),
        (DeferredToolResults(approvals={"call1": NO, "call2": YES}), "waits for a result and has a decision"),
        (decide(call1=YES), r"call2 \(report\) waits for a result and has none"),
        (decide(call1=None), "neither an approval nor a denial"),
        (decide(call1=True), "neither an approval nor a denial"),
        (DeferredToolResults(approvals={"call1": NO}, external={"call2": None}), "is not a text"),  # type: ignore[dict-item]
        (decide(call1=ToolApproved(override_args={"what": 3})), "arguments given with the approval of .* do not fit"),
        (decide(call1=ToolApproved(override_args={"what": "a", "more": 1})), "do not fit the tool"),
        (decide(call1=ToolApproved(override_args={})), "do not fit the tool"),
        (decide(call1=ToolApproved(override_args={"what": object()})), "do not fit the tool"),
    ],
)  # fmt: skip
async def test_resolutions_that_do_not_fit_are_refused_before_anything_is_done(
    results: DeferredToolResults, problem: str
) -> None:
    """R5: and the pause can still be resumed."""
    lab = Lab([[("act", {"what": "a"}), ("report", {"what": "b"})], "done"])
    paused = await lab.run()
    with pytest.raises(ResultsMismatch, match=problem):
        await lab.resume(paused, results)
    assert (lab.bodies, len(lab.script.seen)) == ([], 1)
    right = DeferredToolResults(approvals={"call1": YES}, external={"call2": "b"})
    assert (await lab.resume(paused, right)).output == "done"


async def test_where_nothing_is_pending_nothing_is_resumed() -> None:
    """R5: and a finished conversation is not taken for a paused one."""
    lab = Lab(["hello", "never"])
    done = await lab.run()
    empty = DeferredToolRequests(run_id=done.run_id, conversation_id=done.conversation_id)
    with pytest.raises(ResultsMismatch, match="nothing is pending"):
        await lab.agent.resume(done.messages, empty, DeferredToolResults())
    assert len(lab.script.seen) == 1


async def test_every_problem_is_named_at_once() -> None:
    """R5: whoever mends the resolutions need not come five times."""
    lab = Lab([[("act", {"what": "a"}), ("report", {"what": "b"})]])
    with pytest.raises(ResultsMismatch) as caught:
        await lab.resume(await lab.run(), decide(call9=YES))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("decision", [YES, NO])
async def test_a_tool_that_is_gone_cannot_be_approved_but_can_be_denied(decision: Any) -> None:
    """R8: refused before any model call, and the tool is named; a denial needs no tool."""
    lab = Lab([[("act", {"what": "a"})], "done"])
    paused = await lab.run()
    without = lab.another(tools=[one for one in lab.tools() if one.name != "act"])
    resuming = without.resume(paused.messages, waiting(paused), decide(call1=decision))
    if decision is NO:
        assert (await resuming).output == "done"
        assert lab.script.results()[0][0] == "denied"
    else:
        with pytest.raises(ResultsMismatch, match=r"the tool of the call call1 \(act\) is not there any more"):
            await resuming
        assert len(lab.script.seen) == 1


@pytest.mark.parametrize("arguments", [Changed, Widened])
async def test_a_tool_that_takes_other_arguments_now_is_not_run(arguments: type[Arguments]) -> None:
    """R8, for the schema: they do not fit any more, or a new default would join what was shown."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()

    async def act(arguments: Any, call: Call) -> ToolOutcome:
        raise AssertionError("it ran")

    other = lab.another(tools=[tool("act", act, gated=True, arguments=arguments)])
    with pytest.raises(ResultsMismatch, match="would not run as it was shown"):
        await other.resume(paused.messages, waiting(paused), decide(call1=YES))


# -- What approved calls may do --------------------------------------------------------------------


def raising(error: BaseException) -> Tool:
    """A gated tool that fails once it is approved."""

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        assert call.approved
        raise error

    return tool("fails", body, gated=True)


FAILURES = [
    (ValueError("no disk"), "The tool failed: ValueError: no disk"),
    (ModelRetry("try again"), "The tool failed: ModelRetry: try again"),
    (ApprovalRequired("again"), "The tool deferred again after it was approved (again)"),
    (CallDeferred("job 1"), "The tool deferred again after it was approved (job 1)"),
    (NothingRan("no shell"), "It could not start, so nothing ran: no shell"),
]


@pytest.mark.parametrize(("error", "text"), FAILURES, ids=lambda value: type(value).__name__)
async def test_strict_ends_the_resume_at_the_tool_stage_when_an_approved_call_does_not_act(
    error: Exception, text: str
) -> None:
    """R6, R7: a failure, a wish to be asked again or corrected; the cause is kept, the model is not called."""
    lab = Lab([[("fails", {"what": "a"})], "never"], more=[raising(error)])
    paused = await lab.run()
    with pytest.raises(RunFailed, match="tool stage: approved re-run failed: call1") as caught:
        await lab.resume(paused, decide(call1=YES), strict=True)
    assert caught.value.stage == "tool"
    assert caught.value.__cause__ is error
    assert len(lab.script.seen) == 1


@pytest.mark.parametrize(("error", "text"), FAILURES, ids=lambda value: type(value).__name__)
async def test_by_default_the_failure_is_that_calls_result(error: Exception, text: str) -> None:
    """R6, R7, kindly: the conversation stays usable; nothing-ran is told apart from a failure."""
    lab = Lab([[("fails", {"what": "a"})], "a pity"], more=[raising(error)])
    done = await lab.resume(await lab.run(), decide(call1=YES))
    assert (done.output, done.pending) == ("a pity", None)
    ((outcome, told),) = lab.script.results()
    assert outcome == "failed"
    assert told.startswith(text)


async def test_what_finished_before_a_strict_failure_is_not_lost_and_not_done_twice() -> None:
    """R6, left open by the seed: the error carries the whole conversation, and a run goes on from there."""
    batch = [("act", {"what": "a"}), ("fails", {"what": "b"}), ("act", {"what": "c"})]
    lab = Lab([batch, "two of three"], more=[raising(ValueError("no"))])
    paused = await lab.run()
    with pytest.raises(RunFailed) as caught:
        await lab.resume(paused, DeferredToolResults(approvals={"call1": YES, "call2": YES, "call3": NO}), strict=True)
    done = await lab.run(None, history=caught.value.messages)
    assert done.output == "two of three"
    assert [outcome for outcome, _ in lab.script.results()] == ["success", "failed", "denied"]
    assert lab.effects == ["a"]


async def test_a_failing_call_does_not_cut_off_another_approved_one() -> None:
    """Approved calls run side by side, and each comes to its own end."""
    failed = asyncio.Event()

    async def fails(arguments: DoArguments, call: Call) -> ToolOutcome:
        failed.set()
        raise ValueError("no")

    async def slow(arguments: DoArguments, call: Call) -> ToolOutcome:
        await failed.wait()
        await asyncio.sleep(0)
        return ToolOutcome(text="slow but sure")

    more = [tool("fails", fails, gated=True), tool("slow", slow, gated=True)]
    lab = Lab([[("slow", {"what": "a"}), ("fails", {"what": "b"})], "ok"], more=more)
    await lab.resume(await lab.run(), decide(call1=YES, call2=YES))
    assert [text for _, text in lab.script.results()] == ["slow but sure", "The tool failed: ValueError: no"]


async def test_an_approved_call_that_takes_too_long_is_stopped_and_told_as_that() -> None:
    """R1: under the configured time-out; how far it got is unknown, and that is what is said."""
    cleaned = []

    async def hangs(arguments: DoArguments, call: Call) -> ToolOutcome:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(arguments.what)
        raise AssertionError

    lab = Lab(
        [[("hangs", {"what": "a"})], "ok"],
        more=[tool("hangs", hangs, gated=True)],
        options={"tool_timeout_seconds": 0.01},
    )
    await lab.resume(await lab.run(), decide(call1=YES))
    assert cleaned == ["a"]
    assert lab.script.results() == [
        ("failed", "The tool was stopped because it took longer than 0.01 seconds; how far it got is unknown.")
    ]


async def test_a_command_that_fails_is_a_result_and_no_reason_to_stop_a_strict_resume() -> None:
    """R6: a tool that comes back has come back, whatever it says."""

    async def exits(arguments: DoArguments, call: Call) -> ToolOutcome:
        return ToolOutcome(text="exit code 1", ok=False, exit_code=1)

    lab = Lab([[("exits", {"what": "a"})], "I see"], more=[tool("exits", exits, gated=True)])
    done = await lab.resume(await lab.run(), decide(call1=YES), strict=True)
    assert done.output == "I see"
    assert lab.script.results() == [("failed", "exit code 1")]


async def test_with_other_arguments_those_run_and_the_model_is_told() -> None:
    """R1, edited: the history keeps what the model asked for, the result says what ran."""
    lab = Lab([[("act", {"what": "a"})], "fine"])
    done = await lab.resume(await lab.run(), decide(call1=ToolApproved(override_args={"what": "b"})))
    assert lab.effects == ["b"]
    assert done.messages[1]["parts"][0]["args"] == {"what": "a"}
    ((_, text),) = lab.script.results()
    assert text == 'The person approved this call with other arguments than yours: {"what":"b"}\ndid b'


# -- Prompts, ids, events --------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", [None, ""])
async def test_no_prompt_adds_no_message(prompt: str | None) -> None:
    """R9: the last thing that the model sees is the resolution; the empty text counts as none."""
    lab = Lab([[("act", {"what": "a"})], "done"])
    await lab.resume(await lab.run(), decide(call1=YES), prompt)
    assert [part.part_kind for part in lab.script.seen[-1][-1].parts] == ["tool-return"]


async def test_a_prompt_goes_last() -> None:
    """R10: behind every resolution."""
    lab = Lab([[("act", {"what": "a"}), ("look", {"what": "b"})], "done"])
    done = await lab.resume(await lab.run(), decide(call1=YES), "and hurry")
    assert [part.part_kind for part in lab.script.seen[-1][-1].parts] == ["tool-return", "tool-return", "user-prompt"]
    assert parts(done.messages)[-2:] == [("user-prompt", "and hurry"), ("text", "done")]


async def test_a_message_that_was_queued_behind_the_pause_comes_after_the_results() -> None:
    """R10, for somebody who spoke meanwhile: the application puts it behind the paused history."""
    lab = Lab([[("act", {"what": "a"})], "done"])
    paused = await lab.run()
    queued = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "meanwhile"}]}
    await lab.agent.resume([*paused.messages, queued], waiting(paused), decide(call1=YES))
    assert [part.part_kind for part in lab.script.seen[-1][-1].parts] == ["tool-return", "user-prompt"]


async def test_the_conversation_stays_and_the_run_is_new() -> None:
    """R11: what the resume adds carries its own run's id; what was there keeps its stamps."""
    lab = Lab([[("act", {"what": "a"})], "done"])
    paused = await lab.run()
    done = await lab.resume(paused, decide(call1=YES))
    assert done.conversation_id == paused.conversation_id
    assert done.run_id != paused.run_id
    assert [one["run_id"] for one in done.messages] == [paused.run_id] * 2 + [done.run_id] * 2
    assert {one["conversation_id"] for one in done.messages} == {paused.conversation_id}
    assert done.messages[:2] == paused.messages


async def test_a_deliberate_stop_in_a_re_run_ends_the_resume_before_the_model() -> None:
    """R12: at the cancellation stage. The transcript is whole: every call is closed, finished ones keep results."""
    batch = [("act", {"what": "a"}), ("fails", {"what": "b"})]
    lab = Lab([batch, "never"], more=[raising(RunStopped("changed my mind"))])
    paused = await lab.run()
    with pytest.raises(RunCancelled, match="cancellation stage: changed my mind") as caught:
        await lab.resume(paused, decide(call1=YES, call2=YES), strict=True)
    assert len(lab.script.seen) == 1
    results = [part for one in caught.value.messages[2:] for part in one["parts"]]
    assert [(part["tool_call_id"], part["outcome"]) for part in results] == [
        ("call1", "success"),
        ("call2", "interrupted"),
    ]
    assert {one["run_id"] for one in caught.value.messages[2:]} == {caught.value.run_id}


async def test_a_cancellation_from_outside_is_no_failure_of_the_tool() -> None:
    """R13: it surfaces as it is, the tool is stopped, and it is heard."""
    started, cleaned = asyncio.Event(), []

    async def hangs(arguments: DoArguments, call: Call) -> ToolOutcome:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(arguments.what)
        raise AssertionError

    lab = Lab([[("hangs", {"what": "a"})], "never"], more=[tool("hangs", hangs, gated=True)])
    resuming = asyncio.ensure_future(lab.resume(await lab.run(), decide(call1=YES)))
    await started.wait()
    resuming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await resuming
    assert cleaned == ["a"]
    assert lab.heard()[-2:] == [("tool_start", "call1"), ("cancelled", None)]
    assert len(lab.script.seen) == 1


async def test_each_run_is_heard_by_its_own_onlooker_and_what_acts_is_heard_acting() -> None:
    """R14: the seed's approved re-run is silent, which leaves a hole in any audit. Here it starts and ends."""
    lab = Lab([[("act", {"what": "a"}), ("act", {"what": "b"}), ("look", {"what": "c"})], "done"])
    paused = await lab.run()
    lab.events.clear()
    later: list[Any] = []
    done = await lab.resume(paused, decide(call1=YES, call2=NO), on_event=later.append)
    assert lab.events == []
    assert [(str(one.kind), one.call_id, one.outcome) for one in later] == [
        ("tool_start", "call1", None), ("tool_end", "call1", "success"),
        ("model_start", None, None), ("model_end", None, "success"),
    ]  # fmt: skip
    assert {one.run_id for one in later} == {done.run_id}


async def test_what_the_resumed_model_calls_is_heard_like_any_call() -> None:
    """R14: only the calls that were answered already are silent."""
    lab = Lab([[("report", {"what": "a"})], [("look", {"what": "b"})], "done"])
    paused = await lab.run()
    lab.events.clear()
    await lab.resume(paused, DeferredToolResults(external={"call1": "x"}))
    assert lab.heard("tool_start", "tool_end", "deferred") == [("tool_start", "call2"), ("tool_end", "call2")]


async def test_a_resume_may_pause_again() -> None:
    """R15: and be resumed again; three runs, one conversation."""
    lab = Lab([[("act", {"what": "a"})], [("act", {"what": "b"}), ("look", {"what": "c"})], "done"])
    first = await lab.run()
    second = await lab.resume(first, decide(call1=YES))
    assert (second.output, [call.call_id for call in waiting(second)]) == (None, ["call2"])
    third = await lab.resume(second, decide(call2=YES))
    assert (third.output, lab.effects) == ("done", ["a", "b"])
    assert len({first.run_id, second.run_id, third.run_id}) == 3
    assert first.conversation_id == third.conversation_id


async def test_a_history_that_was_trimmed_to_nothing_of_the_pause_is_refused() -> None:
    """R15: trimming can cut the pending calls away; then nothing runs."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    with pytest.raises(ResultsMismatch, match=r"call1 \(act\) does not stand open in the history"):
        await lab.agent.resume(paused.messages[:1], waiting(paused), decide(call1=YES))
    assert lab.bodies == []


# -- The pause is the authority --------------------------------------------------------------------


def call_part(name: str, arguments: dict[str, Any], id: str) -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": name, "args": arguments, "tool_call_id": id}


async def test_a_call_that_stands_open_and_was_never_asked_about_is_refused() -> None:
    """R16: the seed takes every open call for pending. Here the pause says what is, and a forged one is named."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    forged = json.loads(json.dumps(paused.messages))
    forged[-1]["parts"].append(call_part("act", {"what": "everything"}, "forged"))
    with pytest.raises(ResultsMismatch, match=r"the call forged \(act\) stands open .* nobody was asked"):
        await lab.agent.resume(forged, waiting(paused), decide(call1=YES))
    assert lab.bodies == []


async def test_an_older_call_that_stands_open_has_to_be_closed_first() -> None:
    """R16: also one of an earlier turn, though the model has gone on since."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    older = {"kind": "response", "parts": [call_part("act", {"what": "old"}, "old")]}
    with pytest.raises(ResultsMismatch, match=r"the call old \(act\) stands open"):
        await lab.agent.resume([older, *paused.messages], waiting(paused), decide(call1=YES))


async def test_a_pause_is_over_once_the_model_has_gone_on() -> None:
    """R16: its call may still stand open, but an answer to it would come too late."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    later = {"kind": "response", "parts": [{"part_kind": "text", "content": "never mind"}]}
    with pytest.raises(ResultsMismatch, match="the model has gone on since"):
        await lab.agent.resume([*paused.messages, later], waiting(paused), decide(call1=YES))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"args": {"what": "b"}}, "has other arguments in the history than in the pause"),
        ({"args": '{"what": "a", "what": "b"}'}, "has other arguments in the history than in the pause"),
        ({"tool_name": "look"}, "is a call of act in the pause"),
        ({"tool_call_id": ""}, "the call without an id"),
    ],
)
async def test_a_history_that_tells_another_story_than_the_pause_is_refused(
    change: dict[str, Any], problem: str
) -> None:
    """R16: whoever holds the history could write into it; the model must not be told another story."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    forged = json.loads(json.dumps(paused.messages))
    forged[-1]["parts"][0].update(change)
    with pytest.raises(ResultsMismatch, match=problem):
        await lab.agent.resume(forged, waiting(paused), decide(call1=YES))
    assert lab.bodies == []


async def test_a_pause_does_not_fit_another_run_even_if_the_ids_do() -> None:
    """R16: providers use ids again; a stale decision must not reach what waits now."""
    one, two = Lab([[("act", {"what": "a"})]]), Lab([[("act", {"what": "a"})]])
    first, second = await one.run(), await two.run()
    with pytest.raises(ResultsMismatch, match="the pause belongs to run"):
        await one.agent.resume(second.messages, waiting(first), decide(call1=YES))


async def test_a_pause_with_an_empty_id_is_refused() -> None:
    """R16: a call without an id cannot be told from another."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    nameless = replace(waiting(paused), approvals=tuple(replace(call, call_id="") for call in waiting(paused)))
    with pytest.raises(ResultsMismatch, match="a pending call has no id"):
        await lab.agent.resume(paused.messages, nameless, decide(**{"": YES}))


async def test_a_pause_that_names_one_call_twice_is_refused() -> None:
    """R16: one decision would count for two calls."""
    lab = Lab([[("act", {"what": "a"})]])
    paused = await lab.run()
    twice = replace(waiting(paused), approvals=(*waiting(paused).approvals, *waiting(paused).approvals))
    with pytest.raises(ResultsMismatch, match="2 pending calls have the id 'call1'"):
        await lab.agent.resume(paused.messages, twice, decide(call1=YES))


async def test_a_model_that_gives_a_call_no_id_cannot_pause() -> None:
    """R16: it fails at once, not when somebody has decided."""
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from bot.agent.deferring import DeferringAgent

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("act", {"what": "x"}, "")])

    with pytest.raises(RunFailed, match=r"model stage.* no id"):
        await DeferringAgent(model=FunctionModel(answer), tools=Lab([]).tools()).run("go")


async def test_the_same_id_in_a_later_turn_is_another_call() -> None:
    """R16: some providers count from one in each turn."""
    lab = Lab([[("act", {"what": "a"})], [("act", {"what": "b"})], "done"])
    lab.script._calls = iter(["same", "same"])  # type: ignore[assignment]
    second = await lab.resume(await lab.run(), decide(callsame=YES))
    assert (await lab.resume(second, decide(callsame=YES))).output == "done"
    assert lab.effects == ["a", "b"]


# -- Once ------------------------------------------------------------------------------------------


async def test_a_pause_is_resumed_once_however_often_it_is_tried() -> None:
    """Left open by the seed: a second resume is refused, and nothing runs."""
    lab = Lab([[("act", {"what": "a"})], "done", "never"])
    paused = await lab.run()
    await lab.resume(paused, decide(call1=YES))
    with pytest.raises(AlreadyResumed):
        await lab.resume(paused, decide(call1=YES))
    assert (lab.effects, len(lab.script.seen)) == (["a"], 2)


async def test_of_two_resumes_at_once_one_runs() -> None:
    """Left open by the seed: also while the first is under way."""
    lab = Lab([[("act", {"what": "a"})], "done", "never"])
    paused = await lab.run()
    both = await asyncio.gather(
        lab.resume(paused, decide(call1=YES)), lab.resume(paused, decide(call1=YES)), return_exceptions=True
    )
    assert [type(one).__name__ for one in both] == ["RunResult", "AlreadyResumed"]
    assert lab.effects == ["a"]


async def test_agents_that_share_their_claims_resume_a_pause_once_between_them() -> None:
    """Across processes the application keeps the claims, in a row with a unique key for example."""
    taken: set[str] = set()

    async def claim(pause: str) -> bool:
        first = pause not in taken
        taken.add(pause)
        return first

    lab = Lab([[("act", {"what": "a"})], "done"], options={"claim": claim})
    paused = await lab.run()
    await lab.resume(paused, decide(call1=YES))
    with pytest.raises(AlreadyResumed):
        await lab.another().resume(paused.messages, waiting(paused), decide(call1=YES))
    assert taken == {paused.run_id}


async def test_when_the_model_fails_after_the_tool_acted_the_result_is_kept() -> None:
    """Left open by the seed: the error carries the result, and a run goes on from it without acting again."""
    lab = Lab([[("act", {"what": "a"})], RuntimeError("500"), "done at last"])
    paused = await lab.run()
    with pytest.raises(RunFailed, match="model stage") as caught:
        await lab.resume(paused, decide(call1=YES))
    assert (await lab.run(None, history=caught.value.messages)).output == "done at last"
    assert lab.effects == ["a"]
    assert lab.script.results() == [("success", "did a")]


async def test_whatever_keeps_the_model_from_even_beginning_the_result_is_kept() -> None:
    """Here a tool that came meanwhile, and that cannot be described to a model."""

    class Indescribable(DoArguments):
        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            raise RuntimeError("no schema")

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        return ToolOutcome(text="never")

    lab = Lab([[("act", {"what": "a"}), ("report", {"what": "b"})]])
    paused = await lab.run()
    lab.agent = lab.another(tools=[*lab.tools(), tool("new", body, arguments=Indescribable)])
    with pytest.raises(RunFailed, match="model stage") as caught:
        await lab.resume(paused, DeferredToolResults(approvals={"call1": YES}, external={"call2": "b"}))
    assert [part["content"] for part in caught.value.messages[-1]["parts"]] == ["did a", "b"]


# -- Limits ----------------------------------------------------------------------------------------


async def test_a_limit_of_one_tool_call_is_taken_by_the_re_run_and_not_by_the_pause() -> None:
    """R17: so the resumed model may not have a second one."""
    lab = Lab([[("careful", {"what": "a"})], [("look", {"what": "b"})]])
    paused = await lab.run(limits=Limits(tool_calls=1))
    assert paused.usage.tool_calls == 0
    with pytest.raises(RunFailed, match="limits stage") as caught:
        await lab.resume(paused, decide(call1=YES), limits=Limits(tool_calls=1))
    assert lab.bodies == [("a", False), ("a", True)]
    assert "did a" in json.dumps(caught.value.messages)


async def test_a_denial_takes_nothing_of_the_limit() -> None:
    """R17: nor does a text from elsewhere."""
    lab = Lab([[("act", {"what": "a"}), ("report", {"what": "b"})], "done"])
    results = DeferredToolResults(approvals={"call1": NO}, external={"call2": "b"})
    done = await lab.resume(await lab.run(), results, limits=Limits(tool_calls=0))
    assert (done.output, done.usage.tool_calls) == ("done", 0)


@pytest.mark.parametrize("limits", [Limits(tool_calls=1), Limits(requests=0)])
async def test_a_limit_without_room_for_what_was_approved_is_found_before_anything_runs(limits: Limits) -> None:
    """R17: afterwards it would cost the result of a call that has acted; so the pause stays as it was."""
    lab = Lab([[("act", {"what": "a"}), ("act", {"what": "b"})], "done"])
    paused = await lab.run()
    with pytest.raises(ResumeRefused, match="limits leave"):
        await lab.resume(paused, decide(call1=YES, call2=YES), limits=limits)
    assert lab.effects == []
    done = await lab.resume(paused, decide(call1=YES, call2=YES), limits=Limits(tool_calls=2))
    assert done.usage.tool_calls == 2


async def test_a_request_limit_that_ends_the_resume_keeps_every_result() -> None:
    """R17, for model requests: approved and later results are in the error's conversation."""
    lab = Lab([[("act", {"what": "a"})], [("look", {"what": "b"})], "never"])
    with pytest.raises(RunFailed, match="limits stage") as caught:
        await lab.resume(await lab.run(), decide(call1=YES), limits=Limits(requests=1))
    kept = [
        part["content"] for one in caught.value.messages for part in one["parts"] if part["part_kind"] == "tool-return"
    ]
    assert kept == ["did a", "saw b"]


# -- Across processes ------------------------------------------------------------------------------


async def test_a_pause_goes_through_json_unchanged() -> None:
    """What waits, its kinds and reasons, and the request that it belongs to."""
    lab = Lab([[("act", {"what": "a"}), ("report", {"what": "b"}), ("ask_user", {"question": "which?"})]])
    pending = waiting(await lab.run(request="r1"))
    assert DeferredToolRequests.from_json(pending.to_json()) == pending
    assert pending.request == "r1"


async def test_a_stored_pause_of_another_format_is_refused() -> None:
    """It is not guessed at, though it could be read."""
    stored = json.loads(waiting(await Lab([[("act", {"what": "a"})]]).run()).to_json())
    with pytest.raises(UnknownPauseFormat, match="of format 2; this program knows 1"):
        DeferredToolRequests.from_json(json.dumps({**stored, "format": 2}))


@pytest.mark.parametrize("text", ['{"format": 1, "pause": {}}', "{}", "[]", "nonsense", '{"pause": null}', ""])
def test_what_is_no_stored_pause_is_refused(text: str) -> None:
    """Whatever else it may be."""
    with pytest.raises(UnknownPauseFormat):
        DeferredToolRequests.from_json(text)


OTHER_PROCESS = """
import asyncio, json, sys
from bot.deferral.results import DeferredToolRequests
from tests.agent.seed002 import YES, Lab, decide

stored = json.load(sys.stdin)
lab = Lab(["done elsewhere"])
pending = DeferredToolRequests.from_json(stored["pending"])
result = asyncio.run(lab.agent.resume(stored["messages"], pending, decide(call1=YES)))
print(json.dumps({"output": result.output, "effects": lab.effects, "conversation": result.conversation_id}))
"""


async def test_a_pause_is_resumed_in_another_process() -> None:
    """All that is needed is what `run` returned."""
    lab = Lab([[("act", {"what": "a"}), ("look", {"what": "b"})]])
    paused = await lab.run()
    stored = json.dumps({"messages": paused.messages, "pending": waiting(paused).to_json()})
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS], input=stored, capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert json.loads(done.stdout) == {
        "output": "done elsewhere", "effects": ["a"], "conversation": paused.conversation_id
    }  # fmt: skip
