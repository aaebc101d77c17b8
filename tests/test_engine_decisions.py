"""Decisions race each other, the clock, a cancellation and the card's own posting: one of them counts."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from bot.decisions import Together
from bot.errors import AlreadySettled, DecisionRefused, NotAllowed, UnknownApproval
from bot.settings import Settings
from bot.surface import Actor, CardPress, Press
from storage import audit, cards
from tests.faults import BadFace, FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, STRANGER, Face, House, Page, Script, open_house

ACT = [("act", {"what": "x"})]
DAY = 86_400
SECOND = Actor(id="5", guild="9")
TWO = Settings(approver_users=frozenset({OWNER.id, SECOND.id}))


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY position")]


async def refusals(house: House) -> list[tuple[str, str]]:
    return [
        (entry.actor, entry.detail["code"])
        for entry in await audit.entries(house.app.database.reader)
        if entry.event == "press_refused"
    ]


# -- races --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdicts", list(itertools.product(["approve", "deny"], repeat=2)), ids="-".join)
async def test_of_two_presses_at_once_one_counts_and_the_other_is_told(
    tmp_path: Path, verdicts: tuple[str, str]
) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=TWO) as house:
        await house.ask()
        presses = [house.press(actor) for actor in (OWNER, SECOND)]
        endings = await asyncio.gather(
            *(
                house.app.engine.decide(press, verdict)  # type: ignore[arg-type]
                for press, verdict in zip(presses, verdicts, strict=True)
            ),
            return_exceptions=True,
        )
        await house.app.background.idle()
        [loser] = [ending for ending in endings if isinstance(ending, AlreadySettled)]
        [winner] = [ending for ending in endings if not isinstance(ending, BaseException)]
        assert f"<{winner.settled_by}>" in loser.sentence
        approved = verdicts[[OWNER.id, SECOND.id].index(str(winner.settled_by))] == "approve"
        assert await states(house) == ["succeeded" if approved else "denied"]
        assert house.bench.effects == (["x"] if approved else [])
        assert len(await refusals(house)) == 1


@pytest.mark.parametrize("first", ["press", "sweep"])
async def test_a_press_and_the_deadline_at_once_have_one_winner(tmp_path: Path, first: str) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        [row] = await house.rows("SELECT expires_at FROM approval")
        house.clock.at = row["expires_at"] - (1 if first == "press" else 0)
        press = house.app.engine.decide(house.press(OWNER), "approve")
        house.clock.at = row["expires_at"] - 1 if first == "press" else row["expires_at"]
        ending, _ = await asyncio.gather(press, house.app.engine.sweep(), return_exceptions=True)
        await house.app.background.idle()
        if first == "press":
            assert (await states(house), house.bench.effects) == (["succeeded"], ["x"])
        else:
            assert isinstance(ending, AlreadySettled)
            assert (await states(house), house.bench.effects) == (["expired"], [])


async def test_a_press_that_had_to_wait_for_the_database_until_after_the_deadline_is_too_late(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Nobody."), open_db=database.open) as house:
        await house.ask()
        reached, go_on = database.hold("decide")
        press = asyncio.ensure_future(house.app.engine.decide(house.press(OWNER), "approve"))
        await reached.wait()
        house.clock.advance(seconds=DAY)
        go_on.set()
        with pytest.raises(AlreadySettled, match="too_late") as refusal:
            await press
        assert refusal.value.sentence.startswith("The deadline has passed")
        assert house.bench.effects == []


async def test_two_sweeps_at_once_run_what_was_approved_once_and_say_its_answer_once(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done."), open_db=database.open) as house:
        page = await house.ask()
        database.failing["claim"] = 1  # the press's own attempt fails, so that the sweeps find it approved
        await house.decide("approve")
        assert await states(house) == ["approved"]
        await asyncio.gather(*(house.app.engine.sweep() for _ in range(3)))
        await house.app.background.idle()
        assert (house.bench.effects, page.finished) == (["x"], "Done.")
        assert len(house.script.seen) == 2
        assert [entry.event for entry in await audit.entries(house.app.database.reader)].count("running") == 1


async def test_two_sweeps_at_once_expire_a_call_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Nobody.")) as house:
        await house.ask()
        house.clock.advance(seconds=DAY)
        await asyncio.gather(*(house.app.engine.sweep() for _ in range(3)))
        await house.app.background.idle()
        events = [entry.event for entry in await audit.entries(house.app.database.reader)]
        assert (events.count("expired"), events.count("turn_done")) == (1, 1)


async def test_the_last_of_a_batch_is_pressed_while_the_turn_still_says_that_it_waits(tmp_path: Path) -> None:
    class SlowPage(Page):
        """Tells when it is to show the waiting text, and waits there."""

        def __init__(self) -> None:
            super().__init__()
            self.resting, self.go_on = asyncio.Event(), asyncio.Event()

        async def rest(self, text: str) -> None:
            self.resting.set()
            await self.go_on.wait()
            await super().rest(text)

    page = SlowPage()
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        asking = asyncio.ensure_future(house.ask(page=page))
        await page.resting.wait()
        [row] = await house.rows("SELECT id FROM approval")
        early = Press(actor=OWNER, approval=row["id"], place=PLACE, message=None)
        await house.app.engine.decide(early, "approve")
        while house.bench.effects != ["x"]:
            await asyncio.sleep(0)
        page.go_on.set()
        await asking
        await house.app.background.idle()
        assert page.finished == "Done."


# -- the card -----------------------------------------------------------------------------------


async def test_a_press_while_the_card_is_being_posted_counts_and_tells_where_the_card_is(tmp_path: Path) -> None:
    face = BadFace(stuck_card=asyncio.Event())
    async with open_house(tmp_path, Script(ACT, "Done."), face=face) as house:
        asking = asyncio.ensure_future(house.ask())
        await face.posting.wait()
        _, view = house.card
        early = Press(actor=OWNER, approval=view.approvals[0].id, place=PLACE, message="m1")
        await house.app.engine.decide(early, "deny")
        card = await cards.get_card(house.app.database.reader, view.card.id)
        assert card is not None
        assert card.message == "m1"
        assert face.stuck_card is not None
        face.stuck_card.set()
        await asking
        assert face.card_words == {"m1": ["waiting for sign-off", "denied"]}


async def test_a_card_that_was_pressed_but_whose_posting_never_came_back_is_brought_up_to_date_after_a_crash(
    tmp_path: Path,
) -> None:
    face = BadFace(stuck_card=asyncio.Event())
    async with open_house(tmp_path, Script(ACT), face=face) as house:
        asking = asyncio.ensure_future(house.ask())
        await face.posting.wait()
        _, view = house.card
        early = Press(actor=OWNER, approval=view.approvals[0].id, place=PLACE, message="m1")
        await house.app.engine.decide(early, "deny")
        for task in (asking, *house.app.background._tasks):
            task.cancel()
    async with open_house(tmp_path, Script("As you wish."), ids="later") as house:
        assert house.face.card_words == {"m1": ["denied"]}


async def test_a_refused_press_teaches_nothing_about_the_card(tmp_path: Path) -> None:
    face = BadFace(stuck_card=asyncio.Event())
    async with open_house(tmp_path, Script(ACT, "Done."), face=face) as house:
        asking = asyncio.ensure_future(house.ask())
        await face.posting.wait()
        _, view = house.card
        forged = Press(actor=STRANGER, approval=view.approvals[0].id, place=PLACE, message="forged")
        with pytest.raises(NotAllowed):
            await house.app.engine.decide(forged, "approve")
        card = await cards.get_card(house.app.database.reader, view.card.id)
        assert card is not None
        assert card.message is None
        assert face.stuck_card is not None
        face.stuck_card.set()
        await asking


# -- presses that change nothing ----------------------------------------------------------------


async def test_every_refused_press_is_on_the_trail_with_its_reason(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"}), ("ask_user", {"question": "Which?"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        message, view = house.card
        act, question = (call.id for call in view.approvals)

        def press(id: str, actor: Actor = OWNER, place: str = PLACE, on: str | None = message) -> Press:
            return Press(actor=actor, approval=id, place=place, message=on)

        engine = house.app.engine
        tries = [
            engine.decide(press("nothing"), "approve"),
            engine.decide(press(act, STRANGER), "approve"),
            engine.decide(press(act, ASKER), "approve"),
            engine.decide(press(act, place="discord/8/80"), "approve"),
            engine.decide(press(act, on="m99"), "approve"),
            engine.decide(press(question), "approve"),
            engine.answer(press(act, ASKER), "yes"),
            engine.answer(press(question, OWNER), "yes"),
        ]
        for one in tries:
            with pytest.raises(DecisionRefused):
                await one
        assert await states(house) == ["pending", "pending"]
        assert [code for _, code in await refusals(house)] == [
            "unknown",
            "not_approver",
            "not_approver",
            "wrong_message",
            "wrong_message",
            "wrong_kind",
            "wrong_kind",
            "not_requester",
        ]


async def test_an_approver_may_not_decide_their_own_request_where_four_eyes_are_wanted(tmp_path: Path) -> None:
    settings = TWO.model_copy(update={"self_approval": False})
    async with open_house(tmp_path, Script(ACT, "Done."), settings=settings) as house:
        await house.ask(by=OWNER.id)
        with pytest.raises(NotAllowed, match="four_eyes"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        await house.decide("approve", SECOND)
        assert house.bench.effects == ["x"]


async def test_nobody_is_asked_where_the_only_approver_is_the_one_who_asked(tmp_path: Path) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id}), self_approval=False)
    script = Script(ACT, "I could not.")
    async with open_house(tmp_path, script, settings=settings) as house:
        page = await house.ask(by=OWNER.id)
        assert page.finished == "I could not."
        assert house.face.cards == {}
        assert "Nobody who may sign this off" in script.results()[0][1]


# -- every call of a card at once ---------------------------------------------------------------

THREE = [("act", {"what": what}) for what in "abc"]


def all_of(house: House, actor: Actor = OWNER) -> CardPress:
    message, view = house.card
    return CardPress(actor=actor, card=view.card.id, place=PLACE, message=message)


async def test_all_that_still_waits_on_a_card_is_decided_and_what_was_settled_stays(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(THREE, "Done.")) as house:
        await house.ask()
        await house.decide("deny", row=1)
        decided = await house.app.engine.decide_all(all_of(house), "approve")
        await house.app.background.idle()
        assert len(decided.done) == 2
        assert await states(house) == ["succeeded", "denied", "succeeded"]
        assert sorted(house.bench.effects) == ["a", "c"]


async def test_deciding_all_of_a_settled_card_is_refused_and_on_the_trail(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(THREE, "Done.")) as house:
        await house.ask()
        await house.app.engine.decide_all(all_of(house), "deny")
        await house.app.background.idle()
        with pytest.raises(AlreadySettled, match="too_late"):
            await house.app.engine.decide_all(all_of(house), "approve")
        assert await refusals(house) == [(OWNER.id, "too_late")]
        assert house.bench.effects == []


async def test_deciding_all_of_an_unknown_card_is_refused_as_unknown(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(THREE)) as house:
        await house.ask()
        unknown = CardPress(actor=OWNER, card="nothing", place=PLACE, message="m1")
        with pytest.raises(UnknownApproval):
            await house.app.engine.decide_all(unknown, "approve")
        assert await refusals(house) == [(OWNER.id, "unknown")]


@pytest.mark.parametrize("wrong", ["place", "message"])
async def test_all_buttons_count_only_on_their_own_message(tmp_path: Path, wrong: str) -> None:
    async with open_house(tmp_path, Script(THREE)) as house:
        await house.ask()
        right = all_of(house)
        places = {"place": "discord/8/80", "message": "m1"} if wrong == "place" else {"place": PLACE, "message": "m9"}
        with pytest.raises(UnknownApproval, match="wrong_message"):
            await house.app.engine.decide_all(CardPress(actor=OWNER, card=right.card, **places), "approve")
        assert await states(house) == ["pending"] * 3


async def test_a_stranger_decides_nothing_of_a_whole_card(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(THREE)) as house:
        await house.ask()
        with pytest.raises(NotAllowed):
            await house.app.engine.decide_all(all_of(house, STRANGER), "approve")
        assert await states(house) == ["pending"] * 3


async def test_of_two_who_decide_all_at_once_both_are_told_the_truth(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(THREE, "Done."), settings=TWO) as house:
        await house.ask()
        endings = await asyncio.gather(
            house.app.engine.decide_all(all_of(house, OWNER), "approve"),
            house.app.engine.decide_all(all_of(house, SECOND), "deny"),
            return_exceptions=True,
        )
        await house.app.background.idle()
        won = [call for ending in endings if isinstance(ending, Together) for call in ending.done]
        assert len({call.id for call in won}) == len(won) == 3
        assert all(isinstance(ending, Together | AlreadySettled) for ending in endings)
        approved = [call for call in won if call.state == "approved"]
        assert len(house.bench.effects) == len(approved)


# -- who is told --------------------------------------------------------------------------------


async def test_a_reminder_pings_approvers_once_before_the_deadline(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Nobody.")) as house:
        await house.ask()
        await house.later(seconds=DAY - 15 * 60 - 1)
        assert house.face.said == []
        await house.later(seconds=1)
        await house.later(seconds=60)
        [said] = house.face.said
        assert (said.ping, said.reply_to) == ((OWNER.id,), "m1")
        assert said.deadline is not None


async def test_a_question_reminds_the_person_who_was_asked_and_no_approver(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([("ask_user", {"question": "Which?"})], "Nobody.")) as house:
        await house.ask()
        await house.later(seconds=DAY - 60)
        assert [said.ping for said in house.face.said if said.key.startswith("remind")] == [(ASKER.id,)]


async def test_a_settled_card_reminds_nobody(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        await house.decide("deny")
        await house.later(seconds=DAY)
        assert [said for said in house.face.said if said.key.startswith("remind")] == []


async def test_a_guild_is_shown_its_own_open_calls_and_no_others(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, ACT, ACT), face=Face()) as house:
        for n, place in enumerate(["discord/9/90", "discord/90/1", "discord/@me/7"]):
            await house.ask(request=f"r{n}", conversation=place, place=place, by=OWNER.id)
        engine = house.app.engine
        assert [one.call.place for one in await engine.open_approvals("discord/9")] == ["discord/9/90"]
        assert [one.call.place for one in await engine.open_approvals("discord/9/")] == ["discord/9/90"]
        assert [one.call.place for one in await engine.open_approvals("discord/@me/7")] == ["discord/@me/7"]
        assert len(await engine.open_approvals("discord")) == 3


async def test_who_pressed_too_late_is_told_who_denied_it_without_what_that_person_wrote(tmp_path: Path) -> None:
    """It would be read as markup there; the card quotes it."""
    async with open_house(tmp_path, Script([("act", {"what": "x"})], "Done.")) as house:
        await house.ask()
        press = house.press(OWNER)
        await house.decide("deny", reason="[look](https://evil.example)")
        with pytest.raises(AlreadySettled) as refusal:
            await house.app.engine.decide(press, "approve")
        assert f"<{OWNER.id}> denied `act`. Nothing ran." in refusal.value.sentence
