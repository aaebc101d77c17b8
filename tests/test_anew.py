"""A conversation begins afresh: what is open ends and is named, what was said is kept and not looked at."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.anew import ENDED_TEXT, NOTE, Begun
from bot.errors import AlreadySettled, NotAllowed
from bot.surface import Actor
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, Face, House, Page, Script, open_house

ACT = [("act", {"what": "x"})]


async def anew(house: House, actor: Actor = ASKER, *, conversation: str = PLACE) -> Begun:
    begun = await house.app.engine.anew.begin(conversation, place=PLACE, actor=actor)
    await house.app.background.idle()
    return begun


async def run_states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM run ORDER BY created_at, id")]


async def test_what_waits_is_cancelled_and_named_and_a_late_press_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        page = await house.ask()
        begun = await anew(house)
        assert [(call.tool, call.arguments, call.note) for call in begun.cancelled] == [("act", {"what": "x"}, NOTE)]
        assert house.face.card_words["m1"][-1] == "cancelled"
        assert page.finished == ENDED_TEXT
        assert await run_states(house) == ["cancelled"]
        with pytest.raises(AlreadySettled, match="a new conversation was begun"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert house.bench.effects == []


async def test_what_was_approved_and_has_not_begun_is_cancelled_too(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        async with house.app.database.begin("approved by another process") as tx:
            await tx.execute("UPDATE approval SET state = 'approved', settled_by = '1'")
        assert len((await anew(house)).cancelled) == 1
        await house.later(seconds=1)
        assert house.bench.effects == []
        assert [row["state"] for row in await house.rows("SELECT state FROM approval")] == ["cancelled"]


async def test_what_runs_is_named_and_not_stopped_and_its_card_tells_how_it_ended(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script(ACT)
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask()
        await house.app.engine.decide(house.press(OWNER), "approve")
        while not bench.effects:
            await asyncio.sleep(0)
        begun = await house.app.engine.anew.begin(PLACE, place=PLACE, actor=ASKER)
        assert begun.cancelled == []
        assert [call.tool for call in begun.running] == ["act"]
        assert bench.hold is not None
        bench.hold.set()
        await house.app.background.idle()
        assert house.face.card_words["m1"][-1] == "done"
        assert len(script.seen) == 1
        assert await run_states(house) == ["cancelled"]


async def test_the_next_turn_knows_nothing_of_what_was_said_before_and_nothing_is_deleted(tmp_path: Path) -> None:
    script = Script("Hello.", ACT, "Who are you?", "We have met.")
    async with open_house(tmp_path, script) as house:
        await house.ask("my name is Ben", request="r1")
        await house.ask("do it", request="r2")
        await anew(house)
        await house.ask("what is my name?", request="r3")
        assert [str(getattr(part, "content", "")) for message in script.seen[-1] for part in message.parts] == [
            "what is my name?"
        ]
        kept = await house.rows("SELECT body FROM message ORDER BY seq")
        assert any("my name is Ben" in row["body"] for row in kept)
        await house.ask("and now?", request="r4")
        assert len(script.seen[-1]) == 3


async def test_a_turn_that_is_being_worked_on_ends_and_leaves_nothing_in_the_new_conversation(tmp_path: Path) -> None:
    bench = Bench(hold=asyncio.Event())
    script = Script([("careful", {"what": "small"})], "Never said.", "Hello.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = Page()
        going = asyncio.ensure_future(house.ask("old", request="r1", page=page))
        while not bench.effects:
            await asyncio.sleep(0)
        begun = await house.app.engine.anew.begin(PLACE, place=PLACE, actor=ASKER)
        assert begun.requests == 1
        await going
        assert page.finished == ENDED_TEXT
        fresh = await house.ask("new", request="r2")
        assert fresh.finished == "Never said."
        assert [str(getattr(part, "content", "")) for message in script.seen[-1] for part in message.parts] == ["new"]
        assert await run_states(house) == ["cancelled", "done"]


async def test_every_open_request_of_the_conversation_ends_and_no_other_does(tmp_path: Path) -> None:
    script = Script(ACT, [("act", {"what": "y"})], [("act", {"what": "z"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask(request="r1")
        await house.ask(request="r2")
        await house.ask(request="r3", conversation="other")
        begun = await anew(house)
        assert [call.arguments["what"] for call in begun.cancelled] == ["x", "y"]
        assert await run_states(house) == ["cancelled", "cancelled", "waiting"]
        await house.decide("approve")
        assert house.bench.effects == ["z"]


async def test_a_job_goes_on_beside_it(tmp_path: Path) -> None:
    job = {"count": [ACT, "Counted."]}
    script = Script([("start_job", {"goal": "count"})], "I am on it.", by_prompt=job)
    async with open_house(tmp_path, script) as house:
        await house.ask()
        assert (await anew(house)).cancelled == []
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_what_somebody_else_asked_only_an_approver_may_end(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Hello.")) as house:
        await house.ask()
        with pytest.raises(NotAllowed, match="somebody else asked for"):
            await anew(house, STRANGER)
        assert await run_states(house) == ["waiting"]
        assert [row["start"] for row in await house.rows("SELECT start FROM conversation")] == [0]
        assert len((await anew(house, OWNER)).cancelled) == 1
        assert len((await anew(house, STRANGER)).cancelled) == 0


async def test_who_ends_their_own_request_is_not_pinged_and_somebody_else_is(tmp_path: Path) -> None:
    script = Script(ACT, [("act", {"what": "y"})])
    async with open_house(tmp_path, script) as house:
        for number, actor in enumerate([ASKER, OWNER]):
            page = Page(message=f"reply{number}")
            await house.ask(request=f"r{number}", page=page)
            await house.later(seconds=61)
            await anew(house, actor)
        pings = await house.rows("SELECT body FROM outbox WHERE key LIKE 'answer:%' ORDER BY id")
        assert ['"ping": []' in row["body"] for row in pings] == [True, False]


async def test_a_request_of_an_earlier_life_ends_in_the_message_that_it_had(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        press = house.press(OWNER)
    face = Face()
    async with open_house(tmp_path, Script(), face=face, ids="second") as house:
        assert len((await anew(house)).cancelled) == 1
        assert face.said == []
        [row] = await house.rows("SELECT state, via, receipt FROM outbox WHERE key LIKE 'answer:%'")
        assert row == {"state": "delivered", "via": "reply", "receipt": "reply"}
        with pytest.raises(AlreadySettled, match="a new conversation was begun"):
            await house.app.engine.decide(press, "approve")


async def test_an_empty_conversation_can_begin_afresh_too(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Hello.")) as house:
        begun = await anew(house)
        assert (begun.requests, begun.cancelled, begun.running) == (0, [], [])
        assert (await house.ask()).finished == "Hello."


async def test_the_beginning_is_on_the_trail(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await anew(house)
        [row] = await house.rows("SELECT actor, conversation FROM audit WHERE event = 'conversation_begun'")
        assert row == {"actor": ASKER.id, "conversation": PLACE}
