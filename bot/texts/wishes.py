"""What is said about how people want to be told what is theirs."""

from __future__ import annotations

from bot.texts.entry import command, option, text

ENTRIES = {
    "command": command("How your answers and results reach you.", de="Wie dich Antworten und Ergebnisse erreichen."),
    "where": command(
        "Where they go when you do not say; at first the channel where you asked.",
        de="Wohin sie gehen, wenn du nichts sagst; anfangs in den Kanal, wo du gefragt hast.",
    ),
    "quiet": command(
        "Hours in which they make no sound, like 22:00-07:00; off for none.",
        de="Stunden, in denen sie keinen Ton machen, wie 22:00-07:00; off für keine.",
    ),
    "timezone": command("Whose clock that is, like Europe/Berlin.", de="Wessen Uhr das ist, wie Europe/Berlin."),
    "in_channel": option("the channel", de="der Kanal"),
    "directly": option("a direct message", de="eine Direktnachricht"),
    "both": option("both", de="beides"),
    "none": option("the channel, and nobody is notified", de="der Kanal, ohne Benachrichtigung"),
    "says_channel": text(
        "Your answers and results come in the channel where you asked, unless you say otherwise.",
        de="Deine Antworten und Ergebnisse kommen in den Kanal, in dem du gefragt hast, wenn du nichts anderes sagst.",
    ),
    "says_dm": text(
        "Your answers and results come as direct messages, unless you say otherwise.",
        de="Deine Antworten und Ergebnisse kommen als Direktnachricht, wenn du nichts anderes sagst.",
    ),
    "says_both": text(
        (
            "Your answers and results come in the channel where you asked and as direct messages, unless you say"
            " otherwise."
        ),
        de=(
            "Deine Antworten und Ergebnisse kommen in den Kanal, in dem du gefragt hast, und als Direktnachricht, wenn"
            " du nichts anderes sagst."
        ),
    ),
    "says_none": text(
        (
            "Your answers and results come in the channel where you asked, and do not notify you. What waits for your"
            " decision still does."
        ),
        de=(
            "Deine Antworten und Ergebnisse kommen in den Kanal, in dem du gefragt hast, und benachrichtigen dich"
            " nicht. Was auf deine Entscheidung wartet, tut es weiterhin."
        ),
    ),
    "says_unset": text(
        (
            "You set nothing. Your answers and results come in the channel where you asked, unless you or the server"
            " say otherwise."
        ),
        de=(
            "Du hast nichts eingestellt. Deine Antworten und Ergebnisse kommen in den Kanal, in dem du gefragt hast,"
            " wenn du oder der Server nichts anderes sagen."
        ),
    ),
    "says_quiet": text(
        "From {hours} ({timezone}) they make no sound.", de="Von {hours} ({timezone}) machen sie keinen Ton."
    ),
    "not_hours": text(
        "Quiet hours are written like 22:00-07:00; `off` ends them. Nothing was changed.",
        de="Ruhezeiten schreibt man wie 22:00-07:00; `off` beendet sie. Es wurde nichts geändert.",
    ),
    "not_a_timezone": text(
        "I do not know that time zone; write one like Europe/Berlin. Nothing was changed.",
        de="Diese Zeitzone kenne ich nicht; schreib eine wie Europe/Berlin. Es wurde nichts geändert.",
    ),
}
