"""Discord's permissions by the names that people see in Discord's settings, and what is said of those that lack."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "view_channel": stored("View Channel", de="Kanal ansehen"),
    "send_messages": stored("Send Messages", de="Nachrichten senden"),
    "send_in_threads": stored("Send Messages in Threads", de="Nachrichten in Threads senden"),
    "embed_links": stored("Embed Links", de="Links einbetten"),
    "attach_files": stored("Attach Files", de="Dateien anhängen"),
    "cannot_work": stored(
        (
            "I cannot work here: I lack {lacking}. Somebody who manages this server can give me that in the"
            " channel's settings, under Permissions."
        ),
        de=(
            "Ich kann hier nicht arbeiten: Mir fehlt {lacking}. Wer diesen Server verwaltet, kann mir das in den"
            " Einstellungen des Kanals unter Berechtigungen geben."
        ),
    ),
    "create_threads": stored("Create Public Threads", de="Öffentliche Threads erstellen"),
    "create_private_threads": stored("Create Private Threads", de="Private Threads erstellen"),
}
