"""Copies of a card over real sockets: each is there once, whatever is cut, killed or deleted."""

from __future__ import annotations

import json

import pytest

from bot.playground.faults import Fault
from bot.playground.people import Post, channel_id
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff

pytestmark = [pytest.mark.wire, needs("bwrap")]

GENERAL, OPS = "general", "ops"


async def with_places(signoff: Signoff, twin: Twin) -> None:
    """Cards go to #general and to Ana directly, and stay where they were asked."""
    await signoff.stop()
    guild = twin.world.backend.get_channel(channel_id(twin.world, OPS)).guild_id
    rule = {
        "guilds": [str(guild)],
        "here": True,
        "channel": str(channel_id(twin.world, GENERAL)),
        "people": [str(twin.people["ana"].id)],
    }
    signoff.env["SIGNOFF_PLACES"] = json.dumps([rule])
    await signoff.start()


def copies(twin: Twin, text: str) -> list[list[Post]]:
    """The cards with a text: in #ops, in #general, in Ana's direct messages."""
    places = [twin.posts(OPS), twin.posts(GENERAL), twin.people["ana"].messages(None)]
    return [[post for post in place if text in post.text and "Asked by" in post.text] for place in places]


async def everywhere(twin: Twin, text: str, *, timeout: float = 20.0) -> list[Post]:
    await twin.wait_for(lambda: all(copies(twin, text)), timeout=timeout, what="three copies")
    found = copies(twin, text)
    assert [len(place) for place in found] == [1, 1, 1]
    return [place[0] for place in found]


async def test_each_copy_is_there_once_though_its_posting_was_cut_and_all_end_alike(
    signoff: Signoff, twin: Twin
) -> None:
    """A31, for each copy."""
    await with_places(signoff, twin)
    general, direct = channel_id(twin.world, GENERAL), twin.people["ana"].dm_channel_id
    cut = [
        twin.faults.add(Fault("cut_after", "POST", rf"/channels/{general}/messages")),
        twin.faults.add(Fault("cut_after", "POST", rf"/channels/{direct}/messages")),
    ]
    await signoff.ask("run `echo one`")
    here, there, own = await everywhere(twin, "echo one")
    await signoff.until("SELECT count(*) FROM card WHERE message IS NOT NULL", 3)
    assert [fault.struck for fault in cut] == [1, 1]
    await twin.people["ana"].click(own, "Approve")
    for card in (here, there, own):
        await signoff.shows(card, "exit code 0", timeout=20)
    assert [len(place) for place in copies(twin, "echo one")] == [1, 1, 1]


async def test_killed_while_it_waits_every_copy_still_works_and_is_brought_up_to_date(
    signoff: Signoff, twin: Twin
) -> None:
    await with_places(signoff, twin)
    await signoff.ask("run `echo two`")
    await everywhere(twin, "echo two")
    await signoff.until("SELECT count(*) FROM card WHERE message IS NOT NULL", 3)
    await signoff.restart()
    here, there, own = await everywhere(twin, "echo two")
    await twin.people["ana"].click(there, "Deny")
    for card in (here, there, own):
        await signoff.shows(card, "denied", timeout=20)


async def test_a_copy_whose_edit_fails_is_edited_later_and_holds_up_no_other(signoff: Signoff, twin: Twin) -> None:
    await with_places(signoff, twin)
    await signoff.ask("run `echo three`")
    here, there, own = await everywhere(twin, "echo three")
    await signoff.until("SELECT count(*) FROM card WHERE message IS NOT NULL", 3)
    general = channel_id(twin.world, GENERAL)
    broken = twin.faults.add(Fault("cut_before", "PATCH", rf"/channels/{general}/messages/\d+"))
    await twin.people["ana"].click(here, "Deny")
    for card in (own, here, there):
        await signoff.shows(card, "denied", timeout=20)
    assert broken.struck == 1


async def test_a_card_that_is_deleted_while_the_bot_is_dead_is_there_again(signoff: Signoff, twin: Twin) -> None:
    await signoff.ask("run `echo four`")
    card = await signoff.card("echo four")
    await signoff.kill()
    twin.world.backend.delete_message(channel_id(twin.world, OPS), card.id)
    await signoff.start()
    again = await twin.wait_for(
        lambda: twin.last(OPS, text="Posted once more", label="Approve"), timeout=20, what="the card again"
    )
    await twin.people["ana"].click(again, "Approve")
    await signoff.shows(again, "exit code 0", timeout=20)
