"""What is said about what people submit in forms."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "blank": text(
        "Nothing was answered: the form was blank.", de="Es wurde nichts beantwortet: Das Formular war leer."
    ),
    "no_reason": text(
        "Nothing was denied: the form was blank. `Deny` denies without a reason.",
        de="Nichts wurde abgelehnt: Das Formular war leer. `Ablehnen` lehnt ohne Begründung ab.",
    ),
    "changed": text(
        (
            "The card shows the call as you changed it. It waits for approval like any other: nothing was approved"
            " by this."
        ),
        de=(
            "Die Karte zeigt den Aufruf, wie du ihn geändert hast. Er wartet auf eine Genehmigung wie jeder andere:"
            " Genehmigt ist damit noch nichts."
        ),
    ),
    "given_back": text("{sentence}\nYou wrote:\n{text}", de="{sentence}\nDas hattest du geschrieben:\n{text}"),
    "too_large": text(
        "That file is larger than {most} KiB; nothing was changed.",
        de="Diese Datei ist größer als {most} KiB; nichts wurde geändert.",
    ),
    "larger_than_said": text(
        "That file is larger than Discord said; nothing was changed.",
        de="Diese Datei ist größer, als Discord gesagt hat; nichts wurde geändert.",
    ),
    "not_text": text(
        "That file is not text in UTF-8, so nothing was changed.",
        de="Diese Datei ist kein Text in UTF-8, deshalb wurde nichts geändert.",
    ),
    "not_read": text(
        "I could not get that file from Discord, so nothing was changed. Try again.",
        de="Ich konnte diese Datei nicht von Discord holen, deshalb wurde nichts geändert. Versuch es noch einmal.",
    ),
    "not_shown": text(
        "The form could not be shown, so nothing was changed. Press the button again.",
        de="Das Formular ließ sich nicht anzeigen, deshalb wurde nichts geändert. Klick noch einmal auf den Knopf.",
    ),
    "hidden": text(
        ("{n:,} character not shown", "{n:,} characters not shown"),
        de=("{n:,} Zeichen nicht gezeigt", "{n:,} Zeichen nicht gezeigt"),
    ),
}
