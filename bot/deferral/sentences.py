"""Every sentence about a call's state, derived from the one stored word.

People read `person`, the model reads `model`, the card shows `word`, the trail names `authority`. They are
columns of one table, so that they cannot disagree: silence is never voiced as a no, a failure never as a
refusal, and nothing claims to know what nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from storage.approvals import Approval, ApprovalState

Who = Callable[[str], str]
"""How a face names a person by id."""


@dataclass(frozen=True)
class Ending:
    """One row of the table. `{tool}`, `{by}`, `{note}` and `{code}` are filled in."""

    word: str
    person: str
    model: str
    authority: str


ENDINGS: dict[ApprovalState, Ending] = {
    ApprovalState.PENDING: Ending(
        "waiting for sign-off",
        "`{tool}` waits for sign-off. Nothing has run.",
        "This call waits for a person: its card is up, and only they can answer. It has not run. Do not call it"
        " again; say that you are waiting, or go on without it.",
        "nobody yet",
    ),
    ApprovalState.APPROVED: Ending(
        "approved, about to run",
        "{by} approved `{tool}`; it is about to run.",
        "A person approved this call and it is about to run. Do not call it again; its result will follow.",
        "person",
    ),
    ApprovalState.RUNNING: Ending(
        "running",
        "{by} approved `{tool}`; it is running.",
        "A person approved this call and it is running. Do not call it again; its result will follow.",
        "person",
    ),
    ApprovalState.SUCCEEDED: Ending(
        "done",
        "`{tool}` ran{code}, approved by {by}.",
        "This call ran{code} after a person approved it.",
        "person",
    ),
    ApprovalState.FAILED: Ending(
        "failed",
        "`{tool}` ran and failed{code}, approved by {by}.",
        "This call ran after a person approved it, and failed{code}.",
        "person",
    ),
    ApprovalState.NOTHING_RAN: Ending(
        "nothing ran",
        "{by} approved `{tool}`, but it could not start: {note} Nothing ran.",
        "A person approved this call, but it could not start, so nothing ran: {note}",
        "person",
    ),
    ApprovalState.INTERRUPTED: Ending(
        "interrupted",
        "{by} approved `{tool}` and it was started, but this program stopped while it ran. Nobody knows how far it"
        " got; check before you ask for it again. It was not run again.",
        "This call was approved and started, but the program stopped while it ran. It is unknown whether it took"
        " effect. It was not run again. Tell the person exactly that; do not call it again unless they ask.",
        "person",
    ),
    ApprovalState.DENIED: Ending(
        "denied",
        "{by} denied `{tool}`{note}. Nothing ran.",
        "A person denied this call{note}. It did not run. Do not call it again and do not reach for the same effect"
        " another way; go on without its result, and say that it was denied.",
        "person",
    ),
    ApprovalState.EXPIRED: Ending(
        "expired",
        "Nobody decided about `{tool}` in time. Nothing ran.",
        "Nobody answered in time, so this call did not run. Silence is not consent: do not call it again, and do not"
        " reach for the same effect another way. Say that nobody answered, and that they can ask again.",
        "clock",
    ),
    ApprovalState.CANCELLED: Ending(
        "cancelled",
        "`{tool}` was cancelled{note}. Nothing ran.",
        "This call was cancelled before it ran{note}. Do not call it again.",
        "person",
    ),
    ApprovalState.UNDELIVERABLE: Ending(
        "could not be asked",
        "Nobody could be asked about `{tool}`: {note} Nothing ran.",
        "The card for this call could not be shown to anybody, so it did not run: {note} Do not call it again; say"
        " why it did not run.",
        "system",
    ),
    ApprovalState.VOID: Ending(
        "void",
        "`{tool}` is void and was not run: {note}",
        "This call became void, so it did not run: {note} Do not call it again; say why it did not run.",
        "system",
    ),
}

ASKED = Ending(
    "waiting for an answer",
    "`{tool}` waits for an answer.",
    ENDINGS[ApprovalState.PENDING].model,
    "nobody yet",
)
"""For a question that waits: nobody signs anything off."""

ANSWERED = Ending("answered", "{by} answered.", "{result}", "person")
"""For a question: `succeeded` means that the person answered."""

NOT_ANSWERED = "Nobody answered the question in time. Do not ask it again; go on without the answer, or say so."


def word(approval: Approval) -> str:
    """The card's word."""
    return _ending(approval).word


def person(approval: Approval, who: Who) -> str:
    """The sentence for people; `who` names a person by id."""
    return _fill(_ending(approval).person, approval, who)


def model(approval: Approval) -> str:
    """The sentence for the model, without any result text."""
    if approval.kind == "question" and approval.state is ApprovalState.EXPIRED:
        return NOT_ANSWERED
    return _fill(_ending(approval).model, approval, lambda id: f"user {id}")


def outcome(approval: Approval) -> str:
    """What the model is handed as the call's result when the run goes on."""
    if approval.kind == "question" and approval.state is ApprovalState.SUCCEEDED:
        return f"The person answered: {approval.result}"
    if approval.state in {ApprovalState.SUCCEEDED, ApprovalState.FAILED}:
        return f"{model(approval)}\n{approval.result or ''}".rstrip()
    return model(approval)


def reemitted(approval: Approval) -> str:
    """What the model is told when it emits the call again for the same request."""
    if approval.is_open:
        return model(approval)
    return f"Not run again: this request already had this call. {outcome(approval)}"


def still_waiting(approval: Approval, link: str) -> str:
    """What the model is told when the same person's identical call already waits in this conversation."""
    where = f" Its card: {link}" if link else ""
    return f"{model(approval)} It is the card that is already up for the same action; no second one was made.{where}"


def too_late(approval: Approval, who: Who) -> str:
    """What somebody is told whose press came after the decision."""
    return f"This had already been settled; your press changed nothing. {person(approval, who)}"


def event(approvals: list[Approval]) -> str:
    """Outcomes for the model in the user position, when the conversation has gone on meanwhile."""
    lines = [f"- {approval.tool} {approval.arguments}: {outcome(approval)}" for approval in approvals]
    return (
        "[event: the person did not write this]\nCalls that were waiting have ended. Tell the person what came of them;"
        " do not call them again.\n" + "\n".join(lines)
    )


def _ending(approval: Approval) -> Ending:
    if approval.kind == "question":
        if approval.state is ApprovalState.PENDING:
            return ASKED
        if approval.state is ApprovalState.SUCCEEDED:
            return ANSWERED
    return ENDINGS[approval.state]


def _fill(template: str, approval: Approval, who: Who) -> str:
    note = approval.note or ""
    if approval.state in {ApprovalState.DENIED, ApprovalState.CANCELLED}:
        note = f": {note}" if note else ""
    return template.format(
        tool=approval.tool,
        by=who(approval.settled_by) if approval.settled_by else "somebody",
        note=note,
        code=f" (exit code {approval.exit_code})" if approval.exit_code is not None else "",
        result=approval.result or "",
    )
