"""`/reload`: what the operator wrote is read anew; a bad file changes nothing; all of it is on the trail (issue 4)."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app import open_app
from bot.errors import NotAllowed
from bot.reloading import Reloaded
from bot.settings import load_settings
from bot.surface import Actor
from tests.house import ASKER, OWNER, STRANGER, Bench, Face, House, ManualClock, Script, counting_ids
from tests.mcp.kit import Heard, Probe

BEFORE = """
approver_users = [1]
hold_seconds = 60
"""


@dataclass
class Yard:
    """A house whose settings lie in a file."""

    house: House
    file: Path

    async def reload(self, text: str, *, by: Actor = OWNER) -> Reloaded:
        self.file.write_text(text)
        return await self.house.app.upkeep.reloading.reload(by)


@asynccontextmanager
async def yard(folder: Path, script: Script | None = None, *, text: str = BEFORE) -> AsyncIterator[Yard]:
    file, bench, clock, face = folder / "signoff.toml", Bench(), ManualClock(), Face()
    file.write_text(text)
    script = script or Script()
    async with open_app(
        load_settings(folder).model_copy(update={"workspace": folder}),
        tools=bench.tools(),
        mask=str,
        clock=clock,
        new_id=counting_ids(),
        model=script.model,
        sweep_ms=3_600_000,
        reread=lambda: load_settings(folder).model_copy(update={"workspace": folder}),
    ) as app:
        app.engine.connect(face)
        app.engine.set_owners(frozenset({OWNER.id}))
        yield Yard(house=House(app=app, clock=clock, face=face, bench=bench, script=script), file=file)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SIGNOFF_", "DISCORD_")):
            monkeypatch.delenv(name)


async def test_nothing_changed_is_said_so(tmp_path: Path) -> None:
    async with yard(tmp_path) as here:
        done = await here.reload(BEFORE)
        assert (done.changed, done.restart, done.problem) == ((), (), "")


async def test_a_new_rule_holds_from_the_next_call_on(tmp_path: Path) -> None:
    script = Script([("act", {"what": "x"})], "Done.")
    rule = '[[policy]]\nname = "trusted"\ntool = "act"\naction = "allow"\n'
    async with yard(tmp_path, script) as here:
        done = await here.reload(BEFORE + rule)
        assert done.changed == ("Rule trusted is new.",)
        page = await here.house.ask()
        assert here.house.bench.effects == ["x"]
        assert page.finished == "Done."
        assert (await here.reload(BEFORE)).changed == ("Rule trusted is gone.",)


async def test_other_approvers_decide_from_the_next_press_on(tmp_path: Path) -> None:
    async with yard(tmp_path, Script([("act", {"what": "x"})], "Done.")) as here:
        await here.house.ask()
        done = await here.reload("approver_users = [3]\nhold_seconds = 60\n")
        assert done.changed == ("SIGNOFF_APPROVER_USERS is 3 now; it was 1.",)
        with pytest.raises(NotAllowed):
            await here.house.decide("approve", OWNER)
        await here.house.decide("approve", STRANGER)
        assert here.house.bench.effects == ["x"]


async def test_an_approver_who_is_removed_after_approving_does_not_count_at_the_claim(tmp_path: Path) -> None:
    text = "approver_users = [1, 3]\n[[approvers]]\nquorum = 2\n"
    async with yard(tmp_path, Script([("act", {"what": "x"})], "Done."), text=text) as here:
        await here.house.ask()
        await here.house.decide("approve", OWNER)
        await here.reload("approver_users = [3, 4]\n[[approvers]]\nquorum = 2\n")
        await here.house.decide("approve", STRANGER)
        assert here.house.bench.effects == []


async def test_with_no_approver_left_in_the_file_the_owner_decides_again(tmp_path: Path) -> None:
    async with yard(tmp_path, Script([("act", {"what": "x"})], "Done."), text="approver_users = [3]\n") as here:
        await here.house.ask()
        assert (await here.reload("")).changed == ("SIGNOFF_APPROVER_USERS is not set now; it was 3.",)
        await here.house.decide("approve", OWNER)
        assert here.house.bench.effects == ["x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("approver_users = [", "signoff.toml"),
        ('approver_users = ["ana"]', "SIGNOFF_APPROVER_USERS"),
        ('[[policy]]\nname = "x"\ntool = "shell"\naction = "allow"', "may not allow shell"),
        ('[[policy]]\nname = "x"\ntool = "act"\naction = "perhaps"', "needs action"),
        ('[[approvers]]\ntools = ["akt"]\nquorum = 2', "no tool is called so"),
        ("hold_secondz = 3", "hold_secondz"),
        ("[mcp.files]\n", "needs either a command or a url"),
    ],
)
async def test_a_bad_file_changes_nothing_and_says_why(tmp_path: Path, text: str, said: str) -> None:
    async with yard(tmp_path, Script([("act", {"what": "x"})], "Done.")) as here:
        done = await here.reload(f"approver_users = [3]\n{text}" if "approver_users" not in text else text)
        assert said in done.problem
        assert done.changed == ()
        await here.house.ask()
        await here.house.decide("approve", OWNER)
        assert here.house.bench.effects == ["x"]
        [entry] = await here.house.rows("SELECT actor, detail FROM audit WHERE event = 'reload_refused'")
        assert entry["actor"] == OWNER.id
        assert said in json.loads(entry["detail"])["problem"]


async def test_what_takes_a_restart_is_named_each_time_until_there_was_one(tmp_path: Path) -> None:
    async with yard(tmp_path) as here:
        for _ in range(2):
            done = await here.reload("approver_users = [1]\nhold_seconds = 90\n")
            assert (done.changed, done.restart) == ((), ("SIGNOFF_HOLD_SECONDS",))


@pytest.mark.parametrize("who", [ASKER, STRANGER])
async def test_nobody_but_the_owner_may(tmp_path: Path, who: Actor) -> None:
    async with yard(tmp_path) as here:
        with pytest.raises(NotAllowed, match="owner"):
            await here.reload("approver_users = [3]\n", by=who)
        assert here.house.app.engine.authority.is_approver(OWNER, "discord/9/90")
        [entry] = await here.house.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert (entry["actor"], json.loads(entry["detail"])) == (who.id, {"code": "not_owner"})


async def test_what_changed_is_on_the_trail(tmp_path: Path) -> None:
    async with yard(tmp_path) as here:
        await here.reload("approver_users = [3]\nhold_seconds = 60\n")
        [entry] = await here.house.rows("SELECT actor, detail FROM audit WHERE event = 'reloaded'")
        assert entry["actor"] == OWNER.id
        assert json.loads(entry["detail"])["changed"] == ["SIGNOFF_APPROVER_USERS is 3 now; it was 1."]


async def test_servers_come_and_go_without_a_restart(tmp_path: Path, probe: Probe, heard: Heard) -> None:
    server = probe.server()
    table = f"[mcp.probe]\ncommand = {json.dumps(server.command)}\nargs = {json.dumps(list(server.args))}\n"
    async with yard(tmp_path) as here:
        toolbook = here.house.app.upkeep.toolbook
        assert (await here.reload(BEFORE + table)).changed == ("MCP server probe is new.",)
        await heard.wait("mcp_connected")
        assert [state.tools for state in toolbook.servers()] == [("probe_do",)]
        done = await here.reload(f"{BEFORE}{table}timeout = 5\n")
        assert done.changed == ("MCP server probe says something else.",)
        await heard.wait("mcp_connected", 2)
        assert (await here.reload(BEFORE)).changed == ("MCP server probe is gone.",)
        assert toolbook.servers() == []
        assert "probe_do" not in here.house.app.upkeep.toolbook._tools


async def test_a_server_that_stays_as_it_is_is_not_touched(tmp_path: Path, probe: Probe, heard: Heard) -> None:
    server = probe.server()
    table = f"[mcp.probe]\ncommand = {json.dumps(server.command)}\nargs = {json.dumps(list(server.args))}\n"
    async with yard(tmp_path, text=BEFORE + table) as here:
        await heard.wait("mcp_connected")
        await here.reload("approver_users = [3]\n" + table)
        [state] = here.house.app.upkeep.toolbook.servers()
        assert state.connected
        assert heard.actions.count("mcp_gone") == 0


async def test_a_secret_that_comes_with_new_settings_is_masked_from_then_on(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("brand-new-key-1")
    script = Script("It is brand-new-key-1.", "It is brand-new-key-1.")
    async with yard(tmp_path, script) as here:
        assert (await here.house.ask(request="r1")).finished == "It is brand-new-key-1."
        await here.reload(f'{BEFORE}[secrets.fresh]\nfile = "key"\n')
        assert (await here.house.ask(request="r2")).finished == "It is [masked: fresh]."
