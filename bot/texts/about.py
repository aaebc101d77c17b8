"""What is said about questions on a message, which people ask from its menu."""

from __future__ import annotations

from bot.texts.entry import label, placeholder, text, title

ENTRIES = {
    "title": title("Ask about this message", de="Zu dieser Nachricht fragen"),
    "question": label("Your question", de="Deine Frage"),
    "example": placeholder("What does this mean?", de="Was bedeutet das?"),
    "shown": text("-# About {link}", de="-# Zu {link}"),
    "empty": text(
        (
            "There is nothing in this message that I could read: no text, and no file. Use `/ask` and tell me what you"
            " see."
        ),
        de=(
            "In dieser Nachricht ist nichts, was ich lesen könnte: kein Text und keine Datei. Nimm `/ask` und sag mir,"
            " was du siehst."
        ),
    ),
    "for_you_alone": text(
        (
            "Only you can see that message, and everybody here would see my answer. Ask about it with `/ask`, in your"
            " own words, or send it to me directly."
        ),
        de=(
            "Diese Nachricht siehst nur du, und meine Antwort sähen hier alle. Frag danach mit `/ask` in deinen"
            " eigenen Worten, oder schick sie mir direkt."
        ),
    ),
    "late": text(
        "I was too slow to open the form. Try again.",
        de="Ich war zu langsam, um das Formular zu öffnen. Versuch es noch einmal.",
    ),
    "unknown": text(
        "I do not know any more which message this form was about. Open it again from that message's menu.",
        de=(
            "Ich weiß nicht mehr, um welche Nachricht es in diesem Formular ging. Öffne es noch einmal aus dem Menü"
            " dieser Nachricht."
        ),
    ),
    "blank": text("Nothing was asked: the form was blank.", de="Es wurde nichts gefragt: Das Formular war leer."),
    "directly": text(
        "I cannot write here, so I answer you directly: {link}",
        de="Ich kann hier nicht schreiben, deshalb antworte ich dir direkt: {link}",
    ),
    "nowhere": text(
        "{lacking} I could not write to you directly either, so nothing was asked.",
        de="{lacking} Direkt konnte ich dir auch nicht schreiben, deshalb wurde nichts gefragt.",
    ),
}
