"""Which stored votes are believed: those that bear this bot's seal for exactly this action."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bot.deferral.seal import Seal
from storage.approvals import Approval
from storage.votes import Vote


def genuine(seal: Seal, approval: Approval, stored: Iterable[Vote]) -> list[Vote]:
    """The approvals among the stored votes that were really given for the call as it stands."""
    return [
        vote
        for vote in stored
        if vote.verdict == "approve" and seal.holds(vote.seal, seal_of(seal, approval.digest, vote))
    ]


def seal_of(seal: Seal, digest: str, vote: Vote) -> str:
    """The seal of a vote on the action of that digest."""
    return seal.vote(vote.approval, digest, vote.person, vote.verdict, vote.roles, vote.remember)


def carried(seal: Seal, before: Approval, after: Approval, stored: Iterable[Vote]) -> list[Vote]:
    """The genuine votes under the seal of the same action with another deadline."""
    return [replace(vote, seal=seal_of(seal, after.digest, vote)) for vote in genuine(seal, before, stored)]
