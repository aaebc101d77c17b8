"""What is said when the model gave no answer; rows hold these in English."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "whoever_runs": stored("whoever runs this bot", de="wer diesen Bot betreibt"),
    "key_refused": stored(
        (
            "The model's provider refused the key: {who} has to check it (for example OPENAI_API_KEY or"
            " ANTHROPIC_API_KEY), and that it may use this model, and start the bot again."
        ),
        de=(
            "Der Anbieter des Modells hat den Schlüssel abgelehnt: Ihn (etwa OPENAI_API_KEY oder"
            " ANTHROPIC_API_KEY), und dass er dieses Modell benutzen darf, muss prüfen, {who}; danach muss der Bot"
            " neu gestartet werden."
        ),
    ),
    "no_credit": stored(
        (
            "The account at the model's provider has no credit or quota left: {who} has to top it up, or set"
            " another model."
        ),
        de=(
            "Das Konto beim Anbieter des Modells hat kein Guthaben mehr: Aufladen oder ein anderes Modell setzen"
            " muss, {who}."
        ),
    ),
    "too_long": stored(
        "This conversation has become too long for the model: start a new one with /new and ask again there.",
        de=(
            "Dieses Gespräch ist für das Modell zu lang geworden: Fang mit /new ein neues an und frag dort noch einmal."
        ),
    ),
    "unknown": stored(
        (
            "The model's provider does not know this model: {who} has to check SIGNOFF_MODEL, and the provider's"
            " address if one is set, and start the bot again."
        ),
        de=(
            "Der Anbieter des Modells kennt dieses Modell nicht: SIGNOFF_MODEL und die Adresse des Anbieters, wenn"
            " eine gesetzt ist, muss prüfen, {who}; danach muss der Bot neu gestartet werden."
        ),
    ),
    "not_accepted": stored(
        (
            "The model's provider did not accept the request: start a new conversation with /new and ask again; the"
            " reason is in the log, for {who}."
        ),
        de=(
            "Der Anbieter des Modells hat die Anfrage nicht angenommen: Fang mit /new ein neues Gespräch an und"
            " frag noch einmal; der Grund steht im Log, für den, {who}."
        ),
    ),
    "overloaded": stored(
        "The model's provider is overloaded or down for the moment: ask again in a few minutes.",
        de="Der Anbieter des Modells ist gerade überlastet oder nicht da: Frag in ein paar Minuten noch einmal.",
    ),
    "own_error": stored(
        "The model's provider failed with an error of its own: ask again in a moment.",
        de="Beim Anbieter des Modells ist ein Fehler passiert: Frag gleich noch einmal.",
    ),
    "no_answer_in_time": stored(
        "The model did not answer in time: ask again, or ask for something smaller.",
        de="Das Modell hat nicht rechtzeitig geantwortet: Frag noch einmal, oder bitte um etwas Kleineres.",
    ),
    "not_finished_in_time": stored(
        "The model did not finish its answer in time: ask again, or ask for something smaller.",
        de=(
            "Das Modell wurde mit seiner Antwort nicht rechtzeitig fertig: Frag noch einmal, oder bitte um etwas"
            " Kleineres."
        ),
    ),
    "connection": stored(
        (
            "The connection to the model's provider failed: ask again, and if it stays so, {who} has to check the"
            " network and the provider's address."
        ),
        de=(
            "Die Verbindung zum Anbieter des Modells kam nicht zustande: Frag noch einmal; wenn es so bleibt, muss"
            " das Netz und die Adresse des Anbieters prüfen, {who}."
        ),
    ),
    "odd_answer": stored(
        "The model's provider did not answer as it should: ask again; the reason is in the log, for {who}.",
        de=(
            "Der Anbieter des Modells hat nicht so geantwortet, wie er sollte: Frag noch einmal; der Grund steht im"
            " Log, für den, {who}."
        ),
    ),
    "filtered": stored(
        "The content filter of the model's provider stopped the answer: ask in other words.",
        de="Der Inhaltsfilter des Anbieters hat die Antwort angehalten: Frag mit anderen Worten.",
    ),
    "too_much": stored(
        "The answer became longer than the model may write: ask for less at once.",
        de="Die Antwort wurde länger, als das Modell schreiben darf: Bitte um weniger auf einmal.",
    ),
    "too_many_steps": stored(
        "The model took more steps than one turn may take, so it was stopped: ask for less at once.",
        de="Das Modell brauchte mehr Schritte, als es darf, und wurde gestoppt: Bitte um weniger auf einmal.",
    ),
    "unusable": stored(
        "The model gave an answer that cannot be used: ask again in other words, or have another model set.",
        de=(
            "Die Antwort des Modells ist nicht zu gebrauchen: Frag mit anderen Worten noch einmal, oder lass ein"
            " anderes Modell setzen."
        ),
    ),
    "not_set_up": stored(
        "The model is not set up as it has to be: the reason is in the log, for {who}.",
        de="Das Modell ist nicht eingerichtet, wie es sein muss: Der Grund steht im Log, für den, {who}.",
    ),
    "bad_calls": stored(
        (
            "The model kept calling a tool in a way that makes no sense, and that call did not run: ask again in"
            " other words, or have another model set."
        ),
        de=(
            "Das Modell hat ein Werkzeug immer wieder so aufgerufen, dass es keinen Sinn ergab, und dieser Aufruf"
            " ist nicht gelaufen: Frag mit anderen Worten noch einmal, oder lass ein anderes Modell setzen."
        ),
    ),
    "went_wrong": stored(
        "Something went wrong while the model was answering: ask again; the reason is in the log, for {who}.",
        de=(
            "Während das Modell geantwortet hat, ist etwas schiefgegangen: Frag noch einmal; der Grund steht im"
            " Log, für den, {who}."
        ),
    ),
    "rate_limited": stored(
        "The model's provider gets more requests than it allows: ask again in {wait}.",
        de="Der Anbieter des Modells bekommt mehr Anfragen, als er zulässt: Frag in {wait} noch einmal.",
    ),
    "seconds": stored(("{n} second", "{n} seconds"), de=("{n} Sekunde", "{n} Sekunden")),
    "minutes": stored("{n} minutes", de="{n} Minuten"),
    "no_id": stored(
        "The model made a call that has no id, so nothing could answer it. Ask again.",
        de=(
            "Das Modell hat einen Aufruf ohne Kennung gemacht, deshalb konnte ihn nichts beantworten. Frag noch einmal."
        ),
    ),
    "same_id": stored(
        ("The model gave two of its calls one id, so their results could not be told apart. Nothing ran. Ask again."),
        de=(
            "Das Modell hat zwei Aufrufen dieselbe Kennung gegeben, deshalb ließen sich ihre Ergebnisse nicht"
            " unterscheiden. Nichts ist gelaufen. Frag noch einmal."
        ),
    ),
    "empty": stored(
        "The model gave an empty answer. Ask again, or ask in other words.",
        de="Das Modell hat eine leere Antwort gegeben. Frag noch einmal, oder mit anderen Worten.",
    ),
    "breaker": stored(
        (
            "I stopped this turn: the model kept asking for calls that had already been answered, or after people"
            " had said no. Nothing more was run. Ask again in other words if something is missing."
        ),
        de=(
            "Ich habe das gestoppt: Das Modell hat immer wieder um Aufrufe gebeten, die schon beantwortet waren,"
            " oder nachdem Leute Nein gesagt hatten. Nichts weiter ist gelaufen. Frag mit anderen Worten noch"
            " einmal, wenn etwas fehlt."
        ),
    ),
    "a_minute": stored("a minute", de="einer Minute"),
}
