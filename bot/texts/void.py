"""Why what was approved did not run; rows hold these in English, and the model reads them."""

from __future__ import annotations

from bot.texts.entry import stored

ENTRIES = {
    "not_looked_up": stored(
        "what it depends on cannot be looked at any more ({problem}).",
        de="wovon es abhängt, lässt sich nicht mehr nachsehen ({problem}).",
    ),
    "moved": stored(
        "it would not run as it was shown any more: {changes}.",
        de="es würde nicht mehr so laufen, wie es gezeigt wurde: {changes}.",
    ),
    "approvers_unknown": stored(
        "whether those who approved it still may could not be found out in time ({problem}).",
        de="ob die, die es genehmigt haben, das noch dürfen, ließ sich nicht rechtzeitig herausfinden ({problem}).",
    ),
    "no_seal": stored(
        "its decision does not bear this bot's seal.", de="seine Entscheidung trägt nicht das Siegel dieses Bots."
    ),
    "not_shown": stored(
        "its stored arguments are not those that were shown.",
        de="seine gespeicherten Argumente sind nicht die, die gezeigt wurden.",
    ),
    "ran_already": stored(
        "it has run already, by the trail; what ran once does not run again.",
        de="laut Protokoll ist es schon gelaufen; was einmal gelaufen ist, läuft nicht noch einmal.",
    ),
    "no_tool": stored("the tool {tool} is not there any more.", de="das Werkzeug {tool} gibt es nicht mehr."),
    "other_arguments": stored(
        "the tool {tool} takes other arguments now.", de="das Werkzeug {tool} nimmt jetzt andere Argumente."
    ),
    "what_tool_says": stored("what the tool takes and says of itself", de="was das Werkzeug nimmt und von sich sagt"),
    "directory": stored("the working directory", de="der Arbeitsordner"),
    "may_touch": stored("what it may touch", de="was es anfassen darf"),
    "environment": stored("the environment variables it gets", de="die Umgebungsvariablen, die es bekommt"),
    "sends": stored("what it would send", de="was es senden würde"),
    "would_change": stored("what it would change", de="was es ändern würde"),
    "changed": stored("{what} changed{values}", de="{what} hat sich geändert{values}"),
    "network": stored("the rule that gives it network", de="die Regel, die ihm Netz gibt"),
    "nothing": stored("none", de="keine"),
    "not_bound": stored("not bound", de="nicht gebunden"),
    "file_changed": stored("{name} changed: {was} → {now}", de="{name} hat sich geändert: {was} → {now}"),
    "secrets": stored(
        "what the secrets it refers to are for", de="wofür die Geheimnisse sind, auf die es sich bezieht"
    ),
    "no_value": stored(
        "the tool does not take the value of a secret that it refers to",
        de="das Werkzeug nimmt den Wert eines Geheimnisses nicht, auf das es sich bezieht",
    ),
}
