"""Takes a setting that is a list of rules: tables in `signoff.toml`, or the same as JSON in one line."""

from __future__ import annotations

import json
from typing import Any


def tables(value: object, *, name: str) -> list[Any]:
    """The rules one by one, unread. `name` is the table's in `signoff.toml`.

    Raises `ValueError` with a sentence that goes on after the setting's name.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError(f"must be a list of rules in JSON; in signoff.toml write [[{name}]] tables.") from None
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list with at least one rule, or be removed.")
    return value
