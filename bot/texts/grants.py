"""What is said of grants: making one, what is left of it, why it does not hold, ending it."""

from __future__ import annotations

from bot.texts.entry import button, command, label, option, placeholder, text, title

ENTRIES = {
    # -- making one
    "button": button("Approve and remember…", de="Genehmigen und merken…"),
    "title": title("Approve and remember", de="Genehmigen und merken"),
    "covers": text(
        (
            "This approves the call on the card. The very same call (every argument, and all that it depends on), asked"
            " by the same person in the same place, then runs without a card to press. One byte of difference, and it"
            " is asked. `/grants` lists it and ends it; so does a denial, and so does losing the right to approve."
        ),
        de=(
            "Das genehmigt den Aufruf auf der Karte. Genau derselbe Aufruf (jedes Argument und alles, wovon er"
            " abhängt), von derselben Person am selben Ort verlangt, läuft danach, ohne dass jemand etwas drücken muss."
            " Ein Byte Unterschied, und es wird gefragt. `/grants` zeigt und beendet das; auch eine Ablehnung beendet"
            " es, und auch, wenn du nicht mehr genehmigen darfst."
        ),
    ),
    "how_long": label("For how long", de="Für wie lange"),
    "half_hour": option("30 minutes", de="30 Minuten"),
    "five_times": option("5 uses, within a day", de="5-mal, innerhalb eines Tages"),
    "until_revoked": option("Until somebody revokes it", de="Bis jemand es widerruft"),
    "no_terms": text(
        "Nothing was approved: the form says not for how long.",
        de="Nichts wurde genehmigt: Im Formular steht nicht, für wie lange.",
    ),
    "wished": text(
        (
            "Your approval counts. The card shows who else has to approve; the call is remembered if all of them choose"
            " so, for the shortest that one of you chose."
        ),
        de=(
            "Deine Genehmigung zählt. Die Karte zeigt, wer noch genehmigen muss. Gemerkt wird der Aufruf, wenn alle das"
            " wählen, und zwar für das Kürzeste, was einer von euch gewählt hat."
        ),
    ),
    "only_once": text(
        "Approved for this once. It is not remembered, because not everybody whose approval it needed chose so.",
        de="Nur für dieses Mal genehmigt: Nicht alle, deren Genehmigung nötig war, wollten es gemerkt haben.",
    ),
    "remembered": text("Approved, and remembered: {rest}.", de="Genehmigt und gemerkt: {rest}."),
    # -- why there can be none
    "off": text(
        "Grants are switched off here (SIGNOFF_GRANTS), so nothing was approved. Approve it for this once.",
        de="Gemerkt wird hier nichts (SIGNOFF_GRANTS), deshalb wurde nichts genehmigt. Genehmige es für dieses Mal.",
    ),
    "of_a_job": text(
        "Only calls of a request that somebody made here can be remembered, not those of jobs.",
        de="Nur Aufrufe einer Anfrage, die jemand hier gestellt hat, können gemerkt werden, nicht die von Aufträgen.",
    ),
    "never": text(
        "This call cannot be remembered: it {why}. Approve it for this once.",
        de="Dieser Aufruf kann nicht gemerkt werden: {why}. Genehmige ihn für dieses Mal.",
    ),
    "no_tool": text("is of a tool that is not there any more", de="sein Werkzeug gibt es nicht mehr"),
    "no_consent": text("is not one that is approved", de="er ist keiner, der genehmigt wird"),
    "changes_file": text(
        "changes the very file that it is bound to, so it would never be the same again",
        de="er ändert die Datei, an die er gebunden ist, und wäre nie wieder derselbe",
    ),
    "secret": text("is given a secret ({name})", de="er bekommt ein Geheimnis ({name})"),
    "program": text(
        "runs a program's text or a command line ({name}), and nobody can tell whether it does the same twice",
        de=(
            "er führt einen Programmtext oder eine Befehlszeile aus ({name}), und niemand kann sagen, ob das zweimal"
            " dasselbe tut"
        ),
    ),
    "unreadable": text(
        "names a command that cannot be read ({name})", de="er nennt einen Befehl, der nicht lesbar ist ({name})"
    ),
    "wrapper": text("{why}", de="mit ihm liefe, was man dem Programm gibt ({why})"),
    "too_many": text(
        (
            "There are {n:,} grants for that person here already, so nothing was approved. Revoke one (`/grants`), or"
            " approve it for this once."
        ),
        de=(
            "Für diese Person sind hier schon {n:,} Aufrufe gemerkt, deshalb wurde nichts genehmigt. Widerrufe einen"
            " (`/grants`), oder genehmige es für dieses Mal."
        ),
    ),
    "not_recorded": text(
        "This could not be put on the record, so nothing was changed. Tell whoever runs this bot.",
        de="Das ließ sich nicht ins Protokoll schreiben, deshalb wurde nichts geändert. Sag es dem Besitzer des Bots.",
    ),
    # -- why one does not hold
    "lapsed": text(
        "the grant that would have allowed it does not hold any more: {why}",
        de="die Erlaubnis, mit der es gelaufen wäre, gilt nicht mehr: {why}",
    ),
    "was_revoked": text("{who} revoked it.", de="{who} hat sie widerrufen."),
    "was_denied": text("{who} denied a call like it.", de="{who} hat einen gleichen Aufruf abgelehnt."),
    "another_application": text(
        "this bot is another Discord application now.", de="dieser Bot ist jetzt eine andere Discord-Anwendung."
    ),
    "not_genuine": text("it is not as this bot stored it.", de="sie ist nicht so, wie dieser Bot sie gespeichert hat."),
    "another_call": text("it is for another call.", de="sie gilt für einen anderen Aufruf."),
    "became_job": text(
        "the request goes on as a job now, and none holds there.",
        de="die Anfrage läuft jetzt als Auftrag weiter, und dort gilt keine.",
    ),
    "used_up": text("it has been used up.", de="sie ist aufgebraucht."),
    "over": text("its time is over.", de="ihre Zeit ist um."),
    "switched_off": text("grants are switched off here.", de="hier wird nichts gemerkt."),
    "makers_unknown": text(
        "whether those who made it still may could not be found out ({problem}).",
        de="ob die, die sie gegeben haben, das noch dürfen, war nicht herauszufinden ({problem}).",
    ),
    "use_not_recorded": text(
        "its use could not be put on the record.", de="ihre Nutzung ließ sich nicht ins Protokoll schreiben."
    ),
    # -- what is left of one
    "allowed": text(
        "-# Allowed by a grant of {makers}: {rest}. `/grants` lists it.",
        de="-# Läuft mit einer Erlaubnis von {makers}: {rest}. `/grants` zeigt sie.",
    ),
    "made_here": text(
        "-# {makers} allowed this exact call of {requester} here from then on: {rest}. `/grants` lists it.",
        de="-# {makers} erlaubt genau diesen Aufruf von {requester} hier seitdem: {rest}. `/grants` zeigt es.",
    ),
    "uses_left": text(("{n} use left", "{n} uses left"), de=("noch {n}-mal", "noch {n}-mal")),
    "until": text("ends <t:{at}:R>", de="endet <t:{at}:R>"),
    "open_ended": text("until somebody revokes it", de="bis jemand es widerruft"),
    "for_a_time": text("for a time", de="eine Zeit lang"),
    "ended_since": text("it was ended since", de="inzwischen beendet"),
    # -- the list
    "command": command(
        "What runs here without asking, for how long still, and an end to it.",
        de="Was hier ohne Rückfrage läuft, wie lange noch, und ein Ende damit.",
    ),
    "empty": text(
        "Nothing is remembered here: every call that policy asks about has a card of its own.",
        de="Hier ist nichts gemerkt: Jeder Aufruf, nach dem die Regeln fragen, bekommt seine eigene Karte.",
    ),
    "entry": text(
        "{tool} · {rest}\nFor {requester}{where}, given by {makers} <t:{made}:R>, {used}{last} · `{id}`\n{call}",
        de="{tool} · {rest}\nFür {requester}{where}, von {makers} <t:{made}:R>, {used}{last} · `{id}`\n{call}",
    ),
    "used": text(("used {n} time", "used {n} times"), de=("{n}-mal genutzt", "{n}-mal genutzt")),
    "last_used": text(", last <t:{at}:R>", de=", zuletzt <t:{at}:R>"),
    "page": text("-# Page {page} of {pages}, {n} grants", de="-# Seite {page} von {pages}, {n} Erlaubnisse"),
    "unseen": text(
        "-# {n} more in channels that you cannot open", de="-# {n} weitere in Kanälen, die du nicht öffnen kannst"
    ),
    "revoke": placeholder("Revoke…", de="Widerrufen…"),
    "back": button("Back", de="Zurück"),
    "look_again": button("Look again", de="Noch einmal nachsehen"),
    "next": button("Next", de="Weiter"),
    "revoked": text("Revoked: {tool} is asked about again.", de="Widerrufen: {tool} wird wieder gefragt."),
    "ended": text(
        "This grant had ended already; your press changed nothing.",
        de="Diese Erlaubnis war schon zu Ende; dein Klick hat nichts geändert.",
    ),
    "unknown": text(
        "This grant is not known here; nothing changed.",
        de="Diese Erlaubnis ist hier nicht bekannt; nichts wurde geändert.",
    ),
    "not_a_list": text(
        "Such a button stands in a private list only, so nothing was changed. `/grants` shows one.",
        de="So ein Knopf steht nur in einer privaten Liste, deshalb wurde nichts geändert. `/grants` zeigt eine.",
    ),
    # -- while it runs
    "runs": text(
        "Allowed by a grant, so nobody is asked: see the card.",
        de="Es gibt eine Erlaubnis dafür, deshalb wird niemand gefragt: siehe die Karte.",
    ),
    "none_here": text("there are none here.", de="hier gibt es keine."),
}
