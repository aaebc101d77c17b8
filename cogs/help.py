"""`/help`: what this is and how it is used, by topic, privately."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.texts.text import say
from cogs import inert
from cogs.custom_ids import CustomId, Verb
from cogs.help_texts import NAMES, TEXTS, Topic
from cogs.interactions import whisper
from cogs.limits import CONTENT, listed
from cogs.speech import described, offered, shown, tell
from cogs.tools import Tools

HELP = say("help.first", text=TEXTS[Topic.START])
"""What somebody is told who said nothing else to the bot."""

_MOST_OFF = 6
"""Tools that are named as being off."""


class Help(commands.Cog):
    """Answers `/help`."""

    def __init__(self, bot: commands.Bot, tools: Tools) -> None:
        self._bot = bot
        self._tools = tools

    @app_commands.command(name="help", description=offered("commands.help"))
    @app_commands.describe(topic=offered("commands.help_topic"))
    @app_commands.choices(topic=[app_commands.Choice(name=offered(NAMES[one]), value=one.value) for one in Topic])
    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    async def help(self, interaction: discord.Interaction, topic: str = "start") -> None:
        """Answer privately."""
        chosen = Topic(topic)
        text = told(chosen, self._bot.tree.get_commands(), self._tools.off)
        await whisper(interaction, text, view=picker(chosen))


def told(topic: Topic, every: Sequence[object], off: Sequence[str]) -> str:
    """The text of a topic, given all commands and the tools that are off."""
    if topic is Topic.START and off:
        named = ", ".join(inert.line(name, limit=64) for name in off[:_MOST_OFF])
        return f"{shown(TEXTS[topic])}\n{tell('sandbox.off_for_help', tools=named)}"
    if topic is not Topic.COMMANDS:
        return shown(TEXTS[topic])
    return listed(sorted(_lines(every)), room=CONTENT - 30)  # nothing else stands there but how many are left out


def picker(chosen: Topic) -> ui.View:
    """A list of the topics. Needs a running loop."""
    options = [discord.SelectOption(label=tell(NAMES[one]), value=one.value, default=one is chosen) for one in Topic]
    select: ui.Select[ui.View] = ui.Select(
        custom_id=str(CustomId(verb=Verb.HELP, id="topic")), placeholder=tell("help.another"), options=options
    )
    view = ui.View(timeout=None)
    view.add_item(select)
    view.stop()  # a finished view is sent but not stored: picks come to `Presses`, like all presses
    return view


async def picked(interaction: discord.Interaction, value: str, every: Sequence[object], off: Sequence[str]) -> None:
    """Show another topic in the same private message. An unknown one shows the first."""
    chosen = next((one for one in Topic if one.value == value), Topic.START)
    await interaction.response.edit_message(content=told(chosen, every, off), view=picker(chosen))


def _lines(every: Sequence[object]) -> Iterator[str]:
    for command in every:
        if isinstance(command, app_commands.Group):
            yield from _lines(command.commands)
        elif isinstance(command, app_commands.Command):
            yield f"`/{command.qualified_name}` {described(command)}"
        elif isinstance(command, app_commands.ContextMenu):
            yield tell("help.in_menu", name=inert.line(described(command)))
