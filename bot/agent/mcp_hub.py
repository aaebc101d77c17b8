"""The MCP servers of a house: their tools among the others, held to the definitions that were pinned.

A server that is new is pinned as it comes: its tools ask by default anyway. From then on, a tool that is new or says
something else of itself asks whatever the rules say, and the card says what is different; the first call of it that
somebody approves pins the new definition (CVE-2025-54136 is what happens without).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any

from bot.agent import mcp_tools
from bot.agent.mcp_link import CONNECT_SECONDS, PING_SECONDS, Link
from bot.agent.mcp_tools import Definition
from bot.clock import Clock
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.outside import McpServer, ServerState
from storage import audit, pins
from storage.database import Database
from storage.pins import Pin

logger = logging.getLogger(__name__)


class Hub:
    """Every server's tools, put into `tools` and taken out again as they come and go."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        database: Database,
        clock: Clock,
        tools: MutableMapping[str, Tool],
        profiles: MutableMapping[str, str],
        connect_seconds: float = CONNECT_SECONDS,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        self._environ = environ
        self._connect_seconds = connect_seconds
        self._ping_seconds = ping_seconds
        self._database = database
        self._clock = clock
        self._tools = tools
        self._profiles = profiles
        self._kept: dict[str, tuple[Link, asyncio.Task[None]]] = {}
        """Servers that are kept connected, by name."""
        self._offered: dict[str, dict[str, Definition]] = {}
        """What each server offers, by its own names."""
        self._drift: dict[str, str] = {}
        """Of tools that are not what was pinned: what is different."""

    def drift(self, tool: str) -> str | None:
        """What is different from the pinned definition, or None."""
        return self._drift.get(tool)

    def servers(self) -> list[ServerState]:
        """How each server stands, in the order in which they are named."""
        return [
            ServerState(
                name=name,
                where=link.server.where,
                connected=link.connected,
                problem=link.problem,
                tools=tuple(f"{name}_{tool}" for tool in self._offered.get(name, ())),
            )
            for name, (link, _) in self._kept.items()
        ]

    async def keep(self, servers: Sequence[McpServer]) -> None:
        """Be connected to exactly these from now on; one that stays as it is is not touched.

        Waits for none of them: one that hangs must not hold up the start.
        """
        wanted = {server.name: server for server in servers}
        for name in [name for name, (link, _) in self._kept.items() if wanted.get(name) != link.server]:
            await self._drop(name)
        for name, server in wanted.items():
            if name not in self._kept:
                link = Link(
                    server,
                    environ=self._environ,
                    connect_seconds=self._connect_seconds,
                    ping_seconds=self._ping_seconds,
                )
                await self.begin(link)
                self._kept[name] = link, asyncio.ensure_future(link.keep(partial(self.update, link)))

    async def close(self) -> None:
        """Let go of all of them."""
        for _, task in self._kept.values():
            task.cancel()
        if self._kept:
            await asyncio.wait([task for _, task in self._kept.values()])
        self._kept.clear()

    async def _drop(self, name: str) -> None:
        _, task = self._kept.pop(name)
        task.cancel()
        await asyncio.wait([task])
        for tool in list(self._offered.pop(name, {})):
            for found in (self._tools, self._profiles, self._drift):
                found.pop(f"{name}_{tool}", None)

    async def begin(self, link: Link) -> None:
        """Offer what was pinned: what was approved before a restart must find its tool."""
        name = link.server.name
        known = [Definition.from_json(pin.definition) for pin in await pins.of_server(self._database.reader, name)]
        self._offered[name] = {}
        for definition in known:
            self._offer(link, definition)

    async def update(self, link: Link, definitions: Sequence[Definition]) -> None:
        """The server offers exactly these now."""
        name = link.server.name
        stored = {pin.tool: pin for pin in await pins.of_server(self._database.reader, name)}
        drift = {}
        for one in definitions if stored else ():
            pin = stored.get(one.name)
            if pin is None:
                drift[one.name] = "it is new since the server's tools were pinned"
            elif found := mcp_tools.changes(Definition.from_json(pin.definition), one):
                drift[one.name] = "; ".join(found)
        now = {one.name for one in definitions}
        for gone in self._offered[name].keys() - now:
            self._withdraw(name, gone)
        for one in definitions:
            self._drift.pop(f"{name}_{one.name}", None)
            if one.name in drift:
                self._drift[f"{name}_{one.name}"] = drift[one.name]
            self._offer(link, one)
        if not stored:
            async with self._database.begin("pin") as tx:
                await pins.put(tx, [self._pin(name, one, audit.SYSTEM) for one in definitions])
        if drift:
            logger.warning("MCP tools changed", extra={"action": "mcp_drift", "server": name, "tools": drift})

    def _offer(self, link: Link, definition: Definition) -> None:
        """Put a tool among the others. One that is there already stays the very same object."""
        server = link.server.name
        full = f"{server}_{definition.name}"
        offered = self._offered[server]
        if offered.get(definition.name) == definition:
            return
        if full in self._tools and definition.name not in offered:
            logger.warning("MCP tool left out", extra={"action": "mcp_taken", "server": server, "tool": full})
            return

        async def body(name: str, arguments: dict[str, Any], call: Call) -> ToolOutcome:
            if call.approved:
                await self._confirm(server, definition, call)
            return await link.call(name, arguments)

        offered[definition.name] = definition
        self._tools[full] = mcp_tools.make_tool(definition, server=server, profile=link.server.where, body=body)
        self._profiles[full] = link.server.where

    def _withdraw(self, server: str, tool: str) -> None:
        del self._offered[server][tool]
        for found in (self._tools, self._profiles, self._drift):
            found.pop(f"{server}_{tool}", None)

    async def _confirm(self, server: str, definition: Definition, call: Call) -> None:
        """Somebody approved a call with the change in view: from now on this is the definition."""
        if self._drift.get(f"{server}_{definition.name}") is None:
            return
        async with self._database.begin("pin") as tx:
            await pins.put(tx, [self._pin(server, definition, call.id)], approval=call.id)
        if self._offered[server].get(definition.name) == definition:
            self._drift.pop(f"{server}_{definition.name}", None)

    def _pin(self, server: str, definition: Definition, by: str) -> Pin:
        text = definition.to_json()
        return Pin(
            server=server,
            tool=definition.name,
            definition=text,
            hash=hashlib.sha256(text.encode()).hexdigest(),
            pinned_at=self._clock.now(),
            pinned_by=by,
        )
