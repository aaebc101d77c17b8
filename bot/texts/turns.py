"""What is said about turns: how they begin, wait and end."""

from __future__ import annotations

from bot.texts.entry import button, stored, text

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
    "continue": button("Continue in background", de="Im Hintergrund weiter"),
    "not_yours_to_send": text(
        "Only the person who asked for this, or an approver, can send it into the background. Nothing changed.",
        de=(
            "In den Hintergrund schicken kann das nur, wer danach gefragt hat, oder ein Genehmiger. Nichts hat sich"
            " geändert."
        ),
    ),
    "in_background": text(
        "This went on in the background as job `{id}`. Its own card shows how it goes, and its result will be"
        " announced.",
        de=(
            "Das ist im Hintergrund weitergegangen, als Auftrag `{id}`. Wie es läuft, zeigt seine eigene Karte, und das"
            " Ergebnis wird angekündigt."
        ),
    ),
    "sent": text(
        "It goes on in the background as job `{id}`. This conversation is free for something else; the result will be"
        " announced.",
        de=(
            "Es geht im Hintergrund weiter, als Auftrag `{id}`. Dieses Gespräch ist frei für anderes; das Ergebnis"
            " wird angekündigt."
        ),
    ),
    "over": text(
        "This had already ended; your press changed nothing.",
        de="Das war schon zu Ende; dein Klick hat nichts geändert.",
    ),
    "no_room": text(
        "It was not sent into the background: {reached}. It goes on here; press again when one of them has ended.",
        de=(
            "Es wurde nicht in den Hintergrund geschickt: {reached}. Hier geht es weiter; klick noch einmal, wenn einer"
            " davon zu Ende ist."
        ),
    ),
    "full_person": text(
        ("{n} of your jobs is at work already", "{n} of your jobs are at work already"),
        de=("{n} Auftrag von dir ist schon in Arbeit", "{n} Aufträge von dir sind schon in Arbeit"),
    ),
    "full_space": text(
        ("{n} job is at work here already", "{n} jobs are at work here already"),
        de=("{n} Auftrag ist hier schon in Arbeit", "{n} Aufträge sind hier schon in Arbeit"),
    ),
    "full_bot": text(
        ("{n} job is at work already, as many as I take", "{n} jobs are at work already, as many as I take"),
        de=(
            "{n} Auftrag ist schon in Arbeit, mehr nehme ich nicht",
            "{n} Aufträge sind schon in Arbeit, mehr nehme ich nicht",
        ),
    ),
    "not_a_member": text(
        "I am not a member of this server, so I could not answer here later. Ask somebody to add me to it.",
        de=(
            "Ich bin kein Mitglied dieses Servers und könnte hier später nicht antworten. Bitte jemanden, mich"
            " hinzuzufügen."
        ),
    ),
    "too_late": text(
        "This had already been settled; your press changed nothing. {sentence}",
        de="Das war schon entschieden; dein Klick hat nichts geändert. {sentence}",
    ),
    "waiting": text("Waiting for {kinds}: {where}.{nothing}", de="Wartet auf {kinds}: {where}.{nothing}"),
    "i_asked": text("I asked for your permission", de="Ich habe um deine Genehmigung gebeten"),
    "i_asked_question": text("I asked you a question", de="Ich habe dir eine Frage gestellt"),
    "i_wait_result": text("I wait for a result from elsewhere", de="Ich warte auf ein Ergebnis von anderswo"),
    "asked_whole": text(
        "{what}: see the card.{nothing} The answer will come as a new message.",
        de="{what}: siehe die Karte.{nothing} Die Antwort kommt als neue Nachricht.",
    ),
    "your_answer": text("your answer", de="deine Antwort"),
    "result_elsewhere": text("a result from elsewhere", de="ein Ergebnis von anderswo"),
    "nothing_yet": text(" Nothing runs before that.", de=" Vorher läuft nichts."),
    "sign_off": text("sign-off", de="eine Freigabe"),
    "card_below": text("see the card below", de="siehe die Karte unten"),
    "still_waiting": text(
        "Still waiting for {kinds}: see the card. The answer will come as a new message.",
        de="Wartet immer noch auf {kinds}: siehe die Karte. Die Antwort kommt als neue Nachricht.",
    ),
    "still_running": text(
        "This is still running: see the card. The answer will come as a new message.",
        de="Das läuft noch: siehe die Karte. Die Antwort kommt als neue Nachricht.",
    ),
    "lost": stored(
        (
            "I was restarted twice while I worked on this, so I have given it up. Look at the cards for what ran;"
            " ask again if you still want it."
        ),
        de=(
            "Ich wurde zweimal neu gestartet, während ich daran gearbeitet habe, deshalb habe ich es aufgegeben."
            " Sieh dir an den Karten an, was gelaufen ist; frag noch einmal, wenn du es noch möchtest."
        ),
    ),
    "other_version": stored(
        (
            "This request was paused by another version of signoff, and I will not guess what it meant. Look at the"
            " cards for what ran; ask again if you still want it."
        ),
        de=(
            "Diese Anfrage wurde von einer anderen Version von signoff angehalten, und ich rate nicht, was sie"
            " meinte. Sieh dir an den Karten an, was gelaufen ist; frag noch einmal, wenn du es noch möchtest."
        ),
    ),
    "stopped_on_request": stored(
        "It was stopped on request; what it still asked about was cancelled.",
        de="Es wurde auf Wunsch gestoppt; was es noch fragte, wurde abgebrochen.",
    ),
    "broken": stored(
        "Something went wrong inside me, so this request ended without an answer. The log has the details.",
        de=(
            "Bei mir ist etwas schiefgegangen, deshalb endete diese Anfrage ohne Antwort. Die Einzelheiten stehen"
            " im Log."
        ),
    ),
    "job_stopped": stored("the job was stopped", de="der Auftrag wurde gestoppt"),
    "reminder": text(
        "This still waits for a decision, and its time is running out.",
        de="Das wartet noch auf eine Entscheidung, und die Zeit läuft ab:",
    ),
    "reminder_question": text(
        "This still waits for your answer, and its time is running out.",
        de="Das wartet noch auf deine Antwort, und die Zeit läuft ab:",
    ),
    "asked_as_now": stored(
        "{problem} It is asked again as it would run now.",
        de="{problem} Es wird noch einmal gefragt, so wie es jetzt laufen würde.",
    ),
    "sent_twice": text(
        "I am already working on this request; it was sent a second time. Its answer comes once.",
        de="An dieser Anfrage arbeite ich schon; sie wurde ein zweites Mal geschickt. Ihre Antwort kommt einmal.",
    ),
    "answered_already": text(
        "This request was sent a second time; it has been answered: {link}",
        de="Diese Anfrage wurde ein zweites Mal geschickt; sie ist beantwortet: {link}",
    ),
    "not_posted_in_time": stored(
        "the card could not be posted in time.", de="die Karte konnte nicht rechtzeitig geschickt werden."
    ),
    "working": text("Working on it…", de="Ich arbeite daran…"),
    "next_in_line": text(
        (
            "One request of this conversation is ahead of you; yours is next in line.",
            "{n} requests of this conversation are ahead of you.",
        ),
        de=(
            "Eine Anfrage dieses Gesprächs ist vor dir; deine ist die nächste.",
            "{n} Anfragen dieses Gesprächs sind vor dir.",
        ),
    ),
    "line_full": text(
        (
            "I did not take this up: {most} requests of this conversation are waiting already. Ask again when some"
            " are done, or in a thread, which has a line of its own."
        ),
        de=(
            "Das habe ich nicht angenommen: {most} Anfragen dieses Gesprächs warten schon. Frag noch einmal, wenn"
            " einige erledigt sind, oder in einem Thread, der seine eigene Schlange hat."
        ),
    ),
}
