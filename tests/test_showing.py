"""Copies of a card: each posted once and kept in step, and what becomes of a card that loses its places.

Cases A6, A7, A8, A13, A22, A34.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.clock import new_id
from bot.errands import MOST_TRIES
from bot.errors import DeliveryError, Gone, Locked, UnknownApproval, Unreachable
from bot.settings import Settings
from bot.surface import CardPress, Press
from bot.where import Places, PlacesRule, Quiet
from tests.house import OWNER, PLACE, Face, House, Script, open_house

CHANNEL, ABOVE, DIRECT = "discord/9/91", "discord/9/89", f"discord/@me/{OWNER.id}"
HERE_AND_THERE = Places(channel="91")
EVERYWHERE = Places(channel="91", people=(OWNER.id,))
ONCE = [[("act", {"what": "x"})], "Done."]
LOCKED = Unreachable("That thread is locked.")


@asynccontextmanager
async def house_with(
    folder: Path, places: Places | None = None, script: Script | None = None, **fail_at: Exception
) -> AsyncIterator[House]:
    """A house whose guild has this setting; the owner is a member of the guild."""
    face = Face(members={("9", OWNER.id): frozenset()}, threads={PLACE: ABOVE})
    face.fail_at.update({AT[name]: error for name, error in fail_at.items()})
    rules = (PlacesRule(places=places),) if places is not None else None
    settings = Settings(approver_users=frozenset({OWNER.id, "4"}), places=rules)
    async with open_house(folder, script or Script(*ONCE), face=face, settings=settings) as house:
        yield house


AT = {"here": PLACE, "above": ABOVE, "channel": CHANNEL, "direct": DIRECT}


def standing(house: House) -> dict[str, str]:
    """By place: what the newest card there says."""
    return {view.card.place: house.face.card_words[message][-1] for message, view in house.face.cards.items()}


def at(house: House, place: str) -> str:
    """The newest card's message in a place."""
    return [message for message, view in house.face.cards.items() if view.card.place == place][-1]


def press_at(house: House, card_in: str, **changes: Any) -> Press:
    message = at(house, card_in)
    call = house.face.cards[message].approvals[0]
    return Press(**{"actor": OWNER, "approval": call.id, "place": card_in, "message": message, **changes})


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY position")]


async def events(house: House, *names: str) -> list[str]:
    rows = await house.rows("SELECT event FROM audit ORDER BY n")
    return [row["event"] for row in rows if row["event"] in names]


async def test_every_copy_is_posted_once_and_shows_what_came_of_it(tmp_path: Path) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        assert standing(house) == dict.fromkeys([PLACE, CHANNEL, DIRECT], "waiting for sign-off")
        await house.app.engine.decide(press_at(house, CHANNEL), "approve")
        await house.app.background.idle()
        assert set(standing(house)) == {PLACE, CHANNEL, DIRECT}
        assert len(set(standing(house).values())) == 1
        assert "done" in standing(house)[PLACE]
        assert len(house.face.cards) == 3
        assert house.bench.effects == ["x"]


@pytest.mark.parametrize("place", [PLACE, CHANNEL, DIRECT])
async def test_the_buttons_of_each_copy_work(tmp_path: Path, place: str) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, place), "deny")
        assert await states(house) == ["denied"]


@pytest.mark.parametrize(
    "wrong",
    [{"message": "m99"}, {"place": "discord/9/92"}, {"place": DIRECT}],
)
async def test_a_button_counts_only_on_a_message_that_is_a_copy_of_its_card(
    tmp_path: Path, wrong: dict[str, str]
) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        with pytest.raises(UnknownApproval):
            await house.app.engine.decide(press_at(house, CHANNEL, **wrong), "approve")
        assert await states(house) == ["pending"]


async def test_a_copy_whose_place_could_not_take_it_takes_no_press(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE, channel=Unreachable("I cannot see that channel.")) as house:
        await house.ask()
        with pytest.raises(UnknownApproval):
            await house.app.engine.decide(press_at(house, PLACE, place=CHANNEL, message="m99"), "approve")


async def test_a_press_that_is_faster_than_the_storing_of_its_copy_counts_there(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE, channel=DeliveryError("cut")) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, PLACE, place=CHANNEL, message="m77"), "deny")
        assert {row["message"] for row in await house.rows("SELECT message FROM card")} == {at(house, PLACE), "m77"}


async def test_approve_all_works_on_every_copy_and_only_on_the_edition_it_shows(tmp_path: Path) -> None:
    script = Script([("act", {"what": "a"}), ("act", {"what": "b"})], "Done.")
    async with house_with(tmp_path, HERE_AND_THERE, script) as house:
        await house.ask()
        message = at(house, CHANNEL)
        view = house.face.cards[message]
        press = CardPress(actor=OWNER, card=view.card.root, place=CHANNEL, message=message, edition=view.card.edition)
        done = await house.app.engine.decide_all(press, "approve")
        await house.app.background.idle()
        assert len(done.done) == 2
        assert sorted(house.bench.effects) == ["a", "b"]


async def test_a_put_off_deadline_is_seen_in_every_copy(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE) as house:
        await house.ask()
        message = at(house, CHANNEL)
        view = house.face.cards[message]
        press = CardPress(actor=OWNER, card=view.card.root, place=CHANNEL, message=message)
        until = await house.app.engine.edits.extend(press)
        await house.app.engine.sweep()
        await house.app.background.idle()
        assert {view.approvals[0].expires_at for view in house.face.cards.values()} == {until}


async def test_what_is_settled_while_a_copy_is_on_its_way_gets_no_live_looking_card_there(tmp_path: Path) -> None:
    """A6: the state is looked at again just before posting."""
    async with house_with(tmp_path, HERE_AND_THERE, channel=DeliveryError("503")) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, PLACE), "deny")
        await house.app.background.idle()
        house.face.fail_at.clear()
        await house.later(seconds=60)
        assert set(standing(house)) == {PLACE}
        assert await house.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_no_copy_says_expired_of_what_was_decided_in_time(tmp_path: Path) -> None:
    """A7: a card is drawn from the rows alone."""
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, DIRECT), "approve")
        await house.app.background.idle()
        before = standing(house)
        await house.later(seconds=2 * 86_400)
        await house.app.engine.showing.look_again()
        await house.later(seconds=2)
        assert standing(house) == before
        assert not any("expired" in word for words in house.face.card_words.values() for word in words)


async def test_a_timeout_a_denial_and_no_place_are_three_things_to_model_card_and_trail(tmp_path: Path) -> None:
    """A8."""
    no = Unreachable("I cannot see that channel.")
    told = []
    for number, (ending, fails) in enumerate([("expired", {}), ("denied", {}), ("undeliverable", {"here": no})]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with house_with(folder, **fails, **({"above": no, "direct": no} if fails else {})) as house:
            await house.ask()
            if ending == "denied":
                await house.app.engine.decide(press_at(house, PLACE), "deny")
            await house.app.background.idle()
            await house.later(seconds=2 * 86_400)
            await house.app.engine.sweep()
            await house.app.background.idle()
            assert await states(house) == [ending]
            assert await events(house, "expired", "denied", "undeliverable") == [ending]
            told.append(house.script.results()[0][1])
    assert len(set(told)) == 3


# -- whom it notifies -----------------------------------------------------------------------------


async def test_everybody_is_notified_once_whatever_number_of_copies_there_is(tmp_path: Path) -> None:
    """A22: exact people, and nobody twice: who has a copy of their own is not named in a channel."""
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        assert {view.card.place: view.ping for view in house.face.cards.values()} == {
            PLACE: (),
            CHANNEL: ("4",),
            DIRECT: (),
        }


async def test_a_copy_that_stands_in_notifies_those_whom_the_first_one_would_have(tmp_path: Path) -> None:
    places = Places(here=False, channel="91", people=(OWNER.id,))
    async with house_with(tmp_path, places, channel=Unreachable("I cannot see that channel.")) as house:
        await house.ask()
        assert {view.card.place: view.ping for view in house.face.cards.values()} == {PLACE: ("4",), DIRECT: ()}
        assert house.face.said == []


async def test_who_cannot_be_written_to_is_named_under_the_card(tmp_path: Path) -> None:
    closed = Unreachable("Your direct messages are closed to me.")
    async with house_with(tmp_path, EVERYWHERE, direct=closed) as house:
        await house.ask()
        [said] = house.face.said
        assert said.ping == (OWNER.id,)
        assert said.ping_roles == ()
        assert "directly: Your direct messages are closed to me." in said.text
        assert (said.place, said.reply_to) in {(PLACE, at(house, PLACE)), (CHANNEL, at(house, CHANNEL))}
        assert await states(house) == ["pending"]


async def test_whoever_left_the_server_is_not_sent_its_cards(tmp_path: Path) -> None:
    async with house_with(tmp_path, Places(people=("5", OWNER.id))) as house:
        await house.ask()
        assert set(standing(house)) == {DIRECT} or set(standing(house)) == {PLACE, DIRECT}
        gone = await house.rows("SELECT person, error FROM card WHERE gone = 1")
        assert [row["person"] for row in gone] == ["5"]


async def test_when_the_notifying_channel_fails_its_people_are_told_where_the_other_copy_is(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE, channel=Unreachable("I cannot see that channel.")) as house:
        await house.ask()
        [said] = house.face.said
        assert (said.place, set(said.ping)) == (PLACE, {OWNER.id, "4"})
        assert said.reply_to == at(house, PLACE)
        assert "I cannot see that channel." in said.text


@pytest.mark.parametrize(("hours", "silent"), [("22:00-23:30", True), ("23:00-07:00", False)])
async def test_in_quiet_hours_everything_is_posted_at_once_and_silently(
    tmp_path: Path, hours: str, silent: bool
) -> None:
    # The house's clock begins at 22:13 UTC.
    places = Places(channel="91", people=(OWNER.id,), quiet=Quiet(hours=hours))
    async with house_with(tmp_path, places) as house:
        await house.ask()
        assert [view.silent for view in house.face.cards.values()] == [silent] * 3


async def test_a_reminder_in_quiet_hours_is_silent(tmp_path: Path) -> None:
    places = Places(quiet=Quiet(hours="21:00-23:00"))  # and so is the same time on the next day
    async with house_with(tmp_path, places) as house:
        await house.ask()
        await house.later(seconds=86_400 - 600)
        [said] = house.face.said
        assert said.silent
        assert set(said.ping) == {OWNER.id, "4"}


async def test_a_question_in_quiet_hours_makes_a_sound(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?", "choices": []})], "Done.")
    async with house_with(tmp_path, Places(quiet=Quiet(hours="22:00-23:00")), script) as house:
        await house.ask()
        assert [view.silent for view in house.face.cards.values()] == [False]


async def test_the_reminder_comes_once_to_each_where_their_card_is(tmp_path: Path) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        await house.later(seconds=86_400 - 600)
        told = {said.place: (said.ping, said.reply_to) for said in house.face.said}
        channel = PLACE if PLACE in told else CHANNEL
        assert told == {channel: (("4",), at(house, channel)), DIRECT: ((), at(house, DIRECT))}
        assert len(house.face.said) == 2
        await house.later(seconds=60)
        assert len(house.face.said) == 2


async def test_nobody_is_reminded_in_a_channel_that_has_no_card(tmp_path: Path) -> None:
    async with house_with(tmp_path, Places(here=False, people=(OWNER.id,))) as house:
        await house.ask()
        await house.later(seconds=86_400 - 600)
        assert [said.place for said in house.face.said] == [DIRECT]


async def test_a_channel_is_spared_a_reminder_when_everybody_is_reminded_directly(tmp_path: Path) -> None:
    async with house_with(tmp_path, Places(people=(OWNER.id, "4"))) as house:
        house.face.members["9", "4"] = frozenset()
        await house.ask()
        await house.later(seconds=86_400 - 600)
        assert {said.place for said in house.face.said} == {DIRECT, "discord/@me/4"}


async def test_nobody_is_reminded_of_what_was_decided(tmp_path: Path) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, DIRECT), "deny")
        await house.app.background.idle()
        await house.later(seconds=86_400 - 600)
        assert not any("time is running out" in said.text for said in house.face.said)


# -- places that cannot take it -------------------------------------------------------------------


async def test_a_card_that_its_thread_does_not_take_stands_in_the_channel_above(tmp_path: Path) -> None:
    """A34: a thread that is locked already."""
    async with house_with(tmp_path, here=LOCKED) as house:
        await house.ask()
        assert set(standing(house)) == {ABOVE}
        await house.app.engine.decide(press_at(house, ABOVE), "approve")
        await house.app.background.idle()
        assert house.bench.effects == ["x"]


async def test_the_approvals_channel_stands_in_for_the_conversation_and_the_other_way_round(tmp_path: Path) -> None:
    places = Places(here=False, channel="91")
    async with house_with(tmp_path, places, channel=Unreachable("I cannot see that channel.")) as house:
        await house.ask()
        assert set(standing(house)) == {PLACE}


async def test_the_last_resort_is_a_direct_message_to_an_approver(tmp_path: Path) -> None:
    no = Unreachable("I lack Send Messages in that channel.")
    async with house_with(tmp_path, here=no, above=no) as house:
        await house.ask()
        assert set(standing(house)) == {DIRECT}
        assert await states(house) == ["pending"]


async def test_when_no_place_takes_the_card_people_and_model_are_told(tmp_path: Path) -> None:
    """A13; A8: undeliverable is an outcome of its own."""
    no = Unreachable("I lack Send Messages in that channel.")
    closed = Unreachable("Your direct messages are closed to me.")
    async with house_with(tmp_path, here=no, above=no, direct=closed) as house:
        page = await house.ask()
        assert await states(house) == ["undeliverable"]
        [(outcome, text)] = house.script.results()
        assert outcome == "failed"
        assert "I lack Send Messages in that channel." in text
        assert f"Directly to <{OWNER.id}>: Your direct messages are closed to me." in text
        assert page.finished == "Done."
        assert await events(house, "card_not_posted", "undeliverable") == ["card_not_posted"] * 4 + ["undeliverable"]


async def test_a_place_that_makes_it_wait_for_long_is_no_place_for_a_card(tmp_path: Path) -> None:
    slow = DeliveryError("That channel's slow mode makes me wait.", after_ms=6 * 3_600_000)
    async with house_with(tmp_path, here=slow) as house:
        await house.ask()
        assert set(standing(house)) == {ABOVE}


async def test_a_short_slow_mode_is_waited_for_as_long_as_it_says(tmp_path: Path) -> None:
    slow = DeliveryError("That channel's slow mode makes me wait.", after_ms=30_000)
    async with house_with(tmp_path, here=slow) as house:
        await house.ask()
        house.face.fail_at.clear()
        await house.later(seconds=29)
        assert standing(house) == {}
        await house.later(seconds=1)
        assert set(standing(house)) == {PLACE}


async def test_a_failing_copy_holds_up_no_other_and_is_posted_when_it_can_be(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE, channel=DeliveryError("503")) as house:
        await house.ask()
        assert set(standing(house)) == {PLACE}
        house.face.fail_at.clear()
        await house.later(seconds=10)
        assert set(standing(house)) == {PLACE, CHANNEL}


async def test_a_question_goes_to_whoever_was_asked_and_to_no_approver(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?", "choices": []})], "Done.")
    no = Unreachable("I cannot see that channel.")
    async with house_with(tmp_path, HERE_AND_THERE, script, here=no, above=no) as house:
        house.face.members["9", "2"] = frozenset()
        await house.ask()
        assert set(standing(house)) == {"discord/@me/2"}


async def test_a_copy_that_cannot_be_edited_any_more_keeps_no_other_from_it(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE) as house:
        await house.ask()
        house.face.fail_at[CHANNEL] = Unreachable("I cannot see that channel.")
        await house.app.engine.decide(press_at(house, PLACE), "deny")
        await house.app.background.idle()
        assert "denied" in standing(house)[PLACE]
        assert "waiting" in standing(house)[CHANNEL]
        house.face.fail_at.clear()
        await house.later(seconds=10)
        assert "denied" in standing(house)[CHANNEL]  # a permission that was taken away may be given back
        assert await house.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_a_copy_that_can_never_be_edited_again_is_given_up_in_the_end(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE) as house:
        await house.ask()
        house.face.fail_at[CHANNEL] = Unreachable("I cannot see that channel.")
        await house.app.engine.decide(press_at(house, PLACE), "deny")
        await house.app.background.idle()
        for _ in range(MOST_TRIES):
            await house.later(seconds=301)
        assert await house.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_where_the_card_went_is_said_where_it_was_asked(tmp_path: Path) -> None:
    async with house_with(tmp_path, Places(here=False, channel="91")) as house:
        page = await house.ask()
        assert "the card is in" not in page.shown[-1]  # this face has no links to channels
        assert "below" not in page.shown[-1]


# -- cards that are deleted, threads that are locked -----------------------------------------------


async def test_a_deleted_card_is_posted_anew_once_and_says_so(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        first = at(house, PLACE)
        assert await house.app.engine.showing.lost(PLACE, first)
        second = at(house, PLACE)
        assert second != first
        view = house.face.cards[second]
        assert (view.card.posts, view.ping) == (1, ())
        await house.app.engine.decide(press_at(house, PLACE), "approve")
        await house.app.background.idle()
        assert house.bench.effects == ["x"]
        assert await events(house, "card_deleted") == ["card_deleted"]


async def test_a_card_that_is_deleted_twice_goes_elsewhere(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        for _ in range(2):
            await house.app.engine.showing.lost(PLACE, at(house, PLACE))
        assert house.face.cards[at(house, ABOVE)].ping == (OWNER.id, "4")
        assert await states(house) == ["pending"]


async def test_when_every_copy_is_deleted_again_and_again_the_call_ends(tmp_path: Path) -> None:
    no = Unreachable("no")
    async with house_with(tmp_path, above=no, direct=no) as house:
        await house.ask()
        for _ in range(2):
            await house.app.engine.showing.lost(PLACE, at(house, PLACE))
        assert await states(house) == ["undeliverable"]
        await house.app.engine.sweep()
        await house.app.background.idle()
        assert "The card was deleted there." in house.script.results()[0][1]


async def test_a_card_of_what_is_decided_is_not_posted_anew(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        await house.app.engine.decide(press_at(house, PLACE), "deny")
        await house.app.background.idle()
        count = len(house.face.cards)
        await house.app.engine.showing.lost(PLACE, at(house, PLACE))
        assert len(house.face.cards) == count
        assert await house.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_a_message_that_is_no_card_concerns_nobody(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        assert not await house.app.engine.showing.lost(PLACE, "m99")
        assert not await house.app.engine.showing.lost(CHANNEL, at(house, PLACE))


async def test_what_is_told_twice_of_a_deleted_card_counts_once(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        first = at(house, PLACE)
        await house.app.engine.showing.lost(PLACE, first)
        assert not await house.app.engine.showing.lost(PLACE, first)
        assert [row["posts"] for row in await house.rows("SELECT posts FROM card")] == [1]


async def test_an_edit_that_finds_no_message_learns_that_it_was_deleted(tmp_path: Path) -> None:
    """Deleted while nobody was connected: the next edit finds out, here that of a later deadline."""
    async with house_with(tmp_path) as house:
        await house.ask()
        message = at(house, PLACE)
        house.face.deleted.add(message)
        press = CardPress(actor=OWNER, card=house.face.cards[message].card.id, place=PLACE, message=message)
        await house.app.engine.edits.extend(press)
        await house.app.engine.sweep()
        assert at(house, PLACE) != message
        assert await states(house) == ["pending"]


async def test_the_card_of_a_deleted_thread_stands_in_the_channel_above(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        await house.ask()
        assert await house.app.engine.showing.place_gone(PLACE, above=ABOVE)
        assert house.face.cards[at(house, ABOVE)].ping == (OWNER.id, "4")
        await house.app.engine.decide(press_at(house, ABOVE), "deny")
        assert await states(house) == ["denied"]


async def test_what_waits_in_a_server_that_put_the_bot_out_ends(tmp_path: Path) -> None:
    gone = Gone("I am not in that server any more.")
    async with house_with(tmp_path, HERE_AND_THERE) as house:
        await house.ask()
        house.face.fail_at.update(dict.fromkeys([PLACE, CHANNEL, ABOVE], gone))
        house.face.members.clear()
        assert await house.app.engine.showing.space_gone("discord/9/")
        assert await states(house) == ["undeliverable"]


async def test_the_card_in_a_thread_that_is_locked_is_shown_where_it_can_be_pressed(tmp_path: Path) -> None:
    """A34: locked while a request is pending. The old copy stays, and is edited as long as that is allowed."""
    async with house_with(tmp_path) as house:
        await house.ask()
        assert await house.app.engine.showing.place_locked(PLACE)
        assert set(standing(house)) == {PLACE, ABOVE}
        assert not await house.app.engine.showing.place_locked(PLACE)
        assert len(house.face.cards) == 2
        [listed] = await house.app.engine.open_approvals("discord/9/")
        assert listed.place == ABOVE
        await house.app.engine.decide(press_at(house, ABOVE), "deny")
        await house.app.background.idle()
        assert len(set(standing(house).values())) == 1


async def test_with_a_copy_elsewhere_a_locked_thread_needs_no_new_one(tmp_path: Path) -> None:
    async with house_with(tmp_path, HERE_AND_THERE) as house:
        await house.ask()
        await house.app.engine.showing.place_locked(PLACE)
        assert set(standing(house)) == {PLACE, CHANNEL}


# -- people who cannot see it ---------------------------------------------------------------------


async def test_a_card_that_no_approver_can_see_goes_on_to_one_who_can_be_reached(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        house.face.hidden = dict.fromkeys([OWNER.id, "4"], "They cannot see that channel any more.")
        await house.ask()
        assert set(standing(house)) == {PLACE, ABOVE, DIRECT}
        assert await states(house) == ["pending"]


async def test_a_card_that_one_approver_can_see_goes_nowhere_else(tmp_path: Path) -> None:
    async with house_with(tmp_path) as house:
        house.face.hidden = {OWNER.id: "They cannot see that channel any more."}
        await house.ask()
        assert set(standing(house)) == {PLACE}


async def test_what_nobody_who_may_decide_can_see_does_not_wait_for_them(tmp_path: Path) -> None:
    async with house_with(tmp_path, direct=Unreachable("Your direct messages are closed to me.")) as house:
        house.face.hidden = dict.fromkeys([OWNER.id, "4"], "They cannot see that channel any more.")
        await house.ask()
        assert await states(house) == ["undeliverable"]
        assert "Nobody who may decide can see the card there." in house.script.results()[0][1]
        assert set(standing(house).values()) == {"could not be asked"}


async def test_an_edit_that_finds_the_thread_locked_shows_the_card_elsewhere(tmp_path: Path) -> None:
    """A34: locked while nobody was connected."""
    async with house_with(tmp_path) as house:
        await house.ask()
        house.face.fail_at[PLACE] = Locked("That thread is locked.")
        await house.app.engine.showing.look_again()
        await house.later(seconds=2)
        assert set(standing(house)) == {PLACE, ABOVE}


async def test_after_a_time_without_connection_a_deleted_card_is_found_missing(tmp_path: Path) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        message = at(house, CHANNEL)
        house.face.deleted.add(message)
        await house.app.engine.showing.look_again()
        await house.later(seconds=2)
        assert at(house, CHANNEL) != message


# -- across a restart --------------------------------------------------------------------------------


async def test_after_a_restart_every_copy_is_edited_in_its_own_place(tmp_path: Path) -> None:
    async with house_with(tmp_path, EVERYWHERE) as house:
        await house.ask()
        face, clock = house.face, house.clock
        press = press_at(house, CHANNEL)
    settings = Settings(approver_users=frozenset({OWNER.id, "4"}), places=(PlacesRule(places=EVERYWHERE),))
    async with open_house(
        tmp_path, Script("Done."), face=face, clock=clock, settings=settings, ids=new_id()[:4]
    ) as house:
        await house.app.engine.decide(press, "deny")
        await house.app.background.idle()
        assert len(face.cards) == 3
        assert len(set(standing(house).values())) == 1
