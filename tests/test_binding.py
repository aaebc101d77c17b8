"""What was approved is what runs: what changed makes the approval void, and what would run now is asked anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.deferral.tool import Tool
from bot.errors import AlreadySettled
from bot.surface import Press
from bot.toolbox import builtin_tools
from bot.toolbox.sandbox import Sandbox
from tests.house import OWNER, PLACE, Bench, House, Script, counting_ids, open_house

ACT = [("act", {"what": "x"})]


@dataclass
class Depending(Bench):
    """The tool `act` depends on files, and may be changed as a new version would change it."""

    files: dict[str, str] = field(default_factory=lambda: {"deploy.sh": "4 bytes, sha256 aaaa"})
    change: Callable[[Tool], Tool] | None = None

    def tools(self) -> list[Tool]:
        tools = super().tools()
        [number] = [number for number, tool in enumerate(tools) if tool.name == "act"]
        changed = self.change(tools[number]) if self.change is not None else tools[number]
        tools[number] = replace(changed, binds=lambda arguments: dict(self.files))
        return tools


def by_id(approval: str) -> Press:
    """The owner's press on a card of an earlier life."""
    return Press(actor=OWNER, approval=approval, place=PLACE, message=None)


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY requested_at, id")]


async def test_a_script_that_changed_after_the_card_is_not_run_and_is_asked_about_again(tmp_path: Path) -> None:
    """S-A25."""
    bench, script = Depending(), Script(ACT, "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = await house.ask()
        bench.files["deploy.sh"] = "5 bytes, sha256 bbbb"
        await house.decide("approve")
        assert bench.effects == []
        assert await states(house) == ["void", "pending"]
        assert house.face.card_words["m1"][-1] == "void"
        message, view = house.card
        [call] = view.approvals
        assert message != "m1"
        assert view.changed[call.id] == ("deploy.sh changed: 4 bytes, sha256 aaaa → 5 bytes, sha256 bbbb",)
        [old] = await house.rows("SELECT id, note FROM approval WHERE state = 'void'")
        assert call.replaces == old["id"]
        assert "deploy.sh" in old["note"]
        assert len(script.seen) == 1

        await house.decide("approve")
        assert bench.effects == ["x"]
        assert page.finished == "Done."
        assert script.results() == [("success", "This call ran (exit code 0) after a person approved it.\nout")]


async def test_the_old_card_is_dead_and_says_why(tmp_path: Path) -> None:
    bench = Depending()
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench) as house:
        await house.ask()
        press = house.press(OWNER)
        bench.files["deploy.sh"] = "absent"
        await house.decide("approve")
        with pytest.raises(AlreadySettled, match="asked again as it would run now"):
            await house.app.engine.decide(press, "approve")
        assert bench.effects == []


async def test_what_is_asked_again_can_be_denied_and_the_model_hears_only_that(tmp_path: Path) -> None:
    bench, script = Depending(), Script(ACT, "As you wish.")
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask()
        bench.files["deploy.sh"] = "absent"
        await house.decide("approve")
        await house.decide("deny")
        [(outcome, text)] = script.results()
        assert outcome == "denied"
        assert "denied" in text
        assert bench.effects == []


async def test_the_answer_waits_for_the_call_that_is_asked_again_and_keeps_the_models_order(tmp_path: Path) -> None:
    bench = Depending()
    script = Script([("act", {"what": "one"}), ("careful", {"what": "big"})], "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask()
        bench.files["deploy.sh"] = "absent"
        first = house.card
        await house.decide("approve", row=0)
        await house.app.engine.decide(
            replace(house.press(OWNER), approval=first[1].approvals[1].id, message="m1"), "deny"
        )
        await house.app.background.idle()
        assert len(script.seen) == 1
        await house.decide("approve")
        assert [outcome for outcome, _ in script.results()] == ["success", "denied"]
        assert bench.effects == ["one"]


async def test_a_model_that_emits_the_call_again_hears_of_the_newer_card(tmp_path: Path) -> None:
    bench = Depending()
    script = Script(ACT, ACT, "It is up.", "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        await house.ask(request="r1")
        bench.files["deploy.sh"] = "absent"
        await house.decide("approve")
        await house.ask("and?", request="r2")
        assert "waits for a person" in script.results()[-1][1]
        assert await states(house) == ["void", "pending"]


@pytest.mark.parametrize(
    "change",
    [
        lambda tool: replace(tool, description="Acts otherwise."),
        lambda tool: replace(tool, profile="everything"),
        lambda tool: replace(tool, environment=("PATH",)),
    ],
    ids=["definition", "profile", "environment"],
)
async def test_after_a_restart_as_another_version_it_is_asked_again(
    tmp_path: Path, change: Callable[[Tool], Tool]
) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
    script, bench = Script("Done."), Depending(files={}, change=change)
    async with open_house(tmp_path, script, bench=bench, ids="second") as house:
        [row] = await house.rows("SELECT id FROM approval")
        await house.app.engine.decide(by_id(row["id"]), "approve")
        await house.app.background.idle()
        assert await states(house) == ["void", "pending"]
        await house.decide("approve")
        assert bench.effects == ["x"]


async def test_after_a_restart_in_another_working_directory_it_is_asked_again(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    bench = Bench()
    async with open_house(tmp_path, Script("Done."), bench=bench, ids="second", workspace=elsewhere) as house:
        [row] = await house.rows("SELECT id FROM approval")
        await house.app.engine.decide(by_id(row["id"]), "approve")
        await house.app.background.idle()
        assert (await states(house), bench.effects) == (["void", "pending"], [])


async def test_a_tool_that_is_gone_is_not_asked_about_again_and_the_model_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()

    class Without(Bench):
        def tools(self) -> list[Tool]:
            return [tool for tool in super().tools() if tool.name != "act"]

    script = Script("It is gone.")
    async with open_house(tmp_path, script, bench=Without(), ids="second") as house:
        [row] = await house.rows("SELECT id FROM approval")
        await house.app.engine.decide(by_id(row["id"]), "approve")
        await house.app.background.idle()
        assert await states(house) == ["void"]
        assert "the tool act is not there any more" in script.results()[0][1]


async def test_a_call_of_a_run_that_has_ended_is_void_and_not_asked_again(tmp_path: Path) -> None:
    bench = Depending()
    async with open_house(tmp_path, Script(ACT, "Done."), bench=bench) as house:
        await house.ask()
        bench.files["deploy.sh"] = "absent"
        async with house.app.database.begin("end") as tx:
            await tx.execute("UPDATE run SET state = 'failed'")
        await house.decide("approve")
        assert await states(house) == ["void"]
        assert bench.effects == []


async def test_the_real_shell_runs_the_script_that_was_approved_and_no_other(tmp_path: Path) -> None:
    tools = builtin_tools(workspace=tmp_path, sandbox=Sandbox(bare=True), new_id=counting_ids("tmp"))

    class Real(Bench):
        def tools(self) -> list[Tool]:
            return list(tools)

    (tmp_path / "deploy.sh").write_text("echo good")
    script = Script([("shell", {"command": "sh deploy.sh"})], "Done.")
    async with open_house(tmp_path, script, bench=Real()) as house:
        await house.ask()
        (tmp_path / "deploy.sh").write_text("echo evil > effect")
        await house.decide("approve")
        assert not (tmp_path / "effect").exists()
        (tmp_path / "deploy.sh").write_text("echo good")
        await house.decide("deny")
        assert await states(house) == ["void", "denied"]


async def test_a_write_replaces_only_what_its_approver_could_know_of(tmp_path: Path) -> None:
    tools = builtin_tools(workspace=tmp_path, sandbox=Sandbox(bare=True), new_id=counting_ids("tmp"))

    class Real(Bench):
        def tools(self) -> list[Tool]:
            return list(tools)

    script = Script([("write_file", {"path": "notes.txt", "content": "mine"})], "Written.")
    async with open_house(tmp_path, script, bench=Real()) as house:
        await house.ask()
        (tmp_path / "notes.txt").write_text("somebody else's")
        await house.decide("approve")
        assert (tmp_path / "notes.txt").read_text() == "somebody else's"
        [call] = house.card[1].approvals
        named = "notes.txt changed: absent → 15 bytes, sha256 "
        assert any(change.startswith(named) for change in house.card[1].changed[call.id])
        await house.decide("approve")
        assert (tmp_path / "notes.txt").read_text() == "mine"
