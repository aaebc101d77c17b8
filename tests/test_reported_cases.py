"""Bug reports and threats that the deferral core has to answer (cases A and S-A), each from request to end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.tool import Arguments, Tool
from bot.errors import AlreadySettled, UnknownApproval, Unreachable
from bot.surface import Press
from tests.house import ASKER, OWNER, PLACE, Bench, DoArguments, Face, House, Script, open_house

TTL = 86_400


def shell(*commands: str) -> list[tuple[str, dict[str, Any]]]:
    return [("shell", {"command": one}) for one in commands]


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY requested_at, position, id")]


async def events(house: House) -> list[str]:
    return [row["event"] for row in await house.rows("SELECT event FROM audit ORDER BY n")]


# -- the button, the deadline, the outcome --------------------------------------------------------


async def test_a_button_settles_the_call_that_it_shows_and_no_older_one(tmp_path: Path) -> None:
    """A1, S-A30: the second is approved, the first stays; results are not swapped."""
    script = Script(shell("echo one > a", "echo two > b"), "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.decide("approve", row=1)
        assert house.bench.effects == ["echo two > b"]
        assert await states(house) == ["pending", "succeeded"]
        await house.decide("deny", row=0)
        with pytest.raises(AlreadySettled):
            await house.decide("approve", row=0)
        assert await states(house) == ["denied", "succeeded"]
        assert [outcome for outcome, _ in script.results()] == ["denied", "success"]
        assert house.bench.effects == ["echo two > b"]


async def test_an_answered_card_is_not_overwritten_by_its_deadline(tmp_path: Path) -> None:
    """A7: and of a call whose row is gone nothing is claimed."""
    async with open_house(tmp_path, Script(shell("ls"), "Done.")) as house:
        await house.ask()
        press = house.press(OWNER)
        await house.decide("approve")
        await house.later(seconds=2 * TTL)
        assert house.face.card_words["m1"][-1] == "done"
        assert await states(house) == ["succeeded"]
        with pytest.raises(UnknownApproval):
            await house.app.engine.decide(replace(press, approval="gone"), "approve")
        assert house.bench.effects == ["ls"]


async def test_silence_a_no_and_a_card_that_nobody_saw_are_three_things_for_the_model_and_the_trail(
    tmp_path: Path,
) -> None:
    """A8: the person and the model hear the same of each."""
    script = Script(shell("a"), "One.", shell("b"), "Two.", shell("c"), "Three.")
    async with open_house(tmp_path, script) as house:
        await house.ask(request="r1")
        await house.later(seconds=TTL)
        await house.ask(request="r2")
        await house.decide("deny")
        house.face.fail_card = Unreachable("I may not post here.")
        await house.ask(request="r3")
        assert await states(house) == ["expired", "denied", "undeliverable"]
        told = [text for _, text in script.results()]
        assert len(set(told)) == 3
        assert [("denied" in text) for text in told] == [False, True, False]
        assert {"expired", "denied", "undeliverable"} <= set(await events(house))
        assert house.bench.effects == []


async def test_after_silence_another_way_to_the_same_end_is_asked_about_too_and_shows_the_silence(
    tmp_path: Path,
) -> None:
    """A9, S-A63: the gate enforces it, not the wording, and the other tool's card carries what came before."""
    script = Script(shell("rm -rf build"), [("act", {"what": "shutil.rmtree('build')"})])
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.later(seconds=TTL)
        assert house.bench.effects == []
        [call] = house.card[1].approvals
        assert call.tool == "act"
        assert [(one.tool, str(one.state)) for one in house.card[1].earlier] == [("shell", "expired")]


async def test_a_restart_while_a_call_waits_leaves_one_card_one_run_and_no_loop(tmp_path: Path) -> None:
    """A10, S-A15: the old card's id counts after the restart, though somebody has spoken meanwhile."""
    face, bench = Face(), Bench()
    first, later = Script(shell("ls")), Script("It still waits.", "It ran.")
    async with open_house(tmp_path, first, face=face, bench=bench) as house:
        await house.ask(request="r1")
        press = house.press(OWNER)
    async with open_house(tmp_path, later, face=face, bench=bench, ids="later") as house:
        await house.ask("and?", request="r2")
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        assert (len(face.cards), bench.effects) == (1, ["ls"])
        assert len(first.seen) + len(later.seen) == 3


async def test_a_model_that_writes_an_approval_as_a_command_gets_one_card_and_is_stopped(tmp_path: Path) -> None:
    """A12: it cannot decide, and a repeat costs a few steps, not 965."""
    script = Script(*[shell("/approve A1 allow-always")] * 50)
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        await house.decide("deny")
        assert len(house.face.cards) == 1
        assert len(script.seen) < 10
        assert "I stopped this turn" in (page.finished or "")
        assert house.bench.effects == []


# -- once, and exactly what was shown -------------------------------------------------------------


async def test_two_presses_of_one_person_are_one_decision_and_the_second_is_told(tmp_path: Path) -> None:
    """S-A11."""
    async with open_house(tmp_path, Script(shell("ls"), "Done.")) as house:
        await house.ask()
        press = house.press(OWNER)
        ends = await asyncio.gather(
            *(house.app.engine.decide(press, "approve") for _ in range(2)), return_exceptions=True
        )
        await house.app.background.idle()
        [late] = [one for one in ends if isinstance(one, Exception)]
        assert isinstance(late, AlreadySettled)
        assert "approved" in str(late)
        assert house.bench.effects == ["ls"]


async def test_of_two_equal_calls_of_two_people_the_pressed_one_is_decided(tmp_path: Path) -> None:
    """S-A17."""
    async with open_house(tmp_path, Script(shell("ls"), shell("ls"), "Done.")) as house:
        await house.ask(by="2", request="r1")
        await house.ask(by="3", request="r2")
        [_, (message, view)] = list(house.face.cards.items())
        press = Press(actor=OWNER, approval=view.approvals[0].id, place=view.card.place, message=message)
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        rows = await house.rows("SELECT requester, state FROM approval ORDER BY requester")
        assert [tuple(row.values()) for row in rows] == [("2", "pending"), ("3", "succeeded")]


async def test_a_name_that_stands_twice_in_the_arguments_gets_no_card(tmp_path: Path) -> None:
    """S-A23: two readers could read it differently."""
    script: Any = Script([("shell", '{"command": "ls", "command": "rm -r x"}')], "I see.")  # type: ignore[list-item]
    async with open_house(tmp_path, script) as house:
        await house.ask()
        assert (house.face.cards, house.bench.effects) == ({}, [])
        assert script.results()[0][0] == "retried"


async def test_a_default_that_was_shown_and_then_changed_is_not_run(tmp_path: Path) -> None:
    """S-A24: it was filled in and shown; under the new default the call is another one."""

    class Here(Arguments):
        what: str
        folder: str = "here"

    class There(Arguments):
        what: str
        folder: str = "there"

    class With(Bench):
        def __init__(self, arguments: type[Arguments]) -> None:
            super().__init__()
            self.arguments = arguments

        def tools(self) -> list[Tool]:
            return [
                replace(tool, arguments=self.arguments) if tool.arguments is DoArguments and tool.gated else tool
                for tool in super().tools()
            ]

    async with open_house(tmp_path, Script([("act", {"what": "x"})]), bench=With(Here)) as house:
        await house.ask()
        [call] = house.card[1].approvals
        assert call.arguments == {"what": "x", "folder": "here"}
        press = house.press(OWNER)
    later = With(There)
    async with open_house(tmp_path, Script("?"), bench=later, ids="later") as house:
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        assert later.effects == []
        assert (await states(house))[0] == "void"


# -- one request, one run -------------------------------------------------------------------------


async def test_an_approval_is_used_up_by_its_run(tmp_path: Path) -> None:
    """S-A58, S-A62: the same call for the next message is a new question."""
    async with open_house(tmp_path, Script(shell("ls"), "Done.", shell("ls"), "Again.")) as house:
        await house.ask(request="r1")
        await house.decide("approve")
        await house.ask("run it again", request="r2")
        assert (len(house.face.cards), house.bench.effects) == (2, ["ls"])


@pytest.mark.parametrize("settle", [None, "approve", "deny"])
async def test_two_actions_that_differ_in_a_quoted_blank_are_two_questions(tmp_path: Path, settle: Any) -> None:
    """S-A59, S-A60: while the first waits, and after it was decided."""
    one, other = 'rm "a b"', 'rm "ab"'
    script = Script(shell(one, other)) if settle is None else Script(shell(one), shell(other))
    async with open_house(tmp_path, script) as house:
        await house.ask()
        if settle is not None:
            await house.decide(settle)
        asked = [call.arguments["command"] for view in house.face.cards.values() for call in view.approvals]
        assert asked == [one, other]


async def test_a_respelling_in_the_same_request_gets_no_second_card(tmp_path: Path) -> None:
    """S-A61: while it waits and after it ran."""
    async with open_house(tmp_path, Script(shell("ls  -l", "ls -l"), shell("ls -l "), "Done.")) as house:
        await house.ask()
        await house.decide("approve")
        assert (len(house.face.cards), house.bench.effects) == (1, ["ls  -l"])


async def test_a_stop_before_the_press_leaves_nothing_to_approve(tmp_path: Path) -> None:
    """S-A14, for `/new`: what waited is cancelled, and a late press is told so."""
    async with open_house(tmp_path, Script(shell("ls"))) as house:
        await house.ask()
        press = house.press(OWNER)
        await house.app.engine.anew.begin(PLACE, place=PLACE, actor=ASKER)
        with pytest.raises(AlreadySettled, match="cancelled"):
            await house.app.engine.decide(press, "approve")
        assert house.bench.effects == []
