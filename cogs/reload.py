"""`/reload`: the owner has the settings read anew. What changed is told privately; a bad file changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import discord
from discord import app_commands
from discord.ext import commands

from bot.reloading import Reloaded, Reloading
from bot.texts.text import say
from cogs import inert
from cogs.interactions import acknowledge, actor_of, whisper
from cogs.limits import listed
from cogs.speech import offered, shown, tell

NOTHING = say("reloading.unchanged")
KEPT = say("reloading.nonsense")
AGAIN = say("reloading.put_right")


class Reload(commands.Cog):
    """Receives `/reload` and hands it on."""

    def __init__(self, reloading: Reloading) -> None:
        self._reloading = reloading

    @app_commands.command(description=offered("commands.reload"))
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
        return f"{shown(KEPT)}\n{listed(faults)}\n{shown(AGAIN)}"
    lines = list(_lines(done))
    return listed(lines) if lines else shown(NOTHING)


def _lines(done: Reloaded) -> Iterator[str]:
    if done.changed:
        yield tell("reloading.from_now")
        yield from (f"- {inert.line(shown(sentence), limit=300)}" for sentence in done.changed)
    if done.restart:
        yield tell("reloading.restart", names=", ".join(f"`{name}`" for name in done.restart))
