"""The reply in which a turn's answer grows.

Only the newest text counts: edits are made at most once a second, and what comes in between is never queued. A
turn never waits for an edit, and never fails because of one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Protocol

from bot.errors import DeliveryError, Unreachable
from bot.texts.entry import Language
from bot.texts.text import in_language
from cogs import turn_buttons
from cogs.messages import Messages
from cogs.posting import Channel
from cogs.speech import speaking

logger = logging.getLogger(__name__)

EDIT_SECONDS = 1.0
TYPING_SECONDS = 9.0
"""Discord shows the indicator for ten."""
_TYPING_TIMES = 7
"""After about a minute without a word the indicator stops by itself: it must never outlive a stuck turn."""


class Spawn(Protocol):
    """`bot.background.Background.spawn`."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start work whose errors are not lost."""
        ...


class DiscordReply:
    """See `bot.surface.Reply`."""

    def __init__(
        self,
        channel: Channel,
        key: str,
        *,
        spawn: Spawn,
        reply_to: int | None = None,
        if_apart: bool = False,
        already: int | None = None,
        language: Language = Language.EN,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._channel = channel
        self._messages = Messages(channel, key, reply_to=reply_to, if_apart=if_apart, already=already)
        self._key = key
        self._run: str | None = None
        self._spawn = spawn
        self._language = language
        self._sleep = sleep
        self._now = now or asyncio.get_running_loop().time
        self._wanted = self._shown = ""
        self._shown_at = float("-inf")
        self._lock = asyncio.Lock()
        self._gone = False
        self._writer: asyncio.Task[None] | None = None
        self._typing: asyncio.Task[None] | None = None

    @property
    def message(self) -> str | None:
        """See `Reply.message`."""
        return None if self._messages.first is None else str(self._messages.first)

    def begin(self) -> None:
        """Look busy until there is something to read."""
        self._typing = self._spawn(self._type(), name=f"typing {self._key}")

    def belongs_to(self, run: str) -> None:
        """See `Reply.belongs_to`."""
        self._run = run
        self._messages.set_row(partial(turn_buttons.row, run, self._language))

    def lasts(self) -> None:
        """See `Reply.lasts`."""
        if self._run is not None:
            self._messages.set_row(partial(turn_buttons.row, self._run, self._language, lasts=True))
            self._shown = ""

    async def show(self, text: str) -> None:
        """See `Reply.show`. The first text is posted at once, so that the message is known from then on."""
        self._wanted = text = in_language(text, self._language)
        if not text.strip() or self._gone:
            return
        self._stop_typing()
        if self._messages.first is None:
            await self._grow()
        elif self._writer is None or self._writer.done():
            self._writer = self._spawn(self._write(), name=f"reply {self._key}")

    async def rest(self, text: str) -> None:
        """See `Reply.rest`."""
        self._wanted = in_language(text, self._language)
        self._stop_typing()
        if not self._gone:
            await self._grow()

    def drop(self) -> None:
        """See `Reply.drop`."""
        self._stop_typing()

    async def finish(self, text: str, *, key: str | None = None) -> str:
        """See `Reply.finish`."""
        text = in_language(text, self._language)
        self._stop_typing()
        async with self._lock:
            # The writer now either sleeps or waits for the lock: no request of its own is cut short.
            if self._writer is not None:
                self._writer.cancel()
            if key is not None:
                self._messages.rename(key)
            self._wanted = self._shown = text
            with speaking(self._language):
                return str(await self._messages.complete(text))

    async def _write(self) -> None:
        while self._wanted != self._shown and not self._gone:
            await self._sleep(max(0.0, self._shown_at + EDIT_SECONDS - self._now()))
            if not await self._grow():
                return

    async def _grow(self) -> bool:
        """Show the newest text; whether that worked."""
        async with self._lock:
            text = self._wanted
            try:
                await self._messages.grow(text)
            except DeliveryError as error:
                self._gone = isinstance(error, Unreachable)
                logger.warning("reply not shown", extra={"action": "reply_failed", "problem": str(error)})
                return False
            self._shown, self._shown_at = text, self._now()
            return True

    async def _type(self) -> None:
        for _ in range(_TYPING_TIMES):
            try:
                await self._channel.typing()
            except DeliveryError as error:
                logger.debug("no typing indicator", extra={"action": "typing_failed", "problem": str(error)})
                return
            await self._sleep(TYPING_SECONDS)

    def _stop_typing(self) -> None:
        if self._typing is not None:
            self._typing.cancel()
            self._typing = None
