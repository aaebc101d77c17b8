"""The HTTP face: Discord's REST API v10 for discord.py, answered by simcord's world.

simcord knows routes, permissions, limits and error codes. Added here is what only the wire has: the token,
content types, rate-limit headers, file uploads, nonces, and the faults a test ordered.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import logging
import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from simcord.backend import serializers
from simcord.backend.cdn import CDN_BASE
from simcord.backend.errors import BackendError
from simcord.http import router
from simcord.http import routes as _routes  # noqa: F401 - importing registers simcord's route handlers

from bot.clock import Clock
from bot.playground.changes import Changes
from bot.playground.faults import Fault, Faults, Record, Recorded
from bot.playground.world import World

logger = logging.getLogger(__name__)

PREFIX = "/api/v10"

APPLICATION_FLAGS = 1 << 19
"""GATEWAY_MESSAGE_CONTENT_LIMITED: the Message Content intent is switched on in the developer portal of a small bot."""

NONCE_REMEMBERED = 3 * 60 * 1000
"""Milliseconds. Discord compares an enforced nonce with those of "the past few minutes"."""

NONCE_LENGTH = 25
"""Discord's limit (50035 beyond it)."""

_CREATE_MESSAGE = re.compile(r"/channels/\d+/messages")
_NO_TOKEN_NEEDED = re.compile(r"/(interactions|webhooks)/.*")  # The path itself carries one.
_APPLICATION = ("/oauth2/applications/@me", "/applications/@me")


@dataclass(frozen=True)
class Upload:
    """One uploaded file in the shape simcord reads."""

    fp: io.BytesIO
    filename: str
    description: str | None


class RestFace:
    """Answers discord.py's requests."""

    def __init__(self, world: World, *, token: str, clock: Clock, changes: Changes) -> None:
        self.faults = Faults()
        self.record = Record()
        self.application: dict[str, Any] = {}
        """Replaces parts of what the application is said to be, for instance its team."""
        self.message_content = False
        """Whether the application may read all messages (a portal switch; off, as for a new one)."""
        self.origin = ""
        """`http://127.0.0.1:PORT`, once it is known."""
        self.pictures = ""
        """Where attachments are fetched from: the address that stands for Discord's CDN."""
        self.nonce: str | int | None = None
        """The nonce of the message that is being created, for the event that announces it."""
        self._world = world
        self._token = token
        self._clock = clock
        self._changes = changes
        self.nonces: OrderedDict[str, tuple[int, int, int]] = OrderedDict()
        """When each lately used nonce was used (milliseconds UTC), its channel and its message; oldest first."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request below `/api/v10`."""
        path = request.rel_url.raw_path.removeprefix(PREFIX)
        if not self._is_known(request, path):  # before its body is read, which may be large
            stranger = Recorded(request.method, path, dict(request.query), dict(request.headers), None, ())
            return self._json(stranger, 401, {"message": "401: Unauthorized", "code": 0})
        recorded, uploads = await self._receive(request, path)
        self.record.add(recorded)
        self._changes.note()
        delay, fault = self.faults.strike(request.method, path)
        await asyncio.sleep(delay)
        if fault is not None and fault.kind == "cut_before":
            return cut(request)
        if fault is not None and fault.kind in ("status", "429"):
            response = self._refuse(recorded, fault)
        else:
            response = self._answer(recorded, uploads)
        self._changes.note()
        if fault is not None and fault.kind == "cut_after":
            return cut(request)
        if fault is not None and fault.kind == "status_after":
            response = self._refuse(recorded, fault)
        recorded.status = response.status
        self._changes.note()
        return response

    def text(self, payload: Any) -> str:
        """A payload as it goes out: JSON, with the twin's own address in the place of simcord's invalid one."""
        return json.dumps(payload, default=str).replace(CDN_BASE, self.pictures)

    async def _receive(self, request: web.Request, path: str) -> tuple[Recorded, list[Upload]]:
        body, uploads = None, []
        if request.content_type.startswith("multipart/"):
            form = await request.post()
            body = self._read(str(form.get("payload_json", "null"))) or {}
            noted = body.get("attachments") or (body.get("data") or {}).get("attachments") or []
            notes = {str(a.get("id")): a.get("description") for a in noted}
            for name, field in form.items():
                if isinstance(field, web.FileField) and name.startswith("files["):
                    with field.file:
                        data = io.BytesIO(field.file.read())
                    uploads.append(Upload(data, field.filename, notes.get(name[len("files[") : -1])))
        elif request.can_read_body:
            body = self._read(await request.text())
        headers = dict(request.headers)
        names = tuple(u.filename for u in uploads)
        return Recorded(request.method, path, dict(request.query), headers, body, names), uploads

    def _is_known(self, request: web.Request, path: str) -> bool:
        given = request.headers.get("Authorization", "")
        token = secrets.compare_digest(given.encode(errors="replace"), f"Bot {self._token}".encode())
        return token or _NO_TOKEN_NEEDED.fullmatch(path) is not None

    def _read(self, text: str) -> Any:
        return json.loads(text.replace(self.pictures, CDN_BASE) or "null")

    def _answer(self, recorded: Recorded, uploads: list[Upload]) -> web.Response:
        path, body = recorded.path, recorded.body
        nonce = body.get("nonce") if isinstance(body, dict) and self._creates_message(recorded) else None
        try:
            if nonce is not None:
                payload = self._send_once(recorded, uploads, nonce)
            else:
                payload = self._dispatch(recorded, uploads)
        except BackendError as error:
            return self._json(recorded, error.status, error.to_json())
        except router.RouteNotImplemented as error:
            logger.warning("the twin has no such route", extra={"route": f"{recorded.method} {path}"})
            return self._json(recorded, 501, {"code": 0, "message": str(error)})
        except Exception:  # the edge of a server: the client gets a 500, the log the reason
            logger.exception("the twin failed", extra={"route": f"{recorded.method} {path}"})
            return self._json(recorded, 500, {"code": 0, "message": "the twin failed; see its log"})
        wants_body = recorded.query.get("with_response") in ("1", "true")
        if payload is None or (path.endswith("/callback") and not wants_body):
            return web.Response(status=204, headers=self._headers(recorded))
        return self._json(recorded, 200, payload)

    def _dispatch(self, recorded: Recorded, uploads: list[Upload]) -> Any:
        method, path = recorded.method, recorded.path
        if method == "GET" and path in _APPLICATION:
            return self._application()
        if method == "GET" and path in ("/gateway", "/gateway/bot"):
            return self._gateway()
        return router.dispatch(
            self._world.backend,
            method,
            path,
            json=recorded.body,
            params=dict(recorded.query),
            files=uploads,
            reason=recorded.headers.get("X-Audit-Log-Reason"),
            message_content_access=self.message_content,
        )

    @staticmethod
    def _creates_message(recorded: Recorded) -> bool:
        return recorded.method == "POST" and _CREATE_MESSAGE.fullmatch(recorded.path) is not None

    def _send_once(self, recorded: Recorded, uploads: list[Upload], nonce: str | int) -> Any:
        """Create a message, unless the bot created one with this nonce lately and asked for that to count."""
        if len(str(nonce)) > NONCE_LENGTH:
            raise BackendError(400, 50035, f"Invalid Form Body: nonce must be {NONCE_LENGTH} or fewer in length.")
        now = self._clock.now()
        while self.nonces and next(iter(self.nonces.values()))[0] < now - NONCE_REMEMBERED:
            self.nonces.popitem(last=False)
        if recorded.body.get("enforce_nonce") and (known := self.nonces.get(str(nonce))):
            message = self._world.backend.messages.get(known[1], {}).get(known[2])
            if message is not None:
                return {**serializers.message_payload(self._world.backend, message), "nonce": nonce}
        self.nonce = nonce
        try:
            payload = self._dispatch(recorded, uploads)
        finally:
            self.nonce = None
        self.nonces[str(nonce)] = (now, int(payload["channel_id"]), int(payload["id"]))
        return {**payload, "nonce": nonce}

    def _application(self) -> dict[str, Any]:
        """Who the bot's application belongs to; simcord says: to the bot itself."""
        backend = self._world.backend
        owner = serializers.user_payload(backend.get_user(self._world.owner_id))
        bot = dict(serializers.user_payload(backend.bot_user))
        told: dict[str, Any] = {
            "id": str(backend.application_id),
            "name": backend.bot_user.name,
            "icon": None,
            "description": "",
            "summary": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "owner": dict(owner),
            "team": None,
            "flags": APPLICATION_FLAGS,
            "bot": bot,
            "approximate_guild_count": len(backend.guilds),
            "interactions_endpoint_url": None,
        }
        return {**told, **self.application}

    def _gateway(self) -> dict[str, Any]:
        start = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        address = self.origin.replace("http", "ws", 1) + "/gateway"
        return {"url": address, "shards": 1, "session_start_limit": start}

    def _refuse(self, recorded: Recorded, fault: Fault) -> web.Response:
        if fault.kind in ("status", "status_after"):
            return self._json(recorded, fault.status, {"code": fault.code, "message": fault.message})
        body = {
            "message": "You are being rate limited.",
            "retry_after": fault.retry_after,
            "global": fault.everywhere,
        }
        scope = "global" if fault.everywhere else "user"
        more = {"Retry-After": f"{fault.retry_after:.3f}", "X-RateLimit-Scope": scope}
        return self._json(recorded, 429, body, {**more, "X-RateLimit-Remaining": "0"})

    def _json(self, recorded: Recorded, status: int, payload: Any, more: dict[str, str] | None = None) -> web.Response:
        # discord.py parses JSON only under exactly this content type; aiohttp's own would append a charset.
        headers = {**self._headers(recorded), "Content-Type": "application/json", **(more or {})}
        return web.Response(body=self.text(payload).encode(), status=status, headers=headers)

    def _headers(self, recorded: Recorded) -> dict[str, str]:
        """What Discord sends with every answer; without `Via` a 429 is taken for a ban by its front."""
        route = re.sub(r"/\d+", "/:id", recorded.path)
        bucket = hashlib.md5(f"{recorded.method} {route}".encode(), usedforsecurity=False).hexdigest()
        return {
            "Via": "1.1 twin",
            "X-RateLimit-Bucket": bucket,
            "X-RateLimit-Limit": "50",
            "X-RateLimit-Remaining": "49",
            "X-RateLimit-Reset": f"{self._clock.now() / 1000 + 1:.3f}",
            "X-RateLimit-Reset-After": "1.000",
        }


def cut(request: web.Request) -> web.Response:
    """Break the connection of `request` without an answer. The returned one goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=444)
