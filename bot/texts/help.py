"""What `/help` says, by topic."""

from __future__ import annotations

from bot.texts.entry import option, placeholder, text

ENTRIES = {
    "topic_start": option("Start", de="Anfang"),
    "topic_cards": option("Cards and deciding", de="Karten und Entscheiden"),
    "topic_talks": option("Conversations", de="Gespräche"),
    "topic_jobs": option("Work in the background", de="Arbeit im Hintergrund"),
    "topic_rules": option("What asks and what does not", de="Was fragt und was nicht"),
    "topic_privacy": option("What I see and keep", de="Was ich sehe und behalte"),
    "topic_trouble": option("When something is wrong", de="Wenn etwas nicht stimmt"),
    "topic_commands": option("All commands", de="Alle Befehle"),
    "start": text(
        (
            "**Tell me what you need**: `/ask`, a mention, an answer to one of my messages, or a direct message.\nI"
            " can run commands and Python, read and write files in my workspace, fetch pages and send requests,"
            " calculate, and work in the background. `/tools` lists what I can do here.\n\nWhat has consequences"
            " does not run by itself: a"
            " **card** shows exactly what would run, and somebody who may decide presses **Approve** or **Deny**."
            " What was approved is what runs, once.\n\nYou need not wait: the answer comes into this channel, and"
            " to you directly if you like (`/notify`)."
        ),
        de=(
            "**Sag mir, was du brauchst**: mit `/ask`, einer Erwähnung, einer Antwort auf eine meiner Nachrichten"
            " oder einer Direktnachricht.\nIch kann Befehle und Python ausführen, in meinem Arbeitsordner Dateien"
            " lesen und schreiben, Seiten abrufen und Anfragen senden, rechnen und im Hintergrund arbeiten. `/tools`"
            " zeigt, was ich hier kann."
            "\n\nWas Folgen hat, läuft nicht von selbst: Eine **Karte** zeigt genau, was laufen würde, und wer"
            " entscheiden darf, drückt **Genehmigen** oder **Ablehnen**. Was genehmigt wurde, das läuft, einmal."
            "\n\nDu musst nicht warten: Die Antwort kommt in diesen Kanal und, wenn du magst, direkt zu dir"
            " (`/notify`)."
        ),
    ),
    "cards": text(
        (
            "**A card** shows one call whole, who asked for it, why it asks, what it may touch, and until when it"
            " waits.\n- **Approve**, **Deny**, **Deny with reason…**: for those who may decide. The reason reaches"
            " the model.\n- **Approve and remember…** approves it and the very same call of that person here, for a"
            " time. `/grants` lists what holds, and ends it.\n- **Edit…** changes the call. That makes a new one,"
            " which waits for an approval of its own.\n- **Cancel** takes back what you asked for. **Extend** puts"
            " the deadline off.\n- **Details** shows everything, for you alone. **Run again** asks once more after"
            " an ending. **Undo** takes a file write back, while nobody has changed the file since."
            "\n\nWho may decide is looked up when the button is pressed, and once more before anything"
            " runs. Some calls need two people, or somebody who did not ask. A reaction, an answer or a word never"
            " decides.\n\nNobody decided in time? Then nothing runs: silence is not a yes.\n`/approvals` lists what"
            " waits in this server, and decides from the list. `/why` tells the story of one call."
        ),
        de=(
            "**Eine Karte** zeigt einen Aufruf ganz: wer ihn wollte, warum sie fragt, was er anfassen darf und bis"
            " wann sie wartet.\n- **Genehmigen**, **Ablehnen**, **Ablehnen mit Begründung…**: für die, die"
            " entscheiden dürfen. Die Begründung erfährt das Modell.\n- **Genehmigen und merken…** genehmigt ihn"
            " und genau denselben Aufruf dieser Person hier, für eine Zeit. `/grants` zeigt, was gilt, und beendet"
            " es.\n- **Ändern…** ändert den Aufruf. Daraus wird ein neuer, der auf eine eigene Genehmigung wartet."
            "\n- **Abbrechen** nimmt zurück, worum du gebeten hast. **Verlängern** schiebt die Frist hinaus.\n-"
            " **Details** zeigt alles, nur dir. **Noch einmal fragen** fragt nach einem Ende noch einmal."
            " **Rückgängig machen** nimmt das Schreiben einer Datei zurück, solange niemand sie seitdem geändert hat."
            "\n\nWer entscheiden darf, wird beim Klicken nachgesehen, und noch einmal, bevor etwas läuft. Manche"
            " Aufrufe brauchen zwei Leute oder jemanden, der nicht selbst gefragt hat. Eine Reaktion, eine"
            " Antwort oder ein Wort entscheidet nie."
            "\n\nNiemand hat rechtzeitig entschieden? Dann läuft nichts: Schweigen ist kein"
            " Ja.\n`/approvals` zeigt, was auf diesem Server wartet, und entscheidet aus der Liste. `/why` erzählt"
            " die Geschichte eines Aufrufs."
        ),
    ),
    "talks": text(
        (
            "Each channel, each thread and each person's direct messages have a **conversation** of their own, in"
            " which I remember what was said.\n- One request at a time: a second one waits until the first has"
            " paused or ended, and is told its place.\n- **Stop** beside a growing answer ends it there, for who"
            " asked and for approvers. What it had said stays.\n- While something waits for a decision you can go"
            " on talking. What came of it is told later.\n- `/ask thread: true` opens a thread and answers there."
            "\n- **Ask about this**, in a message's menu under Apps, shows me that message with your question.\n-"
            " `/new` begins afresh: what is still open there is cancelled, and named. Nothing said is deleted.\n-"
            " `/fork` goes on in a new thread with all that was said. What is open stays where it is.\n\nIn a"
            " server I read only what mentions me, answers me, or is sent to me as a command; in threads that I"
            " opened everything, if this server's bot may read messages."
        ),
        de=(
            "Jeder Kanal, jeder Thread und die Direktnachrichten jeder Person haben ein eigenes **Gespräch**, in"
            " dem ich mir merke, was gesagt wurde.\n- Eine Anfrage nach der anderen: Eine zweite wartet, bis die"
            " erste pausiert oder fertig ist, und erfährt ihren Platz.\n- **Stopp** neben einer wachsenden Antwort"
            " beendet sie dort; das dürfen, wer gefragt hat, und die Genehmiger. Was sie schon gesagt hatte,"
            " bleibt.\n- Während etwas auf eine Entscheidung wartet, kannst du weiterreden. Was daraus wurde,"
            " erfährst du später.\n- `/ask thread: true` öffnet einen Thread und antwortet dort.\n- **Dazu"
            " fragen**, im Menü einer Nachricht unter Apps, zeigt mir diese Nachricht mit deiner Frage.\n- `/new`"
            " fängt neu an: Was dort noch offen ist, wird abgebrochen und genannt. Nichts Gesagtes wird gelöscht."
            "\n- `/fork` macht in einem neuen Thread weiter, mit allem, was gesagt wurde. Was offen ist, bleibt, wo"
            " es ist.\n\nAuf einem Server lese ich nur, was mich erwähnt, mir antwortet oder mir als Befehl"
            " geschickt wird; in Threads, die ich geöffnet habe, alles, wenn der Bot dieses Servers Nachrichten"
            " lesen darf."
        ),
    ),
    "jobs": text(
        (
            "`/job start` gives me something to do **in the background**. It goes on while you do something else,"
            " and over my restarts; its card shows how far it is.\n- **Continue in background**, beside an answer"
            " that takes long, makes such a job of it where it stands.\n- On the card: **Stop** (pressed twice),"
            " **Extend**, a note for it, its log.\n- What has consequences asks on a card there, too.\n- Its result"
            " comes once, with the files it made: in the channel, else to you directly, else into your"
            " `/inbox`.\n`/job list`, `/job show` and `/job cancel` do what they say. The list shows"
            " commands that run in the background, too, and"
            " stops them.\n`/schedule add` starts such work **by itself at set times**, in words such as `every"
            " weekday at 9`."
        ),
        de=(
            "`/job start` gibt mir etwas **im Hintergrund** zu tun. Das geht weiter, während du etwas anderes"
            " machst, und über meine Neustarts hinweg; seine Karte zeigt, wie weit es ist.\n- **Im Hintergrund"
            " weiter** neben einer Antwort, die lange dauert, macht daraus so einen Auftrag, von da an, wo sie"
            " steht.\n- Auf der Karte: **Stopp** (zweimal drücken), **Verlängern**, eine Notiz dafür, sein"
            " Protokoll.\n- Was Folgen hat, fragt auch dort auf einer Karte.\n- Das Ergebnis kommt einmal, mit den"
            " Dateien dazu: in den Kanal, sonst direkt zu dir, sonst in dein `/inbox`.\n`/job list`,"
            " `/job show` und `/job cancel` zeigen alle, zeigen einen und brechen ab."
            " Die Liste zeigt auch Befehle, die im Hintergrund laufen,"
            " und stoppt sie.\n`/schedule add` fängt solche Arbeit **von selbst zu festen Zeiten** an, in Worten"
            " wie `every weekday at 9`."
        ),
    ),
    "rules": text(
        (
            "Each tool **asks** before it runs, is **allowed** without asking, or is **refused**. `/tools` says"
            " which, here and for you, and which rule says so.\n- What only looks is allowed, as long as no rule"
            " says otherwise. What acts asks.\n- The operator's rules go by tool, arguments, place, person, role"
            " and hour; the first that fits counts.\n- `/policy` shows all rules here in plain sentences. Who"
            " manages the server can make them stricter there, and those whom the operator named can change them;"
            " the operator's file is the outer bound.\n- `/settings` says where cards and results of jobs go here,"
            " which model answers, and how much a day.\n- Shells and interpreters can never be always allowed: no"
            " rule can read what a program would do. Requests that send something always ask, too. `calculate` can be"
            " allowed: it touches nothing.\n- A tool of an MCP server whose description changed asks"
            " again, whatever the rules say, and the card says what changed.\n\nI cannot give myself permission,"
            " and neither can anything that I read."
        ),
        de=(
            "Jedes Werkzeug **fragt**, bevor es läuft, ist ohne Fragen **erlaubt** oder wird **verweigert**."
            " `/tools` sagt, was davon hier und für dich gilt und welche Regel das sagt.\n- Was nur nachsieht, ist"
            " erlaubt, solange keine Regel etwas anderes sagt. Was etwas tut, fragt.\n- Die Regeln des Betreibers"
            " gehen nach Werkzeug, Argumenten, Ort, Person, Rolle und Uhrzeit; die erste, die passt, zählt.\n-"
            " `/policy` zeigt alle Regeln hier in einfachen Sätzen. Wer den Server verwaltet, kann sie dort"
            " strenger machen, und wen der Betreiber benannt hat, kann sie ändern; die Datei des Betreibers ist die"
            " äußere Grenze.\n- `/settings` sagt, wohin Karten und Ergebnisse von Aufträgen hier gehen, welches"
            " Modell antwortet und wie viel am Tag.\n- Shells und Interpreter können nie für immer erlaubt werden:"
            " Keine Regel kann lesen, was ein Programm tun würde. Auch Anfragen, die etwas senden, fragen immer."
            " `calculate` kann erlaubt werden: Es berührt nichts.\n- Ein Werkzeug eines MCP-Servers, dessen"
            " Beschreibung sich geändert hat, fragt wieder, was immer die Regeln sagen, und die Karte sagt, was"
            " sich geändert hat.\n\nIch kann mir selbst nichts erlauben, und nichts, was ich lese, kann das."
        ),
    ),
    "privacy": text(
        (
            "I keep what was asked, what I answered, every call with its arguments and result, and who decided:"
            " that is the record that `/why` reads. It lies with whoever runs me, not with Discord.\n- What you ask"
            " goes to the model that the operator chose; what is searched for, to a search service, if there is"
            " one.\n- I show a private list only to you, and only what you"
            " could open yourself.\n- Known secrets are masked before anything is stored, shown or sent to the"
            " model.\n- Commands run in a sandbox: no network, none of my keys, writing in the workspace only."
        ),
        de=(
            "Ich behalte, was gefragt wurde, was ich geantwortet habe, jeden Aufruf mit Argumenten und Ergebnis und"
            " wer entschieden hat: Das ist die Aufzeichnung, die `/why` liest. Sie liegt bei dem, der mich"
            " betreibt, nicht bei Discord.\n- Was du fragst, geht an das Modell, das der Betreiber gewählt hat;"
            " wonach gesucht wird, an einen Suchdienst, falls es einen gibt.\n-"
            " Eine private Liste zeige ich nur dir und nur, was du selbst öffnen könntest.\n- Bekannte Geheimnisse"
            " werden verdeckt, bevor etwas gespeichert, gezeigt oder ans Modell geschickt wird.\n- Befehle laufen"
            " in einer Sandbox: kein Netz, keiner meiner Schlüssel, schreiben nur im Arbeitsordner."
        ),
    ),
    "trouble": text(
        (
            "- **A card does not appear**: I lack a permission in that channel. `/doctor` names it.\n- **The button"
            " says that I may not**: the sentence names the rule, and who can help.\n- **A result never came**:"
            " `/inbox` has what could not be delivered to you, and why.\n- **A budget is spent**: the sentence says"
            " until when, and who can raise it; `/usage` shows what you used.\n- **A thread is locked or"
            " archived**: decide from `/approvals`.\n- **Commands look old**: restart Discord (Ctrl+R).\n- **I was"
            " restarted**: open cards go on working. What ran while I died is marked interrupted and never run"
            " again by itself.\n\nFor approvers and those who manage the server: `/doctor` looks at everything and"
            " says what to do; `/drill` finds out who really can decide."
        ),
        de=(
            "- **Eine Karte erscheint nicht**: Mir fehlt ein Recht in diesem Kanal. `/doctor` nennt es.\n- **Der"
            " Knopf sagt, dass ich das nicht darf**: Der Satz nennt die Regel und wer helfen kann.\n- **Ein"
            " Ergebnis kam nie an**: `/inbox` hat, was nicht zu dir kommen konnte, und warum.\n- **Ein Budget ist"
            " aufgebraucht**: Der Satz sagt, bis wann, und wer es erhöhen kann; `/usage` zeigt, was du verbraucht"
            " hast.\n- **Ein Thread ist gesperrt oder archiviert**: Entscheide aus `/approvals`.\n- **Befehle sehen"
            " alt aus**: Starte Discord neu (Strg+R).\n- **Ich wurde neu gestartet**: Offene Karten funktionieren"
            " weiter. Was lief, als ich abgestürzt bin, ist als unterbrochen markiert und wird nie von selbst noch"
            " einmal ausgeführt.\n\nFür Genehmiger und alle, die den Server verwalten: `/doctor` sieht sich alles"
            " an und sagt, was zu tun ist; `/drill` findet heraus, wer wirklich entscheiden kann."
        ),
    ),
    "another": placeholder("Another topic…", de="Ein anderes Thema…"),
    "in_menu": text(
        "In a message's or person's menu, Apps: {name}", de="Im Menü einer Nachricht oder Person, Apps: {name}"
    ),
    "first": text("{text}\n\n-# `/help` has more, by topic.", de="{text}\n\n-# `/help` weiß mehr, nach Themen."),
}
