"""What is said about changes to a call, and about putting off its deadline."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "has_that": text(
        "This request has that very call already, so nothing was changed. Deny one of them.",
        de="Diese Anfrage hat genau diesen Aufruf schon, deshalb wurde nichts geändert. Lehne einen davon ab.",
    ),
    "not_usable": text(
        "This cannot be used, so nothing was changed. {problem}",
        de="Das lässt sich nicht verwenden, deshalb wurde nichts geändert. {problem}",
    ),
    "same": text(
        "That is what the card shows already, so nothing was changed.",
        de="Das zeigt die Karte schon, deshalb wurde nichts geändert.",
    ),
    "unknown": text(
        "This request is not known any more; nothing changed.",
        de="Diese Anfrage ist nicht mehr bekannt; nichts hat sich geändert.",
    ),
    "refused": text(
        "Policy refuses that, so nothing was changed: {rule}.",
        de="Das wird verweigert, deshalb wurde nichts geändert: {rule}.",
    ),
    "meanwhile": text(
        "It was decided or changed meanwhile, so nothing was changed.",
        de="Darüber wurde inzwischen entschieden, oder es wurde geändert; deshalb wurde nichts geändert.",
    ),
    "not_as_stored": text(
        "This request is not as this bot stored it, so nothing was changed.",
        de="Diese Anfrage ist nicht so, wie dieser Bot sie gespeichert hat, deshalb wurde nichts geändert.",
    ),
    "no_tool": text(
        "The tool {tool} is not there any more; nothing changed.",
        de="Das Werkzeug {tool} gibt es nicht mehr; nichts hat sich geändert.",
    ),
    "nothing_waits": text(
        "Nothing on this card waits any more; your press changed nothing.",
        de="Auf dieser Karte wartet nichts mehr; dein Klick hat nichts geändert.",
    ),
    "most_extensions": text(
        "The deadline has been put off {most} times; that is the most.",
        de="Die Frist wurde schon {most}-mal hinausgeschoben; öfter geht es nicht.",
    ),
    "decided_meanwhile": text(
        "It was decided meanwhile, so nothing was changed.",
        de="Darüber wurde inzwischen entschieden, deshalb wurde nichts geändert.",
    ),
    "not_storable": text(
        "It holds something that cannot be stored: {problem}.",
        de="Darin ist etwas, das nicht gespeichert werden kann: {problem}.",
    ),
    "not_json": text("It is not valid JSON: {problem}.", de="Das ist kein gültiges JSON: {problem}."),
    "not_object": text(
        "It has to be a JSON object: names and values in braces.",
        de="Es muss ein JSON-Objekt sein: Namen und Werte in geschweiften Klammern.",
    ),
    "no_call": text(
        "No call `{id}` waits for a result from elsewhere; nothing changed.",
        de="Kein Aufruf `{id}` wartet auf ein Ergebnis von anderswo; nichts hat sich geändert.",
    ),
    "result_long": text(
        "The result has more than {most:,} characters; nothing changed.",
        de="Das Ergebnis hat mehr als {most:,} Zeichen; nichts hat sich geändert.",
    ),
    "result_late": text(
        "Its deadline has passed, so this result was not used.",
        de="Die Frist ist vorbei, deshalb wurde dieses Ergebnis nicht verwendet.",
    ),
    "result_settled": text(
        "This had already been settled; this result was not used. {sentence}",
        de="Darüber war schon entschieden; dieses Ergebnis wurde nicht verwendet. {sentence}",
    ),
}
