"""What is said about times that people write."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "help": text(
        (
            "I understand `every weekday at 9`, `every Monday and Thursday at 8:30`, `daily at 18:00`, `every 2"
            " hours`, `every 30 minutes`, `monthly on the 1st at 9`, or five fields of cron such as `30 8 * * 1-5`."
        ),
        de=(
            "Ich verstehe `every weekday at 9`, `every Monday and Thursday at 8:30`, `daily at 18:00`, `every 2"
            " hours`, `every 30 minutes`, `monthly on the 1st at 9` oder fünf Cron-Felder wie `30 8 * * 1-5`."
        ),
    ),
    "unreadable": text("I cannot read that time. {help}", de="Diese Zeit kann ich nicht lesen. {help}"),
    "no_zone": text(
        "I do not know that time zone. They are named like `Europe/Berlin` or `America/New_York`.",
        de="Diese Zeitzone kenne ich nicht. Sie heißen etwa `Europe/Berlin` oder `America/New_York`.",
    ),
    "bad_cron": text(
        "Those cron fields make no sense ({problem}). {help}",
        de="Diese Cron-Felder ergeben keinen Sinn ({problem}). {help}",
    ),
    "never": text("That never comes.", de="Das kommt nie."),
    "same_minute": text(
        "Several times of one schedule must be at the same minute; make a schedule for each.",
        de="Mehrere Zeiten eines Zeitplans müssen zur selben Minute sein; mach für jede einen Zeitplan.",
    ),
    "not_between": text(
        "{number} is not between {least} and {most}. {help}",
        de="{number} liegt nicht zwischen {least} und {most}. {help}",
    ),
    "uneven_hours": text(
        "Every {n} hours does not come out even in a day. These do: {fits}.",
        de="Alle {n} Stunden geht in einem Tag nicht auf. Diese gehen auf: {fits}.",
    ),
    "uneven_minutes": text(
        "Every {n} minutes does not come out even in an hour. These do: {fits}.",
        de="Alle {n} Minuten geht in einer Stunde nicht auf. Diese gehen auf: {fits}.",
    ),
}
