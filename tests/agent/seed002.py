"""What the tests of pause and resume share: an agent over a script, and tools with countable effects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.agent.deferring import DeferringAgent, RunResult
from bot.deferral.events import Event
from bot.deferral.results import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from bot.deferral.tool import Call, Tool, ToolKind, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred
from tests.house import DoArguments, QuestionArguments, Script, Step

YES = ToolApproved()
NO = ToolDenied()


@dataclass
class Lab:
    """An agent with a gated tool, one that only looks, and those that a test adds."""

    steps: Sequence[Step]
    more: Sequence[Tool] = ()
    options: dict[str, Any] = field(default_factory=dict)
    bodies: list[tuple[str, bool]] = field(default_factory=list)
    """Bodies that began: the argument, and whether it was signed off."""
    effects: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.script = Script(*self.steps)
        self.agent = self.another()

    def another(self, *, tools: Sequence[Tool] | None = None, **options: Any) -> DeferringAgent:
        """A second agent over the same script, as another process would have it."""
        return DeferringAgent(
            model=self.script.model,
            tools=self.tools() if tools is None else tools,
            **{**self.options, **options},
        )

    def tools(self) -> list[Tool]:
        async def careful(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.bodies.append((arguments.what, call.approved))
            if not call.approved:
                raise ApprovalRequired("needs a second look")
            self.effects.append(arguments.what)
            return ToolOutcome(text=f"did {arguments.what}")

        async def act(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.bodies.append((arguments.what, call.approved))
            self.effects.append(arguments.what)
            return ToolOutcome(text=f"did {arguments.what}")

        async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.bodies.append((arguments.what, call.approved))
            return ToolOutcome(text=f"saw {arguments.what}")

        async def report(arguments: DoArguments, call: Call) -> ToolOutcome:
            raise CallDeferred(f"job {arguments.what}")

        mine = [
            tool("careful", careful),
            tool("act", act, gated=True),
            tool("look", look),
            tool("report", report),
            Tool(
                name="ask_user",
                description="Asks.",
                arguments=QuestionArguments,
                body=act,
                kind=ToolKind.QUESTION,
                gated=False,
            ),
        ]
        added = {one.name for one in self.more}
        return [one for one in mine if one.name not in added] + list(self.more)

    async def run(self, prompt: str | None = "please", **options: Any) -> RunResult:
        return await self.agent.run(prompt, on_event=self.events.append, **options)

    async def resume(
        self, paused: RunResult, results: DeferredToolResults, prompt: str | None = None, **options: Any
    ) -> RunResult:
        assert paused.pending is not None
        options.setdefault("on_event", self.events.append)
        return await self.agent.resume(paused.messages, paused.pending, results, prompt, **options)

    def heard(self, *kinds: str) -> list[tuple[str, str | None]]:
        """Kind and call of the events so far, or of those kinds only."""
        return [(str(one.kind), one.call_id) for one in self.events if not kinds or one.kind in kinds]


def tool(
    name: str, body: Callable[[Any, Call], Awaitable[ToolOutcome]], *, gated: bool = False, arguments: Any = DoArguments
) -> Tool:
    return Tool(name=name, description="Does.", arguments=arguments, body=body, gated=gated)


def decide(**approvals: Any) -> DeferredToolResults:
    return DeferredToolResults(approvals=approvals)


def waiting(result: RunResult) -> DeferredToolRequests:
    assert result.pending is not None
    return result.pending


def parts(messages: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Kind and call id (or text) of each part, in order."""
    return [
        (part["part_kind"], str(part.get("tool_call_id") or part.get("content")))
        for message in messages
        for part in message["parts"]
    ]
