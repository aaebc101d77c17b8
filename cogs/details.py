"""The private, complete look at one call: what a card has no room for."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import discord

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.surface import CardView
from bot.texts.recall import recall
from bot.texts.text import say
from cogs import arguments, card_words, inert, reveal
from cogs.interactions import whisper
from cogs.limits import CONTENT, MODAL_INPUT, length
from cogs.speech import shown, tell
from storage.approvals import Approval, ApprovalState

_ROOM, _LINES = 700, 20
"""Code units and lines for the arguments."""
_RULE = 300
OTHER_NOW = say("details.other_now")
_FRAMES = 80
"""What the blocks of a result need around them."""


def compose(view: CardView, id: str) -> tuple[str, list[discord.File]]:
    """Message and files about the call `id` of a card. The files hold what the message cuts."""
    call = next((call for call in view.approvals if call.id == id), None)
    if call is None:
        return shown(OTHER_NOW), []
    drawn = arguments.draw(call.arguments, budget=_ROOM, lines=_LINES)
    lines = [f"{inert.line(call.tool, limit=60)} · **{shown(sentences.word(call))}** · `{call.id}`", _times(call)]
    why = tell("details.key") if call.kind == ToolKind.EXTERNAL else tell("details.why")
    lines.append(f"{why}: {inert.line(card_words.reason(call), limit=150)}")
    if profile := card_words.profile(view, call):
        lines.append(tell("details.may_touch", what=inert.line(shown(recall(profile)), limit=120)))
    lines += card_words.network(call)
    lines += _consent(view, call)
    lines += [tell("details.earlier", said=said) for said in card_words.refusals(view, most=3)]
    lines += [
        tell("details.asked_again", change=inert.line(shown(recall(change)), limit=120))
        for change in view.changed.get(id, ())[:2]
    ]
    lines += card_words.undone(view.undos.get(id), call)
    lines += card_words.changes(call, limit=160, most=2)
    lines += card_words.read_before(call, most=5)
    lines += card_words.secrets_of(call)[:3]
    lines += card_words.holds_while(call)[:2]
    lines += [tell("details.digest", digest=call.digest), drawn.text]
    files = [_file(f"call-{call.id}.txt", arguments.whole(call.arguments))] if drawn.hidden else []
    files += _to_edit(call)
    if call.original is not None and length(arguments.raw(call.original)) > _ROOM // 4:
        files.append(_file(f"before-{call.id}.txt", arguments.whole(call.original)))
    if call.result:
        lines.append(
            tell("details.result") if call.exit_code is None else tell("details.result_code", code=call.exit_code)
        )
        room = CONTENT - length("\n".join(lines)) - _FRAMES
        cut = inert.excerpt(call.result, head=max(room, 2) // 2, tail=max(room, 2) // 2, lines=12)
        if room > _FRAMES and cut is None:
            lines.append(inert.block(call.result))
        elif cut is not None and room > _FRAMES:
            drawn_cut = (inert.fence(cut.head), tell("details.cut", n=cut.hidden), inert.fence(cut.tail))
            lines.extend(drawn_cut)
        if cut is not None or room <= _FRAMES:
            files.append(_file(f"result-{call.id}.txt", inert.encode(call.result, inert.Form.FILE)))
    return "\n".join(lines), files


async def show(interaction: discord.Interaction, view: CardView, id: str) -> None:
    """Answer with it, privately."""
    text, files = compose(view, id)
    call = next((call for call in view.approvals if call.id == id), None)
    await whisper(interaction, text, files=files, view=reveal.below(call))


def _consent(view: CardView, call: Approval) -> Iterator[str]:
    """Which rule says who decides, and who has."""
    if (rule := view.deciders.get(call.id)) is not None:
        rule = shown(rule)
        yield rule if length(rule) <= _RULE else f"{rule[:_RULE]}…"
    if votes := view.votes.get(call.id):
        yield tell("details.approved", names=", ".join(f"<@{vote.person}> {_stamp(vote.at)}" for vote in votes[:4]))
    standing = view.standings.get(call.id)
    if standing is not None and card_words.progress(standing, call):
        yield tell("details.still_missing", n=standing.more)


def _to_edit(call: Approval) -> list[discord.File]:
    """What is too long for the form of `Edit…`, in the form in which it can be changed and uploaded."""
    if call.state is not ApprovalState.PENDING or call.kind != ToolKind.APPROVAL:
        return []
    if reveal.hides(call):
        return []  # `Reveal` has the call as a file, for approvers
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    if length(text) <= MODAL_INPUT:
        return []
    only = next(iter(call.arguments.values())) if len(call.arguments) == 1 else None
    if isinstance(only, str):
        return [_file(f"edit-{call.id}.txt", only)]
    return [_file(f"edit-{call.id}.json", text)]


def _times(call: Approval) -> str:
    parts = [
        tell("details.asked", person=call.requester, at=_stamp(call.requested_at)),
        tell("details.deadline", at=_stamp(call.expires_at)),
    ]
    if call.settled_at is not None and call.settled_by is not None:
        who = tell("details.by", person=call.settled_by) if call.settled_by.isdecimal() else ""
        parts.append(tell("details.settled", who=who, at=_stamp(call.settled_at)))
    if call.finished_at is not None:
        parts.append(tell("details.ended", at=_stamp(call.finished_at)))
    if call.started_at is not None and call.finished_at is not None:
        parts.append(tell("details.took", time=card_words.duration(call.finished_at - call.started_at)))
    return ", ".join(parts)


def _stamp(milliseconds: int) -> str:
    return f"<t:{milliseconds // 1000}:f>"


def _file(name: str, text: str) -> discord.File:
    return discord.File(io.BytesIO(text.encode("utf-8", "backslashreplace")), filename=name)
