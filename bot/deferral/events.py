"""What an onlooker hears of a run while it goes on: one event for each thing that begins, ends or waits.

A pause is heard as `deferred`, once for each call that waits, and nothing ends for it. The approved call is heard as a
start and an end in the run that resumes: what acted must not act unheard.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

logger = logging.getLogger(__name__)


class EventKind(StrEnum):
    """What happened."""

    MODEL_START = "model_start"
    MODEL_END = "model_end"
    TOOL_START = "tool_start"
    """Of one batch all starts are heard first, then all ends and deferrals, each in the model's emission order."""
    TOOL_END = "tool_end"
    DEFERRED = "deferred"
    """The call waits; the run ends paused."""
    CANCELLED = "cancelled"
    """The run ended before its answer: a tool stopped it, or its caller cancelled it."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event, stamped with the run and the conversation it belongs to."""

    kind: EventKind
    run_id: str
    conversation_id: str
    call_id: str | None = None
    tool_name: str | None = None
    outcome: str | None = None
    """Of an end: `success` or `failed`; for a tool also `retried` (the model is to correct the call) or `stopped`."""
    text: str | None = None
    """Of a model's end: what it said, beside its calls or as its answer."""


OnEvent = Callable[[Event], None]


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """Stamps events and hands them on."""

    run_id: str
    conversation_id: str
    on_event: OnEvent | None = None

    def say(
        self,
        kind: EventKind,
        *,
        call_id: str | None = None,
        tool_name: str | None = None,
        outcome: str | None = None,
        text: str | None = None,
    ) -> None:
        """Hand one event on. What the onlooker makes of it cannot hurt the run."""
        if self.on_event is None:
            return
        event = Event(
            kind=kind,
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            call_id=call_id,
            tool_name=tool_name,
            outcome=outcome,
            text=text,
        )
        try:
            self.on_event(event)
        except Exception:  # an onlooker that breaks must not cost the result of a call that has acted
            logger.exception("onlooker failed", extra={"action": "onlooker_failed", "event_kind": kind})
