"""The house's tools as a pydantic-ai toolset, behind the gate.

The gate decides *before* a body runs. A call that has to wait leaves the run as a deferred call of kind
`external`, whatever it waits for: pydantic-ai then runs nothing when the run is resumed, so that resuming
can be repeated after any crash. (Its own approval path re-runs tools on a repeated resume, cancels
siblings, and accepts answers of the wrong kind.)
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai import exceptions as pydantic_ai
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from bot.agent.executions import Executions, NoneLeft
from bot.clock import Clock
from bot.deferral.body import run_body
from bot.deferral.executor import parse
from bot.deferral.intent import action_key, intent_key
from bot.deferral.policy import Asking, Policy, Verdict
from bot.deferral.strict import load
from bot.deferral.tool import Arguments, Call, Tool, ToolKind
from bot.errors import ApprovalRequired, CallDeferred, RunStopped, TurnStopped
from storage.runs import Run

Screen = Callable[[Run, str | None, str], Awaitable[str | None]]
"""Takes the run, the intent and the action; the sentence that answers a re-emission, or None for a new call."""

Refusal = Callable[[Run, str], str | None]
"""Takes the run and the tool's name; why nobody could decide such a call where it would be shown, or None."""

Record = Callable[[Run, str, Mapping[str, Any], str], Awaitable[None]]
"""Takes the run, the tool, the arguments and the rule's name: puts on the trail that a rule lets a gated call by."""

BREAKER = 5
"""So often may one request be answered in place of a card, or refused by people (once for each pause), before its turn
is ended."""


@dataclass
class RunDeps:
    """What one stretch of the loop carries to its tools."""

    run: Run
    tools: Mapping[str, Tool] | None = None
    """What may be called: what was there when the stretch began. None: whatever is there."""
    deferred: set[str] = field(default_factory=set)
    """Actions that wait since this stretch began: a second one in the same batch gets no card of its own."""
    turned_away: int = 0
    """Calls of this request that were answered in place of a card, and pauses that ended in a refusal."""
    executions: Executions = field(default_factory=Executions)
    unknown: tuple[str, ...] = ()
    """Tools that the batch at hand names and nobody has: then none of its calls runs."""
    stopped: dict[str, Exception] = field(default_factory=dict)
    """Why the stretch has to end after this batch, by the call that said so. Not raised: that would cancel the other
    calls of the batch wherever they are."""


class Gate(AbstractToolset[RunDeps]):
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
    ) -> None:
        """`timeout_seconds` bounds each body that runs here; None leaves that to the body.

        `record` is waited for before a gated call runs that policy allows.
        """
        self._tools = tools
        self._clock = clock
        self._record = record
        self._policy = policy
        self._screen = screen
        self._nobody_can_decide = nobody_can_decide
        self._mask = mask
        self._timeout_seconds = timeout_seconds

    def tools(self) -> dict[str, Tool]:
        """The tools there are now."""
        return dict(self._tools)

    @property
    def id(self) -> str:
        """See `AbstractToolset.id`."""
        return "signoff"

    async def get_tools(self, ctx: RunContext[RunDeps]) -> dict[str, ToolsetTool[RunDeps]]:
        """See `AbstractToolset.get_tools`."""
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=tool.schema,
                ),
                max_retries=2,
                args_validator=_Validator(tool.arguments),
            )
            for tool in self._offered(ctx.deps).values()
        }

    def _offered(self, deps: RunDeps) -> Mapping[str, Tool]:
        """A tool that came, or became another one, since the stretch began is not callable in it."""
        if deps.tools is None:
            return self._tools
        return {name: tool for name, tool in deps.tools.items() if self._tools.get(name) is tool}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[RunDeps], tool: ToolsetTool[RunDeps]
    ) -> str:
        """Decide one call: run it, answer it, or defer it. Raises only pydantic-ai's own signals.

        An exception of a tool must not pass: it would end the run, and a pause of the same batch with it.
        """
        called = self._offered(ctx.deps).get(name)
        if called is None:
            return f"Not run: the tool {name} is not there any more, or is not what it was."
        if ctx.deps.unknown:
            names = ", ".join(ctx.deps.unknown)
            return f"Not run, like every other call of this batch: it names tools that do not exist ({names})."
        verdict = self._verdict(called, tool_args, ctx.deps.run)
        if verdict.action == "refuse":
            return self._turn_away(ctx, f"Policy refuses this call: {verdict.rule}. It did not run.")
        if called.kind is not ToolKind.APPROVAL:
            return await self._defer(called, tool_args, ctx, called.kind, reason="")
        if verdict.action == "ask":
            return await self._defer(called, tool_args, ctx, ToolKind.APPROVAL, reason=verdict.rule)
        # A tool that defers by itself may have started something elsewhere: its body does not run a second time.
        if (answer := await self._screen(ctx.deps.run, *_keys(called, tool_args, ctx.deps.run))) is not None:
            return self._turn_away(ctx, answer)
        if called.gated and self._record is not None:
            await self._record(ctx.deps.run, called.name, tool_args, verdict.rule)
        try:
            return await self._run(called, tool_args, ctx)
        except ApprovalRequired as signal:
            return await self._defer(called, tool_args, ctx, ToolKind.APPROVAL, reason=signal.reason)
        except CallDeferred as signal:
            return await self._defer(called, tool_args, ctx, ToolKind.EXTERNAL, reason=signal.key)

    def _verdict(self, tool: Tool, args: Mapping[str, Any], run: Run) -> Verdict:
        asking = Asking(
            requester=run.requester, place=run.place, within=run.within, roles=run.roles, now=self._clock.now()
        )
        return self._policy.decide(tool, args, asking)

    async def _defer(
        self, tool: Tool, args: dict[str, Any], ctx: RunContext[RunDeps], kind: ToolKind, *, reason: str
    ) -> str:
        deps, run = ctx.deps, ctx.deps.run
        if kind is ToolKind.APPROVAL and (refusal := self._nobody_can_decide(run, tool.name)) is not None:
            return self._turn_away(ctx, refusal)
        if deps.turned_away >= BREAKER:
            return self._turn_away(ctx, "Not asked: this request has been refused often enough.")
        intent, action = _keys(tool, args, run)
        if action in deps.deferred:
            return self._turn_away(ctx, "This very call is already being asked about. It has not run; wait for it.")
        # Noted before the first await: calls of one batch come in together.
        deps.deferred.add(action)
        if (answer := await self._screen(run, intent, action)) is not None:
            deps.deferred.discard(action)
            return self._turn_away(ctx, answer)
        raise pydantic_ai.CallDeferred(
            metadata={"args": args, "reason": reason, "kind": str(kind), "intent": intent, "action": action}
        )

    def _turn_away(self, ctx: RunContext[RunDeps], answer: str) -> str:
        """Answer a call in place of a card. A model that keeps coming back ends the turn."""
        deps = ctx.deps
        deps.turned_away += 1
        if deps.turned_away >= BREAKER:
            deps.stopped[ctx.tool_call_id or ""] = TurnStopped(
                "I stopped this turn: the model kept asking for calls that had already been answered, or after people"
                " had said no. Nothing more was run. Ask again in other words if something is missing.",
                detail=f"breaker after {deps.turned_away} refusals and repeated calls",
            )
        return answer

    async def _run(self, tool: Tool, args: dict[str, Any], ctx: RunContext[RunDeps]) -> str:
        run = ctx.deps.run
        call = Call(
            id=ctx.tool_call_id or "",
            run=run.id,
            conversation=run.conversation,
            place=run.place,
            requester=run.requester,
            approved=False,
        )
        try:
            async with ctx.deps.executions.one():
                ran = await run_body(
                    tool, parse(tool, args), call, timeout_seconds=self._timeout_seconds, mask=self._mask
                )
        except NoneLeft:
            return "Not run: this run has used up the tool calls it may make."
        except RunStopped as signal:
            ctx.deps.stopped[call.id] = signal
            return "The run was stopped by this call."
        if not ran.ok:
            raise ToolFailed(ran.text) from ran.error
        return ran.text


def _keys(tool: Tool, args: Mapping[str, Any], run: Run) -> tuple[str | None, str]:
    """The intent and the action of a call."""
    return intent_key(run.conversation, run.request, tool.name, args), action_key(tool.name, args)


def emitted_arguments(tool: Tool, call: ToolCallPart) -> dict[str, Any]:
    """The final arguments of a call as the model emitted it. Raises `ValidationError`."""
    validator = _Validator(tool.arguments)
    return (
        validator.validate_python(call.args)
        if isinstance(call.args, dict)
        else validator.validate_json(call.args or "")
    )


_SHOWN = 2_000
"""So many characters of arguments that cannot be read go back to the model."""


class _Validator:
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
