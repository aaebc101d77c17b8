"""The whole catalogue: every area's entries under `area.name`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bot.texts import (
    about,
    errors,
    forms,
    grants,
    jobs,
    lists,
    modals,
    presses,
    secrets,
    settings,
    surface,
    turns,
    usage,
    words,
)
from bot.texts.entry import Entry

_AREAS: Mapping[str, Mapping[str, Entry]] = {
    "about": about.ENTRIES,
    "errors": errors.ENTRIES,
    "forms": forms.ENTRIES,
    "grants": grants.ENTRIES,
    "jobs": jobs.ENTRIES,
    "lists": lists.ENTRIES,
    "modals": modals.ENTRIES,
    "presses": presses.ENTRIES,
    "secrets": secrets.ENTRIES,
    "settings": settings.ENTRIES,
    "surface": surface.ENTRIES,
    "turns": turns.ENTRIES,
    "usage": usage.ENTRIES,
    "words": words.ENTRIES,
}

CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {f"{area}.{name}": entry for area, entries in _AREAS.items() for name, entry in entries.items()}
)
