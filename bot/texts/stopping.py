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
    "stopped_too": text(
        "What was running was stopped as well: {calls}. What it had done by then stands.",
        de="Was lief, wurde auch gestoppt: {calls}. Was es bis dahin getan hatte, bleibt.",
    ),
    "cut_short": stored("A person stopped it while it ran.", de="Jemand hat es gestoppt, während es lief."),
    "answer": text(
        "-# Stopped by {who} before it was complete.", de="-# Von {who} gestoppt, bevor sie vollständig war."
    ),
    "answer_running": text(
        "-# Stopped by {who} before it was complete, and with it what was running: {calls}. What that had done stands.",
        de=(
            "-# Von {who} gestoppt, bevor sie vollständig war, und damit auch, was lief: {calls}. Was das getan hatte,"
            " bleibt."
        ),
    ),
}
