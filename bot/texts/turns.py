"""What is said about turns: how they begin, wait and end."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "not_begun": text(
        "Something went wrong inside me before I could begin. The log has the details.",
        de="Bei mir ist etwas schiefgegangen, bevor ich anfangen konnte. Die Einzelheiten stehen im Log.",
    ),
    "not_asked_again": text(
        "Something went wrong inside me before I could ask again. The log has the details.",
        de="Bei mir ist etwas schiefgegangen, bevor ich noch einmal fragen konnte. Die Einzelheiten stehen im Log.",
    ),
    "stop": button("Stop", de="Stopp"),
    "continue": button("Continue in background", de="Im Hintergrund weiter"),
    "not_yours_to_send": text(
        "Only the person who asked for this, or an approver, can send it into the background. Nothing changed.",
        de=(
            "In den Hintergrund schicken kann das nur, wer danach gefragt hat, oder ein Genehmiger. Nichts hat sich"
            " geändert."
        ),
    ),
    "in_background": text(
        "This went on in the background as job `{id}`. Its own card shows how it goes, and its result will be"
        " announced.",
        de=(
            "Das ist im Hintergrund weitergegangen, als Auftrag `{id}`. Wie es läuft, zeigt seine eigene Karte, und das"
            " Ergebnis wird angekündigt."
        ),
    ),
    "sent": text(
        "It goes on in the background as job `{id}`. This conversation is free for something else; the result will be"
        " announced.",
        de=(
            "Es geht im Hintergrund weiter, als Auftrag `{id}`. Diese Unterhaltung ist frei für anderes; das Ergebnis"
            " wird angekündigt."
        ),
    ),
    "over": text(
        "This had already ended; your press changed nothing.",
        de="Das war schon zu Ende; dein Klick hat nichts geändert.",
    ),
    "no_room": text(
        "It was not sent into the background: {reached}. It goes on here; press again when one of them has ended.",
        de=(
            "Es wurde nicht in den Hintergrund geschickt: {reached}. Hier geht es weiter; klick noch einmal, wenn einer"
            " davon zu Ende ist."
        ),
    ),
    "full_person": text(
        ("{n} of your jobs is at work already", "{n} of your jobs are at work already"),
        de=("{n} Auftrag von dir ist schon in Arbeit", "{n} Aufträge von dir sind schon in Arbeit"),
    ),
    "full_space": text(
        ("{n} job is at work here already", "{n} jobs are at work here already"),
        de=("{n} Auftrag ist hier schon in Arbeit", "{n} Aufträge sind hier schon in Arbeit"),
    ),
    "full_bot": text(
        ("{n} job is at work already, as many as I take", "{n} jobs are at work already, as many as I take"),
        de=(
            "{n} Auftrag ist schon in Arbeit, mehr nehme ich nicht",
            "{n} Aufträge sind schon in Arbeit, mehr nehme ich nicht",
        ),
    ),
}
