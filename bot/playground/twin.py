"""The twin itself: the world, its three faces on one loopback port, and its memory on disk.

    async with Twin.open(state_dir=folder) as twin:
        bot = BotProcess(command, twin.bot_env(os.environ), say=print)
        await bot.start()
        await twin.wait_until_connected()
        answer = await twin.people["ben"].slash("ops", "ask", prompt="hello")
        post = await twin.wait_for(lambda: twin.last("ops", text="hello"))

Tests drive it from the inside, with the bot as a separate process; the playground adds a browser.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web
from simcord.backend.cdn import CDN_BASE

from bot.background import Background
from bot.clock import Clock, SystemClock
from bot.errors import StartError
from bot.playground.changes import Changes
from bot.playground.fast import make_fast
from bot.playground.faults import Faults, Record
from bot.playground.frame import Frame
from bot.playground.gateway import GatewayFace
from bot.playground.guard import Guard
from bot.playground.live import LiveEnv
from bot.playground.pages import Pages
from bot.playground.people import Person, Place, Post, channel_id, posts
from bot.playground.rest import PREFIX, RestFace
from bot.playground.twin_address import new_playground_token
from bot.playground.world import PEOPLE, World
from bot.playground.world_file import UnreadableWorld, write_private

logger = logging.getLogger(__name__)

T = TypeVar("T")

SAVE_AFTER = 0.25
"""Seconds in which changes are gathered before the world is written."""

_WORLD, _ACCESS = "world.json", "access.json"


class Twin:
    """A running twin; made by `Twin.open`."""

    def __init__(self, state_dir: Path | None, clock: Clock) -> None:
        self.state_dir = state_dir
        self.changes = Changes()
        self.notices: list[str] = []
        """What a person should know about this start, e.g. that the old world could not be read."""
        access = self._access()
        self.secret: str = access["secret"]
        """Whoever has it may act for everybody in the guild."""
        self.token: str = access["token"]
        """The bot's token; good for nothing but this twin."""
        self.env = LiveEnv(clock, self.changes)
        self.world = World(self.env)
        kept = self._load()
        self._background = Background()
        self.rest = RestFace(self.world, token=self.token, clock=clock, changes=self.changes)
        self.rest.nonces.update((nonce, tuple(use)) for nonce, use in kept.get("nonces", []))
        self.gateway = GatewayFace(
            self.world, self.rest, token=self.token, changes=self.changes, background=self._background
        )
        self.guard = Guard(self.secret)
        self.pages = Pages(self.world, self.guard)
        self.frame = Frame(self.world, self.pages, self.guard, self.changes)
        self.people: dict[str, Person] = {p.key: Person(self.world, p.key) for p in PEOPLE}
        """`ana`, `ben`, `mallory`."""
        self._runner: web.AppRunner | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls, *, state_dir: Path | None = None, port: int = 0, clock: Clock | None = None
    ) -> AsyncIterator[Twin]:
        """Serve a twin on 127.0.0.1:`port` (0: a free one) until the block ends.

        `state_dir` (made if need be, 0700) holds the world across starts; None: nothing is kept.
        Raises `StartError` if the port is taken or the folder can't be used.
        """
        twin = cls(state_dir, clock or SystemClock())
        await twin.env.start()
        try:
            await twin._serve(port)
            yield twin
        finally:
            await twin._close()

    # ------------------------------------------------------------------------------------------ addresses

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`: what a bot is pointed at."""
        return self.rest.origin

    @property
    def page(self) -> str:
        """The address for a person's browser, with the secret in it."""
        return f"{self.url}/#{self.secret}"

    def bot_env(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment for the bot's process: `env` with the twin's two values, and no real token or proxy."""
        kept = {k: v for k, v in env.items() if k not in ("DISCORD_TOKEN_FILE", "DISCORD_PROXY")}
        return {**kept, "DISCORD_TOKEN": self.token, "SIGNOFF_TWIN": self.url}

    # ------------------------------------------------------------------------------------------ for tests

    @property
    def faults(self) -> Faults:
        """What is to go wrong at the HTTP face."""
        return self.rest.faults

    @property
    def requests(self) -> Record:
        """What the bot sent over HTTP."""
        return self.rest.record

    async def wait_for(
        self, predicate: Callable[[], T | None], *, timeout: float = 5.0, what: str = "the condition"
    ) -> T:
        """Wait, woken by what happens in the twin, until `predicate` answers something true; returns that.

        Raises `TimeoutError` with the newest requests in its notes.
        """
        try:
            return await self.changes.wait_for(predicate, timeout=timeout, what=what)
        except TimeoutError as error:
            for recorded in list(self.requests.all)[-15:]:
                error.add_note(f"{recorded.method} {recorded.path} -> {recorded.status}: {recorded.body}"[:300])
            raise

    async def wait_until_connected(self, *, timeout: float = 15.0) -> None:
        """Wait until a bot receives events. Raises `TimeoutError`."""
        await self.wait_for(lambda: self.gateway.connected, timeout=timeout, what="a connected bot")

    def channel_id(self, place: Place) -> int:
        """The id of a channel or thread by its name. Raises `LookupError`."""
        return channel_id(self.world, place)

    def posts(self, place: Place) -> list[Post]:
        """All messages of a channel, private ones too, oldest first."""
        return list(posts(self.world, channel_id(self.world, place)))

    def last(self, place: Place, *, text: str = "", label: str | None = None, by_bot: bool = True) -> Post | None:
        """The newest message of a channel that contains `text` and has a button `label`; None if there is none."""
        for post in reversed(self.posts(place)):
            if text in post.text and (label is None or label in post.labels) and (post.by_bot or not by_bot):
                return post
        return None

    def save(self) -> None:
        """Write the world now. Raises `OSError`."""
        if self.state_dir is not None:
            self.world.save(self.state_dir / _WORLD, nonces=list(self.rest.nonces.items()))

    # ----------------------------------------------------------------------------------------- lifecycle

    def _access(self) -> dict[str, str]:
        """Secret and token: the same after each start, so that address, bot and browser go on."""
        fresh = {"secret": secrets.token_urlsafe(24).replace(".", "_"), "token": new_playground_token()}
        if self.state_dir is None:
            return fresh
        path = self.state_dir / _ACCESS
        try:
            self.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.exists():
                kept = json.loads(path.read_bytes())
                return {name: str(kept[name]) for name in fresh}
            write_private(path, json.dumps(fresh).encode())
        except (ValueError, LookupError):
            write_private(path, json.dumps(fresh).encode())
        except OSError as error:
            raise StartError(f"The playground can't use the folder {self.state_dir}: {error.strerror}.") from error
        return fresh

    def _load(self) -> dict[str, Any]:
        """Take the world from the disk or build it; returns what was kept along with it."""
        path = self.state_dir / _WORLD if self.state_dir is not None else None
        if path is not None and path.exists():
            try:
                return self.world.load(path)
            except (UnreadableWorld, OSError) as error:
                aside = path.with_name(f"{path.name}.unreadable-{secrets.token_hex(3)}")
                path.rename(aside)
                self.notices.append(
                    f"The old guild could not be read ({error}); a fresh one begins. The old file is {aside.name}."
                )
        self.world.build()
        return {}

    async def _serve(self, port: int) -> None:
        make_fast()
        app = web.Application(
            handler_args={"handler_cancellation": False},
            middlewares=[self.guard.middleware],
            client_max_size=64 * 1024 * 1024,
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        app.router.add_route("*", PREFIX + "/{path:.*}", self.rest.handle)
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/gateway/", self.gateway.handle)
        app.router.add_get("/cdn/{key}/{path:.*}", self._picture)
        self.frame.routes(app)
        self.pages.routes(app)
        await runner.setup()
        self._runner = runner
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
        except OSError as error:
            await runner.cleanup()
            raise StartError(f"Port {port} of this machine is taken.") from error
        self.guard.port = runner.addresses[0][1]
        self.rest.origin = f"http://127.0.0.1:{self.guard.port}"
        self.rest.pictures = f"{self.rest.origin}/cdn/{self._picture_key}"
        self.save()  # A fresh guild must not be another one after the first crash.
        self._background.spawn(self._keep(), name="world file")

    async def _close(self) -> None:
        self.frame.close()
        await self._background.stop(grace=0)
        if self._runner is not None:
            await self.gateway.close()
            await self._runner.cleanup()
        await self.env.shutdown()
        self.save()

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        version, took = self.changes.version, 0.0
        while True:
            await self.changes.after(version)
            await asyncio.sleep(max(SAVE_AFTER, 10 * took))  # However long the history: a tenth of the time at most.
            version, began = self.changes.version, loop.time()
            try:
                self.save()
            except OSError:
                logger.exception("the playground's guild could not be saved")
            took = loop.time() - began

    @property
    def _picture_key(self) -> str:
        """Attachments are fetched without a header, so the address itself must not be guessable."""
        return hashlib.sha256(self.secret.encode()).hexdigest()[:24]

    async def _picture(self, request: web.Request) -> web.StreamResponse:
        data: Any = None
        if secrets.compare_digest(request.match_info["key"], self._picture_key):
            data = self.world.backend.cdn.get(f"{CDN_BASE}/{request.match_info['path']}")
        if data is None:
            raise web.HTTPNotFound
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=data, headers=headers, content_type="application/octet-stream")
