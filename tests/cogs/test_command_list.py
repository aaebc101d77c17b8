"""Background commands in `/job list`: who sees which, and the button that stops one (issue 6, point 6)."""

from __future__ import annotations

from pathlib import Path

from bot.clock import SystemClock, new_id
from bot.deferral.tool import Call
from bot.toolbox.detached import Detached
from bot.toolbox.sandbox import Sandbox
from tests.cogs.guild import open_guild
from tests.house import Script
from tests.needs import needs

pytestmark = needs("bwrap")


async def test_what_runs_is_listed_with_place_and_age_and_stopped_by_its_button(tmp_path: Path) -> None:
    (workspace := tmp_path / "workspace").mkdir()
    detached = Detached(
        folder=tmp_path / "commands", workspace=workspace, sandbox=Sandbox(), clock=SystemClock(), new_id=new_id
    )
    async with open_guild(tmp_path, Script("Hello."), house={"detached": detached}) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [run] = await here.rows("SELECT id, place, conversation FROM run")
        command = await detached.start(
            "sleep 60",
            Call(
                id="a1",
                run=run["id"],
                conversation=run["conversation"],
                place=run["place"],
                requester=str(here.ben.id),
                approved=True,
            ),
        )
        listed = await here.ben.slash(here.channel, "job list")
        assert listed.ephemeral
        text = listed.response.content
        assert f"`{command.id}` runs · `sleep 60`" in text
        assert f"started for <@{here.ben.id}> in <#{here.channel.id}> <t:" in text
        assert f"'label': 'Stop {command.id}'" in str(here.requests("POST", "/webhooks/")[-1]["components"])
        seen = await here.mallory.slash(here.channel, "job list")
        refused = await here.mallory.click(seen.response, label=f"Stop {command.id}")
        assert "Only the person this command was started for" in refused.response.content
        told = await here.ben.click(listed.response, label=f"Stop {command.id}")
        assert told.response.content.startswith(f"The background command `{command.id}` is stopped")
        await here.later(seconds=2)
        assert any("was stopped" in text for text in here.texts)
        again = await here.ben.slash(here.channel, "job list")
        assert again.response.content == "No background job is open here."
