"""The story of one request, as `/why` tells it."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "asked_again": text(
        "{tool} was asked again for {actor}, in place of `{before}`{why}",
        de="{tool} wurde noch einmal für {actor} gefragt, anstelle von `{before}`{why}",
    ),
    "asked": text("{tool} was asked for {actor}{why}", de="{tool} wurde für {actor} gefragt{why}"),
    "refused": text(
        "{actor} tried, and was refused: {code}", de="{actor} hat es versucht und wurde abgewiesen: {code}"
    ),
    "somebody": text("Somebody", de="Jemand"),
    "edited": text(
        "{actor} changed what would run; what was asked before is `{before}`",
        de="{actor} hat geändert, was laufen würde; vorher gefragt war `{before}`",
    ),
    "extended": text("{actor} put its deadline off", de="{actor} hat die Frist hinausgeschoben"),
    "voted": text("{actor} voted: {verdict}", de="{actor} hat gestimmt: {verdict}"),
    "again": text(
        "{actor} asked for it once more, as another request",
        de="{actor} hat noch einmal danach fragen lassen, als eine andere Anfrage",
    ),
    "grant_before": text(
        "{makers} had allowed exactly this call before (grant `{grant}`)",
        de="{makers} hatte genau diesen Aufruf vorher erlaubt (Erlaubnis `{grant}`)",
    ),
    "approved": text("{actor} approved it", de="{actor} hat es genehmigt"),
    "grant_made": text(
        "{makers} allowed the very call from then on (grant `{grant}`)",
        de="{makers} hat genau diesen Aufruf von da an erlaubt (Erlaubnis `{grant}`)",
    ),
    "use_counted": text("Use {use}{of} of the grant was counted", de="Nutzung {use}{of} der Erlaubnis wurde gezählt"),
    "denied": text("{actor} denied it{note}", de="{actor} hat es abgelehnt{note}"),
    "expired": text("Its time ran out, and nobody had decided", de="Die Zeit lief ab, und niemand hatte entschieden"),
    "not_shown": text("It could not be shown to anybody{note}", de="Es konnte niemandem gezeigt werden{note}"),
    "void": text("It became void{note}", de="Es wurde ungültig{note}"),
    "claimed": text("It was claimed, and the tool began", de="Es wurde übernommen, und das Werkzeug hat begonnen"),
    "exit_code": text(", exit code {code}", de=", Exit-Code {code}"),
    "answered": text("{actor} answered", de="{actor} hat geantwortet"),
    "delivered": text("Its result was delivered{by}", de="Das Ergebnis wurde übergeben{by}"),
    "reported_failed": text("It was reported as failed{by}", de="Es wurde als fehlgeschlagen gemeldet{by}"),
    "ran": text("It ran to its end{after}", de="Es lief bis zum Ende{after}"),
    "failed": text("It ran and failed{after}", de="Es lief und schlug fehl{after}"),
    "interrupted": text(
        "The program stopped while it ran; nobody knows how far it got",
        de="Das Programm wurde beendet, während es lief; niemand weiß, wie weit es kam",
    ),
    "unknown": text(
        "It began, and nobody knows whether it took effect: {note}",
        de=("Es begann, und niemand weiß, ob es etwas bewirkt hat: {note}"),
    ),
    "directly": text(" directly to {who}", de=" direkt an {who}"),
    "in_channel": text(" in channel {channel}", de=" in Kanal {channel}"),
    "card_posted": text(
        "The card was posted{where}, as message {message}",
        de="Die Karte wurde{where} geschickt, als Nachricht {message}",
    ),
    "card_failed": text(
        "The card could not be posted{where}: {problem}", de="Die Karte konnte{where} nicht geschickt werden: {problem}"
    ),
    "card_deleted": text(
        "Somebody deleted the card{where}, message {message}",
        de="Jemand hat die Karte{where} gelöscht, Nachricht {message}",
    ),
    "locked": text("its thread was locked", de="ihr Thread wurde gesperrt"),
    "unseen": text("nobody who may decide can see it", de="niemand, der entscheiden darf, kann sie sehen"),
    "where_instead": text("Where the card is instead", de="Wo die Karte stattdessen ist"),
    "the_answer": text("The answer", de="Die Antwort"),
    "by_dm": text(" by direct message", de=" als Direktnachricht"),
    "said": text("{what} was said{way}, as message {message}", de="{what} wurde{way} gesagt, als Nachricht {message}"),
    "in_inbox": text(
        "{what} could not be said anywhere, and lies in the inbox{problem}",
        de="{what} konnte nirgends gesagt werden und liegt im Postfach{problem}",
    ),
    "not_said": text("{what} could not be said{way}{problem}", de="{what} konnte{way} nicht gesagt werden{problem}"),
    "of": text(" of {n}", de=" von {n}"),
    "grant_denied": text(
        "{actor} denied a call like it, which ended its grant",
        de="{actor} hat einen gleichen Aufruf abgelehnt, und damit endete die Erlaubnis",
    ),
    "grant_revoked": text("{actor} revoked its grant", de="{actor} hat die Erlaubnis widerrufen"),
    "cancelled": text("It was cancelled{by}{note}", de="Es wurde{by} abgebrochen{note}"),
    "by": text(" by {actor}", de=" von {actor}"),
    "request_ended": text("The request ended: {how}", de="Die Anfrage ist zu Ende: {how}"),
    "job_ended": text("The job ended: {how}", de="Der Auftrag ist zu Ende: {how}"),
    "other": text("{event}{by}{more}", de="{event}{by}{more}"),
    "nothing_ran": text(
        "It could not start, so nothing ran{note}", de="Es konnte nicht anfangen, deshalb ist nichts gelaufen{note}"
    ),
    "card_useless": text(
        "The card{where} helped nobody any more: {why}", de="Die Karte{where} half niemandem mehr: {why}"
    ),
    "reminder": text("A reminder", de="Eine Erinnerung"),
    "done": text("done", de="fertig"),
    "how_failed": text("failed", de="fehlgeschlagen"),
    "timed_out": text("timed out", de="Zeit zu Ende"),
    "how_cancelled": text("cancelled", de="abgebrochen"),
    "lost": text("lost", de="verloren"),
}
