"""Background commands in the private list of what goes on: what runs, where, since when, and a button to stop it."""

from __future__ import annotations

import discord
from discord import ui

from bot.commands import Commands
from bot.errors import UnknownApproval
from bot.texts.text import say
from bot.toolbox.command_files import Command
from cogs import inert, places
from cogs.custom_ids import CustomId, Verb, steady
from cogs.interactions import acknowledge, actor_of, whisper
from cogs.speech import tell
from cogs.visibility import visible

_SHOWN = 100
"""Characters of a command."""
_MOST = 25
"""Buttons that a message takes."""


async def seen(interaction: discord.Interaction, commands: Commands | None) -> list[Command]:
    """Those that run, as far as the person who asks may learn of them."""
    running = await commands.running() if commands is not None else []
    return [one for one in running if visible(interaction, one.place, requester=one.requester)][:_MOST]


def lines(commands: list[Command]) -> list[str]:
    """What to say of them; nothing if there are none."""
    return [tell("jobs.commands"), *map(_line, commands)] if commands else []


def _line(command: Command) -> str:
    where = places.parse(command.place)
    return tell(
        "jobs.command",
        id=command.id,
        line=inert.line(command.command, limit=_SHOWN),
        who=f"<@{command.requester}>",
        where=f"<#{where.channel}>" if where.guild is not None else tell("jobs.direct_messages"),
        when=f"<t:{command.started_at // 1000}:R>",
    )


def buttons(commands: list[Command]) -> ui.View | None:
    """A button to stop each; None if there are none. Needs a running loop."""
    if not commands:
        return None
    view = ui.View(timeout=None)
    for command in commands:
        custom_id = CustomId(verb=Verb.COMMAND_STOP, id=command.id)
        label = tell("jobs.stop_command", id=command.id)
        view.add_item(
            ui.Button(label=label, style=discord.ButtonStyle.secondary, custom_id=str(custom_id), id=steady(custom_id))
        )
    view.stop()  # presses come to `Presses`, also after a restart
    return view


async def stop(interaction: discord.Interaction, id: str, message: discord.Message, commands: Commands | None) -> None:
    """Stop one, and say so privately. Raises `DecisionRefused`."""
    await acknowledge(interaction, answer_follows=True)
    if commands is None or not message.flags.ephemeral:
        raise UnknownApproval("unknown", say("jobs.no_command"))
    ended = await commands.stop(id, actor_of(interaction))
    await whisper(interaction, tell("jobs.command_stopped", id=ended.id))
