"""Who may decide, and what is said to who may not."""

from __future__ import annotations

from bot.texts.entry import stored, text

ENTRIES = {
    "only_asked": text(
        "Only the person who was asked can answer this.", de="Nur wer gefragt wurde, kann das beantworten."
    ),
    "only_requester": text(
        "Only the person who asked for this can cancel it; an approver can deny it.",
        de="Nur wer darum gebeten hat, kann das abbrechen; ein Genehmiger kann es ablehnen.",
    ),
    "other_server": text(
        "This request belongs to another server, so nothing changed.",
        de="Diese Anfrage gehört zu einem anderen Server, deshalb hat sich nichts geändert.",
    ),
    "other_message": text(
        "This button does not belong to this message; nothing changed.",
        de="Dieser Knopf gehört nicht zu dieser Nachricht; nichts hat sich geändert.",
    ),
    "settings_decide": stored(
        "SIGNOFF_APPROVER_USERS and SIGNOFF_APPROVER_ROLES say who decides",
        de="SIGNOFF_APPROVER_USERS und SIGNOFF_APPROVER_ROLES sagen, wer entscheidet",
    ),
    "owner_decides": stored("The owner of this bot decides", de="Der Besitzer dieses Bots entscheidet"),
    "file_rule": stored(
        "Rule {number} of [[approvers]] says who decides", de="Regel {number} von [[approvers]] sagt, wer entscheidet"
    ),
    "guild_rule": stored(
        "Rule {number} of this server's /policy says who decides",
        de="Regel {number} in /policy auf diesem Server sagt, wer entscheidet",
    ),
    "reserved_by_rule": text(
        "rule {number} of [[approvers]] in the operator's file says who decides it",
        de="Regel {number} von [[approvers]] in der Datei des Betreibers sagt, wer darüber entscheidet",
    ),
    "reserved_four_eyes": text(
        "the operator wants somebody else than the requester to decide (SIGNOFF_SELF_APPROVAL)",
        de="der Betreiber will, dass jemand anders entscheidet als wer gefragt hat (SIGNOFF_SELF_APPROVAL)",
    ),
    "not_approver": text(
        "You are not an approver here, so nothing changed. {help}",
        de="Du bist hier kein Genehmiger, deshalb hat sich nichts geändert. {help}",
    ),
    "roles_unknown": text(
        (
            "I could not look up your roles in the server where this was asked ({problem}), so nothing changed. Try"
            " again in a moment, or press the button on the card there."
        ),
        de=(
            "Ich konnte deine Rollen auf dem Server, auf dem gefragt wurde, nicht nachsehen ({problem}), deshalb"
            " hat sich nichts geändert. Versuch es gleich noch einmal, oder drücke den Knopf an der Karte dort."
        ),
    ),
    "no_member": text(
        "You are no member of the server where this was asked; nothing changed.",
        de="Du bist kein Mitglied des Servers, auf dem gefragt wurde; nichts hat sich geändert.",
    ),
    "no_connection": text("there is no connection", de="es gibt keine Verbindung"),
    "not_known_yet": text("it is not known yet who decides", de="es ist noch nicht bekannt, wer entscheidet"),
    "approval_gone": stored(
        "the approval of {names} does not count any more", de="die Genehmigung von {names} zählt nicht mehr"
    ),
    "needs_more": stored("it needs more approvals now", de="es braucht jetzt mehr Genehmigungen"),
    "names_nobody_who_may": stored(
        "{rule}, and it names nobody who may. {help}", de="{rule}, und sie nennt niemanden, der darf. {help}"
    ),
    "names_nobody": stored("{rule}, and it names nobody.", de="{rule}, und sie nennt niemanden."),
    "no_approver": stored(
        "No approver is set up: set SIGNOFF_APPROVER_USERS.",
        de="Kein Genehmiger ist eingerichtet: Setze SIGNOFF_APPROVER_USERS.",
    ),
    "no_other": text("There is no other one.", de="Einen anderen gibt es nicht."),
    "one_of": text("one of {role}", de="jemand mit {role}"),
    "user": text("user {person}", de="Nutzer {person}"),
    "role": text("role {role}", de="Rolle {role}"),
    "asked_yourself": text(
        (
            "You asked for this yourself, so another approver has to decide it. Nothing changed. You can cancel it."
            " {help}"
        ),
        de=(
            "Du hast selbst darum gebeten, deshalb muss ein anderer Genehmiger entscheiden. Nichts hat sich"
            " geändert. Du kannst es abbrechen. {help}"
        ),
    ),
    "changed_yourself": text(
        "You changed this yourself, so another approver has to decide it. Nothing changed. {help}",
        de=(
            "Du hast das selbst geändert, deshalb muss ein anderer Genehmiger entscheiden. Nichts hat sich"
            " geändert. {help}"
        ),
    ),
    "and_others": text("{names} and others", de="{names} und andere"),
    "some_of": text("{n} of {names}", de="{n} von {names}"),
    "help": stored("{rule}: {wants}.", de="{rule}: {wants}."),
    "why_not": stored("{what}: {help}", de="{what}: {help}"),
    "taken_back": stored("taken back by the person who asked", de="von der Person zurückgenommen, die gefragt hat"),
    "card_changed": text(
        "A call on this card was changed meanwhile, so nothing was decided. Look at the card again.",
        de=(
            "Ein Aufruf auf dieser Karte wurde inzwischen geändert, deshalb wurde nichts entschieden. Sieh dir die"
            " Karte noch einmal an."
        ),
    ),
    "card_unknown": text(
        "This card is not known here; nothing changed.",
        de="Diese Karte ist hier nicht bekannt; nichts hat sich geändert.",
    ),
    "all_settled": text(
        "Everything on this card has been settled; your press changed nothing.",
        de="Über alles auf dieser Karte ist schon entschieden; dein Klick hat nichts geändert.",
    ),
    "unknown": text(
        "This request is not known here; nothing changed.",
        de="Diese Anfrage ist hier nicht bekannt; nichts hat sich geändert.",
    ),
    "other_application": stored(
        "the bot runs as another Discord application now.", de="der Bot läuft jetzt als eine andere Discord-Anwendung."
    ),
    "already_approved": text("You have approved this already. {missing}", de="Du hast das schon genehmigt. {missing}"),
    "not_as_stored": text(
        "This request is not as this bot stored it, so it was voided. Nothing ran.",
        de=(
            "Diese Anfrage ist nicht so, wie dieser Bot sie gespeichert hat, deshalb wurde sie ungültig gemacht."
            " Nichts ist gelaufen."
        ),
    ),
    "more_must": text(
        ("{n} more must approve. {help}", "{n} more must approve. {help}"),
        de=("{n} weiterer muss genehmigen. {help}", "{n} weitere müssen genehmigen. {help}"),
    ),
    "not_ended": text(
        "It has not ended yet, so nothing was asked again.",
        de="Es ist noch nicht zu Ende, deshalb wurde nichts noch einmal gefragt.",
    ),
    "deadline_passed": text(
        "The deadline has passed, so your press changed nothing. Nothing ran.",
        de="Die Frist ist vorbei, deshalb hat dein Klick nichts geändert. Nichts ist gelaufen.",
    ),
    "call_changed": text(
        (
            "{who} has changed this call meanwhile, so your press changed nothing. Look at the card: it shows what"
            " would run now."
        ),
        de=(
            "{who} hat diesen Aufruf inzwischen geändert, deshalb hat dein Klick nichts geändert. Sieh dir die"
            " Karte an: Sie zeigt, was jetzt laufen würde."
        ),
    ),
    "not_genuine": stored("it is not as this bot stored it.", de="es ist nicht so, wie dieser Bot es gespeichert hat."),
    "wrong_kind": text(
        "This request cannot be answered in that way.", de="So lässt sich diese Anfrage nicht beantworten."
    ),
}
