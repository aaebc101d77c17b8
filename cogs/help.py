"""`/help`: what this is, in a few lines."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from cogs.interactions import whisper

HELP = (
    "Tell me what you need: `/ask`, a mention, an answer to one of my messages, or a direct message.\n"
    "I can run commands and Python, read and write files in my workspace, fetch pages, and work in the background.\n"
    "What has consequences does not run by itself: a card shows exactly what would run, and an approver decides."
    " What was approved is what runs, once.\n"
    "`/approvals` what waits for a decision · `/why` the story of one · `/new` begin afresh\n"
    "`/job start` work in the background · `/job list` what is going on · `/inbox` what I could not deliver ·"
    " `/notify` where results go"
)


class Help(commands.Cog):
    """Answers `/help`."""

    @app_commands.command(name="help", description="What I can do, in a few lines.")
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def help(self, interaction: discord.Interaction) -> None:
        """Answer privately."""
        await whisper(interaction, HELP)
