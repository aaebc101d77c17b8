"""What a button says is what was meant (cases A2, S-A16)."""

from __future__ import annotations

import pytest

from bot.clock import new_id
from cogs import limits
from cogs.custom_ids import EDITIONED, NUMBERED, CustomId, Verb, decode

ID = "abcdefghijklmnop"


@pytest.mark.parametrize("verb", Verb)
def test_every_verb_comes_back_as_it_was_sent(verb: Verb) -> None:
    for number in [0, 1, 24, 1_400_000_000_000_000_000] if verb in NUMBERED else [None]:
        sent = CustomId(verb=verb, id=new_id(), number=number, edition=3 if verb in EDITIONED else None)
        assert decode(str(sent)) == sent
        assert len(str(sent)) <= limits.CUSTOM_ID


@pytest.mark.parametrize(
    "text",
    [
        f"so1:approve:{ID}\n",
        f" so1:approve:{ID}",
        f"so1:approve:{ID.upper()}",
        f"SO1:approve:{ID}",
        f"so1:Approve:{ID}",
        f"so1:allow:{ID}",
        f"so2:approve:{ID}",
        f"so1:approve:{ID}:1",
        f"so1:choice:{ID}",
        f"so1:approve:{ID}.1",
        f"so1:all-approve:{ID}",
        f"so1:all-approve:{ID}.",
        f"so1:all-approve:{ID}.01",
        f"so1:all-approve:{ID}.1:1",
        f"so1:choice:{ID}:01",
        f"so1:choice:{ID}:-1",
        f"so1:choice:{ID}:١",
        f"so1::{ID}",
        "so1:approve:",
        "so1:approve:а" + ID[1:],
        "so1:approve:" + "a" * 100,
        "",
        "approve",
    ],
)
def test_anything_else_means_nothing(text: str) -> None:
    assert decode(text) is None


def test_an_id_that_would_not_come_back_is_not_sent() -> None:
    with pytest.raises(ValueError, match="would not come back"):
        str(CustomId(verb=Verb.APPROVE, id="a:b"))
    with pytest.raises(ValueError, match="would not come back"):
        str(CustomId(verb=Verb.CHOICE, id=ID))
