"""`/settings`: where a server's cards and answers go, which model, how much a day; a draft, seen before it is saved."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import DecisionRefused
from bot.settings_desk import SettingsDesk
from cogs import settings_views
from cogs.interactions import acknowledge, actor_of, show_private, whisper
from cogs.speech import offered


class ServerSettings(commands.Cog):
    """Shows settings. Who may see them is decided below."""

    def __init__(self, desk: SettingsDesk) -> None:
        self._desk = desk

    @app_commands.command(description=offered("settings.command"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=False, private_channels=False)
    async def settings(self, interaction: discord.Interaction) -> None:
        """Show the settings privately, with the draft that the person left."""
        await acknowledge(interaction, answer_follows=True)
        try:
            view = await self._desk.look(actor_of(interaction))
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        await show_private(interaction, settings_views.overview(view, interaction.client))
