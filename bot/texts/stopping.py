"""What is said when a turn is stopped."""

from __future__ import annotations

from bot.texts.entry import stored, text

ENTRIES = {
    "note": stored("the turn was stopped", de="die Bearbeitung wurde gestoppt"),
    "unknown": text("This request is not known any more.", de="Diese Anfrage ist nicht mehr bekannt."),
    "not_yours": text(
        "Only the person who asked for this, or an approver, can stop it. Nothing changed.",
        de="Stoppen kann das nur, wer darum gebeten hat, oder ein Genehmiger. Nichts hat sich geändert.",
    ),
    "stopped": text("Stopped.", de="Gestoppt."),
    "cancelled": text(
        "What it still asked for was cancelled: {calls}.", de="Was noch gefragt war, wurde abgebrochen: {calls}."
    ),
    "not_stopped": text("What runs already goes on: {calls}.", de="Was schon läuft, geht weiter: {calls}."),
    "answer": text(
        "-# Stopped by {who} before it was complete.", de="-# Von {who} gestoppt, bevor sie vollständig war."
    ),
    "answer_running": text(
        ("-# Stopped by {who} before it was complete. What runs already goes on: {calls}. Its card shows how it ends."),
        de=(
            "-# Von {who} gestoppt, bevor sie vollständig war. Was schon läuft, geht weiter: {calls}. Wie es"
            " endet, zeigt die Karte."
        ),
    ),
}
