"""What is said beside answers and announcements."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "asked_in": text("You asked in <#{channel}>.", de="Gefragt hast du in <#{channel}>."),
    "answer_is_here": text("The answer is here: {link}", de="Die Antwort steht hier: {link}"),
    "repeated": text("You may have seen this already.", de="Vielleicht hast du das schon gesehen."),
    "no_text": text("(There is no text in this answer.)", de="(In dieser Antwort steht kein Text.)"),
    "attached": text(
        "-# The whole answer has {n:,} characters; it is attached.",
        de="-# Die ganze Antwort hat {n:,} Zeichen; sie hängt an.",
    ),
    "too_large": text(
        "-# The whole answer has {n:,} characters, too many for Discord.",
        de="-# Die ganze Antwort hat {n:,} Zeichen, zu viele für Discord.",
    ),
    "not_attached": text(
        "-# The whole answer has {n:,} characters, and could not be attached: {why}",
        de="-# Die ganze Antwort hat {n:,} Zeichen und ließ sich nicht anhängen: {why}",
    ),
    "forum_post": text(
        "A request from <#{channel}> waits for a decision.",
        de="Eine Anfrage aus <#{channel}> wartet auf eine Entscheidung.",
    ),
}
