"""A question waits for one person's answer, and silence is not an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.deferral.tool import Tool
from bot.errors import AlreadySettled, NotAllowed, UnknownApproval
from bot.toolbox.ask import make_ask_user
from tests.house import ASKER, OWNER, STRANGER, Bench, Face, Script, open_house

ASK = [("ask_user", {"question": "Which?", "choices": ["a", "b"]})]


class Asks(Bench):
    """With the real `ask_user` in the place of the bench's own."""

    def tools(self) -> list[Tool]:
        return [*(tool for tool in super().tools() if tool.name != "ask_user"), make_ask_user()]


async def test_only_the_person_who_was_asked_can_answer_and_nobody_can_approve(tmp_path: Path) -> None:
    script = Script(ASK, "b it is.")
    async with open_house(tmp_path, script, bench=Asks()) as house:
        page = await house.ask()
        assert house.card[1].ping == (ASKER.id,)
        for other in (OWNER, STRANGER):
            with pytest.raises(NotAllowed, match="Only the person who was asked"):
                await house.app.engine.answer(house.press(other), "a")
        with pytest.raises(UnknownApproval, match="wrong_kind"):
            await house.app.engine.decide(house.press(ASKER), "approve")
        await house.app.engine.answer(house.press(ASKER), "neither: c")
        await house.app.background.idle()
        assert script.results() == [("success", "The person answered: neither: c")]
        assert page.finished == "b it is."
        assert house.face.card_words["m1"] == ["waiting for an answer", "answered"]


async def test_a_second_answer_is_told_that_there_is_one(tmp_path: Path) -> None:
    script = Script(ASK, "a it is.")
    async with open_house(tmp_path, script, bench=Asks()) as house:
        await house.ask()
        await house.app.engine.answer(house.press(ASKER), "a")
        with pytest.raises(AlreadySettled, match="<2> answered"):
            await house.app.engine.answer(house.press(ASKER), "b")
        await house.app.background.idle()
        assert script.results() == [("success", "The person answered: a")]


async def test_nobody_answering_is_told_to_the_model_as_that(tmp_path: Path) -> None:
    script = Script(ASK, "Then I leave it.")
    async with open_house(tmp_path, script, bench=Asks()) as house:
        await house.ask()
        await house.later(seconds=86_400)
        [(outcome, text)] = script.results()
        assert outcome == "failed"
        assert text.startswith("Nobody answered the question in time.")
        assert house.face.card_words["m1"][-1] == "expired"
        with pytest.raises(AlreadySettled, match="Nobody answered the question in time"):
            await house.app.engine.answer(house.press(ASKER), "late")


async def test_a_question_is_answered_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ASK), bench=Asks()) as house:
        await house.ask()
        press = house.press(ASKER)
    script, face = Script("a it is."), Face()
    async with open_house(tmp_path, script, bench=Asks(), face=face, ids="second") as house:
        await house.app.engine.answer(press, "a")
        await house.app.background.idle()
        assert [said.text for said in face.said] == ["a it is."]


async def test_a_model_that_asks_again_hears_the_answer_and_the_person_is_not_asked_twice(tmp_path: Path) -> None:
    script = Script(ASK, ASK, "a it is.")
    async with open_house(tmp_path, script, bench=Asks()) as house:
        await house.ask()
        await house.app.engine.answer(house.press(ASKER), "a")
        await house.app.background.idle()
        assert "The person answered: a" in script.results()[-1][1]
        assert len(house.face.cards) == 1


async def test_a_question_and_a_call_on_one_card_remind_approvers_only_of_the_call(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([*ASK, ("act", {"what": "x"})]), bench=Asks()) as house:
        await house.ask()
        await house.decide("deny", row=1)
        await house.later(seconds=86_000)
        assert [said for said in house.face.said if said.key.startswith("remind")] == []
