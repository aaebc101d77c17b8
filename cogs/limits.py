"""Discord's numbers in one place (developer documentation: messages, components, application commands).

discord.py checks few of them, and Discord answers 50035 to the rest.
"""

from __future__ import annotations

import base64
import hashlib

from cogs.speech import tell

PORTAL = "https://discord.com/developers/applications"
"""Where applications are set up."""

CONTENT = 2_000
"""Characters of a message's content."""
CARD_TEXT = 4_000
"""Characters summed over all text displays of a components v2 message."""
COMPONENTS = 40
"""Components of a message, nested ones included."""
LIST = 1_800
"""Of a message's content, for the lines of a list: what comes before and behind it has the rest."""
CUSTOM_ID = 100
BUTTON_LABEL = 80
BUTTONS_IN_ROW = 5
MODAL_TITLE = 45
MODAL_INPUT = 4_000
NONCE = 25
THREAD_NAME = 100


def length(text: str) -> int:
    """Length in UTF-16 code units.

    Whether Discord counts these or code points is not documented; this one is never the smaller.
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def nonce(key: str, piece: int = 0) -> str:
    """The mark by which Discord takes a repeated create for the same message (`enforce_nonce`, a few minutes).

    The same logical message and piece give the same mark in every attempt and every process.
    """
    digest = hashlib.blake2b(f"{piece}/{key}".encode(), digest_size=15).digest()
    return base64.b32encode(digest).decode("ascii").lower()


def listed(entries: list[str], *, room: int = LIST) -> str:
    """Lines of a list in one message; what does not fit into `room` characters is counted."""
    shown: list[str] = []
    for entry in entries:
        room -= length(entry) + 1
        if room < 0:
            break
        shown.append(entry)
    if len(shown) < len(entries):
        shown.append(tell("words.more", n=len(entries) - len(shown)))
    return "\n".join(shown)
