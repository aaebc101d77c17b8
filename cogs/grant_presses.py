"""Presses in the private list of grants. Routed here by `Presses`, which answers what is refused."""

from __future__ import annotations

import discord

from bot.engine import Engine
from bot.errors import DecisionRefused, UnknownApproval
from bot.texts.text import say
from cogs import grant_list, inert, modals
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import acknowledge, actor_of, show_private
from cogs.speech import tell

NOT_A_LIST = say("grants.not_a_list")


async def handle(interaction: discord.Interaction, pressed: CustomId, message: discord.Message, engine: Engine) -> None:
    """Do what was pressed, and draw the list anew. Raises `DecisionRefused`; then it is drawn anew all the same."""
    if not message.flags.ephemeral:
        refusal = UnknownApproval("wrong_message", NOT_A_LIST)
        await engine.decisions.refused(None, actor_of(interaction), refusal)
        raise refusal
    await acknowledge(interaction)
    said, problem = "", None
    if pressed.verb is Verb.GRANTS_REVOKE:
        try:
            grant = await engine.granting.revoke(modals.picked(interaction), actor_of(interaction))
            said = tell("grants.revoked", tool=inert.line(grant.tool, limit=40))
        except DecisionRefused as refusal:
            problem = refusal
    await show_private(interaction, await grant_list.page(engine, interaction, pressed.number or 0, said=said))
    if problem is not None:
        raise problem
