"""People can talk while something waits: over restarts, and while several things wait in one conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart

from tests.house import OWNER, Bench, Face, Script, open_house


def act(what: str) -> list[tuple[str, dict[str, str]]]:
    return [("act", {"what": what})]


def every_call_is_answered_once(script: Script) -> bool:
    """Whether each thing that the model was ever shown was a conversation that a provider takes."""
    for messages in script.seen:
        made = [
            part.tool_call_id
            for m in messages
            if isinstance(m, ModelResponse)
            for part in m.parts
            if isinstance(part, ToolCallPart)
        ]
        answered = [
            part.tool_call_id
            for m in messages
            if isinstance(m, ModelRequest)
            for part in m.parts
            if isinstance(part, ToolReturnPart)
        ]
        if sorted(made) != sorted(answered):
            return False
    return True


def prompts(script: Script, turn: int = -1) -> list[str]:
    """What stood in the user's position, in order."""
    parts = [part for message in script.seen[turn] for part in message.parts if isinstance(part, UserPromptPart)]
    return [str(part.content) for part in parts]


async def test_what_waits_over_a_restart_is_a_placeholder_in_the_talk_and_comes_as_an_event(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("x"))) as house:
        await house.ask("do x", request="r1")
        press = house.press(OWNER)
    script, face, bench = Script("Still waiting.", "x is done."), Face(), Bench()
    async with open_house(tmp_path, script, face=face, bench=bench, ids="second") as house:
        page = await house.ask("how is it going?", request="r2")
        assert page.finished == "Still waiting."
        assert "waits for a person" in script.results()[0][1]
    again = Script("x is done.")
    async with open_house(tmp_path, again, face=face, bench=bench, ids="third") as house:
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        assert bench.effects == ["x"]
        assert prompts(again)[:2] == ["do x", "how is it going?"]
        assert prompts(again)[2].startswith("[event: the person did not write this]")
        assert '- act {"what":"x"}: This call ran' in prompts(again)[2]
        assert [said.text for said in face.said] == ["x is done."]
        assert every_call_is_answered_once(again)


@pytest.mark.parametrize("order", ["first first", "second first"])
async def test_two_waiting_requests_of_one_conversation_each_get_their_own_answer(tmp_path: Path, order: str) -> None:
    script = Script(act("x"), act("y"), "One is done.", "Both are done.")
    async with open_house(tmp_path, script) as house:
        pages = {"x": await house.ask("do x", request="r1")}
        presses = {"x": house.press(OWNER)}
        pages["y"] = await house.ask("do y", request="r2")
        presses["y"] = house.press(OWNER)
        names = ["x", "y"] if order == "first first" else ["y", "x"]
        for name in names:
            await house.app.engine.decide(presses[name], "approve")
            await house.app.background.idle()
        assert house.bench.effects == names
        assert [pages[name].finished for name in names] == ["One is done.", "Both are done."]
        assert every_call_is_answered_once(script)
        assert len(house.face.cards) == 2
        runs = await house.rows("SELECT state FROM run")
        assert [row["state"] for row in runs] == ["done", "done"]


async def test_two_waiting_requests_survive_a_restart_between_their_decisions(tmp_path: Path) -> None:
    presses = []
    async with open_house(tmp_path, Script(act("x"), act("y"))) as house:
        for number, name in enumerate("xy"):
            await house.ask(f"do {name}", request=f"r{number}")
            presses.append(house.press(OWNER))
    face, bench = Face(), Bench()
    for life, (press, text) in enumerate(zip(presses, ["x is done.", "y is done."], strict=True)):
        script = Script(text)
        async with open_house(tmp_path, script, face=face, bench=bench, ids=f"life{life}-") as house:
            await house.app.engine.decide(press, "approve")
            await house.app.background.idle()
            assert every_call_is_answered_once(script)
    assert bench.effects == ["x", "y"]
    assert [said.text for said in face.said] == ["x is done.", "y is done."]


async def test_if_nobody_spoke_meanwhile_the_run_simply_goes_on(tmp_path: Path) -> None:
    script = Script(act("x"), "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask("do x")
        await house.decide("approve")
        assert prompts(script) == ["do x"]
        assert script.results() == [("success", "This call ran (exit code 0) after a person approved it.\nout")]


async def test_an_event_turn_may_ask_again_and_its_request_is_the_one_it_came_from(tmp_path: Path) -> None:
    """The announcement turn inherits its request: what it repeats is answered, and a new call gets its card."""
    script = Script(act("x"), "Still waiting.", [*act("x"), *act("z")], "All done.")
    async with open_house(tmp_path, script) as house:
        await house.ask("do x", request="r1")
        await house.ask("and?", request="r2")
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert [call.arguments["what"] for call in house.card[1].approvals] == ["z"]
        await house.decide("approve")
        assert house.bench.effects == ["x", "z"]
        assert any("Not run again" in text for _, text in script.results())
        assert every_call_is_answered_once(script)
