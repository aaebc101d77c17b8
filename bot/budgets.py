"""Budgets: how many tokens, or US dollars, a person and a guild may use in a day; and what is said when they are spent.

The one place that knows which budget counts. The operator's file comes first; what a guild sets for itself counts
beside it, so it can only narrow. A day is a calendar day in UTC: everything is free again at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.errors import SettingsError
from bot.place import PRIVATE
from bot.texts.text import Text, key, say
from storage.usage import DAY_MS, Sum

MICROS = 1_000_000
"""Money is counted in millionths of a US dollar."""

Owner = Literal["file", "guild"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What may be used in one day; None: as much as anybody likes."""

    tokens: int | None = None
    """Read and written."""
    cost_micros: int | None = None
    calls: int | None = None
    """Of tools, as the model asked for them."""

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return self.tokens is not None or self.cost_micros is not None or self.calls is not None


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """The two budgets that somebody sets: the operator in the file, or a guild for itself."""

    person: Budget = field(default_factory=Budget)
    """Of each person: everywhere if it stands in the file, in that guild if the guild set it."""
    guild: Budget = field(default_factory=Budget)
    """Of everybody in one guild together."""

    @property
    def costs(self) -> bool:
        """Whether one of them is in money."""
        return self.person.cost_micros is not None or self.guild.cost_micros is not None


NO_BUDGETS = Budgets()


@dataclass(frozen=True, kw_only=True)
class Account:
    """One budget that a call counts against, and what is used of it today."""

    whose: Literal["person", "guild"]
    set_by: Owner
    budget: Budget
    used: Sum

    @property
    def tokens_left(self) -> int | None:
        """None: no limit."""
        return None if self.budget.tokens is None else max(0, self.budget.tokens - self.used.tokens)

    @property
    def micros_left(self) -> int | None:
        """None: no limit."""
        return None if self.budget.cost_micros is None else max(0, self.budget.cost_micros - self.used.cost_micros)

    @property
    def calls_left(self) -> int | None:
        """None: no limit."""
        return None if self.budget.calls is None else max(0, self.budget.calls - self.used.tool_calls)

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be used of it today."""
        return 0 in (self.tokens_left, self.micros_left, self.calls_left)


@dataclass(frozen=True, kw_only=True)
class Used:
    """What was used today, as far as one person in one space is concerned."""

    person: Sum
    """By the person, everywhere."""
    here: Sum
    """By the person, in this space."""
    space: Sum
    """By everybody in this space."""


def accounts(file: Budgets, own: Budgets, used: Used, *, space: str) -> list[Account]:
    """Every budget that a call of a person in `space` counts against. `own`: what that guild has set for itself."""
    return list(_accounts(file, own, used, space))


def _accounts(file: Budgets, own: Budgets, used: Used, space: str) -> Iterator[Account]:
    if file.person.is_set:
        yield Account(whose="person", set_by="file", budget=file.person, used=used.person)
    if space == PRIVATE:
        return
    if own.person.is_set:
        yield Account(whose="person", set_by="guild", budget=own.person, used=used.here)
    if file.guild.is_set:
        yield Account(whose="guild", set_by="file", budget=file.guild, used=used.space)
    if own.guild.is_set:
        yield Account(whose="guild", set_by="guild", budget=own.guild, used=used.space)


def free_again(now: int) -> int:
    """When today's budgets are free again, in milliseconds UTC."""
    return (now // DAY_MS + 1) * DAY_MS


def dollars(micros: int) -> str:
    """An amount for people: cents, and more places where it is less than one."""
    whole = micros / MICROS
    return f"${whole:,.2f}" if micros == 0 or micros >= MICROS // 100 else f"${whole:.6f}".rstrip("0")


def money(micros: int | None) -> Text:
    """What something cost, in words; None: a price of it is not known."""
    if micros is None:
        return say("usage.unpriced")
    return say("usage.about", amount=dollars(micros)) if micros else say("usage.free")


def cost_words(used: Sum) -> Text:
    """What calls cost, in words: a price that is not known is never nothing."""
    if not used.unpriced:
        return money(used.cost_micros)
    if used.unpriced == used.calls:
        return money(None)
    return say("usage.partly_unpriced", amount=dollars(used.cost_micros), n=used.unpriced, calls=used.calls)


SETTINGS: Mapping[tuple[str, str], str] = {
    ("person", "tokens"): "SIGNOFF_TOKENS_PER_PERSON",
    ("person", "cost"): "SIGNOFF_COST_PER_PERSON",
    ("guild", "tokens"): "SIGNOFF_TOKENS_PER_GUILD",
    ("person", "calls"): "SIGNOFF_CALLS_PER_PERSON",
    ("guild", "calls"): "SIGNOFF_CALLS_PER_GUILD",
    ("turn", "tokens"): "SIGNOFF_TOKENS_PER_TURN",
    ("turn", "cost"): "SIGNOFF_COST_PER_TURN",
    ("guild", "cost"): "SIGNOFF_COST_PER_GUILD",
}
"""The settings in the operator's file, by whose budget it is and what it counts."""

_SPENT = {
    ("person", "file"): key("usage.spent_yours"),
    ("person", "guild"): key("usage.spent_yours_here"),
    ("guild", "file"): key("usage.spent_server"),
    ("guild", "guild"): key("usage.spent_server"),
}


def spent_words(account: Account, *, now: int) -> Text:
    """What somebody is told whose budget is spent: which, until when, and who can raise it.

    How much was used is not said: others may read it.
    """
    what, amount = _spent(account)
    setting = SETTINGS[account.whose, what]
    from_file = account.set_by == "file"
    return say(
        _SPENT[account.whose, account.set_by],
        budget=amount,
        again=say("usage.again", at=free_again(now) // 1000),
        raises=say("usage.operator_raises", setting=setting) if from_file else say("usage.server_raises"),
    )


def _spent(account: Account) -> tuple[str, str]:
    """What of the budget is spent, and how much that was."""
    budget = account.budget
    if account.tokens_left == 0:
        return "tokens", say("usage.tokens", n=budget.tokens)
    if account.calls_left == 0:
        return "calls", say("usage.tool_calls", n=budget.calls)
    return "cost", dollars(budget.cost_micros or 0)


def unknown_price(model: str) -> Text:
    """Why nothing may be asked under a budget in money."""
    person, guild = SETTINGS["person", "tokens"], SETTINGS["guild", "tokens"]
    return say("usage.no_price", model=model, person=person, guild=guild)


def unknown_tokens(model: str) -> Text:
    """Why nothing may be asked under any budget."""
    return say("usage.no_measure", model=model)


class Costs(Protocol):
    """The settings in US dollars."""

    @property
    def cost_per_person(self) -> int | None: ...

    @property
    def cost_per_guild(self) -> int | None: ...

    @property
    def cost_per_turn(self) -> int | None: ...


def check_costs(settings: Costs, *, has_price: bool) -> None:
    """Budgets in money cannot be kept for a model whose price nobody knows. Raises `SettingsError`."""
    costs = {"person": settings.cost_per_person, "guild": settings.cost_per_guild, "turn": settings.cost_per_turn}
    for whose, cost in costs.items():
        if cost is not None and not has_price:
            problem = (
                f"cannot be kept: the price of this model is not known. Set {SETTINGS[whose, 'tokens']} in its place."
            )
            raise SettingsError(SETTINGS[whose, "cost"], problem)
