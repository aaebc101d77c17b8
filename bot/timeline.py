"""The whole story of one call, in words: `/why` on Discord and `signoff audit show` at the command line.

Drawn from the trail, which is written with the moves it tells of; only reasons and results come from the row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.place import channel_of
from bot.texts.text import every, key, say
from storage import audit
from storage.approvals import Approval, ApprovalState
from storage.audit import AuditEntry
from storage.database import Reader

Quote = Callable[[str], str]
"""How a reader shows words that somebody else chose: what is quoted can be anything."""

_CARD = {"card_posted", "card_not_posted", "card_deleted", "card_shut"}
_TOLD = {"announced", "not_delivered", "way_failed", "left_in_inbox"}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One thing that happened to the call."""

    entry: AuditEntry
    text: str


async def timeline(reader: Reader, call: Approval, *, who: sentences.Who, quote: Quote) -> list[Moment]:
    """Everything that happened to the call, in order: asked, shown, pressed, decided, begun, ended, told."""
    found = await audit.about(reader, approval=call.id, run=call.run)
    return [Moment(entry=entry, text=_text(entry, call, who, quote)) for entry in found if _belongs(entry, call)]


def _belongs(entry: AuditEntry, call: Approval) -> bool:
    """Whether an entry of the call's run is about this call as well."""
    if entry.approval is not None:
        return True
    key = str(entry.detail.get("key", ""))
    if entry.event in _CARD:
        return bool(entry.detail.get("card") == call.card)
    if entry.event in _TOLD:
        return not key.startswith(("remind:", "instead:")) or key.split(":")[1] == call.card
    return entry.event.startswith(("turn_", "job_")) and entry.event.partition("_")[2] in _ENDINGS


_ENDINGS = {"done", "failed", "timed_out", "cancelled", "lost"}


def _text(entry: AuditEntry, call: Approval, who: sentences.Who, quote: Quote) -> str:
    detail, actor = entry.detail, who(entry.actor) if entry.actor != audit.SYSTEM else ""
    if entry.event in _TOLD:
        return _told(entry.event, detail, quote)
    if entry.event in _CARD:
        return _card(entry.event, detail, call, who, quote)
    match entry.event:
        case "asked":
            tool = quote(call.tool)
            why = f": {quote(call.reason)}" if call.reason else ""
            if "replaces" in detail:
                return say("story.asked_again", tool=tool, actor=actor, before=detail["replaces"], why=why)
            return say("story.asked", tool=tool, actor=actor, why=why)
        case "press_refused":
            code = str(detail.get("code", "")).replace("_", " ")
            return say("story.refused", actor=actor or say("story.somebody"), code=code)
        case "edited":
            return say("story.edited", actor=actor, before=detail.get("replaces"))
        case "extended":
            return say("story.extended", actor=actor)
        case "revealed":
            return say("secrets.looked", actor=actor)
        case "undo_began":
            return say("files.story_pressed", actor=actor)
        case "undone" | "undo_failed" | "undo_unknown":
            return say(_UNDO[entry.event])
        case "voted":
            return say("story.voted", actor=actor, verdict=detail.get("verdict"))
        case "run_again":
            return say("story.again", actor=actor)
        case "approved" if "grant" in detail:
            return say("story.grant_before", makers=_makers(detail, who), grant=detail["grant"])
        case "approved":
            return say("story.approved", actor=actor)
        case "grant_made":
            return say("story.grant_made", makers=_makers(detail, who), grant=detail["grant"])
        case "grant_used":
            of = say("story.of", n=detail["of"]) if detail.get("of") else ""
            return say("story.use_counted", use=detail["use"], of=of)
        case "grant_ended":
            ended = key("story.grant_denied") if detail["why"] == "denied" else key("story.grant_revoked")
            return say(ended, actor=actor)
        case "denied":
            return say("story.denied", actor=actor, note=_noted(detail, quote))
        case "expired":
            return say("story.expired")
        case "cancelled":
            return say("story.cancelled", by=_by(actor), note=_noted(detail, quote))
        case "undeliverable":
            return say("story.not_shown", note=_noted(detail, quote))
        case "void":
            return say("story.void", note=_noted(detail, quote))
        case "running":
            return say("story.claimed")
        case "succeeded" | "failed" | "nothing_ran" | "interrupted":
            return _ended(ApprovalState(entry.event), detail, call, actor, quote)
        case event if event.startswith(("turn_", "job_")):
            kind, _, ending = event.partition("_")
            ended = key("story.request_ended") if kind == "turn" else key("story.job_ended")
            return say(ended, how=say(_HOW[ending]) if ending in _HOW else ending.replace("_", " "))
        case event:
            more = f" {quote(json.dumps(detail, ensure_ascii=False))}" if detail else ""
            return say("story.other", event=event.replace("_", " "), by=_by(actor), more=more)


_UNDO = {
    "undone": key("files.story_undone"),
    "undo_failed": key("files.story_unchanged"),
    "undo_unknown": key("files.story_unknown"),
}
_HOW = {
    "done": key("story.done"),
    "failed": key("story.how_failed"),
    "timed_out": key("story.timed_out"),
    "cancelled": key("story.how_cancelled"),
    "lost": key("story.lost"),
}


def _by(actor: str) -> str:
    return say("story.by", actor=actor) if actor else ""


def _makers(detail: dict[str, Any], who: sentences.Who) -> str:
    return every(who(str(person)) for person in detail["makers"])


def _ended(state: ApprovalState, detail: dict[str, Any], call: Approval, actor: str, quote: Quote) -> str:
    code = detail.get("exit_code")
    after = say("story.exit_code", code=code) if code is not None else ""
    if call.kind == ToolKind.QUESTION:
        return say("story.answered", actor=actor)
    if call.kind == ToolKind.EXTERNAL:
        delivered = state is ApprovalState.SUCCEEDED
        return say("story.delivered", by=_by(actor)) if delivered else say("story.reported_failed", by=_by(actor))
    match state:
        case ApprovalState.SUCCEEDED:
            return say("story.ran", after=after)
        case ApprovalState.FAILED:
            return say("story.failed", after=after)
        case ApprovalState.NOTHING_RAN:
            return say("story.nothing_ran", note=f": {quote(call.note)}" if call.note else "")
        case _ if call.note:
            return say("story.unknown", note=quote(call.note))
        case _:
            return say("story.interrupted")


def _card(event: str, detail: dict[str, Any], call: Approval, who: sentences.Who, quote: Quote) -> str:
    """What happened to one copy of its card."""
    place = str(detail.get("place", ""))
    where = ""
    if "person" in detail:
        where = say("story.directly", who=who(str(detail["person"])))
    elif place != call.place:
        where = say("story.in_channel", channel=channel_of(place))
    match event:
        case "card_posted":
            return say("story.card_posted", where=where, message=detail.get("message"))
        case "card_not_posted":
            return say("story.card_failed", where=where, problem=quote(str(detail.get("problem", ""))))
        case "card_deleted":
            return say("story.card_deleted", where=where, message=detail.get("message"))
        case _:
            seen = detail.get("why") == "locked"
            return say("story.card_useless", where=where, why=say("story.locked") if seen else say("story.unseen"))


def _told(event: str, detail: dict[str, Any], quote: Quote) -> str:
    name = str(detail.get("key", ""))
    if name.startswith("instead:"):
        what = say("story.where_instead")
    else:
        what = say("story.reminder") if name.startswith("remind:") else say("story.the_answer")
    way = say("story.by_dm") if name.startswith("dm:") else ""
    problem = f": {quote(str(detail['problem']))}" if detail.get("problem") else ""
    if event == "announced":
        return say("story.said", what=what, way=way, message=detail.get("message"))
    if event == "left_in_inbox":
        return say("story.in_inbox", what=what, problem=problem)
    return say("story.not_said", what=what, way=way, problem=problem)


def _noted(detail: dict[str, Any], quote: Quote) -> str:
    return f": {quote(str(detail['note']))}" if detail.get("note") else ""
