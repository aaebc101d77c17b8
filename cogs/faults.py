"""What Discord's refusals mean for a message: never, or not now. Each in one sentence for people.

A cut connection and a server error leave open whether the message exists; the nonce takes care of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import aiohttp
import discord

from bot.errors import DeliveryError, Gone, Locked, Unreachable

MISSING_ACCESS, MISSING_PERMISSIONS = 50001, 50013
ARCHIVED, LOCKED, TOO_MANY_THREADS, SLOW_MODE = 50083, 160005, 160006, 20016
_NO_REPLY_WITHOUT_HISTORY = 160002
HAS_A_THREAD = 160004
_TOO_LARGE = 40005

_GONE = {
    10003: "That channel does not exist any more.",
    10004: "I am not in that server any more.",
    10008: "That message was deleted.",
}
_CLOSED = {
    ARCHIVED: "That thread is archived, and I may not open it again.",
    LOCKED: "That thread is locked.",
}
_NEVER = {
    MISSING_ACCESS: "I cannot see that channel.",
    50007: "Your direct messages are closed to me.",
    50008: "That kind of channel takes no messages.",
    MISSING_PERMISSIONS: "I lack a permission in that channel.",
    40067: "That forum wants a tag on each post, and I do not know which.",
    50278: "We share no server, so I cannot write to you.",
    TOO_MANY_THREADS: "That server has as many open threads as it can have, so the thread stays archived.",
}
_LATER = {
    SLOW_MODE: "That channel's slow mode makes me wait.",
    20028: "That channel has reached its limit for messages.",
    20029: "That server has reached its limit for messages.",
    30046: "That message is old and was edited too often lately.",
    40003: "I am opening direct messages too fast.",
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
        raise DeliveryError("Discord makes me wait.", after_ms=int(error.retry_after * 1000)) from error
    except discord.HTTPException as error:
        raise _meaning(error, missing, slow) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError("The connection to Discord was interrupted.") from error


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
        return Unreachable(f"I lack {', '.join(names)} in that channel.")
    if error.code in _GONE:
        return Gone(_GONE[error.code])
    if error.code in _CLOSED:
        return Locked(_CLOSED[error.code])
    if error.code in _NEVER:
        return Unreachable(_NEVER[error.code])
    if error.code in _LATER:
        return DeliveryError(_LATER[error.code], after_ms=slow() * 1000 if error.code == SLOW_MODE else 0)
    if error.status == 429 or error.status >= 500:
        return DeliveryError("Discord is having trouble.")
    if error.status in {403, 404}:
        return Unreachable("Discord does not let me write there.")
    if error.status == 401:
        return DeliveryError("Discord does not accept my token any more.")
    return NotAccepted(f"Discord did not accept the message (code {error.code}).")
