"""How a call's arguments are drawn: what is said between them."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "left_out": text("-# and {n} more, in the file only", de="-# und {n} weitere, nur in der Datei"),
    "none": text("-# no arguments", de="-# keine Argumente"),
    "cut": text("{head}\n-# {n:,} characters not shown\n{tail}", de="{head}\n-# {n:,} Zeichen nicht gezeigt\n{tail}"),
    "yes_or_no": text("{name} (yes or no)", de="{name} (ja oder nein)"),
    "number": text("{name} (number)", de="{name} (Zahl)"),
    "nothing": text("{name} (nothing)", de="{name} (nichts)"),
    "list": text("{name} (list)", de="{name} (Liste)"),
    "object": text("{name} (object)", de="{name} (Objekt)"),
    "invisible": text(
        "It has characters that are invisible or reorder text; they are written as `⟨U+…⟩`.",
        de="Darin sind Zeichen, die unsichtbar sind oder den Text umordnen; sie stehen als `⟨U+…⟩` da.",
    ),
    "right_to_left": text(
        "It has letters that run from right to left; their order on the screen may differ.",
        de=(
            "Darin sind Buchstaben, die von rechts nach links laufen; auf dem Bildschirm kann ihre Reihenfolge"
            " anders sein."
        ),
    ),
    "address": text("The address {shown} is really {real}.", de="Die Adresse {shown} ist in Wirklichkeit {real}."),
    "mixed": text(
        "Letters of different alphabets in one word: {words}.",
        de="Buchstaben verschiedener Alphabete in einem Wort: {words}.",
    ),
    "changes": text("what it changes", de="was es ändert"),
}
