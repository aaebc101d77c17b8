"""The command line as its own process, most often beside a house that is open on the same rows."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.single import data_lock, hold
from bot.surface import TurnContext
from tests.house import ASKER, OWNER, PLACE, House, Script, open_house

ROOT = Path(__file__).parent.parent
DATABASE = "house.sqlite3"


def signoff(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the program in `folder`, in an environment that has nothing of ours but `env`."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    clean = {name: os.environ[name] for name in ("PATH",)}
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        cwd=folder,
        env={**clean, "HOME": str(home), "PYTHONPATH": str(ROOT), "SIGNOFF_DATABASE": DATABASE, "TZ": "UTC", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


async def beside(house: House, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program while the house is open."""
    return await asyncio.to_thread(signoff, folder, *words)


async def listed(house: House, folder: Path, *words: str) -> list[dict[str, Any]]:
    done = await beside(house, folder, *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def asking(*calls: dict[str, str]) -> Script:
    return Script([("shell", call) for call in calls] or [("shell", {"command": "uname -a"})], "Done.")


@pytest.mark.parametrize("what", ["approvals", "jobs", "schedules", "grants", "audit"])
def test_before_anything_was_asked_every_list_is_empty(what: str, tmp_path: Path) -> None:
    done = signoff(tmp_path, what, "list", "--json")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, [], "")
    said = signoff(tmp_path, what, "list")
    assert said.returncode == 0
    assert said.stdout.strip().endswith(".")
    assert not (tmp_path / DATABASE).exists()


async def test_the_list_shows_what_is_open_while_the_bot_runs_and_its_arguments(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking({"command": "uname -a"})) as house:
        await house.ask()
        (record,) = await listed(house, tmp_path, "approvals", "list")
        assert record["id"] == house.card[1].approvals[0].id
        assert record["arguments"] == {"command": "uname -a"}
        assert (record["state"], record["requester"], record["tool"]) == ("pending", ASKER.id, "shell")
        people = await beside(house, tmp_path, "approvals", "list")
        heads, row = people.stdout.splitlines()
        assert heads.split()[:4] == ["ID", "STATE", "TOOL", "ARGUMENTS"]
        assert "uname -a" in row
        assert row.endswith("2023-11-15 22:13:20+00:00")


async def test_what_has_ended_is_shown_only_with_all(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking()) as house:
        await house.ask()
        await house.decide("approve")
        assert await listed(house, tmp_path, "approvals", "list") == []
        (record,) = await listed(house, tmp_path, "approvals", "list", "--all")
        assert (record["state"], record["settled_by"], record["exit_code"]) == ("succeeded", OWNER.id, 0)


async def test_one_request_is_shown_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking({"command": "a\nb"}, {"command": "c"})) as house:
        await house.ask()
        first, second = (approval.id for approval in house.card[1].approvals)
        shown = json.loads((await beside(house, tmp_path, "approvals", "show", first.upper(), "--json")).stdout)
        assert (shown["id"], shown["arguments"]) == (first, {"command": "a\nb"})
        people = await beside(house, tmp_path, "approvals", "show", first)
        assert "  command:        a\n" + " " * 18 + "| b\n" in people.stdout
        both = first[:-1]
        assert second.startswith(both)
        ambiguous = await beside(house, tmp_path, "approvals", "show", both)
        assert ambiguous.returncode == 1
        assert (
            ambiguous.stderr
            == f"signoff: More than one request has an id that begins with {both!r}; type more of it.\n"
        )


def test_a_request_that_is_not_there_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    for words in (("approvals", "show", "zz"), ("approvals", "cancel", "zz"), ("audit", "list", "--approval", "zz")):
        done = signoff(tmp_path, *words)
        assert (done.returncode, done.stderr) == (1, "signoff: There is no request whose id begins with 'zz'.\n")
    done = signoff(tmp_path, "jobs", "show", "zz")
    assert (done.returncode, done.stderr) == (1, "signoff: There is no job whose id begins with 'zz'.\n")


async def test_what_a_model_wrote_cannot_steer_the_terminal(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking({"command": "x\x1b[2J\r\nfake\u202e\x07"})) as house:
        await house.ask()
        id_ = house.card[1].approvals[0].id
        for words in (("list",), ("list", "--json"), ("show", id_), ("show", id_, "--json")):
            done = await beside(house, tmp_path, "approvals", *words)
            assert done.returncode == 0
            assert not set("\x1b\r\x07\u202e") & set(done.stdout)
            assert "fake" in done.stdout


async def test_a_cancelled_request_never_runs_and_everybody_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking()) as house:
        page = await house.ask()
        (waiting,) = house.card[1].approvals
        done = await beside(house, tmp_path, "approvals", "cancel", waiting.id)
        assert (done.returncode, done.stdout) == (0, f"{waiting.id} is cancelled; it will not run.\n")
        await house.later(seconds=2)
        assert house.bench.effects == []
        assert house.face.card_words["m1"][-1] == "cancelled"
        assert page.finished == "Done."
        again = await beside(house, tmp_path, "approvals", "cancel", waiting.id)
        assert again.returncode == 1
        assert "cancelled already; nothing was changed" in again.stderr


async def test_jobs_are_listed_and_shown(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking()) as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r1", prompt="tidy up")
        job = await house.app.engine.start_job(ctx)
        await house.app.background.idle()
        (record,) = await listed(house, tmp_path, "jobs", "list")
        assert (record["id"], record["state"], record["prompt"]) == (job.id, "waiting", "tidy up")
        assert "tidy up" in (await beside(house, tmp_path, "jobs", "show", job.id)).stdout


async def test_the_trail_is_listed_exported_and_whole(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking()) as house:
        await house.ask()
        await house.decide("approve")
        entries = await listed(house, tmp_path, "audit", "list")
        assert [entry["id"] for entry in entries] == list(range(1, len(entries) + 1))
        assert ("approved", OWNER.id) in {(entry["event"], entry["actor"]) for entry in entries}
        assert len(await listed(house, tmp_path, "audit", "list", "--limit", "2")) == 2
        id_ = house.card[1].approvals[0].id
        of_one = await listed(house, tmp_path, "audit", "list", "--approval", id_)
        assert {entry["approval"] for entry in of_one} == {id_}
        exported = (await beside(house, tmp_path, "audit", "export")).stdout.splitlines()
        assert [json.loads(line) for line in exported] == entries
        verified = await beside(house, tmp_path, "audit", "verify")
        assert (verified.returncode, verified.stdout) == (0, f"The trail is whole: {len(entries)} entries.\n")


async def test_a_trail_that_was_altered_is_named_by_its_row(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking()) as house:
        await house.ask()
        await house.decide("approve")
    raw = sqlite3.connect(tmp_path / DATABASE)
    (row,) = raw.execute("SELECT n FROM audit WHERE event = 'approved'").fetchone()
    raw.execute("DROP TRIGGER audit_no_update")
    raw.execute("UPDATE audit SET actor = '666' WHERE n = ?", (row,))
    raw.commit()
    raw.close()
    done = signoff(tmp_path, "audit", "verify")
    assert done.returncode == 1
    assert done.stdout.startswith(f"The trail is broken at row {row}:")
    assert json.loads(signoff(tmp_path, "audit", "verify", "--json").stdout)["row"] == row


async def test_a_trail_whose_end_was_cut_off_without_a_trace_inside_exits_1(tmp_path: Path) -> None:
    """S-A95: the file beside the database tells; one that cannot be read is no "whole" either."""
    async with open_house(tmp_path, asking()) as house:
        await house.ask()
    [outside] = tmp_path.rglob("*.head")
    raw = sqlite3.connect(tmp_path / DATABASE)
    raw.execute("DROP TRIGGER audit_no_delete")
    raw.execute("DELETE FROM audit WHERE n > 1")
    raw.execute("UPDATE meta SET value = (SELECT hash FROM audit WHERE n = 1) WHERE key = 'audit_head'")
    raw.commit()
    raw.close()
    done = signoff(tmp_path, "audit", "verify")
    assert done.returncode == 1
    assert "broken at row 2" in done.stdout
    assert outside.name in done.stdout
    outside.write_text("nonsense")
    done = signoff(tmp_path, "audit", "verify", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"whole": False, "row": None, "entries": 1}


def test_a_database_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_text("this is not a database, whatever its name says" * 100)
    done = signoff(tmp_path, "approvals", "list")
    assert done.returncode == 1
    assert done.stderr.startswith("signoff: The database")
    assert "Traceback" not in done.stderr


def test_settings_that_make_no_sense_stop_every_command_with_a_sentence_each(tmp_path: Path) -> None:
    done = signoff(tmp_path, "run", SIGNOFF_APPROVER_USERS="ana", SIGNOFF_MODLE="x")
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first.startswith("signoff: SIGNOFF_MODLE: is not a setting; did you mean SIGNOFF_MODEL?")
    assert second.startswith("SIGNOFF_APPROVER_USERS: has an entry that is not a numeric Discord id")


def test_wrong_usage_is_exit_code_2_and_help_is_0(tmp_path: Path) -> None:
    assert signoff(tmp_path, "approve", "everything").returncode == 2
    assert signoff(tmp_path, "approvals").returncode == 2
    helped = signoff(tmp_path, "--help")
    assert helped.returncode == 0
    for word in ("run", "playground", "approvals", "jobs", "audit", "doctor", "migrate", "exit codes"):
        assert word in helped.stdout


def test_running_without_a_token_says_where_to_get_one(tmp_path: Path) -> None:
    done = signoff(tmp_path, "run")
    assert done.returncode == 1
    assert "DISCORD_TOKEN" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_second_process_on_the_same_data_is_told_who_is_in(tmp_path: Path) -> None:
    with hold(data_lock(tmp_path / DATABASE), what="it", advice="wait"):
        for words in (("run",), ("migrate",)):
            done = signoff(tmp_path, *words, DISCORD_TOKEN="a-token-of-nobody")
            assert done.returncode == 1
            assert done.stderr.startswith(
                f"signoff: Another signoff (process {os.getpid()}) is already using the data in "
            )


def test_a_workspace_that_holds_files_of_ours_is_said_at_the_start(tmp_path: Path) -> None:
    """S-A96, where the operator put them there."""
    (tmp_path / ".env").touch()
    with hold(data_lock(tmp_path / DATABASE), what="it", advice="wait"):
        done = signoff(tmp_path, "run", DISCORD_TOKEN="a-token-of-nobody", SIGNOFF_WORKSPACE=".")
    assert "the tools can reach" in done.stderr
    assert ".env" in done.stderr


def test_migrate_makes_a_database_that_only_its_owner_can_open(tmp_path: Path) -> None:
    assert signoff(tmp_path, "migrate").returncode == 0
    assert (tmp_path / DATABASE).stat().st_mode & 0o777 == 0o600
    assert json.loads(signoff(tmp_path, "approvals", "list", "--json").stdout) == []


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "jobs", "list"],
        cwd=tmp_path, env=env, stdout=write, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.stderr == b""


async def test_a_record_says_whether_it_is_certain_that_nothing_ran(tmp_path: Path) -> None:
    async with open_house(tmp_path, asking({"command": "one"}, {"command": "two"})) as house:
        await house.ask()
        await house.decide("approve", row=0)
        await house.decide("deny", row=1)
        found = await listed(house, tmp_path, "approvals", "list", "--all")
        assert {one["state"]: one["ran_nothing"] for one in found} == {"succeeded": False, "denied": True}


async def test_usage_adds_up_by_what_is_asked_for_while_the_bot_runs(tmp_path: Path) -> None:
    assert json.loads(signoff(tmp_path, "usage", "--json").stdout) == []
    assert signoff(tmp_path, "usage").stdout == "Nothing was used in that time.\n"
    async with open_house(tmp_path, Script("One.", "Two.")) as house:
        await house.ask(request="r1")
        await house.ask(request="r2", by="3")
        people = await listed(house, tmp_path, "usage", "--days", "9999")
        models = await listed(house, tmp_path, "usage", "--days", "9999", "--by", "model")
        assert {one["id"] for one in people} == {"2", "3"}
        assert [(one["id"], one["calls"], one["cost"]) for one in models] == [("script", 2, "price unknown")]
        assert models[0]["input_tokens"] == sum(one["input_tokens"] for one in people)
        told = await beside(house, tmp_path, "usage", "--days", "9999", "--by", "guild")
        heads, row, total = told.stdout.splitlines()
        assert heads.split() == ["GUILD", "CALLS", "TOKENS", "READ", "WRITTEN", "COST"]
        assert row.split()[:2] == ["9", "2"]
        assert total.split()[:2] == ["total", "2"]
        assert await listed(house, tmp_path, "usage", "--days", "1") == []  # that was long ago
