"""How an errand of a face is run, and when a failed one is run again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.errors import DeliveryError
from bot.plain import describe

logger = logging.getLogger(__name__)

FIRST_BACK_OFF_MS = 2_000
LONGEST_BACK_OFF_MS = 300_000
MOST_TRIES = 12
"""With the back-off above, about half an hour of trying."""


def back_off(tries: int, error: DeliveryError | None = None) -> int:
    """Milliseconds to wait after the `tries`-th failed attempt; no less than the error asks for."""
    wait = int(min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** min(tries, 20)))
    return wait if error is None else max(wait, error.after_ms)


@contextmanager
def delivering() -> Iterator[None]:
    """Around every errand of a face. Whatever it raises, the errand has failed and nothing else has."""
    try:
        yield
    except DeliveryError:
        raise
    except Exception as error:
        # The edge to faces: a bug of one must cost neither what is owed nor what others are owed.
        logger.exception("the face failed", extra={"action": "face_failed"})
        raise DeliveryError(describe(error)) from error
