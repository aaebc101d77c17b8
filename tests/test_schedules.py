"""Schedules: their jobs start once for each time, by nobody's hand, and never silently (issue 6, point 7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.errors import AlreadySettled, DecisionRefused, DeliveryError, NotAllowed, UnknownApproval
from bot.settings import Settings
from bot.surface import TurnContext
from storage import runs
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, STRANGER, Face, House, ManualClock, Script, open_house
from tests.test_cli import beside, listed

ACT = [("act", {"what": "x"})]
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


MORNING = at("2026-07-01T08:00")
"""A Wednesday."""


@asynccontextmanager
async def morning(folder: Path, *steps: Any, face: Face | None = None, **options: Any) -> AsyncIterator[House]:
    face = face or Face(members={("9", ASKER.id): frozenset({"7"})})
    script = Script(by_prompt={"count": [*steps]})
    async with open_house(folder, script, clock=ManualClock(MORNING), face=face, **options) as house:
        yield house


async def save(
    house: House, when: str = "daily at 9", *, missed: str = "once", zone: str | None = "UTC", place: str = PLACE
) -> str:
    """A schedule of the asker's; its id."""
    ctx = TurnContext(conversation=place, place=place, requester=ASKER.id, request="i1", prompt="count")
    draft = await house.app.engine.schedules.draft(ctx, when, zone=zone, missed=missed)
    await house.app.engine.schedules.save(draft.schedule.id, ASKER)
    await house.app.background.idle()
    return draft.schedule.id


async def whys(house: House) -> list[str]:
    return [row["why"] for row in await house.rows("SELECT why FROM occurrence ORDER BY at")]


async def events(house: House) -> list[str]:
    rows = await house.rows("SELECT event FROM audit WHERE event LIKE 'schedule%' ORDER BY n")
    return [row["event"] for row in rows]


async def test_nothing_happens_before_a_draft_is_saved(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="i1", prompt="count")
        draft = await house.app.engine.schedules.draft(ctx, "daily at 9", zone="UTC", missed="once")
        assert draft.times == tuple(at(f"2026-07-0{day}T09:00") for day in (1, 2, 3))
        await house.later(seconds=2 * DAY)
        assert await house.rows("SELECT id FROM run") == []
        assert await house.app.engine.schedules.listed("9") == []


async def test_a_job_starts_at_its_time_for_its_person_in_its_place(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.", "Two.") as house:
        id = await save(house)
        await house.later(seconds=HOUR - 1)
        assert await house.rows("SELECT id FROM run") == []
        await house.later(seconds=1)
        [run] = await runs.of_kind(house.app.database.reader, runs.RunKind.JOB, every=True)
        assert (run.requester, run.place, run.prompt, run.state) == (ASKER.id, PLACE, "count", "done")
        assert [view.schedule.id for view in house.face.jobs.values() if view.schedule] == [id]
        assert house.face.said[-1].text == f"Job `{run.id}` is done: One."
        await house.later(seconds=DAY)
        assert await whys(house) == ["due", "due"]
        assert await events(house) == ["schedule_saved"]


async def test_the_job_runs_with_the_roles_that_its_person_holds_then(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        await save(house)
        house.face.members["9", ASKER.id] = frozenset({"8"})
        await house.later(seconds=HOUR)
        assert await house.rows("SELECT roles FROM run") == [{"roles": "8"}]


async def test_its_calls_ask_on_a_card_that_names_the_schedule(tmp_path: Path) -> None:
    async with morning(tmp_path, ACT, "Done.") as house:
        id = await save(house)
        await house.later(seconds=HOUR)
        _, card = house.card
        assert card.schedule is not None
        assert (card.schedule.id, card.job) == (id, card.card.run)
        assert house.bench.effects == []
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_job_that_its_job_starts_names_the_schedule_too(tmp_path: Path) -> None:
    async with morning(tmp_path, [("start_job", {"goal": "more"})], "Going.") as house:
        house.script.by_prompt["more"] = [ACT]
        id = await save(house)
        await house.later(seconds=HOUR)
        assert house.card[1].schedule is not None
        assert house.card[1].schedule.id == id


async def test_the_one_timer_wakes_it_at_its_time(tmp_path: Path) -> None:
    class Running(ManualClock):
        """Goes on by itself once it is wound up: however long it takes to save, the time is still ahead."""

        began: float | None = None

        def now(self) -> int:
            ran = 0.0 if self.began is None else asyncio.get_running_loop().time() - self.began
            return self.at + int(ran * 1000)

    clock = Running(at("2026-07-01T08:59:59") + 600)
    face = Face(members={("9", ASKER.id): frozenset()})
    async with open_house(tmp_path, Script("One."), clock=clock, face=face) as house:
        await save(house)
        clock.began = asyncio.get_running_loop().time()
        async with asyncio.timeout(20):
            while not face.said:
                await asyncio.sleep(0.01)
        assert await whys(house) == ["due"]


@pytest.mark.parametrize(("missed", "told"), [("once", ["late"]), ("skip", ["missed"])])
async def test_times_that_were_missed_get_one_job_or_none_as_set(tmp_path: Path, missed: str, told: list[str]) -> None:
    async with morning(tmp_path, "One.") as house:
        await save(house, missed=missed)
        clock, face = house.clock, house.face
    clock.advance(seconds=3 * DAY)
    async with open_house(tmp_path, Script("One."), clock=clock, face=face, ids="later") as house:
        assert await whys(house) == told
        assert len(await house.rows("SELECT id FROM run")) == (missed == "once")
        assert await house.rows("SELECT next_at FROM schedule") == [{"next_at": at("2026-07-04T09:00")}]
        assert await events(house) == ["schedule_saved"] + ["schedule_skipped"] * (missed == "skip")


async def test_a_short_restart_skips_nothing(tmp_path: Path) -> None:
    async with morning(tmp_path) as house:
        await save(house, missed="skip")
        clock, face = house.clock, house.face
    clock.advance(seconds=HOUR + 4 * MINUTE)
    async with open_house(tmp_path, Script("One."), clock=clock, face=face, ids="later") as house:
        assert await whys(house) == ["due"]


async def test_two_houses_and_many_sweeps_start_one_job_for_one_time(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        await save(house)
        house.clock.advance(seconds=HOUR)
        await asyncio.gather(*(house.app.engine.schedules.occurrences.run_due() for _ in range(5)))
        await house.later(seconds=1)
        assert await whys(house) == ["due"]
        assert len(await house.rows("SELECT id FROM run")) == 1


async def test_a_claim_that_fails_is_made_good_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with morning(tmp_path, "One.", open_db=database.open) as house:
        await save(house)
        database.failing["claim occurrence"] = 1
        house.clock.advance(seconds=HOUR)
        with pytest.raises(Exception, match="disk is full"):
            await house.app.engine.sweep()
        assert await house.rows("SELECT id FROM run") == []
        await house.later(seconds=1)
        assert await whys(house) == ["due"]
        assert len(await house.rows("SELECT id FROM run")) == 1


async def test_a_time_is_skipped_while_the_job_before_it_waits_and_that_is_told(tmp_path: Path) -> None:
    async with morning(tmp_path, ACT, "Done.", "Again.") as house:
        await save(house, "every hour")
        await house.later(seconds=HOUR)
        await house.later(seconds=HOUR)
        assert await whys(house) == ["due", "busy"]
        assert len(house.face.cards) == 1
        [entry] = await house.app.engine.schedules.listed("9")
        assert entry.last is not None
        assert entry.last.why == "busy"
        await house.decide("approve")
        await house.later(seconds=HOUR)
        assert await whys(house) == ["due", "busy", "due"]


async def test_a_paused_one_starts_nothing_and_goes_on_with_its_next_time(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        id = await save(house)
        desk = house.app.engine.schedules
        await desk.pause(id, ASKER)
        with pytest.raises(AlreadySettled, match="paused already"):
            await desk.pause(id, ASKER)
        await house.later(seconds=2 * DAY)
        assert await whys(house) == []
        assert (await desk.resume(id, OWNER)).next_at == at("2026-07-03T09:00")
        await house.later(seconds=HOUR)
        assert await whys(house) == ["due"]
        assert await events(house) == ["schedule_saved", "schedule_paused", "schedule_resumed"]


async def test_a_removed_one_is_gone_for_good(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        id = await save(house)
        await house.app.engine.schedules.remove(id, ASKER)
        await house.later(seconds=2 * DAY)
        assert await whys(house) == []
        with pytest.raises(UnknownApproval):
            await house.app.engine.schedules.resume(id, ASKER)
        assert await house.app.engine.schedules.listed("9") == []


async def test_run_now_starts_one_beside_its_times_and_no_second_while_that_is_at_work(tmp_path: Path) -> None:
    async with morning(tmp_path, ACT, "Done.", "Two.") as house:
        id = await save(house)
        run = await house.app.engine.schedules.run_now(id, OWNER)
        await house.app.background.idle()
        assert run.requester == ASKER.id
        with pytest.raises(AlreadySettled, match=run.id):
            await house.app.engine.schedules.run_now(id, OWNER)
        await house.decide("approve")
        await house.later(seconds=HOUR)
        assert await whys(house) == ["by hand", "due"]
        actors = await house.rows("SELECT actor FROM audit WHERE event = 'job_started' ORDER BY n")
        assert [row["actor"] for row in actors] == [OWNER.id, "system"]


async def test_strangers_can_do_nothing_about_it(tmp_path: Path) -> None:
    async with morning(tmp_path) as house:
        id = await save(house)
        desk = house.app.engine.schedules
        for act in (desk.pause, desk.resume, desk.remove, desk.run_now):
            with pytest.raises(NotAllowed):
                await act(id, STRANGER)
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="i2", prompt="count")
        draft = await desk.draft(ctx, "daily at 10", zone=None, missed="once")
        with pytest.raises(NotAllowed):
            await desk.save(draft.schedule.id, OWNER)
        assert await events(house) == ["schedule_saved"]


@pytest.mark.parametrize("what", ["left", "hidden", "shut"])
async def test_it_pauses_itself_and_says_so_when_its_person_or_place_is_gone(tmp_path: Path, what: str) -> None:
    async with morning(tmp_path, "One.") as house:
        id = await save(house)
        reason = "They have left that server."
        if what == "left":
            house.face.members.clear()
        elif what == "hidden":
            house.face.hidden[ASKER.id] = reason = "They cannot see that channel any more."
        else:
            house.face.shut[PLACE] = reason = "That channel does not exist any more."
        await house.later(seconds=HOUR)
        assert await house.rows("SELECT state, note FROM schedule") == [{"state": "paused", "note": reason}]
        assert await house.rows("SELECT id FROM run") == []
        [said] = house.face.said
        assert said.text.startswith(
            f"Schedule `{id}` (`daily at 9`) has paused itself, so its job did not start. {reason}"
        )
        await house.later(seconds=DAY)
        assert len(house.face.said) == 1
        assert await events(house) == ["schedule_saved", "schedule_paused"]


async def test_when_nobody_can_tell_whether_they_are_there_it_waits_and_tries_again(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        await save(house, missed="skip")
        house.face.fail_roles = DeliveryError("Discord is slow.")
        await house.later(seconds=HOUR)
        assert await whys(house) == []
        house.face.fail_roles = None
        await house.later(seconds=30)
        assert await whys(house) == []
        await house.later(seconds=30)
        assert await whys(house) == ["due"]


async def test_in_direct_messages_nobody_holds_roles_and_it_works(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        await save(house, place="discord/@me/77")
        await house.later(seconds=HOUR)
        assert await house.rows("SELECT place, roles FROM run") == [{"place": "discord/@me/77", "roles": ""}]


async def test_the_time_zone_is_kept_for_the_next_time(tmp_path: Path) -> None:
    async with morning(tmp_path) as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="i1", prompt="count")
        desk = house.app.engine.schedules
        first = await desk.draft(ctx, "daily at 9", zone=None, missed="once")
        assert (first.schedule.zone, first.told_zone) == ("UTC", False)
        await desk.draft(ctx, "daily at 9", zone="europe/berlin", missed="once")
        third = await desk.draft(ctx, "daily at 9", zone=None, missed="once")
        assert (third.schedule.zone, third.told_zone) == ("Europe/Berlin", True)
        assert third.times[0] == at("2026-07-02T07:00")
        assert len(await house.rows("SELECT id FROM schedule")) == 1


async def test_there_are_limits_per_person_and_guild_and_a_shortest_interval(tmp_path: Path) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"schedules_per_person": 1, "schedules_per_guild": 2}
    )
    async with morning(tmp_path, settings=settings) as house:
        desk = house.app.engine.schedules

        async def draft(when: str, *, by: str = ASKER.id) -> str:
            ctx = TurnContext(conversation=PLACE, place=PLACE, requester=by, request="i1", prompt="count")
            return (await desk.draft(ctx, when, zone="UTC", missed="once")).schedule.id

        with pytest.raises(DecisionRefused, match="every 15 minutes at most"):
            await draft("every 10 minutes")
        await desk.save(await draft("every 15 minutes"), ASKER)
        with pytest.raises(DecisionRefused, match="You have 1 schedules"):
            await draft("daily at 9")
        await desk.save(await draft("daily at 9", by=OWNER.id), OWNER)
        with pytest.raises(DecisionRefused, match="There are 2 schedules here"):
            await draft("daily at 9", by=STRANGER.id)


async def test_a_time_zone_that_is_not_known_any_more_pauses_it(tmp_path: Path) -> None:
    async with morning(tmp_path) as house:
        id = await save(house)
        async with house.app.database.begin("lose zone") as tx:
            await tx.execute("UPDATE schedule SET zone = 'Atlantis/Capital' WHERE id = ?", id)
        await house.later(seconds=HOUR)
        [row] = await house.rows("SELECT state, note FROM schedule")
        assert row["state"] == "paused"
        assert "do not know that time zone" in row["note"]


async def test_the_command_line_lists_them_while_the_bot_runs(tmp_path: Path) -> None:
    async with morning(tmp_path, "One.") as house:
        id = await save(house, zone="Europe/Berlin")
        await house.later(seconds=23 * HOUR)
        [one] = await listed(house, tmp_path, "schedules", "list")
        assert (one["id"], one["state"], one["cron"], one["zone"]) == (id, "active", "0 9 * * *", "Europe/Berlin")
        assert len(one["next"]) == 3
        assert one["last"]["why"] == "due"
        done = await beside(house, tmp_path, "schedules", "list")
        assert "daily at 9 (Europe/Berlin)" in done.stdout
        await house.app.engine.schedules.remove(id, ASKER)
        assert await listed(house, tmp_path, "schedules", "list") == []
        assert [one["state"] for one in await listed(house, tmp_path, "schedules", "list", "--all")] == ["removed"]
