"""Replies in which an answer may still come, and how they are let go while people are waited for.

Holding is a wake on top of the rows and nothing else: what is held here is also stored, and killing the process loses
no more than the chance to answer in the same message.
"""

from __future__ import annotations

from contextlib import suppress

from bot.clock import Clock
from bot.deferral import sentences
from bot.deferral.tool import ToolKind
from bot.deferral.transport import Way, way
from bot.delivery import Delivery, show_progress
from bot.errands import delivering
from bot.errors import DeliveryError
from bot.surface import Reply, TurnClock
from bot.texts.text import say
from storage import approvals, audit, cards, outbox, runs
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from storage.database import Database
from storage.runs import Run, RunKind, RunState

BUSY_TEXT = say("turns.sent_twice")


class Holding:
    """Holds the replies of one process."""

    def __init__(self, *, database: Database, clock: Clock, delivery: Delivery, hold_ms: int) -> None:
        self._database = database
        self._clock = clock
        self._delivery = delivery
        self._hold_ms = hold_ms
        self._clocks: dict[str, TurnClock] = {}
        self._until: dict[str, int] = {}

    def begin(self, run_id: str, reply: Reply, clock: TurnClock) -> None:
        """A turn's answer goes to `reply`, as long as its `clock` allows."""
        for ended in self._clocks.keys() - self._delivery.replies.keys():
            del self._clocks[ended]
        self._delivery.replies[run_id] = reply
        reply.belongs_to(run_id)
        if clock.binds:
            self._clocks[run_id] = clock

    async def again(self, run: Run, reply: Reply, clock: TurnClock) -> None:
        """A request came a second time. Its new reply gets the answer if no other waits for it, else the truth.

        Where messages have links, an answer that was given is pointed to: it is said once.
        """
        if run.kind is RunKind.JOB and run.ended_at is None:
            with suppress(DeliveryError), delivering():
                await reply.finish(say("turns.in_background", id=run.id), key=f"again:{run.id}")
            return
        if run.state in {RunState.QUEUED, RunState.RUNNING} and run.id not in self._delivery.replies:
            self.begin(run.id, reply, clock)
            return
        receipt = await outbox.receipt_of(self._database.reader, f"answer:{run.id}")
        link = self._delivery.link_to(run.place, receipt) if receipt is not None else ""
        text = say("turns.answered_already", link=link) if link else run.result or BUSY_TEXT
        kinds = {call.kind for call in await self._waiting(run)}
        if kinds and run.id not in self._delivery.replies:
            text = sentences.asked(kinds)
        with suppress(DeliveryError), delivering():
            await reply.finish(text, key=f"again:{run.id}")

    # -- while people are waited for ------------------------------------------------------------

    def until(self, run_id: str) -> int | None:
        """Until when the reply can be held if the run pauses now; None if it cannot."""
        if run_id not in self._delivery.replies:
            return None
        now = self._clock.now()
        chosen = way(self._clocks.get(run_id, TurnClock()), now=now, hold_ms=self._hold_ms, usable=True)
        return now + self._hold_ms if chosen is Way.HOLD else None

    def keep(self, run_id: str, until: int) -> None:
        """The run has paused, and its reply is held."""
        self._until[run_id] = until

    def holds(self, run_id: str) -> bool:
        """Whether the paused run's reply is held."""
        return run_id in self._until

    def forget(self, run_id: str) -> None:
        """The run goes on."""
        self._until.pop(run_id, None)

    def next_release(self) -> int | None:
        """When the next reply stops being held for its answer."""
        return min(self._until.values(), default=None)

    async def release(self) -> None:
        """Let go of replies whose hold is over: from then on the answer is a message of its own."""
        now = self._clock.now()
        for run_id in [held for held, until in self._until.items() if until <= now]:
            # Two of these may be under way: what the other has let go of meanwhile is done.
            if self._until.pop(run_id, None) is None:
                continue
            if (reply := self._delivery.replies.pop(run_id, None)) is not None:
                run = await runs.get(self._database.reader, run_id)
                kinds = {call.kind for call in await self._waiting(run)} if run is not None else set()
                await show_progress(reply, sentences.still_waits(kinds), resting=True)

    async def part(self, run_id: str) -> None:
        """End the turn of a run that has paused under a clock: posting first, deciding then.

        What people could see is waited for without the turn; what they could not is refused, and the run goes on in
        the same reply.
        """
        reply, clock = self._delivery.replies.get(run_id), self._clocks.get(run_id)
        run = await runs.get(self._database.reader, run_id) if reply is not None and clock is not None else None
        if reply is None or clock is None or run is None or run.state is not RunState.WAITING or self.holds(run_id):
            return
        for id in await self._cards(run):
            copies = await self._shown(id)
            usable = cards.visible(copies) is not None
            if way(clock, now=self._clock.now(), hold_ms=self._hold_ms, usable=usable) is Way.REFUSE:
                await self._refuse(id, next((card.error for card in copies if card.error), None))
        if not (waiting := await self._waiting(run)):
            return  # the run goes on in its reply
        self._delivery.replies.pop(run_id, None)
        with suppress(DeliveryError), delivering():
            message = await reply.finish(sentences.asked({call.kind for call in waiting}))
            async with self._database.begin("remember reply") as tx:
                await runs.set_reply(tx, run_id, message)

    async def _cards(self, run: Run) -> list[str]:
        """Cards with calls that people have to see."""
        return sorted({call.card for call in await self._waiting(run) if call.kind != ToolKind.EXTERNAL})

    async def _shown(self, id: str) -> list[Card]:
        await self._delivery.show_card(id)
        return await cards.copies(self._database.reader, id)

    async def _refuse(self, card: str, problem: str | None) -> None:
        async with self._database.begin("refuse") as tx:
            for call in await approvals.of_card(tx, card):
                if call.state is ApprovalState.PENDING and call.kind != ToolKind.EXTERNAL:
                    await approvals.settle(
                        tx,
                        call.id,
                        ApprovalState.UNDELIVERABLE,
                        by=audit.SYSTEM,
                        at=self._clock.now(),
                        note=problem or say("turns.not_posted_in_time"),
                    )

    async def _waiting(self, run: Run) -> list[Approval]:
        calls = await approvals.of_pause(self._database.reader, run.id, run.pauses)
        return [call for call in calls if call.state is ApprovalState.PENDING]
