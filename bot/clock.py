"""Time and ids as arguments, so that tests own both."""

from __future__ import annotations

import base64
import secrets
import time
from typing import Protocol


class Clock(Protocol):
    """What the house knows of time."""

    def now(self) -> int:
        """The present, in milliseconds since 1970-01-01 UTC."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        """See `Clock.now`."""
        return time.time_ns() // 1_000_000


class NewId(Protocol):
    """Makes ids that nobody can guess."""

    def __call__(self) -> str:
        """A fresh id: 16 characters of a-z and 2-7.

        Short enough for a Discord nonce (25) and for a custom id beside its verb (100); 80 bits, so that an
        id cannot be found by trying.
        """
        ...


def new_id() -> str:
    """See `NewId`."""
    return base64.b32encode(secrets.token_bytes(10)).decode("ascii").lower()
