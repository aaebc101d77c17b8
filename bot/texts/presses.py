"""What is said about presses and submitted forms, privately."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "unknown": text(
        "I do not know this button any more, so nothing was changed. `/approvals` shows what is open.",
        de="Diesen Knopf kenne ich nicht mehr, deshalb wurde nichts geändert. `/approvals` zeigt, was offen ist.",
    ),
    "broken": text(
        "Something went wrong inside me. The card and `/approvals` show whether this counted. (Log entry {id}.)",
        de=(
            "Bei mir ist etwas schiefgegangen. Ob das gezählt hat, zeigen die Karte und `/approvals`. (Log-Eintrag"
            " {id}.)"
        ),
    ),
    "not_confirmed": text(
        "Nothing was approved: the form wants the word {word}.",
        de="Nichts wurde genehmigt: Das Formular braucht das Wort {word}.",
    ),
    "counted": text(
        "Your approval counts. The card shows who else has to approve.",
        de="Deine Genehmigung zählt. Die Karte zeigt, wer noch genehmigen muss.",
    ),
    "late": text(
        "I was too slow to look that up, so nothing was changed. Press the button again.",
        de="Das Nachsehen hat zu lange gedauert, deshalb wurde nichts geändert. Klick noch einmal auf den Knopf.",
    ),
    "extended": text(
        "It waits until <t:{until}:f> now, <t:{until}:R>.", de="Jetzt wartet es bis <t:{until}:f>, <t:{until}:R>."
    ),
    "not_all": text("Not all of them: {why}", de="Nicht alle: {why}"),
}
