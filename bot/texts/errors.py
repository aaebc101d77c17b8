"""What somebody is told whose command failed."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "broken": text(
        "Something went wrong inside me, so this may not have worked. It is in my log under {id}.",
        de=(
            "Bei mir ist etwas schiefgegangen, vielleicht hat das also nicht geklappt. Es steht unter {id} in"
            " meinem Log."
        ),
    ),
    "outdated": text(
        "My commands have changed since your Discord loaded them. Restart Discord (Ctrl+R), then try again.",
        de=(
            "Meine Befehle haben sich geändert, seit dein Discord sie geladen hat. Starte Discord neu (Strg+R) und"
            " versuch es dann noch einmal."
        ),
    ),
    "not_for_you": text("You cannot use this command here.", de="Du kannst diesen Befehl hier nicht benutzen."),
    "not_installed": text(
        "I only work in servers that I was added to, and in direct messages with me. Ask an administrator to add me.",
        de=(
            "Ich arbeite nur auf Servern, zu denen ich hinzugefügt wurde, und in Direktnachrichten mit mir. Bitte die"
            " Verwaltung, mich hinzuzufügen."
        ),
    ),
    "option": text(
        "I cannot read one of the options: {value!r}", de="Eine der Angaben kann ich nicht lesen: {value!r}"
    ),
}
