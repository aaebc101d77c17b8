"""JSON read once and strictly, so that nobody can read it differently: not what is shown, and not what runs."""

from __future__ import annotations

import json
import math
from typing import Any


def load(text: str) -> Any:
    """The value. Raises `ValueError` for anything that is not plain JSON (a name given twice, NaN, a number beyond all
    numbers, half a surrogate), and `RecursionError` for what is nested too deep."""
    value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate has no bytes
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is given twice in the arguments")
    return made


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is larger than any number can be")
    return number
