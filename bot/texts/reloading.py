"""What is said about reading the settings anew."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "unchanged": text("Nothing in the settings has changed.", de="In den Einstellungen hat sich nichts geändert."),
    "nonsense": text(
        "The settings make no sense as they are now, so nothing was changed: the old ones stay.",
        de="Die Einstellungen ergeben so keinen Sinn, deshalb wurde nichts geändert: Die alten bleiben.",
    ),
    "put_right": text("Put that right, then `/reload` again.", de="Bring das in Ordnung, dann noch einmal `/reload`."),
    "from_now": text("From now on:", de="Ab jetzt:"),
    "restart": text("Takes a restart: {names}.", de="Braucht einen Neustart: {names}."),
    "not_owner": text(
        "Only the owner of this bot can have its settings read anew; nothing changed.",
        de="Nur der Besitzer dieses Bots kann seine Einstellungen neu lesen lassen; nichts hat sich geändert.",
    ),
    "approvers": text(
        "[[approvers]] has {now} rules; before it had {before}, or others.",
        de="[[approvers]] hat {now} Regeln; vorher hatte es {before}, oder andere.",
    ),
    "setting": text("{name} is {now} now; it was {before}.", de="{name} ist jetzt {now}; vorher {before}."),
    "not_set": text("not set", de="nicht gesetzt"),
    "rule_new": text("Rule {name} is new.", de="Regel {name} ist neu."),
    "rule_gone": text("Rule {name} is gone.", de="Regel {name} ist weg."),
    "rule_other": text("Rule {name} says something else.", de="Regel {name} sagt etwas anderes."),
    "rule_order": text("The order of the rules is another one.", de="Die Reihenfolge der Regeln ist eine andere."),
    "server_new": text("MCP server {name} is new.", de="MCP-Server {name} ist neu."),
    "server_gone": text("MCP server {name} is gone.", de="MCP-Server {name} ist weg."),
    "server_other": text("MCP server {name} says something else.", de="MCP-Server {name} sagt etwas anderes."),
    "server_order": text(
        "The order of the mcp servers is another one.", de="Die Reihenfolge der MCP-Server ist eine andere."
    ),
}
