"""What people and the model are told of calls: the table of endings filled in, and what is said while they wait."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from bot.deferral.endings import Ending, ending
from bot.deferral.intent import canonical_json
from bot.deferral.tool import ToolKind
from bot.texts.text import say
from storage import audit
from storage.approvals import Approval, ApprovalState

Who = Callable[[str], str]
"""How a face names a person by id."""


def word(approval: Approval) -> str:
    """The card's word."""
    return _of(approval).word


def person(approval: Approval, who: Who) -> str:
    """The sentence for people; `who` names a person by id."""
    return _fill(_of(approval).person, approval, who)


def model(approval: Approval) -> str:
    """The sentence for the model; of what ran here, without its result."""
    return _fill(_of(approval).model, approval, lambda id: f"user {id}").rstrip()


def outcome(approval: Approval) -> str:
    """What the model is handed as the call's result when the run goes on."""
    return f"{_remembered(approval)}{changes(approval)}{_outcome(approval)}"


def _remembered(approval: Approval) -> str:
    """For the model: that nobody was asked this time."""
    if approval.granted is None:
        return ""
    return "Nobody was asked this time: people had allowed exactly this call before, for a time.\n"


def changes(approval: Approval) -> str:
    """For the model: that a person changed its call, and to what; '' if nobody did."""
    if approval.original is None:
        return ""
    now = json.dumps(approval.arguments, ensure_ascii=False)
    return f"A person changed this call before it was decided. What follows is about the changed one: {now}\n"


def once_more(approval: Approval) -> str:
    """What stands in the user position when a person wants an ended call asked about once more."""
    return (
        "[event: the person pressed a button and did not write this]\nAsk about this call once more, exactly as it is:"
        f" {approval.tool} {json.dumps(approval.arguments, ensure_ascii=False)}"
    )


def _outcome(approval: Approval) -> str:
    if approval.kind == ToolKind.EXTERNAL and approval.state is ApprovalState.SUCCEEDED:
        return approval.result or ""  # verbatim, blanks at its end too
    ran = approval.kind == ToolKind.APPROVAL
    if ran and approval.state in {ApprovalState.SUCCEEDED, ApprovalState.FAILED}:
        return f"{model(approval)}\n{approval.result or ''}".rstrip()
    return model(approval)


def reemitted(approval: Approval) -> str:
    """What the model is told when it emits the call again for the same request."""
    if approval.is_open:
        return f"{changes(approval)}{model(approval)}"
    return f"Not run again: this request already had this call. {outcome(approval)}"


def still_waiting(approval: Approval, link: str) -> str:
    """What the model is told when the same person's identical call already waits in this conversation."""
    where = f" Its card: {link}" if link else ""
    return f"{model(approval)} It is the card that is already up for the same action; no second one was made.{where}"


def too_late(approval: Approval, who: Who) -> str:
    """What somebody is told whose press came after the decision."""
    return f"This had already been settled; your press changed nothing. {person(approval, who)}"


def waiting(kinds: Collection[str], where: str = "") -> str:
    """What a run waits for, in the reply of the turn, as long as the answer may still come there. With no kinds: what a
    grant let through runs.

    `where`: what is said of the card when it is not there.
    """
    if not kinds:
        return say("grants.runs")
    return f"Waiting for {_awaited(kinds)}: {where or 'see the card below'}.{_nothing_ran(kinds)}"


def still_waits(kinds: Collection[str]) -> str:
    """The same when the reply is let go. With no kinds: what was approved is still running."""
    what = f"Still waiting for {_awaited(kinds)}" if kinds else "This is still running"
    return f"{what}: see the card. The answer will come as a new message."


def asked(kinds: Collection[str]) -> str:
    """The whole reply of a turn that may not wait, when its card is up."""
    lead = {
        ToolKind.APPROVAL: "I asked for your permission",
        ToolKind.QUESTION: "I asked you a question",
        ToolKind.EXTERNAL: "I wait for a result from elsewhere",
    }
    return (
        f"{' and '.join(lead[kind] for kind in _present(kinds))}: see the card.{_nothing_ran(kinds)}"
        " The answer will come as a new message."
    )


def _awaited(kinds: Collection[str]) -> str:
    names = {
        ToolKind.APPROVAL: "sign-off",
        ToolKind.QUESTION: "your answer",
        ToolKind.EXTERNAL: "a result from elsewhere",
    }
    return " and ".join(names[kind] for kind in _present(kinds))


def _nothing_ran(kinds: Collection[str]) -> str:
    return " Nothing has run yet." if ToolKind.APPROVAL in kinds else ""


def _present(kinds: Collection[str]) -> list[ToolKind]:
    """Each kind once, in the order of the enum."""
    return [kind for kind in ToolKind if kind in kinds]


def event(approvals: list[Approval]) -> str:
    """Outcomes for the model in the user position, when the conversation has gone on meanwhile."""
    lines = [f"- {approval.tool} {canonical_json(approval.arguments)}: {outcome(approval)}" for approval in approvals]
    return (
        "[event: the person did not write this]\nCalls that were waiting have ended. Tell the person what came of them;"
        " do not call them again.\n" + "\n".join(lines)
    )


def _of(approval: Approval) -> Ending:
    return ending(approval.kind, approval.state)


def _fill(template: str, approval: Approval, who: Who) -> str:
    note = approval.note or ""
    if approval.state in {ApprovalState.DENIED, ApprovalState.CANCELLED}:
        note = f": {note}" if note else ""
    by = who(approval.settled_by) if approval.settled_by else "somebody"
    if approval.granted is not None and approval.settled_by == audit.SYSTEM:
        by = "A grant" if template.startswith("{by}") else "a grant"
    return template.format(
        tool=approval.tool,
        by=by,
        note=note,
        code=f" (exit code {approval.exit_code})" if approval.exit_code is not None else "",
        result=approval.result or "",
    )
