"""One stretch of the loop: from a prompt or from outcomes to an answer or a pause, streamed or not.

Once driven by ours, and once by pydantic-ai's, in which the user's own agents run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.agent import history
from bot.agent.loop import AgentLoop
from bot.deferral.calls import LoopResult, ToolResult
from bot.errors import ModelError
from bot.settings import Settings
from storage import conversations
from tests.house import OWNER, PLACE, House, Script, open_house
from tests.storage.rows import a_run

ACT = [("act", {"what": "x"})]
BATCH: Any = [("act", {"what": "a"}), ("look", {"what": "b"}), ("act", {"what": "c"})]
AGENT: str | None = None
"""Whose agent runs: the house's own, or one by name."""

BOTH = pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])


@pytest.fixture(params=[None, "tests.agent.plain:agent"], ids=["ours", "theirs"], autouse=True)
def _whose(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.AGENT", request.param)


@asynccontextmanager
async def a_loop(folder: Path, script: Script, *, streaming: bool = False) -> AsyncIterator[tuple[AgentLoop, House]]:
    """The loop of a house, to be called by hand."""
    settings = Settings(approver_users=frozenset({OWNER.id}), streaming=streaming, agent=AGENT)
    async with open_house(folder, script, settings=settings) as house:
        yield house.app.engine._turns._loop, house


def by(agent: str | None) -> Settings:
    return Settings(approver_users=frozenset({OWNER.id}), agent=agent)


async def begin(loop: AgentLoop, bodies: Sequence[str] = (), prompt: str = "please", **more: Any) -> LoopResult:
    given: dict[str, Any] = {"waiting": {}, "on_text": None, **more}
    return await loop.start(a_run(), bodies, prompt, **given)


def outcome(call_id: str, text: str = "out", how: Any = "success") -> ToolResult:
    return ToolResult(call_id=call_id, text=text, outcome=how)


# -- pausing ------------------------------------------------------------------------------------


@BOTH
async def test_a_mixed_batch_pauses_with_what_waits_in_order_and_the_rest_recorded(
    tmp_path: Path, streaming: bool
) -> None:
    async with a_loop(tmp_path, Script(BATCH), streaming=streaming) as (loop, house):
        paused = await begin(loop)
        assert [(call.call_id, call.args["what"]) for call in paused.pending] == [("call1", "a"), ("call3", "c")]
        assert house.bench.looks == ["b"]
        assert house.bench.effects == []
        messages = history.load(list(paused.messages))
        assert [call.tool_call_id for call in history.open_calls(messages)] == ["call1", "call3"]


@BOTH
async def test_text_beside_the_calls_is_kept_and_does_not_end_the_run(tmp_path: Path, streaming: bool) -> None:
    def speaks(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("I will do x."), ToolCallPart("act", {"what": "x"}, "c1")])

    async def streams(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        yield "I will "
        yield "do x."
        from pydantic_ai.models.function import DeltaToolCall

        yield {1: DeltaToolCall(name="act", json_args='{"what": "x"}', tool_call_id="c1")}

    script = Script()
    script.__class__ = type("Speaking", (Script,), {"model": FunctionModel(speaks, stream_function=streams)})
    shown: list[str] = []

    async def on_text(text: str) -> None:
        shown.append(text)

    async with a_loop(tmp_path, script, streaming=streaming) as (loop, _):
        paused = await begin(loop, on_text=on_text)
        assert paused.text == "I will do x."
        assert [call.call_id for call in paused.pending] == ["c1"]
        assert shown == (["I will ", "I will do x."] if streaming else [])


async def test_the_model_is_offered_the_tools_and_no_way_to_answer_but_text(tmp_path: Path) -> None:
    seen: list[AgentInfo] = []

    def looks(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse(parts=[TextPart("Hello.")])

    script = Script()
    script.__class__ = type("Looking", (Script,), {"model": FunctionModel(looks)})
    async with a_loop(tmp_path, script) as (loop, house):
        assert (await begin(loop)).text == "Hello."
        [info] = seen
        assert info.output_tools == []
        assert info.allow_text_output
        names = {tool.name for tool in info.function_tools}
        assert {tool.name for tool in house.bench.tools()} <= names
        assert "Never ask for permission" in (info.instructions or "")


# -- resuming -----------------------------------------------------------------------------------


@BOTH
async def test_a_resume_runs_no_tool_adds_no_prompt_and_hands_results_over_in_order(
    tmp_path: Path, streaming: bool
) -> None:
    async with a_loop(tmp_path, Script(BATCH, "Done."), streaming=streaming) as (loop, house):
        paused = await begin(loop)
        given = [outcome("call3", "no", "denied"), outcome("call1", "boom", "failed")]
        done = await loop.resume(a_run(), list(paused.messages), given, on_text=None)
        assert (done.text, list(done.pending)) == ("Done.", [])
        assert house.script.results() == [("failed", "boom"), ("success", "saw b"), ("denied", "no")]
        assert (house.bench.effects, house.bench.looks) == ([], ["b"])
        kinds = [part.part_kind for message in house.script.seen[-1] for part in message.parts]
        assert kinds.count("user-prompt") == 1


async def test_a_resume_can_be_repeated_and_comes_out_the_same(tmp_path: Path) -> None:
    async with a_loop(tmp_path, Script(BATCH, ModelError("ask again"), "Done.", "Done.")) as (loop, house):
        paused = await begin(loop)
        given = [outcome("call1"), outcome("call3")]
        with pytest.raises(ModelError):
            await loop.resume(a_run(), list(paused.messages), given, on_text=None)
        for _ in range(2):
            done = await loop.resume(a_run(), list(paused.messages), given, on_text=None)
            assert done.text == "Done."
        assert house.bench.effects == []
        assert house.script.results(-1) == house.script.results(-2)


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["call1"],
        ["call3"],
        ["call1", "call1"],
        ["call1", "call3", "call3"],
        ["call1", "call2"],
        ["call1", "call2", "call3"],
        ["call1", "call3", "call9"],
        ["call1", ""],
        ["CALL1", "call3"],
    ],
    ids=lambda ids: "+".join(ids) or "none",
)
async def test_results_that_do_not_fit_the_pause_are_refused_before_any_model_call(
    tmp_path: Path, given: list[str]
) -> None:
    async with a_loop(tmp_path, Script(BATCH, "never said")) as (loop, house):
        paused = await begin(loop)
        with pytest.raises(ValueError, match="the pause waits for"):
            await loop.resume(a_run(), list(paused.messages), [outcome(id) for id in given], on_text=None)
        assert len(house.script.seen) == 1


async def test_where_nothing_waits_there_is_nothing_to_resume(tmp_path: Path) -> None:
    async with a_loop(tmp_path, Script("Hello.", "never said")) as (loop, house):
        done = await begin(loop)
        with pytest.raises(ValueError, match="the pause waits for"):
            await loop.resume(a_run(), list(done.messages), [outcome("call1")], on_text=None)
        assert len(house.script.seen) == 1


async def test_a_resume_may_pause_again(tmp_path: Path) -> None:
    async with a_loop(tmp_path, Script(ACT, [("act", {"what": "y"})], "Done.")) as (loop, _):
        first = await begin(loop)
        second = await loop.resume(a_run(), list(first.messages), [outcome("call1")], on_text=None)
        assert [call.call_id for call in second.pending] == ["call2"]
        whole = [*first.messages, *second.messages]
        assert (await loop.resume(a_run(), whole, [outcome("call2")], on_text=None)).text == "Done."


async def test_an_id_that_a_provider_uses_again_in_a_later_turn_can_be_resumed(tmp_path: Path) -> None:
    class Forgetful(Script):
        """Numbers its calls from one in every turn, as some servers do."""

        def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            answered = super()._answer(messages, info)
            parts = [
                ToolCallPart(p.tool_name, p.args, "c1") if isinstance(p, ToolCallPart) else p for p in answered.parts
            ]
            return ModelResponse(parts=parts)

    script = Forgetful(ACT, "One.", [("act", {"what": "y"})], "Two.")
    async with open_house(tmp_path, script, settings=by(AGENT)) as house:
        first = await house.ask(request="r1")
        await house.decide("approve")
        second = await house.ask(request="r2")
        await house.decide("approve")
        assert (first.finished, second.finished) == ("One.", "Two.")
        assert house.bench.effects == ["x", "y"]


async def test_what_a_stretch_adds_is_exactly_what_is_stored(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(BATCH, "Still waiting.", "It ran."), settings=by(AGENT)) as house:
        await house.ask("one", request="r1")
        await house.ask("two", request="r2")
        for row in (0, 1):
            await house.decide("approve", row=row)
        bodies = await conversations.load(house.app.database.reader, PLACE, last=100)
        messages = history.load(bodies)
        assert history.dump(messages) == bodies
        assert history.open_calls(messages) == []
        kinds = [[part.part_kind for part in message.parts] for message in messages]
        assert kinds == [
            ["user-prompt"],
            ["tool-call", "tool-call", "tool-call"],
            ["tool-return"],
            ["tool-return", "tool-return"],  # the placeholders
            ["user-prompt"],
            ["text"],
            ["user-prompt"],  # the event
            ["text"],
        ]


# -- speaking while calls wait ------------------------------------------------------------------


@BOTH
async def test_calls_that_wait_carry_their_sentence_and_no_call_reaches_a_provider_open(
    tmp_path: Path, streaming: bool
) -> None:
    async with a_loop(tmp_path, Script(BATCH, "Waiting."), streaming=streaming) as (loop, house):
        paused = await begin(loop)
        sentence = "This call waits for a person."
        spoke = await begin(loop, list(paused.messages), "and?", waiting={"call1": sentence})
        assert spoke.text == "Waiting."
        [first, looked, third] = house.script.results()
        assert first[1] == sentence
        assert looked == ("success", "saw b")
        assert "interrupted before it had a result" in third[1]
        assert history.open_calls(history.load([*paused.messages, *spoke.messages])) == []


# -- endings ------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("text", ["", " ", "\n\t"])
async def test_an_empty_answer_is_no_answer(tmp_path: Path, text: str, streaming: bool) -> None:
    async with a_loop(tmp_path, Script(*[text] * 10), streaming=streaming) as (loop, _):
        with pytest.raises(ModelError) as error:
            await begin(loop)
        assert error.value.advice


@BOTH
async def test_a_loop_that_never_ends_is_ended(tmp_path: Path, streaming: bool) -> None:
    steps: list[Any] = [[("look", {"what": str(n)})] for n in range(100)]
    async with a_loop(tmp_path, Script(*steps), streaming=streaming) as (loop, house):
        with pytest.raises(ModelError) as error:
            await begin(loop)
        assert "more steps than one turn may take" in error.value.advice
        assert len(house.script.seen) == 40


@BOTH
@pytest.mark.parametrize("error", [RuntimeError("bang"), ModelError("ask again"), OSError("reset"), KeyError("x")])
async def test_whatever_the_model_raises_is_a_model_error_with_advice(
    tmp_path: Path, error: Exception, streaming: bool
) -> None:
    async with a_loop(tmp_path, Script(error), streaming=streaming) as (loop, _):
        with pytest.raises(ModelError) as raised:
            await begin(loop)
        assert raised.value.advice


# -- the growing answer -------------------------------------------------------------------------


async def test_a_streamed_answer_grows_and_begins_anew_with_each_response(tmp_path: Path) -> None:
    shown: list[str] = []

    async def on_text(text: str) -> None:
        shown.append(text)

    async with a_loop(tmp_path, Script([("look", {"what": "x"})], "one two three"), streaming=True) as (loop, _):
        done = await begin(loop, on_text=on_text)
        assert done.text == "one two three"
        assert shown == ["one", "one two", "one two three"]


async def test_an_answer_that_is_not_streamed_is_the_same_answer(tmp_path: Path) -> None:
    whole, streamed = [], []
    for streaming, kept in ((True, streamed), (False, whole)):
        folder = tmp_path / str(streaming)
        folder.mkdir()
        async with open_house(
            folder,
            Script(BATCH, "Done."),
            settings=Settings(approver_users=frozenset({OWNER.id}), streaming=streaming, agent=AGENT),
        ) as house:
            page = await house.ask()
            for row in (0, 1):
                await house.decide("approve", row=row)
            kept += [page.finished, house.script.results(), house.bench.effects, house.bench.looks]
    assert whole == streamed
