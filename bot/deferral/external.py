"""Delivers a result that lives elsewhere to the call that waits for it: once, from any process that has the database.

A running bot takes it up within its next sweep; one that is not running, after its next start. See docs/deferral.md.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.errors import AlreadySettled, DecisionRefused, UnknownApproval
from bot.plain import plain
from bot.texts.text import say
from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from storage.database import Database

LONGEST_RESULT = 200_000
"""Characters. The model has to read it."""


async def deliver(
    database: Database,
    id: str,
    text: str,
    *,
    failed: bool = False,
    at: int,
    mask: Callable[[str], str],
    by: str = audit.SYSTEM,
    who: sentences.Who = "user {}".format,
) -> Approval:
    """Settle the call `id` with its result, or, with `failed`, with the reason why there is none (may be empty).

    The model is handed `text` as `mask` leaves it; `at` is the present in milliseconds UTC, `by` who delivers, for the
    trail. Raises `UnknownApproval`, and `AlreadySettled` with what happened; what is refused changes nothing, and is
    on the trail.
    """
    try:
        call = await approvals.get(database.reader, id)
        if call is None or call.kind != ToolKind.EXTERNAL:
            raise UnknownApproval("unknown", say("edits.no_call", id=id))
        if len(text) > LONGEST_RESULT:
            raise DecisionRefused("too_long", say("edits.result_long", most=LONGEST_RESULT))
        to = ApprovalState.FAILED if failed else ApprovalState.SUCCEEDED
        async with database.begin("deliver result") as tx:
            settled = await approvals.settle(tx, id, to, by=by, at=at, result=mask(plain(text)))
        if settled is not None:
            return settled
        raise AlreadySettled("too_late", _too_late(await approvals.get(database.reader, id) or call, at, who))
    except DecisionRefused as refusal:
        async with database.begin("refused result") as tx:
            await approvals.refused_press(tx, id, actor=by, at=at, code=refusal.code)
        raise


def _too_late(call: Approval, at: int, who: sentences.Who) -> str:
    if call.state is ApprovalState.PENDING and call.expires_at <= at:
        return say("edits.result_late")
    return say("edits.result_settled", sentence=sentences.person(call, who))
