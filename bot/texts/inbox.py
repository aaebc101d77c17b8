"""What is said about results that could not be delivered."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "empty": text("Nothing is waiting for you here.", de="Hier wartet nichts auf dich."),
    "unseen": text(
        "-# {count} more from places that you cannot see any more",
        de="-# {count} weitere aus Orten, die du nicht mehr sehen kannst",
    ),
    "rest": text("-# {n} more: `/inbox` again", de="-# {n} weitere: noch einmal `/inbox`"),
    "long": text(
        "{beginning}…\n-# The whole has {n:,} characters; it is attached.",
        de="{beginning}…\n-# Das Ganze hat {n:,} Zeichen; es hängt an.",
    ),
    "from": text("From {link}", de="Aus {link}"),
    "from_me": text("From me, about my start", de="Von mir, über meinen Start"),
    "as_dm": text("As a direct message", de="Als Direktnachricht"),
}
