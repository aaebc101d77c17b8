"""A result that lives elsewhere: it is waited for without a task, delivered once, and handed on as it is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.clock import SystemClock
from bot.deferral.external import LONGEST_RESULT, deliver
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import AlreadySettled, CallDeferred, DecisionRefused, UnknownApproval, Unreachable
from tests.house import ASKER, Bench, DoArguments, Face, House, Script, open_house
from tests.test_cli import signoff

BUILD = [("build", {"what": "app"})]


@dataclass
class Builds(Bench):
    """The tool `build` starts something elsewhere and leaves its number."""

    def tools(self) -> list[Tool]:
        async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.effects.append(arguments.what)
            raise CallDeferred(f"build #7 of {arguments.what}")

        return [
            *super().tools(),
            Tool(name="build", description="Builds.", arguments=DoArguments, body=body, gated=False),
        ]


def waiting(house: House) -> str:
    return house.card[1].approvals[0].id


async def test_the_card_shows_the_key_and_nothing_has_to_be_approved(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(BUILD), bench=Builds()) as house:
        page = await house.ask()
        [call] = house.card[1].approvals
        assert (call.kind, call.reason) == ("external", "build #7 of app")
        assert house.face.card_words["m1"] == ["waiting for a result"]
        assert house.card[1].ping == ()
        assert page.shown[-1] == "Waiting for a result from elsewhere: see the card below."
        with pytest.raises(UnknownApproval, match="wrong_kind"):
            await house.decide("approve")
        with pytest.raises(UnknownApproval, match="wrong_kind"):
            await house.app.engine.answer(house.press(ASKER), "42")


async def test_a_delivered_result_reaches_the_model_verbatim_and_the_body_does_not_run_again(tmp_path: Path) -> None:
    """G3, R3."""
    script, bench = Script(BUILD, "Built."), Builds()
    async with open_house(tmp_path, script, bench=bench) as house:
        page = await house.ask()
        await house.app.engine.resolve(waiting(house), " 42 tests passed\n")
        await house.app.background.idle()
        assert script.results() == [("success", " 42 tests passed\n")]
        assert bench.effects == ["app"]
        assert page.finished == "Built."
        assert house.face.card_words["m1"][-1] == "result delivered"


async def test_a_result_that_failed_is_told_as_failed_with_its_reason(tmp_path: Path) -> None:
    script = Script(BUILD, "It failed.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        await house.app.engine.resolve(waiting(house), "the disk is full", failed=True)
        await house.app.background.idle()
        assert script.results() == [("failed", "This call was reported as failed. the disk is full")]
        assert house.face.card_words["m1"][-1] == "failed"


async def test_a_second_delivery_is_refused_with_what_happened_and_is_on_the_trail(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        await house.app.engine.resolve(waiting(house), "one")
        with pytest.raises(AlreadySettled, match="The result of `build` was delivered"):
            await house.app.engine.resolve(waiting(house), "two", by="ci")
        await house.app.background.idle()
        assert script.results() == [("success", "one")]
        [row] = await house.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert row == {"actor": "ci", "detail": '{"code": "too_late"}'}


async def test_of_many_deliveries_at_once_one_counts(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        tries = [house.app.engine.resolve(waiting(house), str(number)) for number in range(10)]
        ended = await asyncio.gather(*tries, return_exceptions=True)
        await house.app.background.idle()
        [won] = [one for one in ended if not isinstance(one, AlreadySettled)]
        assert script.results() == [("success", str(getattr(won, "result", None)))]


async def test_a_result_is_delivered_after_a_restart(tmp_path: Path) -> None:
    bench = Builds()
    async with open_house(tmp_path, Script(BUILD), bench=bench) as house:
        await house.ask()
        id = waiting(house)
    script, face = Script("Built."), Face()
    async with open_house(tmp_path, script, bench=bench, face=face, ids="second") as house:
        await house.app.engine.resolve(id, "42")
        await house.app.background.idle()
        assert script.results() == [("success", "42")]
        assert [said.text for said in face.said] == ["Built."]
        assert bench.effects == ["app"]


async def test_another_process_delivers_with_nothing_but_the_database(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        code = (
            "import asyncio, sys\n"
            "from bot.deferral.external import deliver\n"
            "from storage.database import open_database\n"
            "async def main():\n"
            "    async with open_database(sys.argv[1]) as database:\n"
            "        await deliver(database, sys.argv[2], 'from afar', at=int(sys.argv[3]), mask=str)\n"
            "asyncio.run(main())\n"
        )
        database, now = str(tmp_path / "house.sqlite3"), str(house.clock.now())
        words = [sys.executable, "-c", code, database, waiting(house), now]
        await asyncio.to_thread(subprocess.run, words, check=True, cwd=Path(__file__).parent.parent)
        assert script.seen[1:] == []
        await house.app.engine.sweep()
        await house.app.background.idle()
        assert script.results() == [("success", "from afar")]
        assert house.face.card_words["m1"][-1] == "result delivered"


async def test_a_result_after_the_deadline_is_refused_and_silence_is_told_as_silence(tmp_path: Path) -> None:
    script = Script(BUILD, "Nothing came.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        house.clock.advance(seconds=86_400)
        with pytest.raises(AlreadySettled, match="deadline has passed"):
            await house.app.engine.resolve(waiting(house), "late")
        await house.later(seconds=0)
        [(outcome, text)] = script.results()
        assert outcome == "failed"
        assert text.startswith("No result of this call came in time")


async def test_what_does_not_wait_for_a_result_is_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([("act", {"what": "x"})])) as house:
        await house.ask()
        for id in (waiting(house), "nosuchid"):
            with pytest.raises(UnknownApproval, match="waits for a result"):
                await house.app.engine.resolve(id, "x")
        assert house.bench.effects == []


async def test_a_result_that_no_model_could_read_is_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(BUILD), bench=Builds()) as house:
        await house.ask()
        with pytest.raises(DecisionRefused, match="too_long"):
            await house.app.engine.resolve(waiting(house), "x" * (LONGEST_RESULT + 1))
        assert [row["state"] for row in await house.rows("SELECT state FROM approval")] == ["pending"]


async def test_a_secret_in_a_result_is_masked_before_it_is_stored(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        await house.ask()
        await deliver(
            house.app.database,
            waiting(house),
            "token: abc",
            at=house.clock.now(),
            mask=lambda text: text.replace("abc", "[masked]"),
        )
        assert [row["result"] for row in await house.rows("SELECT result FROM approval")] == ["token: [masked]"]


async def test_a_card_that_cannot_be_shown_does_not_end_the_wait(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds(), face=Face(fail_card=Unreachable("no"))) as house:
        await house.ask()
        [row] = await house.rows("SELECT id, state FROM approval")
        assert row["state"] == "pending"
        await house.app.engine.resolve(row["id"], "42")
        await house.app.background.idle()
        assert script.results() == [("success", "42")]


async def test_nobody_is_reminded_of_what_nobody_can_decide(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(BUILD), bench=Builds()) as house:
        await house.ask()
        assert await house.rows("SELECT 1 FROM outbox WHERE key LIKE 'remind:%'") == []


async def test_a_reminder_is_dropped_when_only_a_result_from_elsewhere_is_missing(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([*BUILD, ("act", {"what": "x"})]), bench=Builds()) as house:
        await house.ask()
        await house.decide("deny", row=1)
        await house.later(seconds=86_000)
        assert [said for said in house.face.said if said.key.startswith("remind")] == []


async def test_a_model_that_emits_the_call_again_starts_nothing_elsewhere_a_second_time(tmp_path: Path) -> None:
    script, bench = Script(BUILD, BUILD, "It is on its way.", BUILD, "Built."), Builds()
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask(request="r1")
        await house.ask("and?", request="r2")
        assert "result from elsewhere" in script.results()[-1][1]
        await house.app.engine.resolve(waiting(house), "42")
        await house.app.background.idle()
        assert script.results()[-1] == ("success", "Not run again: this request already had this call. 42")
        assert bench.effects == ["app"]
        assert len(house.face.cards) == 1


# -- at the command line ------------------------------------------------------------------------


async def resolved(house: House, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(signoff, folder, "resolve", waiting(house), *words)


async def test_the_command_line_delivers_a_text_while_the_bot_runs(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        house.clock.at = SystemClock().now()  # the command line has the machine's own clock
        await house.ask()
        done = await resolved(house, tmp_path, "--text", "42 passed")
        assert (done.returncode, done.stderr) == (0, "")
        assert "is resolved" in done.stdout
        again = await resolved(house, tmp_path, "--text", "43 passed")
        assert again.returncode == 1
        assert again.stderr.startswith("signoff: This had already been settled; this result was not used.")
        await house.app.engine.sweep()
        await house.app.background.idle()
        assert script.results() == [("success", "42 passed")]


async def test_the_command_line_delivers_a_file_and_masks_what_is_secret(tmp_path: Path) -> None:
    script = Script(BUILD, "Built.")
    (tmp_path / "log.txt").write_text("key: correct-horse-battery\n")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        house.clock.at = SystemClock().now()  # the command line has the machine's own clock
        await house.ask()
        words = ("resolve", waiting(house), "--file", "log.txt")
        done = await asyncio.to_thread(signoff, tmp_path, *words, OPENAI_API_KEY="correct-horse-battery")
        assert (done.returncode, done.stderr) == (0, "")
        await house.app.engine.sweep()
        await house.app.background.idle()
        [(_, text)] = script.results()
        assert text == "key: [masked: OPENAI_API_KEY]\n"


async def test_the_command_line_reports_a_failure_with_and_without_a_reason(tmp_path: Path) -> None:
    script = Script([*BUILD, ("build", {"what": "docs"})], "Both failed.")
    async with open_house(tmp_path, script, bench=Builds()) as house:
        house.clock.at = SystemClock().now()  # the command line has the machine's own clock
        await house.ask()
        first, second = (call.id for call in house.card[1].approvals)
        for words in (["resolve", first, "--failed"], ["resolve", second, "--failed", "--text", "no disk"]):
            done = await asyncio.to_thread(signoff, tmp_path, *words)
            assert (done.returncode, done.stderr) == (0, "")
        await house.app.engine.sweep()
        await house.app.background.idle()
        assert script.results() == [
            ("failed", "This call was reported as failed."),
            ("failed", "This call was reported as failed. no disk"),
        ]


WRONG: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "There is no result: give --text, --file or --failed."),
    "no file": (["--file", "nowhere.txt"], "nowhere.txt cannot be read (No such file or directory)"),
    "no text": (["--file", "bytes.bin"], "bytes.bin cannot be read (it is not UTF-8)"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_what_cannot_be_handed_in_changes_nothing_and_says_why(tmp_path: Path, case: str) -> None:
    words, problem = WRONG[case]
    (tmp_path / "bytes.bin").write_bytes(b"\xff\xfe")
    async with open_house(tmp_path, Script(BUILD), bench=Builds()) as house:
        await house.ask()
        done = await resolved(house, tmp_path, *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert problem in done.stderr
        assert [row["state"] for row in await house.rows("SELECT state FROM approval")] == ["pending"]


def test_without_a_database_there_is_nothing_to_resolve(tmp_path: Path) -> None:
    done = signoff(tmp_path, "resolve", "abc", "--text", "x")
    assert done.returncode == 1
    assert "There is no request whose id begins with 'abc'" in done.stderr
    assert not (tmp_path / "house.sqlite3").exists()
