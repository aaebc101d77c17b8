"""What `/doctor` finds, and what to do about it."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "not_for_you": text(
        (
            "This is for approvers, for those who manage this server, and for the owner of the bot. Ask one of them"
            " to run it."
        ),
        de=(
            "Das ist für Genehmiger, für alle, die diesen Server verwalten, und für den Besitzer des Bots. Bitte"
            " jemanden davon darum."
        ),
    ),
    "need_a_look": text("{bad} of {all} need a look.", de="{bad} von {all} brauchen einen Blick."),
    "all_fine": text("All {all} are in order.", de="Alle {all} sind in Ordnung."),
    "hidden": text(
        "{n} more in which I was asked lately were not looked at: you cannot open them",
        de="{n} weitere, in denen ich zuletzt gefragt wurde, habe ich nicht angesehen: Du kannst sie nicht öffnen",
    ),
}
