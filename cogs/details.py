"""The private, complete look at one call: what a card has no room for."""

from __future__ import annotations

import io

import discord

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from cogs import arguments, cards, inert
from cogs.limits import CONTENT, length
from storage.approvals import Approval

_ROOM, _LINES = 700, 20
"""Code units and lines for the arguments."""
_FRAMES = 80
"""What the blocks of a result need around them."""


def compose(view: CardView, id: str) -> tuple[str, list[discord.File]]:
    """Message and files about the call `id` of a card. The files hold what the message cuts."""
    call = next(call for call in view.approvals if call.id == id)
    drawn = arguments.draw(call.arguments, budget=_ROOM, lines=_LINES)
    lines = [f"{inert.line(call.tool, limit=60)} · **{sentences.word(call)}** · `{call.id}`", _times(call)]
    why = "Its key there" if call.kind == ToolKind.EXTERNAL else "Why it asked"
    lines.append(f"{why}: {inert.line(call.reason, limit=200)}")
    if call.tool in view.profiles:
        lines.append(f"May touch: {inert.line(view.profiles[call.tool], limit=150)}")
    lines += [f"Earlier in this request: {said}" for said in cards.refusals(view, most=3)]
    lines += [f"Asked again: {inert.line(change, limit=150)}" for change in view.changed.get(id, ())[:2]]
    lines += cards.holds_while(call)[:3]
    lines += [f"Digest: `{call.digest}`", drawn.text]
    files = [_file(f"call-{call.id}.txt", arguments.whole(call.arguments))] if drawn.hidden else []
    if call.result:
        lines.append("Result" if call.exit_code is None else f"Result, exit code {call.exit_code}")
        room = CONTENT - length("\n".join(lines)) - _FRAMES
        cut = inert.excerpt(call.result, head=room // 2, tail=room // 2, lines=12)
        if cut is None:
            lines.append(inert.block(call.result))
        else:
            shown = (inert.fence(cut.head), f"-# {cut.hidden:,} characters not shown", inert.fence(cut.tail))
            lines.extend(shown)
            files.append(_file(f"result-{call.id}.txt", inert.encode(call.result, inert.Form.FILE)))
    return "\n".join(lines), files


def _times(call: Approval) -> str:
    parts = [f"Asked by <@{call.requester}> {_stamp(call.requested_at)}", f"deadline {_stamp(call.expires_at)}"]
    if call.settled_at is not None and call.settled_by is not None:
        who = f" by <@{call.settled_by}>" if call.settled_by.isdecimal() else ""
        parts.append(f"settled{who} {_stamp(call.settled_at)}")
    if call.finished_at is not None:
        parts.append(f"ended {_stamp(call.finished_at)}")
    return ", ".join(parts)


def _stamp(milliseconds: int) -> str:
    return f"<t:{milliseconds // 1000}:f>"


def _file(name: str, text: str) -> discord.File:
    return discord.File(io.BytesIO(text.encode()), filename=name)
