"""The life of approvals, told twice: by the real house on a real database, and by a reference of a few lines.

`Life` drives both, and after every step compares everything that people, the model and the trail can see.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic_ai.messages import ToolReturnPart

import bot.app
import bot.engine
from bot.deferral import sentences
from bot.deferral.executor import Executor
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError
from bot.surface import Actor, Press, TurnContext
from storage import approvals, audit
from storage.approvals import Approval, ApprovalState
from tests.house import ASKER, OWNER, PLACE, House, ManualClock, Page, Script, open_house
from tests.proof.told import OPEN, TTL_SECONDS, Hands, SlowFace, Told

Rows = dict[tuple[str, int], dict[str, Any]]
"""Rows by prompt and place among the calls of a pause."""


class Life:
    """A house and what the reference says of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._house: AsyncExitStack
        self.clock = ManualClock()
        self.face = SlowFace()
        self.hands = Hands()
        self.script = Script(by_prompt={})
        self.pages: dict[str, Page] = {}
        self.calls: list[Told] = []
        self.starts = 0
        self._heard = 0
        self._reminded: set[str] = set()

    # -- what happens ---------------------------------------------------------------------------

    async def open(self) -> None:
        """Start, for the first time or again."""
        self.starts += 1
        self._house = AsyncExitStack()
        # Deadlines are met when a story lets the house look, not when the machine's own clock does.
        self._house.enter_context(patch.object(bot.engine, "SHORTEST_ALARM_MS", 3_600_000))
        self.house: House = await self._house.enter_async_context(
            open_house(
                self._folder,
                self.script,
                clock=self.clock,
                face=self.face,
                bench=self.hands,
                ids=f"boot{self.starts}-",
                recover=False,
            )
        )
        await self.house.app.engine.recover()
        self._expire()
        await self.idle()

    async def close(self) -> None:
        """Stop. What still runs is stopped without grace."""
        with patch.object(bot.app, "STOP_GRACE_SECONDS", 0.0):
            await self._house.aclose()

    async def restart(self, *, killed: bool = False) -> None:
        """Stop and start again: what was running is interrupted, everything else goes on.

        `killed`: the house did not get to write down what it stopped.
        """
        with patch.object(Executor, "_record", _nothing) if killed else nullcontext():
            await self.close()
        for call in self.calls:
            if call.state == "running":
                call.move("interrupted")
        for page in self.pages.values():
            page.finished = page.finished or ""  # nobody is left who would go on in it
        await self.open()

    async def ask(self, *whats: str, again: bool = False) -> list[Told]:
        """Somebody asks, and the model calls the tool once for each of `whats`, in one batch.

        `again`: when it has the results, it makes the very same calls once more.
        """
        number = len(self.pages)
        prompt = f"request {number}"
        names = [f"{what}-{number}-{position}" for position, what in enumerate(whats)]
        batch = [("act", {"what": name}) for name in names]
        self.script.by_prompt[prompt] = [batch, *([batch] if again else []), f"The end of {prompt}."]
        self.pages[prompt] = Page()
        expires_at = self.clock.now() + TTL_SECONDS * 1000
        told = [Told(name, prompt, position, expires_at) for position, name in enumerate(names)]
        await self._send(number, self.pages[prompt])
        self.calls += told
        return told

    async def send_again(self) -> None:
        """The newest request comes a second time, as things that are retried do."""
        await self._send(len(self.pages) - 1, Page())

    async def _send(self, number: int, page: Page) -> None:
        ctx = TurnContext(
            conversation=f"talk {number}",
            place=PLACE,
            requester=ASKER.id,
            request=f"r{number}",
            prompt=f"request {number}",
        )
        await self.house.app.engine.take_turn(ctx, page)
        await self.idle()

    async def press(self, call: Told, verdict: Any, actor: Actor = OWNER, *, reason: str | None = None) -> None:
        """Somebody presses a button of the call's card."""
        press = await self._press(call, actor)
        try:
            await self.house.app.engine.decide(press, verdict, reason=reason)
            counted = True
        except DecisionRefused:
            counted = False
        counts = actor == OWNER and call.state == "pending" and self.clock.now() < call.expires_at
        assert counted == counts, f"the press on {call.what} {'counted' if counted else 'was refused'}"
        if not counts:
            call.refused += 1
        elif verdict == "deny":
            call.decided_by, call.reason = actor.id, reason
            call.move("denied")
        else:
            call.approved(actor.id)
        await self.idle()

    async def approve_with_a_slow_face(self, call: Told) -> None:
        """While the card is being edited to show that the call runs, it ends."""
        self.face.gate = asyncio.Event()
        call.approved(OWNER.id)
        await self.house.app.engine.decide(await self._press(call, OWNER), "approve")
        while (await self.row(call))["state"] != call.state:
            await asyncio.sleep(0)
        self.face.gate.set()
        await self.idle()

    async def press_at_once(self, call: Told, *verdicts: Any) -> None:
        """Several people press at the same moment: one of them counts."""
        press = await self._press(call, OWNER)
        engine = self.house.app.engine
        done = await asyncio.gather(*(engine.decide(press, verdict) for verdict in verdicts), return_exceptions=True)
        winners = [verdict for verdict, one in zip(verdicts, done, strict=True) if isinstance(one, Approval)]
        assert len(winners) == 1, f"{len(winners)} presses counted"
        assert all(isinstance(one, Approval | DecisionRefused) for one in done), done
        call.refused += len(verdicts) - 1
        if winners == ["approve"]:
            call.approved(OWNER.id)
        else:
            call.decided_by = OWNER.id
            call.move("denied")
        await self.idle()

    async def decided_elsewhere(self, call: Told, *, sweeps: int) -> None:
        """An approval was stored, and then its process lost the thread: sweeps find it, all at once."""
        engine = self.house.app.engine
        with patch.object(engine.decisions, "moved", lambda call: None):
            await engine.decide(await self._press(call, OWNER), "approve")
        call.approved(OWNER.id)
        await asyncio.gather(*(self.house.app.engine.sweep() for _ in range(sweeps)))
        self._expire()
        await self.idle()

    async def cancel(self, call: Told) -> None:
        """Cancelled from another process; the house finds out by itself."""
        row = await self.row(call)
        async with self.house.app.database.begin("cancel elsewhere") as tx:
            done = await approvals.settle(
                tx, row["id"], ApprovalState.CANCELLED, by=audit.SYSTEM, at=self.clock.now(), note="elsewhere"
            )
        assert (done is not None) == (call.state == "pending")
        if done is not None:
            call.move("cancelled")
        await self.sweep()

    async def press_elsewhere(self, call: Told) -> None:
        """The button is pressed on a message that is not the card: that counts for nothing."""
        press = replace(await self._press(call, OWNER), message="another message")
        try:
            await self.house.app.engine.decide(press, "approve")
        except DecisionRefused:
            call.refused += 1
        else:
            raise AssertionError("a button counted on a message that is not its own")
        await self.idle()

    async def forge_decision(self, call: Told) -> None:
        """Somebody with a hand in the database writes an approval into it, and a vote: nothing may run."""
        await self._forge(call, f"state = 'approved', settled_by = '{OWNER.id}', settled_at = 1")
        async with self.house.app.database.begin("forgery") as tx:
            await tx.execute(
                "INSERT INTO vote (approval, person, verdict, roles, at, seal) VALUES (?, ?, 'approve', '[]', 1, 'x')",
                (await self.row(call))["id"],
                OWNER.id,
            )
        call.move("void")
        await self.sweep()

    async def forge_arguments(self, call: Told) -> None:
        """Somebody with a hand in the database changes the arguments, and then it is approved: the press is refused."""
        await self._forge(call, "arguments = json_set(arguments, '$.what', 'ok-instead')")
        try:
            await self.house.app.engine.decide(await self._press(call, OWNER), "approve")
        except AlreadySettled:
            call.move("void")
            call.refused += 1
        else:
            raise AssertionError("a changed call was approved")
        await self.idle()

    async def _forge(self, call: Told, sets: str) -> None:
        async with self.house.app.database.begin("forgery") as tx:
            await tx.execute(f"UPDATE approval SET {sets} WHERE id = ?", (await self.row(call))["id"])

    async def sweep(self) -> None:
        """Let the house do what is due."""
        await self.house.app.engine.sweep()
        self._expire()
        await self.idle()

    def _expire(self) -> None:
        for call in self.calls:
            if call.state == "pending" and call.expires_at <= self.clock.now():
                call.move("expired")

    async def pass_time(self, seconds: float) -> None:
        """Time passes and nobody looks."""
        self.clock.advance(seconds=seconds)

    async def mend_face(self) -> None:
        """The face works again, and its next attempt comes."""
        self.face.fail_card = None
        await self.pass_time(600)
        await self.sweep()

    async def break_face(self) -> None:
        """From now on no card can be posted or edited."""
        self.face.fail_card = DeliveryError("Discord is down.")

    async def idle(self) -> None:
        """Wait for everything that runs, but for tools that hang for good."""
        while True:
            others = asyncio.all_tasks() - self.hands.hanging - {asyncio.current_task()}
            if not others:
                return
            self.hands.changed.clear()
            hangs = asyncio.ensure_future(self.hands.changed.wait())
            await asyncio.wait({*others, hangs}, return_when=asyncio.FIRST_COMPLETED)
            hangs.cancel()
            await asyncio.wait([hangs])

    # -- what is true ---------------------------------------------------------------------------

    @property
    def waiting(self) -> list[Told]:
        """Calls that somebody could still decide."""
        return [call for call in self.calls if call.state == "pending" and self.clock.now() < call.expires_at]

    async def row(self, call: Told) -> dict[str, Any]:
        """The call's row."""
        return (await self.rows())[call.prompt, call.position]

    async def rows(self) -> Rows:
        """All rows, by prompt and the place among the calls of its pause."""
        found = await self.house.rows(
            "SELECT approval.*, run.prompt FROM approval JOIN run ON run.id = approval.run WHERE replaces IS NULL"
        )
        rows = {(row["prompt"], row["position"]): row for row in found}
        assert len(rows) == len(found), "a call was stored twice"
        return rows

    async def _press(self, call: Told, actor: Actor) -> Press:
        row = await self.row(call)
        [card] = await self.house.rows("SELECT message FROM card WHERE id = ?", row["card"])
        return Press(actor=actor, approval=row["id"], place=PLACE, message=card["message"])

    async def check(self) -> None:
        """Compare everything with what the reference says."""
        rows = await self.rows()
        expected = {(call.prompt, call.position): call.state for call in self.calls}
        assert {key: row["state"] for key, row in rows.items()} == expected
        assert Counter(self.hands.effects) == Counter(call.what for call in self.calls if call.effects)
        await self._check_trail(rows)
        await self._check_cards(rows)
        await self._check_reminders(rows)
        for prompt in self.pages:
            await self._check_run(prompt, rows)

    async def _check_trail(self, rows: Rows) -> None:
        assert await audit.verify(self.house.app.database.reader) is None, "the trail is broken"
        for call in self.calls:
            row = rows[call.prompt, call.position]
            told = await audit.entries(self.house.app.database.reader, approval=row["id"])
            moves = [entry for entry in told if entry.event != "press_refused"]
            assert [entry.event for entry in moves] == call.trail
            assert len(told) - len(moves) == call.refused, f"{call.refused} presses on {call.what} were refused"
            assert row["settled_by"] in {call.decided_by, audit.SYSTEM}
            if call.decided_by is not None:
                assert row["settled_by"] == moves[1].actor == call.decided_by

    async def _check_cards(self, rows: Rows) -> None:
        """A card is owed exactly while people see something else than what is stored."""
        for card in await self.house.rows("SELECT * FROM card"):
            stored = {row["id"]: row["state"] for row in rows.values() if row["card"] == card["id"]}
            view = self.face.cards.get(card["message"])
            seen = {one.id: str(one.state) for one in view.approvals} if view is not None else None
            unseen = card["message"] is None and "pending" not in stored.values()  # nobody will ever see it
            owed = card["shown"] < card["version"]
            assert owed == (seen != stored and not unseen), f"people see {seen}, stored is {stored}, owed: {owed}"
            assert not owed or self.face.fail_card is not None, "the face works, and the card is still owed"

    async def _check_reminders(self, rows: Rows) -> None:
        """One reminder per card, and only for people who can still do something."""
        for announcement in self.face.said[self._heard :]:
            if announcement.key.startswith("remind:"):
                card = announcement.key.partition(":")[2]
                assert card not in self._reminded, "it reminded twice"
                self._reminded.add(card)
                states = {row["state"] for row in rows.values() if row["card"] == card}
                assert "pending" in states, f"it reminded of a card whose calls are {states}"
        self._heard = len(self.face.said)

    async def _check_run(self, prompt: str, rows: Rows) -> None:
        """The run ends, the model hears of each call once, and people hear the answer once, when no call is open."""
        calls = [call for call in self.calls if call.prompt == prompt]
        over = all(call.state not in OPEN for call in calls)
        runs = await self.house.rows("SELECT * FROM run WHERE prompt = ?", prompt)
        assert [run["state"] for run in runs] == ["done" if over else "waiting"]
        answer = f"The end of {prompt}."
        said = [self.pages[prompt].finished, *(one.text for one in self.face.said)].count(answer)
        assert said == int(over), f"the answer to {prompt!r} was said {said} times"
        if not over:
            return
        messages = [seen for seen in self.script.seen if _prompt(seen) == prompt][-1]
        results = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        assert len({part.tool_call_id for part in results}) == len(results), "a call has two results"
        assert [part.tool_call_id for part in results[: len(calls)]] == [
            rows[call.prompt, call.position]["call_id"] for call in calls
        ]
        for call, part in zip(calls, results, strict=False):
            row = await approvals.get(self.house.app.database.reader, rows[call.prompt, call.position]["id"])
            assert row is not None
            assert part.content == sentences.outcome(row)
            marks = {"succeeded": "success", "denied": "denied"}
            assert part.outcome == marks.get(call.state, "failed")
            if call.reason is not None:
                assert call.reason in str(part.content)
            elif call.state == "succeeded":
                assert f"result of {call.what}" in str(part.content)
            if call.state != "denied":
                assert "denied" not in str(part.content), f"{call.state} is voiced as a no"


async def _nothing(*_: Any, **__: Any) -> None:
    """What a killed process does."""


def _prompt(messages: Sequence[Any]) -> str:
    return str(getattr(messages[0].parts[0], "content", ""))


@asynccontextmanager
async def open_life(folder: Path) -> AsyncIterator[Life]:
    """A life on an empty folder."""
    life = Life(folder)
    await life.open()
    try:
        yield life
    finally:
        await life.close()
