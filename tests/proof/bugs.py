"""Seeded bugs: what a careless change could do to the house, and the story that must notice it.

Each replaces one piece of the source of one function. When the code changes so that a piece is not there any more,
the test says so: then the bug wants to be seeded anew, not thrown away.
"""

from __future__ import annotations
import __future__

import inspect
import textwrap
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from bot import decisions, ending, stretches
from bot.decisions import Decisions
from bot.deferral import registry, sentences
from bot.deferral.executor import Executor
from bot.deferral.seal import Seal
from bot.engine import Engine
from bot.intake import Intake
from bot.jobs.watch import JobWatch
from bot.notices import Notices
from bot.showing import Showing
from storage import approvals, audit, cards, outbox, runs


@dataclass(frozen=True)
class Change:
    """One piece of one function's source, and what the bug makes of it."""

    where: ModuleType | type
    function: str
    is_now: str
    becomes: str

    def altered(self) -> Any:
        """The function with the bug in it."""
        original = getattr(self.where, self.function)
        source = textwrap.dedent(inspect.getsource(original))
        found = source.count(self.is_now)
        assert found == 1, f"{self.function} has {self.is_now!r} {found} times now: seed this bug anew"
        code = compile(
            source.replace(self.is_now, self.becomes),
            f"<{self.function} with a bug>",
            "exec",
            flags=__future__.annotations.compiler_flag,
            dont_inherit=True,
        )
        made: dict[str, Any] = {}
        exec(code, original.__globals__, made)
        return made[self.function]


class Bug:
    """One bug, and the story that notices it. Where two guards stand behind one another, both have to fall."""

    def __init__(
        self, where: ModuleType | type, function: str, is_now: str, becomes: str, story: str, *also: Change
    ) -> None:
        self.changes = (Change(where, function, is_now, becomes), *also)
        self.story = story

    def seed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put it into the house, until the test is over."""
        for change in self.changes:
            monkeypatch.setattr(change.where, change.function, change.altered())


BUGS = {
    # -- decisions
    "the last press counts, not the first": Bug(
        approvals,
        "settle",
        "WHERE id = ? AND state = ? AND",
        "WHERE id = ? AND ? <> '' AND",
        "pressed_by_two_at_once",
        Change(Decisions, "_act", "waits_for(act, fresh) and ", ""),
    ),
    "a press counts after the deadline": Bug(
        approvals,
        "settle",
        'in_time = "expires_at > ?"',
        "pass",
        "pressed_after_the_deadline",
        Change(Decisions, "_act", " and self._in_time(fresh)", ""),
    ),
    "one press decides the whole card": Bug(
        approvals,
        "settle",
        "WHERE id = ? AND",
        "WHERE card = (SELECT card FROM approval WHERE id = ?) AND",
        "half_of_a_batch",
    ),
    "approve and deny change places": Bug(Decisions, "decide", 'verdict == "deny"', 'verdict == "approve"', "denied"),
    "a denial's reason is lost": Bug(Decisions, "_deny", "note=reason", "note=None", "denied"),
    "anybody may decide": Bug(
        Decisions, "_act", "self._authority.permit(act, call, actor)", "pass", "pressed_by_a_stranger"
    ),
    "a refused press leaves no trail": Bug(
        Decisions,
        "refused",
        'async with self._database.begin("refused press") as tx:',
        "if tx := None:",
        "pressed_twice",
    ),
    "a button counts on any message": Bug(
        decisions, "belongs", "card.message in {None, press.message}", "True", "pressed_on_another_message"
    ),
    "who decided is not stored": Bug(approvals, "settle", "        by,\n", "        audit.SYSTEM,\n", "denied"),
    "nobody hears of a decision": Bug(Decisions, "_act", "self.moved(moved)", "pass", "approved"),
    "a seal on anything holds": Bug(
        Seal,
        "holds",
        "seal is not None and hmac.compare_digest(seal.encode(), expected.encode())",
        "True",
        "forged_decision",
    ),
    "the digest is not looked at": Bug(
        Decisions, "_holds", "digest_of(approval) == approval.digest", "True", "forged_arguments"
    ),
    # -- moves
    "a move leaves no trail": Bug(
        approvals, "moved", "await trail(tx, approval, to, by, at, detail)", "pass", "denied"
    ),
    "a move does not touch its card": Bug(approvals, "moved", "await cards.touch(tx, approval.card)", "pass", "denied"),
    "the run is not queued when its last call is settled": Bug(
        approvals, "moved", "await runs.queue_if_settled(tx, approval.run)", "pass", "denied"
    ),
    "the run goes on while a call still runs": Bug(
        runs,
        "queue_if_settled",
        "IN ('pending', 'approved', 'running')",
        "IN ('pending')",
        "a_batch_with_one_that_runs_long",
    ),
    "nothing ever expires": Bug(approvals, "overdue", "expires_at <= ?", "expires_at > ?", "expired"),
    "the trail's head is forgotten": Bug(audit, "record", "await meta.put(tx, HEAD, chained)", "pass", "approved"),
    # -- running
    "the claim does not move the row": Bug(
        approvals, "claim", "SET state = 'running'", "SET state = 'approved'", "approved"
    ),
    "the claim is not stored at all": Bug(
        Executor, "_commit", "return await approvals.claim(", "return approval or await approvals.claim(", "approved"
    ),
    "what was approved and left is not found": Bug(
        approvals, "approved", "state = 'approved'", "state = 'approving'", "approved_and_left"
    ),
    "an exit code is taken for a success": Bug(
        Executor,
        "_outcome",
        "ApprovalState.SUCCEEDED if outcome.ok else ApprovalState.FAILED",
        "ApprovalState.SUCCEEDED",
        "failed",
    ),
    "what could not start is said to have failed": Bug(
        Executor,
        "_outcome",
        "_ran(tool, arguments, call)\n    except NothingRan as signal:\n        return ApprovalState.NOTHING_RAN",
        "_ran(tool, arguments, call)\n    except NothingRan as signal:\n        return ApprovalState.FAILED",
        "failed",
    ),
    "what broke is said not to have run": Bug(
        Executor,
        "_outcome",
        "return ApprovalState.FAILED, replace(nothing, text=failure), None",
        "return ApprovalState.NOTHING_RAN, nothing, failure",
        "failed",
    ),
    "what was stopped is said to have failed": Bug(
        Executor, "run", "INTERRUPTED, nothing)", "FAILED, nothing)", "stopped_while_it_ran"
    ),
    "what a kill interrupted runs again": Bug(
        approvals, "interrupt_orphans", "SET state = 'interrupted'", "SET state = 'approved'", "killed_while_it_ran"
    ),
    "what a kill interrupted is not found": Bug(
        approvals, "interrupt_orphans", "owner <> ?", "owner = ?", "killed_while_it_ran"
    ),
    # -- what people see
    "a card is believed to show what it does not": Bug(
        cards, "shown", "shown = max(shown, ?)", "shown = max(version, ?)", "the_face_was_slow"
    ),
    "a card is given up at its first failure": Bug(
        Showing, "_failed", "if not final:", "if False:", "the_face_was_down"
    ),
    "a running call does not show": Bug(
        Engine, "_execute", "self._show(claimed)", "pass", "a_batch_with_one_that_runs_long"
    ),
    "people are reminded of what is settled": Bug(
        Notices,
        "still_true",
        "call.state is ApprovalState.PENDING and",
        "",
        "reminded",
        Change(Notices, "_concerns_anybody", "return bool(", "return True or bool("),
    ),
    "what was said is said again": Bug(
        outbox, "delivered", "SET state = 'delivered'", "SET state = 'attempting'", "answered_late"
    ),
    "the second answer is taken for the first": Bug(
        ending, "_owe_reply", 'key=f"answer:{run.id}"', 'key="answer"', "several_requests"
    ),
    # -- what the model hears
    "a denial is handed on as a success": Bug(
        stretches, "_result", '"denied" if denied', '"success" if denied', "denied"
    ),
    "an expiry is voiced as a no": Bug(
        sentences, "_outcome", "return model(approval)", 'return model(approval) + " It was denied."', "expired"
    ),
    "nobody goes on when all is settled": Bug(
        JobWatch, "startable", "*await self._crowding.startable(reader), ", "", "denied"
    ),
    "the model's second call of the same is a new one": Bug(
        registry, "screen", "if intent is not None and", "if intent is None and", "asked_again_by_the_model"
    ),
    "a request that is sent twice runs twice": Bug(
        Intake, "turn", "run.request)) is not None", "run.request)) is True", "sent_twice"
    ),
}
