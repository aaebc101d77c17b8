"""Which calls run, which ask, which are refused. First match wins; what nothing matches asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from bot.deferral.tool import Tool


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What policy says of one call, and which rule said it."""

    action: Literal["allow", "ask", "refuse"]
    rule: str


class Policy(Protocol):
    """Decides from the validated, final arguments; never from prose."""

    def decide(self, tool: Tool, arguments: Mapping[str, Any]) -> Verdict:
        """The verdict on one call."""
        ...


class DefaultPolicy:
    """Asks for what acts, allows what only looks."""

    def decide(self, tool: Tool, arguments: Mapping[str, Any]) -> Verdict:
        """See `Policy.decide`."""
        if tool.gated:
            return Verdict(action="ask", rule=f"{tool.name} needs a person's sign-off")
        return Verdict(action="allow", rule=f"{tool.name} only looks")
