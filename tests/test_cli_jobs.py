"""`signoff job start` as its own process, beside a bot that runs on the same rows (issue 6, point 8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import ASKER, PLACE, Script, open_house
from tests.test_cli import beside, signoff

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
        assert await house.rows("SELECT budget_ms, state FROM run") == [{"budget_ms": 300_000, "state": "done"}]


async def test_the_persons_own_preference_holds_when_nothing_is_said(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script("Counted.")) as house:
        await house.app.engine.desk.set_notify(ASKER.id, "dm")
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
