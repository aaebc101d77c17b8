"""Presses in the private list of a server's settings. Routed here by `Presses`, which answers what is refused.

Each one changes the draft and draws the list anew; forms carry the draft and its mark, so they outlive a restart.
"""

from __future__ import annotations

import discord

from bot.drafts import DraftPress
from bot.errors import DecisionRefused
from bot.settings_desk import SettingsDesk
from bot.texts.text import say
from cogs import modals, settings_forms, settings_views
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import acknowledge, actor_of, open_form, show_private, whisper

NOT_YOURS = say("settings.not_yours")
SAVED = say("settings.saved")
DROPPED = say("settings.dropped")
_STAYS = frozenset({"no_setting", "not_saved", "overtaken", "moved_on", "bad_number", "bad_hours", "bad_zone"})
"""Refusals after which the list is still true, and is drawn again beside the sentence."""


async def handle(
    interaction: discord.Interaction, pressed: CustomId, message: discord.Message, desk: SettingsDesk
) -> None:
    """Do what was pressed and draw the list anew. Raises `DecisionRefused`."""
    if not message.flags.ephemeral:
        raise DecisionRefused("wrong_message", NOT_YOURS)
    press = DraftPress(actor=actor_of(interaction), draft=pressed.id, mark=pressed.edition or 0)
    if pressed.verb in {Verb.SET_BUDGETS, Verb.SET_QUIET}:
        # A form has to be the first answer, so nothing is acknowledged before it.
        make = settings_forms.budgets if pressed.verb is Verb.SET_BUDGETS else settings_forms.quiet
        await open_form(interaction, make(await desk.again(press), interaction.id))
        return
    await acknowledge(interaction)
    try:
        shown = await _done(interaction, pressed.verb, press, desk)
    except DecisionRefused as refusal:
        if refusal.code not in _STAYS:
            raise
        await whisper(interaction, refusal.sentence)
        shown = settings_views.overview(await desk.again(press), interaction.client)
    await show_private(interaction, shown)


async def _done(
    interaction: discord.Interaction, verb: Verb, press: DraftPress, desk: SettingsDesk
) -> discord.ui.LayoutView:
    if verb is Verb.SET_SAVE:
        view = await desk.save(press)
        return settings_views.overview(view, interaction.client, said=view.note or SAVED)
    if verb is Verb.SET_DROP:
        return settings_views.overview(await desk.discard(press), interaction.client, said=DROPPED)
    edit = settings_forms.edit(verb, modals.all_picked(interaction), modals.filled(interaction))
    view = await desk.again(press) if edit is None else await desk.change(press, edit)
    return settings_views.overview(view, interaction.client)
