"""What is said about secrets that a call refers to, to whoever wrote it; and of those that are shown covered."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "not_usable": text(
        "This cannot be used, so nothing was changed. {why}",
        de="Das lässt sich nicht verwenden, deshalb wurde nichts geändert. {why}",
    ),
    "holds": text(
        "It holds a secret ({name}) or the mask of one, and neither may stand in a call.",
        de="Darin steht ein Geheimnis ({name}) oder dessen Maske, und beides darf nicht in einem Aufruf stehen.",
    ),
    "malformed": text(
        "It has a reference to a secret that is not written as one.",
        de="Darin steht ein Verweis auf ein Geheimnis, der nicht wie einer geschrieben ist.",
    ),
    "unknown": text("There is no secret called {name}.", de="Es gibt kein Geheimnis namens {name}."),
    "not_for": text("The secret {name} is not for {tool}.", de="Das Geheimnis {name} ist nicht für {tool}."),
    "gone": text(
        "the secret {name} is not there for {tool} any more",
        de="das Geheimnis {name} gibt es für {tool} nicht mehr",
    ),
    "masked": text(
        (
            "{n} part that looks like a credential is masked; `Reveal` shows it to approvers",
            "{n} parts that look like credentials are masked; `Reveal` shows them to approvers",
        ),
        de=(
            "{n} Teil, der wie ein Zugangsschlüssel aussieht, ist verdeckt; `Aufdecken` zeigt ihn Genehmigern",
            "{n} Teile, die wie Zugangsschlüssel aussehen, sind verdeckt; `Aufdecken` zeigt sie Genehmigern",
        ),
    ),
    "reveal": button("Reveal", de="Aufdecken"),
    "revealed": text(
        "What the card of {tool} (`{id}`) masks. Only you see this, and the trail says that you have looked.",
        de="Was die Karte von {tool} (`{id}`) verdeckt. Nur du siehst das; im Verlauf steht, dass du nachgesehen hast.",
    ),
    "looked": text("{actor} looked at what its card masks", de="{actor} hat nachgesehen, was die Karte verdeckt"),
    "named": text("named secrets: {names}", de="benannte Geheimnisse: {names}"),
    "used": text(
        "Uses the secret {name}, put in when it runs; that is for {what}",
        de="Verwendet das Geheimnis {name}, das beim Ausführen eingesetzt wird; es ist für {what}",
    ),
}
