"""A server's settings as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from bot.budgets import MICROS, Budget, Budgets, dollars
from bot.guild_settings import GuildSettings
from bot.settings_desk import SettingsView
from bot.texts.text import every, key, say
from bot.where import Places
from cogs import inert
from cogs.speech import shown, tell

_NOTIFY: Mapping[str, str] = {
    "channel": key("settings.notify_channel"),
    "dm": key("settings.notify_dm"),
    "both": key("settings.notify_both"),
}


def sentences(view: SettingsView, settings: GuildSettings) -> list[str]:
    """One for each setting, with what stands where nothing is set."""
    return [
        cards(settings.places or Places()),
        tell("settings.answers", where=say(_NOTIFY[settings.notify or "channel"])),
        model(view, settings),
        tell("settings.budget", what=_budgets(settings.budgets) or say("settings.unlimited")),
    ]


def cards(places: Places) -> str:
    """Where cards go, and when silently."""
    said = [tell("settings.cards", where=where(places))]
    if places.quiet is not None:
        said.append(tell("settings.quiet", hours=places.quiet.hours, zone=places.quiet.timezone))
    return " ".join(said)


def where(places: Places) -> str:
    """The places by name."""
    named = [tell("settings.here")] if places.here else []
    if places.channel is not None:
        named.append(tell("settings.channel", id=places.channel))
    if places.people:
        named.append(tell("settings.people", who=", ".join(f"<@{id}>" for id in places.people)))
    return shown(every(named))


def model(view: SettingsView, settings: GuildSettings) -> str:
    """Which model answers, and who could offer others."""
    named = inert.line(settings.model or view.model, limit=80)
    return tell("settings.model", model=named) if view.models else tell("settings.model_fixed", model=named)


def from_file(view: SettingsView) -> list[str]:
    """What the operator's file says of the same: where it wins, and where both count."""
    said = []
    if view.file_places is not None:
        said.append(tell("settings.file_places", where=where(view.file_places)))
    if budgets := _budgets(view.file_budgets):
        said.append(tell("settings.file_budget", what=budgets))
    return said


def differences(view: SettingsView) -> list[str]:
    """What the draft would change, as the sentences that would stand there."""
    before = sentences(view, view.in_force)
    return [after for was, after in zip(before, sentences(view, view.wanted), strict=True) if was != after]


def number_of(cost_micros: int | None) -> str:
    """An amount as somebody would type it."""
    return "" if cost_micros is None else f"{cost_micros / MICROS:.6f}".rstrip("0").rstrip(".")


def _budgets(budgets: Budgets) -> str:
    each = [tell("settings.each", amount=amount) for amount in _amounts(budgets.person)]
    return ", ".join(each + [tell("settings.all", amount=amount) for amount in _amounts(budgets.guild)])


def _amounts(budget: Budget) -> list[str]:
    tokens = [] if budget.tokens is None else [shown(say("settings.tokens", n=budget.tokens))]
    return tokens + ([] if budget.cost_micros is None else [dollars(budget.cost_micros)])
