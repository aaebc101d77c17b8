"""What is said about background jobs."""

from __future__ import annotations

from bot.texts.entry import button, stored, text

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
    "files": text("Files that it made: {names}", de="Dateien, die er gemacht hat: {names}"),
    "files_at_the_card": text(
        "Files that it made: {names}. **Files** on the job's card brings them to you.",
        de="Dateien, die er gemacht hat: {names}. **Dateien** auf der Karte des Auftrags bringt sie dir.",
    ),
    "files_too_large": text(
        "Files that it made: {names}. What is not attached is too much for one message.",
        de="Dateien, die er gemacht hat: {names}. Was nicht angehängt ist, ist zu viel für eine Nachricht.",
    ),
    "no_files": text(
        "There is no file of this job in the workspace any more.",
        de="Von diesem Auftrag gibt es im Arbeitsordner keine Datei mehr.",
    ),
    "log_file": text("The whole of job `{id}`, for you alone.", de="Alles von Auftrag `{id}`, nur für dich."),
    "none_open": text("No background job is open here.", de="Hier ist kein Hintergrundauftrag offen."),
    "no_such": text(
        "There is no such job here. `/job list` shows the open ones.",
        de="So einen Auftrag gibt es hier nicht. `/job list` zeigt die offenen.",
    ),
    "begun": text(
        "{goal}\n-# Background job `{id}`: its result will be announced.",
        de="{goal}\n-# Hintergrundauftrag `{id}`: Sein Ergebnis wird angekündigt.",
    ),
    "line": text(
        "- `{id}` {state} · {goal}\n  started by <@{person}> <t:{at}:R>",
        de="- `{id}` {state} · {goal}\n  begonnen von <@{person}> <t:{at}:R>",
    ),
    "head": text("Job `{id}` · **{state}**", de="Auftrag `{id}` · **{state}**"),
    "started": text("Started by <@{person}> <t:{at}:f>", de="Begonnen von <@{person}> <t:{at}:f>"),
    "and_ended": text(", ended <t:{at}:f>", de=", beendet <t:{at}:f>"),
    "cancelled": text("Job `{id}` is cancelled.", de="Auftrag `{id}` ist abgebrochen."),
    "moved": text(
        "-# This job goes on: its card is [here]({link}) now.",
        de="-# Dieser Auftrag geht weiter: Seine Karte ist jetzt [hier]({link}).",
    ),
    "card": text(
        "### Job · {state}\nFor <@{person}> · `{id}`{by}{goal}",
        de="### Auftrag · {state}\nFür <@{person}> · `{id}`{by}{goal}",
    ),
    "queue_place": text("{state}, place {place} in the queue", de="{state}, Platz {place} in der Schlange"),
    "waits_for": text("Waits for a decision: {link}", de="Wartet auf eine Entscheidung: {link}"),
    "notes": text(
        ("-# {n} note to read at its next stretch", "-# {n} notes to read at its next stretch"),
        de=(
            "-# {n} Notiz, die er beim nächsten Abschnitt liest",
            "-# {n} Notizen, die er beim nächsten Abschnitt liest",
        ),
    ),
    "computed": text("computed {time}", de="{time} gerechnet"),
    "at_work": text(", at work since <t:{at}:R>", de=", an der Arbeit seit <t:{at}:R>"),
    "time_up": text(", time is up <t:{at}:R>", de=", die Zeit ist um <t:{at}:R>"),
    "times": text("-# Started <t:{at}:R> · {computed}", de="-# Begonnen <t:{at}:R> · {computed}"),
    "ended": text("-# Ended <t:{at}:R>", de="-# Beendet <t:{at}:R>"),
    "tokens": text(
        "-# {read:,} tokens read, {written:,} written, {cost}",
        de="-# {read:,} Token gelesen, {written:,} geschrieben, {cost}",
    ),
    "before": text("-# Its card before this one: {link}", de="-# Seine Karte vor dieser: {link}"),
    "files_button": button("Files", de="Dateien"),
    "log": button("Log", de="Protokoll"),
    "send_note": button("Send a note", de="Notiz schicken"),
    "of_budget": text(" of {time}", de=" von {time}"),
    "no_summary": stored(
        "It ended without an error and without a word: there is no summary of what it did.",
        de="Er endete ohne Fehler und ohne ein Wort: Es gibt keine Zusammenfassung davon, was er getan hat.",
    ),
    "put_aside": stored(
        (
            "I am being stopped, so this is put aside. It goes on by itself when I am started again; the answer"
            " will be a new message."
        ),
        de=(
            "Ich werde gerade beendet, deshalb liegt das beiseite. Es geht von selbst weiter, wenn ich wieder"
            " gestartet werde; die Antwort ist dann eine neue Nachricht."
        ),
    ),
    "ended_done": text("Job `{id}` is done: {text}", de="Auftrag `{id}` ist fertig: {text}"),
    "ended_failed": text("Job `{id}` failed: {text}", de="Auftrag `{id}` ist fehlgeschlagen: {text}"),
    "ended_time": text("Job `{id}` ran out of time: {text}", de="Auftrag `{id}` hatte keine Zeit mehr: {text}"),
    "ended_lost": text("Job `{id}` was lost: {text}", de="Auftrag `{id}` ging verloren: {text}"),
    "ended_stopped": text("Job `{id}` was stopped: {text}", de="Auftrag `{id}` wurde gestoppt: {text}"),
    "queued": text("queued", de="in der Schlange"),
    "working": text("working", de="arbeitet"),
    "waiting": text("waiting for people", de="wartet auf Menschen"),
    "done": text("done", de="fertig"),
    "failed": text("failed", de="fehlgeschlagen"),
    "state_time": text("out of time", de="Zeit zu Ende"),
    "lost": text("lost", de="verloren"),
    "stopped": text("stopped", de="gestoppt"),
    "out_of_time": stored(
        "It ran out of its compute time and was stopped. Look at its log, and at the cards for what ran.",
        de=(
            "Die Rechenzeit war zu Ende, und er wurde gestoppt. Sieh dir sein Protokoll an, und an den Karten, was"
            " gelaufen ist."
        ),
    ),
    "unfinished": text(
        "{text}\n\nWhat it had said until then (this is not a finished answer):\n{partial}",
        de="{text}\n\nWas bis dahin gesagt war (keine fertige Antwort):\n{partial}",
    ),
    "nothing_to_report": text("nothing to report", de="nichts zu berichten"),
    "ended_silent": text(
        "Job `{id}` has nothing to report. {summary}", de="Auftrag `{id}` hat nichts zu berichten. {summary}"
    ),
    "too_deep": text(
        ("No job was started: jobs start jobs at most {most} deep here (SIGNOFF_JOB_DEPTH), and this is that deep."),
        de=(
            "Kein Auftrag wurde gestartet: Aufträge starten hier Aufträge höchstens {most} tief"
            " (SIGNOFF_JOB_DEPTH), und dieser ist so tief."
        ),
    ),
    "announcing": text(
        ("No job was started: this only tells people that something has ended. Whoever wants another job asks for it."),
        de=(
            "Kein Auftrag wurde gestartet: Das sagt nur, dass etwas zu Ende ist. Wer noch einen Auftrag will,"
            " bittet darum."
        ),
    ),
    "step_started": stored("started {tool}", de="{tool} begonnen"),
    "step_asked": stored("asked for {tool}", de="nach {tool} gefragt"),
    "step_cut": stored(
        "put aside: the bot is being stopped, and this goes on when it is started again",
        de="beiseitegelegt: Der Bot wird beendet, und das geht weiter, wenn er wieder gestartet wird",
    ),
}
