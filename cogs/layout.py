"""Builds every components v2 message of this bot, and refuses what Discord would refuse.

discord.py checks only the number of components. The views it builds are stopped before they are sent: a finished
view is sent but not stored, so presses come to `on_interaction` alone. In the view store, one card's end can take
away another card's buttons (`tests/cogs/test_two_cards.py`).
"""

from __future__ import annotations

import discord
from discord import ui

from cogs import limits

Item = ui.Item[ui.LayoutView]


class LayoutTooBig(ValueError):
    """A message that Discord would not take."""


def build(*items: Item) -> ui.LayoutView:
    """A finished view of `items`. Needs a running loop; raises `LayoutTooBig`."""
    view = ui.LayoutView(timeout=None)
    for item in items:
        view.add_item(item)
    check(view)
    view.stop()
    if not view.is_finished():
        raise RuntimeError("a view can only be finished inside the event loop")
    return view


def text(content: str) -> ui.TextDisplay[ui.LayoutView]:
    """A paragraph of Discord's markdown."""
    return ui.TextDisplay(content)


def rule() -> ui.Separator[ui.LayoutView]:
    """A thin line."""
    return ui.Separator(spacing=discord.SeparatorSpacing.small)


def check(view: ui.LayoutView) -> None:
    """Raise `LayoutTooBig` for anything that Discord answers 50035 to."""
    if view.total_children_count > limits.COMPONENTS:
        raise LayoutTooBig(f"{view.total_children_count} components")
    shown = 0
    ids: set[str] = set()
    for item in view.walk_children():
        if isinstance(item, ui.TextDisplay):
            shown += limits.length(item.content)
            if not item.content.strip():
                raise LayoutTooBig("an empty paragraph")
        elif isinstance(item, ui.Button):
            _check_button(item, ids)
        elif isinstance(item, ui.ActionRow) and not 1 <= len(item.children) <= limits.BUTTONS_IN_ROW:
            raise LayoutTooBig(f"{len(item.children)} buttons in a row")
    if shown > limits.CARD_TEXT:
        raise LayoutTooBig(f"{shown} characters of text")


def _check_button(button: ui.Button[ui.LayoutView], ids: set[str]) -> None:
    if not button.label or limits.length(button.label) > limits.BUTTON_LABEL:
        raise LayoutTooBig(f"button label {button.label!r}")
    if button.custom_id is None or not 1 <= len(button.custom_id) <= limits.CUSTOM_ID or button.custom_id in ids:
        raise LayoutTooBig(f"custom id {button.custom_id!r}")
    ids.add(button.custom_id)
