"""What is said of a call's state to people: the card's word, and the sentence."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "waiting": text("waiting for sign-off", de="wartet auf Freigabe"),
    "waiting_person": text(
        "`{tool}` waits for sign-off. Nothing has run.", de="`{tool}` wartet auf Freigabe. Nichts ist gelaufen."
    ),
    "approved": text("approved, about to run", de="genehmigt, läuft gleich"),
    "approved_person": text(
        "{by} approved `{tool}`; it is about to run.", de="{by} hat `{tool}` genehmigt; gleich läuft es."
    ),
    "running_person": text("{by} approved `{tool}`; it is running.", de="{by} hat `{tool}` genehmigt; es läuft."),
    "done_person": text("`{tool}` ran{code}, approved by {by}.", de="`{tool}` ist gelaufen{code}, genehmigt von {by}."),
    "failed_person": text(
        "`{tool}` ran and failed{code}, approved by {by}.",
        de="`{tool}` ist gelaufen und fehlgeschlagen{code}, genehmigt von {by}.",
    ),
    "nothing_ran": text("nothing ran", de="nichts gelaufen"),
    "nothing_ran_person": text(
        "{by} approved `{tool}`, but it could not start: {note} Nothing ran.",
        de="{by} hat `{tool}` genehmigt, aber es konnte nicht anfangen: {note} Nichts ist gelaufen.",
    ),
    "interrupted_person": text(
        (
            "{by} approved `{tool}` and it was started, but this program stopped while it ran. Nobody knows how far"
            " it got; check before you ask for it again. It was not run again."
        ),
        de=(
            "{by} hat `{tool}` genehmigt, und es wurde begonnen, aber dieses Programm wurde dabei beendet. Niemand"
            " weiß, wie weit es kam; sieh nach, bevor du noch einmal darum bittest. Es wurde nicht noch einmal"
            " ausgeführt."
        ),
    ),
    "unknown": text("unknown", de="ungewiss"),
    "unknown_person": text(
        (
            "{by} approved `{tool}` and it was started. {note} Nobody knows whether it took effect; check before you"
            " ask for it again. It was not run again."
        ),
        de=(
            "{by} hat `{tool}` genehmigt, und es wurde begonnen. {note} Niemand weiß, ob es etwas bewirkt hat; sieh"
            " nach, bevor du noch einmal darum bittest. Es wurde nicht noch einmal ausgeführt."
        ),
    ),
    "denied_person": text(
        "{by} denied `{tool}`{note}. Nothing ran.", de="{by} hat `{tool}` abgelehnt{note}. Nichts ist gelaufen."
    ),
    "expired_person": text(
        "Nobody decided about `{tool}` in time. Nothing ran.",
        de="Niemand hat rechtzeitig über `{tool}` entschieden. Nichts ist gelaufen.",
    ),
    "cancelled_person": text(
        "`{tool}` was cancelled{note}. Nothing ran.", de="`{tool}` wurde abgebrochen{note}. Nichts ist gelaufen."
    ),
    "not_asked": text("could not be asked", de="konnte nicht gefragt werden"),
    "not_asked_person": text(
        "Nobody could be asked about `{tool}`: {note} Nothing ran.",
        de="Niemand konnte nach `{tool}` gefragt werden: {note} Nichts ist gelaufen.",
    ),
    "void_person": text(
        "`{tool}` is void and was not run: {note}", de="`{tool}` ist ungültig und wurde nicht ausgeführt: {note}"
    ),
    "waiting_answer": text("waiting for an answer", de="wartet auf eine Antwort"),
    "waiting_answer_person": text("`{tool}` waits for an answer.", de="`{tool}` wartet auf eine Antwort."),
    "answered_person": text("{by} answered.", de="{by} hat geantwortet."),
    "unanswered_person": text(
        "Nobody answered the question in time.", de="Niemand hat die Frage rechtzeitig beantwortet."
    ),
    "question_cancelled": text("The question was taken back{note}.", de="Die Frage wurde zurückgenommen{note}."),
    "question_not_shown": text(
        "The question could not be shown: {note}", de="Die Frage konnte nicht gezeigt werden: {note}"
    ),
    "question_void": text("The question is void: {note}", de="Die Frage ist ungültig: {note}"),
    "waiting_result": text("waiting for a result", de="wartet auf ein Ergebnis"),
    "waiting_result_person": text(
        "`{tool}` waits for a result from elsewhere.", de="`{tool}` wartet auf ein Ergebnis von anderswo."
    ),
    "delivered": text("result delivered", de="Ergebnis übergeben"),
    "delivered_person": text("The result of `{tool}` was delivered.", de="Das Ergebnis von `{tool}` wurde übergeben."),
    "reported_failed": text("`{tool}` was reported as failed.", de="`{tool}` wurde als fehlgeschlagen gemeldet."),
    "no_result": text("No result of `{tool}` came in time.", de="Kein Ergebnis von `{tool}` kam rechtzeitig."),
    "result_cancelled": text(
        "The result of `{tool}` is not waited for any more{note}.",
        de="Auf das Ergebnis von `{tool}` wird nicht mehr gewartet{note}.",
    ),
    "result_void": text(
        "The result of `{tool}` is not waited for any more: {note}",
        de="Auf das Ergebnis von `{tool}` wird nicht mehr gewartet: {note}",
    ),
    "running": text("running", de="läuft"),
    "done": text("done", de="fertig"),
    "failed": text("failed", de="fehlgeschlagen"),
    "interrupted": text("interrupted", de="unterbrochen"),
    "denied": text("denied", de="abgelehnt"),
    "expired": text("expired", de="abgelaufen"),
    "cancelled": text("cancelled", de="abgebrochen"),
    "void": text("void", de="ungültig"),
    "answered": text("answered", de="beantwortet"),
    "code": text(" (exit code {code})", de=" (Exit-Code {code})"),
    "note": text(": {note}", de=": {note}"),
    "somebody": text("somebody", de="jemand"),
    "grant_begins": text("A grant", de="Eine Erlaubnis"),
    "grant": text("a grant", de="einer Erlaubnis"),
}
