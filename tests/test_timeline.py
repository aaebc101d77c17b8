"""The whole story of one call, drawn from the trail: the same at the command line and on Discord."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.errors import NotAllowed, Unreachable
from bot.settings import Settings
from bot.timeline import timeline
from bot.where import Places, PlacesRule
from storage import approvals, audit
from tests.house import ASKER, OWNER, STRANGER, Bench, Face, House, Page, Script, open_house
from tests.test_cli import signoff
from tests.test_external import BUILD, Builds

ACT = [("act", {"what": "x"})]


async def story(house: House, row: int = 0) -> list[str]:
    """The timeline of one of the newest card's calls."""
    call = await approvals.get(house.app.database.reader, house.card[1].approvals[row].id)
    assert call is not None
    reader = house.app.database.reader
    return [one.text for one in await timeline(reader, call, who="<{}>".format, quote="'{}'".format)]


async def test_every_copy_of_its_card_is_in_the_story(tmp_path: Path) -> None:
    face = Face(members={("9", OWNER.id): frozenset()})
    face.fail_at["discord/9/91"] = Unreachable("I cannot see that channel.")
    rules = (PlacesRule(places=Places(channel="91", people=(OWNER.id,))),)
    settings = Settings(approver_users=frozenset({OWNER.id}), places=rules)
    async with open_house(tmp_path, Script(ACT, "Done."), face=face, settings=settings) as house:
        await house.ask()
        [(message, view)] = [(one, view) for one, view in house.face.cards.items() if view.card.person is None]
        await house.app.engine.showing.lost(view.card.place, message)
        told = await story(house)
        assert f"The card was posted, as message {message}" in told
        assert any(one.startswith("The card was posted directly to <1>, as message m") for one in told)
        assert "The card could not be posted in channel 91: 'I cannot see that channel.'" in told
        assert f"Somebody deleted the card, message {message}" in told
        assert "The answer" not in " ".join(told)


async def test_an_approved_call_from_its_asking_to_its_announcement(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        with pytest.raises(NotAllowed):
            await house.app.engine.decide(house.press(STRANGER), "approve")
        await house.decide("approve")
        assert await story(house) == [
            "'act' was asked for <2>: 'act needs a person's sign-off'",
            "The card was posted, as message m1",
            "<3> tried, and was refused: not approver",
            "<1> approved it",
            "It was claimed, and the tool began",
            "It ran to its end, exit code 0",
            "The request ended: done",
            "The answer was said, as message reply",
        ]


async def test_a_late_press_is_part_of_the_story(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        await house.decide("deny", reason="not today")
        with pytest.raises(Exception, match="too_late"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        told = await story(house)
        assert "<1> denied it: 'not today'" in told
        assert told[-1] == "<1> tried, and was refused: too late"
        assert not any("claimed" in line for line in told)


async def test_each_call_of_a_card_has_its_own_story_and_shares_the_rest(tmp_path: Path) -> None:
    script = Script([("act", {"what": "one"}), ("act", {"what": "two"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.decide("approve", row=1)
        await house.decide("deny", row=0)
        first, second = await story(house, 0), await story(house, 1)
        assert [line for line in first if "approved" in line or "denied" in line] == ["<1> denied it"]
        assert [line for line in second if "approved" in line or "denied" in line] == ["<1> approved it"]
        assert [line for line in first if "posted" in line] == [line for line in second if "posted" in line]


async def test_what_another_request_was_told_is_not_part_of_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Hello.", "Done.")) as house:
        await house.ask(request="r1")
        await house.ask("hi", request="r2")
        await house.decide("deny")
        assert len([line for line in await story(house) if line.startswith("The answer")]) == 1


async def test_an_expiry_a_reminder_and_a_direct_message_are_told(tmp_path: Path) -> None:
    face = Face(fail_tell=Unreachable("closed to me"))
    async with open_house(tmp_path, Script(ACT, "Nobody answered."), face=face) as house:
        await house.ask(notify="both")
        await house.later(seconds=86_000)
        await house.later(seconds=400)
        told = await story(house)
        assert "A reminder was said, as message m2" in told
        assert "Its time ran out, and nobody had decided" in told
        assert "The request ended: done" in told
        assert "The answer could not be said by direct message: 'closed to me'" in told


async def test_a_failure_is_told_with_its_exit_code(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "It failed."), bench=Bench(exit_code=3)) as house:
        await house.ask()
        await house.decide("approve")
        assert "It ran and failed, exit code 3" in await story(house)


async def test_questions_and_results_from_elsewhere_have_words_of_their_own(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?"}), *BUILD], "Done.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        await house.app.engine.answer(house.press(ASKER), "b")
        await house.app.engine.resolve(house.card[1].approvals[1].id, "42", by="ci")
        await house.app.background.idle()
        assert "<2> answered" in await story(house, 0)
        assert "Its result was delivered by <ci>" in await story(house, 1)


async def test_a_card_that_was_never_seen_and_why(tmp_path: Path) -> None:
    face = Face(fail_card=Unreachable("I may not post in #ops."))
    async with open_house(tmp_path, Script(ACT, "I could not ask."), face=face) as house:
        await house.ask()
        [row] = await house.rows("SELECT id FROM approval")
        call = await approvals.get(house.app.database.reader, row["id"])
        assert call is not None
        reader = house.app.database.reader
        told = [one.text for one in await timeline(reader, call, who=str, quote=str)]
        assert any(one.startswith("It could not be shown to anybody: I may not post in #ops. ") for one in told)


async def test_the_story_is_found_among_many_entries_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "STRETCH", 3)
    async with open_house(tmp_path, Script(ACT, *["Hello."] * 20, "Done.")) as house:
        await house.ask(request="r1")
        for number in range(20):
            await house.ask("hi", request=f"other{number}", conversation=f"other{number}", page=Page())
        await house.decide("approve")
        told = await story(house)
        assert told[1] == "The card was posted, as message m1"
        assert told[-1] == "The answer was said, as message reply"


WORDS = {
    "edited": ({"replaces": "old"}, "<7> changed what would run; what was asked before is `old`"),
    "extended": ({"expires_at": 5}, "<7> put its deadline off"),
    "voted": ({"verdict": "approve"}, "<7> voted: approve"),
    "run_again": ({"run": "r"}, "<7> asked for it once more, as another request"),
}


@pytest.mark.parametrize("event", WORDS)
async def test_what_people_do_before_a_decision_is_told_in_words(tmp_path: Path, event: str) -> None:
    detail, words = WORDS[event]
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        async with house.app.database.begin("other") as tx:
            id = house.card[1].approvals[0].id
            await audit.record(tx, at=1, actor="7", event=event, approval=id, detail=detail)
        assert (await story(house))[-1] == words


async def test_an_event_that_nobody_here_knows_is_shown_as_it_is(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        async with house.app.database.begin("other") as tx:
            id = house.card[1].approvals[0].id
            await audit.record(tx, at=1, actor="7", event="some_thing", approval=id, detail={"a": "b"})
        assert (await story(house))[-1] == """some thing by <7> '{"a": "b"}'"""


async def test_the_command_line_tells_the_story_while_the_bot_runs(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([("shell", {"command": "uname -a\n\x1b[2J"})], "Done.")) as house:
        await house.ask()
        await house.decide("deny", reason="not \x1b[31mtoday")
        id = house.card[1].approvals[0].id
        done = await asyncio.to_thread(signoff, tmp_path, "audit", "show", id[:5])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{id}  shell uname -a")
        assert "  user 1 denied it: not \\x1b[31mtoday\n" in done.stdout
        assert "\x1b" not in done.stdout
        assert done.stdout.rstrip().endswith("Nothing ran.")
        listed = await asyncio.to_thread(signoff, tmp_path, "audit", "show", id, "--json")
        moments = json.loads(listed.stdout)
        assert [one["event"] for one in moments][:3] == ["asked", "card_posted", "denied"]
        assert all(one["id"] and one["text"] for one in moments)


def test_a_story_that_is_not_there_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    done = signoff(tmp_path, "audit", "show", "abc")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == "signoff: There is no request whose id begins with 'abc'."
