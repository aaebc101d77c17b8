"""What a card says of one call beside its arguments: who has approved, what was changed, what came of it.

The words are ours; whatever is filled in may be anybody's and is made inert.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.deferral import sentences
from bot.deferral.amend import differences
from bot.deferral.digest import short
from bot.deferral.tool import ToolKind
from bot.place import channel_of, is_private
from bot.rules import Standing
from bot.surface import CardView
from bot.texts.recall import recall
from bot.texts.text import also, key, say, some
from cogs import grant_words, inert
from cogs.limits import length
from cogs.speech import shown, tell
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from storage.grants import Grant
from storage.undo import Undo, UndoState

_MARK = 16
"""Characters of a hash, for people to compare; the whole of it is bound."""
_CONTEXT = 12
"""Characters of what stayed the same that are shown around a change."""


def sentence(call: Approval, *, limit: int) -> str:
    """What came of it, with how long it took where that is known."""
    note = inert.line(noted(call), limit=limit) if call.note else None
    safe = replace(call, tool=inert.label(call.tool, limit=50), note=note)
    told = shown(sentences.person(safe, lambda person: f"<@{person}>"))
    if call.kind == ToolKind.QUESTION and call.state is ApprovalState.SUCCEEDED and call.result:
        return f"{told} {inert.line(call.result, limit=limit)}"
    return f"{told}{elapsed(call)}"


def noted(call: Approval) -> str:
    """What was noted about how it ended. A denial's note is what a person wrote, and stays so."""
    note = call.note or ""
    return note if call.state is ApprovalState.DENIED else shown(recall(note))


def reason(call: Approval) -> str:
    """Why it asks."""
    return shown(recall(call.reason))


def elapsed(call: Approval) -> str:
    """Since when it runs, as a clock that Discord keeps itself, or how long it took; '' if neither is known."""
    if call.started_at is None:
        return ""
    if call.finished_at is not None:
        return tell("cards.took", time=duration(call.finished_at - call.started_at))
    # The latest moment on a card is its deadline, and stays so.
    if call.state is ApprovalState.RUNNING and call.started_at // 1000 < call.expires_at // 1000:
        return tell("cards.began", at=call.started_at // 1000)
    return ""


def duration(milliseconds: int) -> str:
    """A span of time in words."""
    seconds = max(0, milliseconds) / 1000
    if seconds < 0.1:
        return tell("cards.less")
    if seconds < 10:
        return tell("cards.seconds", seconds=seconds)
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def progress(standing: Standing | None, call: Approval) -> str:
    """`1 of 2` while more than one has to approve, else ''."""
    if standing is None or call.state is not ApprovalState.PENDING:
        return ""
    needed = len(standing.given) + standing.more
    return tell("cards.of", given=len(standing.given), needed=needed) if needed > 1 else ""


_UNDONE = {
    UndoState.UNDOING: key("files.card_undoing"),
    UndoState.UNDONE: key("files.card_undone"),
    UndoState.UNKNOWN: key("files.card_unknown"),
}


def undone(undo: Undo | None, call: Approval) -> list[str]:
    """Who has taken back what it wrote, and when, if somebody has."""
    if undo is None or undo.at is None or undo.state is UndoState.KEPT:
        return []
    # The latest moment on a card is its deadline, and stays so.
    early = undo.at // 1000 < call.expires_at // 1000
    at = f"<t:{undo.at // 1000}:f>" if early else f"{datetime.fromtimestamp(undo.at / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    removed = undo.state is UndoState.UNDONE and undo.before is None
    return [tell(key("files.card_removed") if removed else _UNDONE[undo.state], person=undo.by, at=at)]


def consent(standing: Standing | None, call: Approval, *, most: int) -> list[str]:
    """Who has approved and who is missing; afterwards, who all approved when there were several. `most` are named."""
    if standing is None:
        return []
    given = some([f"<@{person}>" for person in standing.given], most)
    if call.state is not ApprovalState.PENDING:
        return [tell("cards.approved_by_small", names=given)] if len(standing.given) > 1 else []
    if not progress(standing, call):
        return []
    lines = [tell("cards.approved_by", names=given)] if given else []
    named = [f"<@{person}>" for person in standing.open_users] + [f"<@&{role}>" for role in standing.open_roles]
    people = some(named, most)
    anybody = standing.more - len(standing.roles)
    wanted: list[str] = [tell("cards.one_of_role", role=role) for role in standing.roles[:most]]
    if anybody > 0 and people:
        only_one = anybody == len(named) == 1 and not standing.open_roles
        wanted.append(people if only_one else say("authority.some_of", n=anybody, names=people))
    elif anybody > 0:
        wanted.append(tell("cards.more", n=anybody))
    return [" ".join([*lines, tell("cards.missing", wanted=also(wanted))])]


def granted(grant: Grant | None, call: Approval, *, most: int) -> list[str]:
    """That a grant let the call through, or that one was made with it, and how much of it is left."""
    if grant is None:
        return []
    return [grant_words.on_card(grant, call, some([f"<@{person}>" for person in grant.makers], most))]


def changes(call: Approval, *, limit: int, most: int) -> Iterator[str]:
    """What a person changed in the model's call: `most` arguments, each in a line of about `limit` code units."""
    if call.original is None:
        return
    found = differences(call.original, call.arguments)
    for name, before, after in found[:most]:
        old, new = _around(before or "", after or "", room=max(10, limit // 2 - 30))
        what = "" if len(found) == 1 and len(call.arguments) == 1 else f" {inert.line(name, limit=20)}"
        yield tell("cards.changed_by", person=call.edited_by, what=what, before=old, after=new)
    if len(found) > most:
        yield tell("cards.more_arguments", n=len(found) - most)


def _around(before: str, after: str, *, room: int) -> tuple[str, str]:
    """The two texts from shortly before they begin to differ, to shortly after."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = max(0, same - _CONTEXT)
    if start and (blank := before.find(" ", start, same)) >= 0:
        start = blank + 1  # at the beginning of a word
    while start < same and length(inert.encode(before[start:same], inert.Form.LINE)) > room // 3:
        start += 1  # what differs is never pushed out by what does not

    def part(text: str) -> str:
        return (
            inert.piece(text, start, min(len(text), len(text) - tail + _CONTEXT), limit=room)
            if text
            else tell("cards.blank")
        )

    return part(before), part(after)


def refusals(view: CardView, *, most: int) -> list[str]:
    """What became of the request's calls before, of the newest `most` of those that were refused or not answered."""
    told = []
    for call in view.earlier[-most:]:
        name = inert.line(call.tool, limit=24)
        denied = call.state is ApprovalState.DENIED
        told.append(
            tell("cards.was_denied", name=name, person=call.settled_by)
            if denied
            else tell("cards.unanswered", name=name)
        )
    more = len(view.earlier) - len(told)
    return [*told[:-1], tell("cards.and_more", said=told[-1], n=more)] if more else told


def holds_while(call: Approval) -> list[str]:
    """The files that an approval is bound to, each as it is at present."""
    files: Mapping[str, str] = call.bound.get("files", {})
    return [
        tell("cards.holds_while", name=inert.line(name, limit=60), mark=short(mark)) for name, mark in files.items()
    ]


def read_before(call: Approval, *, most: int) -> list[str]:
    """What the model had read from outside when it proposed the call, the newest `most` first."""
    names = [inert.line(name, limit=50) for name in reversed(call.sources)]
    if not names:
        return []
    if len(names) <= most:
        return [tell("cards.read_before", names=", ".join(names))]
    return [tell("cards.read_much_before", names=", ".join(names[:most]), n=len(names) - most)]


def sends(call: Approval, *, limit: int, most: int) -> list[str]:
    """What would go out, and to whom, in a line: each part in `limit` code units at most, of headers `most` are named.

    The whole of it stands in the arguments.
    """
    out: Mapping[str, Any] = call.bound.get("sends", {})
    if not out:
        return []
    method, host = inert.line(str(out["method"])), inert.line(str(out["host"]), limit=limit)
    parts = [tell("cards.sends", method=method, host=host, path=inert.line(str(out["path"]), limit=limit))]
    if names := some([inert.line(str(name), limit=limit) for name in out["headers"]], most):
        parts.append(tell("cards.sends_headers", names=names))
    digest = inert.line(str(out["sha256"])[:_MARK])
    parts.append(
        tell("cards.sends_body", n=out["bytes"], digest=digest) if out["bytes"] else tell("cards.sends_nothing")
    )
    return [" · ".join(parts)]


def network(call: Approval) -> list[str]:
    """That it has the machine's network, and which rule says so; nothing for one that has none."""
    rule = str(call.bound.get("network", ""))
    return [tell("cards.network", rule=inert.line(rule, limit=60))] if rule else []


def profile(view: CardView, call: Approval) -> str:
    """What it may touch, as it was bound where that is not what its tool mostly may."""
    return str(call.bound["profile"]) if call.bound.get("network") else view.profiles.get(call.tool, "")


def secrets_of(call: Approval) -> list[str]:
    """The secrets that it refers to. Their values are on no card."""
    secrets: Mapping[str, str] = call.bound.get("secrets", {})
    return [
        tell("secrets.used", name=inert.line(name, limit=40), what=inert.line(what, limit=60))
        for name, what in secrets.items()
    ]


def choices_of(call: Approval) -> list[str]:
    """A question's choices, in order."""
    return [str(choice) for choice in call.arguments.get("choices") or []]


def elsewhere(card: Card, call: Approval) -> str:
    """Where it was asked, when that is not where the card is."""
    return "" if card.place in {"", call.place} or is_private(call.place) else f" in <#{channel_of(call.place)}>"


def deadline(calls: Sequence[Approval], card: Card) -> str:
    """The latest moment on the card is always the deadline: others can rely on that (design, section 8)."""
    seconds = max(call.expires_at for call in calls) // 1000
    if any(call.state is ApprovalState.PENDING for call in calls):
        again = tell("cards.posted_again") if card.posts else ""
        return tell("cards.expires", at=seconds, again=again)
    return tell("cards.deadline", at=seconds)
