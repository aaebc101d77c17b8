"""The gate as a toolset of pydantic-ai: for the user's own agent, whose loop is pydantic-ai's.

A call that has to wait leaves that loop as a deferred call of kind `external`, whatever it waits for: pydantic-ai then
runs nothing when the run is resumed. (Its own approval path re-runs tools on a repeated resume, cancels siblings, and
accepts answers of the wrong kind.)
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import CallDeferred, ToolFailed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from bot.agent.gate import MISUSES, Answered, ArgumentsValidator, Gate, RunDeps
from bot.deferral.tool import SecretUse, Tool
from bot.deferral.vault import Vault

IN_ARGUMENTS = SecretUse(
    how="Write such a reference where the value belongs; it is put in when the call runs. You never see it.",
    in_arguments=True,
)
"""For tools whose arguments go elsewhere: those of MCP servers, and of the user's own agent."""


def definition(tool: Tool, vault: Vault) -> ToolDefinition:
    """A tool as it is offered to a model, with the secrets that it may refer to."""
    description = tool.description + vault.told(tool)
    return ToolDefinition(name=tool.name, description=description, parameters_json_schema=tool.schema)


class Behind(AbstractToolset[Any]):
    """The gate's tools, for one run of an agent whose dependencies are its own."""

    def __init__(self, gate: Gate, deps: RunDeps) -> None:
        self._gate = gate
        self._deps = deps

    @property
    def id(self) -> str:
        """See `AbstractToolset.id`."""
        return "signoff"

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """See `AbstractToolset.get_tools`."""
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=definition(tool, self._gate.vault),
                max_retries=MISUSES,
                args_validator=ArgumentsValidator(tool.arguments),
            )
            for tool in self._gate.offered(self._deps).values()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        """See `Gate.decide`. Raises only pydantic-ai's own signals."""
        decided = await self._gate.decide(name, tool_args, call_id=ctx.tool_call_id or "", deps=self._deps)
        if not isinstance(decided, Answered):
            raise CallDeferred(metadata={"pending": decided})
        if decided.outcome == "failed":
            raise ToolFailed(decided.text)
        return decided.text
