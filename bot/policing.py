"""The operator's rules at work: checked against the tools there are; what they decide goes on the trail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.clock import Clock
from bot.deferral.policy import RulePolicy, rule_problems
from bot.deferral.tool import Tool
from bot.errors import SettingsError
from bot.permits import PolicyRule
from bot.settings import Settings
from storage import audit
from storage.database import Database
from storage.runs import Run


def build_policy(rules: Sequence[PolicyRule] | None, tools: Sequence[Tool]) -> RulePolicy:
    """The policy of these rules. Raises `SettingsError`, which names every rule that makes no sense."""
    if problems := [SettingsError("SIGNOFF_POLICY", one) for one in rule_problems(rules or (), tools)]:
        raise SettingsError.together(problems)
    return RulePolicy(rules or ())


def check_approver_rules(settings: Settings, tools: Mapping[str, Tool]) -> None:
    """A misspelt tool would leave the real one to a laxer rule. Raises `SettingsError`.

    A server's tools may come later than the start, so theirs are not looked for; nor is what a `*` stands for.
    """
    servers = tuple(f"{server.name}_" for server in settings.mcp or ())
    for number, rule in enumerate(settings.approvers or (), start=1):
        for name in rule.tools or ():
            if "*" not in name and not name.startswith(servers) and name not in tools:
                raise SettingsError("SIGNOFF_APPROVERS", f"has rule {number} about {name}, and no tool is called so.")


class Allowed:
    """Puts calls on the trail that policy lets through, before they run, or refuses: no card will tell of them."""

    def __init__(self, *, database: Database, clock: Clock, mask: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._mask = mask

    async def record(self, run: Run, tool: str, arguments: Mapping[str, Any], rule: str, event: str) -> None:
        """One entry, `allowed` or `refused`. Raises `DatabaseError`; then the call must not run."""
        said = self._mask(json.dumps(arguments, ensure_ascii=False))
        async with self._database.begin(event) as tx:
            await audit.record(
                tx,
                at=self._clock.now(),
                actor=audit.SYSTEM,
                event=event,
                run=run.id,
                conversation=run.conversation,
                detail={"tool": tool, "arguments": said, "rule": rule},
            )
