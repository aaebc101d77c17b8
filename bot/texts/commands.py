"""What Discord shows of commands: what they and their options are for."""

from __future__ import annotations

from bot.texts.entry import command, menu, option

ENTRIES = {
    "help": command(
        "What I can do and how I am used, by topic.", de="Was ich kann und wie man mich benutzt, nach Themen."
    ),
    "help_topic": command("What you want to know about.", de="Worüber du etwas wissen möchtest."),
    "inbox": command(
        "Results for you that I could not deliver.", de="Ergebnisse für dich, die ich nicht zustellen konnte."
    ),
    "why": command(
        "The whole story of one request: asked, pressed, decided, run, told.",
        de="Die ganze Geschichte einer Anfrage: gefragt, gedrückt, entschieden, gelaufen, gesagt.",
    ),
    "why_id": command(
        "The request's id, as its card shows it.", de="Die Kennung der Anfrage, wie sie auf ihrer Karte steht."
    ),
    "new": command(
        "Begin a new conversation here. What still waits is cancelled, and named.",
        de="Hier ein neues Gespräch anfangen. Was noch wartet, wird abgebrochen und genannt.",
    ),
    "fork": command(
        "Go on in a new thread with all that was said here. What is open stays here.",
        de="In einem neuen Thread weitermachen, mit allem Gesagten. Was offen ist, bleibt hier.",
    ),
    "fork_name": command("What to call the thread.", de="Wie der Thread heißen soll."),
    "drill": command(
        "Ask everybody who decides here to press once: who can, and how fast?",
        de="Alle, die hier entscheiden, um einen Klick bitten: wer kann es, und wie schnell?",
    ),
    "drill_minutes": command(
        "How long it goes on, if not everybody has pressed before: 10 unless you say.",
        de="Wie lange es dauert, falls nicht alle vorher gedrückt haben: 10, wenn du nichts sagst.",
    ),
    "reload": command(
        "For the owner: read signoff.toml and .env anew, without a restart.",
        de="Für den Besitzer: signoff.toml und .env neu lesen, ohne Neustart.",
    ),
    "approvals": command(
        "What waits for a decision in this server; decide it right from the list.",
        de="Was auf diesem Server auf eine Entscheidung wartet; entscheide gleich aus der Liste.",
    ),
    "approvals_show": command(
        "mine: what I asked for. team: what others asked for and I may decide. all: whatever I can see.",
        de="mine: meine Anfragen. team: was andere wollen und ich entscheiden darf. all: alles, was ich sehe.",
    ),
    "ask": command(
        "Ask for something. What it does for you waits for a sign-off.",
        de="Um etwas bitten. Was dafür getan wird und Folgen hat, wartet auf eine Freigabe.",
    ),
    "ask_prompt": command("What you want, in your own words.", de="Was du möchtest, in deinen eigenen Worten."),
    "ask_notify": command(
        "Where a late answer goes: this channel, a direct message, or both; else as set with /notify.",
        de="Wohin eine späte Antwort geht: Kanal, Direktnachricht oder beides; sonst wie mit /notify gesetzt.",
    ),
    "ask_file": command("A text or an image for it.", de="Ein Text oder ein Bild dazu."),
    "ask_thread": command(
        "Whether to open a thread for it and answer there; in it I need no mention.",
        de="Ob dafür ein Thread geöffnet und dort geantwortet wird; in ihm brauche ich keine Erwähnung.",
    ),
    "choice_channel": option("channel", de="Kanal"),
    "choice_dm": option("dm", de="Direktnachricht"),
    "choice_both": option("both", de="beides"),
    "choice_mine": option("mine", de="meine"),
    "choice_team": option("team", de="die der anderen"),
    "choice_all": option("all", de="alle"),
    "choice_once": option("once", de="einmal"),
    "choice_skip": option("skip", de="auslassen"),
    "job": command("Work that goes on in the background.", de="Arbeit, die im Hintergrund weitergeht."),
    "job_start": command(
        "Work on something in the background and announce the result here.",
        de="An etwas im Hintergrund arbeiten und das Ergebnis hier ankündigen.",
    ),
    "job_goal": command(
        "What the job is to do, complete in itself.", de="Was der Auftrag tun soll, für sich allein verständlich."
    ),
    "job_notify": command(
        "Where the result goes: this channel, a direct message, or both; else as set with /notify.",
        de="Wohin das Ergebnis geht: Kanal, Direktnachricht oder beides; sonst wie mit /notify gesetzt.",
    ),
    "job_minutes": command(
        "Minutes of compute time, if it should get less than the hour it gets by itself.",
        de="Minuten Rechenzeit, wenn es weniger sein soll als die Stunde, die es von selbst bekommt.",
    ),
    "job_list": command("What goes on in the background here.", de="Was hier im Hintergrund vor sich geht."),
    "job_show": command(
        "One background job: its goal, how it stands, what came of it.",
        de="Ein Hintergrundauftrag: sein Ziel, wie es steht, was daraus wurde.",
    ),
    "job_id": command(
        "The job's id, as shown when it was started.", de="Die Kennung des Auftrags, wie sie am Anfang gezeigt wurde."
    ),
    "job_cancel": command(
        "Stop a background job, and what it still asks for.",
        de="Einen Hintergrundauftrag stoppen, und was er noch fragt.",
    ),
    "schedule": command(
        "Work that starts by itself at set times.", de="Arbeit, die zu festen Zeiten von selbst beginnt."
    ),
    "schedule_add": command(
        "Start a background job here at set times. Shows the next ones before it is saved.",
        de="Hier zu festen Zeiten einen Hintergrundauftrag starten. Zeigt die nächsten, bevor gespeichert wird.",
    ),
    "schedule_goal": command(
        "What each job is to do, complete in itself.", de="Was jeder Auftrag tun soll, für sich allein verständlich."
    ),
    "schedule_when": command(
        "Such as: every weekday at 9, every Monday at 8:30, every 2 hours, or five fields of cron.",
        de="Etwa: every weekday at 9, every Monday at 8:30, every 2 hours, oder fünf Cron-Felder.",
    ),
    "schedule_zone": command(
        "Your time zone, such as Europe/Berlin. I keep it.", de="Deine Zeitzone, etwa Europe/Berlin. Ich merke sie mir."
    ),
    "schedule_missed": command(
        "For times at which I was not running: one job that makes up for all (the default), or none.",
        de="Für Zeiten, zu denen ich nicht lief: ein Auftrag, der alles nachholt (die Vorgabe), oder keiner.",
    ),
    "schedule_notify": command(
        "Where the results go: this channel, a direct message, or both; else as set with /notify.",
        de="Wohin die Ergebnisse gehen: Kanal, Direktnachricht oder beides; sonst wie mit /notify gesetzt.",
    ),
    "schedule_list": command(
        "What is scheduled here, and the next times.", de="Was hier geplant ist, und die nächsten Zeiten."
    ),
    "schedule_pause": command(
        "Start no more jobs of a schedule until it is resumed.",
        de="Keine Aufträge eines Zeitplans mehr starten, bis er weitergeht.",
    ),
    "schedule_id": command(
        "The schedule's id, as shown in the list.", de="Die Kennung des Zeitplans, wie sie in der Liste steht."
    ),
    "schedule_resume": command(
        "Let a paused schedule go on with its next time.",
        de="Einen angehaltenen Zeitplan mit seiner nächsten Zeit weitergehen lassen.",
    ),
    "schedule_run": command(
        "Start a job of a schedule now, beside its times.",
        de="Jetzt einen Auftrag eines Zeitplans starten, neben seinen Zeiten.",
    ),
    "schedule_remove": command(
        "Remove a schedule for good. A job of it that is at work goes on.",
        de="Einen Zeitplan endgültig entfernen. Ein Auftrag von ihm, der läuft, geht weiter.",
    ),
    "tools": command(
        "What I can do here: what asks first, what does not, and why.",
        de="Was ich hier kann: was erst fragt, was nicht, und warum.",
    ),
    "policy": command(
        "What runs without asking, what asks whom, what is refused; and change it.",
        de="Was ohne Fragen läuft, was wen fragt, was verweigert wird; und es ändern.",
    ),
    "doctor": command(
        "Look whether everything is in order here, and what to do if not.",
        de="Nachsehen, ob hier alles in Ordnung ist, und was zu tun ist, wenn nicht.",
    ),
    "doctor_channel": command(
        "A channel to look at; else this one and those where I was asked lately.",
        de="Ein Kanal zum Ansehen; sonst dieser und die, in denen ich zuletzt gefragt wurde.",
    ),
    "ask_about": menu("Ask about this", de="Dazu fragen"),
}
