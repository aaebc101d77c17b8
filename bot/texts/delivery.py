"""What is said when something comes another way than it should."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "result_here": text(
        "I could not send you the result as a direct message; it is in this channel.",
        de="Ich konnte dir das Ergebnis nicht als Direktnachricht schicken; es steht in diesem Kanal.",
    ),
    "reached_meanwhile": text(
        "That message has reached you another way meanwhile.",
        de="Diese Nachricht hat dich inzwischen auf anderem Weg erreicht.",
    ),
    "answer_here": text(
        "I could not send you the answer as a direct message; it is in this channel.",
        de="Ich konnte dir die Antwort nicht als Direktnachricht schicken; sie steht in diesem Kanal.",
    ),
    "not_directly": text("I could not tell you directly: {why}", de="Ich konnte es dir nicht direkt sagen: {why}"),
    "not_in_place": text(
        "I could not say this where it was asked: {why}", de="Ich konnte das nicht dort sagen, wo gefragt wurde: {why}"
    ),
    "after": text(" after {time}", de=" nach {time}"),
    "command_ended": text(
        "The background command `{command}` ({id}) {how}{took}. Ask me for its output if you want to see it.",
        de=(
            "Der Hintergrundbefehl `{command}` ({id}) {how}{took}. Frag mich nach seiner Ausgabe, wenn du sie sehen"
            " willst."
        ),
    ),
    "command_runs": text("runs", de="läuft"),
    "command_exited": text("has ended with exit code {code}", de="ist mit Exit-Code {code} zu Ende"),
    "command_stopped": text("was stopped", de="wurde gestoppt"),
    "command_time": text(
        "was stopped, because it had run for as long as it may", de="wurde gestoppt, weil er so lange lief, wie er darf"
    ),
    "command_failed": text(
        "was never begun: its sandbox could not be set up",
        de="hat nie begonnen: Seine Sandbox ließ sich nicht einrichten",
    ),
    "command_lost": text(
        "is gone, and nobody knows how far it came: the machine was restarted, or it was killed from outside",
        de=(
            "ist weg, und niemand weiß, wie weit er kam: Die Maschine wurde neu gestartet, oder er wurde von außen"
            " beendet"
        ),
    ),
    "instead": text("{what} ({why})", de="{what} ({why})"),
}
