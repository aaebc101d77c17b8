"""How a card looks: a pure function of its rows.

The order is that of a decision: what would run, for whom, why it asks, what it may touch, until when, then the
buttons. The first paragraph alone says tool, call, requester and id, because a push preview and some clients show
no more. When a call has been settled, the question gives way to the answer.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import discord
from discord import ui

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from bot.texts.recall import recall
from bot.texts.text import key
from cogs import arguments, card_buttons, card_words, inert, layout, lookalikes, results, reveal, schedule_words
from cogs.layout import Item
from cogs.limits import BUTTON_LABEL, COMPONENTS, length
from cogs.speech import shown, tell
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
_TIGHT = 5
"""So many calls on one card leave no component to spare."""


@dataclass(frozen=True, kw_only=True)
class _Room:
    """Code units for the parts of one call; all calls and the paragraphs around them stay below Discord's 4,000."""

    arguments: int
    lines: int
    small: int
    remarks: int
    note: int
    names: int
    """People, and changed arguments, that are named one by one."""


_ALONE = _Room(arguments=2_500, lines=40, small=200, remarks=420, note=150, names=6)
_BESIDE = {
    count: _Room(arguments=3_300 // count - 440, lines=60 // count, small=80, remarks=110, note=40, names=names)
    for count, names in ((2, 2), (3, 2), (4, 1), (5, 1))
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
    results: Attachment | None = None
    """Comes with the edit that shows what came of its calls, and stays."""

    @property
    def files(self) -> list[discord.File]:
        """Every file, made anew: one that was sent cannot be sent again."""
        return [one.file() for one in (self.attachment, self.results) if one is not None]


def render(view: CardView, *, attached: bool = True, with_results: bool = True) -> Rendered:
    """The card as a message. Needs a running loop.

    `attached`: the file with the whole call is there, or can be sent along; without it a call that does not fit
    cannot be approved from this card. `with_results`: likewise the file with long results.
    """
    room = _ALONE if len(view.approvals) == 1 else _BESIDE[len(view.approvals)]
    rows = [_Row(call, room, view, attached=attached) for call in view.approvals]
    attachment = _attachment(view) if any(row.drawn.hidden for row in rows) else None
    file: list[Item] = []
    if attachment is not None:
        file.append(ui.File(f"attachment://{attachment.name}") if attached else layout.text(tell("cards.not_attached")))
    found = _results(view)
    sent = with_results and found is not None and len(found.content.encode()) <= results.LARGEST
    if found is not None:
        file.append(ui.File(f"attachment://{found.name}") if sent else layout.text(tell("cards.result_not_attached")))
    names = _named(view)
    # Five calls with all their buttons leave no component to spare: then the names stand in the first paragraph.
    apart = names if len(rows) < _TIGHT else ""
    head = "" if apart else names
    items = _alone(view, rows[0], file) if len(rows) == 1 else _together(view, rows, file, head, named=bool(apart))
    container: ui.Container[ui.LayoutView] = ui.Container(*items, accent_colour=_colour(view.approvals))
    return Rendered(
        view=layout.build(*([layout.text(apart)] if apart else []), container),
        attachment=attachment if attached else None,
        results=found if sent else None,
    )


class _Row:
    """One call on a card."""

    def __init__(self, call: Approval, room: _Room, view: CardView, *, attached: bool) -> None:
        self.call = call
        standing = view.standings.get(call.id)
        self._progress = card_words.progress(standing, call)
        # Never left out, so it takes its room from the arguments.
        self._first = [
            *card_words.network(call),
            *card_words.sends(call, limit=room.small, most=3 * room.names),
            *card_words.consent(standing, call, most=room.names),
            *card_words.changes(call, limit=room.remarks, most=room.names),
            *card_words.granted(view.grants.get(call.id), call, most=room.names),
        ]
        budget = room.arguments - length("\n".join(self._first))
        self.drawn = arguments.draw(shown_arguments(call), budget=budget, lines=room.lines)
        self.pending = call.state is ApprovalState.PENDING
        self.can_approve = self.pending and call.kind == ToolKind.APPROVAL and (attached or not self.drawn.hidden)
        self._room = room
        self._profile = card_words.profile(view, call)
        self._changed = view.changed.get(call.id, ())
        self._earlier = [tell("cards.earlier", said=said) for said in card_words.refusals(view, most=1)]
        self._job = view.job
        self._schedule = view.schedule
        self._elsewhere = card_words.elsewhere(view.card, call)
        self._undo = view.undos.get(call.id)

    @property
    def title(self) -> str:
        """The tool and the state."""
        what = tell("cards.question") if self.call.kind == ToolKind.QUESTION else inert.line(self.call.tool, limit=50)
        return f"{what} · {shown(sentences.word(self.call))}" + (f", {self._progress}" if self._progress else "")

    @property
    def requester(self) -> str:
        """Who asked, or was asked."""
        asked = key("cards.asked_of") if self.call.kind == ToolKind.QUESTION else key("cards.asked_by")
        who = tell(asked, person=self.call.requester, where=self._elsewhere)
        if self._job is None:
            return who
        by = "" if self._schedule is None else tell("cards.of_schedule", schedule=schedule_words.named(self._schedule))
        return tell("cards.for_job", who=who, job=self._job, by=by)

    def circumstances(self) -> list[str]:
        """While it waits, what helps to decide; afterwards, what came of it."""
        call, room = self.call, self._room
        if not self.pending:
            return [card_words.sentence(call, limit=room.note), *card_words.undone(self._undo, call), *self._first]
        if call.kind == ToolKind.QUESTION:
            return []
        if call.kind == ToolKind.EXTERNAL:
            key = [tell("cards.key", key=inert.line(call.reason, limit=room.small))] if call.reason else []
            return [*key, tell("cards.resolve", id=call.id)]
        news = (
            tell("cards.asked_again", change=inert.line(shown(recall(change)), limit=room.remarks - 30))
            for change in self._changed
        )
        remarks = (f"⚠ {remark}" for remark in lookalikes.remarks(arguments.raw(call.arguments)))
        covered = [tell("secrets.masked", n=count)] if (count := reveal.hides(call)) else []
        told = (
            *covered,
            *card_words.read_before(call, most=3),
            *card_words.secrets_of(call),
            *card_words.holds_while(call),
        )
        bound = (f"-# {line}" for line in told)
        lines = [*self._first, *_within(room.remarks, (*self._earlier, *news, *remarks, *bound))]
        lines.append(tell("cards.why", reason=inert.line(card_words.reason(call), limit=room.small)))
        if self._profile:
            lines.append(tell("cards.may_touch", what=inert.line(shown(recall(self._profile)), limit=room.small)))
        if self.drawn.hidden:
            lines.append(tell("cards.size", n=self.drawn.size, digest=inert.line(call.digest[:12])))
        return lines

    def buttons(self, choices: int) -> Iterator[card_buttons.Button]:
        """What can be pressed behind its text."""
        return card_buttons.of_call(
            self.call,
            can_approve=self.can_approve,
            unseen=bool(self.drawn.hidden),
            choices=choices,
            undoable=self._undo is not None and self._undo.possible,
        )


def _alone(view: CardView, row: _Row, file: list[Item]) -> Iterator[Item]:
    yield layout.text(f"### {row.title}\n{row.requester} · `{row.call.id}`\n{row.drawn.text}")
    yield from file
    told = [*row.circumstances(), *results.ends(row.call)]
    yield layout.text("\n".join([*told, card_words.deadline([row.call], view.card)]))
    # Whoever allows a call from now on has to have seen it whole.
    grantable = row.call.id in view.grantable and row.can_approve and not row.drawn.hidden
    whole = card_buttons.of_card(view.card, view.approvals, can_approve=False, unseen=False, grantable=grantable)
    yield from card_buttons.in_rows(chain(row.buttons(card_buttons.CHOICES), whole))


def _together(view: CardView, rows: list[_Row], file: list[Item], head: str, *, named: bool) -> Iterator[Item]:
    """Each call with its own buttons, then those for all. What Discord's 40 components leave no room for is left out:
    lines between the calls first, then the last of the buttons for all."""
    texts = list(_texts(view.card.root, rows))
    texts[0] = f"{head}\n{texts[0]}" if head else texts[0]
    deadline = card_words.deadline(view.approvals, view.card)
    if len(rows) >= _TIGHT:
        texts[-1] += f"\n{deadline}"
    buttons = [list(card_buttons.in_rows(row.buttons(card_buttons.CHOICES_BESIDE))) for row in rows]
    whole = [layout.text(deadline)] if len(rows) < _TIGHT else []
    fixed = 1 + named + len(texts) + sum(map(_count, [*chain(*buttons), *file, *whole]))
    asks = [row for row in rows if row.pending and row.call.kind == ToolKind.APPROVAL]
    below = card_buttons.of_card(
        view.card,
        view.approvals,
        can_approve=all(row.can_approve for row in asks),
        unseen=any(row.drawn.hidden for row in asks),
    )
    last = list(card_buttons.in_rows(islice(below, max(0, COMPONENTS - fixed - 1))))
    ruled = fixed + sum(map(_count, last)) + len(rows) - 1 <= COMPONENTS
    for number, text in enumerate(texts):
        if number and ruled:
            yield layout.rule()
        yield layout.text(text)
        yield from buttons[number]
    yield from (*file, *whole, *last)


def _texts(card: str, rows: list[_Row]) -> Iterator[str]:
    before: list[str] = []
    for number, row in enumerate(rows, start=1):
        head = tell("cards.calls", n=len(rows), requester=row.requester, card=card) if number == 1 else ""
        circumstances = row.circumstances()
        # Reason and profile are mostly those of the call above; a warning is never left out.
        news = [line for line in circumstances if line not in before or not line.startswith("-# ")]
        before = circumstances
        yield head + "\n".join([f"**{number}.** {row.title} · `{row.call.id}`", row.drawn.text, *news])


def _count(item: Item) -> int:
    return 1 + len(item.children) if isinstance(item, ui.ActionRow) else 1


def shown_arguments(call: Approval) -> dict[str, object]:
    """The arguments, and what the call would change as far as its tool can tell.

    A question's choices are on its buttons, so they are written out only when a button cannot hold them all.
    """
    if call.kind != ToolKind.QUESTION:
        preview = str(call.bound.get("preview", ""))
        # What is no difference is a sentence of ours.
        told = preview if "\n" in preview else shown(recall(preview))
        return {**call.arguments, arguments.CHANGES: told} if preview else call.arguments
    fits = [inert.label(choice) for choice in card_words.choices_of(call)]
    whole = len(fits) <= card_buttons.CHOICES_BESIDE and all(length(label) <= BUTTON_LABEL for label in fits)
    return {name: value for name, value in call.arguments.items() if name != "choices" or (value and not whole)}


def _colour(calls: tuple[Approval, ...]) -> int:
    """That of the call which most needs a look; grey when nothing of note happened."""
    states = [call.state for call in calls]
    for state in (*_MOST_URGENT, ApprovalState.FAILED, ApprovalState.SUCCEEDED):
        if state in states:
            return _COLOURS[state]
    return GREY


def _named(view: CardView) -> str:
    """Whom the card was posted for. They stay as long as anything waits: an edit that took the line away would move
    the buttons up under somebody's finger."""
    if not any(call.state is ApprovalState.PENDING for call in view.approvals):
        return ""
    users = [f"<@{user}>" for user in view.ping]
    roles = [f"<@&{role}>" for role in view.ping_roles]
    return " ".join([*users, *roles][:_PINGS])


def _attachment(view: CardView) -> Attachment:
    if len(view.approvals) == 1:
        call = view.approvals[0]
        return Attachment(name=f"call-{call.id}.txt", content=arguments.whole(shown_arguments(call)))
    parts = (
        f"{inert.label(call.tool)} ({call.id})\n\n{arguments.whole(shown_arguments(call))}" for call in view.approvals
    )
    return Attachment(name=f"calls-{view.card.root}.txt", content="\n\n----\n\n".join(parts))


def _results(view: CardView) -> Attachment | None:
    """The long results, in one file for all calls: a card of five has no room for more."""
    content = results.whole(view.approvals)
    only = view.approvals[0].id if len(view.approvals) == 1 else view.card.root
    return Attachment(name=f"result-{only}.txt", content=content) if content else None


def _within(budget: int, lines: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        budget -= length(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return kept
