"""A fork knows what was said and goes its own way; what is open stays with the original, and the fork is told so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.forking import Forked
from tests.house import ASKER, OWNER, PLACE, Bench, House, Script, open_house
from tests.test_talking import every_call_is_answered_once, prompts

FORK = "discord/9/91"
ACT = [("act", {"what": "x"})]


async def fork(house: House) -> Forked:
    return await house.app.engine.forks.fork(PLACE, FORK, place=PLACE, actor=ASKER)


async def test_a_fork_knows_what_was_said_and_what_follows_stays_apart(tmp_path: Path) -> None:
    script = Script("Hello Ben.", "In the fork.", "In the original.")
    async with open_house(tmp_path, script) as house:
        await house.ask("my name is Ben", request="r1")
        assert (await fork(house)).messages == 2
        await house.ask("left", request="r2", conversation=FORK, place=FORK)
        assert prompts(script) == ["my name is Ben", "left"]
        await house.ask("right", request="r3")
        assert prompts(script) == ["my name is Ben", "right"]


async def test_what_waits_stays_with_the_original_and_the_fork_is_told_so(tmp_path: Path) -> None:
    script = Script(ACT, "It stays there.", "x is done.")
    async with open_house(tmp_path, script) as house:
        page = await house.ask("do x", request="r1")
        forked = await fork(house)
        assert [call.tool for call in forked.waiting] == ["act"]
        await house.ask("and x?", request="r2", conversation=FORK, place=FORK)
        [(_, told)] = script.results()
        assert told.startswith("This call belongs to the conversation that this one was forked from.")
        assert "waits for a person" in told
        await house.decide("approve")
        assert page.finished == "x is done."
        assert house.bench.effects == ["x"]
        assert prompts(script) == ["do x"]
        assert every_call_is_answered_once(script)


async def test_the_same_call_asked_in_the_fork_is_a_new_request_with_a_card_of_its_own(tmp_path: Path) -> None:
    script = Script(ACT, ACT, "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask("do x", request="r1")
        await fork(house)
        await house.ask("do x", request="r2", conversation=FORK, place=FORK)
        assert len(house.face.cards) == 2
        assert [view.card.place for view in house.face.cards.values()] == [PLACE, FORK]


async def test_what_is_being_worked_on_is_counted_and_its_answer_comes_in_the_original(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script([("careful", {"what": "small"})], "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        going = asyncio.ensure_future(house.ask("go"))
        while not bench.effects:
            await asyncio.sleep(0)
        forked = await fork(house)
        assert (forked.messages, forked.working) == (0, 1)
        assert bench.hold is not None
        bench.hold.set()
        assert (await going).finished == "Done."
        assert await house.rows("SELECT * FROM message WHERE conversation = ?", FORK) == []


async def test_a_fork_after_a_new_beginning_knows_only_what_came_after_it(tmp_path: Path) -> None:
    script = Script("One.", "Two.", "Three.")
    async with open_house(tmp_path, script) as house:
        await house.ask("old", request="r1")
        await house.app.engine.anew.begin(PLACE, place=PLACE, actor=ASKER)
        await house.ask("new", request="r2")
        await fork(house)
        await house.ask("fork", request="r3", conversation=FORK, place=FORK)
        assert prompts(script) == ["new", "fork"]


async def test_nothing_is_forked_into_a_conversation_that_has_begun(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Hello.")) as house:
        await house.ask("hello", request="r1")
        await fork(house)
        with pytest.raises(ValueError, match="is not empty"):
            await fork(house)
        assert len(await house.rows("SELECT * FROM audit WHERE event = 'conversation_forked'")) == 1


async def test_the_fork_is_on_the_trail(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await fork(house)
        [row] = await house.rows("SELECT actor, conversation, detail FROM audit WHERE event = 'conversation_forked'")
        assert (row["actor"], row["conversation"]) == (ASKER.id, PLACE)
        assert FORK in row["detail"]
        assert house.card[1].approvals[0].id in row["detail"]
        await house.decide("deny", OWNER)
