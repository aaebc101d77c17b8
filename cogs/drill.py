"""`/drill`: finds out who really can decide. Its card looks like a request, says that it is none, and runs nothing."""

from __future__ import annotations

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.drills import Drills, DrillView, took
from bot.texts.text import some
from cogs import layout, posting
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import above, acknowledge, actor_of, place_of, whisper
from cogs.layout import Item
from cogs.limits import nonce
from cogs.posting import Post
from cogs.speech import offered, shown, tell

_NAMED = 15
_MOST_PINGS = 100


class Drill(commands.Cog):
    """Starts drills."""

    def __init__(self, drills: Drills) -> None:
        self._drills = drills

    @app_commands.command(description=offered("commands.drill"))
    @app_commands.describe(minutes=offered("commands.drill_minutes"))
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
        await whisper(interaction, tell("drills.begins", ends=drill.ends_at // 1000))

    async def pressed(self, interaction: discord.Interaction, id: str) -> None:
        """Somebody pressed. Raises `DecisionRefused`."""
        await acknowledge(interaction, answer_follows=True)
        milliseconds = await self._drills.press(id, actor_of(interaction))
        await whisper(interaction, tell("drills.counted", took=f"{milliseconds / 1000:.0f} s"))


def render(view: DrillView) -> ui.LayoutView:
    """A drill's card. Needs a running loop."""
    drill, over = view.drill, view.drill.ended_at is not None
    pressed = [one for one in view.people if one.pressed_at is not None]
    named = [f"<@{one.person}>" for one in view.people if one.named] + [f"<@&{role}>" for role in drill.roles]
    who = shown(some(named, _NAMED))
    state = tell("drills.over") if over else tell("drills.waiting")
    head = tell("drills.head", state=state, person=drill.started_by, who=who)
    text = tell("drills.what_it_is")
    lines = [tell("drills.pressed", person=one.person, took=took(drill, one)) for one in pressed[:_NAMED]] or [
        tell("drills.nobody_yet")
    ]
    if len(pressed) > _NAMED:
        lines.append(tell("words.more", n=len(pressed) - _NAMED))
    items: list[Item] = [layout.text(head), layout.text(text), layout.text("\n".join(lines))]
    if not over:
        items.append(layout.text(tell("drills.ends", ends=drill.ends_at // 1000)))
        custom_id = CustomId(verb=Verb.DRILL, id=drill.id)
        items.append(
            ui.ActionRow(
                ui.Button(label=tell("cards.approve"), style=discord.ButtonStyle.success, custom_id=str(custom_id))
            )
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
