"""simcord's world on the wall clock, without the observer and the patches that its virtual time needs.

simcord's own `Env` attaches a bot object, replaces the event loop's methods and `time.monotonic`, and counts
time only when a test advances it. Here the bot is another process, so none of that is wanted: the world is
plain data which REST calls and people change, and time passes.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

import discord
import simcord
from simcord._clock import Clock as SimcordClock  # private: _clock, the only way to give a world another time
from simcord.backend import Backend

from bot.clock import Clock
from bot.playground.changes import Changes

ANSWER_WITHIN = 3.0
"""Seconds Discord waits for the first response to an interaction."""

_KEPT_EVENTS = 200

_dispatched: ContextVar[Any] = ContextVar("dispatched", default=None)


class WallClock(SimcordClock):  # type: ignore[misc]  # simcord is untyped to us
    """The house's clock in simcord's shape; it can't be advanced."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._not_before = 0

    def now(self) -> datetime:
        """The present, aware; never earlier than `not_before` allowed."""
        return datetime.fromtimestamp(max(self._clock.now(), self._not_before) / 1000, UTC)

    def not_before(self, milliseconds: int) -> None:
        """Never name a moment before this one: ids come from the time, and none may be given out twice."""
        self._not_before = milliseconds

    @property
    def elapsed(self) -> float:
        """Seconds, for simcord's deadlines, which compare it with nothing but itself."""
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        """Real time can't be advanced."""
        raise NotImplementedError


class LiveBackend(Backend):  # type: ignore[misc]  # simcord is untyped to us
    """A world that lives for days: its logs are bounded and its interaction tokens can't be guessed."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=WallClock(clock))
        self.transcript: deque[Any] = deque(maxlen=_KEPT_EVENTS)
        self.http_requests: deque[Any] = deque(maxlen=_KEPT_EVENTS)

    def new_interaction(self, *args: Any, **kwargs: Any) -> Any:
        """As simcord's, with a token that another user of the machine can't make up."""
        record = super().new_interaction(*args, **kwargs)
        del self.interaction_tokens[record.token]
        record.token = secrets.token_urlsafe(48)
        self.interaction_tokens[record.token] = record.id
        return record

    def forget_dead_interactions(self) -> None:
        """Drop the interactions whose token has run out (15 minutes, with room): nobody can use them."""
        dead = (self.clock.now() - timedelta(minutes=20)).isoformat()
        for record in [r for r in self.interactions.values() if (r.expires_at or "") < dead]:
            del self.interactions[record.id]
            self.interaction_tokens.pop(record.token, None)


class LiveEnv(simcord.Env):  # type: ignore[misc]  # simcord is untyped to us
    """What simcord's handles and previews hang on, for a bot that lives elsewhere."""

    def __init__(self, clock: Clock, changes: Changes) -> None:
        # The client never connects. simcord only takes its state to build message objects for the actors.
        super().__init__(discord.Client(intents=discord.Intents(guilds=True)))
        self.backend = LiveBackend(clock)
        self.changes = changes
        self.open_previews: list[Any] = []
        self._message_states.add(self.bot._connection)  # private: _message_states, actors check where a message is from

    async def start(self) -> None:
        """Open for actors and previews. Nothing is attached, nothing is patched."""
        self._loop = asyncio.get_running_loop()  # private: _loop, _generation and _started are all that previews ask
        self._generation = 1
        self._started = True
        self.backend.subscribers.append(lambda _event, _payload: self.changes.note())

    async def shutdown(self) -> None:
        """Close the previews."""
        await self._run_pre_shutdown()  # private: _run_pre_shutdown, where previews registered their closing
        self._started = False

    @property
    def _preview(self) -> None:
        """private: _preview is the guard that allows one preview at a time; we need one per person and place."""
        return

    @_preview.setter
    def _preview(self, preview: Any) -> None:
        pass

    def _mark_mutation(self) -> None:
        """private: _mark_mutation tells the one preview that its action took effect; here it may be any."""
        for preview in self.open_previews:
            preview._mark_action_dispatched()

    def _begin_operation(self, label: str) -> None:
        """private: _begin_operation refuses a second person who acts at the same time; people here may."""

    def _end_operation(self) -> None:
        """private: _end_operation, see `_begin_operation`."""

    def _notify_dispatch_observers(self, interaction: Any) -> None:
        """private: _notify_dispatch_observers is where the acting task learns which interaction it caused."""
        _dispatched.set(interaction)
        super()._notify_dispatch_observers(interaction)

    async def _settle_internal(self, *, dispatch: str | None = None, **_kwargs: Any) -> None:
        """private: _settle_internal waits for an in-process bot to fall quiet; ours is elsewhere.

        A press or a command waits for its own first response, as a client does; everything else for nothing.
        """
        if dispatch != "INTERACTION_CREATE":
            return
        record = _dispatched.get()
        answered: Callable[[], bool] = lambda: record.responded  # noqa: E731
        try:
            await self.changes.wait_for(answered, timeout=ANSWER_WITHIN)
        except TimeoutError:
            return  # The record says so itself: not responded.
