"""`/approvals` as a private list that decides: what is open in this guild, who it waits for, and buttons beside each.

The list is drawn anew from the rows at each press, for the person who pressed, with what they may do at that moment. A
press goes the way of a press on the card; only the card's message is not known to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import discord
from discord import ui

from bot.decisions import waits_for
from bot.deferral import sentences
from bot.deferral.authority import Act, Authority
from bot.deferral.tool import ToolKind
from bot.engine import Engine
from bot.errors import DecisionRefused, Unreachable
from bot.surface import Actor
from bot.texts.text import say
from cogs import arguments, inert, layout, places
from cogs.cards import shown_arguments
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import actor_of, place_of
from cogs.layout import Item
from cogs.speech import shown, tell
from cogs.visibility import visible
from storage.approvals import Approval, ApprovalState
from storage.open_calls import OpenCall

ON_A_PAGE = 4
_ARGUMENTS, _LINES = 420, 8
"""Code units and lines for one call's arguments; four of them and all around them stay below Discord's 4,000."""

_GREEN, _RED, _GREY = discord.ButtonStyle.success, discord.ButtonStyle.danger, discord.ButtonStyle.secondary


class Show(StrEnum):
    """Which of the open requests."""

    CONCERNS_ME = "what concerns me"
    """What I may decide and what I asked for."""
    MINE = "mine"
    """What I asked for."""
    TEAM = "team"
    """What others asked for and I may decide."""
    ALL = "all"
    """Whatever is open and I can see."""


_EMPTY = {
    Show.CONCERNS_ME: say("lists.empty_concerns"),
    Show.MINE: say("lists.empty_mine"),
    Show.TEAM: say("lists.empty_team"),
    Show.ALL: say("lists.empty_all"),
}


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """Where in which list somebody is; goes into the numbers of its buttons."""

    show: Show = Show.CONCERNS_ME
    page: int = 0

    @property
    def number(self) -> int:
        """See `read`."""
        return list(Show).index(self.show) + len(Show) * self.page

    @classmethod
    def read(cls, number: int) -> Leaf:
        """What a button's number says."""
        return cls(show=list(Show)[number % len(Show)], page=min(number // len(Show), 1_000))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """One open call, and what the reader may do about it."""

    call: Approval
    place: str
    """Where its card is."""
    message: str | None
    may_decide: bool
    own: bool


async def page(engine: Engine, interaction: discord.Interaction, leaf: Leaf, *, said: str = "") -> ui.LayoutView:
    """The list for whoever acts, with `said` above it. Needs a running loop."""
    place = place_of(interaction)
    space = f"discord/{place.space}/" if place.guild is not None else str(place)
    found = await engine.open_approvals(space)
    seen = [one for one in found if visible(interaction, one.call.place, requester=one.call.requester)]
    actor = actor_of(interaction)
    every = [_entry(engine.authority, actor, one) for one in seen]
    chosen = [entry for entry in every if _belongs(entry, leaf.show)]
    return _drawn(
        chosen,
        leaf,
        said=said,
        others=len(every) - len(chosen),
        unseen=len(found) - len(seen) if place.guild is not None else 0,
    )


def _entry(authority: Authority, actor: Actor, one: OpenCall) -> _Entry:
    asks = one.call.kind == ToolKind.APPROVAL and one.call.state is ApprovalState.PENDING
    own = one.call.requester == actor.id
    may_decide = asks and _may(authority, actor, one.call)
    return _Entry(call=one.call, place=one.place, message=one.message, may_decide=may_decide, own=own)


def _may(authority: Authority, actor: Actor, call: Approval) -> bool:
    try:
        authority.permit(Act.APPROVE, call, actor)
    except DecisionRefused:
        return False
    return True


def _belongs(entry: _Entry, show: Show) -> bool:
    match show:
        case Show.MINE:
            return entry.own
        case Show.TEAM:
            return entry.may_decide and not entry.own
        case Show.CONCERNS_ME:
            return entry.own or entry.may_decide
        case Show.ALL:
            return True


def _drawn(entries: Sequence[_Entry], leaf: Leaf, *, said: str, others: int, unseen: int) -> ui.LayoutView:
    pages = max(1, -(-len(entries) // ON_A_PAGE))
    leaf = Leaf(show=leaf.show, page=min(leaf.page, pages - 1))
    on_page = entries[leaf.page * ON_A_PAGE : (leaf.page + 1) * ON_A_PAGE]
    items: list[Item] = [layout.text(said)] if said else []
    if not on_page:
        items.append(layout.text(shown(_EMPTY[leaf.show])))
    for number, entry in enumerate(on_page):
        if number:
            items.append(layout.rule())
        items += _row(entry, leaf)
    notes = []
    if pages > 1:
        notes.append(tell("lists.page", page=leaf.page + 1, pages=pages, requests=len(entries)))
    if others:
        notes.append(tell("lists.others", n=others))
    if unseen:
        notes.append(tell("lists.unseen", n=unseen))
    if notes:
        items.append(layout.text("\n".join(f"-# {note}" for note in notes)))
    items.append(ui.ActionRow(*_turning(leaf, pages)))
    return layout.build(*items)


def _row(entry: _Entry, leaf: Leaf) -> Iterator[Item]:
    call = entry.call
    drawn = arguments.draw(shown_arguments(call), budget=_ARGUMENTS, lines=_LINES)
    try:
        link = places.link(places.parse(entry.place), entry.message)
    except Unreachable:
        link = ""
    what = tell("cards.question") if call.kind == ToolKind.QUESTION else inert.line(call.tool, limit=40)
    # No link by a name: a `](` in the call's text, even as code, would be taken for its end, and lead elsewhere.
    state = f"{shown(sentences.word(call))} · {link}" if link else shown(sentences.word(call))
    asked = tell("lists.you") if entry.own else f"<@{call.requester}>"
    yield layout.text(
        tell(
            "lists.row",
            what=what,
            state=state,
            asked=asked,
            expires=call.expires_at // 1000,
            id=call.id,
            call=drawn.text,
        )
    )
    buttons = list(_buttons(entry, leaf, whole=not drawn.hidden))
    if buttons:
        yield ui.ActionRow(*buttons)


def _buttons(entry: _Entry, leaf: Leaf, *, whole: bool) -> Iterator[ui.Button[ui.LayoutView]]:
    call = entry.call
    if entry.may_decide:
        approve = Verb.LIST_APPROVE if whole else Verb.LIST_APPROVE_UNSEEN
        yield _button(tell("cards.approve"), _GREEN, approve, call.id, leaf)
        yield _button(tell("cards.deny"), _RED, Verb.LIST_DENY, call.id, leaf)
    if entry.own and waits_for(Act.CANCEL, call):
        yield _button(tell("cards.cancel"), _GREY, Verb.LIST_CANCEL, call.id, leaf)
    yield _button(tell("cards.details"), _GREY, Verb.LIST_DETAILS, call.id, leaf)


def _turning(leaf: Leaf, pages: int) -> Iterator[ui.Button[ui.LayoutView]]:
    if leaf.page > 0:
        yield _button(tell("lists.back"), _GREY, Verb.LIST_PAGE, "back", Leaf(show=leaf.show, page=leaf.page - 1))
    yield _button(tell("lists.look_again"), _GREY, Verb.LIST_PAGE, "here", leaf)
    if leaf.page + 1 < pages:
        yield _button(tell("lists.next"), _GREY, Verb.LIST_PAGE, "next", Leaf(show=leaf.show, page=leaf.page + 1))


def _button(label: str, style: discord.ButtonStyle, verb: Verb, id: str, leaf: Leaf) -> ui.Button[ui.LayoutView]:
    custom_id = CustomId(verb=verb, id=id, number=leaf.number)
    return ui.Button(label=label, style=style, custom_id=str(custom_id), id=steady(custom_id))
