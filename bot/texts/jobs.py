"""What is said about background jobs."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "commands": text("Commands that run in the background here:", de="Befehle, die hier im Hintergrund laufen:"),
    "command": text(
        "- `{id}` runs · {line}\n  started for {who} in {where} {when}",
        de="- `{id}` läuft · {line}\n  gestartet für {who} in {where} {when}",
    ),
    "direct_messages": text("direct messages", de="Direktnachrichten"),
    "stop_command": button("Stop {id}", de="{id} stoppen"),
    "command_stopped": text(
        "The background command `{id}` is stopped, with all that it had started. Its end is announced.",
        de=(
            "Der Befehl `{id}` im Hintergrund ist gestoppt, mit allem, was er gestartet hatte. Sein Ende wird"
            " angekündigt."
        ),
    ),
    "command_over": text(
        "The background command `{id}` {how}; your press changed nothing.",
        de="Der Befehl `{id}` im Hintergrund läuft nicht mehr ({how}); dein Klick hat nichts geändert.",
    ),
    "no_command": text(
        "There is no such background command any more. `/job list` shows those that run.",
        de="Diesen Befehl im Hintergrund gibt es nicht mehr. `/job list` zeigt, welche laufen.",
    ),
    "not_your_command": text(
        "Only the person this command was started for, or an approver, can stop it. Nothing changed.",
        de=("Stoppen kann ihn nur, für wen er gestartet wurde, oder ein Genehmiger. Nichts hat sich geändert."),
    ),
    "log_file": text("The whole of job `{id}`, for you alone.", de="Alles von Auftrag `{id}`, nur für dich."),
}
