"""`/reload`: the owner has the settings read anew. What changed is told privately; a bad file changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import discord
from discord import app_commands
from discord.ext import commands

from bot.reloading import Reloaded, Reloading
from cogs import inert
from cogs.interactions import acknowledge, actor_of, whisper
from cogs.limits import listed

NOTHING = "Nothing in the settings has changed."
KEPT = "The settings make no sense as they are now, so nothing was changed: the old ones stay."
AGAIN = "Put that right, then `/reload` again."


class Reload(commands.Cog):
    """Receives `/reload` and hands it on."""

    def __init__(self, reloading: Reloading) -> None:
        self._reloading = reloading

    @app_commands.command(description="For the owner: read signoff.toml and .env anew, without a restart.")
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def reload(self, interaction: discord.Interaction) -> None:
        """Have it done, and say what came of it. Raises `DecisionRefused`, which is told by the command tree."""
        await acknowledge(interaction, answer_follows=True)
        await whisper(interaction, told(await self._reloading.reload(actor_of(interaction))))


def told(done: Reloaded) -> str:
    """What came of it, in one message."""
    if done.problem:
        faults = [f"- {inert.line(line, limit=300)}" for line in done.problem.splitlines()]
        return f"{KEPT}\n{listed(faults)}\n{AGAIN}"
    lines = list(_lines(done))
    return listed(lines) if lines else NOTHING


def _lines(done: Reloaded) -> Iterator[str]:
    if done.changed:
        yield "From now on:"
        yield from (f"- {inert.line(sentence, limit=300)}" for sentence in done.changed)
    if done.restart:
        yield f"Takes a restart: {', '.join(f'`{name}`' for name in done.restart)}."
