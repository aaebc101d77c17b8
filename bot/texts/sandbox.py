"""Why commands are off on this machine, and how to get them on; rows hold these as the reason why nothing ran."""

from __future__ import annotations

from bot.texts.entry import stored, text

_ANYWAY = "To run commands without a sandbox all the same, at your own risk, set SIGNOFF_SANDBOX=none."
_TROTZDEM = "Um Befehle trotzdem ohne Sandbox laufen zu lassen, auf eigenes Risiko, setze SIGNOFF_SANDBOX=none."

ENTRIES = {
    "missing": stored(
        (
            "there is no sandbox: the program bubblewrap (bwrap) is not installed. On Debian and Ubuntu: apt install"
            f" bubblewrap; on Fedora: dnf install bubblewrap. {_ANYWAY}"
        ),
        de=(
            "es gibt keine Sandbox: Das Programm bubblewrap (bwrap) ist nicht installiert. Unter Debian und Ubuntu: apt"
            f" install bubblewrap; unter Fedora: dnf install bubblewrap. {_TROTZDEM}"
        ),
    ),
    "denied": stored(
        (
            "there is no sandbox: this system does not let bubblewrap make namespaces. On Ubuntu 24.04 and later, give"
            " /usr/bin/bwrap an AppArmor profile that allows `userns`; in a container, start it with a seccomp profile"
            f" that allows user namespaces; elsewhere see the sysctl user.max_user_namespaces. {_ANYWAY} (It said:"
            " {said})"
        ),
        de=(
            "es gibt keine Sandbox: Dieses System lässt bubblewrap keine Namensräume anlegen. Ab Ubuntu 24.04 gib"
            " /usr/bin/bwrap ein AppArmor-Profil, das `userns` erlaubt; einen Container starte mit einem"
            " Seccomp-Profil, das User-Namensräume erlaubt; sonst siehe den Sysctl user.max_user_namespaces."
            f" {_TROTZDEM} (Es sagte: {{said}})"
        ),
    ),
    "too_old": stored(
        f"there is no sandbox: this bubblewrap is too old; version 0.8 or newer is needed. {_ANYWAY}",
        de=f"es gibt keine Sandbox: Dieses bubblewrap ist zu alt; nötig ist Version 0.8 oder neuer. {_TROTZDEM}",
    ),
    "not_set_up": stored(
        "the sandbox could not be set up: {said}", de="die Sandbox ließ sich nicht einrichten: {said}"
    ),
    "broken": stored(
        (
            f"the sandbox does not keep its promises on this machine, so it is not used. {{how}} {_ANYWAY}"
            " Broken: {broken}."
        ),
        de=(
            "die Sandbox hält auf dieser Maschine nicht, was sie verspricht, und wird darum nicht benutzt. {how}"
            f" {_TROTZDEM} Gebrochen: {{broken}}."
        ),
    ),
    "fix_limits": stored(
        "Limits do not bind here, as they do not for root: run Signoff as an ordinary user.",
        de="Grenzen gelten hier nicht, wie sie es für root nicht tun: Starte Signoff als gewöhnlicher Nutzer.",
    ),
    "fix_program": stored(
        "Not even a program starts in it: it needs prlimit and setpriv (package util-linux) and python3.",
        de="Nicht einmal ein Programm startet darin: Es braucht prlimit und setpriv (Paket util-linux) und python3.",
    ),
    "fix_other": stored(
        "Newer versions of bubblewrap and of the kernel keep them.",
        de="Neuere Versionen von bubblewrap und vom Kernel halten es.",
    ),
    "not_tested": stored("the sandbox has not been tested yet", de="die Sandbox wurde noch nicht geprüft"),
    "off": text(
        "Off here, and not offered to the model: {tools}. Why: {why}",
        de="Hier aus, und dem Modell nicht angeboten: {tools}. Warum: {why}",
    ),
    "off_for_help": text(
        "-# Off at this moment: {tools}. An approver sees why, and what to do about it, in `/tools`.",
        de="-# Im Augenblick aus: {tools}. Ein Genehmiger sieht in `/tools`, warum, und was zu tun ist.",
    ),
}
