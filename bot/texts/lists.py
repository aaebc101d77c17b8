"""What is said in private lists."""

from __future__ import annotations

from bot.texts.entry import button, text

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
    "empty_concerns": text(
        "Nothing here waits for you to decide, and nothing that you asked for is open.",
        de="Hier wartet nichts auf deine Entscheidung, und nichts, worum du gebeten hast, ist offen.",
    ),
    "empty_mine": text("Nothing that you asked for is open here.", de="Nichts, worum du gebeten hast, ist hier offen."),
    "empty_team": text(
        "Nothing that others asked for waits here for you to decide.",
        de="Nichts, worum andere gebeten haben, wartet hier auf deine Entscheidung.",
    ),
    "empty_all": text("Nothing waits for a decision here.", de="Nichts wartet hier auf eine Entscheidung."),
    "page": text("Page {page} of {pages}, {requests} requests", de="Seite {page} von {pages}, {requests} Anfragen"),
    "others": text(
        "{n} more that you can see: `/approvals show: all`",
        de="{n} weitere, die du sehen kannst: `/approvals show: all`",
    ),
    "unseen": text(
        "{n} more in channels that you cannot open", de="{n} weitere in Kanälen, die du nicht öffnen kannst"
    ),
    "row": text(
        "{what} · {state}\nAsked by {asked}, expires <t:{expires}:R> · `{id}`\n{call}",
        de="{what} · {state}\nGefragt von {asked}, läuft ab <t:{expires}:R> · `{id}`\n{call}",
    ),
    "back": button("Back", de="Zurück"),
    "look_again": button("Look again", de="Neu laden"),
    "next": button("Next", de="Weiter"),
    "you": text("you", de="dir"),
}
