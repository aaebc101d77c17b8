"""What is said about conversations: beginning anew, forking, threads."""

from __future__ import annotations

from bot.texts.entry import stored, text

ENTRIES = {
    "new": text(
        "A new conversation begins here: I do not look at what was said before.",
        de="Hier beginnt ein neues Gespräch: Was vorher gesagt wurde, sehe ich mir nicht mehr an.",
    ),
    "nothing_open": text("Nothing was open.", de="Nichts war offen."),
    "cancelled": text("- cancelled: {call}", de="- abgebrochen: {call}"),
    "still_running": text("- still running, not stopped: {call}", de="- läuft noch, nicht gestoppt: {call}"),
    "ended": text(
        ("{n} open request was ended.", "{n} open requests were ended."),
        de=("{n} offene Anfrage wurde beendet.", "{n} offene Anfragen wurden beendet."),
    ),
    "call": text("{call} · `{id}`, asked by <@{requester}>", de="{call} · `{id}`, gefragt von <@{requester}>"),
    "no_threads_in_dm": text(
        "There are no threads in direct messages. `/new` begins afresh here.",
        de="In Direktnachrichten gibt es keine Threads. `/new` fängt hier neu an.",
    ),
    "no_thread_here": text(
        ("Here no thread can be opened, so nothing was forked. Use `/fork` in a text channel or in a thread of one."),
        de=(
            "Hier lässt sich kein Thread öffnen, deshalb wurde nichts abgezweigt. Benutze `/fork` in einem"
            " Textkanal oder in einem Thread davon."
        ),
    ),
    "fork_broken": text(
        "Something went wrong inside me, so this thread begins empty. The log has the details.",
        de="Bei mir ist etwas schiefgegangen, deshalb fängt dieser Thread leer an. Die Einzelheiten stehen im Log.",
    ),
    "forked": text(
        "It goes on in <#{channel}>, and here as well.", de="Es geht in <#{channel}> weiter, und hier auch."
    ),
    "forked_privately": text(
        (
            "It goes on in <#{channel}>, and here as well. That thread is private too, and only you are in it: whoever"
            " else should be, add them there."
        ),
        de=(
            "Es geht in <#{channel}> weiter, und hier auch. Jener Thread ist ebenfalls privat, und nur du bist darin:"
            " Wer sonst hineinsoll, den füge dort hinzu."
        ),
    ),
    "fork_lacks": text(
        "I cannot open a thread in <#{channel}>: I lack {lacking}.",
        de="Ich kann in <#{channel}> keinen Thread öffnen: Mir fehlt {lacking}.",
    ),
    "forks": text(
        "<@{person}> goes on from <#{channel}> in a thread of its own.",
        de="<@{person}> macht von <#{channel}> aus in einem eigenen Thread weiter.",
    ),
    "knows": text(
        "I know what was said in <#{channel}> until now; from here on the two go separate ways.",
        de="Ich weiß, was bis jetzt in <#{channel}> gesagt wurde; von hier an gehen die beiden getrennte Wege.",
    ),
    "empty": text(
        "Nothing was said to me in <#{channel}> yet, so this begins empty.",
        de="In <#{channel}> wurde mir noch nichts gesagt, deshalb fängt das hier leer an.",
    ),
    "worked_on": text(
        (
            " {n} request is still being worked on there; its answer comes there.",
            " {n} requests are still being worked on there; their answers come there.",
        ),
        de=(
            " An {n} Anfrage wird dort noch gearbeitet; ihre Antwort kommt dort.",
            " An {n} Anfragen wird dort noch gearbeitet; ihre Antworten kommen dort.",
        ),
    ),
    "stays": text(
        "- stays there: {tool} {arguments} · `{id}`, asked by <@{requester}>",
        de="- bleibt dort: {tool} {arguments} · `{id}`, gefragt von <@{requester}>",
    ),
    "no_threads_at_all": text(
        "There are no threads in direct messages", de="In Direktnachrichten gibt es keine Threads"
    ),
    "already_thread": text("This is a thread already", de="Das ist schon ein Thread"),
    "answer_here": text("{why}, so I answer here.", de="{why}, deshalb antworte ich hier."),
    "asked": text("<@{person}> asked.", de="<@{person}> hat gefragt."),
    "not_opened": text(
        "I could not open a thread, so I answer here. {problem}",
        de="Ich konnte keinen Thread öffnen, deshalb antworte ich hier. {problem}",
    ),
    "no_threads_of_kind": text("A channel of this kind has no threads", de="Ein Kanal dieser Art hat keine Threads"),
    "thread_lacks": text(
        "I cannot open a thread here, because I lack {lacking}",
        de="Ich kann hier keinen Thread öffnen, weil mir {lacking} fehlt",
    ),
    "new_note": stored("a new conversation was begun", de="ein neues Gespräch wurde begonnen"),
    "new_ended": text(
        "A new conversation was begun here, so this request was ended. What it still asked was cancelled.",
        de=(
            "Hier wurde ein neues Gespräch begonnen, deshalb wurde diese Anfrage beendet. Was sie noch fragte,"
            " wurde abgebrochen."
        ),
    ),
    "others_open": text(
        (
            "Something that somebody else asked for is still open here. Only they, or an approver, can end it;"
            " nothing changed."
        ),
        de=(
            "Hier ist noch etwas offen, worum jemand anders gebeten hat. Nur diese Person oder ein Genehmiger kann"
            " es beenden; nichts hat sich geändert."
        ),
    ),
}
