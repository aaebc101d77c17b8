"""The WebSocket face: Discord's gateway v10 for discord.py, fed with simcord's events.

Text frames without compression, one session per identify, a replay for RESUME; and the gateway's own faults.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import discord
from aiohttp import WSMsgType, web
from simcord import gateway as simcord_gateway  # private: simcord.gateway, intents and chunking on the server's side
from simcord.backend import serializers
from simcord.intents import missing_privileged_intents

from bot.background import Background
from bot.playground.changes import Changes
from bot.playground.rest import APPLICATION_FLAGS, RestFace, cut
from bot.playground.world import World

logger = logging.getLogger(__name__)

HEARTBEAT = 41.25
"""Seconds between heartbeats, as Discord asks for."""

ACK_AFTER = 0.05
"""Seconds. discord.py notes when it sent a heartbeat only after sending; a faster answer reads as 41 s of lag."""

OVERTAKEN = 0.3
"""Seconds."""

_REPLAYED = 1000
_KEPT_SESSIONS = 3

DISPATCH, HEARTBEAT_NOW, IDENTIFY, RESUME, CHUNKS, INVALID, HELLO, ACK = 0, 1, 2, 6, 8, 9, 10, 11
"""Opcodes: discord.com/developers/docs/topics/opcodes-and-status-codes."""

UNKNOWN_ERROR, BAD_TOKEN, INTENTS_NOT_ALLOWED = 4000, 4004, 4014
"""Close codes, same source."""


class Line:
    """One open socket; what is sent goes out in order."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self._request = request
        self._out: asyncio.Queue[str] = asyncio.Queue()

    def send(self, text: str) -> None:
        """Queue one frame."""
        self._out.put_nowait(text)

    def say(self, opcode: int, data: Any) -> None:
        """Queue a frame that is not an event."""
        self.send(json.dumps({"op": opcode, "d": data, "s": None, "t": None}))

    def cut(self) -> None:
        """Break it without a closing handshake."""
        cut(self._request)

    async def pump(self) -> None:
        """Send what is queued, until the socket is gone."""
        while not self.socket.closed:
            text = await self._out.get()
            try:
                await self.socket.send_str(text)
            except ConnectionError:
                return


class Session:
    """One identified client. It stands where simcord expects discord.py's connection state."""

    def __init__(self, text: Callable[[Any], str], world: World, intents: int) -> None:
        self.id = secrets.token_hex(8)
        self.line: Line | None = None
        self.intents = discord.Intents._from_value(intents)
        self.parsers = self
        self.sequence = 0
        self._text = text
        self._log: deque[tuple[int, str]] = deque(maxlen=_REPLAYED)
        # private: FakeGateway and FakeWebSocket drop what the intents do not allow and answer member chunks
        self.gateway = simcord_gateway.FakeGateway(world.backend, self)
        self.chunks = simcord_gateway.FakeWebSocket(world.backend, self.gateway)

    def __getitem__(self, event: str) -> Callable[[Mapping[str, Any]], None]:
        """What simcord calls with an event's payload."""
        return lambda payload: self.push(event, payload)

    def get(self, event: str) -> Callable[[Mapping[str, Any]], None]:
        """As `[]`."""
        return self[event]

    def push(self, event: str, payload: Mapping[str, Any]) -> None:
        """Send an event, and keep it for a resume."""
        self.sequence += 1
        text = self._text({"op": DISPATCH, "t": event, "s": self.sequence, "d": payload})
        self._log.append((self.sequence, text))
        if self.line is not None:
            self.line.send(text)

    def replay(self, line: Line, after: int) -> None:
        """Go on over another socket: first everything that was missed."""
        self.line = line
        for number, text in self._log:
            if number > after:
                line.send(text)
        self.push("RESUMED", {})


class GatewayFace:
    """Serves the gateway; a test may disturb it."""

    def __init__(self, world: World, rest: RestFace, *, token: str, changes: Changes, background: Background) -> None:
        self.approved = discord.Intents.default()
        self.approved.message_content = True
        """The intents the portal allows: of the privileged ones only what threads without a mention need."""
        self.refuse_resumes = 0
        """How many of the next RESUMEs are answered with "invalid session" (opcode 9)."""
        self.close_resumes = 0
        """How many of the next RESUMEs are answered with the end of the socket."""
        self.delay = 0.0
        """Seconds by which events are held back."""
        self.overtaken = 0
        """How many of the next events are held back for `OVERTAKEN` seconds, so that later ones come before them."""
        self.doubled = 0
        """How many of the next events come twice."""
        self.identified = 0
        """How many sessions began so far."""
        self.resumed = 0
        """How many were taken up again."""
        self._world = world
        self._rest = rest
        self._token = token
        self._changes = changes
        self._background = background
        self._sessions: dict[str, Session] = {}
        self._lines: set[Line] = set()
        world.backend.subscribers.append(self._feed)

    @property
    def connected(self) -> bool:
        """Whether a bot is there and receives events."""
        return any(session.line is not None for session in self._sessions.values())

    def cut(self) -> None:
        """Break all sockets without a closing handshake, as a failing network does."""
        for line in tuple(self._lines):
            line.cut()

    async def close(self, code: int = 1001) -> None:
        """Close all sockets in order, with this close code."""
        for line in tuple(self._lines):
            await line.socket.close(code=code)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket for as long as it lasts."""
        delay, fault = self._rest.faults.strike("GET", "/gateway")
        await asyncio.sleep(delay)
        if fault is not None and fault.kind == "status":
            return web.Response(status=fault.status)
        if fault is not None:
            return cut(request)
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        line = Line(socket, request)
        self._lines.add(line)
        pump = self._background.spawn(line.pump(), name="gateway")
        line.say(HELLO, {"heartbeat_interval": int(HEARTBEAT * 1000)})
        try:
            async for message in socket:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    await self._receive(line, json.loads(message.data))
        finally:
            pump.cancel()
            self._hang_up(line, clean=socket.close_code in (1000, 1001))
        return socket

    async def _receive(self, line: Line, frame: dict[str, Any]) -> None:
        opcode: int = frame["op"]
        data: Any = frame.get("d")
        if opcode == HEARTBEAT_NOW:
            asyncio.get_running_loop().call_later(ACK_AFTER, line.say, ACK, None)
        elif opcode == IDENTIFY:
            await self._identify(line, data)
        elif opcode == RESUME:
            await self._resume(line, data)
        elif opcode == CHUNKS and (session := self._of(line)) is not None:
            options = {k: data.get(k) for k in ("user_ids", "nonce")}
            await session.chunks.request_chunks(
                int(data["guild_id"]),
                data.get("query"),
                limit=data.get("limit") or 0,
                presences=bool(data.get("presences")),
                **options,
            )

    async def _identify(self, line: Line, data: dict[str, Any]) -> None:
        if data["token"] != self._token:
            await line.socket.close(code=BAD_TOKEN, message=b"Authentication failed.")
            return
        session = Session(self._rest.text, self._world, data["intents"])
        if missing_privileged_intents(session.intents, self.approved):
            await line.socket.close(code=INTENTS_NOT_ALLOWED, message=b"Disallowed intent(s).")
            return
        session.line = line
        self._sessions[session.id] = session
        for old in list(self._sessions)[:-_KEPT_SESSIONS]:
            del self._sessions[old]
        backend = self._world.backend
        ready = {
            "v": 10,
            "user": dict(serializers.user_payload(backend.bot_user)),
            "guilds": [{"id": str(guild), "unavailable": True} for guild in backend.guilds],
            "session_id": session.id,
            "resume_gateway_url": self._rest.origin.replace("http", "ws", 1) + "/gateway",
            "shard": [0, 1],
            "application": {"id": str(backend.application_id), "flags": APPLICATION_FLAGS},
        }
        session.push("READY", ready)
        for guild in backend.guilds.values():
            session.gateway.feed("GUILD_CREATE", serializers.guild_create_payload(backend, guild))
        self.identified += 1
        self._changes.note()

    async def _resume(self, line: Line, data: dict[str, Any]) -> None:
        if self.close_resumes:
            self.close_resumes -= 1
            await line.socket.close(code=UNKNOWN_ERROR)
            return
        session = self._sessions.get(data["session_id"])
        if self.refuse_resumes:
            self.refuse_resumes -= 1
            session = None
        if session is None or data["token"] != self._token:
            line.say(INVALID, False)
            return
        session.replay(line, data["seq"] or 0)
        self.resumed += 1
        self._changes.note()

    def _feed(self, event: str, payload: Mapping[str, Any]) -> None:
        if event == "MESSAGE_CREATE" and self._rest.nonce is not None:
            payload = {**payload, "nonce": self._rest.nonce}
        if self.doubled:
            self.doubled -= 1
            self._deliver(event, payload)
        if self.overtaken:
            self.overtaken -= 1
            asyncio.get_running_loop().call_later(OVERTAKEN, self._deliver, event, payload)
        elif self.delay:
            asyncio.get_running_loop().call_later(self.delay, self._deliver, event, payload)
        else:
            self._deliver(event, payload)

    def _deliver(self, event: str, payload: Mapping[str, Any]) -> None:
        for session in tuple(self._sessions.values()):
            session.gateway.feed(event, payload)

    def _of(self, line: Line) -> Session | None:
        return next((s for s in self._sessions.values() if s.line is line), None)

    def _hang_up(self, line: Line, *, clean: bool) -> None:
        """A socket is gone. After a clean close by the client its session can't be resumed (Discord's rule)."""
        self._lines.discard(line)
        session = self._of(line)
        if session is not None:
            session.line = None
            if clean:
                del self._sessions[session.id]
        self._changes.note()
