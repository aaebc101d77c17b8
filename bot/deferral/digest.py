"""What an approval binds: everything the approver saw that decides what happens.

Computed when the card is made and again at the claim; if one byte differs, nothing runs. What is bound beyond the row
itself is stored beside it, so that a difference can be named, and a row that was tampered with told from a world that
has moved on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from bot.deferral.intent import canonical_json
from bot.deferral.tool import Tool
from bot.texts.text import say

_NAMES = {
    "definition": say("void.what_tool_says"),
    "workspace": say("void.directory"),
    "profile": say("void.may_touch"),
    "environment": say("void.environment"),
    "preview": say("void.would_change"),
    "sends": say("void.sends"),
    "secrets": say("void.secrets"),
    "network": say("void.network"),
}


def surroundings(
    tool: Tool,
    *,
    workspace: str,
    files: Mapping[str, str],
    preview: str = "",
    sends: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str] | None = None,
    network: str = "",
) -> dict[str, Any]:
    """What decides beside a call's own arguments. `files` are the marks of the files it depends on, by name.

    `preview` is what the card shows of what it would change, `sends` of what would go out; `secrets` says
    of each secret that the call refers to what it is for. A secret's value is not bound: it may be replaced any time.
    """
    definition = canonical_json([tool.kind, tool.description, tool.schema])
    return {
        "definition": hashlib.sha256(definition.encode()).hexdigest(),
        "workspace": workspace,
        "profile": tool.networked if network else tool.profile,
        "environment": sorted(tool.environment),
        "files": dict(files),
        **({"preview": preview} if preview else {}),
        **({"sends": dict(sends)} if sends else {}),
        **({"secrets": dict(secrets)} if secrets else {}),
        **({"network": network} if network else {}),
    }


def action_digest(
    tool: str,
    arguments: Mapping[str, Any],
    bound: Mapping[str, Any],
    *,
    requester: str,
    place: str,
    expires_at: int,
    within: str = "",
    edited_by: str | None = None,
) -> str:
    """SHA-256 over the action: tool, final arguments, `surroundings`, for whom, where, until when, edited by whom."""
    whole = {
        "tool": tool,
        "arguments": arguments,
        "bound": bound,
        "requester": requester,
        "place": place,
        "within": within,
        "edited_by": edited_by,
        "expires_at": expires_at,
    }
    return hashlib.sha256(b"signoff action v1\0" + canonical_json(whole).encode()).hexdigest()


def differences(shown: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In words: what was shown, and what would run now in its place. Empty if, and only if, it is the same."""
    found: list[str] = []
    for name in sorted((shown.keys() | now.keys()) - {"files"}):
        was, is_now = shown.get(name), now.get(name)
        if was != is_now:
            values = "" if name in {"definition", "preview", "sends"} else f": {_text(was)} → {_text(is_now)}"
            found.append(say("void.changed", what=_NAMES.get(name, name), values=values))
    before, after = shown.get("files", {}), now.get("files", {})
    for name in sorted(before.keys() | after.keys()):
        was, is_now = before.get(name, say("void.not_bound")), after.get(name, say("void.not_bound"))
        if was != is_now:
            found.append(say("void.file_changed", name=name, was=short(was), now=short(is_now)))
    return found


def short(mark: str) -> str:
    """A file's mark for people: of a hash, as much as tells it from another."""
    head, hashed, hexadecimal = mark.partition("sha256 ")
    return head + hashed + hexadecimal[:12]


def _text(value: object) -> str:
    if value is None:
        return say("void.nothing")
    if isinstance(value, Mapping):
        value = [f"{name} is for {what}" for name, what in value.items()]
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
