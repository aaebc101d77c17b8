"""What a guild's people may set in chat beside rules, as data: where cards go, how answers come, which model,
and how much may be used in a day.

Pure. What the operator's file says about the same guild wins; it is kept here all the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bot import where_file
from bot.budgets import NO_BUDGETS, Budget, Budgets
from bot.where import Places

NOTIFY = ("channel", "dm", "both")
_KEYS = frozenset({"places", "notify", "model", "budgets"})
_BUDGETS = ("tokens_per_person", "cost_per_person", "tokens_per_guild", "cost_per_guild")
"""In the order of `_numbers`; costs in millionths of a US dollar."""


@dataclass(frozen=True, kw_only=True)
class GuildSettings:
    """One guild's settings. None: as without any."""

    places: Places | None = None
    notify: str | None = None
    """Where answers go of people who set nothing for themselves."""
    model: str | None = None
    """One of those that the operator permits."""
    budgets: Budgets = NO_BUDGETS
    """Beside the operator's, so that they can only narrow."""

    def to_json(self) -> str:
        """One text for the same settings."""
        found: dict[str, Any] = {}
        if self.places is not None:
            found["places"] = where_file.table(self.places)
        found |= {key: value for key in ("notify", "model") if (value := getattr(self, key)) is not None}
        set_budgets = dict(zip(_BUDGETS, _numbers(self.budgets), strict=True))
        if set_budgets := {key: value for key, value in set_budgets.items() if value is not None}:
            found["budgets"] = set_budgets
        return json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> GuildSettings:
        """See `to_json`. Raises `ValueError` with a sentence that goes on after its subject."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError("is no JSON.") from error
        if not isinstance(found, dict) or not found.keys() <= _KEYS:
            raise ValueError("is no list of settings.")
        notify, model = found.get("notify"), found.get("model")
        if notify is not None and notify not in NOTIFY:
            raise ValueError(f"has notify that is not one of {', '.join(NOTIFY)}.")
        if model is not None and not isinstance(model, str):
            raise ValueError("has a model that is not a name.")
        places = where_file.read("places", found["places"]) if "places" in found else None
        return cls(places=places, notify=notify, model=model, budgets=_budgets(found.get("budgets", {})))


def _numbers(budgets: Budgets) -> tuple[int | None, ...]:
    return tuple(number for one in (budgets.person, budgets.guild) for number in (one.tokens, one.cost_micros))


def _budgets(found: object) -> Budgets:
    if not isinstance(found, dict) or not found.keys() <= set(_BUDGETS):
        raise ValueError("has budgets that are not a table of budgets.")
    if any(isinstance(number, bool) or not isinstance(number, int) or number < 1 for number in found.values()):
        raise ValueError("has a budget that is not a whole number above zero.")
    tokens_each, cost_each, tokens, cost = (found.get(key) for key in _BUDGETS)
    return Budgets(
        person=Budget(tokens=tokens_each, cost_micros=cost_each), guild=Budget(tokens=tokens, cost_micros=cost)
    )


NOTHING = GuildSettings()
