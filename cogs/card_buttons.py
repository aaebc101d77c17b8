"""What can be pressed on a card, as things stand. Every button is drawn from the row: none outlives its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import discord
from discord import ui

from bot.deferral.tool import ToolKind
from cogs import inert, reveal
from cogs.card_words import choices_of
from cogs.custom_ids import CustomId, Verb, steady
from cogs.limits import BUTTON_LABEL, BUTTONS_IN_ROW
from cogs.speech import tell
from storage.approvals import Approval, ApprovalState
from storage.cards import Card

Button = ui.Button[ui.LayoutView]

CHOICES = 10
CHOICES_BESIDE = 3
"""A question's choices on a card of several calls: with its two other buttons they fill one row."""

_GREEN, _RED = discord.ButtonStyle.success, discord.ButtonStyle.danger
_BLUE, _GREY = discord.ButtonStyle.primary, discord.ButtonStyle.secondary


def of_call(
    call: Approval, *, can_approve: bool, unseen: bool, choices: int, undoable: bool = False
) -> Iterator[Button]:
    """The buttons behind one call's text. `unseen`: the card does not show it whole, so approving it asks once more.

    `undoable`: it wrote something that can be taken back.
    """
    pending = call.state is ApprovalState.PENDING
    if call.kind == ToolKind.APPROVAL and pending:
        if can_approve:
            yield _button(tell("cards.approve"), _GREEN, Verb.APPROVE_UNSEEN if unseen else Verb.APPROVE, call.id)
        yield _button(tell("cards.deny"), _RED, Verb.DENY, call.id)
        yield _button(tell("cards.deny_reason"), _GREY, Verb.DENY_REASON, call.id)
        yield _button(tell("cards.edit"), _GREY, Verb.EDIT, call.id)
    if call.kind == ToolKind.QUESTION and pending:
        for number, choice in enumerate(choices_of(call)[:choices]):
            yield _button(inert.label(choice, limit=BUTTON_LABEL), _BLUE, Verb.CHOICE, call.id, number=number)
        yield _button(tell("cards.answer"), _GREY, Verb.ANSWER, call.id)
    yield _button(tell("cards.details"), _GREY, Verb.DETAILS, call.id)
    if undoable:
        yield _button(tell("files.undo"), _GREY, Verb.UNDO, call.id)
    if call.kind == ToolKind.APPROVAL and not call.is_open:
        yield _button(tell("cards.run_again"), _GREY, Verb.AGAIN, call.id)


def of_card(
    card: Card, calls: Sequence[Approval], *, can_approve: bool, unseen: bool, grantable: bool = False
) -> Iterator[Button]:
    """The buttons for a card as a whole, the most needed first: where there is no room, the last ones are left out.

    `grantable`: its only call can be approved from now on as well.
    """
    waiting = [call for call in calls if call.state is ApprovalState.PENDING]
    asks = [call for call in waiting if call.kind == ToolKind.APPROVAL]
    if len(asks) > 1:
        if can_approve:
            verb = Verb.ALL_APPROVE_UNSEEN if unseen else Verb.ALL_APPROVE
            yield _button(tell("cards.approve_all"), _GREEN, verb, card.root, edition=card.edition)
        yield _button(tell("cards.deny_all"), _RED, Verb.ALL_DENY, card.root, edition=card.edition)
    if len(calls) == 1 and waiting:
        yield _button(tell("cards.cancel"), _GREY, Verb.CANCEL, calls[0].id)
    elif waiting:
        yield _button(
            tell("cards.cancel_all") if len(waiting) > 1 else tell("cards.cancel"), _GREY, Verb.ALL_CANCEL, card.root
        )
    if len(calls) == 1 and reveal.hides(calls[0]):
        yield reveal.button(calls[0].id, private=False)
    if asks:
        yield _button(tell("cards.extend"), _GREY, Verb.EXTEND, card.root)
    if grantable:
        yield _button(tell("grants.button"), _GREY, Verb.REMEMBER, calls[0].id)


def in_rows(buttons: Iterable[Button]) -> Iterator[ui.ActionRow[ui.LayoutView]]:
    """As many to a row as Discord takes."""
    every = list(buttons)
    for start in range(0, len(every), BUTTONS_IN_ROW):
        yield ui.ActionRow(*every[start : start + BUTTONS_IN_ROW])


def _button(
    label: str,
    style: discord.ButtonStyle,
    verb: Verb,
    id: str,
    *,
    number: int | None = None,
    edition: int | None = None,
) -> Button:
    custom_id = str(CustomId(verb=verb, id=id, number=number, edition=edition))
    return ui.Button(label=label, style=style, custom_id=custom_id, id=steady(custom_id))
