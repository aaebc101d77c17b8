"""What `/help` says, by topic. The list of commands is not here: it is made of the commands themselves."""

from __future__ import annotations

from enum import StrEnum

from bot.texts.text import Key, Text, key, say


class Topic(StrEnum):
    """What somebody may want to know."""

    START = "start"
    CARDS = "cards"
    TALKS = "talks"
    JOBS = "jobs"
    RULES = "rules"
    PRIVACY = "privacy"
    TROUBLE = "trouble"
    COMMANDS = "commands"


NAMES: dict[Topic, Key] = {
    Topic.START: key("help.topic_start"),
    Topic.CARDS: key("help.topic_cards"),
    Topic.TALKS: key("help.topic_talks"),
    Topic.JOBS: key("help.topic_jobs"),
    Topic.RULES: key("help.topic_rules"),
    Topic.PRIVACY: key("help.topic_privacy"),
    Topic.TROUBLE: key("help.topic_trouble"),
    Topic.COMMANDS: key("help.topic_commands"),
}
"""In the words of the list to pick from."""

TEXTS: dict[Topic, Text] = {
    Topic.START: say("help.start"),
    Topic.CARDS: say("help.cards"),
    Topic.TALKS: say("help.talks"),
    Topic.JOBS: say("help.jobs"),
    Topic.RULES: say("help.rules"),
    Topic.PRIVACY: say("help.privacy"),
    Topic.TROUBLE: say("help.trouble"),
}
