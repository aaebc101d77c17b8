"""The table of endings: everything that is said of a call's state, derived from the one stored word.

People read `person`, the model reads `model`, the card shows `word`, the trail names `authority`. They are
columns of one table, so that they cannot disagree: silence is never voiced as a no, a failure never as a
refusal, and nothing claims to know what nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.deferral.tool import ToolKind
from bot.texts.text import Key, key
from storage.approvals import Approval, ApprovalState


@dataclass(frozen=True)
class Ending:
    """One row of the table. `{tool}`, `{by}`, `{note}`, `{code}` and `{result}` are filled in."""

    word: Key
    person: Key
    model: str
    authority: str


ENDINGS: dict[ApprovalState, Ending] = {
    ApprovalState.PENDING: Ending(
        key("endings.waiting"),
        key("endings.waiting_person"),
        "This call waits for a person: its card is up, and only they can answer. It has not run. Do not call it"
        " again; say that you are waiting, or go on without it.",
        "nobody yet",
    ),
    ApprovalState.APPROVED: Ending(
        key("endings.approved"),
        key("endings.approved_person"),
        "A person approved this call and it is about to run. Do not call it again; its result will follow.",
        "person",
    ),
    ApprovalState.RUNNING: Ending(
        key("endings.running"),
        key("endings.running_person"),
        "A person approved this call and it is running. Do not call it again; its result will follow.",
        "person",
    ),
    ApprovalState.SUCCEEDED: Ending(
        key("endings.done"),
        key("endings.done_person"),
        "This call ran{code} after a person approved it.",
        "person",
    ),
    ApprovalState.FAILED: Ending(
        key("endings.failed"),
        key("endings.failed_person"),
        "This call ran after a person approved it, and failed{code}.",
        "person",
    ),
    ApprovalState.NOTHING_RAN: Ending(
        key("endings.nothing_ran"),
        key("endings.nothing_ran_person"),
        "A person approved this call, but it could not start, so nothing ran: {note}",
        "person",
    ),
    ApprovalState.INTERRUPTED: Ending(
        key("endings.interrupted"),
        key("endings.interrupted_person"),
        "This call was approved and started, but the program stopped while it ran. It is unknown whether it took"
        " effect. It was not run again. Tell the person exactly that; do not call it again unless they ask.",
        "person",
    ),
    ApprovalState.DENIED: Ending(
        key("endings.denied"),
        key("endings.denied_person"),
        "A person denied this call{note}. It did not run. Do not call it again and do not reach for the same effect"
        " another way; go on without its result, and say that it was denied.",
        "person",
    ),
    ApprovalState.EXPIRED: Ending(
        key("endings.expired"),
        key("endings.expired_person"),
        "Nobody answered in time, so this call did not run. Silence is not consent: do not call it again, and do not"
        " reach for the same effect another way. Say that nobody answered, and that they can ask again.",
        "clock",
    ),
    ApprovalState.CANCELLED: Ending(
        key("endings.cancelled"),
        key("endings.cancelled_person"),
        "This call was cancelled before it ran{note}. Do not call it again.",
        "person",
    ),
    ApprovalState.UNDELIVERABLE: Ending(
        key("endings.not_asked"),
        key("endings.not_asked_person"),
        "The card for this call could not be shown to anybody, so it did not run: {note} Do not call it again; say"
        " why it did not run.",
        "system",
    ),
    ApprovalState.VOID: Ending(
        key("endings.void"),
        key("endings.void_person"),
        "This call became void, so it did not run: {note} Do not call it again; say why.",
        "system",
    ),
}

UNKNOWN = Ending(
    key("endings.unknown"),
    key("endings.unknown_person"),
    "This call was approved and started. {note} It is unknown whether it took effect. It was not run again. Tell the"
    " person exactly that; do not call it again unless they ask.",
    "person",
)
"""Of an interrupted call that knows why nobody knows: its tool lost sight of it, and not the program of the tool."""

OF_QUESTIONS: dict[ApprovalState, Ending] = {
    ApprovalState.PENDING: Ending(
        key("endings.waiting_answer"),
        key("endings.waiting_answer_person"),
        ENDINGS[ApprovalState.PENDING].model,
        "nobody yet",
    ),
    ApprovalState.SUCCEEDED: Ending(
        key("endings.answered"), key("endings.answered_person"), "The person answered: {result}", "person"
    ),
    ApprovalState.EXPIRED: Ending(
        key("endings.expired"),
        key("endings.unanswered_person"),
        "Nobody answered the question in time. Do not ask it again; go on without the answer, or say so.",
        "clock",
    ),
    ApprovalState.CANCELLED: Ending(
        key("endings.cancelled"),
        key("endings.question_cancelled"),
        "This question was taken back before it was answered{note}. Do not ask it again.",
        "person",
    ),
    ApprovalState.UNDELIVERABLE: Ending(
        key("endings.not_asked"),
        key("endings.question_not_shown"),
        "This question could not be shown to the person: {note} Do not ask it again; say why.",
        "system",
    ),
    ApprovalState.VOID: Ending(
        key("endings.void"),
        key("endings.question_void"),
        "This question became void: {note} Do not ask it again; say why.",
        "system",
    ),
}
"""Where a question's ending is told in other words: nobody signs anything off, and nothing could run."""

OF_EXTERNAL: dict[ApprovalState, Ending] = {
    ApprovalState.PENDING: Ending(
        key("endings.waiting_result"),
        key("endings.waiting_result_person"),
        "This call waits for a result from elsewhere, which is handed to you when it is there. Do not call it again;"
        " say that it is not there yet, or go on without it.",
        "nobody yet",
    ),
    ApprovalState.SUCCEEDED: Ending(
        key("endings.delivered"),
        key("endings.delivered_person"),
        "{result}",
        "outside",
    ),
    ApprovalState.FAILED: Ending(
        key("endings.failed"),
        key("endings.reported_failed"),
        "This call was reported as failed. {result}",
        "outside",
    ),
    ApprovalState.EXPIRED: Ending(
        key("endings.expired"),
        key("endings.no_result"),
        "No result of this call came in time; whether it took effect elsewhere is unknown. Do not call it again; say"
        " that no result came.",
        "clock",
    ),
    ApprovalState.CANCELLED: Ending(
        key("endings.cancelled"),
        key("endings.result_cancelled"),
        "The result of this call is not waited for any more{note}; whether it took effect elsewhere is unknown. Do not"
        " call it again.",
        "person",
    ),
    ApprovalState.VOID: Ending(
        key("endings.void"),
        key("endings.result_void"),
        "This call became void, so its result is not waited for any more: {note} Do not call it again; say why.",
        "system",
    ),
}
"""The same for a call whose result lives elsewhere: nobody signs it off, and nobody here knows what happened there."""

_OF_KIND = {ToolKind.QUESTION: OF_QUESTIONS, ToolKind.EXTERNAL: OF_EXTERNAL}


def ending(kind: str, state: ApprovalState) -> Ending:
    """The row of the table for a call of this kind in this state."""
    return _OF_KIND.get(ToolKind(kind), ENDINGS).get(state, ENDINGS[state])


def ran_nothing(call: Approval) -> bool:
    """Whether it is certain that nothing of the call has happened: to be asked before it is filed as executed.

    Of a call that runs, or was interrupted, nobody can say so; neither of one whose result lives elsewhere. A question
    runs nothing, whatever its answer.
    """
    if call.kind == ToolKind.APPROVAL:
        return call.state not in _MAY_HAVE_RUN
    return call.kind == ToolKind.QUESTION


_MAY_HAVE_RUN = frozenset(
    {ApprovalState.RUNNING, ApprovalState.SUCCEEDED, ApprovalState.FAILED, ApprovalState.INTERRUPTED}
)
