"""Single words and small phrases that many texts are made of."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "and": text("{first} and {last}", de="{first} und {last}"),
    "and_more": text("{names} and {n} more", de="{names} und {n} weitere"),
    "more": text("-# and {n} more", de="-# und {n} weitere"),
    "also": text("{first}, and {last}", de="{first} und {last}"),
    "or": text("{first} or {last}", de="{first} oder {last}"),
}
