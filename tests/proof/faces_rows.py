"""The rows and values that `faces` draws, with one thing about them changed."""

from __future__ import annotations

from typing import Any

from bot.guild_book import InForce
from bot.guild_rules import Body, GuildRules
from bot.permits import PolicyRule
from bot.policy_view import Bounds, PolicyView
from bot.rehearsal import Otherwise, Rehearsal
from bot.rules import ApproverRule, Rule
from bot.surface import CardView, JobView
from bot.toolbook import ToolEntry
from storage.approvals import Approval, ApprovalState
from storage.audit import AuditEntry
from storage.cards import Card
from storage.guilds import Draft
from storage.history import PastCall
from storage.jobs import Job
from storage.outbox import Owed
from storage.runs import Run, RunKind, RunState
from storage.schedules import Schedule, ScheduleState

NOW = 1_700_000_000_000


def call(number: int = 0, **changes: Any) -> Approval:
    fields: dict[str, Any] = {
        "id": "abcdefghijklmno" + "pqrstuvwxyz"[number],
        "run": "run1",
        "conversation": "discord/1/2",
        "card": "cardcardcardcard",
        "pause": 1,
        "position": number,
        "call_id": f"call{number}",
        "kind": "approval",
        "tool": "shell",
        "arguments": {"command": "ls -l"},
        "reason": "why",
        "digest": "0123456789abcdef" * 4,
        "seal": "seal",
        "intent": None,
        "action": "a",
        "requester": "200",
        "place": "discord/1/2",
        "state": ApprovalState.PENDING,
        "requested_at": NOW,
        "expires_at": NOW + 86_400_000,
    }
    if changes.get("state", ApprovalState.PENDING) is not ApprovalState.PENDING:
        fields |= {"settled_at": NOW + 60_000, "settled_by": "100"}
    return Approval(**fields | changes)


def card(*calls: Approval, **changes: Any) -> CardView:
    row = Card(
        id="cardcardcardcard",
        run="run1",
        place="discord/1/2",
        message=None,
        version=1,
        shown=0,
        tries=0,
        due_at=0,
        error=None,
    )
    return CardView(card=row, approvals=calls, **{"profiles": {"shell": "sandbox"}, "ping": ("100",), **changes})


def schedule(**changes: Any) -> Schedule:
    fields: dict[str, Any] = {
        "id": "sched1",
        "person": "200",
        "space": "discord/1",
        "place": "discord/1/2",
        "goal": "goal",
        "spoken": "daily",
        "cron": "0 9 * * *",
        "zone": "UTC",
        "missed": "once",
        "notify": "channel",
        "state": ScheduleState.ACTIVE,
        "created_at": NOW,
    }
    return Schedule(**fields | changes)


def job(prompt: str = "goal", **changes: Any) -> JobView:
    run = Run(
        id="run1",
        conversation="c",
        kind=RunKind.JOB,
        state=RunState.RUNNING,
        place="discord/1/2",
        requester="200",
        request=None,
        prompt=prompt,
        notify="channel",
        created_at=NOW,
    )
    row = Job(run="run1", space="discord/1", depth=1)
    return JobView(
        run=run,
        job=row,
        **{"steps": (), "place_in_queue": None, "working_since": None, "spent_before_ms": 0, **changes},
    )


def trail(event: str, **detail: Any) -> AuditEntry:
    return AuditEntry(
        n=1, at=NOW, actor="200", event=event, approval="a", run=None, conversation=None, detail=detail, hash=""
    )


def rules(*policy: PolicyRule, approvers: tuple[ApproverRule, ...] = (), **changes: Any) -> PolicyView:
    found = GuildRules(policy=policy, approvers=approvers)
    body = Body(
        policy=tuple({"name": one.name, "tool": one.tool, "action": one.action} for one in policy),
        approvers=tuple({"quorum": 1} for _ in approvers),
    )
    base = Rule(name="The settings say", users=frozenset({"100"}), roles=frozenset())
    bounds = Bounds(
        file_policy=policy,
        file_approvers=tuple(enumerate(approvers, start=1)),
        base=base,
        leaves_open=False,
        ttl_ms=86_400_000,
        ttl_binds=False,
    )
    fields: dict[str, Any] = {
        "guild": "1",
        "bounds": bounds,
        "in_force": InForce(rules=found, changed_by="100", changed_at=NOW),
        "body": body,
        "draft": Draft(id="draft", guild="1", topic="policy", person="100", base=0, revision=1, body="", at=NOW),  # type: ignore[arg-type]
        "rules": found,
        "changes": (),
        "conflicts": (),
        "tools": ("shell",),
        "arguments": {},
    }
    return PolicyView(**fields | changes)


def rule(**changes: Any) -> PolicyRule:
    return PolicyRule(**{"name": "rule", "tool": "shell", "action": "ask", **changes})


def entry(**changes: Any) -> ToolEntry:
    fields: dict[str, Any] = {
        "name": "tool",
        "description": "It looks.",
        "action": "ask",
        "why": "why",
        "depends": "",
        "profile": "nothing",
        "broken": "",
        "server": "",
        "changed": "",
    }
    return ToolEntry(**fields | changes)


def otherwise(tool: str = "shell", by: str = "rule") -> Rehearsal:
    past = PastCall(
        id="abc", was="ask", tool=tool, arguments={}, at=NOW, requester="200", place="p", within="", roles=frozenset()
    )
    found = (Otherwise(call=past, now="refuse", rule=by),)
    return Rehearsal(since=NOW, was={"ask": 1}, now={"refuse": 1}, otherwise=found, gone=0, cut=False)


def owed(error: str) -> Owed:
    return Owed(
        id=1,
        key="k",
        run="r",
        place="discord/1/2",
        body={"text": "Done."},
        state="inbox",
        tries=1,
        due_at=0,
        via=None,
        receipt=None,
        error=None,
        created_at=NOW,
        failures=({"way": {"place": "discord/1/2"}, "error": error},),
    )
