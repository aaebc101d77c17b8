"""What people and the model are told of calls: the table of endings filled in, and what is said while they wait."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace

from bot.deferral.endings import UNKNOWN, Ending, ending
from bot.deferral.intent import canonical_json
from bot.deferral.tool import ToolKind
from bot.texts.catalogue import CATALOGUE
from bot.texts.entry import Language
from bot.texts.text import Text, key, listing, say
from storage import audit
from storage.approvals import Approval, ApprovalState

Who = Callable[[str], str]
"""How a face names a person by id."""


def word(approval: Approval) -> Text:
    """The card's word."""
    return say(_of(approval).word)


def person(approval: Approval, who: Who) -> Text:
    """The sentence for people; `who` names a person by id."""
    row = _of(approval)
    by: str = who(approval.settled_by) if approval.settled_by else say("endings.somebody")
    if approval.granted is not None and approval.settled_by == audit.SYSTEM:
        first = CATALOGUE[row.person].forms(Language.EN)[0].startswith("{by}")
        by = say("endings.grant_begins") if first else say("endings.grant")
    return say(
        row.person,
        tool=approval.tool,
        by=by,
        note=_note(approval),
        code=say("endings.code", code=approval.exit_code) if approval.exit_code is not None else "",
    )


def model(approval: Approval) -> str:
    """The sentence for the model; of what ran here, without its result."""
    told = _fill(_of(approval).model, approval, lambda id: f"user {id}").rstrip()
    if approval.granted is not None:
        told += " The approval was given before, for exactly this call and for a time; nobody was asked this time."
    return told


def outcome(approval: Approval) -> str:
    """What the model is handed as the call's result when the run goes on."""
    return f"{changes(approval)}{_outcome(approval)}"


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


def too_late(approval: Approval, who: Who) -> Text:
    """What somebody is told whose press came after the decision. A reason is on the card, where it is quoted."""
    bare = replace(approval, note=None) if approval.state is ApprovalState.DENIED else approval
    return say("turns.too_late", sentence=person(bare, who))


def waiting(kinds: Collection[str], where: str = "") -> Text:
    """What a run waits for, in the reply of the turn, as long as the answer may still come there. With no kinds: what a
    grant let through runs.

    `where`: what is said of the card when it is not there.
    """
    if not kinds:
        return say("grants.runs")
    there = where or say("turns.card_below")
    return say("turns.waiting", kinds=_awaited(kinds), where=there, nothing=_nothing_ran(kinds))


def still_waits(kinds: Collection[str]) -> Text:
    """The same when the reply is let go. With no kinds: what was approved is still running."""
    return say("turns.still_waiting", kinds=_awaited(kinds)) if kinds else say("turns.still_running")


def asked(kinds: Collection[str]) -> Text:
    """The whole reply of a turn that may not wait, when its card is up."""
    what = listing(say(_ASKED[kind]) for kind in _present(kinds))
    return say("turns.asked_whole", what=what, nothing=_nothing_ran(kinds))


_ASKED = {
    ToolKind.APPROVAL: key("turns.i_asked"),
    ToolKind.QUESTION: key("turns.i_asked_question"),
    ToolKind.EXTERNAL: key("turns.i_wait_result"),
}
_AWAITED = {
    ToolKind.APPROVAL: key("turns.sign_off"),
    ToolKind.QUESTION: key("turns.your_answer"),
    ToolKind.EXTERNAL: key("turns.result_elsewhere"),
}


def _awaited(kinds: Collection[str]) -> Text:
    return listing(say(_AWAITED[kind]) for kind in _present(kinds))


def _nothing_ran(kinds: Collection[str]) -> str:
    return say("turns.nothing_yet") if ToolKind.APPROVAL in kinds else ""


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
    if approval.state is ApprovalState.INTERRUPTED and approval.note:
        return UNKNOWN
    return ending(approval.kind, approval.state)


def _fill(template: str, approval: Approval, who: Who) -> str:
    by = who(approval.settled_by) if approval.settled_by else "somebody"
    if approval.granted is not None and approval.settled_by == audit.SYSTEM:
        by = "A grant" if template.startswith("{by}") else "a grant"
    return template.format(
        tool=approval.tool,
        by=by,
        note=_note(approval),
        code=f" (exit code {approval.exit_code})" if approval.exit_code is not None else "",
        result=approval.result or "",
    )


def _note(approval: Approval) -> str:
    note = approval.note or ""
    if approval.state in {ApprovalState.DENIED, ApprovalState.CANCELLED}:
        return say("endings.note", note=note) if note else ""
    return note
