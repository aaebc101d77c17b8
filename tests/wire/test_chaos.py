"""Chaos on the wire: each fault at each step of the walk, alone and in pairs, on the real program (issue 4).

One table of what can go wrong, one of where; each cell is a script of its own. All of them run on one bot, one after
the other, and whatever one leaves behind is the next one's fault as well. After each: the effect is there at most once,
the card is final, the ending was told once or says that it may be a repeat, and nothing is still owed.

The whole table takes minutes (`-m slow`); every ninth script is in the ordinary run.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio

from bot.playground.faults import Fault
from bot.playground.people import Post, channel_id
from bot.playground.twin import Twin
from tests.needs import needs
from tests.wire.conftest import Signoff

pytestmark = [pytest.mark.wire, needs("bwrap"), pytest.mark.asyncio(loop_scope="module")]

CALLBACK = r"/interactions/\d+/[^/]+/callback"
LIVE = {"Approve", "Deny", "Deny with reason…", "Edit…", "Cancel", "Extend"}
NUMBERS = itertools.count(1)

FAULTS: dict[str, Fault] = {
    "429": Fault("429", retry_after=0.05),
    "429 for all": Fault("429", retry_after=0.05, everywhere=True),
    "500": Fault("status", status=500),
    "503": Fault("status", status=503),
    "500 after it happened": Fault("status_after", status=500),
    "cut before": Fault("cut_before"),
    "cut after": Fault("cut_after"),
    "cut twice": Fault("cut_after", times=2),
    "late": Fault("delay", seconds=0.7),
    "no permission": Fault("status", status=403, code=50013),
    "unknown message": Fault("status", status=404, code=10008),
}
STEPS = ("ask", "reply", "card", "press", "run", "edit", "answer", "announce", "dm")
PAIRS = (("429", "cut after"), ("500", "cut before"), ("cut after", "500 after it happened"), ("late", "cut after"))
MOMENTS = ("before the ask", "before the press", "after the press")


@dataclass(frozen=True)
class Chaos:
    """One script."""

    faults: tuple[str, ...] = ()
    step: str = ""
    moment: str = ""
    event: str = ""

    @property
    def name(self) -> str:
        return f"{' and '.join(self.faults) or self.event}: {self.step or self.moment}"


def table() -> Iterator[Chaos]:
    for step, fault in itertools.product(STEPS, FAULTS):
        # A card that Discord does not know any more is one that was deleted; see the events below.
        if not (fault == "unknown message" and step in {"run", "edit"}):
            yield Chaos(faults=(fault,), step=step)
    for step, pair in itertools.product(STEPS, PAIRS):
        yield Chaos(faults=pair, step=step)
    for event, moment in itertools.product(("cut", "overtaken", "doubled"), MOMENTS):
        yield Chaos(event=event, moment=moment)
    for moment in MOMENTS:
        yield Chaos(event="invalid", moment=moment)
    for moment in ("before the press", "after the press"):
        yield Chaos(event="deleted", moment=moment)
        yield Chaos(event="no voice", moment=moment)
    yield Chaos(event="late acknowledgement", moment="before the ask")
    yield Chaos(event="late acknowledgement", moment="before the press")


SCRIPTS = list(table())
QUICK = [one for one in SCRIPTS if one.event != "invalid" and "late ack" not in one.event][::9]


def scripts(chosen: list[Chaos]) -> list[object]:
    return [pytest.param(one, id=one.name) for one in chosen]


@dataclass
class Stage:
    """The bot that all scripts share, with what one script looks at."""

    signoff: Signoff
    twin: Twin
    mark: str
    ordered: list[Fault] = field(default_factory=list)

    @property
    def ops(self) -> int:
        return channel_id(self.twin.world, "ops")

    def everywhere(self) -> list[Post]:
        return [*self.twin.posts("ops"), *self.direct("ana"), *self.direct("ben")]

    def let_go(self) -> int:
        """Replies that are not held any more."""
        return sum("The answer will come as a new message" in post.text for post in self.twin.posts("ops"))

    def direct(self, who: str) -> list[Post]:
        return self.twin.people[who].messages(None)

    def cards(self) -> list[Post]:
        return [post for post in self.everywhere() if self.mark in post.text and "Asked by" in post.text]

    def answers(self) -> list[Post]:
        """Where the channel was told how it ended."""
        return [post for post in self.twin.posts("ops") if f"The command `{self.command}`" in post.text]

    @property
    def command(self) -> str:
        return f"echo {self.mark} >> log"

    def effects(self) -> int:
        return self.signoff.logged().count(self.mark)

    def count(self, sql: str) -> int:
        return int(str(self.signoff.row(sql)))

    def state(self) -> str:
        found = self.signoff.row("SELECT state FROM approval WHERE arguments LIKE ?", f"%{self.mark}%")
        return str(found)

    async def until(self, done: Callable[[], object], what: str, seconds: float = 40) -> None:
        """Look again and again: rows of another process have no event to wait for."""
        try:
            async with asyncio.timeout(seconds):
                while not done():
                    await asyncio.sleep(0.03)
        except TimeoutError:
            raise AssertionError(f"{what} did not come true: {self.state()}, {self.everywhere()[-6:]}") from None

    def order(self, chaos: Chaos, step: str) -> None:
        """Put the script's faults on order for a step that is about to come."""
        if chaos.step != step:
            return
        method, path, skip = self.where(step)
        for name in chaos.faults:
            fault = replace(FAULTS[name], method=method, path=path, skip=skip)
            self.ordered.append(self.twin.faults.add(fault))

    def where(self, step: str) -> tuple[str, str, int]:
        create, card = rf"/channels/{self.ops}/messages", self.cards()[-1].id if self.cards() else 0
        return {
            "ask": ("POST", CALLBACK, 0),
            "reply": ("POST", create, 0),
            "card": ("POST", create, 1),
            "press": ("POST", CALLBACK, 0),
            "run": ("PATCH", rf"/channels/\d+/messages/{card}", 0),
            "edit": ("PATCH", rf"/channels/\d+/messages/{card}", 1),
            "answer": ("PATCH", rf"/channels/{self.ops}/messages/(?!{card})\d+", 0),
            "announce": ("POST", create, 0),
            "dm": ("POST", rf"/channels/{self.twin.people['ben'].dm_channel_id}/messages", 0),
        }[step]

    async def disturb(self, chaos: Chaos, moment: str) -> None:
        """What goes wrong at a moment, other than with a request."""
        if chaos.moment != moment:
            return
        gateway = self.twin.gateway
        match chaos.event:
            case "cut":
                gateway.cut()
            case "invalid":
                begun, gateway.refuse_resumes = gateway.identified, 1
                gateway.cut()
                # What happens before a session of its own stands is told to nobody; Discord's client says so.
                await self.until(lambda: gateway.identified > begun, "a new session")
            case "overtaken":
                gateway.overtaken = 1
            case "doubled":
                gateway.doubled = 2
            case "deleted":
                card = self.cards()[-1]
                self.twin.world.backend.delete_message(card.channel_id, card.id)
            case "no voice":
                path = rf"/channels/{self.ops}/messages.*"
                self.twin.faults.add(Fault("status", "*", path, status=403, code=50013, times=2))
            case "late acknowledgement":
                self.twin.faults.add(Fault("delay", "POST", CALLBACK, seconds=3.3))


async def play(stage: Stage, chaos: Chaos) -> None:
    """The walk, with what goes wrong in it."""
    twin = stage.twin
    let_go = stage.let_go()
    await stage.disturb(chaos, "before the ask")
    stage.order(chaos, "ask")
    stage.order(chaos, "reply")
    stage.order(chaos, "card")
    await stage.signoff.ask(f"run `{stage.command}`", notify="both")
    await stage.until(lambda: stage.state() == "undeliverable" or live(stage), "a card")
    if live(stage):
        card = live(stage)[-1]
        await stage.signoff.until("SELECT count(*) FROM card WHERE message = ?", 1, str(card.id))
        await stage.disturb(chaos, "before the press")
        if chaos.event == "deleted" and chaos.moment == "before the press":
            await stage.until(lambda: live(stage) and live(stage)[-1].id != card.id, "the card again")
        if chaos.step == "announce":
            # The reply is held for a second; after it, the answer is a message of its own.
            await stage.until(lambda: stage.let_go() > let_go, "the end of the hold")
        for step in ("press", "run", "edit", "answer", "announce", "dm"):
            stage.order(chaos, step)
        card = live(stage)[-1]
        await stage.signoff.until("SELECT count(*) FROM card WHERE message = ?", 1, str(card.id))
        await twin.people["ana"].click(card, "Approve")
        await stage.disturb(chaos, "after the press")
    await settled(stage)


def live(stage: Stage) -> list[Post]:
    return [card for card in stage.cards() if "Approve" in card.labels]


async def settled(stage: Stage) -> None:
    """Nothing is stuck: no run open, no card behind, no message owed."""
    await stage.until(
        lambda: stage.count("SELECT count(*) FROM run WHERE state IN ('queued', 'running', 'waiting')") == 0,
        "an end of every run",
    )
    await stage.until(lambda: stage.count("SELECT count(*) FROM card WHERE shown < version") == 0, "every card's edit")
    await stage.until(
        lambda: (
            stage.count(
                # A reminder is due before a deadline that is a day off.
                "SELECT count(*) FROM outbox WHERE state IN ('pending', 'attempting') AND due_at < created_at + 3600000"
            )
            == 0
        ),
        "every message",
    )


def check(stage: Stage) -> None:
    """What holds after every script."""
    state = stage.state()
    assert state in {"succeeded", "undeliverable"}
    assert stage.effects() == (1 if state == "succeeded" else 0)
    for card in stage.cards():
        assert not LIVE & set(card.labels), card
    finals = [card for card in stage.cards() if "exit code 0" in card.text]
    assert len(stage.cards()) - len(finals) <= (1 if state == "undeliverable" else 0), stage.cards()
    told = [post for post in stage.everywhere() if re.search(rf"{stage.mark}", post.text) and post not in stage.cards()]
    assert told, "nobody was told"
    for who in (stage.answers(), [post for post in stage.direct("ben") if post.by_bot and stage.mark in post.text]):
        plain = [post for post in who if "You may have seen this already" not in post.text]
        assert len(plain) <= 1, who
    assert stage.answers() or state == "undeliverable" or stage.direct("ben")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Signoff]:
    """One bot for the whole table."""
    folder: Path = tmp_path_factory.mktemp("chaos")
    async with Twin.open(state_dir=None) as twin:
        signoff = Signoff(twin, folder)
        signoff.env |= {"SIGNOFF_HOLD_SECONDS": "1", "SIGNOFF_STARTUP_REPORT": "false"}
        await signoff.start()
        yield signoff
        await signoff.stop()
        assert "Traceback" not in signoff.output


async def through(running: Signoff, chaos: Chaos) -> None:
    twin = running.twin
    await twin.wait_until_connected()
    stage = Stage(running, twin, f"mark{next(NUMBERS):03d}x")
    try:
        await play(stage, chaos)
        check(stage)
        assert all(fault.struck for fault in stage.ordered[:1]), "nothing went wrong"
    finally:
        twin.faults.clear()
        twin.gateway.doubled = twin.gateway.overtaken = twin.gateway.refuse_resumes = 0


@pytest.mark.parametrize("chaos", scripts(QUICK))
async def test_a_fault_on_the_way_doubles_nothing_and_leaves_nothing_open(running: Signoff, chaos: Chaos) -> None:
    await through(running, chaos)


@pytest.mark.slow
@pytest.mark.parametrize("chaos", scripts([one for one in SCRIPTS if one not in QUICK]))
async def test_no_fault_of_the_whole_table_doubles_anything_or_leaves_it_open(running: Signoff, chaos: Chaos) -> None:
    await through(running, chaos)


async def test_the_table_has_every_fault_at_every_step() -> None:
    assert len(SCRIPTS) >= 150
    assert len({one.name for one in SCRIPTS}) == len(SCRIPTS)
    assert len(QUICK) >= 15
