"""What a grant is for: exactly one call, asked by one person in one place; and why of some calls there can be none.

Nothing is folded and there are no patterns: two calls are the same when every byte is that a person saw on the card
and that decides what happens. Whether a text that is a program does the same thing twice cannot be told
(CVE-2026-22708, GHSA-6j27-pc5c-m8w8, GHSA-9q2p-vc84-2rwm), so such calls are asked about every time. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.deferral.intent import canonical_json
from bot.deferral.references import referred
from bot.deferral.seal import Seal
from bot.deferral.tool import Tool, ToolKind
from bot.interpreters import objection, program_texts, text_in
from bot.texts.text import say
from storage.approvals import Approval
from storage.grants import Grant

_MINUTE_MS = 60_000


class Remember(StrEnum):
    """For how long somebody would allow the very call again, as it is stored with their vote."""

    HALF_HOUR = "30m"
    FIVE_TIMES = "5x"
    """Within a day: what is forgotten must end (threat T56)."""
    UNTIL_REVOKED = "open"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """When a grant ends by itself; None: not for that reason."""

    milliseconds: int | None = None
    uses: int | None = None


TERMS = {
    Remember.HALF_HOUR: Terms(milliseconds=30 * _MINUTE_MS),
    Remember.FIVE_TIMES: Terms(milliseconds=24 * 60 * _MINUTE_MS, uses=5),
    Remember.UNTIL_REVOKED: Terms(),
}


def narrowest(wishes: Iterable[Remember]) -> Terms:
    """What everybody agrees to who has to: the least of each."""
    every = [TERMS[wish] for wish in wishes]
    return Terms(
        milliseconds=min((one.milliseconds for one in every if one.milliseconds is not None), default=None),
        uses=min((one.uses for one in every if one.uses is not None), default=None),
    )


def inexact(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Why a grant for this call could not be exact, as half a sentence about it; None if it can."""
    if tool.kind is not ToolKind.APPROVAL:
        return say("grants.no_consent")
    if why := tool.must_ask(arguments):
        return why
    if tool.preview is not None:
        return say("grants.changes_file")
    if named := referred(arguments):
        return say("grants.secret", name=named[0])
    lists, text = program_texts(tool.schema)
    text = text or text_in(arguments, but=lists)
    if text is not None:
        return say("grants.program", name=text)
    for name in sorted(lists):
        words = arguments.get(name)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return say("grants.unreadable", name=name)
        if (problem := objection(tuple(words))) is not None:
            return say("grants.wrapper", why=problem)
    return None


def mark(
    *,
    tool: str,
    arguments: Mapping[str, Any],
    bound: Mapping[str, Any],
    reason: str,
    requester: str,
    place: str,
    within: str,
) -> str:
    """SHA-256 over everything that a call must be for a grant to hold: what runs, in which surroundings, for whom,
    where, and which rule asked. Calls of one mark differ in nothing but their deadline and their request."""
    whole = {
        "tool": tool,
        "arguments": arguments,
        "bound": bound,
        "reason": reason,
        "requester": requester,
        "place": place,
        "within": within,
    }
    return hashlib.sha256(b"signoff grant v1\0" + canonical_json(whole).encode()).hexdigest()


def mark_of(one: Approval | Grant) -> str:
    """The mark of a call, or of what a grant says that it is for."""
    return mark(
        tool=one.tool,
        arguments=one.arguments,
        bound=one.bound,
        reason=one.reason,
        requester=one.requester,
        place=one.place,
        within=one.within,
    )


def sealed(seal: Seal, grant: Grant) -> str:
    """The seal of a grant as it is now."""
    return seal.grant(grant.id, grant.mark, grant.makers, grant.made_at, grant.expires_at, grant.uses, grant.used)


def used_once_more(seal: Seal, grant: Grant) -> str:
    """The seal that it has after one more use."""
    return sealed(seal, replace(grant, used=grant.used + 1))


def is_genuine(seal: Seal, grant: Grant) -> bool:
    """Whether a grant is what this bot stored, to the last byte that matters."""
    return mark_of(grant) == grant.mark and seal.holds(grant.seal, sealed(seal, grant))
