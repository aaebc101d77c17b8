"""What is said of a grant: how much of it is left, on cards and in lists."""

from __future__ import annotations

from cogs.speech import tell
from storage.approvals import Approval
from storage.grants import Grant


def on_card(grant: Grant, call: Approval, makers: str) -> str:
    """The line on the card of a call that a grant let through, or with which it was made."""
    ended = grant.ended_at is not None
    rest = tell("grants.ended_since") if ended else remaining(grant, before=call.expires_at)
    if call.granted is not None:
        return tell("grants.allowed", makers=makers, rest=rest)
    return tell("grants.made_here", makers=makers, rest=rest, requester=f"<@{grant.requester}>")


def remaining(grant: Grant, *, before: int | None = None) -> str:
    """How often, and until when, with the time as a countdown that Discord keeps.

    A moment that is not `before` that one is left out: the latest moment on a card is its deadline (design, section 8).
    """
    parts = [] if grant.left is None else [tell("grants.uses_left", n=grant.left)]
    if grant.expires_at is None:
        parts.append(tell("grants.open_ended"))
    elif before is None or grant.expires_at // 1000 < before // 1000:
        parts.append(tell("grants.until", at=grant.expires_at // 1000))
    return ", ".join(parts) or tell("grants.for_a_time")
