"""What an approval binds: everything the approver saw that decides what happens.

Computed when the card is made and again at the claim; if one byte differs, nothing runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from bot.deferral.intent import canonical_json
from bot.deferral.tool import Tool


def action_digest(
    tool: Tool, arguments: Mapping[str, Any], *, workspace: str, requester: str, place: str, expires_at: int
) -> str:
    """SHA-256 over the action: tool and its definition, final arguments, working directory, what the body may
    touch, names of its environment, for whom, where, and until when."""
    bound = {
        "tool": tool.name,
        "kind": tool.kind,
        "definition": canonical_json([tool.description, tool.schema]),
        "arguments": arguments,
        "workspace": workspace,
        "profile": tool.profile,
        "environment": sorted(tool.environment),
        "requester": requester,
        "place": place,
        "expires_at": expires_at,
    }
    return hashlib.sha256(b"signoff action v1\0" + canonical_json(bound).encode()).hexdigest()
