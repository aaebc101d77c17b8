"""More than one person decides: through the engine, as docs/approvers.md promises it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import DecisionRefused
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.surface import Actor
from tests.house import ASKER, OWNER, Script, open_house

SECOND = Actor(id="5", guild="9")


def needs(*rules: ApproverRule) -> Settings:
    people = frozenset({OWNER.id, SECOND.id, ASKER.id})
    return Settings(approver_users=people, approvers=rules)


async def test_of_two_that_are_needed_one_runs_nothing_and_both_run_it_once(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script, settings=needs(ApproverRule(quorum=2))) as house:
        await house.ask()
        await house.decide("approve", OWNER)
        assert house.bench.effects == []
        assert house.card[1].approvals[0].state == "pending"
        await house.decide("approve", SECOND)
        assert house.bench.effects == ["x"]


async def test_one_person_counts_once_however_often_they_press(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script, settings=needs(ApproverRule(quorum=2))) as house:
        await house.ask()
        await house.decide("approve", OWNER)
        with pytest.raises(DecisionRefused):
            await house.decide("approve", OWNER)
        assert house.bench.effects == []


async def test_any_denial_ends_it(tmp_path: Path) -> None:
    """S-A04."""
    script = Script([("act", {"what": "x"})], "Denied.")
    async with open_house(tmp_path, script, settings=needs(ApproverRule(quorum=2))) as house:
        await house.ask()
        await house.decide("approve", OWNER)
        await house.decide("deny", SECOND)
        assert house.bench.effects == []
        assert house.face.card_words["m1"][-1] == "denied"


async def test_whoever_asked_is_no_approver_where_four_eyes_are_wanted(tmp_path: Path) -> None:
    """S-A03."""
    script = Script([("act", {"what": "x"})], "Done.")
    async with open_house(tmp_path, script, settings=needs(ApproverRule(four_eyes=True))) as house:
        await house.ask()
        with pytest.raises(DecisionRefused):
            await house.decide("approve", ASKER)
        await house.decide("approve", OWNER)
        assert house.bench.effects == ["x"]


async def test_a_rule_is_about_its_own_tools_only(tmp_path: Path) -> None:
    script = Script([("shell", {"command": "ls"})], "Done.")
    async with open_house(tmp_path, script, settings=needs(ApproverRule(tools=("act",), quorum=2))) as house:
        await house.ask()
        await house.decide("approve", OWNER)
        assert house.bench.effects == ["ls"]
