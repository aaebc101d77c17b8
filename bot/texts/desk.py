"""What is said about background jobs to those who press, write notes and stop."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "starter_unknown": text(
        "What wanted to start a job is not known any more.",
        de="Was einen Auftrag starten wollte, ist nicht mehr bekannt.",
    ),
    "no_job": text("There is no job `{id}`.", de="Einen Auftrag `{id}` gibt es nicht."),
    "has_ended": text("Job `{id}` has already ended.", de="Auftrag `{id}` ist schon zu Ende."),
    "stopped": text("Job `{id}` is stopped.", de="Auftrag `{id}` ist gestoppt."),
    "press_again": text(
        "Press `Stop` once more within a minute to stop job `{id}`. What it still asks is cancelled then.",
        de=(
            "Klick innerhalb einer Minute noch einmal auf `Stopp`, um Auftrag `{id}` zu stoppen. Was er noch fragt,"
            " wird dann abgebrochen."
        ),
    ),
    "longest": text(
        "Job `{id}` has as much compute time as a job can get.",
        de="Auftrag `{id}` hat so viel Rechenzeit, wie ein Auftrag haben kann.",
    ),
    "longer": text(
        "Job `{id}` has {minutes} minutes of compute time now.",
        de="Auftrag `{id}` hat jetzt {minutes} Minuten Rechenzeit.",
    ),
    "blank_note": text("Nothing was sent: the note was blank.", de="Nichts wurde geschickt: Die Notiz war leer."),
    "ended_meanwhile": text(
        "Job `{id}` has ended meanwhile, so your note reaches nobody.",
        de="Auftrag `{id}` ist inzwischen zu Ende, deshalb erreicht deine Notiz niemanden.",
    ),
    "notes_full": text(
        "Job `{id}` has {most} notes to read before this one.",
        de="Auftrag `{id}` hat vor dieser noch {most} Notizen zu lesen.",
    ),
    "note_taken": text(
        "Job `{id}` reads your note as soon as it comes to its next stretch of work.",
        de="Auftrag `{id}` liest deine Notiz, sobald sein nächster Arbeitsabschnitt beginnt.",
    ),
    "ended_already": text("Job `{id}` has already ended ({state}).", de="Auftrag `{id}` ist schon zu Ende ({state})."),
    "not_yours": text(
        "Only the person this job works for, or an approver, can do that.",
        de="Das kann nur die Person, für die dieser Auftrag arbeitet, oder ein Genehmiger.",
    ),
    "unknown": text("This job is not known any more.", de="Dieser Auftrag ist nicht mehr bekannt."),
    "newer_card": text("This job has a newer card.{link}", de="Dieser Auftrag hat eine neuere Karte.{link}"),
}
