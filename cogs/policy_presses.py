"""Presses in the private list of a guild's rules. Routed here by `Presses`, which answers what is refused.

Each one changes the draft and draws the list anew; forms carry the draft and its mark, so they outlive a restart.
"""

from __future__ import annotations

from collections.abc import Callable

import discord

from bot.drafts import DraftPress
from bot.errors import DecisionRefused
from bot.guild_rules import Body
from bot.policy_desk import NOT_YOURS, PolicyDesk
from bot.policy_view import PolicyView
from bot.texts.text import say
from cogs import modals, policy_forms, policy_views
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import acknowledge, actor_of, open_form, show_private, whisper
from cogs.policy_forms import Kind

SAVED = say("policy.saved")
DROPPED = say("policy.dropped")
_SETS: dict[Verb, tuple[Kind, str]] = {
    Verb.RULES_ACTION: ("policy", "action"),
    Verb.RULES_CHANNELS: ("policy", "channels"),
    Verb.RULES_ROLES: ("policy", "roles"),
    Verb.RULES_WHO_TOOLS: ("approvers", "tools"),
    Verb.RULES_WHO_CHANNELS: ("approvers", "channels"),
    Verb.RULES_EACH: ("approvers", "one_of_each"),
}
"""Lists whose choice becomes one key of a rule."""
_FORMS = {
    Verb.RULES_ARGUMENTS: policy_forms.arguments,
    Verb.RULES_DEMANDS: policy_forms.demands,
}


async def handle(
    interaction: discord.Interaction, pressed: CustomId, message: discord.Message, desk: PolicyDesk
) -> None:
    """Do what was pressed and draw the list anew. Raises `DecisionRefused`."""
    draft, _, tail = pressed.id.rpartition("-")
    if not message.flags.ephemeral or not tail.isdecimal():
        raise DecisionRefused("wrong_message", NOT_YOURS)
    press = DraftPress(actor=actor_of(interaction), draft=draft, mark=pressed.edition or 0)
    number = int(tail)
    if (form := await _form(interaction, pressed.verb, press, number, desk)) is not None:
        await open_form(interaction, form)
        return
    await acknowledge(interaction)
    try:
        await show_private(interaction, await _done(interaction, pressed.verb, press, number, desk))
    except DecisionRefused as refusal:
        if refusal.code not in {"no_rule", "overtaken", "moved_on", "not_yours_to_save"}:
            raise
        # What was refused is still in view, so the sentence stands with it.
        view = await desk.again(press)
        await whisper(interaction, refusal.sentence)
        await show_private(interaction, _drawn(pressed.verb, view, number))


async def _form(
    interaction: discord.Interaction, verb: Verb, press: DraftPress, number: int, desk: PolicyDesk
) -> discord.ui.Modal | None:
    """The form that was asked for, or None. It has to be the first answer, so nothing is acknowledged before it."""
    if verb in _FORMS:
        view = await desk.again(press)
        there = view.rules.policy if verb is Verb.RULES_ARGUMENTS else view.rules.approvers
        if number < len(there):
            return _FORMS[verb](view, number, interaction.id)
    if verb in {Verb.RULES_TOOL, Verb.RULES_WHO_TOOLS} and policy_views.OTHER in modals.all_picked(interaction):
        view = await desk.again(press)
        asks = Verb.FORM_RULES_TOOL if verb is Verb.RULES_TOOL else Verb.FORM_RULES_WHO_TOOLS
        return policy_forms.tool(view, asks, number, interaction.id)
    return None


async def _done(
    interaction: discord.Interaction, verb: Verb, press: DraftPress, number: int, desk: PolicyDesk
) -> discord.ui.LayoutView:
    chosen = modals.all_picked(interaction)
    match verb:
        case Verb.RULES_SAVE:
            view = await desk.save(press)
            return policy_views.overview(view, said=view.note or SAVED)
        case Verb.RULES_DROP:
            return policy_views.overview(await desk.discard(press), said=DROPPED)
        case Verb.RULES_TRY:
            return policy_views.rehearsal(*await desk.rehearse(press))
        case Verb.RULES_PICK | Verb.RULES_PICK_WHO:
            return await _picked(verb, press, chosen[0] if chosen else policy_views.NEW, desk)
    if (edit := _edit(interaction, verb, number, chosen)) is not None:
        return _drawn(verb, await desk.change(press, edit), number)
    return policy_views.overview(await desk.again(press))


async def _picked(verb: Verb, press: DraftPress, value: str, desk: PolicyDesk) -> discord.ui.LayoutView:
    if value == policy_views.NEW and verb is Verb.RULES_PICK_WHO:
        view = await desk.change(press, policy_forms.with_new_who)
        return _drawn(Verb.RULES_PEOPLE, view, len(view.rules.approvers) - 1)
    view = await desk.again(press)
    number = len(view.rules.policy) if value == policy_views.NEW else int(value)
    return _drawn(Verb.RULES_TOOL if verb is Verb.RULES_PICK else Verb.RULES_PEOPLE, view, number)


def _edit(
    interaction: discord.Interaction, verb: Verb, number: int, chosen: list[str]
) -> Callable[[Body], Body] | None:
    """What a press does to the draft."""
    given = modals.filled(interaction)
    typed = next(iter(given.get("tool", ())), "").strip()
    if verb in _SETS:
        kind, key = _SETS[verb]
        value = (chosen[0] if chosen else "") if key == "action" else chosen
        return lambda body: policy_forms.with_key(body, kind, number, key, value)
    match verb:
        case Verb.RULES_TOOL:
            return lambda body: policy_forms.with_tool(body, number, chosen[0])
        case Verb.FORM_RULES_TOOL:
            return lambda body: policy_forms.with_tool(body, number, typed)
        case Verb.FORM_RULES_WHO_TOOLS:
            return lambda body: policy_forms.with_key(
                body, "approvers", number, "tools", [*body.approvers[number].get("tools", []), typed]
            )
        case Verb.FORM_RULES_ARGS:
            return lambda body: policy_forms.with_arguments(body, number, given)
        case Verb.FORM_RULES_DEMANDS:
            return lambda body: policy_forms.with_demands(body, number, given)
        case Verb.RULES_PEOPLE:
            roles = modals.picked_roles(interaction)
            people = [one for one in chosen if one not in roles]
            return lambda body: policy_forms.with_key(
                policy_forms.with_key(body, "approvers", number, "users", people),
                "approvers",
                number,
                "roles",
                [one for one in chosen if one in roles],
            )
        case Verb.RULES_UP | Verb.RULES_WHO_UP:
            kind = "policy" if verb is Verb.RULES_UP else "approvers"
            return lambda body: policy_forms.moved_up(body, kind, number)
        case Verb.RULES_REMOVE | Verb.RULES_WHO_REMOVE:
            kind = "policy" if verb is Verb.RULES_REMOVE else "approvers"
            return lambda body: policy_forms.without(body, kind, number)
        case _:
            return None


_OF_WHO = frozenset(
    {Verb.RULES_WHO_TOOLS, Verb.FORM_RULES_WHO_TOOLS, Verb.RULES_WHO_CHANNELS, Verb.RULES_PEOPLE, Verb.RULES_EACH}
    | {Verb.RULES_DEMANDS, Verb.FORM_RULES_DEMANDS}
)
_OF_WHAT = frozenset(
    {Verb.RULES_TOOL, Verb.FORM_RULES_TOOL, Verb.RULES_ACTION, Verb.RULES_CHANNELS, Verb.RULES_ROLES}
    | {Verb.RULES_ARGUMENTS, Verb.FORM_RULES_ARGS}
)


def _drawn(verb: Verb, view: PolicyView, number: int) -> discord.ui.LayoutView:
    """The part of the list that a press belongs to."""
    if verb in _OF_WHO and number < len(view.rules.approvers):
        return policy_views.who_decides(view, number)
    if verb in _OF_WHAT:
        return policy_views.what_runs(view, number)
    return policy_views.overview(view)
