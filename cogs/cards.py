"""How a card looks: a pure function of its rows.

The order is that of a decision: what would run, for whom, why it asks, what it may touch, until when, then the
buttons. The first paragraph alone says tool, call, requester and id, because a push preview and some clients show
no more. When a call has been settled, the question gives way to the answer.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import discord
from discord import ui

from bot.deferral import sentences
from bot.deferral.digest import short
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from cogs import arguments, inert, layout, lookalikes
from cogs.custom_ids import CustomId, Verb
from cogs.layout import Item
from cogs.limits import BUTTON_LABEL, BUTTONS_IN_ROW, length
from storage.approvals import Approval, ApprovalState

AMBER, BLUE, GREEN, RED, GREY = 0xE8A33D, 0x5865F2, 0x3BA55C, 0xD83C3E, 0x80848E

_COLOURS = {
    ApprovalState.PENDING: AMBER,
    ApprovalState.APPROVED: BLUE,
    ApprovalState.RUNNING: BLUE,
    ApprovalState.SUCCEEDED: GREEN,
    ApprovalState.FAILED: RED,
    ApprovalState.INTERRUPTED: RED,
}
_MOST_URGENT = (ApprovalState.PENDING, ApprovalState.RUNNING, ApprovalState.APPROVED, ApprovalState.INTERRUPTED)
_PINGS = 12
"""People and roles named above a card; everybody else finds it in `/approvals`."""
_CHOICES = 10
_CHOICES_BESIDE = 3
"""A question's choices on a card of several calls: with its two other buttons they fill one row."""

CHANGES = "what it changes"
"""What a card calls the text in which a tool shows that. No tool that does has an argument of this name."""


@dataclass(frozen=True, kw_only=True)
class _Room:
    """Code units for the parts of one call; all calls and the paragraphs around them stay below Discord's 4,000."""

    arguments: int
    lines: int
    small: int
    remarks: int
    note: int


_ALONE = _Room(arguments=2_500, lines=40, small=200, remarks=420, note=150)
_BESIDE = {
    count: _Room(arguments=3_300 // count - 440, lines=60 // count, small=80, remarks=110, note=40)
    for count in range(2, 6)
}


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file that belongs to a card."""

    name: str
    content: str

    def file(self) -> discord.File:
        """A fresh one for every attempt: a file object can be read only once."""
        return discord.File(io.BytesIO(self.content.encode()), filename=self.name)


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A card ready to send."""

    view: ui.LayoutView
    attachment: Attachment | None
    """Goes along when the message is created; an edit keeps it."""


def render(view: CardView, *, posting: bool, attached: bool = True) -> Rendered:
    """The card as a message. Needs a running loop.

    `posting`: it is new, so the people to notify are named. `attached`: the file with the whole call is there, or
    can be sent along; without it a call that does not fit cannot be approved from this card.
    """
    room = _ALONE if len(view.approvals) == 1 else _BESIDE[len(view.approvals)]
    rows = [_Row(call, room, view, attached=attached) for call in view.approvals]
    attachment = _attachment(view) if any(row.drawn.hidden for row in rows) else None
    file: list[Item] = []
    if attachment is not None:
        file.append(
            ui.File(f"attachment://{attachment.name}")
            if attached
            else layout.text("-# The whole call could not be attached, so it cannot be approved from this card.")
        )
    items = _alone(rows[0], file) if len(rows) == 1 else _together(view.card.id, rows, file)
    container: ui.Container[ui.LayoutView] = ui.Container(*items, accent_colour=_colour(view.approvals))
    names = _named(view) if posting else ""
    return Rendered(
        view=layout.build(*([layout.text(names)] if names else []), container),
        attachment=attachment if attached else None,
    )


class _Row:
    """One call on a card."""

    def __init__(self, call: Approval, room: _Room, view: CardView, *, attached: bool) -> None:
        self.call = call
        self.drawn = arguments.draw(_shown_arguments(call), budget=room.arguments, lines=room.lines)
        self.pending = call.state is ApprovalState.PENDING
        self.can_approve = self.pending and call.kind == ToolKind.APPROVAL and (attached or not self.drawn.hidden)
        self._room = room
        self._profile = view.profiles.get(call.tool, "")
        self._changed = view.changed.get(call.id, ())
        self._earlier = [f"-# Earlier in this request: {said}" for said in refusals(view, most=1)]
        self._job = view.job

    @property
    def title(self) -> str:
        """The tool and the state."""
        what = "Question" if self.call.kind == ToolKind.QUESTION else inert.line(self.call.tool, limit=50)
        return f"{what} · {sentences.word(self.call)}"

    @property
    def requester(self) -> str:
        """Who asked, or was asked."""
        who = f"Asked {'of' if self.call.kind == ToolKind.QUESTION else 'by'} <@{self.call.requester}>"
        return who if self._job is None else f"{who}, for job `{self._job}`"

    def circumstances(self) -> list[str]:
        """While it waits, what helps to decide; afterwards, what came of it."""
        call, room = self.call, self._room
        if not self.pending:
            return [sentence(call, limit=room.note)]
        if call.kind == ToolKind.QUESTION:
            return []
        if call.kind == ToolKind.EXTERNAL:
            key = [f"-# Its key there: {inert.line(call.reason, limit=room.small)}"] if call.reason else []
            return [*key, f"-# Its result is handed in with `signoff resolve {call.id}`"]
        news = (f"⚠ Asked again: {inert.line(change, limit=room.remarks - 30)}" for change in self._changed)
        remarks = (f"⚠ {remark}" for remark in lookalikes.remarks(arguments.raw(call.arguments)))
        lines = _within(room.remarks, (*self._earlier, *news, *remarks, *(f"-# {line}" for line in holds_while(call))))
        lines.append(f"-# Why it asks: {inert.line(call.reason, limit=room.small)}")
        if self._profile:
            lines.append(f"-# May touch: {inert.line(self._profile, limit=room.small)}")
        if self.drawn.hidden:
            lines.append(f"-# {self.drawn.size:,} characters in all, digest {inert.line(call.digest[:12])}")
        return lines

    def buttons(self, choices: int) -> Iterator[ui.Button[ui.LayoutView]]:
        """What can be pressed, as things stand."""
        id = self.call.id
        if self.can_approve:
            verb = Verb.APPROVE_UNSEEN if self.drawn.hidden else Verb.APPROVE
            yield _button("Approve", discord.ButtonStyle.success, verb, id)
        if self.pending and self.call.kind == ToolKind.APPROVAL:
            yield _button("Deny", discord.ButtonStyle.danger, Verb.DENY, id)
        if self.pending and self.call.kind == ToolKind.QUESTION:
            for number, choice in enumerate(choices_of(self.call)[:choices]):
                name = inert.label(choice, limit=BUTTON_LABEL)
                yield _button(name, discord.ButtonStyle.primary, Verb.CHOICE, id, number)
            yield _button("Answer…", discord.ButtonStyle.secondary, Verb.ANSWER, id)
        yield _button("Details", discord.ButtonStyle.secondary, Verb.DETAILS, id)


def _alone(row: _Row, file: list[Item]) -> Iterator[Item]:
    yield layout.text(f"### {row.title}\n{row.requester} · `{row.call.id}`\n{row.drawn.text}")
    yield from file
    yield layout.text("\n".join([*row.circumstances(), _deadline([row.call])]))
    yield from _in_rows(row.buttons(_CHOICES))


def _together(card: str, rows: list[_Row], file: list[Item]) -> Iterator[Item]:
    before: list[str] = []
    ruled = all(row.call.kind != ToolKind.QUESTION for row in rows)
    for number, row in enumerate(rows, start=1):
        if number > 1 and ruled:
            yield layout.rule()
        head = f"### {len(rows)} calls\n{row.requester} · `{card}`\n\n" if number == 1 else ""
        circumstances = row.circumstances()
        # Reason and profile are mostly those of the call above; a warning is never left out.
        news = [line for line in circumstances if line not in before or not line.startswith("-# ")]
        before = circumstances
        yield layout.text(head + "\n".join([f"**{number}.** {row.title} · `{row.call.id}`", row.drawn.text, *news]))
        yield from _in_rows(row.buttons(_CHOICES_BESIDE))
    yield from file
    yield layout.text(_deadline([row.call for row in rows]))
    waiting = [row for row in rows if row.pending and row.call.kind == ToolKind.APPROVAL]
    if len(waiting) > 1:
        unseen = any(row.drawn.hidden for row in waiting)
        every = Verb.ALL_APPROVE_UNSEEN if unseen else Verb.ALL_APPROVE
        both = [_button("Deny all", discord.ButtonStyle.danger, Verb.ALL_DENY, card)]
        if all(row.can_approve for row in waiting):
            both.insert(0, _button("Approve all", discord.ButtonStyle.success, every, card))
        yield from _in_rows(both)


def _in_rows(buttons: Iterable[ui.Button[ui.LayoutView]]) -> Iterator[Item]:
    every = list(buttons)
    for start in range(0, len(every), BUTTONS_IN_ROW):
        yield ui.ActionRow(*every[start : start + BUTTONS_IN_ROW])


def _button(
    label: str, style: discord.ButtonStyle, verb: Verb, id: str, number: int | None = None
) -> ui.Button[ui.LayoutView]:
    return ui.Button(label=label, style=style, custom_id=str(CustomId(verb=verb, id=id, number=number)))


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


def choices_of(call: Approval) -> list[str]:
    """A question's choices, in order."""
    return [str(choice) for choice in call.arguments.get("choices") or []]


def _shown_arguments(call: Approval) -> dict[str, object]:
    """The arguments, and what the call would change as far as its tool can tell.

    A question's choices are on its buttons, so they are written out only when a button cannot hold them all.
    """
    if call.kind != ToolKind.QUESTION:
        preview = call.bound.get("preview")
        return {**call.arguments, CHANGES: preview} if preview else call.arguments
    fits = [inert.label(choice) for choice in choices_of(call)]
    whole = len(fits) <= _CHOICES_BESIDE and all(length(label) <= BUTTON_LABEL for label in fits)
    return {name: value for name, value in call.arguments.items() if name != "choices" or (value and not whole)}


def sentence(call: Approval, *, limit: int) -> str:
    """What came of it. The table's words are ours; what is filled in may be anybody's, so it is made inert."""
    note = inert.line(call.note, limit=limit) if call.note else None
    safe = replace(call, tool=inert.label(call.tool, limit=50), note=note)
    told = sentences.person(safe, lambda person: f"<@{person}>")
    if call.kind == ToolKind.QUESTION and call.state is ApprovalState.SUCCEEDED and call.result:
        return f"{told} {inert.line(call.result, limit=limit)}"
    return told


def _deadline(calls: list[Approval]) -> str:
    """The latest moment on the card is always the deadline: others can rely on that (design, section 8)."""
    seconds = max(call.expires_at for call in calls) // 1000
    if any(call.state is ApprovalState.PENDING for call in calls):
        return f"Expires <t:{seconds}:R>"
    return f"-# Deadline <t:{seconds}:f>"


def _colour(calls: tuple[Approval, ...]) -> int:
    """That of the call which most needs a look; grey when nothing of note happened."""
    states = [call.state for call in calls]
    for state in (*_MOST_URGENT, ApprovalState.FAILED, ApprovalState.SUCCEEDED):
        if state in states:
            return _COLOURS[state]
    return GREY


def _named(view: CardView) -> str:
    users = [f"<@{user}>" for user in view.ping]
    roles = [f"<@&{role}>" for role in view.ping_roles]
    return " ".join([*users, *roles][:_PINGS])


def _attachment(view: CardView) -> Attachment:
    if len(view.approvals) == 1:
        call = view.approvals[0]
        return Attachment(name=f"call-{call.id}.txt", content=arguments.whole(_shown_arguments(call)))
    parts = (
        f"{inert.label(call.tool)} ({call.id})\n\n{arguments.whole(_shown_arguments(call))}" for call in view.approvals
    )
    return Attachment(name=f"calls-{view.card.id}.txt", content="\n\n----\n\n".join(parts))


def _within(budget: int, lines: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        budget -= length(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return kept
