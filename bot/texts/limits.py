"""What is said when something is too much at once, or for one turn."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "flood": text(
        "I stopped this request: it wanted decisions about {wanted}. {why} Nothing of that was asked for, and none of"
        " it ran. Ask for less at once.",
        de="Ich habe diese Anfrage angehalten: Sie wollte Entscheidungen über {wanted}. {why} Nach nichts davon wurde"
        " gefragt, und nichts davon ist gelaufen. Verlange weniger auf einmal.",
    ),
    "decisions_turn": text(
        ("One request may ask for {n} decision in all.", "One request may ask for {n} decisions in all."),
        de=(
            "Eine Anfrage darf insgesamt um {n} Entscheidung bitten.",
            "Eine Anfrage darf insgesamt um {n} Entscheidungen bitten.",
        ),
    ),
    "decisions_person": text(
        (
            "Of one person, {n} call may wait for a decision at once.",
            "Of one person, {n} calls may wait for a decision at once.",
        ),
        de=(
            "Von einer Person darf {n} Aufruf zugleich auf eine Entscheidung warten.",
            "Von einer Person dürfen {n} Aufrufe zugleich auf eine Entscheidung warten.",
        ),
    ),
    "decisions_guild": text(
        (
            "In one server, {n} call may wait for a decision at once.",
            "In one server, {n} calls may wait for a decision at once.",
        ),
        de=(
            "Auf einem Server darf {n} Aufruf zugleich auf eine Entscheidung warten.",
            "Auf einem Server dürfen {n} Aufrufe zugleich auf eine Entscheidung warten.",
        ),
    ),
    "refused_together": text(
        (
            "That goes for {n} request.",
            "That goes for {n} requests of the last minute, this one answer for all of them.",
        ),
        de=(
            "Das gilt für {n} Anfrage.",
            "Das gilt für {n} Anfragen der letzten Minute; dies ist die eine Antwort auf alle.",
        ),
    ),
    "waits": text(
        "As much as may be worked on at once is at work for you or in this server. This begins as soon as something of"
        " it is done.",
        de="Für dich oder auf diesem Server ist so viel in Arbeit, wie es zugleich sein darf. Das hier beginnt, sobald"
        " etwas davon fertig ist.",
    ),
    "turn_calls": text(
        "This request has made {used:,} calls of tools, and {n:,} is the most that one may make, so I stopped it. What"
        " ran is done; ask again for the rest.",
        de="Diese Anfrage hat {used:,} Werkzeugaufrufe gemacht, und {n:,} sind das Äußerste für eine, deshalb habe ich"
        " sie angehalten. Was gelaufen ist, ist getan; frag für den Rest noch einmal.",
    ),
    "turn_tokens": text(
        "This request has used {used:,} tokens, and {n:,} is the most that one may use, so I stopped it. What ran is"
        " done; ask again for the rest.",
        de="Diese Anfrage hat {used:,} Token verbraucht, und {n:,} sind das Äußerste für eine, deshalb habe ich"
        " sie angehalten. Was gelaufen ist, ist getan; frag für den Rest noch einmal.",
    ),
    "turn_cost": text(
        "This request has cost {used}, and {most} is the most that one may cost, so I stopped it. What ran is done; ask"
        " again for the rest.",
        de="Diese Anfrage hat {used} gekostet, und {most} sind das Äußerste für eine, deshalb habe ich sie angehalten."
        " Was gelaufen ist, ist getan; frag für den Rest noch einmal.",
    ),
}
