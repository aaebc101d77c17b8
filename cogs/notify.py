"""`/notify`: where answers and results go when nobody says, whether they notify, and when they make no sound."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.texts.text import key
from bot.wishes import NONE, UNSET
from cogs.choices import zone_choices
from cogs.interactions import acknowledge, whisper
from cogs.speech import offered, tell

_SAYS = {
    "channel": key("wishes.says_channel"),
    "dm": key("wishes.says_dm"),
    "both": key("wishes.says_both"),
    NONE: key("wishes.says_none"),
    UNSET: key("wishes.says_unset"),
}


class Notifying(commands.Cog):
    """Keeps what people wish."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @app_commands.command(description=offered("wishes.command"))
    @app_commands.describe(
        where=offered("wishes.where"), quiet_hours=offered("wishes.quiet"), timezone=offered("wishes.timezone")
    )
    @app_commands.choices(
        where=[
            app_commands.Choice(name=offered("wishes.in_channel"), value="channel"),
            app_commands.Choice(name=offered("wishes.directly"), value="dm"),
            app_commands.Choice(name=offered("wishes.both"), value="both"),
            app_commands.Choice(name=offered("wishes.none"), value=NONE),
        ]
    )
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def notify(
        self,
        interaction: discord.Interaction,
        where: str | None = None,
        quiet_hours: str | None = None,
        timezone: str | None = None,
    ) -> None:
        """Keep what is given, and say how it stands; with nothing given only that."""
        await acknowledge(interaction, answer_follows=True)
        wishes, person = self._engine.wishes, str(interaction.user.id)
        try:
            if where is None and quiet_hours is None and timezone is None:
                wish = await wishes.of(person)
            else:
                wish = await wishes.change(person, where=where, quiet=quiet_hours, timezone=timezone)
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
            return
        lines = [tell(_SAYS[wish.where])]
        if wish.quiet is not None:
            lines.append(tell("wishes.says_quiet", hours=wish.quiet.hours, timezone=wish.quiet.timezone))
        await whisper(interaction, "\n".join(lines))

    @notify.autocomplete("timezone")
    async def suggest_zone(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        """Time zones whose name contains what was typed so far."""
        return zone_choices(current)
