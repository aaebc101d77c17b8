"""Hold, defer, refuse: every transport, surface and clock, through the real engine; and requests that come twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.errors import DeliveryError, Unreachable
from bot.place import is_private, space_of
from bot.settings import Settings
from bot.surface import Actor, TurnClock, TurnContext
from storage.database import open_database
from storage.runs import RunState
from tests.house import ASKER, OWNER, PLACE, Bench, Face, House, Page, Script, open_house
from tests.storage.rows import a_run, add_run
from tests.test_external import BUILD, Builds

ACT = [("act", {"what": "x"})]
AT = 1_700_000_000_000
HOLD_MS = 60_000
DM = "discord/@me/93"

TRANSPORTS: dict[str, tuple[str, TurnClock]] = {
    "discord message": (PLACE, TurnClock()),
    "discord slash": (PLACE, TurnClock()),
    "dm": (DM, TurnClock()),
    "terminal": ("terminal/local/1", TurnClock()),
    "web": ("web/local/1", TurnClock()),
    "/v1 text": (PLACE, TurnClock(deadline=AT + 10 * HOLD_MS)),
    "/v1 text, hurried": (PLACE, TurnClock(deadline=AT + HOLD_MS - 1)),
    "/v1 voice": (PLACE, TurnClock(refires=True)),
    "/v1 voice in the same channel as a dm": (DM, TurnClock(refires=True)),
}
DEFERS = {"/v1 text, hurried", "/v1 voice", "/v1 voice in the same channel as a dm"}
ASKED = "I asked for your permission: see the card. Nothing runs before that. The answer will come as a new message."


async def turn(house: House, transport: str, *, page: Page | None = None, request: str = "r1") -> Page:
    place, clock = TRANSPORTS[transport]
    page = page or Page()
    # The asker of these tests may decide, so that a card in private is a usable one.
    ctx = TurnContext(
        conversation=place, place=place, requester=OWNER.id, request=request, prompt="please", clock=clock
    )
    await house.app.engine.take_turn(ctx, page)
    await house.app.background.idle()
    return page


def settings() -> Settings:
    return Settings(approver_users=frozenset({OWNER.id}))


CANNOT_POST, NOT_NOW = Unreachable("I may not post here."), DeliveryError("try later")


async def approve(house: House) -> None:
    """As the owner, from where the card is."""
    place = house.card[1].card.place
    await house.decide("approve", Actor(id=OWNER.id, guild=None if is_private(place) else space_of(place)))


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_with_a_usable_surface_it_holds_unless_a_clock_forbids_it(tmp_path: Path, transport: str) -> None:
    script = Script(ACT, "Done.")
    async with open_house(tmp_path, script, settings=settings()) as house:
        page = await turn(house, transport)
        assert house.face.card_words["m1"] == ["waiting for sign-off"]
        if transport in DEFERS:
            assert page.finished == ASKED
        else:
            assert page.finished is None
            assert page.shown[-1] == "Waiting for sign-off: see the card below. Nothing runs before that."
        await approve(house)
        assert house.bench.effects == ["x"]
        if transport in DEFERS:
            assert page.finished == ASKED
            [said] = house.face.said
            assert (said.text, said.ping) == ("Done.", (OWNER.id,))
        else:
            assert page.finished == "Done."
            assert house.face.said == []


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_where_nothing_can_be_posted_it_refuses_in_place_and_says_why(tmp_path: Path, transport: str) -> None:
    script = Script(ACT, "I could not ask.")
    async with open_house(tmp_path, script, settings=settings(), face=Face(fail_card=CANNOT_POST)) as house:
        page = await turn(house, transport)
        assert page.finished == "I could not ask."
        assert "I may not post here." in script.results()[0][1]
        assert house.bench.effects == []


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_where_posting_fails_for_now_only_a_turn_without_a_clock_waits_for_it(
    tmp_path: Path, transport: str
) -> None:
    script = Script(ACT, "I could not ask.")
    async with open_house(tmp_path, script, settings=settings(), face=Face(fail_card=NOT_NOW)) as house:
        page = await turn(house, transport)
        if transport in DEFERS:
            assert page.finished == "I could not ask."
            assert "try later" in script.results()[0][1]
        else:
            assert page.finished is None
            house.face.fail_card = None
            await house.later(seconds=5)
            await approve(house)
            assert house.bench.effects == ["x"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_where_nobody_could_decide_it_refuses_before_there_is_a_card(tmp_path: Path, transport: str) -> None:
    script = Script(ACT, "Nobody here may sign that off.")
    nobody = Settings(approver_users=frozenset({OWNER.id}), self_approval=False)
    async with open_house(tmp_path, script, settings=nobody) as house:
        page = await turn(house, transport)
        assert page.finished == "Nobody here may sign that off."
        assert "Nobody who may sign this off can see it here" in script.results()[0][1]
        assert house.face.cards == {}
        assert await house.rows("SELECT 1 FROM approval") == []


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_what_needs_nobody_is_answered_under_any_clock(tmp_path: Path, transport: str) -> None:
    script = Script([("look", {"what": "x"})], "Seen.")
    async with open_house(tmp_path, script) as house:
        assert (await turn(house, transport)).finished == "Seen."


# -- under a clock ------------------------------------------------------------------------------


async def test_the_wait_outlives_the_turn_and_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT), settings=settings()) as house:
        assert (await turn(house, "/v1 voice")).finished == ASKED
        press = house.press(OWNER)
    second, bench = Face(), Bench()
    async with open_house(tmp_path, Script("Done."), face=second, bench=bench, ids="second") as house:
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        assert bench.effects == ["x"]
        assert [said.text for said in second.said] == ["Done."]


async def test_a_question_and_a_result_from_elsewhere_are_called_what_they_are(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?"}), *BUILD])
    async with open_house(tmp_path, script, bench=Builds()) as house:
        page = await turn(house, "/v1 voice")
        assert page.finished == (
            "I wait for a result from elsewhere and I asked you a question: see the card."
            " The answer will come as a new message."
        )


async def test_a_result_from_elsewhere_needs_no_card_to_be_waited_for(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(BUILD), bench=Builds(), face=Face(fail_card=CANNOT_POST)) as house:
        page = await turn(house, "/v1 voice")
        assert page.finished is not None
        assert page.finished.startswith("I wait for a result from elsewhere")
        assert [row["state"] for row in await house.rows("SELECT state FROM approval")] == ["pending"]


async def test_of_two_cards_only_the_one_that_nobody_could_see_is_refused(tmp_path: Path) -> None:
    class HalfBlind(Face):
        async def post_card(self, view):  # type: ignore[no-untyped-def]
            self.fail_card = DeliveryError("try later") if self.cards else None
            return await super().post_card(view)

    script = Script([("act", {"what": str(number)}) for number in range(6)])
    async with open_house(tmp_path, script, settings=settings(), face=HalfBlind()) as house:
        page = await turn(house, "/v1 voice")
        assert page.finished == ASKED
        states = [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY position")]
        assert states == ["pending"] * 5 + ["undeliverable"]


async def test_a_second_pause_of_a_held_turn_is_deferred_when_its_deadline_has_come_near(tmp_path: Path) -> None:
    calls = [[("act", {"what": str(number)})] for number in range(12)]
    async with open_house(tmp_path, Script(*calls), settings=settings()) as house:
        page = await turn(house, "/v1 text")
        for _ in range(10):
            assert page.finished is None
            house.clock.advance(seconds=55)
            await house.decide("approve")
        assert page.finished == ASKED


async def test_a_held_reply_says_what_it_is_let_go_for(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?"})])
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        assert page.shown[-1] == "Waiting for your answer: see the card below."
        await house.later(seconds=61)
        assert page.shown[-1] == "Still waiting for your answer: see the card. The answer will come as a new message."


async def test_a_held_reply_whose_call_is_running_does_not_say_that_it_waits(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench) as house:
        page = await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        house.clock.advance(seconds=61)
        await house.app.engine.sweep()
        assert page.shown[-1].startswith("This is still running")
        bench.hold.set()
        await house.app.background.idle()
        assert [said.text for said in house.face.said] == ["Done."]


# -- jobs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("transport", "minutes"), [("discord message", 60), ("/v1 voice", 25), ("/v1 text", 25)])
async def test_a_job_sheds_the_clock_of_its_turn_and_keeps_the_ceiling_it_was_born_with(
    tmp_path: Path, transport: str, minutes: int
) -> None:
    """K29."""
    job = {"count": [ACT, "Counted."]}
    script = Script([("start_job", {"goal": "count"})], "I am on it.", by_prompt=job)
    async with open_house(tmp_path, script, settings=settings()) as house:
        assert (await turn(house, transport)).finished == "I am on it."
        [row] = await house.rows("SELECT budget_ms, clocked, state FROM run WHERE kind = 'job'")
        assert row == {"budget_ms": minutes * 60_000, "clocked": 0, "state": "waiting"}
        await house.later(seconds=3 * 3600)  # a night may pass: no clock is held over it
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert house.face.said[-1].text.endswith("is done: Counted.")


async def test_a_job_of_a_job_has_no_clock_either(tmp_path: Path) -> None:
    jobs = {"outer": [[("start_job", {"goal": "inner"})], "Started."], "inner": [ACT, "Counted."]}
    script = Script([("start_job", {"goal": "outer"})], "I am on it.", by_prompt=jobs)
    async with open_house(tmp_path, script, settings=settings()) as house:
        await turn(house, "/v1 voice")
        rows = await house.rows("SELECT clocked, hold_until FROM run WHERE kind = 'job'")
        assert rows
        assert all(row == {"clocked": 0, "hold_until": None} for row in rows)


# -- a request that comes twice -----------------------------------------------------------------


async def test_a_request_that_comes_again_while_it_waits_starts_nothing_and_is_told_so(tmp_path: Path) -> None:
    script = Script(ACT, "Done.")
    async with open_house(tmp_path, script, settings=settings()) as house:
        first = await turn(house, "/v1 voice")
        second = await turn(house, "/v1 voice")
        assert (first.finished, second.finished) == (ASKED, ASKED)
        assert len(await house.rows("SELECT 1 FROM run")) == 1
        assert len(house.face.cards) == 1
        assert len(script.seen) == 1


async def test_a_request_that_comes_again_after_its_answer_is_pointed_to_it(tmp_path: Path) -> None:
    script = Script("Hello.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        again = await house.ask()
        assert again.finished == f"This request was sent a second time; it has been answered: link:{PLACE}/reply"
        assert len(script.seen) == 1


async def test_where_messages_have_no_links_a_request_that_comes_again_gets_its_answer(tmp_path: Path) -> None:
    class Voice(Face):
        def link(self, place: str, message: str | None) -> str:
            return ""

    script = Script("Hello.")
    async with open_house(tmp_path, script, face=Voice()) as house:
        await turn(house, "/v1 voice")
        assert (await turn(house, "/v1 voice")).finished == "Hello."
        assert len(script.seen) == 1


async def test_a_request_that_comes_again_while_it_is_worked_on_is_told_so(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script([("careful", {"what": "small"})], "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        first = Page()
        going = asyncio.ensure_future(house.ask(page=first))
        while not bench.effects:
            await asyncio.sleep(0)
        again = Page()
        await house.app.engine.take_turn(
            TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="please"), again
        )
        assert again.finished is not None
        assert "already working on this request" in again.finished
        bench.hold.set()
        await going
        assert first.finished == "Done."
        assert bench.effects == ["small"]


async def test_a_request_that_comes_again_after_a_restart_joins_what_is_begun_again(tmp_path: Path) -> None:
    left_behind = a_run("old", conversation=PLACE, request="r1", state=RunState.QUEUED, owner="dead")
    async with open_database(str(tmp_path / "house.sqlite3")) as database, database.begin("left behind") as tx:
        await add_run(tx, left_behind)
    script, second = Script("Hello."), Face()
    async with open_house(tmp_path, script, face=second, ids="second", recover=False) as house:
        page = await house.ask()
        await house.app.engine.recover()
        await house.app.background.idle()
        assert page.finished == "Hello."
        assert len(script.seen) == 1
        assert second.said == []


async def test_the_same_occurrence_in_another_conversation_is_another_request(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("One.", "Two.")) as house:
        assert (await house.ask()).finished == "One."
        assert (await house.ask(conversation="other")).finished == "Two."


async def test_without_an_occurrence_there_is_nothing_to_recognise(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("One.", "Two.")) as house:
        assert (await house.ask(request=None)).finished == "One."
        assert (await house.ask(request=None)).finished == "Two."


async def test_a_request_that_comes_again_while_its_reply_is_held_is_not_promised_another_message(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        first = await house.ask()
        again = await house.ask()
        assert again.finished is not None
        assert "already working on this request" in again.finished
        await house.decide("approve")
        assert first.finished == "Done."
