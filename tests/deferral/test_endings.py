"""What is said of questions and of calls whose result lives elsewhere, cell by cell; and what is certain of any call.

For calls that wait for consent, `test_sentences` has the cells.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import pytest

from bot.deferral import sentences
from bot.deferral.endings import OF_EXTERNAL, OF_QUESTIONS, ending, ran_nothing
from bot.deferral.tool import ToolKind
from storage.approvals import MOVES, Approval, ApprovalState
from tests.storage.rows import a_call

S = ApprovalState
AUTHORITY = ("nobody yet", "person", "clock", "system", "outside")


class Row(NamedTuple):
    """What each reader has to be told of it, and must not be."""

    word: str
    authority: str
    person: str
    model: str
    never: str
    nothing: bool


NO = "denied|refused|declined"

TABLE: dict[tuple[ToolKind, ApprovalState], Row] = {
    (ToolKind.QUESTION, S.PENDING): Row(
        "waiting for an answer", "nobody yet", "`act` waits for an answer", "waits for a person", "sign-off", True),
    (ToolKind.QUESTION, S.SUCCEEDED): Row(
        "answered", "person", "<1> answered", "The person answered: out", "approved|ran|exit", True),
    (ToolKind.QUESTION, S.EXPIRED): Row(
        "expired", "clock", "Nobody answered the question in time", "Nobody answered the question in time",
        NO + "|ran|consent", True),
    (ToolKind.QUESTION, S.CANCELLED): Row(
        "cancelled", "person", "taken back: not today", "taken back before it was answered: not today",
        NO + "|ran|in time", True),
    (ToolKind.QUESTION, S.UNDELIVERABLE): Row(
        "could not be asked", "system", "could not be shown: no sandbox.", "could not be shown to the person: no",
        NO + "|ran|in time", True),
    (ToolKind.QUESTION, S.VOID): Row(
        "void", "system", "The question is void: no sandbox.", "became void: no sandbox.", NO + "|ran|in time", True),
    (ToolKind.EXTERNAL, S.PENDING): Row(
        "waiting for a result", "nobody yet", "waits for a result from elsewhere", "Do not call it again",
        "sign-off|card|nothing|not run|approve", False),
    (ToolKind.EXTERNAL, S.SUCCEEDED): Row(
        "result delivered", "outside", "The result of `act` was delivered", "out", "ran|approved|exit", False),
    (ToolKind.EXTERNAL, S.FAILED): Row(
        "failed", "outside", "`act` was reported as failed", "reported as failed. out", "ran|approved|exit", False),
    (ToolKind.EXTERNAL, S.EXPIRED): Row(
        "expired", "clock", "No result of `act` came in time", "whether it took effect elsewhere is unknown",
        NO + "|ran|did not run|consent|nothing", False),
    (ToolKind.EXTERNAL, S.CANCELLED): Row(
        "cancelled", "person", "not waited for any more: not today", "not waited for any more: not today",
        NO + "|ran|did not run|nothing", False),
    (ToolKind.EXTERNAL, S.VOID): Row(
        "void", "system", "not waited for any more: no sandbox.", "not waited for any more: no sandbox.",
        NO + "|ran|did not run|nothing", False),
}  # fmt: skip
"""Written down a second time, by what matters in each cell: a change of one alone is noticed."""


def call(kind: ToolKind, state: ApprovalState) -> Approval:
    """A call as its row is in that state."""
    ended = state in {S.SUCCEEDED, S.FAILED}
    return replace(
        a_call(),
        kind=kind,
        state=state,
        settled_by=None if state is S.PENDING else "1",
        note="not today" if state is S.CANCELLED else "no sandbox.",
        exit_code=(0 if state is S.SUCCEEDED else 3) if ended and kind is ToolKind.APPROVAL else None,
        result="out" if ended else None,
    )


def who(person: str) -> str:
    return f"<{person}>"


CELLS = pytest.mark.parametrize(("kind", "state"), TABLE, ids=str)


def test_every_state_that_such_a_call_can_be_in_has_a_row_of_its_own() -> None:
    reachable = ({S.PENDING} | MOVES[S.PENDING]) - {S.APPROVED, S.DENIED}
    # A question is answered or it is not, it never fails; a result from elsewhere needs no card to come.
    assert set(OF_QUESTIONS) == reachable - {S.FAILED}
    assert set(OF_EXTERNAL) == reachable - {S.UNDELIVERABLE}
    assert set(TABLE) == {(ToolKind.QUESTION, state) for state in OF_QUESTIONS} | {
        (ToolKind.EXTERNAL, state) for state in OF_EXTERNAL
    }


@CELLS
def test_the_card_shows_the_word(kind: ToolKind, state: ApprovalState) -> None:
    assert sentences.word(call(kind, state)) == TABLE[kind, state].word


@CELLS
def test_the_trail_names_the_authority(kind: ToolKind, state: ApprovalState) -> None:
    assert ending(kind, state).authority == TABLE[kind, state].authority
    assert ending(kind, state).authority in AUTHORITY


@CELLS
def test_people_are_told_what_happened_and_nothing_else(kind: ToolKind, state: ApprovalState) -> None:
    said = sentences.person(call(kind, state), who)
    assert TABLE[kind, state].person in said
    assert re.search(TABLE[kind, state].never, said, re.IGNORECASE) is None


@CELLS
def test_the_model_is_told_what_happened_and_nothing_else(kind: ToolKind, state: ApprovalState) -> None:
    said = sentences.outcome(call(kind, state))
    assert TABLE[kind, state].model in said
    assert re.search(TABLE[kind, state].never, said, re.IGNORECASE) is None


@CELLS
def test_it_is_certain_that_nothing_ran_or_it_is_not_said(kind: ToolKind, state: ApprovalState) -> None:
    row = call(kind, state)
    assert ran_nothing(row) is TABLE[kind, state].nothing
    if not ran_nothing(row):
        assert "othing ran" not in sentences.person(row, who)
        assert "did not run" not in sentences.outcome(row)


@pytest.mark.parametrize("state", list(S))
def test_of_a_call_that_waited_for_consent_nothing_ran_unless_it_was_claimed(state: ApprovalState) -> None:
    """K15, K17."""
    claimed = {S.RUNNING, S.SUCCEEDED, S.FAILED, S.INTERRUPTED}
    assert ran_nothing(call(ToolKind.APPROVAL, state)) is (state not in claimed)


@pytest.mark.parametrize("kind", list(ToolKind))
@pytest.mark.parametrize("state", list(S))
def test_nothing_shows_a_tick_or_a_cross(kind: ToolKind, state: ApprovalState) -> None:
    row = call(kind, state)
    said = sentences.word(row) + sentences.person(row, who) + sentences.outcome(row)
    assert re.search("[✓✔✅☑✗✘❌]", said) is None


def test_a_result_from_elsewhere_reaches_the_model_verbatim() -> None:
    """R3."""
    text = "  {not} a\ttemplate: 100%\n\n"
    assert sentences.outcome(replace(call(ToolKind.EXTERNAL, S.SUCCEEDED), result=text)) == text


def test_a_failure_without_a_reason_does_not_end_in_a_blank() -> None:
    said = sentences.outcome(replace(call(ToolKind.EXTERNAL, S.FAILED), result=""))
    assert said == "This call was reported as failed."


WAITS = {
    ("approval",): (
        "Waiting for sign-off: see the card below. Nothing runs before that.",
        "I asked for your permission: see",
    ),
    ("question", "question"): (
        "Waiting for your answer: see the card below.",
        "I asked you a question: see the card. The",
    ),
    ("external",): (
        "Waiting for a result from elsewhere: see the card below.",
        "I wait for a result from elsewhere: see",
    ),
    ("question", "approval"): (
        "Waiting for sign-off and your answer: see the card below. Nothing runs before that.",
        "I asked for your permission and I asked you a question: see the card. Nothing runs before that. The",
    ),
}


@pytest.mark.parametrize("kinds", WAITS, ids="+".join)
def test_what_is_waited_for_is_called_by_its_name(kinds: tuple[str, ...]) -> None:
    waiting, asked = WAITS[kinds]
    assert sentences.waiting(kinds) == waiting
    assert sentences.asked(kinds).startswith(asked)
    assert sentences.still_waits(kinds).startswith(f"Still w{waiting.split(':')[0][1:]}: see the card. The answer")


def test_what_is_running_is_not_said_to_wait_when_the_reply_is_let_go() -> None:
    assert sentences.still_waits([]).startswith("This is still running: see the card.")
