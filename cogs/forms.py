"""What people submit in forms and pick in lists: carried out, and given back when it was in vain.

Nobody types for nothing: whatever keeps a text from counting is said together with the text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import discord

from bot.deferral.grants import Remember
from bot.engine import Engine
from bot.errors import DecisionRefused
from bot.surface import Press
from bot.texts.text import say
from cogs import grant_words, inert, modals
from cogs.interactions import DISCORD_FAILED, whisper
from cogs.speech import tell
from storage.approvals import ApprovalState

logger = logging.getLogger(__name__)

MOST_BYTES = 256 * 1024
"""Of an uploaded file with arguments: more than any model emits."""
_DOWNLOAD_SECONDS = 20.0

BLANK = say("forms.blank")
NO_REASON = say("forms.no_reason")
CHANGED = say("forms.changed")


async def answer(engine: Engine, press: Press, text: str) -> None:
    """Answer a question. Raises `DecisionRefused`."""
    if not text.strip():
        raise DecisionRefused("blank", BLANK)
    try:
        await engine.answer(press, text)
    except DecisionRefused as refusal:
        raise given_back(refusal, text) from refusal


async def deny(engine: Engine, press: Press, reason: str) -> None:
    """Deny with a reason. Raises `DecisionRefused`."""
    if not reason.strip():
        raise DecisionRefused("blank", NO_REASON)
    try:
        await engine.decide(press, "deny", reason=reason.strip())
    except DecisionRefused as refusal:
        raise given_back(refusal, reason) from refusal


async def remember(engine: Engine, press: Press, interaction: discord.Interaction) -> None:
    """Approve a call and the very same from then on, and say what that came to. Raises `DecisionRefused`."""
    chosen = next(iter(modals.filled(interaction).get(modals.TERMS, ())), "")
    if chosen not in set(Remember):
        raise DecisionRefused("blank", say("grants.no_terms"))
    call = await engine.decide(press, "approve", remember=Remember(chosen))
    if call.state is ApprovalState.PENDING:
        await whisper(interaction, tell("grants.wished"))
        return
    grant = await engine.granting.made_with(call)
    if grant is None:
        await whisper(interaction, tell("grants.only_once"))
    else:
        await whisper(interaction, tell("grants.remembered", rest=grant_words.remaining(grant)))


async def edit(engine: Engine, press: Press, interaction: discord.Interaction) -> None:
    """Change a call's arguments, from the form's file if there is one. Raises `DecisionRefused`."""
    upload = modals.uploaded(interaction)
    text = await _read(interaction, upload) if upload is not None else modals.typed(interaction)
    try:
        await engine.edits.edit(press, text)
    except DecisionRefused as refusal:
        # A file is still with the person who uploaded it.
        raise (given_back(refusal, text) if upload is None else refusal) from refusal
    await whisper(interaction, CHANGED)


def given_back(refusal: DecisionRefused, text: str) -> DecisionRefused:
    """The refusal together with what somebody took the time to type."""
    return DecisionRefused(refusal.code, say("forms.given_back", sentence=refusal.sentence, text=_quoted(text)))


def _quoted(text: str) -> str:
    cut = inert.excerpt(text, head=900, tail=300, lines=25)
    if cut is None:
        return inert.block(text)
    return f"{inert.fence(cut.head)}\n-# {tell('forms.hidden', n=cut.hidden)}\n{inert.fence(cut.tail)}"


async def _read(interaction: discord.Interaction, upload: Mapping[str, Any]) -> str:
    """The text of an uploaded file. Raises `DecisionRefused`."""
    if int(upload.get("size", 0)) > MOST_BYTES:
        raise DecisionRefused("file_too_large", say("forms.too_large", most=MOST_BYTES // 1024))
    try:
        async with asyncio.timeout(_DOWNLOAD_SECONDS):
            content = await interaction.client.http.get_from_cdn(str(upload["url"]))
        if len(content) > MOST_BYTES:
            raise DecisionRefused("file_too_large", say("forms.larger_than_said"))
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecisionRefused("file_not_text", say("forms.not_text")) from error
    except DISCORD_FAILED as error:
        logger.warning("upload not read", extra={"action": "upload_failed", "problem": repr(error)})
        raise DecisionRefused("file_not_read", say("forms.not_read")) from error
