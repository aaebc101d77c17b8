"""`/policy`: the rules in force in plain sentences, and a draft of others to try on last week and save."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import DecisionRefused
from bot.policy_desk import PolicyDesk
from cogs import policy_views
from cogs.interactions import acknowledge, actor_of, show_private, whisper
from cogs.speech import offered


class Policy(commands.Cog):
    """Shows rules. Who may see them is decided below."""

    def __init__(self, desk: PolicyDesk) -> None:
        self._desk = desk

    @app_commands.command(description=offered("commands.policy"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=False, private_channels=False)
    async def policy(self, interaction: discord.Interaction) -> None:
        """Show the rules privately, with the draft that the person left."""
        await acknowledge(interaction, answer_follows=True)
        try:
            view = await self._desk.look(actor_of(interaction))
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        await show_private(interaction, policy_views.overview(view))
