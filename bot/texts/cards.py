"""What stands on cards: state, circumstances, buttons."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "approve": button("Approve", de="Genehmigen"),
    "question": text("Question", de="Frage"),
    "deny": button("Deny", de="Ablehnen"),
    "cancel": button("Cancel", de="Abbrechen"),
    "details": button("Details", de="Details"),
    "not_attached": text(
        "-# The whole call could not be attached, so it cannot be approved from this card.",
        de=(
            "-# Der ganze Aufruf ließ sich nicht anhängen, deshalb kann er von dieser Karte aus nicht genehmigt werden."
        ),
    ),
    "result_not_attached": text(
        "-# The whole result could not be attached here; **Details** shows more of it.",
        de="-# Das ganze Ergebnis ließ sich hier nicht anhängen; **Details** zeigt mehr davon.",
    ),
    "earlier": text("-# Earlier in this request: {said}", de="-# Früher in dieser Anfrage: {said}"),
    "for_job": text("{who}, for job `{job}`{by}", de="{who}, für Auftrag `{job}`{by}"),
    "key": text("-# Its key there: {key}", de="-# Sein Schlüssel dort: {key}"),
    "resolve": text(
        "-# Its result is handed in with `signoff resolve {id}`",
        de="-# Sein Ergebnis wird mit `signoff resolve {id}` übergeben",
    ),
    "asked_again": text("⚠ Asked again: {change}", de="⚠ Noch einmal gefragt: {change}"),
    "why": text("-# Why it asks: {reason}", de="-# Warum es fragt: {reason}"),
    "may_touch": text("-# May touch: {what}", de="-# Darf anfassen: {what}"),
    "size": text("-# {n:,} characters in all, digest {digest}", de="-# {n:,} Zeichen insgesamt, Prüfsumme {digest}"),
    "calls": text("### {n} calls\n{requester} · `{card}`\n\n", de="### {n} Aufrufe\n{requester} · `{card}`\n\n"),
    "took": text(" It took {time}.", de=" Es hat {time} gedauert."),
    "began": text(" It began <t:{at}:R>.", de=" Es hat <t:{at}:R> begonnen."),
    "less": text("less than 0.1 s", de="weniger als 0,1 s"),
    "approved_by_small": text("-# Approved by {names}", de="-# Genehmigt von {names}"),
    "approved_by": text("Approved by {names}.", de="Genehmigt von {names}."),
    "one_of_role": text("one of <@&{role}>", de="jemand mit <@&{role}>"),
    "more": text("{n} more", de="noch {n}"),
    "changed_by": text(
        "✎ <@{person}> changed{what} {before} → {after}", de="✎ <@{person}> hat{what} geändert {before} → {after}"
    ),
    "more_arguments": text("✎ and {n} more arguments", de="✎ und {n} weitere Argumente"),
    "was_denied": text("{name} was denied by <@{person}>", de="{name} wurde von <@{person}> abgelehnt"),
    "unanswered": text("nobody answered about {name}", de="niemand hat sich zu {name} geäußert"),
    "and_more": text("{said}, and {n} more", de="{said}, und {n} weitere"),
    "read_before": text("Proposed after reading {names}", de="Vorgeschlagen nach dem Lesen von {names}"),
    "read_much_before": text(
        "Proposed after reading {names} and {n} more", de="Vorgeschlagen nach dem Lesen von {names} und {n} weiteren"
    ),
    "sends": text("Sends {method} to {host}, path {path}", de="Sendet {method} an {host}, Pfad {path}"),
    "sends_headers": text("Headers: {names}", de="Kopfzeilen: {names}"),
    "sends_body": text("Body: {n:,} bytes, SHA-256 {digest}", de="Inhalt: {n:,} Byte, SHA-256 {digest}"),
    "sends_nothing": text("No body", de="Kein Inhalt"),
    "network": text("⚠ Network: **on**, granted by the rule {rule}", de="⚠ Netz: **an**, gewährt von der Regel {rule}"),
    "holds_while": text(
        "Counts only while {name} stays as it is: {mark}", de="Gilt nur, solange {name} bleibt, wie es ist: {mark}"
    ),
    "posted_again": text(
        "\n-# Posted once more: the card before this one was deleted.",
        de="\n-# Noch einmal geschickt: Die Karte davor wurde gelöscht.",
    ),
    "expires": text("Expires <t:{at}:R>{again}", de="Läuft ab <t:{at}:R>{again}"),
    "deadline": text("-# Deadline <t:{at}:f>", de="-# Frist <t:{at}:f>"),
    "deny_reason": button("Deny with reason…", de="Ablehnen mit Begründung…"),
    "edit": button("Edit…", de="Ändern…"),
    "answer": button("Answer…", de="Antworten…"),
    "run_again": button("Run again", de="Noch einmal fragen"),
    "approve_all": button("Approve all", de="Alle genehmigen"),
    "deny_all": button("Deny all", de="Alle ablehnen"),
    "cancel_all": button("Cancel all", de="Alle abbrechen"),
    "extend": button("Extend", de="Verlängern"),
    "missing": text("Missing: {wanted}.", de="Es fehlt: {wanted}."),
    "of": text("{given} of {needed}", de="{given} von {needed}"),
    "blank": text("(nothing)", de="(nichts)"),
    "seconds": text("{seconds:.1f} s", de="{seconds:.1f} s"),
    "asked_of": text("Asked of <@{person}>{where}", de="Gefragt ist <@{person}>{where}"),
    "asked_by": text("Asked by <@{person}>{where}", de="Gefragt von <@{person}>{where}"),
    "of_schedule": text(" of {schedule}", de=" aus {schedule}"),
}
