"""Which language is spoken: the person's own where only they read, the server's where others read too.

A private answer speaks the language of the person's own Discord. Everything that others see as well speaks the
server's, whoever pressed. So the language is set at the edges: for a press, a form or a command as it comes in, and
anew in the surface for everything that it draws. The mind below never knows it: its texts are English until they get
here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, cast

import discord
from discord import app_commands
from discord.ext import commands

from bot.texts.entry import Language
from bot.texts.text import Key, Text, in_language, key, say

Remember = Callable[[str, str], Awaitable[None]]
Recall = Callable[[str], Awaitable[str | None]]

_spoken: ContextVar[Language] = ContextVar("spoken", default=Language.EN)


def tell(name: str, /, **values: Any) -> str:
    """A text of the catalogue in the language that is spoken here."""
    return shown(say(name, **values))


def shown(text: str) -> str:
    """A text of the mind in the language that is spoken here. What people or models wrote stays as it is."""
    return in_language(text, _spoken.get())


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Within this, that language is spoken."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def speak(language: Language) -> None:
    """From here on in this task that language is spoken: for a command or a press, which is a task of its own."""
    _spoken.set(language)


def language_of(locale: discord.Locale | str) -> Language | None:
    """The catalogue's language for a locale of Discord's such as `en-GB`; None if it is not spoken here."""
    spoken = str(locale).partition("-")[0]
    return Language(spoken) if spoken in set(Language) else None


class Languages:
    """Who reads what."""

    def __init__(self, client: discord.Client, default: Language, *, remember: Remember, recall: Recall) -> None:
        """`default` is for whom nothing is known of; `remember` and `recall` keep what people speak."""
        self._client = client
        self.default = default
        self._remember, self._recall = remember, recall
        self._people: dict[int, Language] = {}

    def heard(self, interaction: discord.Interaction) -> Language:
        """The language of who acts, for what is answered now."""
        return language_of(interaction.locale) or self.default

    async def keep(self, interaction: discord.Interaction) -> None:
        """Remember it, for what is written to them directly later. To be called when the answer is under way."""
        person, language = interaction.user.id, self.heard(interaction)
        if await self.of_person(person) is not language:
            self._people[person] = language
            await self._remember(f"language {person}", language)

    async def of_person(self, person: int) -> Language:
        """The language that a person last used here, looked up once."""
        if person not in self._people:
            known = await self._recall(f"language {person}")
            self._people[person] = Language(known) if known in set(Language) else self.default
        return self._people[person]

    def of_guild(self, guild: int | None) -> Language:
        """A server's language: what its people set, as far as they can.

        Only a community server has a setting for it; elsewhere Discord says American English, whoever lives there.
        """
        known = None if guild is None else self._client.get_guild(guild)
        if known is None:
            return self.default
        unset = known.preferred_locale is discord.Locale.american_english and "COMMUNITY" not in known.features
        return self.default if unset else language_of(known.preferred_locale) or self.default


class Hearing(commands.Cog):
    """Learns which languages people speak, from everything that they press and command."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Called by discord.py, in a task of its own: no answer waits for it."""
        await self._languages.keep(interaction)


def in_public(client: discord.Client, guild: int | None) -> AbstractContextManager[None]:
    """Within this, the language of a server is spoken: for what a person's command says where others read it."""
    languages: Languages = cast(Any, client).languages
    return speaking(languages.of_guild(guild))


def described(command: app_commands.Command[Any, Any, Any] | app_commands.ContextMenu) -> str:
    """What a command is for, or what one in a menu is called, in the language that is spoken here."""
    if isinstance(command, app_commands.ContextMenu):
        return shown(_known(command._locale_name) or command.name)
    return shown(_known(command._locale_description) or command.description)


def offered(name: str, /) -> app_commands.locale_str:
    """A text of the catalogue for what Discord shows of a command, in every language: see `CommandTranslator`."""
    return app_commands.locale_str(str(say(name)), key=name)


def _known(string: app_commands.locale_str | None) -> Text | None:
    name = None if string is None else string.extras.get("key")
    return None if name is None else say(name)


_CHOICES: dict[str, Key] = {
    "channel": key("commands.choice_channel"),
    "dm": key("commands.choice_dm"),
    "both": key("commands.choice_both"),
    "mine": key("commands.choice_mine"),
    "team": key("commands.choice_team"),
    "all": key("commands.choice_all"),
    "once": key("commands.choice_once"),
    "skip": key("commands.choice_skip"),
}
"""Choices that are written as they are typed."""


class CommandTranslator(app_commands.Translator):
    """Tells Discord what commands, options and choices are called in other languages. Names stay as they are typed."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """None where nothing has to be said in that language. Called by discord.py."""
        language = language_of(locale)
        name = _known(string)
        if name is None and context.location is app_commands.TranslationContextLocation.choice_name:
            name = say(_CHOICES[string.message]) if string.message in _CHOICES else None
        return None if language in {None, Language.EN} or name is None else in_language(name, Language(str(language)))
