"""`/tools`: everything that can be done, what policy says of it here and for whoever looks, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.clock import Clock
from bot.engine import Engine
from bot.outside import ServerState
from bot.permits import Asking
from bot.toolbook import Toolbook, ToolEntry
from cogs import inert, layout
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import above, acknowledge, actor_of, place_of, roles_of, show_private
from cogs.layout import Item

ON_A_PAGE = 4
_SHORT = 160
_SERVERS = 3
"""Servers that are named on the first page; what is wrong with one stands beside its tools as well."""
_WORDS = {"allow": "runs without asking", "ask": "asks first", "refuse": "refused here"}
_PRIVATE_PROBLEM = "an approver sees why in this list"


class Tools(commands.Cog):
    """Lists tools."""

    def __init__(self, engine: Engine, toolbook: Toolbook, clock: Clock) -> None:
        self._engine = engine
        self._toolbook = toolbook
        self._clock = clock

    @app_commands.command(description="What I can do here: what asks first, what does not, and why.")
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def tools(self, interaction: discord.Interaction) -> None:
        """List privately, by pages."""
        await acknowledge(interaction, answer_follows=True)
        await self.show(interaction, 0)

    async def show(self, interaction: discord.Interaction, number: int) -> None:
        """Put a page of the list, as things are now, where the acknowledged answer is to be."""
        place = place_of(interaction)
        asking = Asking(
            requester=str(interaction.user.id),
            place=str(place),
            now=self._clock.now(),
            within=above(interaction.channel),
            roles=roles_of(interaction.user, place.guild),
        )
        authority, actor = self._engine.authority, actor_of(interaction)
        knows = actor.id in authority.owners or authority.is_approver(actor, str(place), within=asking.within)
        view = page(self._toolbook.entries(asking), self._toolbook.servers(), number, knows=knows)
        await show_private(interaction, view)


def page(entries: Sequence[ToolEntry], servers: Sequence[ServerState], number: int, *, knows: bool) -> ui.LayoutView:
    """A page of the list. `knows`: whoever looks may learn what is wrong with this machine. Needs a running loop."""
    pages = max(1, -(-len(entries) // ON_A_PAGE))
    number = min(number, pages - 1)
    items: list[Item] = [layout.text("\n".join(_head(entries, servers, number, pages, knows=knows)))]
    for entry in entries[number * ON_A_PAGE : (number + 1) * ON_A_PAGE]:
        items += (layout.rule(), layout.text("\n".join(_lines(entry, knows=knows))))
    turning = [(number - 1, "Back"), (number, "Look again"), (number + 1, "Next")]
    buttons = [_button(label, target) for target, label in turning if 0 <= target < pages]
    return layout.build(*items, ui.ActionRow(*buttons))


def _head(
    entries: Sequence[ToolEntry], servers: Sequence[ServerState], number: int, pages: int, *, knows: bool
) -> Iterator[str]:
    """How much there is, and the servers: each one's state stands on the first page."""
    where = f", page {number + 1} of {pages}" if pages > 1 else ""
    yield f"### {len(entries)} tools{where}\n-# What follows holds for you, in this place, at this moment."
    if number:
        return
    for server in servers[:_SERVERS]:
        changed = [entry.name for entry in entries if entry.server == server.name and entry.changed]
        if not server.connected:
            why = inert.line(server.problem, limit=60) if knows else _PRIVATE_PROBLEM
            state = f"lost ({why}); I keep trying to reach it"
        elif changed:
            state = f"connected; {len(changed)} of its tools changed since they were taken for good"
        else:
            state = "connected"
        yield f"MCP server {inert.line(server.name, limit=40)}: {state}."
    if len(servers) > _SERVERS:
        lost = sum(not server.connected for server in servers)
        yield f"-# {len(servers)} servers in all, {lost} of them lost."


def _lines(entry: ToolEntry, *, knows: bool) -> Iterator[str]:
    # Never bold: two asterisks in a name would end that, and the code with it.
    yield f"{inert.line(entry.name, limit=64)} · **{_WORDS[entry.action]}**"
    first = next((line for line in entry.description.splitlines() if line.strip()), "")
    if entry.server:
        # The server's own words: nothing in them is ours.
        yield f"The MCP server {inert.line(entry.server, limit=40)} says: {inert.line(_described(entry), limit=120)}"
    elif first:
        yield _sentence(first)
    yield f"-# Why: {inert.line(entry.why, limit=110)}"
    if entry.depends:
        yield f"-# For some arguments {inert.line(entry.depends, limit=40)} decides instead."
    yield f"-# May touch: {inert.line(entry.profile, limit=70)}"
    if entry.changed:
        yield f"⚠ It is not what it was: {inert.line(entry.changed, limit=90)}. It asks until a call is approved."
    if entry.broken:
        problem = inert.line(entry.broken, limit=110) if knows else _PRIVATE_PROBLEM
        yield f"⚠ It will not run at this moment: {problem}"


def _sentence(text: str) -> str:
    """The first sentence: what follows is for the model."""
    first = text.partition(". ")[0].rstrip(".")
    return f"{first}." if len(first) < _SHORT else f"{first[: _SHORT - 1]}…"


def _described(entry: ToolEntry) -> str:
    """What the server says of it, without the mark that the model reads."""
    return entry.description.partition(":] ")[2] or entry.description


def _button(label: str, number: int) -> ui.Button[ui.LayoutView]:
    custom_id = CustomId(verb=Verb.TOOLS_PAGE, id=label.split()[0].lower(), number=number)
    return ui.Button(label=label, style=discord.ButtonStyle.secondary, custom_id=str(custom_id), id=steady(custom_id))
