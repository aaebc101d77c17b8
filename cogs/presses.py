"""Every press on a card and every submitted form, in one place.

Acknowledge first, decide second: in the other order Discord shows "This interaction failed" although it did not.
Nothing is registered in discord.py's view store, so a press works the moment the gateway is up, whatever posted
the card and however often the bot was restarted since.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

import discord
from discord.ext import commands

from bot.decisions import Verdict
from bot.deferral.authority import Act
from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.files.undo import Undoing
from bot.surface import CardPress, Press
from bot.texts.text import say
from cogs import (
    again,
    card_words,
    command_list,
    details,
    forms,
    grant_presses,
    help,
    job_presses,
    list_presses,
    modals,
    policy_presses,
    reveal,
    schedule_drafts,
    settings_presses,
    usage,
)
from cogs.ask_about import AskAbout
from cogs.custom_ids import GRANTS, MESSAGELESS, RULES, SETTINGS, CustomId, Verb, decode
from cogs.drill import Drill
from cogs.interactions import acknowledge, actor_of, open_form, place_of, whisper
from cogs.replies import Spawn
from cogs.speech import Languages, shown, speak, tell
from cogs.surface import DiscordSurface
from cogs.tools import Tools
from storage.approvals import ApprovalState

logger = logging.getLogger(__name__)

T = TypeVar("T")

UNKNOWN = say("presses.unknown")
NOT_CONFIRMED = say("presses.not_confirmed", word=modals.CONFIRMATION)
COUNTED = say("presses.counted")
LATE = say("presses.late")
_LOOK_SECONDS = 1.5
"""A form must be the first answer, within three seconds; so long may it take to look whether it may be shown."""


class Presses(commands.Cog):
    """Receives presses and hands them to the engine."""

    def __init__(
        self,
        bot: commands.Bot,
        engine: Engine,
        surface: DiscordSurface,
        spawn: Spawn,
        *,
        tools: Tools,
        drill: Drill,
        usage_list: usage.Usage,
        ask_about: AskAbout,
        languages: Languages,
        undoing: Undoing,
    ) -> None:
        self._bot = bot
        self._languages = languages
        self._tools = tools
        self._drill = drill
        self._ask_about = ask_about
        self._usage = usage_list
        self._engine, self._undoing = engine, undoing
        self._surface = surface
        self._spawn = spawn

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Route a press or a submit. Called by discord.py; slash commands pass by."""
        if interaction.type not in {discord.InteractionType.component, discord.InteractionType.modal_submit}:
            return
        text = interaction.custom_id or ""
        speak(self._languages.heard(interaction))
        try:
            custom_id = decode(text)
            if custom_id is None or (interaction.message is None) is not (custom_id.verb in MESSAGELESS):
                logger.warning("unknown button", extra={"action": "unknown_button", "custom_id": text[:100]})
                await whisper(interaction, UNKNOWN)
                return
            if interaction.message is None:
                await self._ask_about.submitted(interaction, custom_id)
            else:
                await self._handle(interaction, custom_id, interaction.message)
        except DecisionRefused as refusal:
            await whisper(interaction, refusal.sentence)
        except Exception:
            # The edge of a press: whatever went wrong, the person is told the truth, and the log has the rest.
            logger.exception("press failed", extra={"action": "press_failed", "custom_id": text[:100]})
            await whisper(interaction, tell("presses.broken", id=interaction.id))

    async def _handle(self, interaction: discord.Interaction, pressed: CustomId, message: discord.Message) -> None:
        one = Press(
            actor=actor_of(interaction),
            approval=pressed.id,
            place=str(place_of(interaction)),
            message=str(message.id),
        )
        every = CardPress(
            actor=one.actor, card=pressed.id, place=one.place, message=str(message.id), edition=pressed.edition
        )
        if pressed.verb in job_presses.VERBS:
            await job_presses.handle(interaction, pressed.verb, every, self._engine.desk)
            return
        if pressed.verb in list_presses.VERBS:
            await list_presses.handle(interaction, pressed, message, self._engine)
            return
        if pressed.verb in GRANTS:
            await grant_presses.handle(interaction, pressed, message, self._engine)
            return
        if pressed.verb in RULES:
            await policy_presses.handle(interaction, pressed, message, self._engine.policy_desk)
            return
        if pressed.verb in usage.VERBS:
            await self._usage.pressed(interaction, pressed, message)
            return
        if pressed.verb in SETTINGS:
            await settings_presses.handle(interaction, pressed, message, self._engine.settings_desk)
            return
        match pressed.verb:
            case Verb.SCHEDULE_SAVE | Verb.SCHEDULE_DROP:
                await acknowledge(interaction)
                await schedule_drafts.handle(interaction, pressed, one.actor, self._engine.schedules)
            case Verb.TURN_STOP:
                await acknowledge(interaction, answer_follows=True)
                await whisper(interaction, await self._engine.stopping.stop(every))
            case Verb.TURN_BACKGROUND:
                await acknowledge(interaction, answer_follows=True)
                await whisper(interaction, await self._engine.backgrounding.send(every))
            case Verb.COMMAND_STOP:
                await command_list.stop(interaction, pressed.id, message, self._engine.commands)
            case Verb.JOB_NOTE:
                await open_form(interaction, modals.note(pressed.id, interaction.id))
            case Verb.APPROVE | Verb.DENY:
                await acknowledge(interaction)
                await self._decide(interaction, one, "approve" if pressed.verb is Verb.APPROVE else "deny")
            case Verb.ALL_APPROVE | Verb.ALL_DENY:
                await acknowledge(interaction)
                await self._together(interaction, every, Act.APPROVE if pressed.verb is Verb.ALL_APPROVE else Act.DENY)
            case Verb.CANCEL:
                await acknowledge(interaction)
                await self._engine.decisions.cancel(one)
            case Verb.ALL_CANCEL:
                await acknowledge(interaction)
                await self._together(interaction, every, Act.CANCEL)
            case Verb.DRILL:
                await self._drill.pressed(interaction, pressed.id)
            case Verb.TOOLS_PAGE:
                await acknowledge(interaction)
                await self._tools.show(interaction, pressed.number or 0)
            case Verb.HELP:
                there = self._bot.tree.get_commands()
                await help.picked(interaction, modals.picked(interaction), there, self._tools.off)
            case Verb.EXTEND:
                await acknowledge(interaction, answer_follows=True)
                until = await self._engine.edits.extend(every)
                await whisper(interaction, tell("presses.extended", until=until // 1000))
            case Verb.AGAIN:
                await acknowledge(interaction)
                await again.run_again(interaction, one, self._bot, self._engine, self._surface, self._spawn)
            case Verb.UNDO:
                await acknowledge(interaction)
                await self._undoing.undo(one)
            case Verb.CHOICE:
                await acknowledge(interaction)
                await self._choose(one, pressed.number or 0)
            case Verb.DETAILS:
                await acknowledge(interaction, answer_follows=True)
                await details.show(interaction, await self._engine.details(one), pressed.id)
            case Verb.REVEAL:
                await acknowledge(interaction, answer_follows=True)
                text, files = reveal.compose(await self._engine.edits.reveal(one))
                await whisper(interaction, text, files=files)
            case Verb.ANSWER:
                await open_form(interaction, modals.answer(pressed.id, interaction.id))
            case Verb.DENY_REASON:
                if await _in_time(self._engine.decisions.permitted(one, Act.DENY)) is None:
                    logger.warning("form shown unasked", extra={"action": "look_slow", "approval": one.approval})
                await open_form(interaction, modals.reason(pressed.id, interaction.id))
            case Verb.REMEMBER:
                if await _in_time(self._engine.decisions.permitted(one, Act.GRANT)) is None:
                    logger.warning("form shown unasked", extra={"action": "look_slow", "approval": one.approval})
                await open_form(interaction, modals.remember(pressed.id, interaction.id))
            case Verb.EDIT:
                if (draft := await _in_time(self._engine.edits.draft(one))) is None:
                    await whisper(interaction, LATE)
                else:
                    await open_form(interaction, modals.edit(pressed.id, interaction.id, draft))
            case Verb.APPROVE_UNSEEN:
                await open_form(interaction, modals.confirmation(Verb.FORM_APPROVE, pressed.id, interaction.id))
            case Verb.LIST_APPROVE_UNSEEN:
                await open_form(interaction, modals.confirmation(Verb.FORM_LIST_APPROVE, pressed.id, interaction.id))
            case Verb.ALL_APPROVE_UNSEEN:
                form = modals.confirmation(Verb.FORM_ALL_APPROVE, pressed.id, interaction.id, edition=pressed.edition)
                await open_form(interaction, form)
            case Verb.FORM_ANSWER:
                await acknowledge(interaction)
                await forms.answer(self._engine, one, modals.typed(interaction))
            case Verb.FORM_DENY:
                await acknowledge(interaction)
                await forms.deny(self._engine, one, modals.typed(interaction))
            case Verb.FORM_REMEMBER:
                await acknowledge(interaction)
                await forms.remember(self._engine, one, interaction)
            case Verb.FORM_EDIT:
                await acknowledge(interaction)
                await forms.edit(self._engine, one, interaction)
            case Verb.FORM_APPROVE | Verb.FORM_ALL_APPROVE:
                await acknowledge(interaction)
                if not modals.confirms(modals.typed(interaction)):
                    await whisper(interaction, NOT_CONFIRMED)
                elif pressed.verb is Verb.FORM_APPROVE:
                    await self._decide(interaction, one, "approve")
                else:
                    await self._together(interaction, every, Act.APPROVE)

    async def _decide(self, interaction: discord.Interaction, press: Press, verdict: Verdict) -> None:
        if (await self._engine.decide(press, verdict)).state is ApprovalState.PENDING:
            await whisper(interaction, COUNTED)

    async def _together(self, interaction: discord.Interaction, press: CardPress, act: Act) -> None:
        result = await self._engine.decisions.together(press, act)
        told: list[str] = [shown(COUNTED)] if any(call.state is ApprovalState.PENDING for call in result.done) else []
        if result.refused:
            told.append(tell("presses.not_all", why=result.refused[0].sentence))
        if told:
            await whisper(interaction, "\n".join(told))

    async def _choose(self, press: Press, number: int) -> None:
        view = await self._engine.details(press)
        choices = next(card_words.choices_of(call) for call in view.approvals if call.id == press.approval)
        if number >= len(choices):
            raise DecisionRefused("unknown_choice", UNKNOWN)
        await self._engine.answer(press, choices[number])


async def _in_time(look: Awaitable[T]) -> T | None:
    """What was looked up, or None if a form would come too late by now."""
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            return await look
    except TimeoutError:
        return None
