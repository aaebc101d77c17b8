"""Votes that count: sealed by this bot, for this very action, with everything that was said in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.deferral.ballots import carried, genuine, seal_of
from bot.deferral.seal import Seal
from storage.votes import Verdict, Vote
from tests.storage.rows import AT, a_call

SEAL = Seal(b"k" * 32)
CALL = a_call(digest="d1")


def a_vote(verdict: Verdict = "approve", *, digest: str = "d1", person: str = "1", remember: str = "") -> Vote:
    bare = Vote(
        approval="call1", person=person, verdict=verdict, roles=frozenset({"80"}), at=AT, seal="", remember=remember
    )
    return replace(bare, seal=seal_of(SEAL, digest, bare))


def test_an_approval_that_bears_the_seal_counts_and_a_denial_is_no_approval() -> None:
    yes, no = a_vote(), a_vote("deny", person="5")
    assert genuine(SEAL, CALL, [yes, no]) == [yes]


@pytest.mark.parametrize(
    "forged",
    [
        a_vote(digest="d2"),
        replace(a_vote(), approval="call2"),
        replace(a_vote(), person="5"),
        replace(a_vote("deny"), verdict="approve"),
        replace(a_vote(), roles=frozenset({"80", "81"})),
        replace(a_vote(), remember="open"),
        replace(a_vote(remember="30m"), remember="open"),
        replace(a_vote(), seal=""),
    ],
)
def test_a_vote_of_which_anything_was_changed_does_not_count(forged: Vote) -> None:
    assert genuine(SEAL, CALL, [forged]) == []


def test_genuine_votes_are_carried_over_to_the_same_action_with_another_deadline_and_forged_ones_are_not() -> None:
    after = a_call(digest="d2", expires_at=AT + 1)
    moved = carried(SEAL, CALL, after, [a_vote(remember="5x"), a_vote(digest="d3", person="5"), a_vote("deny")])
    assert [(vote.person, vote.remember) for vote in moved] == [("1", "5x")]
    assert genuine(SEAL, after, moved) == moved
    assert genuine(SEAL, CALL, moved) == []
