"""`/drill`: who could and did press, how fast, and who could not be reached; nothing runs by it (issue 4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import discord

from bot.rules import ApproverRule
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.cogs.test_lists import hidden
from tests.cogs.test_presses import private
from tests.house import Script


async def started(here: Guild, who: Any = None, **options: Any) -> str:
    """What whoever starts a drill is told, once everybody has been asked."""
    told = "\n".join(private(await (who or here.ana).slash(here.channel, "drill", **options)))
    await here.settle()
    return told


async def over(here: Guild, *, seconds: float = 601) -> str:
    """The report, after the drill's time."""
    here.clock.advance(seconds=seconds)
    await here.app.upkeep.drills.sweep()
    await here.app.background.idle()
    await here.settle()
    return here.texts[-1]


async def test_everybody_who_decides_is_asked_and_pinged_by_one_card(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        role = here.guild.create_role("crew")
        here.approve_by(users=[here.ana.id], roles=[role.id])
        assert "The drill begins." in await started(here)
        assert "This is a drill" in text_of(here.card)
        assert labels(here.card) == ["Approve"]
        [sent] = [one for one in here.requests("POST", "/messages") if one and one.get("components")]
        assert sent["allowed_mentions"]["users"] == [here.ana.id]
        assert sent["allowed_mentions"]["roles"] == [role.id]
        assert sent["allowed_mentions"]["parse"] == []


async def test_the_report_says_who_pressed_how_fast_and_who_did_not(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        role = here.guild.create_role("crew")
        olga = here.guild.add_member(here.env.create_user("olga"), roles=[role])
        here.approve_by(users=[here.ana.id, here.mallory.id], roles=[role.id, 4711])
        await started(here)
        here.clock.advance(seconds=12)
        assert "took 12 s" in private(await here.ana.click(here.card, label="Approve"))[-1]
        await here.settle()
        assert f"<@{here.ana.id}> after 12 s" in text_of(here.card)
        here.clock.advance(seconds=8)
        await olga.click(here.card, label="Approve")
        await here.settle()
        told = await over(here)
        assert "The drill is over: 2 pressed. Nothing ran." in told
        assert f"<@{here.ana.id}> pressed after 12 s" in told
        assert f"<@{olga.id}> pressed as a member of <@&{role.id}> after 20 s" in told
        assert f"<@{here.mallory.id}> did not press; the request was in this channel" in told
        assert "of <@&4711> nobody pressed" in told
        assert labels(here.card) == []
        assert "Drill · over" in text_of(here.card)
        assert here.bench.effects == []


async def test_it_ends_at_once_when_everybody_who_was_named_has_pressed(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await started(here)
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "The drill is over: 1 pressed" in here.texts[-1]
        assert here.texts.count(here.texts[-1]) == 1


async def test_who_cannot_see_the_channel_gets_it_directly_and_can_press_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.ana.id, here.mallory.id])
        secret = hidden(here, here.ana)
        await here.ana.slash(secret, "drill")
        await here.settle()
        [card] = here.people["mallory"].dm_channel.history()
        assert "This is a drill" in text_of(card)
        told = private(await here.people["mallory"].click(card, label="Approve"))
        assert "Your press counts" in told[-1]
        await here.settle()
        [row] = await here.rows("SELECT way FROM drill_person WHERE person = ?", str(here.mallory.id))
        assert row["way"] == "dm"


async def test_who_can_be_reached_no_way_is_named_with_the_reason(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.ana.id, 4711])
        here.env.inject_error("POST", "/users/@me/channels", status=403, code=50278)
        await started(here)
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert "<@4711> could not be reached: They have left that server. We share no server" in here.texts[-1]


async def test_a_press_of_somebody_else_is_refused_privately_and_changes_nothing(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await started(here)
        result = await here.ben.click(here.card, label="Approve")
        assert "You are not an approver here" in private(result)[-1]
        assert "Nobody has pressed yet." in text_of(here.card)
        [entry] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert (entry["actor"], json.loads(entry["detail"])) == (str(here.ben.id), {"code": "not_approver"})


async def test_a_second_press_and_a_late_one_are_told_so(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.ana.id, here.mallory.id])
        await started(here)
        card = here.card
        await here.ana.click(card, label="Approve")
        assert "pressed already" in private(await here.ana.click(card, label="Approve"))[-1]
        here.clock.advance(seconds=601)
        assert "this drill is over" in private(await here.mallory.click(card, label="Approve"))[-1]


async def test_it_goes_on_after_a_restart_and_is_reported_once(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(users=[here.ana.id, here.mallory.id])
        await started(here)
        await here.restart()
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert len(here.cards) == 1
        told = await over(here)
        await here.later(seconds=10)
        assert f"<@{here.ana.id}> pressed" in told
        assert here.texts.count(told) == 1


async def test_one_at_a_time_and_not_for_everybody(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), check_errors=False) as here:
        assert "A drill is for approvers" in await started(here, here.ben)
        keeper = here.guild.create_role("keeper", permissions=discord.Permissions(manage_guild=True))
        kim = here.guild.add_member(here.env.create_user("kim"), roles=[keeper])
        assert "The drill begins." in await started(here, kim)
        assert "under way in this server already" in await started(here)
        assert len(here.cards) == 1
        [entry] = await here.rows("SELECT actor FROM audit WHERE event = 'drill_started'")
        assert entry["actor"] == str(kim.id)


async def test_rules_by_tool_name_everybody_who_could_be_asked(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        rule = ApproverRule(tools=("shell",), users=frozenset({str(here.mallory.id)}))
        here.approve_by(rule, users=[here.ana.id])
        await started(here)
        asked = await here.rows("SELECT person FROM drill_person ORDER BY person")
        assert {row["person"] for row in asked} == {str(here.ana.id), str(here.mallory.id)}
        assert "Your press counts" in private(await here.mallory.click(here.card, label="Approve"))[-1]
