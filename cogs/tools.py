"""`/tools`: everything that can be done, what policy says of it here and for whoever looks, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.clock import Clock
from bot.deferral.tool import ToolKind
from bot.engine import Engine
from bot.outside import ServerState
from bot.permits import Asking
from bot.texts.recall import recall
from bot.texts.text import say
from bot.toolbook import Toolbook, ToolEntry
from cogs import inert, layout
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import above, acknowledge, actor_of, place_of, roles_of, show_private
from cogs.layout import Item
from cogs.speech import offered, shown, tell

ON_A_PAGE = 4
_SHORT = 160
_REASON = 110
_WHOLE_REASON = 380
"""Room for why something is off, with what to do about it: the first on a page gets it."""
_SERVERS = 3
"""Servers that are named on the first page; what is wrong with one stands beside its tools as well."""
_WORDS = {"allow": say("tools.allowed"), "ask": say("tools.asks"), "refuse": say("tools.refused")}
_WAITS = {ToolKind.QUESTION: say("tools.asks_you"), ToolKind.EXTERNAL: say("tools.waits_elsewhere")}
"""What asks for no sign-off, whatever a rule about it says."""
_PRIVATE_PROBLEM = say("tools.see_why")


class Tools(commands.Cog):
    """Lists tools."""

    def __init__(self, engine: Engine, toolbook: Toolbook, clock: Clock) -> None:
        self._engine = engine
        self._toolbook = toolbook
        self._clock = clock

    @app_commands.command(description=offered("commands.tools"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def tools(self, interaction: discord.Interaction) -> None:
        """List privately, by pages."""
        await acknowledge(interaction, answer_follows=True)
        await self.show(interaction, 0)

    @property
    def off(self) -> tuple[str, ...]:
        """The names of those that are off on this machine."""
        return tuple(name for names in self._toolbook.off().values() for name in names)

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
        await self._toolbook.look_again()
        view = page(
            self._toolbook.entries(asking), self._toolbook.servers(), number, knows=knows, hints=self._toolbook.hints()
        )
        await show_private(interaction, view)


def page(
    entries: Sequence[ToolEntry],
    servers: Sequence[ServerState],
    number: int,
    *,
    knows: bool,
    hints: Sequence[str] = (),
) -> ui.LayoutView:
    """A page of the list. `knows`: whoever looks may learn what is wrong with this machine. `hints` stand at the end of
    the last page. Needs a running loop."""
    pages = max(1, -(-len(entries) // ON_A_PAGE))
    number = min(number, pages - 1)
    items: list[Item] = [layout.text("\n".join(_head(entries, servers, number, pages, knows=knows)))]
    room = _WHOLE_REASON
    for entry in entries[number * ON_A_PAGE : (number + 1) * ON_A_PAGE]:
        items += (layout.rule(), layout.text("\n".join(_lines(entry, knows=knows, reason=room))))
        room = _REASON if entry.broken else room
    if hints and number == pages - 1:
        items += (layout.rule(), layout.text("\n".join(map(shown, hints))))
    turning = [(number - 1, tell("lists.back")), (number, tell("lists.look_again")), (number + 1, tell("lists.next"))]
    buttons = [_button(label, target) for target, label in turning if 0 <= target < pages]
    return layout.build(*items, ui.ActionRow(*buttons))


def _head(
    entries: Sequence[ToolEntry], servers: Sequence[ServerState], number: int, pages: int, *, knows: bool
) -> Iterator[str]:
    """How much there is, and the servers: each one's state stands on the first page."""
    where = tell("tools.page", page=number + 1, pages=pages) if pages > 1 else ""
    yield tell("tools.head", n=len(entries), page=where)
    if number:
        return
    for server in servers[:_SERVERS]:
        changed = [entry.name for entry in entries if entry.server == server.name and entry.changed]
        if not server.connected:
            why = inert.line(shown(server.problem), limit=60) if knows else shown(_PRIVATE_PROBLEM)
            state = tell("tools.lost", why=why)
        elif changed:
            state = tell("tools.connected_changed", n=len(changed))
        else:
            state = tell("tools.connected")
        yield tell("tools.server", name=inert.line(server.name, limit=40), state=state)
    if len(servers) > _SERVERS:
        lost = sum(not server.connected for server in servers)
        yield tell("tools.servers", n=len(servers), lost=lost)


def _lines(entry: ToolEntry, *, knows: bool, reason: int) -> Iterator[str]:
    waits = "" if entry.action == "refuse" else _WAITS.get(entry.kind, "")
    # Never bold: two asterisks in a name would end that, and the code with it.
    yield f"{inert.line(entry.name, limit=64)} · **{shown(waits or _WORDS[entry.action])}**"
    first = next((line for line in entry.description.splitlines() if line.strip()), "")
    if entry.server:
        # The server's own words: nothing in them is ours.
        yield tell(
            "tools.server_says", name=inert.line(entry.server, limit=40), text=inert.line(_described(entry), limit=120)
        )
    elif first:
        yield shown(recall(sentence(first)))
    if not waits:
        yield tell("tools.why", reason=inert.line(shown(entry.why), limit=110))
    if entry.depends:
        yield tell("tools.depends", rule=inert.line(shown(entry.depends), limit=40))
    yield tell("tools.may_touch", what=inert.line(shown(recall(entry.profile)), limit=70))
    if entry.changed:
        yield tell("tools.changed", what=inert.line(shown(entry.changed), limit=90))
    if entry.broken:
        problem = inert.line(shown(entry.broken), limit=reason) if knows else shown(_PRIVATE_PROBLEM)
        yield tell("tools.will_not_run", problem=problem)


def sentence(text: str) -> str:
    """The first sentence: what follows is for the model."""
    first = text.partition(". ")[0].rstrip(".")
    return f"{first}." if len(first) < _SHORT else f"{first[: _SHORT - 1]}…"


def _described(entry: ToolEntry) -> str:
    """What the server says of it, without the mark that the model reads."""
    return entry.description.partition(":] ")[2] or entry.description


def _button(label: str, number: int) -> ui.Button[ui.LayoutView]:
    custom_id = CustomId(verb=Verb.TOOLS_PAGE, id=label.split()[0].lower(), number=number)
    return ui.Button(label=label, style=discord.ButtonStyle.secondary, custom_id=str(custom_id), id=steady(custom_id))
