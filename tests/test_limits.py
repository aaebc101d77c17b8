"""A turn, a person and a guild have limits; what is too much is one sentence, and the rest goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.calls import PendingToolCall
from bot.deferral.tool import ToolKind
from bot.limits import wanted
from bot.surface import Press
from storage import limits
from tests.house import OWNER, PLACE, Page, Script, open_house
from tests.test_jobs import Gate, asked, until_began
from tests.test_usage import LOOK, Paid, limited

ELSEWHERE = "discord/8/80"


def acts(*whats: str) -> list[tuple[str, dict[str, Any]]]:
    return [("act", {"what": what}) for what in whats]


# -- decisions ----------------------------------------------------------------------------------


async def test_a_flood_of_gated_calls_ends_in_one_notice_and_asks_for_nothing(tmp_path: Path) -> None:
    flood = [*acts(*(f"a{n}" for n in range(190))), *(("shell", {"command": f"echo {n}"}) for n in range(10))]
    async with open_house(tmp_path, Script(flood), settings=limited()) as house:
        page = await house.ask(notify="both")
        assert page.finished == (
            "I stopped this request: it wanted decisions about `act` × 190, `shell` × 10. One request may ask for 50"
            " decisions in all. Nothing of that was asked for, and none of it ran. Ask for less at once."
        )
        assert house.face.cards == {}
        assert house.face.said == []
        assert await house.rows("SELECT id FROM approval") == []
        assert house.bench.effects == []
        assert await house.rows("SELECT state FROM run") == [{"state": "failed"}]
        # What its one answer took is stored with that ending, though nothing of it belongs to the conversation.
        assert await house.rows("SELECT tool_calls FROM usage") == [{"tool_calls": 200}]


async def test_decisions_count_over_all_pauses_of_a_turn(tmp_path: Path) -> None:
    script = Script(acts("a", "b"), acts("c"), "done")
    async with open_house(tmp_path, script, settings=limited(decisions_per_turn=2)) as house:
        page = await house.ask()
        await house.decide("approve", row=0)
        await house.decide("approve", row=1)
        assert house.bench.effects == ["a", "b"]
        assert "wanted decisions about `act` × 1. One request may ask for 2 decisions" in str(page.finished)
        assert len(house.face.cards) == 1


async def test_as_many_as_are_allowed_are_asked_about(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(acts("a", "b"), "done"), settings=limited(decisions_per_turn=2)) as house:
        await house.ask()
        assert len(house.card[1].approvals) == 2


async def test_a_persons_waiting_calls_are_limited_over_all_their_turns_and_others_are_not(tmp_path: Path) -> None:
    script = Script(acts("a", "b"), acts("c"), acts("d"), "done", acts("e"))
    async with open_house(tmp_path, script, settings=limited(decisions_per_person=2)) as house:
        await house.ask(request="r1", conversation="one")
        card = house.card
        page = await house.ask(request="r2", conversation="two", place=ELSEWHERE)
        assert "Of one person, 2 calls may wait for a decision at once." in str(page.finished)
        await house.ask(request="r3", conversation="three", by="3")
        assert house.card != card
        for row in range(2):
            posted, view = card
            press = Press(actor=OWNER, approval=view.approvals[row].id, place=view.card.place, message=posted)
            await house.app.engine.decide(press, "deny")
        await house.app.background.idle()
        before = len(house.face.cards)
        await house.ask(request="r4", conversation="four")
        assert len(house.face.cards) == before + 1


async def test_a_guilds_waiting_calls_are_limited_and_another_guilds_are_not(tmp_path: Path) -> None:
    script = Script(acts("a"), acts("b"), acts("c"))
    async with open_house(tmp_path, script, settings=limited(decisions_per_guild=1)) as house:
        await house.ask(request="r1", conversation="one")
        page = await house.ask(request="r2", conversation="two", by="3", place="discord/9/91")
        assert "In one server, 1 call may wait for a decision at once." in str(page.finished)
        await house.ask(request="r3", conversation="three", place=ELSEWHERE)
        assert len(house.face.cards) == 2


async def test_a_call_that_waits_for_a_program_asks_nobody(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(acts("a")), settings=limited()) as house:
        await house.ask()
        async with house.app.database.begin("make it external") as tx:
            await tx.execute("UPDATE approval SET kind = 'external'")
        [run] = await house.rows("SELECT id FROM run")
        reader = house.app.database.reader
        assert await limits.asked_by(reader, run["id"]) == 0
        assert await limits.waiting_of(reader, "2", most=5) == 0
        assert await limits.waiting_below(reader, "discord/9", most=5) == 0


def test_the_notice_names_a_few_tools_and_counts_the_rest() -> None:
    def call(n: int) -> PendingToolCall:
        return PendingToolCall(
            call_id=f"c{n}",
            tool_name=f"tool{n}",
            args={},
            reason="",
            kind=ToolKind.APPROVAL,
            intent=None,
            action="",
        )

    assert wanted([call(n) for n in (0, 1, 1, 2, 3, 4, 5, 6)]).endswith("… + 2")
    assert wanted([call(1), call(1)]) == "`tool1` × 2"


# -- one turn -----------------------------------------------------------------------------------


async def test_a_run_that_wants_two_hundred_calls_stops_at_its_limit_with_one_notice(tmp_path: Path) -> None:
    """S-A81."""
    script = Script([("look", {"what": str(n)}) for n in range(200)], "never said")
    async with open_house(tmp_path, script, settings=limited()) as house:
        page = await house.ask()
        assert len(house.bench.looks) == 150
        assert str(page.finished).startswith("This used up the calls of tools that one request may make")
        assert len(script.seen) == 1


async def test_calls_count_over_all_answers_of_a_turn(tmp_path: Path) -> None:
    script = Script(LOOK, [("look", {"what": "b"})], [("look", {"what": "c"})], "never said")
    async with open_house(tmp_path, script, settings=limited(calls_per_turn=2)) as house:
        page = await house.ask()
        assert house.bench.looks == ["a", "b"]
        assert "has made 2 calls of tools, and 2 is the most" in str(page.finished)


async def test_calls_before_a_restart_count_after_it(tmp_path: Path) -> None:
    gate = Gate()
    settings = limited(calls_per_turn=2)
    async with open_house(tmp_path, Paid(LOOK), settings=settings, bench=gate) as house:
        await house.app.engine.start_job(asked())
        await until_began(gate)
        await house.app.engine.stop(grace=0)
    script = Paid([("look", {"what": "b"})], [("look", {"what": "c"})], "never said")
    async with open_house(tmp_path, script, settings=settings, ids="later") as house:
        await house.app.background.idle()
        assert any("has made 2 calls of tools" in said.text for said in house.face.said)
        assert "c" not in house.bench.looks


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ({"tokens_per_turn": 200}, "has used 200 tokens, and 200 is the most"),
        ({"cost_per_turn": "0.00004"}, "has cost $0.00004, and $0.00004 is the most"),
    ],
)
async def test_a_turns_tokens_and_cost_are_limited_and_another_turn_begins_anew(
    budget: dict[str, Any], told: str, tmp_path: Path
) -> None:
    looks = [[("look", {"what": what})] for what in "abc"]
    async with open_house(tmp_path, Paid(*looks[:2], "Fresh."), settings=limited(**budget)) as house:
        page = await house.ask()
        assert told in str(page.finished)
        assert house.bench.looks == ["a", "b"]
        assert (await house.ask(request="r2")).finished == "Fresh."


# -- turns at once ------------------------------------------------------------------------------


async def test_a_persons_turn_beyond_the_limit_waits_says_so_and_begins_by_itself(tmp_path: Path) -> None:
    gate = Gate()
    script = Script(LOOK, "One.", "Two.", by_prompt={"other": ["Other."]})
    async with open_house(tmp_path, script, settings=limited(turns_per_person=1), bench=gate) as house:
        first = asyncio.ensure_future(house.ask(request="r1", conversation="one"))
        await until_began(gate)
        page = Page()
        second = asyncio.ensure_future(house.ask(request="r2", conversation="two", page=page))
        while not page.shown:
            await asyncio.sleep(0)
        assert "As much as may be worked on at once is at work" in page.shown[0]
        others = Page()
        third = asyncio.ensure_future(
            house.ask("other", request="r3", conversation="three", by="3", page=others, place=PLACE)
        )
        while others.finished is None:
            await asyncio.sleep(0)
        assert others.finished == "Other."
        assert page.finished is None
        gate.go.set()
        await asyncio.gather(first, second, third)
        assert page.finished == "Two."


async def test_a_guilds_turn_beyond_the_limit_waits_and_one_elsewhere_does_not(tmp_path: Path) -> None:
    gate = Gate()
    script = Script(LOOK, "One.", "Two.", by_prompt={"other": ["Other."]})
    async with open_house(tmp_path, script, settings=limited(turns_per_guild=1), bench=gate) as house:
        first = asyncio.ensure_future(house.ask(request="r1", conversation="one"))
        await until_began(gate)
        page, others = Page(), Page()
        second = asyncio.ensure_future(house.ask(request="r2", conversation="two", by="3", page=page))
        third = asyncio.ensure_future(
            house.ask("other", request="r3", conversation="three", by="4", page=others, place="discord/@me/5")
        )
        while others.finished is None:
            await asyncio.sleep(0)
        assert page.finished is None
        gate.go.set()
        await asyncio.gather(first, second, third)
        assert page.finished == "Two."


async def test_a_turn_that_waits_for_people_takes_up_no_room(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(acts("a"), "Two."), settings=limited(turns_per_person=1)) as house:
        await house.ask(request="r1", conversation="one")
        assert (await house.ask(request="r2", conversation="two")).finished == "Two."


# -- requests -----------------------------------------------------------------------------------


async def test_a_flood_of_requests_that_are_refused_is_answered_once_and_counted(tmp_path: Path) -> None:
    settings = limited(tokens_per_person=100)
    async with open_house(tmp_path, Paid("One.", "Two."), settings=settings) as house:
        await house.ask(request="r0")
        pages = [await house.ask(request=f"r{n}") for n in range(1, 40)]
        first, *others = pages
        assert "is spent" in str(first.finished)
        assert "That goes for 39 requests of the last minute" in first.shown[-1]
        assert all(page.finished is None and page.shown == [] and page.dropped for page in others)
        other_person = await house.ask(request="x", by="3")
        assert other_person.finished == "Two."
        house.clock.advance(seconds=60)
        assert "is spent" in str((await house.ask(request="later")).finished)


async def test_what_is_refused_elsewhere_has_an_answer_of_its_own(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One."), settings=limited(tokens_per_person=100)) as house:
        await house.ask(request="r0")
        here = await house.ask(request="r1")
        there = await house.ask(request="r2", conversation="elsewhere")
        assert here.finished == there.finished
