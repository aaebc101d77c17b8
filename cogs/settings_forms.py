"""The forms of `/settings`, and how what was typed and picked becomes part of the draft.

Raises `DecisionRefused` with a sentence that says how it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from discord import ui

from bot.budgets import MICROS, Budget, Budgets
from bot.errors import DecisionRefused
from bot.guild_settings import GuildSettings
from bot.settings_desk import Edit, SettingsView
from bot.texts.text import say
from bot.where import Places, Quiet
from cogs import modals
from cogs.custom_ids import Verb
from cogs.settings_views import USUAL
from cogs.settings_words import number_of
from cogs.speech import tell

_HOURS = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MOST_TOKENS = 10**15
_MOST_DOLLARS = 10**9


def budgets(view: SettingsView, opening: int) -> ui.Modal:
    """The form with the four budgets."""
    wanted = view.wanted.budgets
    fields = (
        ("tokens_each", tell("settings.tokens_each"), str(wanted.person.tokens or "")),
        ("cost_each", tell("settings.cost_each"), number_of(wanted.person.cost_micros)),
        ("tokens_all", tell("settings.tokens_all"), str(wanted.guild.tokens or "")),
        ("cost_all", tell("settings.cost_all"), number_of(wanted.guild.cost_micros)),
    )
    return modals.form(
        tell("settings.budgets_title"),
        Verb.FORM_SET_BUDGETS,
        view.draft.id,
        opening,
        *(_field(name, label, tell("settings.no_limit"), value) for name, label, value in fields),
        edition=view.draft.mark,
    )


def quiet(view: SettingsView, opening: int) -> ui.Modal:
    """The form with the quiet hours."""
    now = (view.wanted.places or Places()).quiet
    return modals.form(
        tell("settings.quiet_title"),
        Verb.FORM_SET_QUIET,
        view.draft.id,
        opening,
        _field("hours", tell("settings.hours"), tell("settings.hours_hint"), now.hours if now else ""),
        _field("zone", tell("settings.zone"), tell("settings.zone_hint"), now.timezone if now else "UTC"),
        edition=view.draft.mark,
    )


def edit(verb: Verb, chosen: Sequence[str], given: Mapping[str, Sequence[str]]) -> Edit | None:
    """What a press does to the draft; None if it changes nothing."""
    first = chosen[0] if chosen else ""
    match verb:
        case Verb.SET_CHANNEL:
            return _placed(lambda places: replace(places, channel=first or None))
        case Verb.SET_PEOPLE:
            return _placed(lambda places: replace(places, people=tuple(chosen)))
        case Verb.SET_HERE:
            return _placed(lambda places: replace(places, here=first != "no"))
        case Verb.SET_NOTIFY:
            return lambda draft: replace(draft, notify=None if first == "channel" else first)
        case Verb.SET_MODEL:
            return lambda draft: replace(draft, model=None if first == USUAL else first)
        case Verb.FORM_SET_BUDGETS:
            read = _read_budgets(given)
            return lambda draft: replace(draft, budgets=read)
        case Verb.FORM_SET_QUIET:
            hours = _read_quiet(_one(given, "hours"), _one(given, "zone"))
            return _placed(lambda places: replace(places, quiet=hours))
        case _:
            return None


def _placed(change: Callable[[Places], Places]) -> Edit:
    def changed(draft: GuildSettings) -> GuildSettings:
        places = change(draft.places or Places())
        if places.channel is None and not places.people:
            places = replace(places, here=True)  # there is no other place left
        return replace(draft, places=None if places == Places() else places)

    return changed


def _read_budgets(given: Mapping[str, Sequence[str]]) -> Budgets:
    return Budgets(
        person=Budget(tokens=_tokens(_one(given, "tokens_each")), cost_micros=_micros(_one(given, "cost_each"))),
        guild=Budget(tokens=_tokens(_one(given, "tokens_all")), cost_micros=_micros(_one(given, "cost_all"))),
    )


def _tokens(text: str) -> int | None:
    if not text:
        return None
    plain = re.sub(r"[ ,._']", "", text)
    if not plain.isascii() or not plain.isdecimal() or not 0 < int(plain) <= _MOST_TOKENS:
        raise DecisionRefused("bad_number", say("settings.bad_tokens", number=text))
    return int(plain)


def _micros(text: str) -> int | None:
    if not text:
        return None
    try:
        amount = Decimal(text.removeprefix("$").strip().replace(",", "."))
    except InvalidOperation:
        amount = Decimal(0)
    micros = int(amount * MICROS) if amount.is_finite() and 0 < amount <= _MOST_DOLLARS else 0
    if micros < 1:
        raise DecisionRefused("bad_number", say("settings.bad_cost", number=text))
    return micros


def _read_quiet(hours: str, zone: str) -> Quiet | None:
    if not hours:
        return None
    if not _HOURS.fullmatch(hours) or hours[:5] == hours[6:]:
        raise DecisionRefused("bad_hours", say("settings.bad_hours", hours=hours))
    try:
        ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise DecisionRefused("bad_zone", say("settings.bad_zone", zone=zone)) from None
    return Quiet(hours=hours, timezone=zone or "UTC")


def _one(given: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(given.get(name, ())), "").strip()


def _field(name: str, label: str, hint: str, value: str) -> ui.Label[ui.Modal]:
    field: ui.TextInput[ui.Modal] = ui.TextInput(custom_id=name, default=value or None, required=False, max_length=40)
    return ui.Label(text=label, description=hint, component=field)
