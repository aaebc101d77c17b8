"""A small discord.py bot, run as a process of its own: what the twin is tried with.

It has the shapes of the real one: a deferred command, an ordinary components-v2 card routed by
`on_interaction`, an edit, a private refusal, a direct message, a mention turn.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys

import aiohttp
import discord
from discord import app_commands

from bot.playground.twin_address import point_discord_at


def say(line: str) -> None:
    """Tell the test."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Card(discord.ui.LayoutView):
    """One request with its buttons; finished before it is sent, so that nothing is stored."""

    def __init__(self, text: str, *, open_: bool) -> None:
        super().__init__(timeout=None)
        box = discord.ui.Container(accent_colour=discord.Colour.gold() if open_ else discord.Colour.green())
        box.add_item(discord.ui.TextDisplay(text))
        if open_:
            row = discord.ui.ActionRow()
            row.add_item(discord.ui.Button(label="Approve", style=discord.ButtonStyle.success, custom_id="s1:approve"))
            row.add_item(discord.ui.Button(label="Slow", custom_id="s1:slow"))
            row.add_item(discord.ui.Button(label="Private", custom_id="s1:private"))
            row.add_item(discord.ui.Button(label="Why", custom_id="s1:form"))
            box.add_item(discord.ui.Separator())
            box.add_item(row)
        self.add_item(box)
        self.stop()


class Form(discord.ui.Modal, title="Why?"):
    reason = discord.ui.TextInput(label="Reason", custom_id="reason")

    def __init__(self) -> None:
        super().__init__(custom_id="s1:reason")


class Sample(discord.Client):
    def __init__(self) -> None:
        chosen = discord.Intents.all() if os.environ.get("SAMPLE_INTENTS") else discord.Intents.default()
        super().__init__(intents=chosen, allowed_mentions=discord.AllowedMentions.none())
        self.tree = app_commands.CommandTree(self)
        self.tree.add_command(app_commands.Command(name="ask", description="Ask", callback=self.ask))
        self.tree.add_command(app_commands.Command(name="stream", description="Edits", callback=self.stream))
        self.tree.add_command(app_commands.ContextMenu(name="Ask about this", callback=self.about))

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_ready(self) -> None:
        owner = (await self.application_info()).owner
        say(f"READY as {self.user}, owner {owner.id}")

    async def on_resumed(self) -> None:
        say("RESUMED")

    async def ask(self, interaction: discord.Interaction, prompt: str) -> None:
        await interaction.response.defer()
        await interaction.edit_original_response(content=f"You asked: {prompt}")
        try:
            await interaction.channel.send(
                view=Card(f"## Run this?\n```\n{prompt}\n```", open_=True), nonce=prompt[:25]
            )
        except discord.HTTPException as error:
            say(f"HTTP {error.status} {error.code}")
        except (aiohttp.ClientError, OSError) as error:
            say(f"CUT {type(error).__name__}")

    async def about(self, interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_modal(Form())

    async def stream(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message("step 0")
        for step in range(1, 6):
            await asyncio.sleep(0.3)
            await interaction.edit_original_response(content=f"step {step}")

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        custom_id = (interaction.data or {}).get("custom_id")
        if custom_id == "s1:approve":
            await interaction.response.defer()
            await interaction.message.edit(view=Card(f"Approved by {interaction.user.mention}", open_=False))
            await interaction.user.send("Your call ran.")
        elif custom_id == "s1:slow":
            await asyncio.sleep(3.5)
            try:
                await interaction.response.defer()
            except discord.NotFound as error:
                say(f"LATE {error.code}")
        elif custom_id == "s1:private":
            await interaction.response.send_message("Only you read this.", ephemeral=True)
        elif custom_id == "s1:form":
            await interaction.response.send_modal(Form())
        elif custom_id == "s1:reason":
            await interaction.response.send_message("Noted: " + str(interaction.data["components"]), ephemeral=True)

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        if self.user in message.mentions or message.guild is None:
            async with message.channel.typing():
                await message.reply(f"You said: {message.content}")


def main() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    token = os.environ["DISCORD_TOKEN"]
    if "SIGNOFF_TWIN" in os.environ:
        point_discord_at(os.environ["SIGNOFF_TWIN"], token)
    Sample().run(token, log_handler=None)


if __name__ == "__main__":
    main()
