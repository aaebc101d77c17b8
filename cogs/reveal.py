"""What is masked on a card, shown to one approver in private. Each look is on the trail before it is taken."""

from __future__ import annotations

import io

import discord
from discord import ui

from bot import shapes
from bot.deferral.tool import ToolKind
from cogs import arguments, inert
from cogs.custom_ids import CustomId, Verb, steady
from cogs.limits import CONTENT, length
from cogs.speech import tell
from storage.approvals import Approval, ApprovalState

_SHOWN = 10
"""So many masked parts are written out; the file has all of them."""
_LIMIT = 150
"""Code units of each."""


def hides(call: Approval) -> int:
    """How many parts of a call that waits for consent are masked on its card."""
    if call.state is not ApprovalState.PENDING or call.kind != ToolKind.APPROVAL:
        return 0
    return sum(len(shapes.find(text)) for text in arguments.texts(call.arguments))


def button(id: str, *, private: bool) -> ui.Button[ui.LayoutView]:
    """The button that shows them. `private`: it stands below an answer that one person sees, not on the card."""
    custom_id = CustomId(verb=Verb.LIST_REVEAL, id=id, number=0) if private else CustomId(verb=Verb.REVEAL, id=id)
    return ui.Button(
        label=tell("secrets.reveal"),
        style=discord.ButtonStyle.secondary,
        custom_id=str(custom_id),
        id=steady(custom_id),
    )


def below(call: Approval | None) -> ui.View | None:
    """The button for below a private look at a call, if something in it is masked. Needs a running loop."""
    if call is None or not hides(call):
        return None
    view = ui.View(timeout=None)
    view.add_item(button(call.id, private=True))
    view.stop()  # sent, and not stored: presses come to `Presses`
    return view


def compose(call: Approval) -> tuple[str, list[discord.File]]:
    """The masked parts as they are, each behind what it is called on the card, and a file with the whole call."""
    lines = [tell("secrets.revealed", tool=inert.line(call.tool, limit=50), id=call.id)]
    for text in arguments.texts(call.arguments):
        for span in shapes.find(text):
            shown = inert.encode(text[span.start : span.end], inert.Form.LINE, bare=True)
            cut = shown if length(shown) <= _LIMIT else shown[: _LIMIT - 1] + inert.MORE
            lines.append(f"{shapes.name(text, span).removeprefix('masked: ')}: `{cut}`")
    lines = lines[: _SHOWN + 1]
    while length("\n".join(lines)) > CONTENT:
        lines.pop()
    whole = arguments.whole(call.arguments, bare=True)
    return "\n".join(lines), [discord.File(io.BytesIO(whole.encode()), filename=f"call-{call.id}.txt")]
