"""What the tools say of themselves, which is English because the model reads it: known again where people read it."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "shell": stored(
        "Run a command line with /bin/sh (POSIX sh, not bash) in the workspace.",
        de="Führt eine Befehlszeile mit /bin/sh (POSIX sh, nicht bash) im Arbeitsordner aus.",
    ),
    "command_output": stored(
        (
            "Look at a command that runs in the background, or did: its newest output, whether it still runs, its"
            " exit code."
        ),
        de=(
            "Sieht nach einem Befehl, der im Hintergrund läuft oder lief: neueste Ausgabe, ob er noch läuft, sein"
            " Exit-Code."
        ),
    ),
    "stop_command": stored(
        "Stop a command of this conversation that runs in the background, with all that it has started.",
        de="Stoppt einen Befehl dieses Gesprächs, der im Hintergrund läuft, mit allem, was er gestartet hat.",
    ),
    "execute_code": stored(
        (
            "Run a Python 3 program in the workspace: standard library only, nothing is kept between calls, and"
            " only what it prints is seen."
        ),
        de=(
            "Führt ein Python-3-Programm im Arbeitsordner aus: nur die Standardbibliothek, nichts bleibt zwischen"
            " Aufrufen, gesehen wird nur, was es ausgibt."
        ),
    ),
    "calculate": stored(
        "Calculate with a small Python program that touches nothing.",
        de="Rechnet mit einem kleinen Python-Programm, das nichts berührt.",
    ),
    "calculator": stored(
        "a calculator: no files, no network, no programs, nothing is kept",
        de="ein Rechner: keine Dateien, kein Netz, keine Programme, nichts wird behalten",
    ),
    "read_file": stored("Read a text file in the workspace.", de="Liest eine Textdatei im Arbeitsordner."),
    "list_files": stored(
        "List one directory in the workspace, with sizes.", de="Listet einen Ordner im Arbeitsordner auf, mit Größen."
    ),
    "write_file": stored(
        "Write a text file in the workspace: a new one, or the whole new content of an existing one.",
        de="Schreibt eine Textdatei im Arbeitsordner: eine neue, oder den ganzen neuen Inhalt einer vorhandenen.",
    ),
    "edit_file": stored(
        "Replace one part of a text file in the workspace.", de="Ersetzt einen Teil einer Textdatei im Arbeitsordner."
    ),
    "new_file": stored("{path} is not there yet: this makes it.", de="{path} gibt es noch nicht: Das legt sie an."),
    "nothing_changes": stored(
        "Nothing changes: {path} holds exactly this already.", de="Nichts ändert sich: {path} enthält genau das schon."
    ),
    "no_text_before": stored(
        (
            "{path} is there and is no text ({n} byte), so no difference can be shown. It is replaced whole.",
            "{path} is there and is no text ({n} bytes), so no difference can be shown. It is replaced whole.",
        ),
        de=(
            "{path} ist da und kein Text ({n} Byte): Ein Unterschied lässt sich nicht zeigen, sie wird ganz ersetzt.",
            "{path} ist da und kein Text ({n} Bytes): Ein Unterschied lässt sich nicht zeigen, sie wird ganz ersetzt.",
        ),
    ),
    "too_long": stored(
        (
            "{path} is too long to be compared ({before} characters now, {after} after): no difference is shown, and"
            " the arguments alone say what is written."
        ),
        de=(
            "{path} ist zu lang zum Vergleichen ({before} Zeichen jetzt, {after} danach): Ein Unterschied wird nicht"
            " gezeigt, und nur die Argumente sagen, was geschrieben wird."
        ),
    ),
    "cannot_write": stored("This write cannot be made: {why}", de="So kann nicht geschrieben werden: {why}"),
    "cannot_edit": stored("This edit cannot be made: {why}", de="So kann nicht geändert werden: {why}"),
    "http_fetch": stored(
        "Read a page of the public internet with GET, or send a request to it.",
        de="Liest eine Seite des öffentlichen Internets mit GET oder sendet eine Anfrage dorthin.",
    ),
    "sent_unknown": stored(
        "The request was sent, but the connection ended before an answer came.",
        de="Die Anfrage wurde gesendet, aber die Verbindung endete, bevor eine Antwort kam.",
    ),
    "web_search": stored("Search the web.", de="Sucht im Web."),
    "search_service": stored("one question to Tavily, a search service", de="eine Frage an Tavily, einen Suchdienst"),
    "ask_user": stored(
        "Ask the person you work for a question, when you cannot go on without their answer.",
        de="Stellt der Person eine Frage, wenn es ohne ihre Antwort nicht weitergeht.",
    ),
    "start_job": stored(
        "Start a background job that works on a goal on its own and announces its result in this channel.",
        de=(
            "Startet einen Hintergrundauftrag, der allein an einem Ziel arbeitet und sein Ergebnis in diesem Kanal"
            " ankündigt."
        ),
    ),
    "in_sandbox": stored(
        "bubblewrap, no network, writes in the workspace only",
        de="bubblewrap, kein Netz, schreibt nur im Arbeitsordner",
    ),
    "in_sandbox_networked": stored(
        "bubblewrap, this machine's network with localhost, writes in the workspace only",
        de="bubblewrap, das Netz dieser Maschine mit localhost, schreibt nur im Arbeitsordner",
    ),
    "bare": stored(
        "no sandbox (opted in): this machine and its network",
        de="keine Sandbox (so gewollt): diese Maschine und ihr Netz",
    ),
    "in_workspace": stored("in-process, the workspace only", de="im Programm selbst, nur der Arbeitsordner"),
    "in_process": stored("in-process", de="im Programm selbst"),
    "one_request": stored(
        "one request to the public internet, no cookies", de="eine Anfrage ins öffentliche Internet, keine Cookies"
    ),
    "asks_a_person": stored("asks a person, runs nothing", de="fragt einen Menschen, führt nichts aus"),
    "runs_in_it": stored("a program runs in it", de="ein Programm läuft darin"),
    "clean": stored("the environment is clean", de="die Umgebung ist sauber"),
    "no_network": stored("there is no network", de="es gibt kein Netz"),
    "no_privileges": stored("there are no privileges", de="es gibt keine Privilegien"),
    "no_namespaces": stored("no namespaces can be made", de="es lassen sich keine Namensräume anlegen"),
    "no_descriptors": stored("no descriptors are inherited", de="keine Deskriptoren werden geerbt"),
    "writable": stored("only the workspace is writable", de="nur der Arbeitsordner ist beschreibbar"),
    "sizes": stored("sizes are limited", de="Größen sind begrenzt"),
    "processes": stored("processes are limited", de="Prozesse sind begrenzt"),
    "nothing_left": stored(
        "a stopped command leaves no process behind", de="ein gestoppter Befehl lässt keinen Prozess zurück"
    ),
    "read_only": stored(
        "the machine's settings are read-only", de="die Einstellungen der Maschine sind schreibgeschützt"
    ),
    "mcp_program": stored(
        "MCP server {name}, a program on this machine", de="MCP-Server {name}, ein Programm auf dieser Maschine"
    ),
    "mcp_at": stored("MCP server {name}, at {host}", de="MCP-Server {name}, bei {host}"),
}
