"""What is said about usage and budgets."""

from __future__ import annotations

from bot.texts.entry import button, command, option, text

ENTRIES = {
    "spent_yours": text(
        "Your budget of {budget} for today is spent, so I did not ask the model. {again} {raises} What waits for a"
        " decision can still be decided.",
        de="Dein Budget von {budget} für heute ist verbraucht, deshalb habe ich das Modell nicht gefragt. {again}"
        " {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
    ),
    "spent_yours_here": text(
        "Your budget of {budget} for today in this server is spent, so I did not ask the model. {again} {raises} What"
        " waits for a decision can still be decided.",
        de="Dein Budget von {budget} für heute auf diesem Server ist verbraucht, deshalb habe ich das Modell nicht"
        " gefragt. {again} {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
    ),
    "spent_server": text(
        "This server's budget of {budget} for today is spent, so I did not ask the model. {again} {raises} What waits"
        " for a decision can still be decided.",
        de="Das Budget dieses Servers von {budget} für heute ist verbraucht, deshalb habe ich das Modell nicht gefragt."
        " {again} {raises} Was auf eine Entscheidung wartet, kann weiter entschieden werden.",
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
        " or set budgets in calls of tools in place of it.",
        de="Hier gilt ein Budget, und der Anbieter des Modells `{model}` sagt nicht, wie viele Token eine Antwort"
        " gebraucht hat. Es ließe sich nicht einhalten, deshalb frage ich das Modell nicht. Wer diesen Bot betreibt,"
        " muss einen Anbieter wählen, der es sagt, oder statt dessen Budgets in Werkzeugaufrufen setzen.",
    ),
    "free": text("no cost", de="ohne Kosten"),
    "unpriced": text("price unknown", de="Preis unbekannt"),
    "about": text("about {amount}", de="etwa {amount}"),
    "partly_unpriced": text(
        "about {amount}, and {n:,} of {calls:,} calls with an unknown price",
        de="etwa {amount}, und {n:,} von {calls:,} Aufrufen mit unbekanntem Preis",
    ),
    "command": command(
        "What you used of the model, and what is left of today's budgets.",
        de="Was du vom Modell verbraucht hast, und was von den Budgets für heute bleibt.",
    ),
    "my_head": text("### Your usage", de="### Dein Verbrauch"),
    "server_head": text("### Usage of this server", de="### Verbrauch dieses Servers"),
    "today": option("Today", de="Heute"),
    "days": option("{n} days", de="{n} Tage"),
    "nothing": text("nothing was used", de="nichts verbraucht"),
    "sum": text(
        "{calls}, {tokens} ({read:,} read, {written:,} written), {cost}",
        de="{calls}, {tokens} ({read:,} gelesen, {written:,} geschrieben), {cost}",
    ),
    "row": text("{calls}, {tokens}, {cost}", de="{calls}, {tokens}, {cost}"),
    "calls": text(("{n:,} call", "{n:,} calls"), de=("{n:,} Aufruf", "{n:,} Aufrufe")),
    "cached": text("{n:,} of them from the provider's cache", de="{n:,} davon aus dem Zwischenspeicher des Anbieters"),
    "tool_calls": text(
        ("{n:,} call of a tool", "{n:,} calls of tools"), de=("{n:,} Werkzeugaufruf", "{n:,} Werkzeugaufrufe")
    ),
    "unmeasured": text(
        ("{n:,} call without tokens: the provider did not say", "{n:,} calls without tokens: the provider did not say"),
        de=(
            "{n:,} Aufruf ohne Token: der Anbieter hat sie nicht genannt",
            "{n:,} Aufrufe ohne Token: der Anbieter hat sie nicht genannt",
        ),
    ),
    "more_rows": text("{n} more", de="{n} weitere"),
    "grouped": text("**{by}, {days}**", de="**{by}, {days}**"),
    "by_person": text("By person", de="Nach Person"),
    "by_place": text("By channel", de="Nach Kanal"),
    "by_guild": text("By server", de="Nach Server"),
    "by_model": text("By model", de="Nach Modell"),
    "by_day": text("By day (UTC)", de="Nach Tag (UTC)"),
    "pick_person": option("By person", de="Nach Person"),
    "pick_place": option("By channel", de="Nach Kanal"),
    "pick_guild": option("By server", de="Nach Server"),
    "pick_model": option("By model", de="Nach Modell"),
    "pick_day": option("By day", de="Nach Tag"),
    "private": text("direct messages", de="Direktnachrichten"),
    "this_server": text("this server", de="dieser Server"),
    "other_server": text("other servers", de="andere Server"),
    "elsewhere": text("elsewhere", de="anderswo"),
    "hidden": text("channels that you cannot open", de="Kanäle, die du nicht öffnen kannst"),
    "budgets": text("**Budgets for today**, free again <t:{at}:R>", de="**Budgets für heute**, wieder frei <t:{at}:R>"),
    "no_budget": text("No budget limits what you use here.", de="Kein Budget begrenzt, was du hier verbrauchst."),
    "no_budget_server": text(
        "No budget limits what this server uses.", de="Kein Budget begrenzt, was dieser Server verbraucht."
    ),
    "account_yours": text("Yours, everywhere", de="Deines, überall"),
    "account_yours_here": text("Yours in this server", de="Deines auf diesem Server"),
    "account_server": text("This server's, set by the operator", de="Das des Servers, vom Betreiber gesetzt"),
    "account_server_own": text("This server's, set by itself", de="Das des Servers, von ihm selbst gesetzt"),
    "left": text("{left} of {budget} left", de="{left} von {budget} übrig"),
    "not_spent": text("not spent", de="nicht verbraucht"),
    "spent": text("spent", de="verbraucht"),
    "show_server": button("Usage of this server", de="Verbrauch dieses Servers"),
    "show_mine": button("My usage", de="Mein Verbrauch"),
    "not_yours": text(
        "Only those who may manage this server, and those whom the operator of this bot named, see what others use.",
        de="Was andere verbrauchen, sehen nur die, die diesen Server verwalten dürfen, und die, die der Betreiber"
        " dieses Bots benannt hat.",
    ),
    "unknown": text(
        "This list is not known any more, so nothing is shown. `/usage` opens a new one.",
        de="Diese Liste ist nicht mehr bekannt, deshalb wird nichts gezeigt. `/usage` öffnet eine neue.",
    ),
}
