"""A state machine of an approval's life: the real house against a reference, after every step of random stories."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.house import STRANGER
from tests.proof.life import Life
from tests.proof.told import ENDS, TTL_SECONDS, Told

WHATS = st.lists(st.sampled_from(sorted(ENDS)), min_size=1, max_size=3)
WHICH = st.integers(min_value=0, max_value=9)
VERDICTS = st.sampled_from(["approve", "deny"])


class Machine(RuleBasedStateMachine):
    """Random stories of one house."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self.life = Life(Path(self._folder.name))
        self.do(self.life.open())
        self.calm = 0
        """Steps since the house was last disturbed: most of a story is people."""

    def do(self, step: Awaitable[Any]) -> Any:
        async def wait() -> Any:
            async with asyncio.timeout(60):
                return await step

        return self._runner.run(wait())

    def call(self, which: int) -> Told:
        return self.life.calls[which % len(self.life.calls)]

    def teardown(self) -> None:
        self.do(self.life.close())
        self._runner.close()
        self._folder.cleanup()

    @initialize(whats=WHATS)
    def it_begins_with_a_request(self, whats: list[str]) -> None:
        self.do(self.life.ask(*whats))

    @rule(whats=WHATS)
    def somebody_asks(self, whats: list[str]) -> None:
        self.do(self.life.ask(*whats))

    @precondition(lambda self: self.life.calls)
    @rule(which=WHICH, verdict=VERDICTS)
    def an_approver_presses(self, which: int, verdict: str) -> None:
        self.do(self.life.press(self.call(which), verdict, reason="not today" if verdict == "deny" else None))

    @precondition(lambda self: self.life.calls)
    @rule(which=WHICH, verdict=VERDICTS)
    def a_stranger_presses(self, which: int, verdict: str) -> None:
        self.do(self.life.press(self.call(which), verdict, STRANGER))

    @precondition(lambda self: self.life.waiting)
    @rule(which=WHICH, verdict=VERDICTS)
    def an_approver_presses_too_late(self, which: int, verdict: str) -> None:
        waiting = self.life.waiting
        call = waiting[which % len(waiting)]
        self.do(self.life.pass_time(TTL_SECONDS))
        self.do(self.life.press(call, verdict))

    @precondition(lambda self: self.life.waiting)
    @rule(which=WHICH, verdicts=st.lists(VERDICTS, min_size=2, max_size=3))
    def several_press_at_once(self, which: int, verdicts: list[str]) -> None:
        waiting = self.life.waiting
        self.do(self.life.press_at_once(waiting[which % len(waiting)], *verdicts))

    @precondition(lambda self: self.life.calls)
    @rule(which=WHICH)
    def it_is_cancelled_elsewhere(self, which: int) -> None:
        self.do(self.life.cancel(self.call(which)))

    @precondition(lambda self: self.life.waiting)
    @rule(which=WHICH, sweeps=st.integers(1, 3))
    def it_was_approved_and_left(self, which: int, sweeps: int) -> None:
        waiting = self.life.waiting
        self.do(self.life.decided_elsewhere(waiting[which % len(waiting)], sweeps=sweeps))

    @precondition(lambda self: self.life.waiting)
    @rule(seconds=st.sampled_from([1, 61, TTL_SECONDS - 600, TTL_SECONDS]))
    def time_passes(self, seconds: int) -> None:
        self.do(self.life.pass_time(seconds))

    @precondition(lambda self: self.calm > 1)
    @rule()
    def the_house_sweeps(self) -> None:
        self.do(self.life.sweep())

    @precondition(lambda self: self.calm > 4)
    @rule()
    def the_house_is_restarted(self) -> None:
        self.calm = 0
        self.do(self.life.restart())

    @precondition(lambda self: self.life.face.fail_card is None and self.calm > 2)
    @rule()
    def the_face_breaks(self) -> None:
        self.calm = 0
        self.do(self.life.break_face())

    @precondition(lambda self: self.life.face.fail_card is not None)
    @rule()
    def the_face_is_mended(self) -> None:
        self.do(self.life.mend_face())

    @invariant()
    def house_and_reference_agree(self) -> None:
        self.calm += 1
        self.do(self.life.check())


QUICK = settings(
    max_examples=30,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=True,
)
LONG = settings(QUICK, max_examples=400, stateful_step_count=30, derandomize=False)


def test_the_house_lives_as_the_reference_says() -> None:
    run_state_machine_as_test(Machine, settings=QUICK)


@pytest.mark.slow
def test_the_house_lives_as_the_reference_says_for_long() -> None:
    run_state_machine_as_test(Machine, settings=LONG)
