"""What happens to the house: for each scenario, what the model says and what people do.

People go on where they were: in a later life they ask only what was not taken down, and press only what still waits.
So the same scenario tells a whole story, however often it is cut short.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from bot.cli import listings
from bot.deferral.grants import Remember
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError, Unreachable
from bot.surface import CardPress, Press, TurnClock, TurnContext
from bot.where import Places
from storage import cards, grants
from storage.approvals import Approval
from tests.crash.stage import Stage
from tests.house import ASKER, OWNER, PLACE, STRANGER

Calls = Sequence[tuple[str, dict[str, Any]]]
Step = str | Calls | Exception
"""What the model does: say something, call tools, or fail."""

HOUR = 3_600


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One story."""

    says: Mapping[str, Sequence[Step]]
    """By prompt: what the model does, one step after the other."""
    people: Callable[[Stage], Awaitable[None]]
    ends: Mapping[str, str]
    """By the call's first argument: the state it ends in, if no death came between its claim and its outcome."""
    faults: Callable[[], dict[str, list[DeliveryError]]] = dict
    """What the face cannot do: an `Unreachable` never, any other error not at first in a life."""
    places: Places | None = None
    """Where the cards go; None: where it was asked."""
    streaming: bool = False
    run_ends: Mapping[str, str] = field(default_factory=dict)
    """By prompt: the state its run ends in, where that is not `done`."""


def act(*whats: str) -> Calls:
    return [("act", {"what": what}) for what in whats]


def look(*whats: str) -> Calls:
    return [("look", {"what": what}) for what in whats]


async def everything_is_approved(stage: Stage) -> None:
    await stage.ask("go", notify="both")
    await _approve_all(stage)


async def it_is_denied(stage: Stage) -> None:
    await stage.ask("go", notify="both")
    for call in await stage.waiting():
        await stage.press(call, "deny", reason="not today")


async def nobody_answers(stage: Stage) -> None:
    await stage.ask("go")
    deadline = await stage.deadline()
    await stage.reach(deadline - 60_000)  # time for the reminder, and long after the hold
    await stage.reach(deadline)


async def one_is_denied_and_one_approved(stage: Stage) -> None:
    await stage.ask("go")
    for call in reversed(await stage.waiting()):
        await stage.press(call, "approve" if call.arguments["what"] == "b" else "deny")


async def all_are_approved_at_once(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        await stage.press(call, "approve", wait=False)
    await stage.idle()


async def the_question_is_answered(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        await stage.answer(call, "blue")


async def the_job_is_cancelled(stage: Stage) -> None:
    await stage.ask("go")
    for job in await stage.app.engine.jobs():
        try:
            await stage.app.engine.cancel_job(job.id, ASKER)
        except AlreadySettled:
            continue
        await stage.idle()
    for call in await stage.every_call():
        await stage.is_refused(_press(call, OWNER))


async def it_is_changed_and_put_off(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        if call.arguments["what"] == "x":
            await stage.app.engine.edits.edit(_on_card(call, OWNER), "y")
            await stage.idle()
    for call in await stage.waiting():
        if call.expires_at < stage.clock.now() + 30 * HOUR * 1_000:
            card = CardPress(actor=OWNER, card=call.card, place=call.place, message=f"card-{call.card}")
            await stage.app.engine.edits.extend(card)
            await stage.idle()
    await everything_is_approved(stage)


async def the_card_is_deleted(stage: Stage) -> None:
    await stage.ask("go")
    for copy in await _copies(stage):
        if copy.posts == 0 and copy.message is not None:
            await stage.app.engine.showing.lost(copy.place, copy.message)
            await stage.idle()
    await everything_is_approved(stage)


async def the_card_is_deleted_again_and_again(stage: Stage) -> None:
    await stage.ask("go")
    for _ in range(2):
        for copy in await _copies(stage):
            if copy.message is not None:
                await stage.app.engine.showing.lost(copy.place, copy.message)
                await stage.idle()
    await stage.app.engine.sweep()
    await stage.idle()


async def the_channel_is_deleted(stage: Stage) -> None:
    await stage.ask("go")
    await stage.app.engine.showing.place_gone(PLACE)
    await stage.idle()
    await everything_is_approved(stage)


async def the_thread_is_locked(stage: Stage) -> None:
    await stage.ask("go")
    await stage.app.engine.showing.place_locked(PLACE)
    await stage.idle()
    await everything_is_approved(stage)


async def _copies(stage: Stage) -> list[cards.Card]:
    """Every copy of what waits."""
    reader = stage.app.database.reader
    return [copy for call in await stage.waiting() for copy in await cards.copies(reader, call.card)]


async def strangers_press_first(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        await stage.is_refused(_press(call, STRANGER))
    await everything_is_approved(stage)


async def the_application_changes(stage: Stage) -> None:
    await stage.app.engine.belong_to("100")
    await stage.ask("go")
    await stage.app.engine.belong_to("200")
    await stage.app.engine.sweep()
    await stage.idle()


async def it_is_cancelled_before_anybody_sees_it(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        with patch.object(listings, "open_database", stage.open_database):
            await listings.cancel_approval(stage.settings, Namespace(id=call.id), stage.clock)
    await stage.reach(stage.clock.now() + 600_000)


async def it_is_talked_about_meanwhile(stage: Stage) -> None:
    await stage.ask("go")
    await stage.ask("how is it going?", request="r2")
    for call in await stage.waiting():
        await stage.press(call, "approve")


async def the_result_is_delivered(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        await stage.deliver(call, "42")
    for call in await stage.every_call():
        await stage.is_refused(_delivery(call))


async def a_new_conversation_begins(stage: Stage) -> None:
    await stage.ask("go")
    await stage.app.engine.anew.begin(PLACE, place=PLACE, actor=ASKER)
    await stage.idle()
    for call in await stage.every_call():
        await stage.is_refused(_press(call, OWNER))


async def it_is_remembered(stage: Stage) -> None:
    await stage.ask("go")
    for call in await stage.waiting():
        await stage.press(call, "approve", remember=Remember.UNTIL_REVOKED)
    await stage.ask("once more", request="r2")
    for grant in await grants.live(stage.app.database.reader, space=OWNER.guild or "", now=stage.clock.now()):
        await stage.app.engine.granting.revoke(grant.id, OWNER)


async def it_is_undone(stage: Stage) -> None:
    await everything_is_approved(stage)
    for call in await stage.every_call():
        press = _on_card(call, OWNER)
        try:
            await stage.app.upkeep.undoing.undo(press)
        except DecisionRefused:
            continue  # it never wrote, or an earlier life was at it
        await stage.idle()
    for call in await stage.every_call():
        await stage.is_refused(lambda stage, call=call: _undo(stage, call))


async def _undo(stage: Stage, call: Approval) -> None:
    await stage.app.upkeep.undoing.undo(_on_card(call, OWNER))


async def the_turn_is_stopped(stage: Stage) -> None:
    await stage.ask("go")
    reader = stage.app.database.reader
    for run in await reader.all("SELECT id, place, reply FROM run WHERE ended_at IS NULL"):
        press = CardPress(actor=ASKER, card=run["id"], place=run["place"], message=run["reply"] or "reply-r1")
        await stage.app.engine.stopping.stop(press)
        await stage.idle()
    for call in await stage.every_call():
        await stage.is_refused(_press(call, OWNER))


async def the_asker_cannot_wait(stage: Stage) -> None:
    await stage.ask("go", clock=TurnClock(refires=True))
    for call in await stage.waiting():
        await stage.press(call, "approve")


async def the_script_changes(stage: Stage) -> None:
    await stage.ask("go")
    (stage.settings.workspace / "script").write_text("changed")
    for call in await stage.waiting():
        if call.replaces is None:
            await _press(call, OWNER)(stage)  # it counts, and then becomes void
            await stage.idle()
    for call in await stage.waiting():
        await stage.press(call, "approve")


async def a_schedule_comes_due(stage: Stage) -> None:
    one = await _schedule(stage)
    if await stage.app.database.reader.one("SELECT 1 FROM occurrence") is None:
        await stage.reach(one["next_at"])
    await _approve_all(stage)
    if one["state"] == "active":
        await stage.app.engine.schedules.pause(one["id"], ASKER)


async def a_schedule_is_run_by_hand(stage: Stage) -> None:
    one = await _schedule(stage)
    if await stage.app.database.reader.one("SELECT 1 FROM occurrence") is None:
        await stage.app.engine.schedules.run_now(one["id"], ASKER)
        await stage.idle()
    await _approve_all(stage)


async def its_place_is_gone(stage: Stage) -> None:
    one = await _schedule(stage)
    if one["state"] == "active":
        await stage.reach(one["next_at"])


async def _schedule(stage: Stage) -> Mapping[str, Any]:
    """The schedule, made and saved unless that was taken down before. Its next time is long after the story's end."""
    desk, find = stage.app.engine.schedules, "SELECT * FROM schedule WHERE state <> 'draft'"
    if await stage.app.database.reader.one(find) is None:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="go")
        for keep in (False, True):
            draft = await desk.draft(ctx, "monthly on the 1st at 9", zone="UTC", missed="once")
            await (desk.save(draft.schedule.id, ASKER) if keep else desk.discard(draft.schedule.id, ASKER))
        await stage.idle()
    [one] = await stage.app.database.reader.all(find)
    return one


async def _approve_all(stage: Stage) -> None:
    while waiting := await stage.waiting():
        for call in waiting:
            await stage.press(call, "approve")


async def just_talk(stage: Stage) -> None:
    await stage.ask("go", notify="dm")
    await stage.app.remember("commands", "hash")


def _press(call: Approval, actor: Any) -> Callable[[Stage], Awaitable[None]]:
    async def press(stage: Stage) -> None:
        await stage.app.engine.decide(_on_card(call, actor), "approve")

    return press


def _delivery(call: Approval) -> Callable[[Stage], Awaitable[None]]:
    async def deliver(stage: Stage) -> None:
        await stage.app.engine.resolve(call.id, "again")

    return deliver


def _on_card(call: Approval, actor: Any) -> Press:
    return Press(actor=actor, approval=call.id, place=call.place, message=f"card-{call.card}")


CLOSED = Unreachable("Your direct messages are closed to me.")
EVERYWHERE = Places(channel="91", people=(OWNER.id,))

JOB: dict[str, Sequence[Step]] = {
    "go": [[("start_job", {"goal": "count"})], "I am on it."],
    "count": [act("x"), "It is counted."],
}

SCENARIOS: dict[str, Scenario] = {
    "approve": Scenario(says={"go": [act("x"), "The end."]}, people=everything_is_approved, ends={"x": "succeeded"}),
    "deny": Scenario(says={"go": [act("x"), "As you wish."]}, people=it_is_denied, ends={"x": "denied"}),
    "expire": Scenario(says={"go": [act("x"), "Nobody answered."]}, people=nobody_answers, ends={"x": "expired"}),
    "batch": Scenario(
        says={"go": [act("a", "b"), "Half of it."]},
        people=one_is_denied_and_one_approved,
        ends={"a": "denied", "b": "succeeded"},
    ),
    "two cards": Scenario(
        says={"go": [act("a", "b", "c", "d", "e", "f"), "All six."]},
        people=everything_is_approved,
        ends=dict.fromkeys("abcdef", "succeeded"),
    ),
    "two pauses": Scenario(
        says={"go": [act("a"), act("b"), "Both."]},
        people=everything_is_approved,
        ends={"a": "succeeded", "b": "succeeded"},
    ),
    "steps": Scenario(
        says={"go": [look("a"), look("b", "c"), [*look("d"), *act("x")], look("e"), "The end."]},
        people=everything_is_approved,
        ends={"x": "succeeded"},
    ),
    "question": Scenario(
        says={"go": [[("ask_user", {"question": "Which colour?", "choices": ["red", "blue"]})], "Blue it is."]},
        people=the_question_is_answered,
        ends={"Which colour?": "succeeded"},
    ),
    "job": Scenario(says=JOB, people=everything_is_approved, ends={"x": "succeeded"}),
    "background": Scenario(
        says={"go": [look("a"), [("leave", {"what": "now"})], look("b"), act("x"), "The end."]},
        people=everything_is_approved,
        ends={"x": "succeeded"},
    ),
    "job cancelled": Scenario(
        says=JOB, people=the_job_is_cancelled, ends={"x": "cancelled"}, run_ends={"count": "cancelled"}
    ),
    "changed": Scenario(
        says={"go": [act("x"), "It was changed."]},
        people=it_is_changed_and_put_off,
        ends={"x": "cancelled", "y": "succeeded"},
    ),
    "tool fails": Scenario(
        says={"go": [act("fails"), act("cannot start"), "Neither."]},
        people=everything_is_approved,
        ends={"fails": "failed", "cannot start": "nothing_ran"},
    ),
    "strangers": Scenario(says={"go": [act("x"), "The end."]}, people=strangers_press_first, ends={"x": "succeeded"}),
    "another application": Scenario(
        says={"go": [act("x"), "It was void."]}, people=the_application_changes, ends={"x": "void"}
    ),
    "undeliverable": Scenario(
        says={"go": [act("x"), "Nobody could be asked."]},
        people=everything_is_approved,
        ends={"x": "undeliverable"},
        faults=lambda: {"card": [Unreachable("I may not post there.")], "card dm": [CLOSED]},
    ),
    "cancelled unseen": Scenario(
        says={"go": [act("x"), "It was cancelled."]},
        people=it_is_cancelled_before_anybody_sees_it,
        ends={"x": "cancelled"},
        faults=lambda: {"card": [DeliveryError("Discord is slow.")]},
    ),
    "copies": Scenario(
        says={"go": [act("x"), "The end."]}, people=everything_is_approved, ends={"x": "succeeded"}, places=EVERYWHERE
    ),
    "copies expire": Scenario(
        says={"go": [act("x"), "Nobody answered."]}, people=nobody_answers, ends={"x": "expired"}, places=EVERYWHERE
    ),
    "a copy fails": Scenario(
        says={"go": [act("x"), "The end."]},
        people=everything_is_approved,
        ends={"x": "succeeded"},
        places=EVERYWHERE,
        faults=lambda: {"card dm": [CLOSED]},
    ),
    "direct instead": Scenario(
        says={"go": [act("x"), "Nobody answered."]},
        people=nobody_answers,
        ends={"x": "expired"},
        faults=lambda: {"card": [Unreachable("I may not post there.")]},
    ),
    "card deleted": Scenario(says={"go": [act("x"), "The end."]}, people=the_card_is_deleted, ends={"x": "succeeded"}),
    "card deleted again": Scenario(
        says={"go": [act("x"), "Nobody could be asked."]},
        people=the_card_is_deleted_again_and_again,
        ends={"x": "undeliverable"},
        faults=lambda: {"card dm": [CLOSED]},
    ),
    "channel deleted": Scenario(
        says={"go": [act("x"), "The end."]}, people=the_channel_is_deleted, ends={"x": "succeeded"}
    ),
    "thread locked": Scenario(
        says={"go": [act("x"), "The end."]}, people=the_thread_is_locked, ends={"x": "succeeded"}
    ),
    "closed messages": Scenario(
        says={"go": [act("x"), "The end."]},
        people=everything_is_approved,
        ends={"x": "succeeded"},
        faults=lambda: {"dm": [CLOSED]},
    ),
    "talk": Scenario(
        says={"go": [act("x"), "(never said)"], "how is it going?": ["It still waits."]},
        people=it_is_talked_about_meanwhile,
        ends={"x": "succeeded"},
    ),
    "result from elsewhere": Scenario(
        says={"go": [[("build", {"what": "app"})], "It is built."]},
        people=the_result_is_delivered,
        ends={"app": "succeeded"},
    ),
    "new conversation": Scenario(
        says={"go": [act("x"), "(never said)"]},
        people=a_new_conversation_begins,
        ends={"x": "cancelled"},
        run_ends={"go": "cancelled"},
    ),
    "turn stopped": Scenario(
        says={"go": [act("x"), "(never said)"]},
        people=the_turn_is_stopped,
        ends={"x": "cancelled"},
        run_ends={"go": "cancelled"},
    ),
    "remembered": Scenario(
        says={"go": [act("x"), "The end."], "once more": [act("x"), "Again."]},
        people=it_is_remembered,
        ends={"x": "succeeded", "x by a grant": "succeeded"},
    ),
    "undone": Scenario(
        says={"go": [[("write", {"what": "x"})], "The end."]}, people=it_is_undone, ends={"x": "succeeded"}
    ),
    "cannot wait": Scenario(says={"go": [act("x"), "The end."]}, people=the_asker_cannot_wait, ends={"x": "succeeded"}),
    "changed script": Scenario(
        says={"go": [[("script", {"what": "x"})], "The end."]},
        people=the_script_changes,
        ends={"x": "void", "x again": "succeeded"},
    ),
    "schedule": Scenario(says={"go": [act("x"), "Tidied."]}, people=a_schedule_comes_due, ends={"x": "succeeded"}),
    "schedule by hand": Scenario(
        says={"go": [act("x"), "Tidied."]}, people=a_schedule_is_run_by_hand, ends={"x": "succeeded"}
    ),
    "schedule without a place": Scenario(
        says={}, people=its_place_is_gone, ends={}, faults=lambda: {"place": [Unreachable("That channel is gone.")]}
    ),
    "just talk": Scenario(says={"go": ["Good morning to you."]}, people=just_talk, ends={}, streaming=True),
    "model fails": Scenario(
        says={"go": [RuntimeError("the wire broke")]}, people=just_talk, ends={}, run_ends={"go": "failed"}
    ),
}
