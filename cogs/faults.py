"""What Discord's refusals mean for a message: never, or not now. Each in one sentence for people.

A cut connection and a server error leave open whether the message exists; the nonce takes care of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import aiohttp
import discord

from bot.errors import DeliveryError, Gone, Locked, Unreachable
from bot.texts.text import joined, say

MISSING_ACCESS, MISSING_PERMISSIONS = 50001, 50013
ARCHIVED, LOCKED, TOO_MANY_THREADS, SLOW_MODE = 50083, 160005, 160006, 20016
_NO_REPLY_WITHOUT_HISTORY = 160002
HAS_A_THREAD = 160004
_TOO_LARGE = 40005

_GONE = {
    10003: say("faults.no_channel"),
    10004: say("faults.not_in_server"),
    10008: say("faults.deleted"),
}
_CLOSED = {
    ARCHIVED: say("faults.archived"),
    LOCKED: say("faults.locked"),
}
_NEVER = {
    MISSING_ACCESS: say("faults.cannot_see"),
    50007: say("faults.dm_closed"),
    50008: say("faults.no_messages"),
    MISSING_PERMISSIONS: say("faults.lacks_something"),
    40067: say("faults.forum_tag"),
    50278: say("faults.no_shared_server"),
    TOO_MANY_THREADS: say("faults.too_many_threads"),
}
_LATER = {
    SLOW_MODE: say("faults.slow_mode"),
    20028: say("faults.channel_limit"),
    20029: say("faults.server_limit"),
    30046: say("faults.edited_often"),
    40003: say("faults.dm_fast"),
}
"""Codes of Discord's documentation, "JSON error codes"."""


class NotAccepted(Unreachable):
    """The message itself was wrong: its form, or something it refers to."""


@contextmanager
def delivering(missing: Callable[[], list[str]] = list, slow: Callable[[], int] = int) -> Iterator[None]:
    """Turn what discord.py raises into `DeliveryError` or `Unreachable`, with a sentence for people.

    `missing` names the permissions that are lacking, where that can be known; `slow` gives a channel's slow mode in
    seconds likewise.
    """
    try:
        yield
    except discord.RateLimited as error:
        raise DeliveryError(say("faults.wait"), after_ms=int(error.retry_after * 1000)) from error
    except discord.HTTPException as error:
        raise _meaning(error, missing, slow) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError(say("faults.connection")) from error


def is_too_large(error: discord.HTTPException) -> bool:
    """Whether a file was refused for its size."""
    return error.status == 413 or error.code == _TOO_LARGE


def is_archived(error: discord.HTTPException) -> bool:
    """Whether a thread was asleep; a locked one stays so."""
    return error.code == ARCHIVED


def is_reply_refused(error: discord.HTTPException) -> bool:
    """Whether only the reference to another message was refused."""
    return error.code == _NO_REPLY_WITHOUT_HISTORY


def _meaning(error: discord.HTTPException, missing: Callable[[], list[str]], slow: Callable[[], int]) -> DeliveryError:
    if error.code in {MISSING_ACCESS, MISSING_PERMISSIONS} and (names := missing()):
        return Unreachable(say("faults.lacks", lacking=joined(names)))
    if error.code in _GONE:
        return Gone(_GONE[error.code])
    if error.code in _CLOSED:
        return Locked(_CLOSED[error.code])
    if error.code in _NEVER:
        return Unreachable(_NEVER[error.code])
    if error.code in _LATER:
        return DeliveryError(_LATER[error.code], after_ms=slow() * 1000 if error.code == SLOW_MODE else 0)
    if error.status == 429 or error.status >= 500:
        return DeliveryError(say("faults.trouble"))
    if error.status in {403, 404}:
        return Unreachable(say("faults.no_writing"))
    if error.status == 401:
        return DeliveryError(say("faults.token"))
    return NotAccepted(say("faults.not_accepted", code=error.code))
