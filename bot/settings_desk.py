"""What people do about a guild's settings: look, change a draft, save it. Who may is decided as for its rules.

What the operator's file says about the same guild wins. What is saved counts at once, and is on the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.budgets import Budgets
from bot.clock import Clock, NewId
from bot.drafts import MOVED_ON, OVERTAKEN, Current, DraftPress, Drafts
from bot.errors import DecisionRefused
from bot.guild_book import GuildBook
from bot.guild_settings import GuildSettings
from bot.place import is_private, space_of
from bot.policy_desk import PolicyDesk
from bot.surface import Actor
from bot.texts.text import say
from bot.where import Configured, Places
from storage.database import Database, Reader
from storage.guilds import Draft

Edit = Callable[[GuildSettings], GuildSettings]
"""Makes the next state of a draft. May raise `ValueError`."""


@dataclass(frozen=True, kw_only=True)
class SettingsView:
    """Everything that is shown."""

    guild: str
    version: int
    changed_by: str
    changed_at: int
    in_force: GuildSettings
    problem: str
    """Why what is stored cannot be believed; then nothing of it counts."""
    draft: Draft
    wanted: GuildSettings
    """The draft."""
    file_places: Places | None
    """What the operator's file says of this guild: it wins."""
    file_budgets: Budgets
    """The operator's: they count beside the guild's own, so the smaller of two is what holds."""
    model: str
    """What answers where nothing else is chosen."""
    models: tuple[str, ...]
    """What may be chosen."""
    blocked: str = ""
    """Why the draft cannot be saved."""
    note: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to save."""
        return self.wanted != self.in_force or bool(self.problem)


class GuildWhere:
    """Where cards go: as the file says, else as the guild's people set it. A `Whereabouts`."""

    def __init__(self, file: Configured, book: GuildBook) -> None:
        self._file = file
        self._book = book

    async def of(self, reader: Reader, place: str) -> Places:
        """See `Whereabouts.of`."""
        if (said := self._file.says(place)) is not None:
            return said
        own = None if is_private(place) else self._book.settings(space_of(place)).places
        return own or Places()


class SettingsDesk:
    """The settings of every guild, for the people who may see or change them."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        new_id: NewId,
        book: GuildBook,
        rules: PolicyDesk,
        file: Configured,
        file_budgets: Budgets,
        model: str,
        models: Sequence[str],
        has_price: Callable[[str | None], bool],
        mask: Callable[[str], str],
    ) -> None:
        """`model` answers where nothing is chosen out of `models`; `has_price`: whether it is known what one costs.

        `mask` hides secrets on the trail.
        """
        self._has_price = has_price
        self._book = book
        self._rules = rules
        self._file = file
        self._file_budgets = file_budgets
        self._model = model
        self._models = tuple(models)
        self._drafts = Drafts(
            "settings", self._current, database=database, clock=clock, new_id=new_id, book=book, mask=mask
        )

    async def look(self, actor: Actor) -> SettingsView:
        """The settings of the actor's guild, with the draft they left, or a new one. Raises `DecisionRefused`."""
        guild = await self._rules.permit(actor)
        return self._view(await self._drafts.left_by(actor.id, guild))

    async def again(self, press: DraftPress) -> SettingsView:
        """The draft as it stands. Raises `DecisionRefused`."""
        return self._view(await self._rules.own(press, "settings"))

    async def change(self, press: DraftPress, edit: Edit) -> SettingsView:
        """Change the draft; nothing counts by this. Raises `DecisionRefused` for what makes no sense."""
        draft = await self._rules.own(press, "settings")
        if draft.mark != press.mark:
            return replace(self._view(draft), note=MOVED_ON)
        try:
            text = edit(GuildSettings.from_json(draft.body)).to_json()
            GuildSettings.from_json(text)
        except ValueError as problem:
            raise DecisionRefused("no_setting", say("settings.cannot", problem=str(problem))) from problem
        return self._view(await self._drafts.change(draft, text))

    async def discard(self, press: DraftPress) -> SettingsView:
        """Forget the draft. Raises `DecisionRefused`."""
        draft = await self._rules.own(press, "settings")
        return self._view(await self._drafts.begin(press.actor.id, draft.guild))

    async def save(self, press: DraftPress) -> SettingsView:
        """Let the draft count from now on. Raises `DecisionRefused`."""
        draft = await self._rules.own(press, "settings")
        view = self._view(draft)
        if draft.mark != press.mark:
            return replace(view, note=MOVED_ON)
        if view.blocked:
            raise DecisionRefused("not_saved", say("settings.not_saved", why=view.blocked))
        return self._view(await self._drafts.save(draft))

    # -- what others read ------------------------------------------------------------------------

    def notify_in(self, place: str) -> str | None:
        """Where answers of people go who set nothing for themselves; None: nobody said."""
        return None if is_private(place) else self._book.settings(space_of(place)).notify

    def _current(self, guild: str) -> Current:
        now = self._book.setting(guild)
        return Current(version=now.version, body=now.settings.to_json(), stored=now.settings.to_json())

    def _view(self, draft: Draft) -> SettingsView:
        now, wanted = self._book.setting(draft.guild), GuildSettings.from_json(draft.body)
        blocked = ""
        if wanted.model is not None and wanted.model not in self._models:
            blocked = say("settings.model_gone", model=wanted.model)
        if wanted.budgets.costs and not self._has_price(wanted.model):
            blocked = say("settings.no_price", model=wanted.model or self._model)
        return SettingsView(
            guild=draft.guild,
            version=now.version,
            changed_by=now.changed_by,
            changed_at=now.changed_at,
            in_force=now.settings,
            problem=now.problem,
            draft=draft,
            wanted=wanted,
            file_places=self._file.says(f"discord/{draft.guild}/0"),
            file_budgets=self._file_budgets,
            model=self._model,
            models=self._models,
            blocked=OVERTAKEN if draft.base != now.version else blocked,
        )


def model_of(book: GuildBook, models: Sequence[str], place: str) -> str | None:
    """Which model answers what was asked in `place`: what its guild chose, if the operator still permits it."""
    if is_private(place) or place.count("/") < 2:
        return None
    chosen = book.settings(space_of(place)).model
    return chosen if chosen in models else None
