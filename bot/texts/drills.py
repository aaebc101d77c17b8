"""What is said about drills."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "begins": text(
        "The drill begins. Its card is in this channel, and so will be the report, <t:{ends}:R> at the latest.",
        de=(
            "Die Übung beginnt. Ihre Karte ist in diesem Kanal, und der Bericht kommt auch hierher, spätestens"
            " <t:{ends}:R>."
        ),
    ),
    "counted": text(
        "Your press counts: it took {took}. This is a drill, so nothing ran.",
        de="Dein Klick zählt: Es hat {took} gedauert. Das ist eine Übung, deshalb ist nichts gelaufen.",
    ),
    "what_it_is": text(
        "This is a drill. **Approve** runs nothing: it finds out who can decide here, and how fast.",
        de=(
            "Das ist eine Übung. **Genehmigen** führt nichts aus: Es zeigt, wer hier entscheiden kann, und wie schnell."
        ),
    ),
    "pressed": text("- <@{person}> after {took}", de="- <@{person}> nach {took}"),
    "nobody_yet": text("Nobody has pressed yet.", de="Noch hat niemand gedrückt."),
    "ends": text("It ends <t:{ends}:R>.", de="Sie endet <t:{ends}:R>."),
    "over": text("over", de="vorbei"),
    "waiting": text("waiting for presses", de="wartet auf Klicks"),
    "head": text(
        "### Drill · {state}\nStarted by <@{person}>, for {who}",
        de="### Übung · {state}\nBegonnen von <@{person}>, für {who}",
    ),
    "for_whom": text(
        "A drill is for approvers, for those who manage this server, and for the owner of the bot.",
        de="Eine Übung ist für Genehmiger, für alle, die diesen Server verwalten, und für den Besitzer des Bots.",
    ),
    "nobody_can": text(
        "Nobody can decide here, so nobody was asked.",
        de="Hier kann niemand entscheiden, deshalb wurde niemand gefragt.",
    ),
    "under_way": text(
        "A drill is under way in this server already. It ends by itself.",
        de="Auf diesem Server läuft schon eine Übung. Sie endet von selbst.",
    ),
    "unknown": text("This drill is not known here.", de="Diese Übung ist hier nicht bekannt."),
    "not_approver": text(
        "You are not an approver here, so this does not count. {help} This is a drill: nothing runs.",
        de="Du bist hier kein Genehmiger, deshalb zählt das nicht. {help} Das ist eine Übung: Nichts läuft.",
    ),
    "pressed_already": text(
        "You have pressed already, or this drill is over. Nothing ran.",
        de="Du hast schon gedrückt, oder diese Übung ist vorbei. Nichts ist gelaufen.",
    ),
    "not_posted": text(
        "The request could not be posted: {problem}", de="Die Anfrage konnte nicht geschickt werden: {problem}"
    ),
    "over_head": text(
        "The drill is over: {n} pressed. Nothing ran.",
        de="Die Übung ist vorbei: {n} haben gedrückt. Nichts ist gelaufen.",
    ),
    "report_pressed": text(
        "- <@{person}> pressed{held} after {took}", de="- <@{person}> hat gedrückt{held}, nach {took}"
    ),
    "direct": text("a direct message", de="einer Direktnachricht"),
    "this_channel": text("this channel", de="diesem Kanal"),
    "report_not_pressed": text(
        "- <@{person}> did not press; the request was in {where}",
        de="- <@{person}> hat nicht gedrückt; die Anfrage stand in {where}",
    ),
    "report_unreached": text(
        "- <@{person}> could not be reached: {problem}", de="- <@{person}> war nicht zu erreichen: {problem}"
    ),
    "report_role": text("- of <@&{role}> nobody pressed", de="- von <@&{role}> hat niemand gedrückt"),
    "as_member": text(" as a member of {roles}", de=" als Mitglied von {roles}"),
}
