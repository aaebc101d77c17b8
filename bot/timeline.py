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
                return f"{tool} was asked again for {actor}, in place of `{detail['replaces']}`{why}"
            return f"{tool} was asked for {actor}{why}"
        case "press_refused":
            return f"{actor or 'Somebody'} tried, and was refused: {str(detail.get('code', '')).replace('_', ' ')}"
        case "edited":
            return f"{actor} changed what would run; what was asked before is `{detail.get('replaces')}`"
        case "extended":
            return f"{actor} put its deadline off"
        case "voted":
            return f"{actor} voted: {detail.get('verdict')}"
        case "run_again":
            return f"{actor} asked for it once more, as another request"
        case "approved" if "grant" in detail:
            return f"{_makers(detail, who)} had allowed exactly this call before (grant `{detail['grant']}`)"
        case "approved":
            return f"{actor} approved it"
        case "grant_made":
            return f"{_makers(detail, who)} allowed the very call from then on (grant `{detail['grant']}`)"
        case "grant_used":
            of = f" of {detail['of']}" if detail.get("of") else ""
            return f"Use {detail['use']}{of} of the grant was counted"
        case "grant_ended":
            return (
                f"{actor} {'denied a call like it, which ended' if detail['why'] == 'denied' else 'revoked'} its grant"
            )
        case "denied":
            return f"{actor} denied it{_noted(detail, quote)}"
        case "expired":
            return "Its time ran out, and nobody had decided"
        case "cancelled":
            return f"It was cancelled{f' by {actor}' if actor else ''}{_noted(detail, quote)}"
        case "undeliverable":
            return f"It could not be shown to anybody{_noted(detail, quote)}"
        case "void":
            return f"It became void{_noted(detail, quote)}"
        case "running":
            return "It was claimed, and the tool began"
        case "succeeded" | "failed" | "nothing_ran" | "interrupted":
            return _ended(ApprovalState(entry.event), detail, call, actor, quote)
        case event if event.startswith(("turn_", "job_")):
            kind, _, ending = event.partition("_")
            return f"The {'request' if kind == 'turn' else 'job'} ended: {ending.replace('_', ' ')}"
        case event:
            more = f" {quote(json.dumps(detail, ensure_ascii=False))}" if detail else ""
            return f"{event.replace('_', ' ')}{f' by {actor}' if actor else ''}{more}"


def _makers(detail: dict[str, Any], who: sentences.Who) -> str:
    return " and ".join(who(str(person)) for person in detail["makers"])


def _ended(state: ApprovalState, detail: dict[str, Any], call: Approval, actor: str, quote: Quote) -> str:
    code = detail.get("exit_code")
    after = f", exit code {code}" if code is not None else ""
    if call.kind == ToolKind.QUESTION:
        return f"{actor} answered"
    if call.kind == ToolKind.EXTERNAL:
        by = f" by {actor}" if actor else ""
        return f"Its result was delivered{by}" if state is ApprovalState.SUCCEEDED else f"It was reported as failed{by}"
    match state:
        case ApprovalState.SUCCEEDED:
            return f"It ran to its end{after}"
        case ApprovalState.FAILED:
            return f"It ran and failed{after}"
        case ApprovalState.NOTHING_RAN:
            return f"It could not start, so nothing ran{f': {quote(call.note)}' if call.note else ''}"
        case _:
            return "The program stopped while it ran; nobody knows how far it got"


def _card(event: str, detail: dict[str, Any], call: Approval, who: sentences.Who, quote: Quote) -> str:
    """What happened to one copy of its card."""
    place = str(detail.get("place", ""))
    where = ""
    if "person" in detail:
        where = f" directly to {who(str(detail['person']))}"
    elif place != call.place:
        where = f" in channel {channel_of(place)}"
    match event:
        case "card_posted":
            return f"The card was posted{where}, as message {detail.get('message')}"
        case "card_not_posted":
            return f"The card could not be posted{where}: {quote(str(detail.get('problem', '')))}"
        case "card_deleted":
            return f"Somebody deleted the card{where}, message {detail.get('message')}"
        case _:
            seen = detail.get("why") == "locked"
            return f"The card{where} helped nobody any more: " + (
                "its thread was locked" if seen else "nobody who may decide can see it"
            )


def _told(event: str, detail: dict[str, Any], quote: Quote) -> str:
    key = str(detail.get("key", ""))
    if key.startswith("instead:"):
        what = "Where the card is instead"
    else:
        what = "A reminder" if key.startswith("remind:") else "The answer"
    way = " by direct message" if key.startswith("dm:") else ""
    problem = f": {quote(str(detail['problem']))}" if detail.get("problem") else ""
    if event == "announced":
        return f"{what} was said{way}, as message {detail.get('message')}"
    if event == "left_in_inbox":
        return f"{what} could not be said anywhere, and lies in the inbox{problem}"
    return f"{what} could not be said{way}{problem}"


def _noted(detail: dict[str, Any], quote: Quote) -> str:
    return f": {quote(str(detail['note']))}" if detail.get("note") else ""
