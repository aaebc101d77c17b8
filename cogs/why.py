"""`/why`: the whole story of one request, privately: who asked, who saw it, who pressed, what ran, what was told."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.deferral import sentences
from bot.engine import Engine
from bot.texts.recall import recall
from bot.texts.text import say
from bot.timeline import timeline
from cogs import arguments, card_words, inert, places
from cogs.interactions import acknowledge, place_of, whisper
from cogs.limits import CONTENT, length
from cogs.speech import offered, shown, tell
from cogs.visibility import visible
from storage import approvals
from storage.approvals import Approval

NO_SUCH_REQUEST = say("why.no_such")
_CHOICES = 25
"""Suggestions that Discord takes while somebody types."""
_ROOM = CONTENT - 60


class Why(commands.Cog):
    """Tells what became of a request."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @app_commands.command(description=offered("commands.why"))
    @app_commands.describe(id=offered("commands.why_id"))
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def why(self, interaction: discord.Interaction, id: app_commands.Range[str, 1, 40]) -> None:
        """Tell it privately, and only to who could see the card."""
        await acknowledge(interaction, answer_follows=True)
        reader = self._engine.database.reader
        found = await approvals.find(reader, id.strip())
        seen = [call for call in found if visible(interaction, call.place, requester=call.requester)]
        if len(seen) != 1:
            await whisper(interaction, NO_SUCH_REQUEST)
            return
        moments = await timeline(
            reader, seen[0], who=_who, quote=lambda text: inert.line(shown(recall(text)), limit=120)
        )
        await whisper(
            interaction, _told(seen[0], [f"<t:{one.entry.at // 1000}:T> {shown(one.text)}" for one in moments])
        )

    @why.autocomplete("id")
    async def suggest(self, interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        """The newest requests of this conversation whose id or call contains what was typed so far."""
        conversation = places.conversation(place_of(interaction), interaction.user.id)
        newest = await approvals.newest_in(self._engine.database.reader, conversation, limit=_CHOICES)
        names = {call.id: f"{call.id} {call.tool} {arguments.raw(call.arguments)}" for call in reversed(newest)}
        return [
            app_commands.Choice(name=inert.label(name, limit=100), value=id)
            for id, name in names.items()
            if current.casefold() in name.casefold()
        ]


def _who(person: str) -> str:
    """A trail also has actors that are no people of Discord's: whoever handed in a result."""
    return f"<@{person}>" if person.isdecimal() else inert.line(person, limit=40)


def _told(call: Approval, lines: list[str]) -> str:
    """The story in one message; what does not fit is left out in the middle, and counted."""
    head = f"{inert.line(call.tool, limit=50)} {arguments.first_line(call.arguments, limit=120)} · `{call.id}`"
    head = "\n".join([head, *card_words.network(call)])
    tail = f"**{shown(sentences.word(call))}**: {card_words.sentence(call, limit=150)}"
    room, left_out = _ROOM - length(head) - length(tail), 0
    while lines and sum(length(line) + 1 for line in lines) > room:
        lines.pop(len(lines) // 2)
        left_out += 1
    if left_out:
        lines.insert(len(lines) // 2, tell("why.left_out", n=left_out, id=call.id))
    return "\n".join([head, *lines, tail])
