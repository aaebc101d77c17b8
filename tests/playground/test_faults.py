"""Faults strike when and as often as they were ordered to."""

from __future__ import annotations

import pytest

from bot.playground.faults import Fault, Faults


def test_a_fault_strikes_its_own_requests_and_no_others() -> None:
    faults = Faults()
    fault = faults.add(Fault("status", "POST", r"/channels/\d+/messages"))
    assert faults.strike("GET", "/channels/1/messages") == (0.0, None)
    assert faults.strike("POST", "/channels/1/messages/2") == (0.0, None)
    assert faults.strike("POST", "/channels/1/messages") == (0.0, fault)
    assert faults.strike("POST", "/channels/1/messages") == (0.0, None)


def test_a_fault_may_let_some_pass_and_strike_several() -> None:
    faults = Faults()
    faults.add(Fault("cut_before", skip=1, times=2))
    struck = [faults.strike("GET", "/x")[1] is not None for _ in range(5)]
    assert struck == [False, True, True, False, False]


def test_a_fault_without_end_strikes_until_everything_is_cleared() -> None:
    faults = Faults()
    fault = faults.add(Fault("429", times=None))
    assert all(faults.strike("GET", "/x")[1] is fault for _ in range(3))
    assert fault.struck == 3
    faults.clear()
    assert faults.strike("GET", "/x") == (0.0, None)


def test_delays_add_up_before_another_fault() -> None:
    faults = Faults()
    faults.add(Fault("delay", seconds=1.0))
    faults.add(Fault("delay", seconds=0.5))
    late = faults.add(Fault("cut_after"))
    delay, fault = faults.strike("GET", "/x")
    assert delay == pytest.approx(1.5)
    assert fault is late
