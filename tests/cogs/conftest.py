"""Rows to draw cards from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.surface import CardView
from storage.approvals import Approval, ApprovalState
from storage.cards import Card

MakeApproval = Callable[..., Approval]
MakeView = Callable[..., CardView]


@pytest.fixture
def approval() -> MakeApproval:
    """Builds one call; `number` tells several apart."""

    def make(number: int = 0, **changes: Any) -> Approval:
        fields: dict[str, Any] = {
            "id": "abcdefghijklmno" + "pqrstuvwxyz"[number],
            "run": "run1",
            "conversation": "discord/1/2",
            "card": "cardcardcardcard",
            "pause": 1,
            "position": number,
            "call_id": f"call{number}",
            "kind": "approval",
            "tool": "shell",
            "arguments": {"command": "ls -l"},
            "reason": "shell needs a person's sign-off",
            "digest": "0123456789abcdef" * 4,
            "seal": "seal",
            "intent": None,
            "action": "a",
            "requester": "200",
            "place": "discord/1/2",
            "state": ApprovalState.PENDING,
            "requested_at": 1_700_000_000_000,
            "expires_at": 1_700_086_400_000,
        }
        if changes.get("state", ApprovalState.PENDING) is not ApprovalState.PENDING:
            fields |= {"settled_at": 1_700_000_060_000, "settled_by": "100"}
        return Approval(**fields | changes)

    return make


@pytest.fixture
def view() -> MakeView:
    """Builds a card of the given calls."""

    def make(*calls: Approval, message: str | None = None, **changes: Any) -> CardView:
        card = Card(
            id="cardcardcardcard",
            run="run1",
            place="discord/1/2",
            message=message,
            version=1,
            shown=0,
            tries=0,
            due_at=0,
            error=None,
        )
        return CardView(card=card, approvals=calls, profiles={"shell": "bubblewrap, no network"}, **changes)

    return make
