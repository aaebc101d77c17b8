"""The last net under slash commands: one private sentence for the person, everything for the log."""

from __future__ import annotations

import logging
from typing import Any

import discord
from discord import app_commands

from bot.errors import DecisionRefused
from cogs.interactions import whisper

logger = logging.getLogger(__name__)

BROKEN = "Something went wrong inside me, so this may not have worked. It is in my log under {id}."
OUTDATED = "My commands have changed since your Discord loaded them. Restart Discord (Ctrl+R), then try again."
NOT_FOR_YOU = "You cannot use this command here."


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
            return f"I cannot read one of the options: {cause.value!r}"
        case app_commands.CheckFailure():
            return NOT_FOR_YOU
        case _:
            logger.error("command failed", exc_info=cause, extra={"action": "command_failed", "id": interaction.id})
            return BROKEN.format(id=interaction.id)


class SignoffTree(app_commands.CommandTree[Any]):
    """Answers when a command fails; discord.py would only log it."""

    async def on_error(self, interaction: discord.Interaction, error: app_commands.AppCommandError, /) -> None:
        """Say what happened. Called by discord.py."""
        sentence = explain(interaction, error)
        if interaction.type is discord.InteractionType.application_command:
            await whisper(interaction, sentence)
