"""Requests that are not taken up: the first is answered, and those right behind it are counted in that answer.

A hundred messages in a row must not become a hundred answers. Nothing is owed here: what is lost in a restart is a
count.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.clock import Clock
from bot.delivery import say_at_once, show_progress
from bot.errors import DecisionRefused
from bot.surface import Reply, TurnContext
from bot.texts.text import joined, say

TOGETHER_MS = 60_000
"""So long after the first, what is refused to the same person in the same conversation is counted, not answered."""


@dataclass
class _Notice:
    reply: Reply
    at: int
    count: int = 1


class Refusing:
    """Answers for one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._notices: dict[tuple[str, str, str], _Notice] = {}

    async def say(self, ctx: TurnContext, reply: Reply, refusal: DecisionRefused) -> None:
        """Tell whoever asked that it is not taken up, and why."""
        now = self._clock.now()
        for key in [key for key, notice in self._notices.items() if now - notice.at >= TOGETHER_MS]:
            del self._notices[key]
        key = (ctx.conversation, ctx.requester, refusal.code)
        notice = self._notices.get(key)
        if notice is None:
            self._notices[key] = _Notice(reply, now)
            await say_at_once(reply, refusal.sentence)
            return
        notice.count += 1
        reply.drop()
        counted = say("limits.refused_together", n=notice.count)
        await show_progress(notice.reply, joined([refusal.sentence, counted], by=" "))
