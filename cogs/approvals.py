"""`/approvals`: what waits for a decision here, with links to the cards that decide it; one's own can be cancelled."""

from __future__ import annotations

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.decisions import waits_for
from bot.deferral import sentences
from bot.deferral.authority import Act
from bot.deferral.tool import ToolKind
from bot.engine import Engine
from cogs import arguments, inert
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import acknowledge, place_of, whisper
from cogs.limits import CONTENT, length
from cogs.surface import DiscordSurface
from cogs.visibility import visible
from storage.approvals import Approval

_OPTION, _OPTIONS = 100, 25
"""Characters of an option, and options of a select (Discord API, components)."""

NOTHING = "Nothing waits for a decision here."
_ROOM = CONTENT - 200


class Approvals(commands.Cog):
    """Lists open requests."""

    def __init__(self, engine: Engine, surface: DiscordSurface) -> None:
        self._engine = engine
        self._surface = surface

    @app_commands.command(description="What waits for a decision here, with links to the cards.")
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def approvals(self, interaction: discord.Interaction) -> None:
        """List privately, oldest first, only what the person could see by themselves."""
        await acknowledge(interaction, answer_follows=True)
        place = place_of(interaction)
        space = f"discord/{place.space}/" if place.guild is not None else str(place)
        found = await self._engine.open_approvals(space)
        seen = [one for one in found if visible(interaction, one.call.place, requester=one.call.requester)]
        entries = [self._entry(one.call, one.message) for one in seen]
        text = listed(entries, unseen=len(found) - len(seen) if place.guild is not None else 0)
        own = [one.call for one in seen if one.call.requester == str(interaction.user.id)]
        await whisper(interaction, text, view=_cancelling([call for call in own if waits_for(Act.CANCEL, call)]))

    def _entry(self, call: Approval, message: str | None) -> str:
        link = self._surface.link(call.place, message)
        what = "Question" if call.kind == ToolKind.QUESTION else inert.line(call.tool, limit=40)
        return (
            f"- [{sentences.word(call)}]({link}) · {what} {arguments.first_line(call.arguments, limit=80)}\n"
            f"  asked by <@{call.requester}>, expires <t:{call.expires_at // 1000}:R> · `{call.id}`"
        )


def _cancelling(own: list[Approval]) -> ui.View | None:
    """A list to pick from what a person asked for and can still take back; None if there is nothing."""
    if not own:
        return None
    options = [
        discord.SelectOption(
            label=inert.label(call.tool, limit=_OPTION),
            description=inert.label(arguments.plain_line(call.arguments), limit=_OPTION),
            value=call.id,
        )
        for call in own[:_OPTIONS]
    ]
    view = ui.View(timeout=None)
    view.add_item(
        ui.Select(
            custom_id=str(CustomId(verb=Verb.PICK_CANCEL, id="mine")),
            placeholder="Cancel one of your own…",
            options=options,
        )
    )
    view.stop()  # a finished view is sent but not stored: picks come to `Presses`, like all presses
    return view


def listed(entries: list[str], *, unseen: int) -> str:
    """The list in one message; what does not fit, or may not be seen, is counted."""
    shown: list[str] = []
    room = _ROOM
    for entry in entries:
        room -= length(entry) + 1
        if room < 0:
            break
        shown.append(entry)
    if not shown:
        shown.append(NOTHING)
    if len(shown) < len(entries):
        shown.append(f"-# and {len(entries) - len(shown)} more")
    if unseen:
        shown.append(f"-# {unseen} more in channels that you cannot open")
    return "\n".join(shown)
