"""`/approvals`: what waits for a decision, over all channels of the guild, decided from the list."""

from __future__ import annotations

from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from cogs.approval_list import Leaf, Show, page
from cogs.interactions import acknowledge, show_private

Choice = Literal["mine", "team", "all"]


class Approvals(commands.Cog):
    """Lists open requests."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @app_commands.command(description="What waits for a decision in this server; decide it right from the list.")
    @app_commands.describe(
        show="mine: what I asked for. team: what others asked for and I may decide. all: whatever I can see."
    )
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def approvals(self, interaction: discord.Interaction, show: Choice | None = None) -> None:
        """List privately, oldest first, only what the person could see by themselves."""
        await acknowledge(interaction, answer_follows=True)
        leaf = Leaf(show=Show(show) if show is not None else Show.CONCERNS_ME)
        await show_private(interaction, await page(self._engine, interaction, leaf))
