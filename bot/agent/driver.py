"""Drives one run of the house's own agent: ask the model, take its calls through the gate, ask again.

pydantic-ai brings the models, their messages and their streams (`pydantic_ai.direct`); the steps between are ours.
Its agent loop can do far more than this bot asks of it, and took half of the time that a sign-off takes from the
question to the answer (bench/README.md); the user's own agent still runs in it (`own_driver.py`). What both do is held
together by the same tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import (
    ContentFilterError,
    OutputTokenLimitExceeded,
    UsageLimitExceeded,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage
from pydantic_core import ValidationError

from bot.agent.behind import definition
from bot.agent.cleanse import cleanse
from bot.agent.gate import MISUSES, Answered, Gate, RunDeps, emitted_arguments
from bot.agent.history import as_sent, open_calls
from bot.agent.metering import taken
from bot.agent.models import BAD_ARGUMENTS, explain
from bot.agent.recorder import Recorder
from bot.agent.repair import is_whole
from bot.agent.stretch import (
    NO_CALLS_LEFT,
    LimitReached,
    OnText,
    Stretch,
    Transcript,
    check_ids,
    last_text,
    outcome,
    show_growing,
    tell_batch,
)
from bot.background import to_the_end
from bot.deferral.calls import Limits, Meter, PendingToolCall, ToolResult
from bot.deferral.events import EventKind, Reporter
from bot.deferral.tool import Tool
from bot.errors import ModelError
from bot.redact import Redactor

Result = ToolReturnPart | PendingToolCall
"""What a call of a batch came to."""


@dataclass(kw_only=True)
class Driver:
    """One run and all that it needs."""

    model: Model
    gate: Gate
    instructions: str
    deps: RunDeps
    settings: ModelSettings
    limits: Limits
    report: Reporter
    on_text: OnText | None
    """Takes the newest answer as it grows; None asks the model for whole answers."""
    recorder: Recorder
    """Hears of each step that must not be done again."""
    redactor: Redactor
    meter: Meter
    run_id: str
    """Stands, with the conversation's id, on every message that the run adds."""
    _new: list[ModelMessage] = field(default_factory=list, init=False)
    _pending: list[PendingToolCall] = field(default_factory=list, init=False)
    _requests: int = field(default=0, init=False)
    _usage: RequestUsage = field(default_factory=RequestUsage, init=False)
    _misused: Mapping[str, int] = field(default_factory=dict, init=False)
    """By tool, in how many batches in a row it was called in a way that it cannot take."""
    _nudged: bool = field(default=False, init=False)

    async def go(
        self, prompt: str | None, messages: Sequence[ModelMessage], results: Sequence[ToolResult] = ()
    ) -> Stretch:
        """Run to the next answer or pause. Raises only what cancels it from outside."""
        error: Exception | None
        try:
            error = await self._steps(prompt, messages, results)
        except Exception as raised:  # noqa: BLE001 - `explain` has a sentence for everything a model may do
            error = explain(raised)
            error.__cause__ = error.__cause__ or (raised if raised is not error else None)
        transcript = Transcript(
            messages=messages,
            new=self._new,
            text=last_text(self._new),
            pending=self._pending,
            requests=self._requests,
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            run_id=self.run_id,
            conversation_id=self.deps.run.conversation,
        )
        return outcome(transcript, self.deps, error)

    async def _steps(
        self, prompt: str | None, messages: Sequence[ModelMessage], results: Sequence[ToolResult]
    ) -> Exception | None:
        """Take every step; what ended the run early, or None."""
        waiting = open_calls(messages)
        if results or prompt is not None:
            self._add(_answers(waiting, results) + ([UserPromptPart(prompt)] if prompt is not None else []))
        # Without either, a call that stands open is a person's, and begins the run as if the model had made it.
        elif waiting and ((ended := await self._batch(waiting)) is not None or self._pending):
            return ended
        while True:
            response = await self._ask([*messages, *self._new])
            calls = response.tool_calls
            if not calls and not self._is_answer(response):
                continue
            if not calls or (ended := await self._batch(calls)) is not None or self._pending:
                return ended if calls else None

    # -- the model --------------------------------------------------------------------------------------------------

    async def _ask(self, whole: Sequence[ModelMessage]) -> ModelResponse:
        """One request. Raises what the model raises, what the meter raises, and `UsageLimitExceeded`."""
        if self._requests >= self.limits.requests:
            raise UsageLimitExceeded(f"The next request would exceed the request_limit of {self.limits.requests}")
        parameters = ModelRequestParameters(
            function_tools=[definition(tool, self.gate.vault) for tool in self.gate.offered(self.deps).values()],
            instruction_parts=[InstructionPart(content=self.instructions)] if self.instructions else None,
        )
        self.meter.before()
        self.report.say(EventKind.MODEL_START)
        try:
            response = await self._respond(as_sent(whole), parameters)
        except Exception:
            self.report.say(EventKind.MODEL_END, outcome="failed")
            raise
        cleanse(response, self.redactor)
        self.meter.after(taken(response))
        self.report.say(EventKind.MODEL_END, outcome="success", text=response.text)
        self._requests += 1
        self._usage += response.usage
        response.run_id, response.conversation_id = self.run_id, self.deps.run.conversation
        self._new.append(response)
        return response

    async def _respond(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        if self.on_text is None:
            return await model_request(
                self.model, messages, model_settings=self.settings, model_request_parameters=parameters
            )
        async with model_request_stream(
            self.model, messages, model_settings=self.settings, model_request_parameters=parameters
        ) as stream:
            await show_growing(stream, self.on_text)
            return stream.get()

    def _is_answer(self, response: ModelResponse) -> bool:
        """Whether it says anything; if not, the model is asked once more for words.

        Raises what the provider's reason for its silence is.
        """
        if response.text:
            return True
        if response.finish_reason == "length":
            raise OutputTokenLimitExceeded("the model used up its tokens before it answered")
        if response.finish_reason == "content_filter":
            raise ContentFilterError("the provider's filter stopped the answer")
        if self._nudged:
            return True
        self._nudged = True
        nudge = RetryFeedbackPart("Please return text or call a tool.", retry=RetryInfo("no_output"))
        self._add([nudge])
        return False

    # -- its calls --------------------------------------------------------------------------------------------------

    async def _batch(self, calls: Sequence[ToolCallPart]) -> Exception | None:
        """Take the calls of one response through the gate, all at once, and record and report them in their order.

        What has to end the run, or None. Raises when the model keeps misusing a tool.
        """
        check_ids(calls)
        offered = self.gate.offered(self.deps)
        self.deps.unknown = tuple(dict.fromkeys(call.tool_name for call in calls if call.tool_name not in self.tools))
        read = [self._read(call, offered) for call in calls]
        self._count(calls, read)
        for call in calls:
            self.report.say(EventKind.TOOL_START, call_id=call.tool_call_id, tool_name=call.tool_name)
        done: dict[int, Result] = {n: part for n, part in enumerate(read) if isinstance(part, ToolReturnPart)}
        due = [(n, args) for n, args in enumerate(read) if not isinstance(args, ToolReturnPart)]
        if any(self.gate.would_run(calls[n].tool_name, args, self.deps) for n, args in due):
            await self._record()  # before anything runs; what only waits is stored with the pause
        try:
            if len(due) == 1:
                await self._one(calls, *due[0], done)
            else:
                # Each to its own end: what breaks at one must not cut another off in the middle of its effect.
                ones = (self._one(calls, n, args, done) for n, args in due)
                for broke in await asyncio.gather(*ones, return_exceptions=True):
                    if isinstance(broke, BaseException):
                        raise broke
        finally:  # whatever breaks, what has acted stays known
            results = [done[n] for n in range(len(calls)) if n in done]
            if parts := [part for part in results if isinstance(part, ToolReturnPart)]:
                self._add(parts)
                if len(results) < len(calls):
                    await to_the_end(self._record())
        self._pending = [one for one in results if isinstance(one, PendingToolCall)]
        outcomes = {one.tool_call_id: one.outcome for one in results if isinstance(one, ToolReturnPart)}
        tell_batch(self.report, calls, outcomes, self.deps.stopped)
        if self.deps.stopped:
            return next(iter(self.deps.stopped.values()))
        if not self._pending:
            await self._record()
        if self.deps.executions.refused and not self._pending:
            return LimitReached(NO_CALLS_LEFT)
        return None

    @property
    def tools(self) -> Mapping[str, Tool]:
        """What there was when the run began."""
        return self.deps.tools or {}

    def _read(self, call: ToolCallPart, offered: Mapping[str, Tool]) -> dict[str, Any] | ToolReturnPart:
        """The final arguments of a call, or what the model is told to correct."""
        tool = offered.get(call.tool_name)
        if tool is None:
            if call.tool_name in self.tools:
                return {}  # the gate has the words for a tool that is not there any more
            known = ", ".join(sorted(offered)) or "none"
            return _retry(call, f"Unknown tool name: {call.tool_name!r}. Available tools: {known}")
        try:
            return emitted_arguments(tool, call)
        except ValidationError as error:
            if not is_whole(call) and self._cut_off:
                raise OutputTokenLimitExceeded("the model used up its tokens inside a tool call") from error
            return _retry(call, error.errors(include_url=False, include_context=False))

    @property
    def _cut_off(self) -> bool:
        last = self._new[-1] if self._new else None
        return isinstance(last, ModelResponse) and last.finish_reason == "length"

    def _count(self, calls: Sequence[ToolCallPart], read: Sequence[dict[str, Any] | ToolReturnPart]) -> None:
        wrong = {call.tool_name for call, one in zip(calls, read, strict=True) if isinstance(one, ToolReturnPart)}
        self._misused = {name: self._misused.get(name, 0) + 1 for name in wrong}
        for name, often in self._misused.items():
            if often > MISUSES:
                raise ModelError(BAD_ARGUMENTS, detail=f"{name} was misused {often} times in a row")

    async def _one(self, calls: Sequence[ToolCallPart], n: int, args: dict[str, Any], done: dict[int, Result]) -> None:
        call = calls[n]
        decided = await self.gate.decide(call.tool_name, args, call_id=call.tool_call_id, deps=self.deps)
        if not isinstance(decided, Answered):
            done[n] = decided
            return
        done[n] = ToolReturnPart(
            tool_name=call.tool_name, content=decided.text, tool_call_id=call.tool_call_id, outcome=decided.outcome
        )

    async def _record(self) -> None:
        turned_away = self.deps.turned_away - self.deps.run.turned_away
        await self.recorder.record(self._new, turned_away=turned_away)

    def _add(self, parts: Sequence[ModelRequestPart]) -> None:
        run = self.deps.run
        self._new.append(ModelRequest(parts=list(parts), run_id=self.run_id, conversation_id=run.conversation))


def _answers(waiting: Sequence[ToolCallPart], results: Sequence[ToolResult]) -> list[ModelRequestPart]:
    """The results of a pause, in the order in which the model made the calls."""
    given = {result.call_id: result for result in results}
    return [
        ToolReturnPart(
            tool_name=call.tool_name, content=result.text, tool_call_id=call.tool_call_id, outcome=result.outcome
        )
        for call in waiting
        if (result := given.get(call.tool_call_id)) is not None
    ]


def _retry(call: ToolCallPart, content: object) -> ToolReturnPart:
    return ToolReturnPart(tool_name=call.tool_name, content=content, tool_call_id=call.tool_call_id, outcome="retried")
