"""What is said about schedules."""

from __future__ import annotations

from bot.texts.entry import button, text

ENTRIES = {
    "none": text(
        "Nothing is scheduled here. `/schedule add` makes a schedule.",
        de="Hier ist nichts geplant. `/schedule add` legt einen Zeitplan an.",
    ),
    "not_looked": text(
        "I could not find out whether everything is there that its job needs, so it did not start. Try again.",
        de=(
            "Ich konnte nicht herausfinden, ob alles da ist, was sein Auftrag braucht, deshalb hat er nicht"
            " begonnen. Versuch es noch einmal."
        ),
    ),
    "paused": text(
        "Paused: {schedule}. `/schedule resume` lets it go on.",
        de="Angehalten: {schedule}. `/schedule resume` lässt ihn weitergehen.",
    ),
    "goes_on": text(
        "It goes on: {schedule}, next at <t:{at}:F>.", de="Er geht weiter: {schedule}, nächstes Mal <t:{at}:F>."
    ),
    "run_now": text("Its job `{id}` has started: {place}", de="Sein Auftrag `{id}` hat begonnen: {place}"),
    "removed": text("Removed: {schedule}.", de="Entfernt: {schedule}."),
    "missed_once": text(
        "If I am not running at its time, one job makes up for all that was missed.",
        de="Wenn ich zu seiner Zeit nicht laufe, holt ein Auftrag alles nach, was versäumt wurde.",
    ),
    "missed_skip": text("skip", de="Wenn ich zu seiner Zeit nicht laufe, wird diese Zeit ausgelassen."),
    "named": text("schedule `{id}` ({spoken})", de="Zeitplan `{id}` ({spoken})"),
    "not_saved": text(
        "**Not saved yet.** {spoken}, times of {zone}. The next ones:",
        de="**Noch nicht gespeichert.** {spoken}, Zeiten von {zone}. Die nächsten:",
    ),
    "each_time": text(
        "Each time a background job starts here for you. {missed}",
        de="Jedes Mal beginnt hier ein Hintergrundauftrag für dich. {missed}",
    ),
    "zone_taken": text(
        "-# You never told me your time zone, so I take {zone}. Give it once with `timezone`, and I keep it.",
        de=(
            "-# Du hast mir deine Zeitzone nie gesagt, deshalb nehme ich {zone}. Gib sie einmal mit `timezone` an,"
            " und ich merke sie mir."
        ),
    ),
    "saved": text(
        (
            "Saved as {schedule}: next at {times}.\n{goal}\n-# `/schedule list` shows it, `/schedule pause` and"
            " `/schedule remove` stop it."
        ),
        de=(
            "Gespeichert als {schedule}: nächstes Mal {times}.\n{goal}\n-# `/schedule list` zeigt ihn, `/schedule"
            " pause` und `/schedule remove` halten ihn an."
        ),
    ),
    "line_next": text(
        "for <@{person}> in {place}, next at {times}", de="für <@{person}> in {place}, nächstes Mal {times}"
    ),
    "line": text("for <@{person}> in {place}", de="für <@{person}> in {place}"),
    "paused_itself": text(", paused itself: {why}", de=", hat sich selbst angehalten: {why}"),
    "discarded": text("Discarded. Nothing was saved.", de="Verworfen. Nichts wurde gespeichert."),
    "save": button("Save", de="Speichern"),
    "discard": button("Discard", de="Verwerfen"),
    "started": text("its job `{run}` started", de="sein Auftrag `{run}` hat begonnen"),
    "started_late": text(
        "its job `{run}` started late, because it was missed",
        de="sein Auftrag `{run}` hat spät begonnen, weil er versäumt wurde",
    ),
    "by_hand": text("its job `{run}` was started by hand", de="sein Auftrag `{run}` wurde von Hand gestartet"),
    "missed": text("missed, and skipped", de="versäumt und ausgelassen"),
    "busy": text(
        "skipped, because the job before it had not ended",
        de="ausgelassen, weil der Auftrag davor noch nicht zu Ende war",
    ),
    "state_active": text("active", de="aktiv"),
    "state_paused": text("paused", de="angehalten"),
    "state_draft": text("draft", de="Entwurf"),
    "state_removed": text("removed", de="entfernt"),
    "too_often": text(
        "That is too often: a schedule may run every {time} at most.",
        de="Das ist zu oft: Ein Zeitplan darf höchstens alle {time} laufen.",
    ),
    "draft_gone": text(
        "That draft is gone. `/schedule list` shows what is saved.",
        de="Dieser Entwurf ist weg. `/schedule list` zeigt, was gespeichert ist.",
    ),
    "not_your_draft": text(
        "Only the person who made this draft can save it.", de="Nur wer diesen Entwurf gemacht hat, kann ihn speichern."
    ),
    "no_schedule": text(
        "There is no schedule `{id}`. `/schedule list` shows them.",
        de="Einen Zeitplan `{id}` gibt es nicht. `/schedule list` zeigt sie.",
    ),
    "not_yours": text(
        "Only the person whose schedule this is, or an approver, can do that.",
        de="Das kann nur die Person, der dieser Zeitplan gehört, oder ein Genehmiger.",
    ),
    "most_of_person": text(
        "You have {n} schedules, and nobody may have more. Remove one first.",
        de="Du hast {n} Zeitpläne, und mehr darf niemand haben. Entferne zuerst einen.",
    ),
    "most_here": text(
        "There are {n} schedules here, and there may be no more.",
        de="Hier gibt es {n} Zeitpläne, und mehr darf es nicht geben.",
    ),
    "minutes": text("{n} minutes", de="{n} Minuten"),
    "seconds": text("{n} seconds", de="{n} Sekunden"),
    "is_active": text("Schedule `{id}` is active already.", de="Zeitplan `{id}` ist schon aktiv."),
    "is_paused": text("Schedule `{id}` is paused already.", de="Zeitplan `{id}` ist schon angehalten."),
    "not_started": text("It did not start. {why}", de="Er hat nicht begonnen. {why}"),
    "busy_job": text(
        "Its job `{id}` has not ended yet, so I started no other.",
        de="Sein Auftrag `{id}` ist noch nicht zu Ende, deshalb habe ich keinen zweiten gestartet.",
    ),
    "not_connected": text("I am not connected.", de="Ich bin nicht verbunden."),
    "paused_itself_told": text(
        (
            "Schedule `{id}` (`{spoken}`) has paused itself, so its job did not start. {reason} Once that is"
            " mended, `/schedule resume` lets it go on."
        ),
        de=(
            "Zeitplan `{id}` (`{spoken}`) hat sich selbst angehalten, deshalb hat sein Auftrag nicht begonnen."
            " {reason} Wenn das behoben ist, lässt `/schedule resume` ihn weitergehen."
        ),
    ),
    "is_removed": text("Schedule `{id}` is removed already.", de="Zeitplan `{id}` ist schon entfernt."),
}
