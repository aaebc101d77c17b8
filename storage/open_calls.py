"""Open calls as a list shows them: each with the message where people find it."""

from __future__ import annotations

from dataclasses import dataclass

from storage import approvals, cards
from storage.approvals import Approval
from storage.database import Reader


@dataclass(frozen=True)
class OpenCall:
    """A call in a list."""

    call: Approval
    message: str | None
    """The message of its card, once there is one."""


async def of_space(reader: Reader, space: str) -> list[OpenCall]:
    """What is open in places below `space`, oldest first."""
    found = await approvals.listed(reader, space=space)
    messages = await cards.messages(reader, {call.card for call in found})
    return [OpenCall(call, messages.get(call.card)) for call in found]
