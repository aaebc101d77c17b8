"""The life-cycle of calls against a simple reference, and a check that the check would notice: seeded bugs."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from storage import approvals, runs
from tests.storage.machine import Subject, machine

QUICK = settings(
    max_examples=25,
    stateful_step_count=30,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
THOROUGH = settings(QUICK, max_examples=300, stateful_step_count=60)
HUNT = settings(QUICK, max_examples=400, stateful_step_count=100, phases=[Phase.generate], report_multiple_bugs=False)


def test_calls_live_as_the_reference_says() -> None:
    run_state_machine_as_test(machine(Subject()), settings=QUICK)


@pytest.mark.slow
def test_calls_live_as_the_reference_says_for_long() -> None:
    run_state_machine_as_test(machine(Subject()), settings=THOROUGH)


A, R = approvals, runs
BUGS: dict[str, tuple[ModuleType, str, str]] = {
    # what is wrong: (where, what stands there, what the bug makes of it)
    "a press counts at the deadline": (A, '"expires_at > ?"', '"expires_at >= ?"'),
    "a press always counts": (A, '"expires_at > ?"', '"? IS NOT NULL"'),
    "an expiry comes late": (A, '"expires_at <= ?"', '"expires_at < ?"'),
    "an expiry comes at any time": (A, '"expires_at <= ?"', '"? IS NOT NULL"'),
    "a denial counts after the deadline": (A, "APPROVED, ApprovalState.DENIED,", "APPROVED,"),
    "an answer counts after the deadline": (A, "DENIED, ApprovalState.SUCCEEDED,", "DENIED,"),
    "a settled call is settled again": (A, "state = ? AND {in_time}", "? <> '' AND {in_time}"),
    "who decided is not kept": (A, "settled_by = ?, note = ?", "settled_by = upper(?) || 'x', note = ?"),
    "a denial's reason is not kept": (A, 'note = ?, result = ?,"', "note = nullif(?, 'why'), result = ?,\""),
    "an answer has no end": (A, "IN ('succeeded', 'failed') THEN", "IN ('failed') THEN"),
    "every settlement ends the call": (A, "IN ('succeeded', 'failed') THEN", "NOT IN ('') THEN"),
    "a claim needs no digest": (A, "= 'approved' AND digest = ?", "= 'approved' AND ? <> ''"),
    "a claim needs no approval": (A, "= 'approved' AND digest = ?", "IN ('approved', 'pending') AND digest = ?"),
    "a claim can be made twice": (A, "= 'approved' AND digest = ?", "IN ('approved', 'running') AND digest = ?"),
    "a claim keeps another owner": (A, "'running', owner = ?", "'running', owner = 'x' || ?"),
    "a claim keeps another time": (A, 'owner = ?, started_at = ?"', 'owner = ?, started_at = ? + 1"'),
    "anybody finishes a call": (
        A,
        "id = ? AND state = 'running' AND owner = ?",
        "id = ? AND state = 'running' AND ? <> ''",
    ),
    "a call is finished before it ran": (
        A,
        "id = ? AND state = 'running' AND owner = ?",
        "id = ? AND state IN ('running', 'approved') AND coalesce(owner, 'boot1') = ?",
    ),
    "an ended call is finished again": (
        A,
        "id = ? AND state = 'running' AND owner = ?",
        "id = ? AND state <> '' AND owner = ?",
    ),
    "the exit code is lost": (A, 'exit_code = ?, note = ?"', 'exit_code = nullif(?, 1), note = ?"'),
    "our own calls are interrupted": (A, "AND owner <> ? RETURNING", "AND ? <> '' RETURNING"),
    "dead calls are not interrupted": (A, "AND owner <> ? RETURNING", "AND owner < ? RETURNING"),
    "approved calls are interrupted": (
        A,
        "= 'running' AND owner <> ? RETURNING",
        "IN ('running', 'approved') AND coalesce(owner, '') <> ? RETURNING",
    ),
    "a move leaves no trail": (A, "await trail(tx, approval, to, by, at, detail)", "pass"),
    "an ask is called something else": (A, 'approval, "asked"', 'approval, "asked" if approval.position else "put"'),
    "a move does not touch its card": (A, "await cards.touch(tx, approval.card)", "pass"),
    "a card is touched twice": (
        A,
        "await cards.touch(",
        "await cards.touch(tx, approval.card)\n        await cards.touch(",
    ),
    "no run is queued": (A, "if not approval.is_open:", "if False:"),
    "a taken intent is not noticed": (A, "    if not done:\n        return False\n    again", "    again"),
    "a denied call can be approved": (
        A,
        "    ApprovalState.APPROVED: frozenset(",
        "    ApprovalState.DENIED: frozenset({ApprovalState.APPROVED}),\n    ApprovalState.APPROVED: frozenset(",
    ),
    "a pending call can be interrupted": (
        A,
        "            ApprovalState.EXPIRED,\n",
        "            ApprovalState.EXPIRED,\n            ApprovalState.INTERRUPTED,\n",
    ),
    "an approved call can be denied": (
        A,
        "frozenset({ApprovalState.RUNNING, ",
        "frozenset({ApprovalState.RUNNING, ApprovalState.DENIED, ",
    ),
    "nothing_ran is no ending": (A, "            ApprovalState.NOTHING_RAN,\n", ""),
    "a run goes on while a call still runs": (R, "('pending', 'approved', 'running'))\"", "('pending', 'approved'))\""),
    "a run goes on while a call still waits": (
        R,
        "('pending', 'approved', 'running'))\"",
        "('approved', 'running'))\"",
    ),
    "a run waits for the calls of others": (R, "WHERE approval.run = run.id AND", "WHERE"),
    "a run is taken up twice": (R, "= 'queued'\", owner, id)", "IN ('queued', 'running')\", owner, id)"),
    "a waiting run is taken up": (R, "= 'queued'\", owner, id)", "IN ('queued', 'waiting')\", owner, id)"),
    "a run keeps its dead owner": (R, "'running', owner = ? WHERE", "'running', owner = coalesce(owner, ?) WHERE"),
    "anybody pauses a run": (
        R,
        "= 'running' AND owner = ?\",\n        number",
        "= 'running' AND ? <> ''\",\n        number",
    ),
    "a pause has the last one's number": (R, '(row["pauses"]) + 1', '(row["pauses"]) or 1'),
    "our own runs are requeued": (
        R,
        "+ 1 WHERE state = 'running' AND owner <> ?",
        "+ 1 WHERE state = 'running' AND ? <> ''",
    ),
}


def _altered(module: ModuleType, old: str = "", new: str = "") -> ModuleType:
    """The module once more, with one place of its text altered."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert not old or source.count(old) == 1, f"{source.count(old)} places read {old!r}"
    altered = ModuleType(module.__name__)
    exec(compile(source.replace(old, new) if old else source, str(module.__file__), "exec"), altered.__dict__)
    return altered


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_a_seeded_bug_is_noticed(bug: tuple[ModuleType, str, str]) -> None:
    where, old, new = bug
    subject = Subject(
        approvals=_altered(approvals, *((old, new) if where is approvals else ())),
        runs=_altered(runs, *((old, new) if where is runs else ())),
    )
    subject.approvals.__dict__["runs"] = subject.runs
    noticed = False
    try:
        run_state_machine_as_test(machine(subject), settings=HUNT)
    except Exception:  # noqa: BLE001 - however the bug shows: a comparison, a constraint, an error
        noticed = True
    assert noticed
