"""One conversation per place, however one comes to it (cases A23, A24)."""

from __future__ import annotations

import pytest

from bot.errors import Unreachable
from bot.place import is_private, space_of
from cogs.places import Place, conversation, link, parse


@pytest.mark.parametrize("place", [Place(guild=4711, channel=4712), Place(guild=None, channel=4713)])
def test_a_place_reads_back(place: Place) -> None:
    assert parse(str(place)) == place


@pytest.mark.parametrize("text", ["", "terminal/@me/1", "discord/x/1", "discord/1/2/3", "discord/1/2\n", "discord/1/"])
def test_a_place_that_is_not_ours_cannot_be_reached(text: str) -> None:
    with pytest.raises(Unreachable):
        parse(text)


def test_the_mind_reads_the_same_from_a_place_as_we_do() -> None:
    assert space_of(str(Place(guild=4711, channel=4712))) == "4711"
    assert is_private(str(Place(guild=None, channel=4713)))


def test_everybody_in_a_channel_shares_one_conversation() -> None:
    place = Place(guild=1, channel=2)
    assert conversation(place, 10) == conversation(place, 11) == "discord/1/2"


def test_direct_messages_of_two_people_are_two_conversations() -> None:
    """A24."""
    assert conversation(Place(guild=None, channel=5), 10) == "discord/dm/10"
    assert conversation(Place(guild=None, channel=6), 11) == "discord/dm/11"


def test_a_link_opens_in_any_client() -> None:
    assert link(Place(guild=1, channel=2), "3") == "https://discord.com/channels/1/2/3"
    assert link(Place(guild=None, channel=2), 3) == "https://discord.com/channels/@me/2/3"
    assert link(Place(guild=1, channel=2), None) == "https://discord.com/channels/1/2"
