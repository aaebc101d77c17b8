"""What `signoff doctor`, and `/doctor` for the owner, find on this machine and in the application."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "see_example": text("See .env.example for every setting.", de="Alle Einstellungen stehen in .env.example."),
    "read_from": text("read from the environment{more}", de="aus der Umgebung gelesen{more}"),
    "and_file": text(" and {name}", de=" und {name}"),
    "exposed": text(
        "{text}; other users of this machine can read {files}",
        de="{text}; andere Nutzer dieser Maschine können {files} lesen",
    ),
    "owner_decides": text(
        "the owner of the application, or its team, decides", de="der Besitzer der Anwendung oder ihr Team entscheidet"
    ),
    "by_id": text("{users} by user id, {roles} roles", de="{users} nach Nutzer-ID, {roles} Rollen"),
    "roles_decide": text(
        "{text}; whoever can give people these roles decides who decides",
        de="{text}; wer diese Rollen vergeben kann, entscheidet, wer entscheidet",
    ),
    "users_alone": text(
        "If server administrators shall not, use SIGNOFF_APPROVER_USERS alone.",
        de="Wenn Server-Administratoren das nicht sollen, benutze SIGNOFF_APPROVER_USERS allein.",
    ),
    "no_folder": text("{path} is not a folder", de="{path} ist kein Ordner"),
    "other_place": text("Set {setting} to another place.", de="Setze {setting} auf einen anderen Ort."),
    "not_writable": text("{path} cannot be written", de="{path} lässt sich nicht beschreiben"),
    "give_right": text(
        "Give this user the right to, or set {setting} to another place.",
        de="Gib diesem Nutzer das Recht dazu, oder setze {setting} auf einen anderen Ort.",
    ),
    "disk_full": text("{path}: the disk is nearly full", de="{path}: Die Platte ist fast voll"),
    "make_room": text("Make room.", de="Schaff Platz."),
    "made_at_start": text(" (made at the first start)", de=" (entsteht beim ersten Start)"),
    "no_database": text(
        "{path} does not exist yet; it is made at the first start",
        de="{path} gibt es noch nicht; sie entsteht beim ersten Start",
    ),
    "sentence_says": text("The sentence says it.", de="Der Satz sagt es."),
    "damaged": text("{path} is damaged: {problems}", de="{path} ist beschädigt: {problems}"),
    "bring_back": text(
        "Stop the bot, put the file aside, and bring back a backup.",
        de="Beende den Bot, leg die Datei beiseite und hol eine Sicherung zurück.",
    ),
    "sound": text("{path} is sound; {use}", de="{path} ist heil; {use}"),
    "in_use": text("in use by {who}", de="in Benutzung durch {who}"),
    "not_in_use": text("not in use now", de="jetzt nicht in Benutzung"),
    "others_can_open": text(
        "other users of this machine can open the database, or the key that seals its decisions",
        de=(
            "andere Nutzer dieser Maschine können die Datenbank öffnen oder den Schlüssel, der ihre Entscheidungen"
            " versiegelt"
        ),
    ),
    "token_in_use": text(
        "in use by {who}, and by no other on this machine",
        de="in Benutzung durch {who} und durch keinen anderen auf dieser Maschine",
    ),
    "token_free": text("not in use on this machine now", de="auf dieser Maschine jetzt nicht in Benutzung"),
    "in_reach": text(
        "the tools can reach {files}: it lies in the workspace",
        de="die Werkzeuge erreichen {files}: Das liegt im Arbeitsordner",
    ),
    "own_folder": text(
        "Set SIGNOFF_WORKSPACE to a folder of its own.", de="Setze SIGNOFF_WORKSPACE auf einen eigenen Ordner."
    ),
    "will_not_run": text(
        "off: shell, execute_code and commands in the background",
        de="aus: shell, execute_code und Befehle im Hintergrund",
    ),
    "no_sandbox": text(
        "none: an approved command can do whatever this user can",
        de="keine: Ein genehmigter Befehl kann alles, was dieser Nutzer kann",
    ),
    "install": text(
        "Install bubblewrap and remove SIGNOFF_SANDBOX=none.",
        de="Installiere bubblewrap und entferne SIGNOFF_SANDBOX=none.",
    ),
    "keeps": text("bubblewrap keeps its promises: {kept}", de="bubblewrap hält, was es verspricht: {kept}"),
    "calculator": text("calculate works; it needs no sandbox", de="calculate funktioniert; es braucht keine Sandbox"),
    "no_calculator": text("off: calculate ({problem})", de="aus: calculate ({problem})"),
    "install_calculator": text(
        "pip install pydantic-monty-runtime, in the version that this one asks for.",
        de="pip install pydantic-monty-runtime, in der Version, die diese hier verlangt.",
    ),
    "search": text("web_search has a key and its packages", de="web_search hat einen Schlüssel und seine Pakete"),
    "in_background": text("{n} run in the background: {commands}", de="{n} laufen im Hintergrund: {commands}"),
    "offline": text(
        "the offline model, which knows a few requests and says so; set SIGNOFF_MODEL for a real one",
        de="das Offline-Modell, das ein paar Anfragen kennt und das sagt; für ein echtes setze SIGNOFF_MODEL",
    ),
    "unusable": text("{model} cannot be used: {problem}", de="{model} lässt sich nicht benutzen: {problem}"),
    "see_model": text("See SIGNOFF_MODEL in .env.example.", de="Siehe SIGNOFF_MODEL in .env.example."),
    "price_known": text("its price is known", de="sein Preis ist bekannt"),
    "price_unknown": text(
        "its price is not known here, so its cost will not be",
        de="sein Preis ist hier nicht bekannt, also auch seine Kosten nicht",
    ),
    "see_usage": text("See docs/usage.md.", de="Siehe docs/usage.md."),
    "model": text(
        "{model} (not called now: that costs money); {price}",
        de="{model} (jetzt nicht aufgerufen: Das kostet Geld); {price}",
    ),
    "token_refused": text("Discord does not accept the token", de="Discord nimmt das Token nicht an"),
    "token_advice": text(
        "Copy it anew: {portal}, your application, Bot, Reset Token.",
        de="Kopiere es neu: {portal}, deine Anwendung, Bot, Reset Token.",
    ),
    "unreachable": text(
        "Discord cannot be reached ({kind}: {problem})", de="Discord ist nicht zu erreichen ({kind}: {problem})"
    ),
    "network": text(
        "Check this machine's network; behind a proxy set DISCORD_PROXY.",
        de="Sieh nach dem Netz dieser Maschine; hinter einem Proxy setze DISCORD_PROXY.",
    ),
    "team": text("team {name} ({n} members)", de="Team {name} ({n} Mitglieder)"),
    "application": text("{name} ({id}), owned by {owner}", de="{name} ({id}), gehört {owner}"),
    "no_privileged": text("none of the privileged ones is needed", de="keine der privilegierten wird gebraucht"),
    "content_on": text("; Message Content is on, and may be off", de="; Message Content ist an und dürfte aus sein"),
    "endpoint": text(
        "commands and buttons go to a web address, not to this bot: an Interactions Endpoint URL is set",
        de=(
            "Befehle und Knöpfe gehen an eine Webadresse, nicht an diesen Bot: Eine „Interactions Endpoint URL“ ist"
            " gesetzt"
        ),
    ),
    "clear_it": text(
        "Clear it: {page}/information, Interactions Endpoint URL.",
        de="Leere sie: {page}/information, Interactions Endpoint URL.",
    ),
    "public": text(
        "anybody can add this bot to a server of theirs", de="jeder kann diesen Bot auf einen eigenen Server holen"
    ),
    "not_public": text(
        "Switch off Public Bot: {page}/bot (set the install link to None first: {install}/installation).",
        de=(
            "Schalte „Public Bot“ aus: {page}/bot (setze zuerst den Installationslink auf None:"
            " {install}/installation)."
        ),
    ),
    "user_install": text(
        "people can add this bot to their own account; I refuse what they ask from servers that I am not in",
        de="Leute können diesen Bot ihrem Konto hinzufügen; was sie von fremden Servern aus fragen, lehne ich ab",
    ),
    "no_user_install": text(
        "Switch off User Install: {page}/installation.", de="Schalte „User Install“ aus: {page}/installation."
    ),
    "code_grant": text(
        "the install link will not work: Requires OAuth2 Code Grant is on",
        de="der Installationslink wird nicht funktionieren: „Requires OAuth2 Code Grant“ ist an",
    ),
    "switch_off": text("Switch it off: {page}/bot.", de="Schalte es aus: {page}/bot."),
    "no_server": text("the bot is in no server yet", de="der Bot ist noch auf keinem Server"),
    "add_it": text("Add it with this link: {link}", de="Füge ihn mit diesem Link hinzu: {link}"),
    "servers": text("in {n}; add it to more with {link}", de="auf {n}; weitere mit {link}"),
    "administrator": text(
        "it is Administrator in {name}, and does not need to be",
        de="auf {name} ist er Administrator und muss es nicht sein",
    ),
    "take_it": text("Take that permission from its role.", de="Nimm seiner Rolle dieses Recht."),
    "role_lacks": text("in {name} its role lacks: {permissions}", de="auf {name} fehlt seiner Rolle: {permissions}"),
    "give_role": text(
        "Give its role these, or add it again with {link}",
        de="Gib seiner Rolle diese, oder füge ihn noch einmal hinzu mit {link}",
    ),
}
