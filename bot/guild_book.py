"""What every guild set in chat, in memory: read at the start, and put right by the same process after each commit.

The gate and the authority ask it for every call. A body that is not as this bot stored it counts as: refuse all.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from bot.deferral.seal import Seal
from bot.guild_rules import EMPTY, NONE, REFUSE_ALL, Body, GuildRules
from bot.guild_settings import NOTHING, GuildSettings
from bot.permits import PolicyRule
from bot.rules import ApproverRule
from bot.texts.text import say
from storage import guilds
from storage.database import Reader
from storage.guilds import GuildConfig

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class InForce:
    """A guild's own rules, and how they came to be."""

    rules: GuildRules = NONE
    body: Body = EMPTY
    version: int = 0
    changed_by: str = ""
    changed_at: int = 0
    stored: str = ""
    """The text as it lies in the database."""
    problem: str = ""
    """Why it cannot be believed, if it cannot; then everything is refused there."""


@dataclass(frozen=True, kw_only=True)
class SetNow:
    """A guild's other settings, likewise. Where they cannot be believed, nothing is set."""

    settings: GuildSettings = NOTHING
    version: int = 0
    changed_by: str = ""
    changed_at: int = 0
    problem: str = ""


class GuildBook:
    """The rules and settings of all guilds."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._of: dict[str, InForce] = {}
        self._settings: dict[str, SetNow] = {}

    async def load(self, reader: Reader) -> None:
        """Read everything that is stored."""
        for config in await guilds.every(reader):
            self.take(config)

    def take(self, config: GuildConfig) -> None:
        """From now on this counts. An older version than the one at hand changes nothing."""
        if config.topic == "settings":
            if config.version > self.setting(config.guild).version:
                self._settings[config.guild] = self._read_settings(config)
            return
        if config.version <= self.of(config.guild).version:
            return
        found = self._read(config)
        if found.problem:
            logger.error("guild rules not believed", extra={"action": "guild_rules_broken", "guild": config.guild})
        self._of[config.guild] = found

    def of(self, guild: str) -> InForce:
        """What counts in a guild."""
        return self._of.get(guild, InForce())

    def policy(self, guild: str) -> tuple[PolicyRule, ...]:
        """Its rules about what runs."""
        return self.of(guild).rules.policy

    def approvers(self, guild: str) -> tuple[ApproverRule, ...]:
        """Its rules about who decides."""
        return self.of(guild).rules.approvers

    def setting(self, guild: str) -> SetNow:
        """Its settings, and how they came to be."""
        return self._settings.get(guild, SetNow())

    def settings(self, guild: str) -> GuildSettings:
        """Its settings."""
        return self.setting(guild).settings

    def sealed(self, config: GuildConfig) -> str:
        """The seal that belongs to this content."""
        return self._seal.config(config.guild, config.topic, config.version, config.body)

    def _read_settings(self, config: GuildConfig) -> SetNow:
        settings, problem = NOTHING, ""
        if not self._seal.holds(config.seal, self.sealed(config)):
            problem = say("rules.changed_outside")
        else:
            try:
                settings = GuildSettings.from_json(config.body)
            except ValueError as error:
                problem = say("rules.version_it", problem=error)
        if problem:
            logger.error(
                "guild settings not believed", extra={"action": "guild_settings_broken", "guild": config.guild}
            )
        return SetNow(
            settings=settings,
            version=config.version,
            changed_by=config.changed_by,
            changed_at=config.changed_at,
            problem=problem,
        )

    def _read(self, config: GuildConfig) -> InForce:
        rules, body, problem = REFUSE_ALL, EMPTY, ""
        if not self._seal.holds(config.seal, self.sealed(config)):
            problem = say("rules.changed_outside")
        else:
            try:
                body = Body.from_json(config.body)
                rules = body.rules()
            except ValueError as error:
                problem = say("rules.version", problem=error)
        return InForce(
            rules=REFUSE_ALL if problem else rules,
            body=body,
            version=config.version,
            changed_by=config.changed_by,
            changed_at=config.changed_at,
            stored=config.body,
            problem=problem,
        )
