"""What is said about turns: how they begin, wait and end."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "not_begun": text(
        "Something went wrong inside me before I could begin. The log has the details.",
        de="Bei mir ist etwas schiefgegangen, bevor ich anfangen konnte. Die Einzelheiten stehen im Log.",
    ),
    "not_asked_again": text(
        "Something went wrong inside me before I could ask again. The log has the details.",
        de="Bei mir ist etwas schiefgegangen, bevor ich noch einmal fragen konnte. Die Einzelheiten stehen im Log.",
    ),
    "stop": button("Stop", de="Stopp"),
}
