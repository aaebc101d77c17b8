"""`/approvals`: what waits for a decision here, with links to the cards. Deciding happens on the cards."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.engine import Engine
from cogs import arguments, inert
from cogs.interactions import acknowledge, place_of, whisper
from cogs.limits import CONTENT, length
from cogs.surface import DiscordSurface
from cogs.visibility import visible
from storage.approvals import Approval

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
        await whisper(interaction, listed(entries, unseen=len(found) - len(seen) if place.guild is not None else 0))

    def _entry(self, call: Approval, message: str | None) -> str:
        link = self._surface.link(call.place, message)
        what = "Question" if call.kind == ToolKind.QUESTION else inert.line(call.tool, limit=40)
        return (
            f"- [{sentences.word(call)}]({link}) · {what} {arguments.first_line(call.arguments, limit=80)}\n"
            f"  asked by <@{call.requester}>, expires <t:{call.expires_at // 1000}:R> · `{call.id}`"
        )


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
