"""`/drill`: finds out who really can decide. Its card looks like a request, says that it is none, and runs nothing."""

from __future__ import annotations

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.drills import Drills, DrillView, took
from cogs import layout, posting
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import above, acknowledge, actor_of, place_of, whisper
from cogs.layout import Item
from cogs.limits import nonce
from cogs.posting import Post

STARTED = "The drill begins. Its card is in this channel, and so will be the report, <t:{ends}:R> at the latest."
COUNTED = "Your press counts: it took {took}. This is a drill, so nothing ran."
_NAMED = 15
_MOST_PINGS = 100


class Drill(commands.Cog):
    """Starts drills."""

    def __init__(self, drills: Drills) -> None:
        self._drills = drills

    @app_commands.command(description="Ask everybody who decides here to press once: who can, and how fast?")
    @app_commands.describe(minutes="How long it goes on, if not everybody has pressed before: 10 unless you say.")
    @app_commands.guild_only()
    @app_commands.allowed_installs(guilds=True, users=False)
    async def drill(self, interaction: discord.Interaction, minutes: app_commands.Range[int, 1, 1440] = 10) -> None:
        """Start one. Raises `DecisionRefused`, which the command tree tells."""
        await acknowledge(interaction, answer_follows=True)
        drill = await self._drills.start(
            actor_of(interaction),
            place=str(place_of(interaction)),
            within=above(interaction.channel),
            minutes=minutes,
            manages=interaction.permissions.manage_guild,
        )
        await whisper(interaction, STARTED.format(ends=drill.ends_at // 1000))

    async def pressed(self, interaction: discord.Interaction, id: str) -> None:
        """Somebody pressed. Raises `DecisionRefused`."""
        await acknowledge(interaction, answer_follows=True)
        milliseconds = await self._drills.press(id, actor_of(interaction))
        await whisper(interaction, COUNTED.format(took=f"{milliseconds / 1000:.0f} s"))


def render(view: DrillView) -> ui.LayoutView:
    """A drill's card. Needs a running loop."""
    drill, over = view.drill, view.drill.ended_at is not None
    pressed = [one for one in view.people if one.pressed_at is not None]
    named = [f"<@{one.person}>" for one in view.people if one.named] + [f"<@&{role}>" for role in drill.roles]
    head = f"### Drill · {'over' if over else 'waiting for presses'}\nStarted by <@{drill.started_by}>, for " + (
        ", ".join(named[:_NAMED]) + (f" and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    )
    text = "This is a drill. **Approve** runs nothing: it finds out who can decide here, and how fast."
    lines = [f"- <@{one.person}> after {took(drill, one)}" for one in pressed[:_NAMED]] or ["Nobody has pressed yet."]
    if len(pressed) > _NAMED:
        lines.append(f"-# and {len(pressed) - _NAMED} more")
    items: list[Item] = [layout.text(head), layout.text(text), layout.text("\n".join(lines))]
    if not over:
        items.append(layout.text(f"It ends <t:{drill.ends_at // 1000}:R>."))
        custom_id = CustomId(verb=Verb.DRILL, id=drill.id)
        items.append(
            ui.ActionRow(ui.Button(label="Approve", style=discord.ButtonStyle.success, custom_id=str(custom_id)))
        )
    return layout.build(ui.Container(*items, accent_colour=0x80848E if over else 0x5865F2))


def post(view: DrillView, *, person: str | None = None) -> Post:
    """The card as a new message, which notifies exactly those whom it is for."""
    drill = view.drill
    users = [one.person for one in view.people if one.named] if person is None else []
    return Post(
        nonce=nonce(f"drill/{drill.id}/{person or ''}"),
        view=render(view),
        mentions=posting.mentions(users[:_MOST_PINGS], drill.roles[:_MOST_PINGS] if person is None else ()),
    )
