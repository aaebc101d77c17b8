"""Open calls as a list shows them: each with the message where people find it."""

from __future__ import annotations

from dataclasses import dataclass

from storage import approvals, cards
from storage.approvals import Approval
from storage.cards import Card
from storage.database import Reader


@dataclass(frozen=True)
class OpenCall:
    """A call in a list."""

    call: Approval
    message: str | None
    """The message of its card, once there is one."""
    place: str
    """Where that is; where it was asked, as long as there is none."""


async def of_space(reader: Reader, space: str) -> list[OpenCall]:
    """What is open in places below `space`, oldest first."""
    found = await approvals.listed(reader, space=space)
    cards_at = await cards.found_at(reader, {call.card for call in found})
    return [_open_call(call, cards_at.get(call.card)) for call in found]


def _open_call(call: Approval, card: Card | None) -> OpenCall:
    return OpenCall(call, None, call.place) if card is None else OpenCall(call, card.message, card.place)
