"""What is said in private lists."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "approved": text(
        "Approved. It runs; its card shows what comes of it.",
        de="Genehmigt. Es läuft; was daraus wird, zeigt die Karte.",
    ),
    "denied": text("Denied. Nothing ran.", de="Abgelehnt. Nichts ist gelaufen."),
    "cancelled": text("Cancelled. Nothing ran.", de="Abgebrochen. Nichts ist gelaufen."),
    "not_a_list": text(
        "Such a button stands in a private list only, so nothing was changed. `/approvals` shows one.",
        de=("So ein Knopf steht nur in einer privaten Liste, deshalb wurde nichts geändert. `/approvals` zeigt eine."),
    ),
    "no_access": text(
        "You cannot open that channel any more, so nothing is shown.",
        de="Du kannst diesen Kanal nicht mehr öffnen, deshalb wird nichts gezeigt.",
    ),
}
