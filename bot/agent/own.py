"""The user's own pydantic-ai agent in the place of ours: its model, instructions, tools, dependencies and output type.

Its tools become the house's, so that the gate, the cards and the executor see them as they see any other; the agent
itself runs with nothing but the gate for a toolset, whatever it was built with.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, model_validator
from pydantic_ai import Agent, AgentRun, DeferredToolRequests, RunContext
from pydantic_ai import exceptions as pydantic_ai
from pydantic_ai.messages import ToolReturn
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_ai.usage import RunUsage
from pydantic_core import to_jsonable_python

from bot.agent.behind import IN_ARGUMENTS, Behind
from bot.agent.gate import Gate, RunDeps
from bot.deferral.tool import Arguments, Call, Tool, ToolKind, ToolOutcome
from bot.errors import ApprovalRequired, CallDeferred, NothingRan, SettingsError

PROFILE = "in-process, a tool of your own agent"
_KINDS = {"function": ToolKind.APPROVAL, "unapproved": ToolKind.APPROVAL, "external": ToolKind.EXTERNAL}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """For whom a run works: what the maker of dependencies is given."""

    requester: str
    place: str
    conversation: str
    run: str


Deps = Callable[[Asked], Any]


class OwnAgent:
    """An agent that somebody else built."""

    def __init__(self, agent: Agent[Any, Any], *, deps: Deps | None) -> None:
        """Raises `SettingsError` when it cannot work here."""
        if deps is None and agent.deps_type not in (object, type(None)):  # `object`: none were named
            raise SettingsError(
                "SIGNOFF_AGENT", "takes dependencies; name what makes them in SIGNOFF_AGENT_DEPS (package.module:make)."
            )
        self.agent = agent
        self._deps = deps
        listed = agent.output_type if isinstance(agent.output_type, Sequence) else [agent.output_type]
        # An agent with output validators takes no other output type for a run (pydantic-ai: UserError).
        self._output: Any = None if DeferredToolRequests in listed else [*listed, DeferredToolRequests]
        if self._output is not None and agent._output_validators:
            raise SettingsError(
                "SIGNOFF_AGENT", "has output validators; put DeferredToolRequests into its output_type."
            )
        self._toolset = CombinedToolset(list(agent.toolsets))
        self._capabilities: dict[str, Any] = {}
        self._toolset.apply(self._note)

    async def deps(self, asked: Asked) -> Any:
        """The dependencies of one run, or of one call."""
        made = self._deps(asked) if self._deps is not None else None
        return await made if inspect.isawaitable(made) else made

    def _note(self, toolset: AbstractToolset[Any]) -> None:
        """A toolset that came with a capability looks for it in the context."""
        if (capability := getattr(toolset, "capability", None)) is not None:
            self._capabilities.setdefault(f"capability-{len(self._capabilities)}", capability)

    async def tools(self, model: Model, taken: Mapping[str, Tool]) -> list[Tool]:
        """Its tools as they are at the start. Raises `SettingsError`."""
        ctx = self._context(await self.deps(Asked(requester="", place="", conversation="", run="")), model)
        found = await self._toolset.get_tools(ctx)
        if clash := sorted(found.keys() & taken.keys()):
            raise SettingsError("SIGNOFF_AGENT", f"has a tool with the name of one of ours: {clash[0]}.")
        return [self._tool(one, model) for one in found.values()]

    def _context(self, deps: Any, model: Model, call: Call | None = None, name: str | None = None) -> RunContext[Any]:
        return RunContext(
            deps=deps,
            model=model,
            usage=RunUsage(),
            agent=self.agent,
            tool_name=name,
            tool_call_id=call.id if call else None,
            tool_call_approved=call.approved if call else False,
            run_id=call.run if call else None,
            conversation_id=call.conversation if call else None,
            capabilities=self._capabilities,
        )

    def _tool(self, one: ToolsetTool[Any], model: Model) -> Tool:
        definition = one.tool_def

        async def body(arguments: Arguments, call: Call) -> ToolOutcome:
            asked = Asked(requester=call.requester, place=call.place, conversation=call.conversation, run=call.run)
            ctx = self._context(await self.deps(asked), model, call, definition.name)
            there = (await self._toolset.get_tools(ctx)).get(definition.name)
            if there is None:
                raise NothingRan(f"the agent does not offer {definition.name} now")
            given = there.args_validator.validate_json(json.dumps(arguments.model_dump(mode="json")))
            try:
                if there.args_validator_func is not None:
                    checked = there.args_validator_func(ctx, **given)
                    if inspect.isawaitable(checked):
                        await checked
                return _outcome(await self._toolset.call_tool(definition.name, given, ctx, there))
            except pydantic_ai.ApprovalRequired as signal:
                raise ApprovalRequired(_reason(signal.metadata)) from signal
            except pydantic_ai.CallDeferred as signal:
                raise CallDeferred(_reason(signal.metadata)) from signal
            except (pydantic_ai.ModelRetry, pydantic_ai.ToolFailed) as error:
                return ToolOutcome(text=str(error), ok=False)

        return Tool(
            name=definition.name,
            description=definition.description or "",
            arguments=_arguments(one),
            body=body,
            kind=_KINDS.get(definition.kind, ToolKind.APPROVAL),
            gated=definition.kind != "function",
            profile=PROFILE,
            secrets=IN_ARGUMENTS,
        )

    @asynccontextmanager
    async def iter(
        self, prompt: str | None, *, gate: Gate, deps: RunDeps, model: Model, **rest: Any
    ) -> AsyncIterator[AgentRun[Any, Any]]:
        """Run it, every tool behind the gate. As `Agent.iter`."""
        run = deps.run
        own = await self.deps(
            Asked(requester=run.requester, place=run.place, conversation=run.conversation, run=run.id)
        )
        with self.agent.override(toolsets=[Behind(gate, deps)], tools=[]):
            async with self.agent.iter(
                prompt, deps=own, output_type=self._output, model=None if self.agent.model else model, **rest
            ) as running:
                yield running


def load_own(agent: str, deps: str | None) -> OwnAgent:
    """Import the agent, and what makes its dependencies, from the current folder or what is installed.

    Both as `package.module:name`. Raises `SettingsError`.
    """
    found = _named("SIGNOFF_AGENT", agent)
    if not isinstance(found, Agent):
        raise SettingsError("SIGNOFF_AGENT", f"is not a pydantic-ai Agent: {agent} is a {type(found).__name__}.")
    make = _named("SIGNOFF_AGENT_DEPS", deps) if deps else None
    if make is not None and not callable(make):
        raise SettingsError("SIGNOFF_AGENT_DEPS", f"is not a function: {deps}.")
    return OwnAgent(found, deps=make)


def written(output: object) -> str:
    """An agent's answer as text: as it is, or as JSON."""
    if isinstance(output, str):
        return output
    text = TypeAdapter(type(output)).dump_json(output, indent=2, fallback=str).decode()
    return f"```json\n{text}\n```"


def _named(setting: str, where: str) -> Any:
    module, _, name = where.partition(":")
    if not module or not name:
        raise SettingsError(setting, f"must be written as package.module:name, not {where!r}.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SettingsError(setting, f"cannot be found: {error}.") from error


def _arguments(one: ToolsetTool[Any]) -> type[Arguments]:
    """Arguments that hold to the tool's own validator, in JSON with its defaults filled in."""
    validator, schema = one.args_validator, one.tool_def.parameters_json_schema

    class OwnArguments(Arguments):
        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def check(cls, given: Any) -> Any:
            """What the tool would be called with."""
            whole = to_jsonable_python(validator.validate_json(json.dumps(given)))
            validator.validate_json(json.dumps(whole))
            return whole

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            """The tool's own schema."""
            return schema

    return OwnArguments


def _outcome(returned: Any) -> ToolOutcome:
    if isinstance(returned, ToolReturn):
        returned = returned.return_value
    if isinstance(returned, str):
        return ToolOutcome(text=returned)
    return ToolOutcome(text=json.dumps(to_jsonable_python(returned, fallback=str), ensure_ascii=False))


def _reason(metadata: Mapping[str, Any] | None) -> str:
    """What a signal of the tool's says beside itself."""
    return "; ".join(f"{key}: {value}" for key, value in (metadata or {}).items()) or "the tool asks for it"
