"""What is said about a server's own rules."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "saved": text("Saved. It counts for every call from now on.", de="Gespeichert. Es gilt ab jetzt für jeden Aufruf."),
    "dropped": text("Your draft is gone. Nothing was changed.", de="Dein Entwurf ist weg. Nichts wurde geändert."),
}
