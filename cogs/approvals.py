"""`/approvals`: what waits for a decision, over all channels of the guild, decided from the list."""

from __future__ import annotations

from typing import Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from cogs.approval_list import Leaf, Show, page
from cogs.interactions import acknowledge, show_private
from cogs.speech import offered

Choice = Literal["mine", "team", "all"]


class Approvals(commands.Cog):
    """Lists open requests."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @app_commands.command(description=offered("commands.approvals"))
    @app_commands.describe(show=offered("commands.approvals_show"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def approvals(self, interaction: discord.Interaction, show: Choice | None = None) -> None:
        """List privately, oldest first, only what the person could see by themselves."""
        await acknowledge(interaction, answer_follows=True)
        leaf = Leaf(show=Show(show) if show is not None else Show.CONCERNS_ME)
        await show_private(interaction, await page(self._engine, interaction, leaf))
