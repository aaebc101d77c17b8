"""The words between the model loop and the rows: what a paused run waits for, and the answers it gets.

pydantic-ai and golem use the same names for the same things; these are plain data, so that neither is needed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from bot.deferral.tool import ToolKind

MOST_AT_ONCE = 25
"""Calls of one answer that people are asked about: as many as fit on five cards."""


@dataclass(frozen=True, kw_only=True)
class PendingToolCall:
    """One call that waits, as the gate deferred it."""

    call_id: str
    tool_name: str
    args: Mapping[str, Any]
    """The final, validated arguments: what is shown and what would run."""
    reason: str
    kind: ToolKind
    intent: str | None
    action: str
    sources: tuple[str, ...] = ()
    """What the model had read before that nobody here wrote, by name; the newest last."""


@dataclass(frozen=True, kw_only=True)
class FirstCall:
    """A call that a run begins with: a person wants it asked about once more."""

    tool_name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What one deferred call came to, for the model: `denied` keeps its own mark on the wire."""

    call_id: str
    text: str
    outcome: Literal["success", "failed", "denied"]


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Messages of a stretch that has not ended, each as JSON."""

    messages: Sequence[str]
    turned_away: int = 0
    """Calls of the stretch that were answered in place of a card, so far."""


Keep = Callable[[Steps], Awaitable[None]]
"""Writes down what a stretch has added since the last time."""


@dataclass(frozen=True, kw_only=True)
class LoopResult:
    """How one stretch of the model loop ended: with an answer, or with calls that wait."""

    text: str
    pending: Sequence[PendingToolCall]
    """In the model's emission order; empty when the run has ended."""
    messages: Sequence[str]
    """What the stretch added to the conversation, each message as JSON."""
    usage: Usage | None = None
    turned_away: int = 0
    """Calls that were answered in place of a card."""
    left_out: Sequence[PendingToolCall] = ()
    """Calls of the same answer that were not asked about, because those that wait are as many as people are shown."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one run may take. A resume is a run of its own."""

    requests: int = 40
    """Model requests: a loop that never ends must end."""
    tool_calls: int | None = None
    """Bodies that ran, those of approved calls included. A call that was deferred, refused or answered from what is
    known did not run."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one run took, counted as in `Limits`."""

    requests: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_micros: int | None = None
    """What it cost by the providers' list prices, in millionths of a US dollar; None if a price is not known."""


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """What one call of the model took, as its provider says."""

    model: str
    """As `provider:name`, or the name alone."""
    input_tokens: int
    """Those from and for the provider's cache included."""
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    tool_calls: int = 0
    """Calls of tools in the answer."""
    measured: bool = True
    """Whether the provider said how many tokens it took."""
    cost_micros: int | None = None
    """By the providers' list prices, in millionths of a US dollar; None if the price is not known."""


class Meter(Protocol):
    """Watches the calls of the model that a run makes."""

    @property
    def tool_calls_left(self) -> int | None:
        """How many calls of tools the run may still make; None: as many as it likes."""

    def before(self) -> None:
        """Right before one is made. Raises `ModelError` if it may not be made."""

    def after(self, call: ModelCall) -> None:
        """Right after its answer is there."""
