"""The connection to one MCP server: kept up, taken up again, and never anybody else's trouble.

One task owns it from connecting to closing; calls come from any task. A server that dies, hangs or lies costs its own
calls an error that says what is known, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp import ClientSession, types
from mcp.shared.exceptions import MCPError

from bot.agent import mcp_tools, mcp_wire
from bot.agent.mcp_tools import MOST_TOOLS, Definition, Unusable
from bot.deferral.tool import ToolOutcome
from bot.errors import NothingRan
from bot.outside import McpServer
from bot.plain import words_of

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 15.0
"""From starting it to knowing its tools."""
PING_SECONDS = 5.0
_FIRST_RETRY = 1.0
_LAST_RETRY = 60.0
_MOST_PAGES = 20

OnTools = Callable[[Sequence[Definition]], Awaitable[None]]
"""Takes everything the server offers now."""


class Link:
    """One server."""

    def __init__(
        self,
        server: McpServer,
        *,
        environ: Mapping[str, str],
        connect_seconds: float = CONNECT_SECONDS,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        self.server = server
        self.problem = "it has not been reached yet"
        """Why there is no connection."""
        self._environ = environ
        self._connect_seconds = connect_seconds
        self._ping_seconds = ping_seconds
        self._session: ClientSession | None = None
        self._moved = asyncio.Event()
        """Set, and replaced, whenever an attempt to connect has ended."""
        self._begun = self._failed = 0
        """The newest attempt to connect, and the newest one that failed."""
        self._retry = asyncio.Event()
        self._ended = asyncio.Event()
        self._stale = False
        self._closing = False

    @property
    def connected(self) -> bool:
        """Whether a call would reach it now."""
        return self._session is not None

    async def keep(self, on_tools: OnTools) -> None:
        """Connect, and connect again, until cancelled."""
        pause = _FIRST_RETRY
        while True:
            self._begun += 1
            try:
                async with self._connected(on_tools) as session:
                    pause = _FIRST_RETRY
                    await self._stay(session, on_tools)
                self.problem = "it ended the connection"
            except Exception as error:  # noqa: BLE001 - the edge: whatever it or the SDK does is one server's trouble
                self.problem = words_of(_inner(error)) or type(_inner(error)).__name__
            self._failed, self._closing = self._begun, False
            self._move(None)
            logger.warning(
                "no MCP server", extra={"action": "mcp_gone", "server": self.server.name, "problem": self.problem[:500]}
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._retry.wait()
            self._retry.clear()
            pause = min(pause * 2, _LAST_RETRY)

    @asynccontextmanager
    async def _connected(self, on_tools: OnTools) -> AsyncIterator[ClientSession]:
        self._ended = asyncio.Event()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._connect_seconds):
                streams = await stack.enter_async_context(
                    mcp_wire.wire(self.server, environ=self._environ, ended=self._ended)
                )
                session = await stack.enter_async_context(ClientSession(*streams, message_handler=self._on_message))
                await session.initialize()
                await self._list(session, on_tools)
            yield session

    async def _stay(self, session: ClientSession, on_tools: OnTools) -> None:
        self._move(session)
        logger.info("MCP server connected", extra={"action": "mcp_connected", "server": self.server.name})
        while not self._ended.is_set():
            await self._ended.wait()
            if self._stale:
                self._stale = False
                self._ended.clear()
                async with asyncio.timeout(self._connect_seconds):
                    await self._list(session, on_tools)
                logger.info("MCP tools listed again", extra={"action": "mcp_listed", "server": self.server.name})
        self._session, self._closing = None, True  # closing it takes a moment, in which it is of no use any more

    def _move(self, session: ClientSession | None) -> None:
        self._session = session
        self._moved.set()
        self._moved = asyncio.Event()

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale = True
            self._ended.set()

    async def _list(self, session: ClientSession, on_tools: OnTools) -> None:
        found: dict[str, Definition] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await session.send_request(types.ListToolsRequest(params=params), types.ListToolsResult)
            for tool in page.tools:
                try:
                    definition = mcp_tools.read(tool, server=self.server.name)
                except Unusable as problem:
                    logger.warning(
                        "MCP tool left out",
                        extra={"action": "mcp_unusable", "server": self.server.name, "problem": str(problem)},
                    )
                else:
                    found.setdefault(definition.name, definition)
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        await on_tools(list(found.values())[:MOST_TOOLS])

    async def call(self, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
        """One call. Raises `NothingRan` if, and only if, the server was not asked."""
        name, seconds = self.server.name, self.server.timeout
        session = await self._ready()
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        try:
            async with asyncio.timeout(seconds):
                result = await session.send_request(request, types.CallToolResult)
        except TimeoutError:
            await self._check(session)
            text = f"The MCP server {name} did not answer within {seconds:g} s; it was asked, so it may have acted."
            return ToolOutcome(text=text, ok=False)
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                text = f"The connection to the MCP server {name} ended before it answered; it may have acted."
                return ToolOutcome(text=text, ok=False)
            said = error.message[: mcp_tools.MOST_CHARACTERS]
            text = f"The MCP server {name} refused the call. {mcp_tools.UNTRUSTED.format(server=name)}\n\n{said}"
            return ToolOutcome(text=text, ok=False)
        except Exception as error:
            logger.info("MCP call failed", exc_info=error, extra={"action": "mcp_call_failed", "server": name})
            await self._check(session)
            text = f"The MCP server {name} gave no answer that makes sense ({type(error).__name__}); it may have acted."
            return ToolOutcome(text=text, ok=False)
        return mcp_tools.outcome(result, server=name)

    async def _ready(self) -> ClientSession:
        """The session; where there is none, one attempt is waited for."""
        if self._session is None:
            self._retry.set()
            mine = self._begun if self._failed < self._begun and not self._closing else self._begun + 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * self._connect_seconds):
                    while self._session is None and self._failed < mine:
                        await self._moved.wait()
        if self._session is None:
            raise NothingRan(f"the MCP server {self.server.name} is not there ({self.problem[:300]})")
        return self._session

    async def _check(self, session: ClientSession) -> None:
        """Give up a connection over which nothing comes back any more."""
        try:
            async with asyncio.timeout(self._ping_seconds):
                await session.send_ping()
        except Exception as error:
            logger.info("MCP ping failed", exc_info=error, extra={"action": "mcp_deaf", "server": self.server.name})
            if session is self._session:
                self._ended.set()


def _inner(error: BaseException) -> BaseException:
    """What a task group wrapped."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
