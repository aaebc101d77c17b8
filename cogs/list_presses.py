"""Presses in the private list of open requests. Routed here by `Presses`, which answers what is refused."""

from __future__ import annotations

import discord

from bot.decisions import Verdict
from bot.engine import Engine
from bot.errors import DecisionRefused, UnknownApproval
from bot.surface import Press
from bot.texts.text import say
from cogs import details, modals, reveal
from cogs.approval_list import Leaf, page
from cogs.custom_ids import CustomId, Verb
from cogs.interactions import acknowledge, actor_of, place_of, show_private, whisper
from cogs.speech import shown
from cogs.visibility import visible
from storage.approvals import ApprovalState

VERBS = frozenset(
    {Verb.LIST_APPROVE, Verb.LIST_DENY, Verb.LIST_CANCEL, Verb.LIST_DETAILS, Verb.LIST_REVEAL, Verb.LIST_PAGE}
    | {Verb.FORM_LIST_APPROVE}
)
"""All but the one that opens a form."""

APPROVED = say("lists.approved")
COUNTED = say("presses.counted")
DENIED = say("lists.denied")
CANCELLED = say("lists.cancelled")
NOT_CONFIRMED = say("presses.not_confirmed", word=modals.CONFIRMATION)
NOT_A_LIST = say("lists.not_a_list")
_VERDICTS: dict[Verb, Verdict] = {
    Verb.LIST_APPROVE: "approve",
    Verb.FORM_LIST_APPROVE: "approve",
    Verb.LIST_DENY: "deny",
}


async def handle(interaction: discord.Interaction, pressed: CustomId, message: discord.Message, engine: Engine) -> None:
    """Do what was pressed, and draw the list anew. Raises `DecisionRefused`; then it is drawn anew all the same."""
    press = Press(actor=actor_of(interaction), approval=pressed.id, place=str(place_of(interaction)), message=None)
    if not message.flags.ephemeral:
        refusal = UnknownApproval("wrong_message", NOT_A_LIST)
        await engine.decisions.refused(pressed.id, press.actor, refusal)
        raise refusal
    if pressed.verb in {Verb.LIST_DETAILS, Verb.LIST_REVEAL}:
        await acknowledge(interaction, answer_follows=True)
        view = await engine.details(press)
        if not all(visible(interaction, call.place, requester=call.requester) for call in view.approvals):
            raise UnknownApproval("unknown", say("lists.no_access"))
        if pressed.verb is Verb.LIST_DETAILS:
            await details.show(interaction, view, pressed.id)
            return
        text, files = reveal.compose(await engine.edits.reveal(press))
        await whisper(interaction, text, files=files)
        return
    await acknowledge(interaction)
    if pressed.verb is Verb.FORM_LIST_APPROVE:
        if not modals.confirms(modals.typed(interaction)):
            await whisper(interaction, NOT_CONFIRMED)
        else:
            await whisper(interaction, await _done(engine, press, pressed.verb))
        return
    leaf, said, problem = Leaf.read(pressed.number or 0), "", None
    if pressed.verb is not Verb.LIST_PAGE:
        try:
            said = await _done(engine, press, pressed.verb)
        except DecisionRefused as refusal:
            problem = refusal
    await show_private(
        interaction, await page(engine, interaction, leaf, said=said and f"`{pressed.id}`: {shown(said)}")
    )
    if problem is not None:
        raise problem


async def _done(engine: Engine, press: Press, verb: Verb) -> str:
    """Decide, and say what that came to."""
    if verb is Verb.LIST_CANCEL:
        await engine.decisions.cancel(press)
        return CANCELLED
    verdict = _VERDICTS[verb]
    call = await engine.decide(press, verdict)
    if verdict == "deny":
        return DENIED
    return COUNTED if call.state is ApprovalState.PENDING else APPROVED
