"""What `Details` says of one call."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "other_now": text(
        "This call was changed meanwhile: look at the card again.",
        de="Dieser Aufruf wurde inzwischen geändert: Sieh dir die Karte noch einmal an.",
    ),
    "key": text("Its key there", de="Sein Schlüssel dort"),
    "why": text("Why it asked", de="Warum es gefragt hat"),
    "may_touch": text("May touch: {what}", de="Darf anfassen: {what}"),
    "earlier": text("Earlier in this request: {said}", de="Früher in dieser Anfrage: {said}"),
    "asked_again": text("Asked again: {change}", de="Noch einmal gefragt: {change}"),
    "digest": text("Digest: `{digest}`", de="Prüfsumme: `{digest}`"),
    "result": text("Result", de="Ergebnis"),
    "result_code": text("Result, exit code {code}", de="Ergebnis, Exit-Code {code}"),
    "cut": text("-# {n:,} characters not shown", de="-# {n:,} Zeichen nicht gezeigt"),
    "still_missing": text("Still missing: {n}", de="Fehlt noch: {n}"),
    "asked": text("Asked by <@{person}> {at}", de="Gefragt von <@{person}> {at}"),
    "deadline": text("deadline {at}", de="Frist {at}"),
    "settled": text("settled{who} {at}", de="entschieden{who} {at}"),
    "ended": text("ended {at}", de="beendet {at}"),
    "took": text("took {time}", de="hat {time} gedauert"),
    "approved": text("Approved by {names}", de="Genehmigt von {names}"),
    "by": text(" by <@{person}>", de=" von <@{person}>"),
}
