"""Two short cuts in simcord's renderer, without which a long history costs seconds per change.

Each publication of a page parses all history again for a message list that we hide, and parses every
message's markdown anew. The list is cut to its newest entries, and the parser's answers are kept.
"""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

from simcord.preview import _markdown, _snapshot  # private: _markdown and _snapshot, the two places that cost

_LISTED = 20
_KEPT = 4000


def make_fast() -> None:
    """Put the short cuts in; a second call changes nothing."""
    if getattr(_snapshot, "signoff_made_fast", False):
        return
    _snapshot.signoff_made_fast = True
    _cut_message_list()
    _remember_markdown()


def _cut_message_list() -> None:
    plain = _snapshot._message_navigation  # private: _message_navigation, builds the (hidden) message list

    def newest(preview: Any, page: Any, visible: list[Any]) -> Any:
        return plain(preview, page, visible[-_LISTED:])

    _snapshot._message_navigation = newest


def _remember_markdown() -> None:
    plain = _markdown.markdown_tokens  # private: markdown_tokens, a pure function of its arguments
    kept: dict[tuple[str, str, str], Any] = {}

    def remembering(value: str, profile: str = "message", *, context: Any = None) -> Any:
        key = (value, profile, json.dumps(context, sort_keys=True))
        if key not in kept:
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = plain(value, profile, context=context)
        return copy.deepcopy(kept[key])

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("simcord.preview") and (
            getattr(module, "markdown_tokens", None) is plain
        ):
            module.markdown_tokens = remembering  # type: ignore[attr-defined]
