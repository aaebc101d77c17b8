"""The whole walk of the design's section 3, without Discord and without waiting."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import AlreadySettled, NotAllowed, UnknownApproval, Unreachable
from tests.house import ASKER, OWNER, STRANGER, Bench, Face, Script, open_house


async def test_an_approved_call_runs_once_and_the_answer_follows_in_the_same_reply(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "It is done.")
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        assert house.bench.effects == []
        assert house.face.card_words["m1"] == ["waiting for sign-off"]
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert page.finished == "It is done."
        assert house.face.said == []
        assert house.face.card_words["m1"][-1] == "done"
        assert script.results() == [("success", "This call ran (exit code 0) after a person approved it.\nout")]


async def test_a_denied_call_never_runs_and_the_model_is_told_why(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "As you wish.")
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        await house.decide("deny", reason="not today")
        assert house.bench.effects == []
        assert page.finished == "As you wish."
        [(outcome, text)] = script.results()
        assert outcome == "denied"
        assert "denied this call: not today" in text


async def test_the_other_calls_of_the_batch_run_and_results_keep_the_models_order(tmp_path: Path) -> None:
    script = Script([("act", {"what": "a"}), ("look", {"what": "b"}), ("act", {"what": "c"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        assert house.bench.looks == ["b"]
        assert len(house.card[1].approvals) == 2
        await house.decide("deny", row=1)
        assert script.seen[1:] == []
        await house.decide("approve", row=0)
        assert [outcome for outcome, _ in script.results()] == ["success", "success", "denied"]
        assert house.bench.effects == ["a"]


async def test_a_stranger_is_refused_and_nothing_changes_but_the_trail(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        with pytest.raises(NotAllowed, match="not an approver"):
            await house.app.engine.decide(house.press(STRANGER), "approve")
        assert house.bench.effects == []
        [row] = await house.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert row == {"actor": "3", "detail": '{"code": "not_approver"}'}
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_second_press_is_told_who_was_first(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.decide("approve")
        with pytest.raises(AlreadySettled) as refusal:
            await house.app.engine.decide(house.press(OWNER), "deny")
        assert "<1>" in refusal.value.sentence
        assert house.bench.effects == ["x"]


async def test_nobody_answering_is_an_expiry_and_never_a_no(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Nobody answered.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.later(seconds=86_400)
        [(outcome, text)] = script.results()
        assert outcome == "failed"
        assert "Nobody answered in time" in text
        assert "denied" not in text
        assert house.face.card_words["m1"][-1] == "expired"
        with pytest.raises(AlreadySettled, match="too_late"):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert house.bench.effects == []


async def test_after_the_hold_the_answer_is_a_new_message_that_pings_the_asker_once(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        await house.later(seconds=61)
        assert "new message" in page.shown[-1]
        await house.decide("approve")
        assert page.finished is None
        [said] = house.face.said
        assert (said.text, said.ping, said.place) == ("Done.", ("2",), "discord/9/90")
        assert house.face.moved == [("reply", "m2")]


async def test_a_respelt_call_gets_no_second_card_and_no_second_run(tmp_path: Path) -> None:
    script = Script(
        [("shell", {"command": "echo  hi"}), ("shell", {"command": "echo hi"})],
        [("shell", {"command": "echo   hi"})],
        "Done.",
    )
    async with open_house(tmp_path, script) as house:
        await house.ask()
        assert len(house.card[1].approvals) == 1
        await house.decide("approve")
        assert house.bench.effects == ["echo  hi"]
        assert len(house.face.cards) == 1
        texts = [text for _, text in script.results()]
        assert "already being asked about" in texts[1]
        assert texts[2].startswith("Not run again")
        assert "out" in texts[2]


async def test_the_same_words_in_a_new_message_are_a_new_ask(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.", [("act", {"what": "x"})], "Done again.")
    async with open_house(tmp_path, script) as house:
        await house.ask(request="r1")
        await house.decide("approve")
        await house.ask(request="r2")
        await house.decide("approve")
        assert house.bench.effects == ["x", "x"]


async def test_people_can_talk_while_something_waits_and_hear_of_it_later(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Still waiting.", "It ran.")
    async with open_house(tmp_path, script) as house:
        await house.ask(request="r1")
        second = await house.ask("how is it going?", request="r2")
        assert second.finished == "Still waiting."
        assert "waits for a person" in script.results()[0][1]
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        prompt = script.seen[-1][-1].parts[-1]
        assert str(getattr(prompt, "content", "")).startswith("[event")
        assert "ran" in str(getattr(prompt, "content", ""))


async def test_an_identical_ask_that_still_waits_gets_no_second_card(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], [("act", {"what": "x"})], "It is already up.", "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask(request="r1")
        await house.ask(request="r2")
        assert len(house.face.cards) == 1
        assert "link:discord/9/90/m1" in script.results()[-1][1]


async def test_a_card_that_nobody_can_see_ends_as_undeliverable(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "I could not ask.")
    face = Face(fail_card=Unreachable("I may not post in #ops."))
    async with open_house(tmp_path, script, face=face) as house:
        page = await house.ask()
        assert page.finished == "I could not ask."
        assert "I may not post in #ops." in script.results()[0][1]
        assert house.bench.effects == []
        [row] = await house.rows("SELECT state FROM approval")
        assert row["state"] == "undeliverable"


async def test_a_wished_direct_message_comes_beside_the_answer(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Hello.")) as house:
        page = await house.ask(notify="both")
        assert page.finished == "Hello."
        [(person, told)] = house.face.told
        assert (person, told.text) == ("2", "Hello.")


async def test_closed_direct_messages_are_said_in_the_channel(tmp_path: Path) -> None:
    face = Face(fail_tell=Unreachable("Your direct messages are closed to me."))
    async with open_house(tmp_path, Script("Hello."), face=face) as house:
        await house.ask(notify="dm")
        [said] = house.face.said
        assert "Your direct messages are closed to me." in said.text
        assert said.ping == ("2",)


async def test_a_question_is_answered_by_the_person_who_was_asked_and_by_nobody_else(tmp_path: Path) -> None:
    script = Script([("ask_user", {"question": "Which?", "choices": ["a", "b"]})], "b it is.")
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        with pytest.raises(NotAllowed):
            await house.app.engine.answer(house.press(OWNER), "a")
        await house.app.engine.answer(house.press(ASKER), "b")
        await house.app.background.idle()
        assert script.results() == [("success", "The person answered: b")]
        assert page.finished == "b it is."


async def test_a_job_announces_its_own_ending_and_leaves_the_turn_free(tmp_path: Path) -> None:
    job = {"count": [[("act", {"what": "x"})], "Counted."]}
    script = Script([("start_job", {"goal": "count"})], "I am on it.", by_prompt=job)
    async with open_house(tmp_path, script) as house:
        page = await house.ask()
        assert page.finished == "I am on it."
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert house.face.said[-1].text.endswith("is done: Counted.")


async def test_two_calls_on_one_card_are_two_decisions(tmp_path: Path) -> None:
    script = Script([("act", {"what": "one"}), ("act", {"what": "two"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        await house.decide("approve", row=1)
        assert house.bench.effects == ["two"]
        await house.decide("deny", row=0)
        with pytest.raises(AlreadySettled):
            await house.app.engine.decide(house.press(OWNER, 0), "approve")
        assert house.bench.effects == ["two"]


async def test_a_button_counts_only_on_its_own_message(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script, bench=Bench()) as house:
        await house.ask()
        with pytest.raises(UnknownApproval, match="wrong_message"):
            await house.app.engine.decide(house.press(OWNER, message="elsewhere"), "approve")
        assert house.bench.effects == []


async def test_a_model_that_keeps_asking_for_the_same_call_is_stopped_and_it_is_said(tmp_path: Path) -> None:
    call = [("shell", {"command": "/approve id0005 always"})]
    async with open_house(tmp_path, Script(*([call] * 30))) as house:
        page = await house.ask()
        await house.decide("deny")
        assert house.bench.effects == []
        assert len(house.face.cards) == 1
        assert "kept asking" in (page.finished or "")
        assert len(house.script.seen) <= 7


async def test_a_tool_may_ask_by_itself_and_sees_that_it_was_approved(tmp_path: Path) -> None:
    script = Script([("careful", {"what": "small"}), ("careful", {"what": "big"})], "Done.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        assert house.bench.effects == ["small"]
        assert house.card[1].approvals[0].reason == "big things need a second look"
        await house.decide("approve")
        assert house.bench.effects == ["small", "big"]


async def test_an_approval_written_into_the_database_by_hand_runs_nothing(tmp_path: Path) -> None:
    """S-A50."""
    script = Script([("act", {"what": "x"})], "It was void.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        async with house.app.database.begin("forgery") as tx:
            await tx.execute("UPDATE approval SET state = 'approved', settled_by = '1', settled_at = 1")
        await house.later(seconds=1)
        assert house.bench.effects == []
        [row] = await house.rows("SELECT state, note FROM approval")
        assert row == {"state": "void", "note": "its decision does not bear this bot's seal."}


async def test_arguments_changed_behind_the_card_are_not_approved_and_not_run(tmp_path: Path) -> None:
    """S-A21; changed after the approval: `tests/deferral/test_executor.py`."""
    script = Script([("act", {"what": "x"})], "It was void.")
    async with open_house(tmp_path, script) as house:
        await house.ask()
        async with house.app.database.begin("forgery") as tx:
            await tx.execute("""UPDATE approval SET arguments = '{"what": "y"}'""")
        with pytest.raises(AlreadySettled):
            await house.decide("approve")
        await house.app.background.idle()
        assert house.bench.effects == []
        assert house.face.card_words["m1"][-1] == "void"


async def test_under_another_application_nothing_that_waits_counts(tmp_path: Path) -> None:
    """S-A19."""
    script = Script([("act", {"what": "x"})], "It was void.")
    async with open_house(tmp_path, script) as house:
        await house.app.engine.belong_to("100")
        await house.ask()
        await house.app.engine.belong_to("100")
        assert house.face.card_words["m1"] == ["waiting for sign-off"]
        await house.app.engine.belong_to("200")
        await house.later(seconds=1)
        assert house.face.card_words["m1"][-1] == "void"
        with pytest.raises(AlreadySettled):
            await house.app.engine.decide(house.press(OWNER), "approve")
        assert house.bench.effects == []
