"""simcord's preview pages for many people and places at once, always up to date, on our own port.

One preview per person and place: simcord refuses a second person in the same one while the first acts. A page
is published when it asks for its state and something changed since; nothing is drawn for pages nobody looks
at.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aiohttp import web
from simcord.backend.errors import BackendError, SetupError
from simcord.enums import AppCommandType
from simcord.preview import Preview
from simcord.preview import _server as preview_server  # private: _server, the preview's HTTP handlers
from simcord.results import ResponseMessage

from bot.playground.guard import STATIC_HEADERS, Guard
from bot.playground.live import LiveEnv
from bot.playground.world import PEOPLE, World

logger = logging.getLogger(__name__)

DM = "dm"
"""The place that is a person's conversation with the bot."""

_MOST_PAGES = 8
"""Per person and place; the one not looked at for longest makes room."""

_REDRAW_AFTER = 15.0
"""Seconds after which a quiet page is drawn anew, for its relative times."""


class PageServer(preview_server.PreviewServer):  # type: ignore[misc]  # simcord is untyped to us
    """The preview's handlers without a port of their own. private: PreviewServer, start and close bind one."""

    _SECURITY_HEADERS = {  # private: _SECURITY_HEADERS, which forbid to be framed; our own frame may
        **preview_server.PreviewServer._SECURITY_HEADERS,
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": preview_server.PreviewServer._SECURITY_HEADERS["Content-Security-Policy"].replace(
            "frame-ancestors 'none'", "frame-ancestors 'self'"
        ),
    }

    async def start(self) -> None:
        """Take the twin's port as one's own."""
        preview_server.web = web  # private: web, which start() would import into the module
        self.port = self._requested_port

    async def close(self) -> None:
        """There is nothing to close."""
        self.port = None


class LivePreview(Preview):  # type: ignore[misc]  # simcord is untyped to us
    """One person's view of one place."""

    # private: _PAGE_LEASE_SECONDS, 10 minutes; a laptop sleeps longer. `_open_page` bounds the number instead.
    _PAGE_LEASE_SECONDS = 86_400.0

    def __init__(self, env: LiveEnv, channel: Any, viewer: Any, *, capability: str, port: int, timezone: str) -> None:
        super().__init__(
            env,
            channel,
            (viewer,),
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone=timezone,
            presentation_time=None,
            assets=None,
            port=port,
        )
        self.capability = capability
        self._server = PageServer(self, port)
        self._drawn: dict[str, tuple[int, float]] = {}
        env.open_previews.append(self)

    @property
    def pages(self) -> PageServer:
        """The HTTP handlers of this view."""
        return self._server

    def keep_current(self, context: str | None) -> None:
        """Publish a page if the world changed, or much time passed, since it was last drawn."""
        page = self._pages.get(context)  # private: _pages, by the id their browser page carries
        if page is None:
            return
        now = asyncio.get_running_loop().time()
        version, drawn_at = self._drawn.get(page.id, (-1, 0.0))
        if version == self.env.changes.version and now - drawn_at < _REDRAW_AFTER:
            return
        self._drawn[page.id] = (self.env.changes.version, now)
        self._advance_presentation_time()  # private: moves the page's own clock on
        self._publish(page, reason="refresh")  # private: draws the page's state without settling anything

    def _open_page(self, viewer_id: Any = None, target_id: Any = None) -> Any:
        """private: _open_page opens at the place where the first page stood; people expect the newest end."""
        pages = [p for p in self._pages.values() if p is not self._python]
        for page in sorted(pages, key=lambda p: p.last_activity)[: max(0, len(pages) - _MOST_PAGES + 1)]:
            self._close_page(page.id)
            self._drawn.pop(page.id, None)
        self._python.target_id = self._python.window_end_id = None
        self._advance_presentation_time()
        return super()._open_page(viewer_id, target_id)

    async def _action(self, context_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        """private: _action refuses a press that was made on the state of half a second ago; a person means it.

        Also turns a typed `@Signoff` into a mention, as the client's picker would.
        """
        page = self._get_page(context_id)
        if isinstance(body, Mapping):
            body = {**body, "published_revision": page.revision}
            if isinstance(text := body.get("content"), str):
                body["content"] = self._with_mentions(text)
        result: dict[str, Any] = await super()._action(context_id, body)
        if page.status == "stale":  # After a failure it is locked until drawn again.
            self._drawn.pop(page.id, None)
        return result

    def menu(self, context: str | None) -> list[str]:
        """What the menu of a message offers to who looks; nothing in direct messages, where simcord has none."""
        page = self._get_page(context)  # private: _get_page, by the id its browser page carries
        if self.env.backend.get_channel(page.channel_id).guild_id is None:
            return []
        found = self.env.backend.visible_commands(
            user_id=page.viewer.id, channel_id=page.channel_id, type=AppCommandType.MESSAGE
        )
        return [str(command["name"]) for command in found]

    async def use_menu(self, context: str | None, message: str, command: str) -> bool:
        """Use a command of a message's menu; whether the bot answered in time. Raises `SetupError`, `BackendError`.

        The page itself knows no such menu, so this is none of its numbered actions: it is drawn with what came of it.
        """
        page = self._get_page(context)
        target = self._target_message(page, int(message))  # private: _target_message, if this person may see it
        result = await page.viewer.context_menu(self.channel, command, ResponseMessage(self.env, target))
        if result.modal is not None:
            page.modal = result  # private: modal and modal_handle, as a press that opens a form leaves them
            page.modal_handle = "m_" + secrets.token_urlsafe(12)
        self._drawn.pop(page.id, None)
        return bool(result.acknowledged)

    def _with_mentions(self, text: str) -> str:
        bot = self.env.backend.bot_user
        name = re.escape(bot.name)
        return re.sub(rf"(?<![\w<])@{name}\b", f"<@{bot.id}>", text, flags=re.IGNORECASE)

    async def _prepare_asset(self, context_id: str | None, asset_id: str, **options: Any) -> Any:
        """private: _prepare_asset decodes every picture in a process of its own; our own faces need none."""
        _, record, body = self._authorized_asset(context_id, asset_id)
        if record.source and record.source[0] == "user_avatar":
            return "image/png", body, record.filename
        return await super()._prepare_asset(context_id, asset_id, **options)


class Pages:
    """All views, opened when somebody looks, and their routes."""

    def __init__(self, world: World, guard: Guard) -> None:
        self.timezone = "UTC"
        self._world = world
        self._guard = guard
        self._open: dict[str, LivePreview] = {}
        self._statics = PageServer(None, 0)

    def routes(self, app: web.Application) -> None:
        """Add the pages' own files and their API."""
        preview_server.web = web  # private: web, see `PageServer.start`
        app.router.add_get("/view", self._shell)
        for path in PageServer._STATIC_FILES:  # private: _STATIC_FILES, what the page consists of
            if path != "/":
                app.router.add_get(path, self._static)
        app.router.add_get("/api/assets/{asset_id}", self._api)
        app.router.add_delete("/api/pages/{context_id}", self._api)
        app.router.add_route("*", "/api/{rest:.*}", self._api)

    def use_timezone(self, name: str) -> None:
        """Show times as the reader's browser would; an unknown zone changes nothing."""
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return
        self.timezone = name
        for preview in self._open.values():
            preview.timezone = name

    async def _api(self, request: web.Request) -> web.StreamResponse:
        preview = await self._preview(request.headers.get("X-Simcord-Capability", ""))
        context = request.headers.get("X-Simcord-Context")
        pages, path = preview.pages, request.path
        if path == "/api/state":
            try:
                preview.keep_current(context)
            except Exception:  # a message that can't be drawn must not take the page away
                logger.exception("a page could not be drawn")
        handlers = {
            "/api/pages": pages._pages,
            "/api/state": pages._state,
            "/api/commands": pages._commands,
            "/api/action": pages._action,
            "/api/action-result": pages._action_result,
        }
        if path == "/api/menu":
            return await self._menu(preview, context, request)
        handler = handlers.get(path)
        if handler is None and path.startswith("/api/pages/"):
            handler = pages._delete_page
        if handler is None and path.startswith("/api/assets/"):
            handler = pages._asset
        if handler is None:
            raise web.HTTPNotFound
        response: web.StreamResponse = await handler(request)
        return response

    async def _menu(self, preview: LivePreview, context: str | None, request: web.Request) -> web.Response:
        """What a message's menu offers (GET), or the use of it (POST)."""
        try:
            if request.method == "GET":
                return web.json_response({"commands": preview.menu(context)})
            body = await request.json()
            answered = await preview.use_menu(context, str(body["message"]), str(body["command"]))
        except (SetupError, BackendError, ValueError, LookupError) as problem:
            raise web.HTTPConflict(text=str(problem)) from None
        return web.json_response({"answered": answered})

    async def _preview(self, capability: str) -> LivePreview:
        """The view that `SECRET.PERSON.PLACE` names. Raises 401 for a wrong secret, 404 for an unknown view."""
        parts = capability.split(".")
        if len(parts) != 3 or not self._guard.knows(parts[0]):
            raise web.HTTPUnauthorized
        _, who, place = parts
        if capability in self._open:
            return self._open[capability]
        if who not in [p.key for p in PEOPLE] or not (place == DM or place.isdecimal()):
            raise web.HTTPNotFound
        channel_id = self._world.dm_channel_id(who) if place == DM else int(place)
        try:
            channel = self._world.channel(channel_id)
        except BackendError:
            raise web.HTTPNotFound from None
        viewer = self._world.user(who) if place == DM else self._world.member(who)
        preview = LivePreview(
            self._world.env,
            channel,
            viewer,
            capability=capability,
            port=self._guard.port,
            timezone=self.timezone,
        )
        self._open[capability] = preview
        await preview.__aenter__()
        return preview

    async def _shell(self, _request: web.Request) -> web.StreamResponse:
        index = Path(preview_server.__file__).with_name("static") / "index.html"
        own = '<link rel="stylesheet" href="/preview.css">'
        page = index.read_text("utf-8").replace(own, own + '<link rel="stylesheet" href="/skin.css">')
        headers = {**PageServer._SECURITY_HEADERS, "Content-Type": "text/html; charset=utf-8"}
        return web.Response(body=page.encode(), headers=headers)

    async def _static(self, request: web.Request) -> web.StreamResponse:
        self._statics.port = self._guard.port
        response: web.Response = await self._statics._static(request)
        response.headers.popall("Pragma", None)
        response.headers.update(STATIC_HEADERS)
        return response
