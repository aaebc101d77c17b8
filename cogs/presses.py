"""Every press on a card and every submitted form, in one place.

Acknowledge first, decide second: in the other order Discord shows "This interaction failed" although it did not.
Nothing is registered in discord.py's view store, so a press works the moment the gateway is up, whatever posted
the card and however often the bot was restarted since.
"""

from __future__ import annotations

import logging
from typing import Literal

import discord
from discord.ext import commands

from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.surface import CardPress, Press
from cogs import cards, details, inert, job_presses, modals
from cogs.custom_ids import CustomId, Verb, decode
from cogs.interactions import DISCORD_FAILED, acknowledge, actor_of, place_of, whisper

logger = logging.getLogger(__name__)

UNKNOWN = "I do not know this button any more, so nothing was changed. `/approvals` shows what is open."
BROKEN = "Something went wrong inside me. The card and `/approvals` show whether this counted. (Log entry {id}.)"
ALL_SETTLED = "Everything on this card had been settled before; your press changed nothing."
NOT_CONFIRMED = f"Nothing was approved: the form wants the word {modals.CONFIRMATION}."
BLANK = "Nothing was answered: the form was blank."


class Presses(commands.Cog):
    """Receives presses and hands them to the engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Route a press or a submit. Called by discord.py; slash commands pass by."""
        if interaction.type not in {discord.InteractionType.component, discord.InteractionType.modal_submit}:
            return
        text = interaction.custom_id or ""
        try:
            custom_id = decode(text)
            if custom_id is None or interaction.message is None:
                logger.warning("unknown button", extra={"action": "unknown_button", "custom_id": text[:100]})
                await whisper(interaction, UNKNOWN)
                return
            await self._handle(interaction, custom_id, interaction.message)
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
        except Exception:
            # The edge of a press: whatever went wrong, the person is told the truth, and the log has the rest.
            logger.exception("press failed", extra={"action": "press_failed", "custom_id": text[:100]})
            await whisper(interaction, BROKEN.format(id=interaction.id))

    async def _handle(self, interaction: discord.Interaction, pressed: CustomId, message: discord.Message) -> None:
        one = Press(
            actor=actor_of(interaction),
            approval=pressed.id,
            place=str(place_of(interaction)),
            message=str(message.id),
        )
        every = CardPress(actor=one.actor, card=pressed.id, place=one.place, message=str(message.id))
        if pressed.verb in job_presses.VERBS:
            await job_presses.handle(interaction, pressed.verb, every, self._engine.desk)
            return
        match pressed.verb:
            case Verb.JOB_NOTE:
                await _open(interaction, modals.note(pressed.id, interaction.id))
            case Verb.APPROVE | Verb.DENY:
                await acknowledge(interaction)
                await self._engine.decide(one, "approve" if pressed.verb is Verb.APPROVE else "deny")
            case Verb.ALL_APPROVE | Verb.ALL_DENY:
                await acknowledge(interaction)
                await self._decide_all(interaction, every, "approve" if pressed.verb is Verb.ALL_APPROVE else "deny")
            case Verb.CHOICE:
                await acknowledge(interaction)
                await self._choose(one, pressed.number or 0)
            case Verb.DETAILS:
                await acknowledge(interaction, answer_follows=True)
                text, files = details.compose(await self._engine.details(one), pressed.id)
                await whisper(interaction, text, files=files)
            case Verb.ANSWER:
                await _open(interaction, modals.answer(pressed.id, interaction.id))
            case Verb.APPROVE_UNSEEN:
                await _open(interaction, modals.confirmation(Verb.FORM_APPROVE, pressed.id, interaction.id))
            case Verb.ALL_APPROVE_UNSEEN:
                await _open(interaction, modals.confirmation(Verb.FORM_ALL_APPROVE, pressed.id, interaction.id))
            case Verb.FORM_ANSWER:
                await acknowledge(interaction)
                await self._answer(one, modals.typed(interaction))
            case Verb.FORM_APPROVE | Verb.FORM_ALL_APPROVE:
                await acknowledge(interaction)
                if modals.typed(interaction).strip().casefold() != modals.CONFIRMATION:
                    await whisper(interaction, NOT_CONFIRMED)
                elif pressed.verb is Verb.FORM_APPROVE:
                    await self._engine.decide(one, "approve")
                else:
                    await self._decide_all(interaction, every, "approve")

    async def _decide_all(
        self, interaction: discord.Interaction, press: CardPress, verdict: Literal["approve", "deny"]
    ) -> None:
        if not await self._engine.decide_all(press, verdict):
            await whisper(interaction, ALL_SETTLED)

    async def _choose(self, press: Press, number: int) -> None:
        view = await self._engine.details(press)
        choices = next(cards.choices_of(call) for call in view.approvals if call.id == press.approval)
        if number >= len(choices):
            raise DecisionRefused("unknown_choice", UNKNOWN)
        await self._engine.answer(press, choices[number])

    async def _answer(self, press: Press, text: str) -> None:
        if not text.strip():
            raise DecisionRefused("blank", BLANK)
        try:
            await self._engine.answer(press, text)
        except DecisionRefused as refusal:
            # What somebody took the time to type is given back to them.
            raise DecisionRefused(refusal.code, f"{refusal.sentence}\nYou wrote:\n{_quoted(text)}") from refusal


async def _open(interaction: discord.Interaction, form: discord.ui.Modal) -> None:
    """Show a form. It must be the first answer, so nothing is looked up before."""
    try:
        await interaction.response.send_modal(form)
    except DISCORD_FAILED as error:
        logger.warning("form not shown", extra={"action": "form_failed", "problem": repr(error)})
        await whisper(interaction, "The form could not be shown, so nothing was changed. Press the button again.")


def _quoted(text: str) -> str:
    cut = inert.excerpt(text, head=900, tail=300, lines=25)
    return inert.block(text) if cut is None else f"{inert.fence(cut.head)}\n…\n{inert.fence(cut.tail)}"
