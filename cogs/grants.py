"""`/grants`: what runs here without a card to press, and an end to it."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from cogs.grant_list import page
from cogs.interactions import acknowledge, show_private
from cogs.speech import offered


class Grants(commands.Cog):
    """Lists grants."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @app_commands.command(description=offered("grants.command"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def grants(self, interaction: discord.Interaction) -> None:
        """List privately, oldest first, only what the person could see by themselves."""
        await acknowledge(interaction, answer_follows=True)
        await show_private(interaction, await page(self._engine, interaction, 0))
