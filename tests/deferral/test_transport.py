"""Hold, defer or refuse, as one table (design, section 6)."""

from __future__ import annotations

import pytest

from bot.deferral.transport import Way, way
from bot.surface import TurnClock

NOW, HOLD = 1_000_000, 60_000

TABLE = [
    (TurnClock(), True, Way.HOLD),
    (TurnClock(refires=True), True, Way.DEFER),
    (TurnClock(deadline=NOW + HOLD), True, Way.HOLD),
    (TurnClock(deadline=NOW + HOLD - 1), True, Way.DEFER),
    (TurnClock(deadline=NOW - 1), True, Way.DEFER),
    (TurnClock(refires=True, deadline=NOW + 10 * HOLD), True, Way.DEFER),
    (TurnClock(), False, Way.REFUSE),
    (TurnClock(refires=True), False, Way.REFUSE),
    (TurnClock(deadline=NOW + 10 * HOLD), False, Way.REFUSE),
]


@pytest.mark.parametrize(("clock", "usable", "chosen"), TABLE)
def test_the_clock_and_the_surface_decide_and_nothing_else(clock: TurnClock, usable: bool, chosen: Way) -> None:
    assert way(clock, now=NOW, hold_ms=HOLD, usable=usable) is chosen


@pytest.mark.parametrize(
    ("clock", "binds"), [(TurnClock(), False), (TurnClock(refires=True), True), (TurnClock(deadline=1), True)]
)
def test_a_clock_binds_when_somebody_outside_holds_one(clock: TurnClock, binds: bool) -> None:
    assert clock.binds is binds
