"""`/grants` as a private list: what runs here without a card to press, on whose word, how long still, and an end to it.

Drawn anew from the rows at each press, for the person who pressed: only what lies in places that they could open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord
from discord import ui

from bot.engine import Engine
from bot.granting import Listed
from bot.place import channel_of, is_private
from cogs import arguments, grant_words, inert, layout
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import actor_of, place_of
from cogs.layout import Item
from cogs.speech import tell
from cogs.visibility import visible
from storage.grants import Grant

ON_A_PAGE = 5
_ARGUMENTS, _LINES = 420, 8
"""Code units and lines for one call's arguments; five of them and all around them stay below Discord's 4,000."""
_NAMED = 4


async def page(engine: Engine, interaction: discord.Interaction, number: int, *, said: str = "") -> ui.LayoutView:
    """The list for whoever acts, with `said` above it. Needs a running loop."""
    found = await engine.granting.listed(str(place_of(interaction)), actor_of(interaction))
    seen = [one for one in found if visible(interaction, one.grant.place, requester=one.grant.requester)]
    pages = max(1, -(-len(seen) // ON_A_PAGE))
    number = min(number, pages - 1)
    return layout.build(*_items(seen, number, pages, said, hidden=len(found) - len(seen)))


def _items(seen: Sequence[Listed], number: int, pages: int, said: str, *, hidden: int) -> Iterator[Item]:
    if said:
        yield layout.text(said)
    shown = seen[number * ON_A_PAGE : (number + 1) * ON_A_PAGE]
    if not shown:
        yield layout.text(tell("grants.empty"))
    for place, one in enumerate(shown):
        if place:
            yield layout.rule()
        yield layout.text(_entry(one.grant))
    notes = [tell("grants.page", page=number + 1, pages=pages, n=len(seen))] if pages > 1 else []
    notes += [tell("grants.unseen", n=hidden)] if hidden else []
    if notes:
        yield layout.text("\n".join(notes))
    mine = [one.grant for one in shown if one.may_revoke]
    if mine:
        yield ui.ActionRow(_picker(mine, number))
    yield ui.ActionRow(*_turning(number, pages))


def _entry(grant: Grant) -> str:
    drawn = arguments.draw(grant.arguments, budget=_ARGUMENTS, lines=_LINES)
    last = grant.last_used_at
    return tell(
        "grants.entry",
        tool=inert.line(grant.tool, limit=40),
        rest=grant_words.remaining(grant),
        requester=f"<@{grant.requester}>",
        where="" if is_private(grant.place) else f" in <#{channel_of(grant.place)}>",
        makers=", ".join(f"<@{person}>" for person in grant.makers[:_NAMED]),
        made=grant.made_at // 1000,
        used=tell("grants.used", n=grant.used),
        last="" if last is None else tell("grants.last_used", at=last // 1000),
        id=grant.id,
        call=drawn.text,
    )


def _picker(grants: Sequence[Grant], number: int) -> ui.Select[ui.LayoutView]:
    options = [
        discord.SelectOption(
            label=inert.label(f"{grant.tool} {arguments.raw(grant.arguments)}", limit=100), value=grant.id
        )
        for grant in grants
    ]
    custom_id = CustomId(verb=Verb.GRANTS_REVOKE, id="pick", number=number)
    return ui.Select(custom_id=str(custom_id), placeholder=tell("grants.revoke"), options=options, id=steady(custom_id))


def _turning(number: int, pages: int) -> Iterator[ui.Button[ui.LayoutView]]:
    if number > 0:
        yield _button(tell("grants.back"), "back", number - 1)
    yield _button(tell("grants.look_again"), "here", number)
    if number + 1 < pages:
        yield _button(tell("grants.next"), "next", number + 1)


def _button(label: str, id: str, number: int) -> ui.Button[ui.LayoutView]:
    custom_id = CustomId(verb=Verb.GRANTS_PAGE, id=id, number=number)
    return ui.Button(label=label, style=discord.ButtonStyle.secondary, custom_id=str(custom_id), id=steady(custom_id))
