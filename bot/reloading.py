"""`/reload`: what the operator wrote is read anew while the bot runs. A file that makes no sense changes nothing.

Who decides, what asks, and the MCP servers take effect at once; everything else is named, and takes a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.agent.mcp_door import Door
from bot.clock import Clock
from bot.deferral.authority import Authority
from bot.deferral.policy import RulePolicy
from bot.deferral.tool import Tool
from bot.errors import NotAllowed, SettingsError
from bot.policing import build_policy, check_approver_rules
from bot.settings import Settings, names
from bot.surface import Actor
from bot.texts.text import Key, key, say
from storage import approvals, audit
from storage.database import Database

_WHO_DECIDES = ("approver_users", "approver_roles", "self_approval", "approvers", "approval_ttl")
_AT_ONCE = frozenset({*_WHO_DECIDES, "policy", "mcp"})

NOT_OWNER = say("reloading.not_owner")


@dataclass(frozen=True, kw_only=True)
class Reloaded:
    """What came of reading the settings anew."""

    changed: tuple[str, ...] = ()
    """What is different from now on, in sentences."""
    restart: tuple[str, ...] = ()
    """Settings that are different in the files and take a restart."""
    problem: str = ""
    """Why nothing was changed, a line for each fault; '' if it was."""


class Reloading:
    """Reads the settings anew, for one process."""

    def __init__(
        self,
        *,
        settings: Settings,
        reread: Callable[[], Settings],
        database: Database,
        clock: Clock,
        authority: Authority,
        policy: RulePolicy,
        door: Door,
        tools: Mapping[str, Tool],
        learn: Callable[[Settings], None],
    ) -> None:
        """`reread` reads the same sources as at the start; it raises `SettingsError`.

        `learn` is handed new settings before any of them is used: from then on their secrets are masked.
        """
        self._learn = learn
        self._settings = settings
        self._reread = reread
        self._database = database
        self._clock = clock
        self._authority = authority
        self._policy = policy
        self._door = door
        self._tools = tools

    async def reload(self, actor: Actor) -> Reloaded:
        """Read everything anew, for the owner. Raises `NotAllowed`; that, too, is on the trail."""
        if actor.id not in self._authority.owners:
            refusal = NotAllowed("not_owner", NOT_OWNER)
            async with self._database.begin("refused reload") as tx:
                await approvals.refused_press(tx, None, actor=actor.id, at=self._clock.now(), code=refusal.code)
            raise refusal
        try:
            fresh = self._reread()
            # Rules about tools of servers that come with it are checked when such a tool is called.
            build_policy(fresh.policy, tuple(self._tools.values()))
            check_approver_rules(fresh, self._tools)
            self._door.check(fresh.mcp or ())
        except SettingsError as error:
            await self._record(actor, "reload_refused", {"problem": str(error)})
            return Reloaded(problem=str(error))
        by_field = {field: name for name, field in names().items()}
        different = [one for one in names().values() if getattr(fresh, one) != getattr(self._settings, one)]
        done = Reloaded(
            changed=tuple(self._sentences(fresh, [one for one in different if one in _AT_ONCE], by_field)),
            restart=tuple(by_field[one] for one in different if one not in _AT_ONCE),
        )
        # On the trail first: what cannot be written down must not take effect.
        await self._record(actor, "reloaded", {"changed": list(done.changed), "restart": list(done.restart)})
        await self._apply(fresh)
        return done

    async def _apply(self, fresh: Settings) -> None:
        self._policy.replace(fresh.policy or ())
        self._authority.replace(
            users=fresh.approver_users,
            roles=fresh.approver_roles,
            self_approval=fresh.self_approval,
            rules=fresh.approvers or (),
            ttl_ms=fresh.approval_ttl_ms,
            ttl_binds="approval_ttl" in fresh.model_fields_set,
        )
        self._learn(fresh)
        await self._door.change(fresh.mcp or ())
        self._settings = self._settings.model_copy(update={name: getattr(fresh, name) for name in _AT_ONCE})

    async def _record(self, actor: Actor, event: str, detail: dict[str, Any]) -> None:
        async with self._database.begin("reload") as tx:
            await audit.record(tx, at=self._clock.now(), actor=actor.id, event=event, detail=detail)

    def _sentences(self, fresh: Settings, fields: Iterable[str], by_field: Mapping[str, str]) -> Iterable[str]:
        for field in fields:
            before, now = getattr(self._settings, field), getattr(fresh, field)
            if field == "policy":
                yield from _by_name(_RULES, before or (), now or ())
            elif field == "mcp":
                yield from _by_name(_SERVERS, before or (), now or ())
            elif field == "approvers":
                yield say("reloading.approvers", now=len(now or ()), before=len(before or ()))
            else:
                yield say("reloading.setting", name=by_field[field], now=_said(now), before=_said(before))


_RULES = (
    key("reloading.rule_new"), key("reloading.rule_gone"), key("reloading.rule_other"), key("reloading.rule_order"),
)  # fmt: skip
_SERVERS = (
    key("reloading.server_new"), key("reloading.server_gone"), key("reloading.server_other"),
    key("reloading.server_order"),
)  # fmt: skip


def _by_name(words: tuple[Key, Key, Key, Key], before: Iterable[Any], now: Iterable[Any]) -> Iterable[str]:
    came, went, other, order = words
    old, new = {one.name: one for one in before}, {one.name: one for one in now}
    yield from (say(came, name=name) for name in new if name not in old)
    yield from (say(went, name=name) for name in old if name not in new)
    yield from (say(other, name=name) for name in new if name in old and old[name] != new[name])
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield say(order)


def _said(value: object) -> str:
    if value is None:
        return say("reloading.not_set")
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    return str(value).lower()
