"""What `/why` says around the story of a request."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "no_such": text(
        "There is no such request here. Its id stands on its card, and in `/approvals`.",
        de="So eine Anfrage gibt es hier nicht. Ihre Kennung steht auf ihrer Karte und in `/approvals`.",
    ),
    "left_out": text(
        "-# {n} more, which `signoff audit show {id}` tells", de="-# {n} weitere, die `signoff audit show {id}` erzählt"
    ),
}
