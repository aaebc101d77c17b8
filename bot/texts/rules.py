"""What is said of rules: who asks, and why."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "needs_sign_off": stored("{tool} needs a person's sign-off", de="{tool} braucht die Freigabe eines Menschen"),
    "only_looks": stored("{tool} only looks", de="{tool} sieht nur nach"),
    "in_guild": stored("set in this server's /policy", de="in /policy dieses Servers gesetzt"),
    "would_let": stored("{rule} would let it run, but {why}", de="{rule} würde es laufen lassen, aber {why}"),
    "by": stored("{rule} ({where})", de="{rule} ({where})"),
}
