"""The whole catalogue: the entries of every module beside this one, under `module.name`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from bot.texts.entry import Entry

_MACHINERY = {"catalogue", "entry", "recall", "text"}


def _areas() -> list[str]:
    """Looked for, so that whoever adds an area changes no line that others change as well."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return [name for name in found if name not in _MACHINERY]


CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        f"{area}.{name}": entry
        for area in _areas()
        for name, entry in importlib.import_module(f"bot.texts.{area}").ENTRIES.items()
    }
)
