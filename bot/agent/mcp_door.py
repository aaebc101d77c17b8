"""The door to MCP servers: what the house knows of them without the packages that speak to them.

Those are imported with the first server that is named, at the start or by a reload.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bot.clock import Clock
from bot.deferral.policy import Asking, Policy, Verdict
from bot.deferral.tool import Tool
from bot.errors import SettingsError
from bot.outside import McpServer, ServerState
from storage.database import Database

if TYPE_CHECKING:
    from bot.agent.mcp_hub import Hub

_MCP = {"mcp", "mcp_types", "jsonschema", "referencing"}
_WITHOUT = "needs a few more packages: pip install 'signoff[mcp]' (in a checkout: .venv/bin/pip install -e '.[mcp]')."


class Door:
    """Every server's tools, among the others as they come and go; without servers it is shut."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        database: Database,
        clock: Clock,
        tools: MutableMapping[str, Tool],
        profiles: MutableMapping[str, str],
    ) -> None:
        self._environ = environ
        self._database = database
        self._clock = clock
        self._tools = tools
        self._profiles = profiles
        self._hub: Hub | None = None

    async def change(self, servers: Sequence[McpServer]) -> None:
        """Be connected to exactly these from now on.

        Raises `SettingsError` when the packages for it are not installed; then nothing has changed.
        """
        self.check(servers)
        if self._hub is not None:
            await self._hub.keep(servers)

    def check(self, servers: Sequence[McpServer]) -> None:
        """Raise `SettingsError` if `change` would."""
        if self._hub is None and servers:
            self._hub = self._opened()

    def servers(self) -> list[ServerState]:
        """How each server stands."""
        return self._hub.servers() if self._hub is not None else []

    def drift(self, tool: str) -> str | None:
        """What is different from the tool's pinned definition, or None."""
        return self._hub.drift(tool) if self._hub is not None else None

    async def close(self) -> None:
        """Let go of all servers."""
        if self._hub is not None:
            await self._hub.close()

    def _opened(self) -> Hub:
        try:
            from bot.agent.mcp_hub import Hub
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] not in _MCP:
                raise
            raise SettingsError("SIGNOFF_MCP", _WITHOUT) from error
        return Hub(
            environ=self._environ,
            database=self._database,
            clock=self._clock,
            tools=self._tools,
            profiles=self._profiles,
        )


class PinnedPolicy:
    """Policy, but a tool that is not what was pinned asks, whatever allowed it."""

    def __init__(self, policy: Policy, door: Door) -> None:
        self._policy = policy
        self._door = door

    def decide(self, tool: Tool, arguments: Mapping[str, Any], asking: Asking) -> Verdict:
        """See `Policy.decide`."""
        verdict = self._policy.decide(tool, arguments, asking)
        different = self._door.drift(tool.name)
        if different is None or verdict.action == "refuse":
            return verdict
        return Verdict(action="ask", rule=f"{tool.name} is not what it was: {different}")


@asynccontextmanager
async def open_door(
    servers: Sequence[McpServer],
    *,
    environ: Mapping[str, str],
    database: Database,
    clock: Clock,
    tools: MutableMapping[str, Tool],
    profiles: MutableMapping[str, str],
) -> AsyncIterator[Door]:
    """Add the tools of MCP servers to `tools`, as they come and go. Raises as `Door.change`."""
    door = Door(environ=environ, database=database, clock=clock, tools=tools, profiles=profiles)
    try:
        await door.change(servers)
        yield door
    finally:
        await door.close()
