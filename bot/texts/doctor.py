"""What `/doctor` finds, and what to do about it."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "not_for_you": text(
        (
            "This is for approvers, for those who manage this server, and for the owner of the bot. Ask one of them"
            " to run it."
        ),
        de=(
            "Das ist für Genehmiger, für alle, die diesen Server verwalten, und für den Besitzer des Bots. Bitte"
            " jemanden davon darum."
        ),
    ),
    "need_a_look": text("{bad} of {all} need a look.", de="{bad} von {all} brauchen einen Blick."),
    "all_fine": text("All {all} are in order.", de="Alle {all} sind in Ordnung."),
    "hidden": text(
        "{n} more in which I was asked lately were not looked at: you cannot open them",
        de="{n} weitere, in denen ich zuletzt gefragt wurde, habe ich nicht angesehen: Du kannst sie nicht öffnen",
    ),
    "how_to_give": text(
        "Give it to me in the channel's settings, under Permissions.",
        de="Gib es mir in den Einstellungen des Kanals unter Berechtigungen.",
    ),
    "not_visible": text("I cannot see it, or it is gone", de="Ich kann ihn nicht sehen, oder er ist weg"),
    "give_view": text("Give me View Channel there.", de="Gib mir dort „Kanal ansehen“."),
    "thread_locked": text(
        "the thread is locked, so nobody can press a button in it",
        de="der Thread ist gesperrt, deshalb kann niemand darin einen Knopf drücken",
    ),
    "decide_elsewhere": text(
        "Decide from `/approvals`, or unlock it.", de="Entscheide aus `/approvals`, oder entsperre ihn."
    ),
    "lacks": text("I lack {names}", de="Mir fehlt {names}"),
    "can_work": text("I can work there", de="Dort kann ich arbeiten"),
    "nobody": text("nobody can decide here", de="hier kann niemand entscheiden"),
    "set_approvers": text(
        "Set SIGNOFF_APPROVER_USERS or SIGNOFF_APPROVER_ROLES.",
        de="Setze SIGNOFF_APPROVER_USERS oder SIGNOFF_APPROVER_ROLES.",
    ),
    "more_people": text("{n} more were not looked at", de="{n} weitere wurden nicht angesehen"),
    "not_looked_up": text("could not be looked up: {problem}", de="konnte nicht nachgesehen werden: {problem}"),
    "later": text("Try again later.", de="Versuch es später noch einmal."),
    "cannot_see": text(
        "decides, and cannot see the cards here: {why}", de="entscheidet und kann die Karten hier nicht sehen: {why}"
    ),
    "let_see": text(
        "Let them see this channel, or name somebody else.",
        de="Lass die Person diesen Kanal sehen, oder benenne jemand anderen.",
    ),
    "never_written": text(
        "decides, sees this channel; was never written to directly",
        de="entscheidet, sieht diesen Kanal; wurde noch nie direkt angeschrieben",
    ),
    "got_message": text(
        "decides, sees this channel; got a message {when}",
        de="entscheidet, sieht diesen Kanal; bekam {when} eine Nachricht",
    ),
    "message_failed": text(
        "decides and sees this channel, but a direct message failed {when}: {problem}",
        de="entscheidet und sieht diesen Kanal, aber {when} kam eine Direktnachricht nicht an: {problem}",
    ),
    "allow_dm": text(
        "They can allow direct messages in this server's privacy settings.",
        de="Die Person kann in den Privatsphäre-Einstellungen dieses Servers Direktnachrichten erlauben.",
    ),
    "role": text("role {role}", de="Rolle {role}"),
    "no_role": text("decides, and is no role of this server", de="entscheidet und ist keine Rolle dieses Servers"),
    "name_another": text("Name another.", de="Benenne eine andere."),
    "count_unknown": text(
        "decides; how many hold it Discord did not say", de="entscheidet; wie viele sie haben, hat Discord nicht gesagt"
    ),
    "nobody_holds": text("decides, and nobody holds it", de="entscheidet, und niemand hat sie"),
    "give_role": text("Give it to somebody.", de="Gib sie jemandem."),
    "held": text(
        ("decides; {n} member holds it", "decides; {n} members hold it"),
        de=("entscheidet; {n} Mitglied hat sie", "entscheidet; {n} Mitglieder haben sie"),
    ),
    "no_answer": text("did not answer: {problem}", de="hat nicht geantwortet: {problem}"),
    "intent_refused": text(
        "I ask for Message Content, and the application's page does not allow it",
        de="Ich bitte um Message Content, und die Seite der Anwendung erlaubt es nicht",
    ),
    "intent_advice": text(
        "Allow it there (Bot, Message Content Intent), or do without in the settings.",
        de="Erlaube es dort (Bot, Message Content Intent), oder verzichte in den Einstellungen darauf.",
    ),
    "all_known": text("all {n} are known to Discord", de="alle {n} sind Discord bekannt"),
    "lacks_commands": text("Discord lacks {names}", de="Discord fehlt {names}"),
    "has_old": text("it still has {names}", de="es hat noch {names}"),
    "restart_me": text("Restart me: that offers them anew.", de="Starte mich neu: Das bietet sie wieder an."),
    "in_order": text("in order", de="in Ordnung"),
    "not_in_order": text("not in order", de="nicht in Ordnung"),
    "owner_sees": text(
        "The owner of this bot sees more in `/doctor`.", de="Der Besitzer dieses Bots sieht in `/doctor` mehr."
    ),
    "look": text("**look at this**", de="**sieh dir das an**"),
    "problem": text("**problem**", de="**Problem**"),
    "ok": text("ok", de="in Ordnung"),
}
