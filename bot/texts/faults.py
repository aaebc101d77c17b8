"""What kept a message from getting to its place."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "no_channel": stored("That channel does not exist any more.", de="Diesen Kanal gibt es nicht mehr."),
    "elsewhere": stored("That channel is in another server.", de="Dieser Kanal ist auf einem anderen Server."),
    "not_in_server": stored("I am not in that server any more.", de="Ich bin nicht mehr auf diesem Server."),
    "deleted": stored("That message was deleted.", de="Diese Nachricht wurde gelöscht."),
    "archived": stored(
        "That thread is archived, and I may not open it again.",
        de="Dieser Thread ist archiviert, und ich darf ihn nicht wieder öffnen.",
    ),
    "locked": stored("That thread is locked.", de="Dieser Thread ist gesperrt."),
    "cannot_see": stored("I cannot see that channel.", de="Ich kann diesen Kanal nicht sehen."),
    "dm_closed": stored(
        "Your direct messages are closed to me.", de="Deine Direktnachrichten sind für mich geschlossen."
    ),
    "no_messages": stored(
        "That kind of channel takes no messages.", de="Ein Kanal dieser Art nimmt keine Nachrichten."
    ),
    "lacks_something": stored("I lack a permission in that channel.", de="In diesem Kanal fehlt mir ein Recht."),
    "forum_tag": stored(
        "That forum wants a tag on each post, and I do not know which.",
        de="Dieses Forum will an jedem Beitrag ein Schlagwort, und ich weiß nicht, welches.",
    ),
    "no_shared_server": stored(
        "We share no server, so I cannot write to you.",
        de="Wir haben keinen gemeinsamen Server, deshalb kann ich dir nicht schreiben.",
    ),
    "too_many_threads": stored(
        "That server has as many open threads as it can have, so the thread stays archived.",
        de=("Auf diesem Server sind so viele Threads offen, wie es geben kann, deshalb bleibt der Thread archiviert."),
    ),
    "slow_mode": stored(
        "That channel's slow mode makes me wait.", de="Der Slow-Modus dieses Kanals lässt mich warten."
    ),
    "channel_limit": stored(
        "That channel has reached its limit for messages.", de="Dieser Kanal hat seine Grenze für Nachrichten erreicht."
    ),
    "server_limit": stored(
        "That server has reached its limit for messages.", de="Dieser Server hat seine Grenze für Nachrichten erreicht."
    ),
    "edited_often": stored(
        "That message is old and was edited too often lately.",
        de="Diese Nachricht ist alt und wurde in letzter Zeit zu oft geändert.",
    ),
    "dm_fast": stored("I am opening direct messages too fast.", de="Ich öffne zu schnell Direktnachrichten."),
    "wait": stored("Discord makes me wait.", de="Discord lässt mich warten."),
    "connection": stored(
        "The connection to Discord was interrupted.", de="Die Verbindung zu Discord wurde unterbrochen."
    ),
    "lacks": stored("I lack {lacking} in that channel.", de="In diesem Kanal fehlt mir {lacking}."),
    "trouble": stored("Discord is having trouble.", de="Discord hat gerade Schwierigkeiten."),
    "no_writing": stored("Discord does not let me write there.", de="Discord lässt mich dort nicht schreiben."),
    "token": stored("Discord does not accept my token any more.", de="Discord nimmt mein Token nicht mehr an."),
    "not_accepted": stored(
        "Discord did not accept the message (code {code}).",
        de="Discord hat die Nachricht nicht angenommen (Code {code}).",
    ),
    "not_connected": stored(
        "I am not connected yet, and cannot tell who sees what.",
        de="Ich bin noch nicht verbunden und kann nicht sagen, wer was sieht.",
    ),
    "they_left": stored("They have left that server.", de="Die Person hat diesen Server verlassen."),
    "neither": stored(
        "Neither of us can see that channel for certain.", de="Keiner von uns kann diesen Kanal mit Sicherheit sehen."
    ),
    "not_in_thread": stored("They are not in that thread any more.", de="Die Person ist nicht mehr in diesem Thread."),
    "they_cannot_see": stored(
        "They cannot see that channel any more.", de="Die Person kann diesen Kanal nicht mehr sehen."
    ),
    "cannot_see_now": stored("I cannot see that channel any more.", de="Ich kann diesen Kanal nicht mehr sehen."),
    "lacks_there": stored("I lack {lacking} there.", de="Mir fehlt dort {lacking}."),
    "file_too_large": stored("The file is too large for Discord.", de="Die Datei ist zu groß für Discord."),
    "no_connection": stored("I am not connected to Discord.", de="Ich bin nicht mit Discord verbunden."),
    "never_posted": stored("That card was never posted.", de="Diese Karte wurde nie geschickt."),
    "not_discord": stored("That place is not on Discord.", de="Dieser Ort ist nicht auf Discord."),
    "not_told": stored("{before}It could not be told: {problem}", de="{before}Es ließ sich nicht sagen: {problem}"),
}
