"""What the owner is told after a start."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "endpoint": text(
        "Commands and buttons do not reach me: an Interactions Endpoint URL is set. Clear it: {link}",
        de=("Befehle und Knöpfe erreichen mich nicht: Eine „Interactions Endpoint URL“ ist gesetzt. Leere sie: {link}"),
    ),
    "back": text(
        "I am back. The process before this one, which began <t:{at}:f>, died without being stopped.",
        de=("Ich bin wieder da. Der Prozess vor diesem, der <t:{at}:f> begann, ist gestorben, ohne beendet zu werden."),
    ),
    "nothing_lost": text("Nothing was open, so nothing was lost.", de="Nichts war offen, also ging nichts verloren."),
    "restarted": text("I have been restarted.", de="Ich wurde neu gestartet."),
    "gone_on": text("Gone on with: {what}.", de="Weitergemacht mit: {what}."),
    "and_more": text(" and {n} more", de=" und {n} weitere"),
    "waits": text(
        (
            "Waits for a decision: {n} call. Cards go on working; see `/approvals`.",
            "Waits for a decision: {n} calls. Cards go on working; see `/approvals`.",
        ),
        de=(
            "Auf eine Entscheidung wartet: {n} Aufruf. Karten funktionieren weiter; siehe `/approvals`.",
            "Auf eine Entscheidung warten: {n} Aufrufe. Karten funktionieren weiter; siehe `/approvals`.",
        ),
    ),
    "requests": text(("{n} request", "{n} requests"), de=("{n} Anfrage", "{n} Anfragen")),
    "jobs": text(
        ("{n} background job", "{n} background jobs"), de=("{n} Hintergrundauftrag", "{n} Hintergrundaufträge")
    ),
    "approved": text(
        ("{n} call that had been approved and not begun", "{n} calls that had been approved and not begun"),
        de=("{n} Aufruf, der genehmigt und nicht begonnen war", "{n} Aufrufe, die genehmigt und nicht begonnen waren"),
    ),
    "interrupted": text(
        (
            (
                "Interrupted: {n} call ran when the process ended. Nobody knows how far, so nothing of it is run again"
                " by itself: {named}{more}. `/why` tells the story of each."
            ),
            (
                "Interrupted: {n} calls ran when the process ended. Nobody knows how far, so nothing of it is run again"
                " by itself: {named}{more}. `/why` tells the story of each."
            ),
        ),
        de=(
            (
                "Unterbrochen: {n} Aufruf lief, als der Prozess endete. Niemand weiß, wie weit, deshalb wird nichts"
                " davon von selbst noch einmal ausgeführt: {named}{more}. `/why` erzählt die Geschichte."
            ),
            (
                "Unterbrochen: {n} Aufrufe liefen, als der Prozess endete. Niemand weiß, wie weit, deshalb wird nichts"
                " davon von selbst noch einmal ausgeführt: {named}{more}. `/why` erzählt die Geschichte von jedem."
            ),
        ),
    ),
    "given_up": text(
        (
            "Given up: {n} request, because the process died over it twice. Whoever asked is told.",
            "Given up: {n} requests, because the process died over it twice. Whoever asked is told.",
        ),
        de=(
            "Aufgegeben: {n} Anfrage, weil der Prozess zweimal darüber gestorben ist. Wer gefragt hat, erfährt es.",
            "Aufgegeben: {n} Anfragen, weil der Prozess zweimal darüber gestorben ist. Wer gefragt hat, erfährt es.",
        ),
    ),
    "expired": text(
        (
            "Expired: {n} call whose deadline passed while I was away. Nothing ran.",
            "Expired: {n} calls whose deadline passed while I was away. Nothing ran.",
        ),
        de=(
            "Abgelaufen: {n} Aufruf, dessen Frist endete, während ich weg war. Nichts ist gelaufen.",
            "Abgelaufen: {n} Aufrufe, deren Frist endete, während ich weg war. Nichts ist gelaufen.",
        ),
    ),
    "told_late": text(
        ("Told late: {n} message that people were owed.", "Told late: {n} messages that people were owed."),
        de=(
            "Spät gesagt: {n} Nachricht, auf die jemand wartete.",
            "Spät gesagt: {n} Nachrichten, auf die jemand wartete.",
        ),
    ),
}
