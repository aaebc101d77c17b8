"""What is said about results that could not be delivered."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "empty": text("Nothing is waiting for you here.", de="Hier wartet nichts auf dich."),
    "unseen": text(
        "-# {count} more from places that you cannot see any more",
        de="-# {count} weitere aus Orten, die du nicht mehr sehen kannst",
    ),
    "to_channel": text("in the channel where you asked", de="in den Kanal, in dem du gefragt hast"),
    "to_dm": text("as a direct message", de="als Direktnachricht"),
    "to_both": text(
        "in the channel where you asked and as a direct message",
        de="in den Kanal, in dem du gefragt hast, und als Direktnachricht",
    ),
    "rest": text("-# {n} more: `/inbox` again", de="-# {n} weitere: noch einmal `/inbox`"),
    "set": text(
        "From now on your results come {where}, unless you say otherwise.",
        de="Ab jetzt kommen deine Ergebnisse {where}, wenn du nichts anderes sagst.",
    ),
    "long": text(
        "{beginning}…\n-# The whole has {n:,} characters; it is attached.",
        de="{beginning}…\n-# Das Ganze hat {n:,} Zeichen; es hängt an.",
    ),
    "from": text("From {link}", de="Aus {link}"),
    "from_me": text("From me, about my start", de="Von mir, über meinen Start"),
    "as_dm": text("As a direct message", de="Als Direktnachricht"),
}
