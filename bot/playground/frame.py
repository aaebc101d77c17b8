"""Our own page around the views: who one is, where one is, what is new, and how the bot is."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web
from simcord.backend.access import channel_accessible

from bot.playground.changes import Changes
from bot.playground.guard import STATIC_HEADERS, Guard
from bot.playground.pages import DM, Pages
from bot.playground.world import PEOPLE, World

STATIC = Path(__file__).with_name("static")

_FILES = {
    "/": ("frame.html", "text/html"),
    "/frame.css": ("frame.css", "text/css"),
    "/frame.js": ("frame.js", "application/javascript"),
    "/view.js": ("view.js", "application/javascript"),
    "/skin.css": ("skin.css", "text/css"),
}

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_GATHER = 0.1
"""Seconds in which changes are gathered before the lists are sent."""

_LOOKED_AT = 200
"""How many of a place's newest messages are looked at for what is new."""

_STILL_THERE = 10.0
"""Seconds after which an empty line is sent, so that both sides notice a dead connection."""


@dataclass(frozen=True)
class BotState:
    """How the bot's process is, for the frame's footer."""

    word: str
    """`running`, `starting`, `stopped`, or `elsewhere` when nobody here looks after it."""
    detail: str = ""


class BotKeeper(Protocol):
    """Whoever looks after the bot's process."""

    @property
    def state(self) -> BotState:
        """How the bot is now."""
        ...

    def restart(self) -> None:
        """Kill the bot and start it again at once."""
        ...


class Typing:
    """Where the bot is typing; the view itself does not show it."""

    LASTS = 10.0
    """Seconds, as Discord has it."""

    def __init__(self, world: World, changes: Changes) -> None:
        self._bot_id = world.backend.bot_user.id
        self._changes = changes
        self._ends: dict[str, asyncio.TimerHandle] = {}
        world.backend.subscribers.append(self._heard)

    @property
    def places(self) -> set[str]:
        """Ids of the channels."""
        return set(self._ends)

    def _heard(self, event: str, payload: Mapping[str, Any]) -> None:
        place = str(payload.get("channel_id"))
        if event == "TYPING_START" and payload["user_id"] == str(self._bot_id):
            self._stop(place)
            self._ends[place] = asyncio.get_running_loop().call_later(self.LASTS, self._end, place)
        elif event == "MESSAGE_CREATE" and payload["author"]["id"] == str(self._bot_id):
            self._stop(place)

    def _stop(self, place: str) -> None:
        if (timer := self._ends.pop(place, None)) is not None:
            timer.cancel()

    def _end(self, place: str) -> None:
        self._stop(place)
        self._changes.note()


class Frame:
    """The frame's files, its stream of lists, and its one button."""

    def __init__(self, world: World, pages: Pages, guard: Guard, changes: Changes) -> None:
        self.keeper: BotKeeper | None = None
        self._world = world
        self._pages = pages
        self._guard = guard
        self._changes = changes
        self._typing = Typing(world, changes)
        self._closing = asyncio.Event()

    def routes(self, app: web.Application) -> None:
        """Add the frame's routes."""
        for path in _FILES:
            app.router.add_get(path, self._file)
        app.router.add_get("/faces/{key}.png", self._face)
        app.router.add_get("/playground/events", self._events)
        app.router.add_post("/playground/restart-bot", self._restart)

    def close(self) -> None:
        """End the open streams."""
        self._closing.set()
        self._changes.note()

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name, kind = _FILES[request.path]
        headers = {**STATIC_HEADERS, "Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
        return web.Response(text=(STATIC / name).read_text("utf-8"), content_type=kind, headers=headers)

    async def _face(self, request: web.Request) -> web.StreamResponse:
        face = self._world.faces.get(request.match_info["key"])
        if face is None:
            raise web.HTTPNotFound
        return web.Response(body=face, content_type="image/png", headers=STATIC_HEADERS)

    async def _restart(self, request: web.Request) -> web.StreamResponse:
        self._guard.require_secret(request)
        if self.keeper is None:
            raise web.HTTPConflict(text="the bot was not started from here")
        self.keeper.restart()
        return web.Response(status=204)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """One JSON line now and after each change, for as long as the page is open."""
        self._guard.require_secret(request)
        self._pages.use_timezone(request.query.get("timezone", ""))
        headers = {"Content-Type": "application/x-ndjson", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        told, version = "", -1
        try:
            while not self._closing.is_set():
                line = json.dumps(self.lists())
                await response.write((line if line != told else "").encode() + b"\n")
                told = line
                version = await self._next_change(version)
        except ConnectionError:
            pass  # The page was closed.
        return response

    async def _next_change(self, version: int) -> int:
        try:
            async with asyncio.timeout(_STILL_THERE):
                await self._changes.after(version)
        except TimeoutError:
            return version
        await asyncio.sleep(_GATHER)
        return self._changes.version

    def lists(self) -> dict[str, Any]:
        """All the frame shows: places with what is new for whom, people, the bot."""
        backend, guild = self._world.backend, self._world.guild
        channels = [c for c in backend.channels.values() if c.guild_id == guild.id]
        state = self.keeper.state if self.keeper is not None else BotState("elsewhere")
        return {
            "guild": {"id": str(guild.id), "name": guild.name},
            "bot": {"name": backend.bot_user.name, "state": state.word, "detail": state.detail},
            "channels": [
                {
                    "id": str(c.id),
                    "name": c.name,
                    "topic": c.topic or "",
                    "parent": str(c.parent_id) if c.is_thread else "",
                    "typing": str(c.id) in self._typing.places,
                }
                for c in channels
            ],
            "people": [
                {
                    "key": p.key,
                    "name": p.name,
                    "role": p.role,
                    "news": self._news(p.key, channels),
                    "typing": str(backend.dm_channels.get(self._world.user(p.key).id)) in self._typing.places,
                }
                for p in PEOPLE
            ],
            "asked": any(m.author_id == backend.bot_user.id for log in backend.messages.values() for m in log.values()),
        }

    def _news(self, key: str, channels: list[Any]) -> dict[str, list[str]]:
        """Per place they can see the newest message of somebody else, and the newest that pings ("0": none)."""
        backend, user_id = self._world.backend, self._world.user(key).id
        seen = [c.id for c in channels if channel_accessible(backend, c.id, user_id, history=True)]
        news = {str(place): self._newest(place, user_id) for place in seen}
        dm = backend.dm_channels.get(user_id)
        newest = self._newest(dm, user_id)[0] if dm is not None else "0"
        return {**news, DM: [newest, newest]}

    def _newest(self, channel_id: int, user_id: int) -> list[str]:
        seen = pinged = 0
        log = self._world.backend.messages.get(channel_id, {})
        for message in itertools.islice(reversed(log.values()), _LOOKED_AT):
            if message.author_id == user_id or not message.visible_to(user_id):
                continue
            seen = seen or message.id
            if user_id in message.ping_user_ids:
                pinged = message.id
                break
        return [str(seen), str(pinged)]
