"""The house's tools as a pydantic-ai toolset, behind the gate.

The gate decides *before* a body runs. A call that has to wait leaves the run as a deferred call of kind
`external`, whatever it waits for: pydantic-ai then runs nothing when the run is resumed, so that resuming
can be repeated after any crash. (Its own approval path re-runs tools on a repeated resume, cancels
siblings, and accepts answers of the wrong kind.)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai.exceptions import CallDeferred, ToolFailed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from bot.deferral.intent import action_key, intent_key
from bot.deferral.policy import Policy, Verdict
from bot.deferral.tool import Arguments, Call, Tool, ToolKind
from bot.errors import NothingRan
from storage.runs import Run

logger = logging.getLogger(__name__)

Screen = Callable[[Run, str | None, str], Awaitable[str | None]]
"""Takes the run, the intent and the action; the sentence that answers a re-emission, or None for a new call."""

Refusal = Callable[[Run, Tool], str | None]
"""Why nobody could decide this call where it would be shown, or None."""


@dataclass
class RunDeps:
    """What one stretch of the loop carries to its tools."""

    run: Run
    deferred: set[str] = field(default_factory=set)
    """Actions that wait since this stretch began: a second one in the same batch gets no card of its own."""


class Gate(AbstractToolset[RunDeps]):
    """Offers the tools, and lets through only what policy allows."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        policy: Policy,
        screen: Screen,
        nobody_can_decide: Refusal,
        mask: Callable[[str], str],
    ) -> None:
        self._tools = tools
        self._policy = policy
        self._screen = screen
        self._nobody_can_decide = nobody_can_decide
        self._mask = mask

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
                    parameters_json_schema=tool.arguments.model_json_schema(),
                ),
                max_retries=2,
                args_validator=_Validator(tool.arguments),
            )
            for tool in self._tools.values()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[RunDeps], tool: ToolsetTool[RunDeps]
    ) -> str:
        """Decide one call: run it, answer it, or defer it. Raises only pydantic-ai's own signals.

        An exception of a tool must not pass: it would end the run, and a pause of the same batch with it.
        """
        called, run = self._tools[name], ctx.deps.run
        verdict = self._policy.decide(called, tool_args)
        if verdict.action == "refuse":
            raise ToolFailed(f"Policy refuses this call: {verdict.rule}. It did not run. Do not call it again.")
        if verdict.action == "allow" and called.kind is ToolKind.APPROVAL:
            return await self._run(called, tool_args, ctx)
        return await self._ask(called, tool_args, run, ctx.deps.deferred, verdict)

    async def _ask(self, tool: Tool, args: dict[str, Any], run: Run, deferred: set[str], verdict: Verdict) -> str:
        if (refusal := self._nobody_can_decide(run, tool)) is not None:
            raise ToolFailed(refusal)
        intent = intent_key(run.conversation, run.request, tool.name, args)
        action = action_key(tool.name, args)
        if action in deferred:
            return "This very call is already being asked about. It has not run. Do not call it again; wait."
        # Noted before the first await: calls of one batch come in together.
        deferred.add(action)
        if (answer := await self._screen(run, intent, action)) is not None:
            return answer
        raise CallDeferred(
            metadata={
                "args": args,
                "reason": verdict.rule if tool.kind is ToolKind.APPROVAL else "",
                "kind": str(tool.kind),
                "intent": intent,
                "action": action,
            }
        )

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
            outcome = await tool.body(tool.arguments.model_validate_json(json.dumps(args)), call)
        except NothingRan as signal:
            raise ToolFailed(self._mask(f"It could not start, so nothing ran: {signal}")) from signal
        except Exception as error:  # whatever a tool raises, the run must go on
            logger.exception("tool failed", extra={"action": "tool_failed", "tool": tool.name})
            raise ToolFailed(self._mask(f"The tool failed: {type(error).__name__}: {error}")) from error
        if not outcome.ok:
            raise ToolFailed(self._mask(outcome.text))
        return self._mask(outcome.text)


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
            parsed = json.loads(text or "{}", object_pairs_hook=_unique, parse_constant=_no_constant)
        except ValueError as error:
            problem = PydanticCustomError("json_invalid", "{problem}", {"problem": str(error)})
            raise ValidationError.from_exception_data(
                "arguments", [InitErrorDetails(type=problem, loc=(), input=text)]
            ) from error
        return self.validate_python(parsed)

    def validate_python(
        self,
        input: Any,
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Validate and fill in defaults: the result is what is shown, bound and run."""
        return self._arguments.model_validate_json(json.dumps(input)).model_dump(mode="json")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is given twice in the arguments")
    return made


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
