"""Hands on what a stretch does while it does it, each message once, so that it can be written down.

A process that dies in the middle of a stretch then loses the model call or the batch of tools that it was in, and
nothing before.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage

from bot.agent.history import dump, marked
from bot.deferral.calls import Keep, Steps

logger = logging.getLogger(__name__)


class Recorder:
    """The steps of one stretch."""

    def __init__(
        self,
        keep: Keep | None,
        *,
        before: Sequence[ModelMessage] = (),
        turned_away: int = 0,
        is_event: bool = False,
    ) -> None:
        """`before` is what the stretch adds in front of the run's own messages; `turned_away` was counted before.

        `is_event`: the first of those messages is no person's, and is written down as that.
        """
        self._keep = keep
        self._is_event = is_event
        self._waiting = list(before)
        self._turned_away = turned_away
        self._seen = 0

    async def record(self, new: Sequence[ModelMessage], *, turned_away: int) -> None:
        """Hand on what there is in `new`, all of the run's messages so far, behind what was handed on before.

        What cannot be written down is handed on again with the next step: there is never a gap.
        """
        if self._keep is None or len(new) < self._seen:  # the user's own agent may shorten its history: no guesses
            self._keep = None
            return
        self._waiting += (marked(new) if self._is_event else new)[self._seen :]
        self._seen = len(new)
        try:
            await self._keep(Steps(messages=dump(self._waiting), turned_away=self._turned_away + turned_away))
        except Exception:
            logger.exception("step not recorded", extra={"action": "step_not_recorded"})
        else:
            self._waiting.clear()
