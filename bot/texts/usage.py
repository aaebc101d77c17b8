"""What is said about usage and budgets."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "spent_yours": text(
        "Your budget for today is spent: {used} of {budget} are used, so I did not ask the model. {again} {raises} What"
        " waits for a decision can still be decided.",
        de="Dein Budget für heute ist verbraucht: {used} von {budget} sind weg, deshalb habe ich das Modell nicht"
        " gefragt. {again} {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
    ),
    "spent_yours_here": text(
        "Your budget for today in this server is spent: {used} of {budget} are used, so I did not ask the model."
        " {again} {raises} What waits for a decision can still be decided.",
        de="Dein Budget für heute auf diesem Server ist verbraucht: {used} von {budget} sind weg, deshalb habe ich das"
        " Modell nicht gefragt. {again} {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
    ),
    "spent_server": text(
        "This server's budget for today is spent: {used} of {budget} are used, so I did not ask the model. {again}"
        " {raises} What waits for a decision can still be decided.",
        de="Das Budget dieses Servers für heute ist verbraucht: {used} von {budget} sind weg, deshalb habe ich das"
        " Modell nicht gefragt. {again} {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
    ),
    "again": text("It is free again <t:{at}:R> (<t:{at}:t>).", de="Es ist wieder frei <t:{at}:R> (<t:{at}:t>)."),
    "operator_raises": text(
        "Whoever runs this bot can raise it ({setting}).", de="Erhöhen kann es, wer diesen Bot betreibt ({setting})."
    ),
    "server_raises": text(
        "Who manages this server can raise it with `/settings`.",
        de="Erhöhen kann es, wer diesen Server verwaltet, mit `/settings`.",
    ),
    "tokens": text(("{n:,} token", "{n:,} tokens"), de=("{n:,} Token", "{n:,} Token")),
    "no_price": text(
        "There is a budget in US dollars here, and the price of the model `{model}` is not known. It could not be kept,"
        " so I do not ask the model. Whoever set it can set one in tokens in its place ({person}, {guild}, or"
        " `/settings`).",
        de="Hier gilt ein Budget in US-Dollar, und der Preis des Modells `{model}` ist nicht bekannt. Es ließe sich"
        " nicht einhalten, deshalb frage ich das Modell nicht. Wer es gesetzt hat, kann statt dessen eines in Token"
        " setzen ({person}, {guild} oder `/settings`).",
    ),
    "no_measure": text(
        "There is a budget here, and the provider of the model `{model}` does not say how many tokens an answer took."
        " It could not be kept, so I do not ask the model. Whoever runs this bot has to choose a provider that says it,"
        " or take the budgets away.",
        de="Hier gilt ein Budget, und der Anbieter des Modells `{model}` sagt nicht, wie viele Token eine Antwort"
        " gebraucht hat. Es ließe sich nicht einhalten, deshalb frage ich das Modell nicht. Wer diesen Bot betreibt,"
        " muss einen Anbieter wählen, der es sagt, oder die Budgets wegnehmen.",
    ),
    "free": text("no cost", de="ohne Kosten"),
    "unpriced": text("price unknown", de="Preis unbekannt"),
    "about": text("about {amount}", de="etwa {amount}"),
    "partly_unpriced": text(
        "about {amount}, and {n:,} of {calls:,} calls with an unknown price",
        de="etwa {amount}, und {n:,} von {calls:,} Aufrufen mit unbekanntem Preis",
    ),
}
