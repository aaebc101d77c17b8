"""What is said in `/settings`."""

from __future__ import annotations

from bot.texts.entry import button, command, hint, label, option, placeholder, text, title

ENTRIES = {
    "command": command(
        "Where cards go, where answers go, which model, how much a day; and change it.",
        de="Wohin Karten gehen, wohin Antworten, welches Modell, wie viel am Tag; und es ändern.",
    ),
    "title": text("### Settings of this server", de="### Einstellungen dieses Servers"),
    "never": text("-# Nothing was set here yet.", de="-# Hier wurde noch nichts eingestellt."),
    "since": text(
        "-# Version {version}, saved by <@{by}> <t:{at}:R>", de="-# Fassung {version}, gesichert von <@{by}> <t:{at}:R>"
    ),
    "not_believed": text(
        "**What is stored is not believed:** {problem}. None of it counts until somebody saves settings anew.",
        de="**Was gespeichert ist, gilt als unglaubwürdig:** {problem}. Nichts davon zählt, bis jemand neu sichert.",
    ),
    "cards": text("**Cards** go {where}.", de="**Karten** gehen {where}."),
    "here": text("to where it was asked", de="dorthin, wo gefragt wurde"),
    "channel": text("to <#{id}>", de="nach <#{id}>"),
    "people": text("directly to {who}", de="direkt an {who}"),
    "quiet": text(
        "From {hours} ({zone}) nobody's device makes a sound.", de="Von {hours} ({zone}) macht kein Gerät einen Ton."
    ),
    "answers": text(
        "**Results of jobs** go {where}, of whoever has not said otherwise with `/notify`.",
        de="**Ergebnisse von Aufträgen** gehen {where}, bei allen, die mit `/notify` nichts anderes gesagt haben.",
    ),
    "notify_channel": text("to where it was asked", de="dorthin, wo gefragt wurde"),
    "notify_dm": text("into a direct message", de="in eine Direktnachricht"),
    "notify_both": text(
        "to where it was asked and into a direct message", de="dorthin, wo gefragt wurde, und in eine Direktnachricht"
    ),
    "model": text("**The model** is {model}.", de="**Das Modell** ist {model}."),
    "model_fixed": text(
        "**The model** is {model}. Whoever runs this bot can offer others with `SIGNOFF_MODELS`.",
        de="**Das Modell** ist {model}. Wer diesen Bot betreibt, kann mit `SIGNOFF_MODELS` andere anbieten.",
    ),
    "budget": text("**Each day** (UTC): {what}.", de="**Jeden Tag** (UTC): {what}."),
    "unlimited": text("no budget is set", de="kein Budget ist gesetzt"),
    "each": text("each person {amount}", de="jede Person {amount}"),
    "all": text("everybody here together {amount}", de="alle hier zusammen {amount}"),
    "tokens": text(("{n:,} token", "{n:,} tokens"), de=("{n:,} Token", "{n:,} Token")),
    "file_budget": text(
        "-# Whoever runs this bot set a budget too: {what}. Both count, so the smaller one holds.",
        de="-# Auch wer diesen Bot betreibt, hat ein Budget gesetzt: {what}. Beide zählen, also gilt das kleinere.",
    ),
    "file_places": text(
        "-# Whoever runs this bot said in `signoff.toml` that cards go {where}, and that wins. What is set here is kept"
        " and counts when the file says nothing any more.",
        de="-# Wer diesen Bot betreibt, hat in `signoff.toml` gesagt, dass Karten {where} gehen, und das gilt. Was hier"
        " gesetzt ist, bleibt und zählt, sobald die Datei nichts mehr sagt.",
    ),
    "draft": text("**Your draft. None of it counts yet.**", de="**Dein Entwurf. Noch zählt nichts davon.**"),
    "blocked": text("**You cannot save it.** {why}", de="**Du kannst ihn nicht sichern.** {why}"),
    "cannot_post": text(
        "⚠ I may not post in <#{id}> (missing: {missing}). Cards would go on to the next place.",
        de="⚠ In <#{id}> darf ich nicht schreiben (es fehlt: {missing}). Karten gingen an den nächsten Ort.",
    ),
    "readers": text(
        "-# Whoever can read the approvals channel, and whoever is sent cards, sees what is asked in every channel of"
        " this server.",
        de="-# Wer den Freigabe-Kanal lesen kann und wem Karten geschickt werden, sieht, was in allen Kanälen dieses"
        " Servers gefragt wird.",
    ),
    "saved": text("Saved. It counts from now on.", de="Gesichert. Es zählt ab jetzt."),
    "dropped": text("Your draft is gone. Nothing was changed.", de="Dein Entwurf ist weg. Es wurde nichts geändert."),
    "not_yours": text(
        "This list is not yours, or was closed, so nothing was changed. `/settings` opens your own.",
        de="Diese Liste ist nicht deine oder wurde geschlossen, deshalb wurde nichts geändert. `/settings` öffnet deine"
        " eigene.",
    ),
    "cannot": text(
        "That cannot be: it {problem} Nothing was changed.",
        de="Das geht nicht, und nichts wurde geändert. Der Grund, auf Englisch: it {problem}",
    ),
    "not_saved": text("Nothing was saved. {why}", de="Es wurde nichts gesichert. {why}"),
    "model_gone": text(
        "Whoever runs this bot does not offer the model `{model}` any more; pick another one.",
        de="Wer diesen Bot betreibt, bietet das Modell `{model}` nicht mehr an; wähle ein anderes.",
    ),
    "pick_channel": placeholder(
        "An approvals channel (none picked: none)", de="Ein Freigabe-Kanal (nichts gewählt: keiner)"
    ),
    "pick_people": placeholder(
        "People who are sent cards directly (none picked: nobody)",
        de="Leute, die Karten direkt bekommen (nichts gewählt: niemand)",
    ),
    "also_here": option("Cards also stay where it was asked", de="Karten bleiben auch dort, wo gefragt wurde"),
    "also_here_hint": hint(
        "Everybody there sees what waits and how it ended.", de="Alle dort sehen, was wartet und wie es ausging."
    ),
    "not_here": option("Cards go only to the places above", de="Karten gehen nur an die Orte darüber"),
    "not_here_hint": hint(
        "Only counts with a channel or people picked.", de="Zählt nur, wenn ein Kanal oder Leute gewählt sind."
    ),
    "to_channel": option("Results of jobs: where it was asked", de="Ergebnisse von Aufträgen: wo gefragt wurde"),
    "to_dm": option("Results of jobs: by direct message", de="Ergebnisse von Aufträgen: als Direktnachricht"),
    "to_both": option("Results of jobs: both", de="Ergebnisse von Aufträgen: beides"),
    "usual_model": option("The usual model: {model}", de="Das übliche Modell: {model}"),
    "pick_model": placeholder("Which model answers here", de="Welches Modell hier antwortet"),
    "budgets": button("Budgets…", de="Tagesbudgets…"),
    "quiet_hours": button("Quiet hours…", de="Ruhezeiten…"),
    "save": button("Save", de="Sichern"),
    "drop": button("Discard the draft", de="Entwurf verwerfen"),
    "budgets_title": title("How much may be used in a day", de="Wie viel am Tag verbraucht werden darf"),
    "tokens_each": label("Tokens of each person", de="Token jeder Person"),
    "cost_each": label("US dollars of each person", de="US-Dollar jeder Person"),
    "tokens_all": label("Tokens of everybody together", de="Token aller zusammen"),
    "cost_all": label("US dollars of everybody together", de="US-Dollar aller zusammen"),
    "no_limit": hint("Empty: no budget set here.", de="Leer: hier kein Budget gesetzt."),
    "quiet_title": title("When no device makes a sound", de="Wann kein Gerät einen Ton macht"),
    "hours": label("From and to", de="Von und bis"),
    "hours_hint": hint("Like 22:00-07:00. Empty: never.", de="So: 22:00-07:00. Leer: nie."),
    "zone": label("Time zone", de="Zeitzone"),
    "zone_hint": hint("Like Europe/Berlin.", de="So: Europe/Berlin."),
    "bad_hours": text(
        "“{hours}” are no hours: write them like 22:00-07:00. Nothing was changed.",
        de="„{hours}“ ist keine Zeit von bis: schreib sie so: 22:00-07:00. Es wurde nichts geändert.",
    ),
    "bad_zone": text(
        "“{zone}” is no time zone that I know: write one like Europe/Berlin. Nothing was changed.",
        de="„{zone}“ ist keine Zeitzone, die ich kenne: schreib sie so: Europe/Berlin. Es wurde nichts geändert.",
    ),
    "bad_tokens": text(
        "“{number}” is no number of tokens: write a whole number above zero, like 200000. Nothing was changed.",
        de="„{number}“ ist keine Anzahl Token: schreib eine ganze Zahl über null, etwa 200000. Es wurde nichts"
        " geändert.",
    ),
    "bad_cost": text(
        "“{number}” is no amount in US dollars: write it like 2.50. Nothing was changed.",
        de="„{number}“ ist kein Betrag in US-Dollar: schreib ihn so: 2.50. Es wurde nichts geändert.",
    ),
    "no_price": text(
        "The price of the model {model} is not known, so a budget in US dollars could not be kept. Set one in tokens.",
        de="Der Preis des Modells {model} ist nicht bekannt, ein Budget in US-Dollar ließe sich also nicht einhalten."
        " Setze eines in Token.",
    ),
}
