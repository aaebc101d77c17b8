"""What a card says of one call beside its arguments: who has approved, what was changed, what came of it.

The words are ours; whatever is filled in may be anybody's and is made inert.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.deferral import sentences
from bot.deferral.amend import differences
from bot.deferral.digest import short
from bot.deferral.tool import ToolKind
from bot.place import channel_of, is_private
from bot.rules import Standing
from bot.surface import CardView
from cogs import grant_words, inert
from cogs.limits import length
from cogs.speech import tell
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from storage.grants import Grant

_CONTEXT = 12
"""Characters of what stayed the same that are shown around a change."""


def sentence(call: Approval, *, limit: int) -> str:
    """What came of it, with how long it took where that is known."""
    note = inert.line(call.note, limit=limit) if call.note else None
    safe = replace(call, tool=inert.label(call.tool, limit=50), note=note)
    told = sentences.person(safe, lambda person: f"<@{person}>")
    if call.kind == ToolKind.QUESTION and call.state is ApprovalState.SUCCEEDED and call.result:
        return f"{told} {inert.line(call.result, limit=limit)}"
    return f"{told}{elapsed(call)}"


def elapsed(call: Approval) -> str:
    """Since when it runs, as a clock that Discord keeps itself, or how long it took; '' if neither is known."""
    if call.started_at is None:
        return ""
    if call.finished_at is not None:
        return f" It took {duration(call.finished_at - call.started_at)}."
    # The latest moment on a card is its deadline, and stays so.
    if call.state is ApprovalState.RUNNING and call.started_at // 1000 < call.expires_at // 1000:
        return f" It began <t:{call.started_at // 1000}:R>."
    return ""


def duration(milliseconds: int) -> str:
    """A span of time in words."""
    seconds = max(0, milliseconds) / 1000
    if seconds < 0.1:
        return "less than 0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
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
    return f"{len(standing.given)} of {needed}" if needed > 1 else ""


def consent(standing: Standing | None, call: Approval, *, most: int) -> list[str]:
    """Who has approved and who is missing; afterwards, who all approved when there were several. `most` are named."""
    if standing is None:
        return []
    given = _some([f"<@{person}>" for person in standing.given], most)
    if call.state is not ApprovalState.PENDING:
        return [f"-# Approved by {given}"] if len(standing.given) > 1 else []
    if not progress(standing, call):
        return []
    lines = [f"Approved by {given}."] if given else []
    named = [f"<@{person}>" for person in standing.open_users] + [f"<@&{role}>" for role in standing.open_roles]
    people = _some(named, most)
    anybody = standing.more - len(standing.roles)
    wanted = [f"one of <@&{role}>" for role in standing.roles[:most]]
    if anybody > 0 and people:
        only_one = anybody == len(named) == 1 and not standing.open_roles
        wanted.append(people if only_one else f"{anybody} of {people}")
    elif anybody > 0:
        wanted.append(f"{anybody} more")
    return [" ".join([*lines, f"Missing: {', and '.join(wanted)}."])]


def granted(grant: Grant | None, call: Approval, *, most: int) -> list[str]:
    """That a grant let the call through, or that one was made with it, and how much of it is left."""
    if grant is None:
        return []
    return [grant_words.on_card(grant, call, _some([f"<@{person}>" for person in grant.makers], most))]


def _some(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def changes(call: Approval, *, limit: int, most: int) -> Iterator[str]:
    """What a person changed in the model's call: `most` arguments, each in a line of about `limit` code units."""
    if call.original is None:
        return
    found = differences(call.original, call.arguments)
    for name, before, after in found[:most]:
        old, new = _around(before or "", after or "", room=max(10, limit // 2 - 30))
        what = "" if len(found) == 1 and len(call.arguments) == 1 else f" {inert.line(name, limit=20)}"
        yield f"✎ <@{call.edited_by}> changed{what} {old} → {new}"
    if len(found) > most:
        yield f"✎ and {len(found) - most} more arguments"


def _around(before: str, after: str, *, room: int) -> tuple[str, str]:
    """The two texts from shortly before they begin to differ, to shortly after."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = max(0, same - _CONTEXT)
    while start < same and length(inert.encode(before[start:same], inert.Form.LINE)) > room // 3:
        start += 1  # what differs is never pushed out by what does not

    def part(text: str) -> str:
        return (
            inert.piece(text, start, min(len(text), len(text) - tail + _CONTEXT), limit=room) if text else "(nothing)"
        )

    return part(before), part(after)


def refusals(view: CardView, *, most: int) -> list[str]:
    """What became of the request's calls before, of the newest `most` of those that were refused or not answered."""
    told = []
    for call in view.earlier[-most:]:
        name = inert.line(call.tool, limit=24)
        denied = call.state is ApprovalState.DENIED
        told.append(f"{name} was denied by <@{call.settled_by}>" if denied else f"nobody answered about {name}")
    more = len(view.earlier) - len(told)
    return [*told[:-1], f"{told[-1]}, and {more} more"] if more else told


def holds_while(call: Approval) -> list[str]:
    """The files that an approval is bound to, each as it is at present."""
    files: Mapping[str, str] = call.bound.get("files", {})
    return [
        f"Counts only while {inert.line(name, limit=60)} stays as it is: {short(mark)}" for name, mark in files.items()
    ]


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
        again = "\n-# Posted once more: the card before this one was deleted." if card.posts else ""
        return f"Expires <t:{seconds}:R>{again}"
    return f"-# Deadline <t:{seconds}:f>"
