"""Decides each call of a model *before* its body runs: run it, answer it, or let it wait for somebody.

A call that waits leaves the run, and nothing of it has run: so resuming can be repeated after any crash.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_ai.messages import ToolCallPart
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from bot.agent.executions import Executions, NoneLeft
from bot.clock import Clock
from bot.deferral.body import run_body
from bot.deferral.calls import PendingToolCall
from bot.deferral.executor import parse
from bot.deferral.intent import action_key, intent_key
from bot.deferral.policy import Policy, Verdict, asking_of
from bot.deferral.references import referred
from bot.deferral.strict import load
from bot.deferral.tool import Arguments, Call, Keep, Tool, ToolKind, keep_nothing, look_again
from bot.deferral.vault import Vault
from bot.errors import ApprovalRequired, CallDeferred, RunStopped, TurnStopped
from bot.texts.text import say
from storage.runs import Run

Screen = Callable[[Run, str | None, str], Awaitable[str | None]]
"""Takes the run, the intent and the action; the sentence that answers a re-emission, or None for a new call."""

Refusal = Callable[[Run, str], str | None]
"""Takes the run and the tool's name; why nobody could decide such a call where it would be shown, or None."""

Record = Callable[[Run, str, Mapping[str, Any], str, Literal["allowed", "refused"]], Awaitable[None]]
"""Takes the run, the tool, the arguments and the rule's name: puts on the trail what a rule did with a call."""

BREAKER = 5
"""So often may one request be answered in place of a card, or refused by people (once for each pause), before its turn
is ended."""

MISUSES = 2
"""So often in a row may a model call a tool with arguments that it cannot take, or one that does not exist, and be told
to correct it."""


@dataclass
class RunDeps:
    """What one stretch of the loop carries to its tools."""

    run: Run
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """What may be called: what was there when the stretch began."""
    deferred: set[str] = field(default_factory=set)
    """Actions that wait since this stretch began: a second one in the same batch gets no card of its own."""
    left_out: list[PendingToolCall] = field(default_factory=list)
    """Calls of the batch at hand beyond those that people are asked about at once."""
    turned_away: int = 0
    """Calls of this request that were answered in place of a card, and pauses that ended in a refusal."""
    executions: Executions = field(default_factory=Executions)
    unknown: tuple[str, ...] = ()
    """Tools that the batch at hand names and nobody has: then none of its calls runs."""
    stopped: dict[str, Exception] = field(default_factory=dict)
    """Why the stretch has to end after this batch, by the call that said so. Not raised: that would cancel the other
    calls of the batch wherever they are."""


@dataclass(frozen=True)
class Answered:
    """A call that has its result: its body ran, or it was answered in place of running."""

    text: str
    outcome: Literal["success", "failed"] = "success"


class Gate:
    """Offers the tools, and lets through only what policy allows."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        policy: Policy,
        clock: Clock,
        screen: Screen,
        nobody_can_decide: Refusal,
        mask: Callable[[str], str],
        timeout_seconds: float | None = None,
        record: Record | None = None,
        vault: Vault | None = None,
        keep: Keep = keep_nothing,
        most_at_once: int | None = None,
    ) -> None:
        """`timeout_seconds` bounds each body that runs here; None leaves that to the body. Of the calls of one answer
        no more than `most_at_once` come to wait; the model is told to ask for the others later.

        `record` is waited for before a gated call runs that policy allows, and before the model is told of a refusal.
        `keep` keeps what a call is about to write over.
        """
        self._tools = tools
        self._clock = clock
        self._record = record
        self._policy = policy
        self._screen = screen
        self._nobody_can_decide = nobody_can_decide
        self._mask = mask
        self._timeout_seconds = timeout_seconds
        self._most_at_once = most_at_once
        self.vault = vault or Vault()
        self._keep = keep

    async def tools(self) -> dict[str, Tool]:
        """The tools there are now, once it is known anew which of them are off."""
        await look_again(self._tools.values())
        return dict(self._tools)

    def offered(self, deps: RunDeps) -> Mapping[str, Tool]:
        """What may be called now: nothing that is off, and nothing that came, or became another tool, since the stretch
        began."""
        return {name: tool for name, tool in deps.tools.items() if self._tools.get(name) is tool and not tool.missing()}

    async def decide(
        self, name: str, args: dict[str, Any], *, call_id: str, deps: RunDeps
    ) -> Answered | PendingToolCall:
        """Run one call with its final arguments, answer it, or say that it waits.

        No exception of a tool passes: it would end the run, and a pause of the same batch with it.
        """
        call = _Asked(call_id, args, deps)
        called = self.offered(deps).get(name)
        if called is None:
            if (off := self._tools.get(name)) is not None and (why := off.missing()):
                return _turn_away(call, f"Not run, and nobody was asked: the tool {name} is off here: {why}")
            return Answered(f"Not run: the tool {name} is not there any more, or is not what it was.")
        if deps.unknown:
            names = ", ".join(deps.unknown)
            return Answered(
                f"Not run, like every other call of this batch: it names tools that do not exist ({names})."
            )
        if (problem := self.vault.refusal(called, args, lambda: parse(called, args))) is not None:
            return _turn_away(call, f"Not run. {problem}{self.vault.told(called)}")
        verdict = self._verdict(called, args, deps.run)
        if verdict.action == "refuse":
            if self._record is not None:
                await self._record(deps.run, called.name, args, verdict.rule, "refused")
            return _turn_away(call, f"Policy refuses this call: {verdict.rule}. It did not run.")
        if called.kind is not ToolKind.APPROVAL:
            return await self._defer(called, call, called.kind, reason="")
        if verdict.action == "ask":
            return await self._defer(called, call, ToolKind.APPROVAL, reason=verdict.rule)
        # A tool that defers by itself may have started something elsewhere: its body does not run a second time.
        if (answer := await self._screen(deps.run, *_keys(called, args, deps.run))) is not None:
            return _turn_away(call, answer)
        if called.gated and self._record is not None:
            await self._record(deps.run, called.name, args, verdict.rule, "allowed")
        try:
            return await self._run(called, call)
        except ApprovalRequired as signal:
            return await self._defer(called, call, ToolKind.APPROVAL, reason=signal.reason)
        except CallDeferred as signal:
            return await self._defer(called, call, ToolKind.EXTERNAL, reason=signal.key)

    def would_run(self, name: str, args: Mapping[str, Any], deps: RunDeps) -> bool:
        """Whether the body of such a call would run here and now, as far as policy goes."""
        tool = self.offered(deps).get(name)
        if tool is None or deps.unknown or tool.kind is not ToolKind.APPROVAL:
            return False
        return self._verdict(tool, args, deps.run).action == "allow"

    def _verdict(self, tool: Tool, args: Mapping[str, Any], run: Run) -> Verdict:
        verdict = self._policy.decide(tool, args, asking_of(run, now=self._clock.now()))
        if verdict.action == "allow" and (names := referred(args)):
            return Verdict(action="ask", rule=f"it uses the secret {names[0]}")
        return verdict

    async def _defer(self, tool: Tool, call: _Asked, kind: ToolKind, *, reason: str) -> Answered | PendingToolCall:
        deps, run = call.deps, call.deps.run
        if kind is ToolKind.APPROVAL and (refusal := self._nobody_can_decide(run, tool.name)) is not None:
            return _turn_away(call, refusal)
        if deps.turned_away >= BREAKER:
            return _turn_away(call, "Not asked: this request has been refused often enough.")
        intent, action = _keys(tool, call.args, run)
        if action in deps.deferred:
            return _turn_away(call, "This very call is already being asked about. It has not run; wait for it.")
        # Counted and noted before the first await: calls of one batch come in together.
        has_room = self._most_at_once is None or len(deps.deferred) < self._most_at_once
        deps.deferred.add(action)
        if (answer := await self._screen(run, intent, action)) is not None:
            deps.deferred.discard(action)
            return _turn_away(call, answer)
        pending = PendingToolCall(
            call_id=call.id,
            tool_name=tool.name,
            args=call.args,
            reason=reason,
            kind=kind,
            intent=intent,
            action=action,
        )
        if has_room:
            return pending
        deps.left_out.append(pending)
        return Answered(
            f"Not asked, and not run: people are asked about {self._most_at_once} calls at once, and others of this"
            " answer came first. Once those are decided, ask for this one again if it is still needed."
        )

    async def _run(self, tool: Tool, asked: _Asked) -> Answered:
        run, deps = asked.deps.run, asked.deps
        call = Call(
            id=asked.id,
            run=run.id,
            conversation=run.conversation,
            place=run.place,
            requester=run.requester,
            approved=False,
            keep=self._keep,
        )
        try:
            async with deps.executions.one():
                ran = await run_body(
                    tool, parse(tool, asked.args), call, timeout_seconds=self._timeout_seconds, mask=self._mask
                )
        except NoneLeft:
            return Answered("Not run: this run has used up the tool calls it may make.")
        except RunStopped as signal:
            deps.stopped[call.id] = signal
            return Answered("The run was stopped by this call.")
        return Answered(ran.text, "success" if ran.ok else "failed")


@dataclass(frozen=True)
class _Asked:
    """One call on its way through the gate."""

    id: str
    args: dict[str, Any]
    deps: RunDeps


def _turn_away(call: _Asked, answer: str) -> Answered:
    """Answer a call in place of a card. A model that keeps coming back ends the turn."""
    deps = call.deps
    deps.turned_away += 1
    if deps.turned_away >= BREAKER:
        deps.stopped[call.id] = TurnStopped(
            say("model.breaker"),
            detail=f"breaker after {deps.turned_away} refusals and repeated calls",
        )
    return Answered(answer)


def _keys(tool: Tool, args: Mapping[str, Any], run: Run) -> tuple[str | None, str]:
    """The intent and the action of a call."""
    return intent_key(run.asked_in, run.request, tool.name, args), action_key(tool.name, args)


def emitted_arguments(tool: Tool, call: ToolCallPart) -> dict[str, Any]:
    """The final arguments of a call as the model emitted it. Raises `ValidationError`."""
    validator = ArgumentsValidator(tool.arguments)
    return (
        validator.validate_python(call.args)
        if isinstance(call.args, dict)
        else validator.validate_json(call.args or "")
    )


_SHOWN = 2_000
"""So many characters of arguments that cannot be read go back to the model."""


class ArgumentsValidator:
    """The arguments' schema in the form that pydantic-ai asks for: JSON in, plain names and values out."""

    def __init__(self, arguments: type[Arguments]) -> None:
        self._arguments = arguments

    def validate_json(
        self,
        input: str | bytes | bytearray,
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Parse strictly; a name given twice is refused, because two readers could read it differently."""
        text = input if isinstance(input, str) else bytes(input).decode(errors="replace")
        try:
            parsed = load(text or "{}")
        except (ValueError, RecursionError) as error:
            raise _unreadable(error, text) from error
        return self.validate_python(parsed)

    def validate_python(
        self,
        input: Any,
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Validate and fill in defaults: the result is what is shown, bound and run."""
        try:
            text = json.dumps(input, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise _unreadable(error, "") from error
        return self._arguments.model_validate_json(text).model_dump(mode="json")


def _unreadable(error: Exception, text: str) -> ValidationError:
    """What the model is told about arguments that are not JSON; a text too deep to be read is not handed back."""
    problem = PydanticCustomError("json_invalid", "{problem}", {"problem": str(error)})
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} [...]"
    return ValidationError.from_exception_data("arguments", [InitErrorDetails(type=problem, loc=(), input=shown)])
