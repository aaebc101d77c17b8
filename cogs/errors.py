"""The last net under slash commands: one private sentence for the person, everything for the log."""

from __future__ import annotations

import logging
from typing import Any

import discord
from discord import app_commands

from bot.errors import DecisionRefused
from bot.texts.text import say
from cogs.interactions import whisper
from cogs.speech import speak, tell

logger = logging.getLogger(__name__)

OUTDATED = say("errors.outdated")
NOT_FOR_YOU = say("errors.not_for_you")


def explain(interaction: discord.Interaction, error: app_commands.AppCommandError) -> str:
    """The sentence for a command that failed; unknown errors are logged."""
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    match cause:
        case DecisionRefused():
            return cause.sentence
        case app_commands.CommandSignatureMismatch() | app_commands.CommandNotFound():
            logger.warning("outdated command", extra={"action": "command_outdated", "problem": str(cause)})
            return OUTDATED
        case app_commands.TransformerError():
            return tell("errors.option", value=cause.value)
        case app_commands.CheckFailure():
            return NOT_FOR_YOU
        case _:
            logger.error("command failed", exc_info=cause, extra={"action": "command_failed", "id": interaction.id})
            return tell("errors.broken", id=interaction.id)


def is_at_home(interaction: discord.Interaction) -> bool:
    """Whether a command comes from a server that the bot was added to, or from direct messages with it.

    Discord offers the commands nowhere else, as they are registered; an application that people can add to their own
    account could still be called from any server, and nobody there would know of it.
    """
    if interaction.guild_id is None:
        return not interaction.context.private_channel
    if interaction.is_user_integration() and not interaction.is_guild_integration():
        return False
    return interaction.client.get_guild(interaction.guild_id) is not None


class SignoffTree(app_commands.CommandTree[Any]):
    """Sets the language of each command, and answers when one fails; discord.py would only log it."""

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Set the language before the command, in the task that the command runs in; refuse what comes from a place
        where the bot is nobody's guest. Called by discord.py."""
        speak(self.client.languages.heard(interaction))
        if is_at_home(interaction):
            return True
        logger.warning("foreign command", extra={"action": "command_foreign", "guild": interaction.guild_id})
        if interaction.type is discord.InteractionType.application_command:
            await whisper(interaction, say("errors.not_installed"))
        return False

    async def on_error(self, interaction: discord.Interaction, error: app_commands.AppCommandError, /) -> None:
        """Say what happened. Called by discord.py."""
        sentence = explain(interaction, error)
        if interaction.type is discord.InteractionType.application_command:
            await whisper(interaction, sentence)
