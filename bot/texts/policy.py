"""What is said about a server's own rules."""

from __future__ import annotations

from bot.texts.entry import button, hint, label, option, placeholder, text, title

ENTRIES = {
    "saved": text("Saved. It counts for every call from now on.", de="Gespeichert. Es gilt ab jetzt für jeden Aufruf."),
    "dropped": text("Your draft is gone. Nothing was changed.", de="Dein Entwurf ist weg. Nichts wurde geändert."),
    "runs": text("runs without asking", de="läuft ohne Fragen"),
    "asks": text("asks first", de="fragt erst"),
    "is_refused": text("is refused", de="wird verweigert"),
    "run": text("run without asking", de="laufen ohne Fragen"),
    "ask": text("ask first", de="fragen erst"),
    "are_refused": text("are refused", de="werden verweigert"),
    "mon": text("Mon", de="Mo"),
    "tue": text("Tue", de="Di"),
    "wed": text("Wed", de="Mi"),
    "thu": text("Thu", de="Do"),
    "fri": text("Fri", de="Fr"),
    "sat": text("Sat", de="Sa"),
    "sun": text("Sun", de="So"),
    "every_tool_start": text("Every tool", de="Jedes Werkzeug"),
    "tools_like": text("Tools like {name}", de="Werkzeuge wie {name}"),
    "in_dm": text("in direct messages", de="in Direktnachrichten"),
    "outside_dm": text("outside direct messages", de="außerhalb von Direktnachrichten"),
    "when_holding": text("when {people}, holding {roles}, asks", de="wenn {people} mit {roles} fragt"),
    "when": text("when {people} asks", de="wenn {people} fragt"),
    "every_tool": text("every tool", de="jedes Werkzeug"),
    "it_waits": text("it waits {time}", de="es wartet {time}"),
    "for": text("For {tools}{where}: {said}.", de="Für {tools}{where}: {said}."),
    "as_without": text("as without this rule", de="wie ohne diese Regel"),
    "nobody_can": text("nobody can approve yet", de="noch kann niemand genehmigen"),
    "named_nobody": text(
        "The operator named nobody, so the owner of this bot decides",
        de="Der Betreiber hat niemanden benannt, deshalb entscheidet der Besitzer dieses Bots",
    ),
    "operator_says": text("The operator says", de="Der Betreiber sagt"),
    "base": text("{source}: {who}; {eyes}; it waits {time}.", de="{source}: {who}; {eyes}; es wartet {time}."),
    "added": text("Added", de="Hinzugefügt"),
    "changed": text("Changed", de="Geändert"),
    "removed": text("Removed", de="Entfernt"),
    "moved": text("In another order from here", de="Ab hier in anderer Reihenfolge"),
    "kept": text("Your rule is kept, but the file wins", de="Deine Regel bleibt stehen, aber die Datei gewinnt"),
    "file_rule": text("rule {number} of [[approvers]]", de="Regel {number} von [[approvers]]"),
    "general": text("its general setting", de="ihre allgemeine Einstellung"),
    "file_wins": text(
        "{says}. {kept} where both are about a call.", de="{says}. {kept}, wo beide einen Aufruf betreffen."
    ),
    "still_ask": text(
        "The file says who decides such calls ({number}), so they still ask. {kept}.",
        de="Die Datei sagt, wer über solche Aufrufe entscheidet ({number}), deshalb fragen sie trotzdem. {kept}.",
    ),
    "other_eyes": text(
        "The operator wants somebody else than the requester to decide, so such calls still ask. {kept}.",
        de=(
            "Der Betreiber will, dass jemand anders entscheidet als wer gefragt hat, deshalb fragen solche Aufrufe"
            " trotzdem. {kept}."
        ),
    ),
    "more_people": text(
        "The file wants more people to approve ({number}). The larger number counts.",
        de="Die Datei will mehr Leute zum Genehmigen ({number}). Die größere Zahl gilt.",
    ),
    "not_own": text(
        "The file lets nobody decide a call of their own ({number}). {kept}.",
        de="Die Datei lässt niemanden über einen eigenen Aufruf entscheiden ({number}). {kept}.",
    ),
    "shorter": text(
        "The file lets such calls wait a shorter time ({number}). The shorter one counts.",
        de="Die Datei lässt solche Aufrufe kürzer warten ({number}). Die kürzere Zeit gilt.",
    ),
    "names_who": text(
        "The file names who decides ({number}). Of those whom you name, only they count.",
        de="Die Datei nennt, wer entscheidet ({number}). Von denen, die du nennst, zählen nur diese.",
    ),
    "seconds": text("{n:g} seconds", de="{n:g} Sekunden"),
    "may_approve": text("{people} may approve", de="genehmigen darf {people}"),
    "each_time": text(
        "{people} has to approve, each time somebody else", de="genehmigen muss {people}, jedes Mal jemand anders"
    ),
    "somebody_of": text("somebody of <@&{role}>", de="jemand mit <@&{role}>"),
    "different": text("{n} different people have to approve", de="{n} verschiedene Leute müssen genehmigen"),
    "never_requester": text("never whoever asked for it", de="nie wer darum gebeten hat"),
    "requester_too": text(
        "whoever asked may approve it too, if they are an approver",
        de="auch wer darum gebeten hat, wenn es ein Genehmiger ist",
    ),
    "its": text("its {name}", de="sein {name}"),
    "exactly": text("{name} is exactly {value}", de="{name} genau {value} ist"),
    "below": text("{name} lies below {value}", de="{name} unter {value} liegt"),
    "address_at": text("{name} is an address at {value}", de="{name} eine Adresse bei {value} ist"),
    "hours": text(" from {first} to {last}", de=" von {first} bis {last}"),
    "more": text("{n} more", de="{n} weitere"),
    "allow": option("Allow", de="Erlauben"),
    "allow_hint": hint("It runs at once, without a card.", de="Es läuft sofort, ohne Karte."),
    "ask_option": option("Ask", de="Fragen"),
    "ask_hint": hint(
        "It waits on a card for somebody who may decide.",
        de="Es wartet auf einer Karte auf jemanden, der entscheiden darf.",
    ),
    "refuse": option("Refuse", de="Verweigern"),
    "refuse_hint": hint(
        "It does not run, and the model is told no.", de="Es läuft nicht, und das Modell bekommt ein Nein."
    ),
    "rehearse": button("What would last week have looked like?", de="Wie hätte die letzte Woche ausgesehen?"),
    "save": button("Save", de="Speichern"),
    "discard": button("Discard the draft", de="Den Entwurf verwerfen"),
    "new_rule_page": text(
        "### A new rule\nWhich tool is it about?", de="### Eine neue Regel\nUm welches Werkzeug geht es?"
    ),
    "rule_runs": text(
        "### Rule {number} of what runs, not saved yet\n{rule}",
        de="### Regel {number} dazu, was läuft, noch nicht gespeichert\n{rule}",
    ),
    "what_happens": placeholder("What happens", de="Was geschieht"),
    "up": button("Move up", de="Nach oben"),
    "only_roles": placeholder("Only when somebody of these roles asks", de="Nur wenn jemand mit diesen Rollen fragt"),
    "arguments": button("Arguments and name…", de="Argumente und Name…"),
    "remove": button("Remove", de="Entfernen"),
    "back_to_all": button("Back to all rules", de="Zurück zu allen Regeln"),
    "not_before_save": text(
        "-# Nothing counts before you press **Save** in the list of all rules.",
        de="-# Nichts gilt, bevor du in der Liste aller Regeln **Speichern** drückst.",
    ),
    "rule_who": text(
        "### Rule {number} of who decides, not saved yet\n{rule}{conflicts}",
        de="### Regel {number} dazu, wer entscheidet, noch nicht gespeichert\n{rule}{conflicts}",
    ),
    "who_may": placeholder(
        "Who may decide (nobody picked: as without this rule)",
        de="Wer entscheiden darf (niemand gewählt: wie ohne diese Regel)",
    ),
    "each_must": placeholder(
        "Somebody of each of these must approve", de="Jemand mit jeder von diesen muss genehmigen"
    ),
    "demands": button("How many, four eyes, how long…", de="Wie viele, vier Augen, wie lange…"),
    "no_calls": text(
        "No call came to me in this server in the last seven days, so there is nothing to try the rules on.",
        de=(
            "In den letzten sieben Tagen kam auf diesem Server kein Aufruf zu mir, deshalb gibt es nichts, woran"
            " sich die Regeln proben ließen."
        ),
    ),
    "tried": text(
        (
            "{calls} came to me in this server since <t:{since}:f>{cut}.\nThey went like this: {was}.\nWith these"
            " rules: **{now}**.\n"
        ),
        de=(
            "{calls} kamen auf diesem Server seit <t:{since}:f> zu mir{cut}.\nSo ging es mit ihnen: {was}.\nMit"
            " diesen Regeln: **{now}**.\n"
        ),
    ),
    "none_otherwise": text("None of them would have gone another way.", de="Keiner davon wäre anders gelaufen."),
    "otherwise": text("{calls} would have gone another way:", de="{calls} wären anders gelaufen:"),
    "changed_call": text(
        "- `{id}` {tool}: was {was}, would be **{now}** by {rule} <t:{at}:R>",
        de="- `{id}` {tool}: war {was}, wäre **{now}** durch {rule} <t:{at}:R>",
    ),
    "not_tried": text(
        "{said}\n-# Not tried: {calls} of tools that are not connected now.",
        de="{said}\n-# Nicht geprobt: {calls} von Werkzeugen, die jetzt nicht verbunden sind.",
    ),
    "nothing_run": text(
        "-# Nothing was run by this. What only looks and ran by default is not counted: it is not on the trail.",
        de=(
            "-# Dadurch ist nichts gelaufen. Was nur nachsieht und von sich aus lief, ist nicht mitgezählt: Es"
            " steht nicht in der Aufzeichnung."
        ),
    ),
    "last_week": text(
        "### What last week would have looked like\n{said}", de="### Wie die letzte Woche ausgesehen hätte\n{said}"
    ),
    "set_here": text(
        "Set in this server (version {version}, by <@{person}> <t:{at}:R>)",
        de="Auf diesem Server gesetzt (Version {version}, von <@{person}> <t:{at}:R>)",
    ),
    "what_runs_page": text(
        "### What runs\nOf each list the first rule that fits a call counts; of several answers the strictest.",
        de=(
            "### Was läuft\nVon jeder Liste zählt die erste Regel, die zu einem Aufruf passt; von mehreren"
            " Antworten die strengste."
        ),
    ),
    "from_file": text("From the operator's file", de="Aus der Datei des Betreibers"),
    "not_believed": text(
        (
            "**The rules of this server are not believed.** {problem}\n**Everything is refused here until somebody"
            " saves rules anew.**"
        ),
        de=(
            "**Den Regeln dieses Servers wird nicht geglaubt.** {problem}\n**Hier wird alles verweigert, bis jemand"
            " neue Regeln speichert.**"
        ),
    ),
    "built_in": text(
        "-# Built in, for what no rule is about\nWhat acts asks first; what only looks runs.",
        de=(
            "-# Eingebaut, für das, worum es in keiner Regel geht\nWas etwas tut, fragt erst; was nur nachsieht, läuft."
        ),
    ),
    "who_page": text("### Who decides", de="### Wer entscheidet"),
    "from_file_small": text("-# From the operator's file\n{lines}", de="-# Aus der Datei des Betreibers\n{lines}"),
    "within_file": text("{where}, within what the file says", de="{where}, innerhalb dessen, was die Datei sagt"),
    "no_rule": text("-# For what no rule is about\n{said}", de="-# Für das, worum es in keiner Regel geht\n{said}"),
    "draft": text(
        "**Your draft. None of it counts yet.**\n{lines}", de="**Dein Entwurf. Noch gilt nichts davon.**\n{lines}"
    ),
    "cannot_save": text("{text}\n**You cannot save it.** {why}", de="{text}\n**Du kannst ihn nicht speichern.** {why}"),
    "add_runs": placeholder("What runs: add or change a rule…", de="Was läuft: Regel hinzufügen oder ändern…"),
    "to_approve": text("{n} to approve", de="{n} müssen genehmigen"),
    "add_who": placeholder("Who decides: add or change a rule…", de="Wer entscheidet: Regel hinzufügen oder ändern…"),
    "new_rule": option("A new rule", de="Eine neue Regel"),
    "other_name": option("Another name, or many by `*`…", de="Ein anderer Name, oder viele mit `*`…"),
    "which_tools": placeholder(
        "About which tools (none picked: every tool)", de="Um welche Werkzeuge es geht (keins gewählt: jedes)"
    ),
    "which_tool": placeholder("About which tool", de="Um welches Werkzeug es geht"),
    "only_channels": placeholder(
        "Only in these channels and their threads (none picked: everywhere)",
        de="Nur in diesen Kanälen und ihren Threads (keiner gewählt: überall)",
    ),
    "counts": text(
        "{allowed} allowed, {asked} asked, {refused} refused",
        de="{allowed} erlaubt, {asked} gefragt, {refused} verweigert",
    ),
    "is_address": option("is an address at one of these hosts", de="ist eine Adresse bei einem dieser Hosts"),
    "is_address_hint": hint(
        "docs.example or *.docs.example, one in a line", de="docs.example oder *.docs.example, einer je Zeile"
    ),
    "is_path": option("is a path below this folder", de="ist ein Pfad unter diesem Ordner"),
    "is_value": option("is one of these values", de="ist einer dieser Werte"),
    "is_value_hint": hint(
        'one in a line; 3 and "3" are two different ones', de='einer je Zeile; 3 und "3" sind zwei verschiedene'
    ),
    "is_command": option("is exactly this command, word by word", de="ist genau dieser Befehl, Wort für Wort"),
    "is_command_hint": hint("one word in a line", de="ein Wort je Zeile"),
    "as_operator": option("As the operator says", de="Wie der Betreiber sagt"),
    "never_option": option("Never whoever asked for it", de="Nie wer darum gebeten hat"),
    "requester_option": option("Whoever asked may, too", de="Wer darum gebeten hat, darf auch"),
    "name": label("Name", de="Name"),
    "name_hint": hint(
        "`*` stands for any characters, like github_*", de="`*` steht für beliebige Zeichen, etwa github_*"
    ),
    "which_title": title("Which tool", de="Welches Werkzeug"),
    "arguments_title": title("Name and arguments", de="Name und Argumente"),
    "rule_name": label("Name of the rule", de="Name der Regel"),
    "rule_name_hint": hint(
        "It stands on the card when the rule asks.", de="Er steht auf der Karte, wenn die Regel fragt."
    ),
    "if_argument": label("The rule counts only if this argument", de="Die Regel zählt nur, wenn dieses Argument"),
    "what": label("What", de="Was"),
    "what_hint": hint("Left empty: whatever the argument is.", de="Leer: was immer das Argument ist."),
    "demands_title": title("Who has to approve", de="Wer genehmigen muss"),
    "how_many": label("How many different people", de="Wie viele verschiedene Leute"),
    "how_many_hint": hint("1 to 20", de="1 bis 20"),
    "who_not": label("Who does not count", de="Wer nicht zählt"),
    "how_long": label("How long it waits", de="Wie lange es wartet"),
    "how_long_hint": hint(
        "Like 30m or 2h. Empty: as the operator says.", de="Etwa 30m oder 2h. Leer: wie der Betreiber sagt."
    ),
    "needs_argument": text("needs to know which argument is meant.", de="muss wissen, welches Argument gemeint ist."),
    "needs_number": text(
        "needs a number of people, not {given!r}.", de="braucht eine Zahl von Leuten, nicht {given!r}."
    ),
    "needs_value": text("needs to know what the argument has to be.", de="muss wissen, was das Argument sein soll."),
    "in_server": text(
        "Rules belong to a server; use `/policy` in one.",
        de="Regeln gehören zu einem Server; benutze `/policy` in einem.",
    ),
    "not_yours": text(
        "This list is not yours, or was closed, so nothing was changed. `/policy` opens your own.",
        de=(
            "Diese Liste gehört nicht dir oder wurde geschlossen, deshalb wurde nichts geändert. `/policy` öffnet"
            " deine eigene."
        ),
    ),
    "outdated": text(
        "This list was older than your draft, so that press changed nothing. This is how the draft stands now.",
        de=(
            "Diese Liste war älter als dein Entwurf, deshalb hat der Klick nichts geändert. So steht der Entwurf jetzt."
        ),
    ),
    "others_saved": text(
        (
            "Somebody else saved other rules meanwhile, so yours were not saved. Discard your draft and make the"
            " change again on what counts now."
        ),
        de=(
            "Jemand anders hat inzwischen andere Regeln gespeichert, deshalb wurden deine nicht gespeichert."
            " Verwirf deinen Entwurf und mach die Änderung noch einmal an dem, was jetzt gilt."
        ),
    ),
    "cannot_be": text(
        "That cannot be: the list {problem} Nothing was changed.",
        de="Das geht nicht: Die Liste {problem} Nichts wurde geändert.",
    ),
    "nothing_saved": text("Nothing was saved. {why}", de="Nichts wurde gespeichert. {why}"),
    "may_not": text(
        (
            "Nothing was changed. The rules are for people who may manage this server (permission Manage Server)"
            " and for those whom the operator named. {help}"
        ),
        de=(
            "Nichts wurde geändert. Die Regeln sind für Leute, die diesen Server verwalten dürfen (Recht „Server"
            " verwalten“), und für die, die der Betreiber benannt hat. {help}"
        ),
    ),
    "lets_run": text(
        (
            "It would let calls run without asking, and only those whom the operator of this bot named may do that."
            " {who}"
        ),
        de=(
            "Damit würden Aufrufe ohne Fragen laufen, und das dürfen nur die, die der Betreiber dieses Bots benannt"
            " hat. {who}"
        ),
    ),
    "changes_who": text(
        (
            "It would change who decides, and the operator of this bot named nobody for that; so only its owner"
            " may. {who}"
        ),
        de=(
            "Damit würde sich ändern, wer entscheidet, und dafür hat der Betreiber dieses Bots niemanden benannt;"
            " deshalb darf das nur sein Besitzer. {who}"
        ),
    ),
    "everybody": text(
        "names the role that everybody here holds, which says nothing about anybody.",
        de="nennt die Rolle, die hier alle haben, und das sagt über niemanden etwas.",
    ),
    "file_asks": text(
        "The file asks for {tool} here (its rule {rule})", de="Die Datei fragt hier bei {tool} (ihre Regel {rule})"
    ),
    "file_refuses": text(
        "The file refuses for {tool} here (its rule {rule})", de="Die Datei verweigert hier {tool} (ihre Regel {rule})"
    ),
    "days": text(("{n} day", "{n} days"), de=("{n} Tag", "{n} Tage")),
    "hours_long": text(("{n} hour", "{n} hours"), de=("{n} Stunde", "{n} Stunden")),
    "minutes": text(("{n} minute", "{n} minutes"), de=("{n} Minute", "{n} Minuten")),
    "whole_seconds": text(("{n} second", "{n} seconds"), de=("{n} Sekunde", "{n} Sekunden")),
    "with_network": text(
        "and has the machine's network if approved", de="und hat, wenn genehmigt, das Netz der Maschine"
    ),
    "if": text("if {conditions}", de="wenn {conditions}"),
    "in": text("in {channels}", de="in {channels}"),
    "a_rule": text("a rule", de="eine Regel"),
    "equals": text("{name} is {value}", de="{name} {value} ist"),
    "on": text(" on {days}", de=" am {days}"),
    "newest_of_them": text(" (the newest of them; there were more)", de=" (die neuesten davon; es waren mehr)"),
    "calls": text(("{n} call", "{n} calls"), de=("{n} Aufruf", "{n} Aufrufe")),
    "asked": text("asked", de="gefragt"),
    "allowed": text("allowed", de="erlaubt"),
    "refused": text("refused", de="verweigert"),
}
