"""Which presses can mean a call at all: those from its own guild, on a message that is its card."""

from __future__ import annotations

import pytest

from bot.deferral.authority import belongs
from bot.errors import NotAllowed, UnknownApproval
from bot.surface import Actor, Press
from storage.cards import Card
from tests.storage.rows import a_call

PLACE = "discord/9/90"


def a_card(*, place: str = PLACE, message: str | None = "m1", gone: bool = False) -> Card:
    return Card(
        id="card1",
        run="run1",
        place=place,
        message=message,
        version=1,
        shown=1,
        tries=0,
        due_at=0,
        error=None,
        gone=gone,
    )


def press(*, guild: str | None = "9", place: str = PLACE, message: str | None = "m1") -> Press:
    return Press(approval="call1", actor=Actor(id="1", guild=guild), place=place, message=message)


@pytest.mark.parametrize(
    ("pressed", "copies"),
    [
        (press(), [a_card()]),
        (press(), [a_card(place="discord/9/91", message="m2"), a_card()]),
        (press(), [a_card(message=None)]),  # the press was faster than the commit that stores the message's id
        (press(message=None), []),  # a command names the call by its id
        (press(guild=None, place="discord/@me/7"), [a_card(place="discord/@me/7")]),
    ],
)
def test_a_press_on_a_message_that_is_the_card_counts(pressed: Press, copies: list[Card]) -> None:
    belongs(a_call(), copies, pressed)


@pytest.mark.parametrize(
    ("pressed", "copies"),
    [
        (press(), []),
        (press(), [a_card(message="m2")]),
        (press(), [a_card(place="discord/9/91")]),
        (press(), [a_card(gone=True)]),
        (press(), [a_card(place="discord/9/91", message=None)]),
    ],
)
def test_a_press_on_any_other_message_means_no_call(pressed: Press, copies: list[Card]) -> None:
    with pytest.raises(UnknownApproval) as refusal:
        belongs(a_call(), copies, pressed)
    assert refusal.value.code == "wrong_message"


@pytest.mark.parametrize("message", ["m1", None])
def test_a_press_in_another_guild_means_no_call_here(message: str | None) -> None:
    with pytest.raises(NotAllowed) as refusal:
        belongs(a_call(), [a_card()], press(guild="8", message=message))
    assert refusal.value.code == "wrong_guild"
