"""`/new`: a conversation begins afresh. What it still asked is taken back, and named; nothing is deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.clock import Clock
from bot.deferral.authority import Authority
from bot.ending import Stopped, stop
from bot.errors import NotAllowed
from bot.surface import Actor
from bot.texts.text import say
from bot.turns import Turns
from storage import audit, conversations, runs
from storage.approvals import Approval
from storage.database import Database

NOTE = say("talks.new_note")
ENDED_TEXT = say("talks.new_ended")


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What a new beginning ended."""

    requests: int
    cancelled: list[Approval]
    running: list[Approval]
    """What runs already; it is not stopped."""


class Anew:
    """Begins conversations afresh, for one process."""

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        authority: Authority,
        turns: Turns,
        deliver: Callable[[], Awaitable[None]],
    ) -> None:
        self._database = database
        self._clock = clock
        self._authority = authority
        self._turns = turns
        self._deliver = deliver

    async def begin(self, conversation: str, *, place: str, actor: Actor) -> Begun:
        """Forget what was said, end what is open, all in one commit. Jobs have conversations of their own, and go on.

        For everybody; but what somebody else asked only an approver may end. Raises `NotAllowed`.
        """
        now = self._clock.now()
        stopped: list[Stopped] = []
        async with self._database.begin("new conversation") as tx:
            open_runs = await runs.open_in(tx, conversation)
            others = {run.requester for run in open_runs if run.announces is None or run.pauses} - {actor.id}
            if others and not self._authority.is_approver(actor, place):
                raise NotAllowed(
                    "not_requester",
                    say("talks.others_open"),
                )
            for run in open_runs:
                via = self._turns.reply_of(run)
                one = await stop(tx, run.id, by=actor.id, at=now, note=NOTE, text=ENDED_TEXT, via=via)
                stopped += [one] if one is not None else []
            await conversations.begin_anew(tx, conversation)
            await audit.record(
                tx,
                at=now,
                actor=actor.id,
                event="conversation_begun",
                conversation=conversation,
                detail={"place": place},
            )
        for one in stopped:
            self._turns.stop_working(one.run.id)
        await self._deliver()
        return Begun(
            requests=len(stopped),
            cancelled=[call for one in stopped for call in one.cancelled],
            running=[call for one in stopped for call in one.running],
        )
