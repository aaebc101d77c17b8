"""Gives up a session that Discord takes up no more, and identifies anew.

discord.py resumes without a pause for as long as the socket closes with a code that allows it, so a dead session would
be resumed for ever by a process that looks healthy (openclaw/openclaw#20668).
"""

from __future__ import annotations

import logging

from discord.gateway import ReconnectWebSocket

logger = logging.getLogger(__name__)

MOST_RESUMES = 5
"""Connections in a row that end before a session stands. The next one begins a session of its own."""
_IDENTIFY_SECONDS = 5.0
_LONGEST_SECONDS = 40.0
"""discord.py gives a connection attempt 60 seconds, this wait included."""


class Resuming:
    """Counts what came of connections, for one client."""

    def __init__(self) -> None:
        self._failed = 0

    def stands(self) -> None:
        """A session began, or was taken up."""
        self._failed = 0

    def broke(self, error: BaseException | None) -> None:
        """A connection ended; `error` is what discord.py is about to act on."""
        self._failed += 1
        if self._failed > MOST_RESUMES and isinstance(error, ReconnectWebSocket) and error.resume:
            logger.warning(
                "Discord did not take up the session in %d tries; a new one begins",
                self._failed - 1,
                extra={"action": "session_given_up"},
            )
            error.resume = False

    def wait_seconds(self) -> float:
        """How long to wait before identifying anew: longer each time, because Discord counts them (1,000 a day)."""
        beyond = max(0, self._failed - MOST_RESUMES - 1)
        return float(min(_IDENTIFY_SECONDS * 2 ** min(beyond, 10), _LONGEST_SECONDS))
