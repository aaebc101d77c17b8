"""The private, complete look at one call: what a card has no room for."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import discord

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from cogs import arguments, card_words, inert
from cogs.limits import CONTENT, MODAL_INPUT, length
from storage.approvals import Approval, ApprovalState

_ROOM, _LINES = 700, 20
"""Code units and lines for the arguments."""
_RULE = 300
OTHER_NOW = "This call was changed meanwhile: look at the card again."
_FRAMES = 80
"""What the blocks of a result need around them."""


def compose(view: CardView, id: str) -> tuple[str, list[discord.File]]:
    """Message and files about the call `id` of a card. The files hold what the message cuts."""
    call = next((call for call in view.approvals if call.id == id), None)
    if call is None:
        return OTHER_NOW, []
    drawn = arguments.draw(call.arguments, budget=_ROOM, lines=_LINES)
    lines = [f"{inert.line(call.tool, limit=60)} · **{sentences.word(call)}** · `{call.id}`", _times(call)]
    why = "Its key there" if call.kind == ToolKind.EXTERNAL else "Why it asked"
    lines.append(f"{why}: {inert.line(call.reason, limit=150)}")
    if call.tool in view.profiles:
        lines.append(f"May touch: {inert.line(view.profiles[call.tool], limit=120)}")
    lines += _consent(view, call)
    lines += [f"Earlier in this request: {said}" for said in card_words.refusals(view, most=3)]
    lines += [f"Asked again: {inert.line(change, limit=120)}" for change in view.changed.get(id, ())[:2]]
    lines += card_words.changes(call, limit=160, most=2)
    lines += card_words.secrets_of(call)[:3]
    lines += card_words.holds_while(call)[:2]
    lines += [f"Digest: `{call.digest}`", drawn.text]
    files = [_file(f"call-{call.id}.txt", arguments.whole(call.arguments))] if drawn.hidden else []
    files += _to_edit(call)
    if call.original is not None and length(arguments.raw(call.original)) > _ROOM // 4:
        files.append(_file(f"before-{call.id}.txt", arguments.whole(call.original)))
    if call.result:
        lines.append("Result" if call.exit_code is None else f"Result, exit code {call.exit_code}")
        room = CONTENT - length("\n".join(lines)) - _FRAMES
        cut = inert.excerpt(call.result, head=max(room, 2) // 2, tail=max(room, 2) // 2, lines=12)
        if room > _FRAMES and cut is None:
            lines.append(inert.block(call.result))
        elif cut is not None and room > _FRAMES:
            shown = (inert.fence(cut.head), f"-# {cut.hidden:,} characters not shown", inert.fence(cut.tail))
            lines.extend(shown)
        if cut is not None or room <= _FRAMES:
            files.append(_file(f"result-{call.id}.txt", inert.encode(call.result, inert.Form.FILE)))
    return "\n".join(lines), files


def _consent(view: CardView, call: Approval) -> Iterator[str]:
    """Which rule says who decides, and who has."""
    if (rule := view.deciders.get(call.id)) is not None:
        yield rule if length(rule) <= _RULE else f"{rule[:_RULE]}…"
    if votes := view.votes.get(call.id):
        yield "Approved by " + ", ".join(f"<@{vote.person}> {_stamp(vote.at)}" for vote in votes[:4])
    standing = view.standings.get(call.id)
    if standing is not None and card_words.progress(standing, call):
        yield f"Still missing: {standing.more}"


def _to_edit(call: Approval) -> list[discord.File]:
    """What is too long for the form of `Edit…`, in the form in which it can be changed and uploaded."""
    if call.state is not ApprovalState.PENDING or call.kind != ToolKind.APPROVAL:
        return []
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    if length(text) <= MODAL_INPUT:
        return []
    only = next(iter(call.arguments.values())) if len(call.arguments) == 1 else None
    if isinstance(only, str):
        return [_file(f"edit-{call.id}.txt", only)]
    return [_file(f"edit-{call.id}.json", text)]


def _times(call: Approval) -> str:
    parts = [f"Asked by <@{call.requester}> {_stamp(call.requested_at)}", f"deadline {_stamp(call.expires_at)}"]
    if call.settled_at is not None and call.settled_by is not None:
        who = f" by <@{call.settled_by}>" if call.settled_by.isdecimal() else ""
        parts.append(f"settled{who} {_stamp(call.settled_at)}")
    if call.finished_at is not None:
        parts.append(f"ended {_stamp(call.finished_at)}")
    if call.started_at is not None and call.finished_at is not None:
        parts.append(f"took {card_words.duration(call.finished_at - call.started_at)}")
    return ", ".join(parts)


def _stamp(milliseconds: int) -> str:
    return f"<t:{milliseconds // 1000}:f>"


def _file(name: str, text: str) -> discord.File:
    return discord.File(io.BytesIO(text.encode("utf-8", "backslashreplace")), filename=name)
