"""What is said of a card whose place failed."""

from __future__ import annotations

from bot.texts.entry import stored, text

ENTRIES = {
    "deleted": stored("The card was deleted there.", de="Die Karte wurde dort gelöscht."),
    "place_deleted": stored("The place with the card was deleted.", de="Der Ort mit der Karte wurde gelöscht."),
    "locked": stored("The thread with the card is locked.", de="Der Thread mit der Karte ist gesperrt."),
    "nobody_sees": stored(
        "Nobody who may decide can see the card there.", de="Niemand, der entscheiden darf, kann die Karte dort sehen."
    ),
    "instead": text(
        "I could not show this {where}: {problem} It waits for a decision here.",
        de="Ich konnte das nicht {where} zeigen: {problem} Es wartet hier auf eine Entscheidung.",
    ),
    "where_it_should": text("where it should be", de="dort, wo es hingehört,"),
    "directly": text("Directly to {who}: {problem}", de="Direkt an {who}: {problem}"),
    "no_member": stored(
        "They are no member of the server where it was asked.",
        de="Die Person ist kein Mitglied des Servers, auf dem gefragt wurde.",
    ),
    "card_in": text("the card is in {places}", de="die Karte ist in {places}"),
    "card_direct": text(
        "the card went directly to those who decide", de="die Karte ging direkt an die, die entscheiden"
    ),
    "where_directly": text("directly", de="direkt"),
}
