"""How a job's ending reaches its person: the words, the ladder, the inbox (issue 6, points 3 and 4; A25, A26, A31)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.errors import DeliveryError, ModelError, Unreachable
from bot.jobs.endings import MOST_RETURNS
from bot.surface import Announcement, TurnContext
from storage import outbox, runs
from storage.runs import Run
from tests.house import ASKER, OWNER, PLACE, Face, House, ManualClock, Script, open_house

CHANNEL = "discord/9/80"
ACT = [("act", {"what": "x"})]


@dataclass
class Ways(Face):
    """A face on which some ways are closed."""

    closed: dict[str, Exception] = field(default_factory=dict)
    attempts: list[Announcement] = field(default_factory=list)

    async def announce(self, announcement: Announcement) -> str:
        self.attempts.append(announcement)
        if announcement.place in self.closed:
            raise self.closed[announcement.place]
        return await super().announce(announcement)

    @property
    def everything(self) -> list[Announcement]:
        """All that anybody was told."""
        return [*self.said, *(announcement for _person, announcement in self.told)]


def in_a_thread() -> Ways:
    return Ways(threads={PLACE: CHANNEL})


def gone(why: str = "That channel does not exist any more.") -> Unreachable:
    return Unreachable(why)


async def job(house: House, *, notify: str = "channel", place: str = PLACE) -> Run:
    ctx = TurnContext(conversation=place, place=place, requester=ASKER.id, request="r1", prompt="count", notify=notify)
    started = await house.app.engine.start_job(ctx)
    await house.app.background.idle()
    return started


async def ending(house: House, run: Run) -> outbox.Owed:
    [owed] = [one for one in await outbox.of_run(house.app.database.reader, run.id) if one.key == f"answer:{run.id}"]
    return owed


# -- words ------------------------------------------------------------------------------------


async def test_a_job_that_is_done_says_so_in_one_new_message_with_one_ping(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Seven.")) as house:
        run = await job(house)
        [said] = house.face.said
        assert (said.text, said.ping, said.place) == (f"Job `{run.id}` is done: Seven.", (ASKER.id,), PLACE)


async def test_an_empty_summary_is_named_as_such_and_never_called_done(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("  \n")) as house:
        run = await job(house)
        [said] = house.face.said
        assert said.text.startswith(f"Job `{run.id}` has nothing to report.")
        assert "done" not in said.text.casefold()
        stored = await runs.get(house.app.database.reader, run.id)
        assert stored is not None
        assert (stored.state, stored.result) == ("done", "")


async def test_a_job_that_failed_says_why(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ModelError("The model is out."))) as house:
        run = await job(house)
        [said] = house.face.said
        assert said.text.startswith(f"Job `{run.id}` failed: ")


async def test_a_job_that_loses_its_process_twice_is_lost_and_said_to_be(tmp_path: Path) -> None:
    clock, face = ManualClock(), Face()
    async with open_house(tmp_path, Script(ACT), clock=clock, face=face) as house:
        run = await job(house)
        for _ in range(2):
            async with house.app.database.begin("die") as tx:
                await tx.execute("UPDATE run SET state = 'running', owner = 'dead' WHERE id = ?", run.id)
                lost = await runs.requeue_orphans(tx, owner="boot")
        async with house.app.database.begin("die") as tx:
            await tx.execute("UPDATE run SET state = 'running', owner = 'dead', losses = 1 WHERE id = ?", run.id)
        assert lost[0].losses == 2
    async with open_house(tmp_path, Script(), clock=clock, face=face, ids="again"):
        assert [said.text for said in face.said][-1].startswith(f"Job `{run.id}` was lost: ")


async def test_a_late_teardown_does_not_overwrite_an_ending(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        run = await job(house)
        await house.app.engine.cancel_job(run.id, ASKER)
        await house.app.background.idle()
        async with house.app.database.begin("late") as tx:
            ended = await runs.end(tx, run.id, runs.RunState.DONE, owner=None, at=0, result="late")
        assert ended is False
        assert [said.text.split(":")[0] for said in house.face.said] == [f"Job `{run.id}` was stopped"]


# -- the ladder -------------------------------------------------------------------------------


async def test_a_thread_that_is_gone_sends_the_ending_to_its_channel_and_says_why(tmp_path: Path) -> None:
    face = in_a_thread()
    face.closed[PLACE] = gone("That thread is archived.")
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        run = await job(house)
        await house.later(seconds=1)
        [said] = face.everything
        assert (said.place, said.key) == (CHANNEL, f"answer:{run.id}")
        assert said.remarks == ("I could not say this where it was asked: That thread is archived.",)
        owed = await ending(house, run)
        assert (owed.state, [failure["error"] for failure in owed.failures]) == (
            "delivered",
            ["That thread is archived."],
        )


async def test_when_no_channel_takes_it_the_person_is_told_directly(tmp_path: Path) -> None:
    face = in_a_thread()
    face.closed = {PLACE: gone(), CHANNEL: gone("I cannot see that channel.")}
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        await job(house)
        await house.later(seconds=1)
        await house.later(seconds=1)
        assert face.said == []
        [(person, told)] = face.told
        assert person == ASKER.id
        assert len(told.remarks) == 2


async def test_what_nobody_takes_lies_in_the_inbox_with_each_failure(tmp_path: Path) -> None:
    face = in_a_thread()
    face.closed = {PLACE: gone(), CHANNEL: gone("I cannot see that channel.")}
    face.fail_tell = gone("Your direct messages are closed to me.")
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        run = await job(house)
        for _ in range(3):
            await house.later(seconds=1)
        assert face.everything == []
        owed = await ending(house, run)
        assert (owed.state, owed.receipt) == ("inbox", None)
        assert [(failure["way"], failure["error"]) for failure in owed.failures] == [
            ({"place": PLACE}, "That channel does not exist any more."),
            ({"place": CHANNEL}, "I cannot see that channel."),
            ({"person": ASKER.id}, "Your direct messages are closed to me."),
        ]
        assert [one.id for one in await house.app.engine.inbox.of(ASKER.id)] == [owed.id]
        assert await house.app.engine.inbox.of(OWNER.id) == []
        trail = await house.rows("SELECT event FROM audit WHERE event IN ('way_failed', 'left_in_inbox') ORDER BY n")
        assert [row["event"] for row in trail] == ["way_failed", "way_failed", "left_in_inbox"]


async def test_the_person_comes_first_when_they_wished_so(tmp_path: Path) -> None:
    face = in_a_thread()
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        await job(house, notify="dm")
        assert face.said == []
        assert [person for person, _ in face.told] == [ASKER.id]


async def test_closed_direct_messages_send_it_back_to_where_it_was_asked(tmp_path: Path) -> None:
    face = in_a_thread()
    face.fail_tell = gone("Your direct messages are closed to me.")
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        await job(house, notify="dm")
        await house.later(seconds=1)
        [said] = face.said
        assert said.place == PLACE
        assert said.remarks == ("I could not tell you directly: Your direct messages are closed to me.",)


async def test_nobody_is_told_directly_what_they_may_not_see_any_more(tmp_path: Path) -> None:
    face = Ways(closed={PLACE: gone()}, hidden={ASKER.id: "They have left that server."})
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        run = await job(house)
        await house.later(seconds=1)
        assert face.everything == []
        owed = await ending(house, run)
        assert (owed.state, owed.failures[-1]["error"]) == ("inbox", "They have left that server.")


@pytest.mark.parametrize("kind", ["job", "turn"])
async def test_the_copy_for_the_person_is_not_sent_either_when_they_may_not_see_the_place(
    tmp_path: Path, kind: str
) -> None:
    face = Ways(hidden={ASKER.id: "They have left that server."})
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        if kind == "job":
            await job(house, notify="both")
        else:
            await house.ask(notify="both")
        await house.later(seconds=1)
        assert face.told == []
        [row] = await house.rows("SELECT state, error FROM outbox WHERE key LIKE 'dm:%' AND key NOT LIKE '%:instead'")
        assert row == {"state": "undeliverable", "error": "They have left that server."}


async def test_a_job_of_direct_messages_has_no_other_way(tmp_path: Path) -> None:
    face = Ways()
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        run = await job(house, place="discord/@me/55", notify="dm")
        assert (await ending(house, run)).body["ladder"] == [{"place": "discord/@me/55"}]
        assert len(face.everything) == 1


async def test_what_only_fails_for_now_is_tried_again_in_the_same_place_under_the_same_key(tmp_path: Path) -> None:
    """A31: the create may have succeeded; a second one bears the same nonce and says that it may be a repeat."""
    face = in_a_thread()
    face.closed = {PLACE: DeliveryError("The connection to Discord was interrupted.")}
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        run = await job(house)
        face.closed = {}
        await house.later(seconds=3)
        first, second = face.attempts
        assert first.key == second.key == f"answer:{run.id}"
        assert (first.repeated, second.repeated) == (False, True)
        assert (second.place, (await ending(house, run)).state) == (PLACE, "delivered")


async def test_a_way_that_may_have_got_through_makes_the_next_one_a_possible_repeat(tmp_path: Path) -> None:
    face = in_a_thread()
    face.closed = {PLACE: DeliveryError("The connection to Discord was interrupted.")}
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        await job(house)
        for _ in range(14):
            await house.later(seconds=400)
        [said] = face.said
        assert (said.place, said.repeated) == (CHANNEL, True)


async def test_an_ending_in_the_inbox_is_tried_anew_at_starts_and_not_for_ever(tmp_path: Path) -> None:
    face, clock = Ways(closed={PLACE: gone()}), ManualClock()
    face.fail_tell = gone("Your direct messages are closed to me.")
    async with open_house(tmp_path, Script("Seven."), face=face, clock=clock) as house:
        await job(house)
        await house.later(seconds=1)
    for boot in range(MOST_RETURNS + 2):
        async with open_house(tmp_path, Script(), face=face, clock=clock, ids=f"boot{boot}-") as house:
            await house.later(seconds=1)
    assert len(face.attempts) == 1 + MOST_RETURNS
    face.closed, face.fail_tell = {}, None
    async with open_house(tmp_path, Script(), face=face, clock=clock, ids="last") as house:
        assert face.said == []
        [owed] = await house.app.engine.inbox.of(ASKER.id)
        await house.app.engine.inbox.handed_over(owed, receipt="77")
        assert await house.rows("SELECT state, receipt FROM outbox") == [{"state": "delivered", "receipt": "77"}]


async def test_a_start_that_finds_the_way_open_delivers_what_lay_in_the_inbox(tmp_path: Path) -> None:
    face, clock = Ways(closed={PLACE: gone()}), ManualClock()
    face.fail_tell = gone("Your direct messages are closed to me.")
    async with open_house(tmp_path, Script("Seven."), face=face, clock=clock) as house:
        run = await job(house)
        await house.later(seconds=1)
        assert (await ending(house, run)).state == "inbox"
    face.closed = {}
    async with open_house(tmp_path, Script(), face=face, clock=clock, ids="again") as house:
        assert [said.key for said in face.said] == [f"answer:{run.id}"]
        assert await house.app.engine.inbox.of(ASKER.id) == []


async def test_a_job_and_the_job_it_starts_each_announce_their_own_ending_once(tmp_path: Path) -> None:
    """A26: one announcement per ending, though both know the channel."""
    steps = {"count": [[("start_job", {"goal": "more"})], "Begun."], "more": ["Counted."]}
    async with open_house(tmp_path, Script(by_prompt=steps)) as house:  # type: ignore[arg-type]
        await job(house)
        await house.later(seconds=1)
        assert len({said.key for said in house.face.said}) == len(house.face.said) == 2


@pytest.mark.parametrize(("set_to", "place", "holds"), [("dm", PLACE, "dm"), ("dm", "discord/@me/5", "channel")])
async def test_a_preference_holds_where_others_are(tmp_path: Path, set_to: str, place: str, holds: str) -> None:
    async with open_house(tmp_path, Script()) as house:
        desk = house.app.engine.desk
        assert await desk.notify_of(ASKER.id, place) == "channel"
        await house.app.engine.wishes.change(ASKER.id, where="both")
        await house.app.engine.wishes.change(ASKER.id, where=set_to)
        assert await desk.notify_of(ASKER.id, place) == holds
        assert await desk.notify_of(OWNER.id, place) == "channel"


# -- possible repeats -------------------------------------------------------------------------


@pytest.mark.parametrize("later", [gone(), DeliveryError("The connection to Discord was interrupted.")])
async def test_an_ending_that_may_have_got_through_is_called_a_possible_repeat_whichever_way_it_comes(
    tmp_path: Path, later: DeliveryError
) -> None:
    """Killed behind a message that is there; then its thread is closed, its channel refuses, and the person is told."""
    face, clock = in_a_thread(), ManualClock()
    async with open_house(tmp_path, Script("Seven."), face=face, clock=clock) as house:
        run = await job(house)
        async with house.app.database.begin("die") as tx:
            await tx.execute("UPDATE outbox SET state = 'attempting', receipt = NULL, due_at = 0")
    face.said.clear()
    face.closed = {PLACE: gone("That thread is archived."), CHANNEL: later}
    async with open_house(tmp_path, Script(), face=face, clock=clock, ids="again") as house:
        for _ in range(20):
            await house.later(seconds=400)
        [(person, told)] = face.told
        assert (person, told.key, told.repeated) == (ASKER.id, f"answer:{run.id}", True)


async def test_what_lay_in_the_inbox_and_may_have_got_through_says_so_when_it_is_tried_anew(tmp_path: Path) -> None:
    face, clock = Ways(closed={PLACE: DeliveryError("The connection to Discord was interrupted.")}), ManualClock()
    face.fail_tell = gone("Your direct messages are closed to me.")
    async with open_house(tmp_path, Script("Seven."), face=face, clock=clock) as house:
        await job(house)
        for _ in range(20):
            await house.later(seconds=400)
        [owed] = await house.app.engine.inbox.of(ASKER.id)
        assert outbox.is_possible_repeat(owed)
    face.closed = {}
    async with open_house(tmp_path, Script(), face=face, clock=clock, ids="again"):
        assert [said.repeated for said in face.said] == [True]


async def test_a_refusal_alone_makes_no_possible_repeat(tmp_path: Path) -> None:
    face = in_a_thread()
    face.closed[PLACE] = gone("That thread is archived.")
    async with open_house(tmp_path, Script("Seven."), face=face) as house:
        await job(house)
        await house.later(seconds=1)
        assert [said.repeated for said in face.everything] == [False]


@pytest.mark.parametrize("notify", ["dm", "both"])
async def test_an_answer_to_a_direct_message_is_not_sent_a_second_time_as_one(tmp_path: Path, notify: str) -> None:
    async with open_house(tmp_path, Script("Hello.")) as house:
        page = await house.ask("hi", notify=notify, place=f"discord/@me/{ASKER.id}")
        assert (page.finished, house.face.told) == ("Hello.", [])


@pytest.mark.parametrize("first", ["-# small print", "# heading", "- point", "> quote", "```\ncode\n```"])
async def test_an_outcome_that_begins_like_a_block_begins_on_a_line_of_its_own(tmp_path: Path, first: str) -> None:
    async with open_house(tmp_path, Script(f"{first}\nSeven.")) as house:
        run = await job(house)
        assert house.face.said[0].text == f"Job `{run.id}` is done: \n{first}\nSeven."
