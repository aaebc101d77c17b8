"""`signoff job start` and `jobs cancel` as processes of their own, beside a bot on the same rows (issue 6, point 8)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.clock import SystemClock
from tests.house import ASKER, PLACE, ManualClock, Script, open_house
from tests.test_cli import beside, signoff
from tests.test_jobs import ACT, LOOK, Gate, asked, until_began

LINK = "https://discord.com/channels/9/90"
WHERE = ("--in", LINK, "--for", ASKER.id)


async def test_a_job_from_outside_is_taken_up_shown_and_announced_like_any_other(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([("act", {"what": "x"})], "Counted.")) as house:
        done = await beside(house, tmp_path, "job", "start", "count the fish", *WHERE)
        assert (done.returncode, done.stderr) == (0, "")
        id = done.stdout.strip()
        await house.later(seconds=2)
        assert [view.run.id for view in house.face.jobs.values()] == [id]
        assert house.card[1].approvals[0].requester == ASKER.id
        await house.decide("approve")
        [said] = house.face.said
        assert (said.place, said.ping, said.text) == (PLACE, (ASKER.id,), f"Job `{id}` is done: Counted.")
        trail = await house.rows("SELECT actor FROM audit WHERE event = 'job_started'")
        assert trail == [{"actor": "system"}]


async def test_one_that_is_started_while_no_bot_runs_waits_for_the_next_start(tmp_path: Path) -> None:
    done = signoff(tmp_path, "jobs", "start", "count", *WHERE, "--notify", "dm", "--budget", "5")
    assert (done.returncode, done.stderr) == (0, "")
    async with open_house(tmp_path, Script("Counted.")) as house:
        assert [person for person, _ in house.face.told] == [ASKER.id]
        assert await house.rows("SELECT budget_ms, state FROM run WHERE kind = 'job'") == [
            {"budget_ms": 300_000, "state": "done"}
        ]


async def test_the_persons_own_preference_holds_when_nothing_is_said(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Counted.")) as house:
        await house.app.engine.wishes.change(ASKER.id, where="dm")
        await beside(house, tmp_path, "job", "start", "count", *WHERE)
        await house.later(seconds=2)
        assert (house.face.said, [person for person, _ in house.face.told]) == ([], [ASKER.id])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("count", "--in", "#ops", "--for", "2"), "--in takes a server's channel"),
        (("count", "--in", "discord/9/90", "--for", "ben"), "--for takes a person's numeric Discord id"),
        (("  ", "--in", "discord/9/90", "--for", "2"), "The goal must have 1 to 6,000 characters."),
    ],
)
def test_what_makes_no_sense_starts_nothing_and_says_what_to_type(
    tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    done = signoff(tmp_path, "job", "start", *words)
    assert done.returncode == 1
    assert done.stderr.startswith(f"signoff: {problem}")
    assert not (tmp_path / "house.sqlite3").exists()


def today() -> ManualClock:
    """The command line's own clock is the real one: what it owes must be due."""
    return ManualClock(SystemClock().now())


async def test_a_job_that_waits_is_cancelled_with_what_it_asks_and_the_person_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT), clock=today()) as house:
        job = await house.app.engine.start_job(asked())
        await house.app.background.idle()
        call = house.card[1].approvals[0].id
        done = await beside(house, tmp_path, "jobs", "cancel", job.id)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"Job {job.id} is stopped.\nCancelled with it: {call}.\n"
        await house.later(seconds=2)
        assert house.face.card_words[house.card[0]][-1] == "cancelled"
        [said] = house.face.said
        assert said.text.startswith(f"Job `{job.id}` was stopped: It was stopped by whoever runs this bot")
        trail = await house.rows("SELECT actor, event FROM audit WHERE run = ? AND event = 'job_cancelled'", job.id)
        assert trail == [{"actor": "system", "event": "job_cancelled"}]


async def test_a_job_at_work_in_the_bot_stops_working_at_the_next_sweep(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Script(LOOK, "never said"), bench=gate, clock=today()) as house:
        job = await house.app.engine.start_job(asked())
        await until_began(gate)
        assert (await beside(house, tmp_path, "jobs", "cancel", job.id)).returncode == 0
        await house.later(seconds=2)  # the look would wait for ever
        assert [said.text.split(": ")[0] for said in house.face.said] == [f"Job `{job.id}` was stopped"]
        assert len(house.script.seen) == 1


async def test_a_job_that_has_ended_cannot_be_cancelled(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Counted.")) as house:
        job = await house.app.engine.start_job(asked())
        await house.app.background.idle()
        done = await beside(house, tmp_path, "jobs", "cancel", job.id)
        assert done.returncode == 1
        assert done.stderr == f"signoff: Job {job.id} has ended already (done); nothing was changed.\n"


def test_a_job_can_be_cancelled_while_no_bot_runs(tmp_path: Path) -> None:
    id = signoff(tmp_path, "jobs", "start", "count", *WHERE).stdout.strip()
    assert signoff(tmp_path, "jobs", "cancel", id[:8]).returncode == 0
    with closing(sqlite3.connect(tmp_path / "house.sqlite3")) as database:
        assert database.execute("SELECT state FROM run WHERE kind = 'job'").fetchall() == [("cancelled",)]


def test_cancelling_what_is_not_there_says_so(tmp_path: Path) -> None:
    done = signoff(tmp_path, "jobs", "cancel", "nothing")
    assert (done.returncode, done.stderr) == (1, "signoff: There is no job whose id begins with 'nothing'.\n")
