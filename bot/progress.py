"""What people see of a turn while it goes on: its place in the line, that it is being worked on, its text so far.

None of this is owed: what cannot be shown costs nothing. Which message it is shown in becomes known to the row, so that
the message is still the turn's own after a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from bot.agent.loop import OnText
from bot.delivery import Delivery, show_progress
from bot.surface import Reply
from bot.texts.text import Text, say
from storage import runs
from storage.database import Database
from storage.runs import Run

WORKING_TEXT = say("turns.working")
WORKING_AFTER_SECONDS = 5.0
"""A turn that has said nothing for so long gets a message of its own, which it can be stopped at."""

LONG_AFTER_SECONDS = 30.0
"""A turn that has been worked on for so long can be sent into the background."""

Spawn = Callable[..., "asyncio.Task[None]"]


def place_in_line(ahead: int) -> Text:
    """What a request is told that has to wait."""
    return say("turns.next_in_line", n=ahead)


class Progress:
    """Shows the turns of one process while they go on."""

    def __init__(self, *, database: Database, delivery: Delivery, spawn: Spawn) -> None:
        self._database = database
        self._delivery = delivery
        self._spawn = spawn
        self._ahead: dict[str, int] = {}
        self._said: dict[str, str] = {}
        self._remembered: set[str] = set()
        self._timers: dict[str, list[asyncio.TimerHandle]] = {}

    def said(self, run_id: str) -> str:
        """What the turn has said so far, in the stretch that goes on now."""
        return self._said.get(run_id, "")

    def on_text(self, run: Run) -> OnText | None:
        """How the answer grows in the turn's reply; None if there is none."""
        reply = self._delivery.replies.get(run.id)
        if reply is None:
            return None

        async def show(text: str) -> None:
            self._said[run.id] = text
            await self._show(run.id, reply, text)

        return show

    def begin(self, run_id: str) -> None:
        """A stretch begins. When it is silent for long, people see that it goes on."""
        loop = asyncio.get_running_loop()
        self._timers[run_id] = [
            loop.call_later(WORKING_AFTER_SECONDS, self._silent, run_id),
            loop.call_later(LONG_AFTER_SECONDS, self._long, run_id),
        ]

    def forget(self, run_id: str) -> None:
        """The stretch is over, or the turn has left the line."""
        for timer in self._timers.pop(run_id, ()):
            timer.cancel()
        self._said.pop(run_id, None)
        self._ahead.pop(run_id, None)
        self._remembered.discard(run_id)

    def moved(self, line: Sequence[str]) -> None:
        """The line before a conversation has moved: whoever has another place in it now is told so."""
        for ahead, run_id in enumerate(line):
            told = self._ahead.get(run_id)
            if told == ahead or (told is None and ahead == 0):
                continue
            self._ahead[run_id] = ahead
            self._spawn(self._tell(run_id, ahead), name=f"line {run_id}")

    async def _tell(self, run_id: str, ahead: int) -> None:
        reply = self._delivery.replies.get(run_id)
        # It may have moved on, or begun to speak, since this was noted.
        if reply is not None and self._ahead.get(run_id) == ahead and not self.said(run_id):
            await self._show(run_id, reply, place_in_line(ahead) if ahead else WORKING_TEXT, resting=ahead > 0)

    async def no_room(self, run_id: str) -> None:
        """The turn waits until another one of its person or its guild is done; they are told once."""
        reply = self._delivery.replies.get(run_id)
        if reply is not None and reply.message is None:
            await self._show(run_id, reply, say("limits.waits"), resting=True)

    def _silent(self, run_id: str) -> None:
        reply = self._delivery.replies.get(run_id)
        if reply is not None and reply.message is None:
            self._spawn(self._show(run_id, reply, WORKING_TEXT), name=f"working {run_id}")

    def _long(self, run_id: str) -> None:
        if (reply := self._delivery.replies.get(run_id)) is not None:
            reply.lasts()
            self._spawn(self._show(run_id, reply, self.said(run_id) or WORKING_TEXT), name=f"long {run_id}")

    async def _show(self, run_id: str, reply: Reply, text: str, *, resting: bool = False) -> None:
        if await show_progress(reply, text, resting=resting):
            await self._remember(run_id, reply)

    async def _remember(self, run_id: str, reply: Reply) -> None:
        if reply.message is not None and run_id not in self._remembered:
            self._remembered.add(run_id)
            async with self._database.begin("remember reply", durable=False) as tx:
                await runs.set_reply(tx, run_id, reply.message)
