"""What is said of rules: who asks, and why."""

from __future__ import annotations

from bot.texts.entry import stored, text

ENTRIES = {
    "needs_sign_off": stored("{tool} needs a person's sign-off", de="{tool} braucht die Freigabe eines Menschen"),
    "only_looks": stored("{tool} only looks", de="{tool} sieht nur nach"),
    "in_guild": stored("set in this server's /policy", de="in /policy dieses Servers gesetzt"),
    "would_let": stored("{rule} would let it run, but {why}", de="{rule} würde es laufen lassen, aber {why}"),
    "asks_anyway": stored("{rule} would let it run, but it {why}", de="{rule} würde es laufen lassen, aber {why}"),
    "sends_with": stored(
        "sends something with {method}, which always asks", de="er sendet etwas mit {method}, und das fragt immer"
    ),
    "sends_more": stored(
        "sends headers of its own, which always asks", de="er sendet eigene Kopfzeilen, und das fragt immer"
    ),
    "by": stored("{rule} ({where})", de="{rule} ({where})"),
    "unreadable": stored(
        "this server's own rules cannot be read; save them anew with /policy",
        de="die eigenen Regeln dieses Servers lassen sich nicht lesen; speichere sie mit /policy neu",
    ),
    "changed_outside": text(
        "they were changed by something else than this bot", de="etwas anderes als dieser Bot hat sie geändert"
    ),
    "version_it": text(
        "this version of the bot cannot read them: it {problem}",
        de="diese Version des Bots kann sie nicht lesen: it {problem}",
    ),
    "version": text(
        "this version of the bot cannot read them: {problem}",
        de="diese Version des Bots kann sie nicht lesen: {problem}",
    ),
    "asks_itself": stored("{tool} asks by itself", de="{tool} fragt von sich aus"),
    "no_program": text("names no program: {program}", de="nennt kein Programm: {program}"),
    "outside": text(
        "names a program outside the system's folders, whose content can change: {program}",
        de="nennt ein Programm außerhalb der Systemordner, dessen Inhalt sich ändern kann: {program}",
    ),
    "wrapper": text(
        "would allow {name}, which runs whatever it is given (a wrapper or an interpreter)",
        de="würde {name} erlauben, das ausführt, was man ihm gibt (ein Umschlag oder ein Interpreter)",
    ),
}
