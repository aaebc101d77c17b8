"""What can be done here: every tool, what policy says of it for one person in one place, and how it stands.

Policy is asked, never second-guessed: once without any arguments that a rule could look at, and once with none given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.agent.mcp_door import Door
from bot.agent.searching import NAME as SEARCH
from bot.deferral.policy import CANNOT_TELL, Asking, Policy
from bot.deferral.tool import Arguments, Tool, ToolKind, look_again
from bot.outside import ServerState
from bot.permits import Action
from bot.texts.text import joined, say


@dataclass(frozen=True, kw_only=True)
class ToolEntry:
    """One tool as it stands."""

    name: str
    description: str
    action: Action
    why: str
    """The rule that says so, in policy's own words."""
    depends: str
    """The first rule that decides otherwise for some arguments, or ''."""
    profile: str
    """What its body may touch."""
    broken: str
    """Why it will not run at this moment, or ''."""
    server: str
    """The MCP server that it is a tool of, or ''."""
    changed: str
    """What is different from its pinned definition, or ''."""
    kind: ToolKind = ToolKind.APPROVAL
    """What a call of it waits for, when it waits."""


class Toolbook:
    """Looks tools up for people."""

    def __init__(self, *, tools: Mapping[str, Tool], policy: Policy, door: Door) -> None:
        """`tools` may change meanwhile."""
        self._tools = tools
        self._policy = policy
        self._door = door

    def names(self) -> tuple[str, ...]:
        """Every tool there is at this moment."""
        return tuple(self._tools)

    def hints(self) -> list[str]:
        """What could be here and is not, and what it takes."""
        return [] if SEARCH in self._tools else [say("tools.search_off")]

    def servers(self) -> list[ServerState]:
        """How each MCP server stands."""
        return self._door.servers()

    async def look_again(self) -> None:
        """Find out anew which tools are off."""
        await look_again(self._tools.values())

    def off(self) -> dict[str, list[str]]:
        """The tools that are off on this machine, as far as was found out, by why that is and what helps."""
        found: dict[str, list[str]] = {}
        for tool in self._tools.values():
            if why := tool.missing():
                found.setdefault(why, []).append(tool.name)
        return found

    async def warnings(self) -> list[str]:
        """A sentence for each reason why tools are off, found out anew."""
        await self.look_again()
        named = {why: joined(f"`{name}`" for name in names) for why, names in self.off().items()}
        return [say("sandbox.off", tools=tools, why=why) for why, tools in named.items()]

    def entries(self, asking: Asking) -> list[ToolEntry]:
        """Every tool: the built-in ones first, then each server's, by name."""
        servers = {tool: state for state in self.servers() for tool in state.tools}
        found = [self._entry(tool, asking, servers.get(tool.name)) for tool in self._tools.values()]
        return sorted(found, key=lambda entry: (entry.server, entry.name))

    def _entry(self, tool: Tool, asking: Asking, server: ServerState | None) -> ToolEntry:
        # A tool without arguments is not what a rule about arguments is about.
        bare = self._policy.decide(replace(tool, arguments=Arguments), {}, asking)
        given = self._policy.decide(tool, {}, asking)
        depends = ""
        if CANNOT_TELL in given.rule:
            depends = given.rule.partition(CANNOT_TELL)[0]
        elif given != bare:
            bare = given
        return ToolEntry(
            name=tool.name,
            description=tool.description,
            action=bare.action,
            why=bare.rule,
            depends=depends,
            profile=tool.profile,
            broken=self._broken(tool, server),
            server=server.name if server is not None else "",
            changed=self._door.drift(tool.name) or "",
            kind=tool.kind,
        )

    def _broken(self, tool: Tool, server: ServerState | None) -> str:
        if server is not None and not server.connected:
            return say("tools.server_gone", server=server.name, problem=server.problem)
        return tool.missing()
