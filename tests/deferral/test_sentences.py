"""Every sentence about a state derives from the one stored word: one test per cell, and what no cell may claim."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from bot.deferral import sentences
from bot.deferral.endings import ENDINGS
from storage.approvals import OPEN, Approval, ApprovalState
from tests.storage.rows import a_call

S = ApprovalState
STATES = sorted(S)
COLUMNS = ["word", "person", "model", "authority"]


def call(state: ApprovalState, **changes: Any) -> Approval:
    """A call in a state, with everything a sentence may mention."""
    settled = {} if state is S.PENDING else {"settled_by": "1"}
    ran = {"result": "out", "exit_code": 3} if state in {S.SUCCEEDED, S.FAILED} else {}
    noted = {"note": "the reason why."} if state in {S.NOTHING_RAN, S.UNDELIVERABLE, S.VOID} else {}
    return a_call(state=state, **{**settled, **ran, **noted, **changes})


def who(person: str) -> str:
    return f"<{person}>"


def cell(state: ApprovalState, column: str) -> str:
    """What is said in a state: a filled-in cell of the table."""
    said = {"word": sentences.word, "model": sentences.outcome, "person": lambda one: sentences.person(one, who)}
    return ENDINGS[state].authority if column == "authority" else said[column](call(state))


NOTHING_HAPPENED = {S.PENDING, S.NOTHING_RAN, S.DENIED, S.EXPIRED, S.CANCELLED, S.UNDELIVERABLE, S.VOID}
MUST: dict[tuple[ApprovalState, str], str] = {
    (S.PENDING, "word"): r"^waiting for sign-off$",
    (S.PENDING, "person"): r"waits.*[Nn]othing has run",
    (S.PENDING, "model"): r"not run.*[Dd]o not call it again",
    (S.PENDING, "authority"): r"^nobody yet$",
    (S.APPROVED, "word"): r"^approved, about to run$",
    (S.APPROVED, "person"): r"<1> approved.*about to run",
    (S.APPROVED, "model"): r"about to run.*[Dd]o not call it again",
    (S.APPROVED, "authority"): r"^person$",
    (S.RUNNING, "word"): r"^running$",
    (S.RUNNING, "person"): r"<1> approved.*is running",
    (S.RUNNING, "model"): r"is running.*[Dd]o not call it again",
    (S.RUNNING, "authority"): r"^person$",
    (S.SUCCEEDED, "word"): r"^done$",
    (S.SUCCEEDED, "person"): r"ran \(exit code 3\), approved by <1>",
    (S.SUCCEEDED, "model"): r"^This call ran \(exit code 3\) after a person approved it\.\nout$",
    (S.SUCCEEDED, "authority"): r"^person$",
    (S.FAILED, "word"): r"^failed$",
    (S.FAILED, "person"): r"ran and failed \(exit code 3\), approved by <1>",
    (S.FAILED, "model"): r"ran after a person approved it, and failed \(exit code 3\)\.\nout$",
    (S.FAILED, "authority"): r"^person$",
    (S.NOTHING_RAN, "word"): r"^nothing ran$",
    (S.NOTHING_RAN, "person"): r"<1> approved.*could not start: the reason why\. Nothing ran",
    (S.NOTHING_RAN, "model"): r"approved.*nothing ran: the reason why",
    (S.NOTHING_RAN, "authority"): r"^person$",
    (S.INTERRUPTED, "word"): r"^interrupted$",
    (S.INTERRUPTED, "person"): r"<1> approved.*started.*[Nn]obody knows.*not run again",
    (S.INTERRUPTED, "model"): r"started.*unknown whether.*not run again",
    (S.INTERRUPTED, "authority"): r"^person$",
    (S.DENIED, "word"): r"^denied$",
    (S.DENIED, "person"): r"<1> denied.*[Nn]othing ran",
    (S.DENIED, "model"): r"person denied.*did not run.*[Dd]o not call it again",
    (S.DENIED, "authority"): r"^person$",
    (S.EXPIRED, "word"): r"^expired$",
    (S.EXPIRED, "person"): r"[Nn]obody decided.*in time.*[Nn]othing ran",
    (S.EXPIRED, "model"): r"[Nn]obody answered in time.*did not run.*[Ss]ilence is not consent",
    (S.EXPIRED, "authority"): r"^clock$",
    (S.CANCELLED, "word"): r"^cancelled$",
    (S.CANCELLED, "person"): r"was cancelled.*[Nn]othing ran",
    (S.CANCELLED, "model"): r"cancelled before it ran.*[Dd]o not call it again",
    (S.CANCELLED, "authority"): r"^person$",
    (S.UNDELIVERABLE, "word"): r"^could not be asked$",
    (S.UNDELIVERABLE, "person"): r"[Nn]obody could be asked.*the reason why\..*[Nn]othing ran",
    (S.UNDELIVERABLE, "model"): r"could not be shown.*did not run: the reason why",
    (S.UNDELIVERABLE, "authority"): r"^system$",
    (S.VOID, "word"): r"^void$",
    (S.VOID, "person"): r"not run: the reason why",
    (S.VOID, "model"): r"did not run: the reason why",
    (S.VOID, "authority"): r"^system$",
}
"""The design's endings, written down a second time."""


def test_the_table_has_a_line_for_every_state() -> None:
    assert set(ENDINGS) == set(S)
    assert set(MUST) == {(state, column) for state in S for column in COLUMNS}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("state", STATES)
def test_a_cell_says_what_its_state_means(state: ApprovalState, column: str) -> None:
    assert re.search(MUST[state, column], cell(state, column), re.DOTALL)


@pytest.mark.parametrize("column", ["word", "person", "model"])
@pytest.mark.parametrize("state", STATES)
def test_only_a_denial_speaks_of_a_denial(state: ApprovalState, column: str) -> None:
    speaks = re.search(
        r"\b(denied|denies|deny|declined|refused|rejected|said no)\b", cell(state, column), re.IGNORECASE
    )
    assert bool(speaks) is (state is S.DENIED)


@pytest.mark.parametrize("column", ["word", "person", "model"])
@pytest.mark.parametrize("state", STATES)
def test_only_an_expiry_speaks_of_silence(state: ApprovalState, column: str) -> None:
    speaks = re.search(r"expired|in time|silence|nobody (answered|decided)", cell(state, column), re.IGNORECASE)
    assert bool(speaks) is (state is S.EXPIRED)


def test_a_call_whose_tool_lost_sight_of_it_says_why_and_not_that_the_program_stopped() -> None:
    lost = call(S.INTERRUPTED, note="The line went dead.")
    assert str(sentences.word(lost)) == "unknown"
    assert re.search(r"<1> approved.*started\. The line went dead\. Nobody knows", sentences.person(lost, who))
    assert re.search(r"The line went dead\. It is unknown whether.*not run again", sentences.outcome(lost))
    assert "program stopped" not in sentences.person(lost, who) + sentences.outcome(lost)
    assert all(str(sentences.word(call(state))) != "unknown" for state in S)


@pytest.mark.parametrize("state", STATES)
def test_words_on_cards_are_all_different(state: ApprovalState) -> None:
    assert [other for other in S if ENDINGS[other].word == ENDINGS[state].word] == [state]


@pytest.mark.parametrize("column", ["person", "model"])
@pytest.mark.parametrize("state", STATES)
def test_nothing_ran_is_said_where_it_is_certain_and_nowhere_else(state: ApprovalState, column: str) -> None:
    text = cell(state, column)
    certain = re.search(r"nothing (has run|ran)|(did|was|has) not run\b(?! again)|before it ran", text, re.IGNORECASE)
    assert bool(certain) is (state in NOTHING_HAPPENED)


@pytest.mark.parametrize("column", ["person", "model"])
@pytest.mark.parametrize("state", STATES)
def test_that_it_ran_is_said_where_it_is_certain_and_nowhere_else(state: ApprovalState, column: str) -> None:
    claims = re.search(r"(`act`|call) ran\b", cell(state, column))
    assert bool(claims) is (state in {S.SUCCEEDED, S.FAILED})


@pytest.mark.parametrize("state", sorted(set(S) - {S.INTERRUPTED}))
def test_only_what_nobody_knows_is_called_unknown(state: ApprovalState) -> None:
    for column in ("person", "model"):
        assert not re.search(r"nobody knows|unknown", cell(state, column), re.IGNORECASE)


@pytest.mark.parametrize("state", sorted(set(S) - {S.SUCCEEDED, S.FAILED, S.INTERRUPTED}))
def test_a_model_is_not_invited_to_try_again(state: ApprovalState) -> None:
    text = sentences.model(call(state))
    assert "Do not call it again" in text or "do not call it again" in text or state is S.NOTHING_RAN


@pytest.mark.parametrize("state", STATES)
def test_no_placeholder_is_left_and_no_blank_is_doubled(state: ApprovalState) -> None:
    for note in (None, "", "why"):
        one = call(state, note=note)
        for text in (sentences.person(one, who), sentences.model(one)):
            assert not re.search(r"[{}]|None|\bnull\b", text)
            if note:
                assert "  " not in text


@pytest.mark.parametrize("state", STATES)
def test_what_is_filled_in_is_never_read_as_a_template(state: ApprovalState) -> None:
    one = call(state, note="{by} {0} {tool.x}", result="{note}", tool="{code}")
    assert "{code}" in sentences.person(one, who)
    assert sentences.outcome(one)


def test_a_denial_hands_on_its_reason_and_needs_none() -> None:
    reasoned = call(S.DENIED, note="not on a Friday")
    assert "denied `act`: not on a Friday." in sentences.person(reasoned, who)
    assert "denied this call: not on a Friday." in sentences.model(reasoned)
    assert "denied `act`. Nothing ran." in sentences.person(call(S.DENIED), who)
    assert "denied this call. It did not run." in sentences.model(call(S.DENIED))


def test_a_command_that_ended_cleanly_says_its_exit_code_too() -> None:
    assert "(exit code 0)" in sentences.person(call(S.SUCCEEDED, exit_code=0), who)
    assert "exit code" not in sentences.person(call(S.SUCCEEDED, exit_code=None), who)


def test_an_outcome_without_a_text_ends_with_its_sentence() -> None:
    assert sentences.outcome(call(S.SUCCEEDED, result="", exit_code=None)) == (
        "This call ran after a person approved it."
    )


# -- what is said beside the table --------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_a_re_emission_is_told_the_state_and_that_it_is_not_run_again(state: ApprovalState) -> None:
    one = call(state)
    text = sentences.reemitted(one)
    assert sentences.model(one) in text
    assert text.startswith("Not run again") is (state not in OPEN)
    if state in {S.SUCCEEDED, S.FAILED}:
        assert text.endswith("\nout")


def test_an_identical_ask_is_shown_the_card_that_is_up() -> None:
    linked = sentences.still_waiting(call(S.PENDING), "https://example/1")
    assert "no second one was made" in linked
    assert linked.endswith("Its card: https://example/1")
    assert "Its card" not in sentences.still_waiting(call(S.PENDING), "")


@pytest.mark.parametrize("state", sorted(set(S) - {S.PENDING}))
def test_a_late_press_is_told_what_happened(state: ApprovalState) -> None:
    one = call(state)
    text = sentences.too_late(one, who)
    assert "changed nothing" in text
    assert sentences.person(one, who) in text


def test_an_event_is_marked_as_one_and_carries_every_outcome() -> None:
    calls = [call(S.SUCCEEDED), call(S.DENIED, id="call2", note="no"), call(S.EXPIRED, id="call3")]
    text = sentences.event(calls)
    assert text.startswith("[event: the person did not write this]")
    for one in calls:
        assert sentences.outcome(one) in text


# -- questions ----------------------------------------------------------------------------------


def question(state: ApprovalState, **changes: Any) -> Approval:
    return call(state, kind="question", tool="ask_user", **changes)


def test_a_waiting_question_waits_for_an_answer_and_not_for_sign_off() -> None:
    assert sentences.word(question(S.PENDING)) == "waiting for an answer"
    assert "sign-off" not in sentences.person(question(S.PENDING), who)


def test_an_answered_question_is_answered_and_hands_on_the_words() -> None:
    one = question(S.SUCCEEDED, result="the blue one", settled_by="2", exit_code=None)
    assert sentences.word(one) == "answered"
    assert sentences.person(one, who) == "<2> answered."
    assert sentences.outcome(one) == "The person answered: the blue one"
    assert "approved" not in sentences.outcome(one)


def test_an_unanswered_question_is_silence_and_neither_a_no_nor_an_answer() -> None:
    text = sentences.outcome(question(S.EXPIRED))
    assert "Nobody answered the question in time" in text
    assert not re.search(r"denied|consent|approved", text)


def test_a_press_for_once_more_is_told_the_model_as_an_event_with_the_very_call() -> None:
    said = sentences.once_more(call(S.EXPIRED, arguments={"what": "ü"}))
    assert said.startswith("[event: the person pressed a button and did not write this]\n")
    assert said.endswith(': act {"what": "ü"}')


@pytest.mark.parametrize("state", [S.APPROVED, S.RUNNING, S.SUCCEEDED])
def test_what_a_grant_approved_names_the_grant_and_no_person(state: ApprovalState) -> None:
    granted = call(state, granted="g", settled_by="system")
    assert "rant" in sentences.person(granted, who)
    assert "<" not in sentences.person(granted, who)
    assert sentences.model(granted).endswith("nobody was asked this time.")
    assert "<1>" in sentences.person(replace(granted, settled_by="1"), who), "who took it back is named all the same"
