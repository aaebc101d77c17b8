"""`/fork`: a conversation goes on in a second place, with all that was said. What is open stays where it is."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent import history
from bot.clock import Clock
from bot.deferral import sentences
from bot.stretches import HISTORY
from bot.surface import Actor
from storage import approvals, audit, conversations, runs
from storage.approvals import Approval
from storage.database import Database
from storage.runs import RunState

_STAYS = (
    "This call belongs to the conversation that this one was forked from. What becomes of it is told there, not here:"
    " do not wait for it, and do not claim that it ran. {state}"
)


@dataclass(frozen=True, kw_only=True)
class Forked:
    """What a fork began with."""

    messages: int
    """How many messages it took along."""
    waiting: list[Approval]
    """Calls that stay with the original."""
    working: int
    """Requests that are worked on, or wait for their turn, in the original: what comes of them is not in the fork."""


class Forks:
    """Forks conversations, for one process."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def fork(self, conversation: str, to: str, *, place: str, actor: Actor) -> Forked:
        """Copy what the model would be shown of `conversation` into the new one `to`, in one commit.

        For everybody who can read `place`, where the original lies; the face has seen to that. Raises `ValueError` if
        something was said in `to` already.
        """
        now = self._clock.now()
        async with self._database.begin("fork") as tx:
            calls = await approvals.newest_in(tx, conversation, limit=HISTORY)
            told = {call.call_id: _told(call) for call in calls}
            bodies = history.forked(await conversations.load(tx, conversation, last=HISTORY), told)
            await conversations.ensure(tx, to, at=now)
            if await conversations.append(tx, to, run=f"fork/{conversation}", at_length=0, bodies=bodies) is None:
                raise ValueError(f"{to} is not empty")
            waiting = [call for call in calls if call.is_open]
            going = {RunState.QUEUED, RunState.RUNNING}
            working = sum(run.state in going for run in await runs.open_in(tx, conversation))
            await audit.record(
                tx,
                at=now,
                actor=actor.id,
                event="conversation_forked",
                conversation=conversation,
                detail={"place": place, "to": to, "messages": len(bodies), "waiting": [call.id for call in waiting]},
            )
        return Forked(messages=len(bodies), waiting=waiting, working=working)


def _told(call: Approval) -> str:
    """What the model is told in the fork of a call whose result is not among what was copied."""
    return _STAYS.format(state=sentences.model(call)) if call.is_open else sentences.outcome(call)
