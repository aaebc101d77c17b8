"""What would last week have looked like? A draft of rules, tried on the calls that were made. Runs nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.clock import Clock
from bot.deferral.layers import LayeredPolicy
from bot.deferral.tool import Tool, ToolKind
from bot.permits import Action, Asking, PolicyRule
from bot.texts.text import say
from storage.database import Database
from storage.history import PastCall, calls_since

WEEK_MS = 7 * 86_400_000
MOST_CALLS = 5_000
"""So many are tried, the newest: each costs a little, and a person waits."""

Rehearse = Callable[[str, Sequence[PolicyRule]], Awaitable["Rehearsal"]]
"""Takes a guild and the rules to try."""


@dataclass(frozen=True, kw_only=True)
class Otherwise:
    """A call that would have gone another way."""

    call: PastCall
    now: Action
    rule: str


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What came of it."""

    since: int
    was: Mapping[str, int]
    """How many were allowed, asked about, refused."""
    now: Mapping[str, int]
    """How many would be."""
    otherwise: tuple[Otherwise, ...]
    """Which would have gone another way, newest first."""
    gone: int
    """Calls of tools that are not there now: of them nothing can be told."""
    cut: bool
    """Whether there were more than are tried."""


class Rehearsals:
    """Tries rules on the past of one database."""

    def __init__(self, *, database: Database, clock: Clock, policy: LayeredPolicy, tools: Mapping[str, Tool]) -> None:
        self._database = database
        self._clock = clock
        self._policy = policy
        self._tools = tools

    async def __call__(self, guild: str, rules: Sequence[PolicyRule]) -> Rehearsal:
        """Try a guild's rules, within the file's, on its calls of the last seven days."""
        since = self._clock.now() - WEEK_MS
        was: Counter[str] = Counter()
        now: Counter[str] = Counter()
        otherwise: list[Otherwise] = []
        gone, cut = 0, False
        async for calls in calls_since(self._database.reader, f"discord/{guild}", since):
            for call in calls:
                if was.total() >= MOST_CALLS:
                    cut = True
                    break
                if (tool := self._tools.get(call.tool)) is None:
                    gone += 1
                    continue
                action, rule = self._decide(tool, call, rules)
                was[call.was] += 1
                now[action] += 1
                if action != call.was:
                    otherwise.append(Otherwise(call=call, now=action, rule=rule))
            if cut:
                break
            await asyncio.sleep(0)
        return Rehearsal(since=since, was=was, now=now, otherwise=tuple(otherwise), gone=gone, cut=cut)

    def _decide(self, tool: Tool, call: PastCall, rules: Sequence[PolicyRule]) -> tuple[Action, str]:
        asking = Asking(requester=call.requester, place=call.place, within=call.within, roles=call.roles, now=call.at)
        verdict = self._policy.with_rules(rules, tool, call.arguments, asking)
        asks_itself = not tool.gated and tool.kind is ToolKind.APPROVAL and call.was == "ask"
        if verdict.action == "allow" and asks_itself:
            return "ask", say("rules.asks_itself", tool=tool.name)
        return verdict.action, verdict.rule
