"""Who decides, in a guild with real roles: four eyes, a quorum, one of each role, a lost role, another guild."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.errors import NotAllowed, SettingsError, StartError
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.surface import Actor, Press
from cogs import members, presses
from cogs.members import Members
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.cogs.test_presses import SHELL, forge, private, state
from tests.house import Script


@dataclass
class Crowd:
    """Ben asks; Cleo and Dora hold the role X, Emil holds Y, Fay both."""

    here: Guild
    x: Any
    y: Any
    cleo: Any
    dora: Any
    emil: Any
    fay: Any

    def by(self, **rule: Any) -> None:
        """One rule about everything."""
        self.here.approve_by(ApproverRule(**rule))

    def lose(self, member: Any) -> None:
        """Take every role from a member."""
        self.here.env.backend.get_guild(self.here.guild.id).members[member.id].role_ids.clear()

    async def ask(self) -> None:
        await self.here.ben.slash(self.here.channel, "ask", prompt="please")

    async def refusal(self, who: Any, label: str = "Approve") -> str:
        [told] = private(await who.click(self.here.card, label=label))
        return told


@asynccontextmanager
async def crowd(folder: Path, *steps: Any) -> AsyncIterator[Crowd]:
    async with open_guild(folder, Script(*(steps or (SHELL, "Done.")))) as here:
        x, y = here.guild.create_role("X"), here.guild.create_role("Y")

        def member(name: str, *roles: Any) -> Any:
            return here.guild.add_member(here.env.create_user(name), roles=list(roles))

        yield Crowd(
            here=here,
            x=x,
            y=y,
            cleo=member("cleo", x),
            dora=member("dora", x),
            emil=member("emil", y),
            fay=member("fay", x, y),
        )


def ids(*things: Any) -> frozenset[str]:
    return frozenset(str(thing.id) for thing in things)


# -- a quorum -----------------------------------------------------------------------------------


async def test_with_a_quorum_of_two_the_second_person_decides_and_the_card_counts(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x), users=ids(here.ana), quorum=2)
        await all.ask()
        assert "waiting for sign-off, 0 of 2" in text_of(here.card)
        assert f"Missing: 2 of <@{here.ana.id}>, <@&{all.x.id}>." in text_of(here.card)

        result = await all.cleo.click(here.card, label="Approve")
        await here.settle()
        assert private(result) == [presses.COUNTED]
        assert (await state(here), here.bench.effects) == (["pending"], [])
        assert "waiting for sign-off, 1 of 2" in text_of(here.card)
        assert f"Approved by <@{all.cleo.id}>. Missing: 1 of <@{here.ana.id}>, <@&{all.x.id}>." in text_of(here.card)

        assert "You have approved this already" in await all.refusal(all.cleo)
        assert here.bench.effects == []

        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        assert f"-# Approved by <@{here.ana.id}>, <@{all.cleo.id}>" in text_of(here.card)
        votes = await here.rows("SELECT person, verdict FROM vote")
        assert {vote["person"] for vote in votes} == {str(all.cleo.id), str(here.ana.id)}
        events = [row["event"] for row in await here.rows("SELECT event FROM audit WHERE approval IS NOT NULL")]
        assert events.count("voted") == 1


async def test_any_authorised_no_ends_it(tmp_path: Path) -> None:
    """S-A04."""
    async with crowd(tmp_path, SHELL, "As you wish.") as all:
        here = all.here
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        approve = custom_id(here.card, "Approve")
        await all.cleo.click(here.card, label="Approve")
        await all.dora.click(here.card, label="Deny")
        await here.settle()
        assert await state(here) == ["denied"]
        [told] = private(await forge(here, all.fay, approve))
        assert "already been settled" in told
        assert here.bench.effects == []


async def test_who_approved_may_still_say_no(tmp_path: Path) -> None:
    async with crowd(tmp_path, SHELL, "As you wish.") as all:
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        await all.cleo.click(all.here.card, label="Approve")
        await all.cleo.click(all.here.card, label="Deny")
        await all.here.settle()
        assert await state(all.here) == ["denied"]


async def test_an_edit_starts_the_votes_at_zero(tmp_path: Path) -> None:
    """S-A22."""
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        await all.cleo.click(here.card, label="Approve")
        form = await all.dora.click(here.card, label="Edit…")
        await all.dora.submit_modal(form, {"text": "echo goodbye"})
        await here.settle()
        assert "0 of 2" in text_of(here.card)
        await all.dora.click(here.card, label="Approve")
        await here.settle()
        assert (await state(here))[-1] == "pending"
        await all.cleo.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]


async def test_votes_stay_when_the_deadline_is_put_off(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        await all.cleo.click(here.card, label="Approve")
        await all.dora.click(here.card, label="Extend")
        assert "1 of 2" in text_of(here.card)
        await all.dora.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_a_reminder_pings_only_those_who_are_still_missing(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(users=ids(here.ana, all.cleo), quorum=2)
        await all.ask()
        await all.cleo.click(here.card, label="Approve")
        here.clock.advance(seconds=86_400 - 600)
        await here.app.engine.sweep()
        await here.settle()
        [sent] = [body for body in here.requests("POST", "/messages") if "running out" in str(body.get("content"))]
        assert sent["allowed_mentions"]["users"] == [here.ana.id]


# -- one of each --------------------------------------------------------------------------------


async def test_one_of_each_role_has_to_approve_and_nobody_counts_for_two(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(one_of_each=(str(all.x.id), str(all.y.id)))
        await all.ask()
        await all.fay.click(here.card, label="Approve")
        await here.settle()
        assert (await state(here), here.bench.effects) == (["pending"], [])
        assert "1 of 2" in text_of(here.card)
        await all.cleo.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_two_of_the_same_role_are_not_one_of_each(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(one_of_each=(str(all.x.id), str(all.y.id)))
        await all.ask()
        for who in (all.cleo, all.dora):
            await who.click(here.card, label="Approve")
        await here.settle()
        assert await state(here) == ["pending"]
        assert f"Missing: one of <@&{all.y.id}>." in text_of(here.card)
        await all.emil.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


# -- four eyes ----------------------------------------------------------------------------------


async def test_with_four_eyes_the_requester_is_told_that_somebody_else_has_to(tmp_path: Path) -> None:
    """S-A03."""
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(users=ids(here.ben, here.ana), four_eyes=True)
        await all.ask()
        told = await all.refusal(here.ben)
        assert "another approver" in told
        assert f"<@{here.ana.id}>" in told
        assert f"<@{here.ben.id}>" not in told
        assert await state(here) == ["pending"]
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_with_four_eyes_who_edited_is_no_second_pair(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(users=ids(here.ana, all.cleo), four_eyes=True)
        await all.ask()
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        assert "changed this yourself" in await all.refusal(here.ana)
        await all.cleo.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]


async def test_without_four_eyes_who_edited_may_approve_by_a_press_of_its_own(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(users=ids(here.ana))
        await all.ask()
        form = await here.ana.click(here.card, label="Edit…")
        await here.ana.submit_modal(form, {"text": "echo goodbye"})
        await here.settle()
        assert here.bench.effects == []
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo goodbye"]


# -- per tool and place -------------------------------------------------------------------------


async def test_who_may_decide_one_tool_may_not_decide_another(tmp_path: Path) -> None:
    """S-A10."""
    async with crowd(tmp_path) as all:
        here = all.here
        here.approve_by(ApproverRule(tools=("act",), users=ids(all.cleo)), users=[here.ana.id])
        await all.ask()
        told = await all.refusal(all.cleo)
        assert "not an approver" in told
        assert f"SIGNOFF_APPROVER_USERS and SIGNOFF_APPROVER_ROLES say who decides: <@{here.ana.id}>." in told
        assert await state(here) == ["pending"]


async def test_a_channels_rule_holds_in_its_threads(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        here.approve_by(ApproverRule(channels=ids(here.channel), users=ids(all.cleo)), users=[here.ana.id])
        await here.env.bot.get_channel(here.channel.id).create_thread(
            name="talk", type=discord.ChannelType.public_thread
        )
        [thread] = here.channel.threads
        await here.ben.slash(thread, "ask", prompt="please")
        [card] = [message for message in thread.history() if message.flags.components_v2]
        [told] = private(await here.ana.click(card, label="Approve"))
        assert "Rule 1 of [[approvers]] says who decides" in told
        await all.cleo.click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_one_press_for_all_decides_what_it_may_and_says_what_it_may_not(tmp_path: Path) -> None:
    calls = [("shell", {"command": "echo one"}), ("act", {"what": "two"})]
    async with crowd(tmp_path, calls, "Done.") as all:
        here = all.here
        here.approve_by(ApproverRule(tools=("act",), users=ids(all.cleo)), users=[here.ana.id])
        await all.ask()
        [told] = private(await all.cleo.click(here.card, label="Approve all"))
        await here.settle()
        assert await state(here) == ["pending", "succeeded"]
        assert told.startswith("Not all of them: You are not an approver here")


# -- people who guard a server are no approvers by that -----------------------------------------


async def test_the_owner_of_the_server_is_no_approver_by_that(tmp_path: Path) -> None:
    """S-A08: people-only mode."""
    async with crowd(tmp_path) as all:
        here = all.here
        here.approve_by(users=[all.cleo.id])
        owner = here.guild.add_member(here.env.create_user("owner"), roles=[])
        admin = here.guild.create_role("Admins", permissions=discord.Permissions(administrator=True))
        boss = here.guild.add_member(here.env.create_user("boss"), roles=[admin])
        await all.ask()
        for who in (owner, boss):
            assert "not an approver" in await all.refusal(who)
        assert await state(here) == ["pending"]


# -- roles that go and come ---------------------------------------------------------------------


async def test_a_vote_of_somebody_who_lost_the_role_before_the_claim_does_not_count(tmp_path: Path) -> None:
    """The roles are read once more at the claim; what does not count any more makes the call void, and says so."""
    async with crowd(tmp_path, SHELL, "It was void.") as all:
        here = all.here
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        await all.cleo.click(here.card, label="Approve")
        all.lose(all.cleo)
        await all.dora.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == []
        assert await state(here) == ["void"]
        assert f"the approval of <@{all.cleo.id}> does not count any more" in text_of(here.card)
        assert "does not count any more" in here.script.results()[0][1]


async def test_somebody_who_left_before_the_claim_does_not_count(tmp_path: Path) -> None:
    async with crowd(tmp_path, SHELL, "It was void.") as all:
        here = all.here
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        await all.cleo.click(here.card, label="Approve")
        here.guild.remove_member(all.cleo)
        await all.dora.click(here.card, label="Approve")
        await here.settle()
        assert (await state(here), here.bench.effects) == (["void"], [])


async def test_while_discord_cannot_say_who_holds_a_role_nothing_runs_and_then_it_does(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x))
        await all.ask()
        here.env.inject_error("GET", "/guilds/*/members/*", status=403, code=50001, times=2)
        await all.cleo.click(here.card, label="Approve")
        await here.settle()
        assert (await state(here), here.bench.effects) == (["approved"], [])
        for _ in range(3):
            await here.app.engine.sweep()
            await here.app.background.idle()
        assert here.bench.effects == ["echo hello"]


async def test_what_cannot_be_checked_by_the_deadline_is_void(tmp_path: Path) -> None:
    async with crowd(tmp_path, SHELL, "It was void.") as all:
        here = all.here
        all.by(roles=ids(all.x))
        await all.ask()
        here.env.inject_error("GET", "/guilds/*/members/*", status=403, code=50001, times=100)
        await all.cleo.click(here.card, label="Approve")
        await here.settle()
        here.clock.advance(seconds=86_400)
        await here.app.engine.sweep()
        await here.app.background.idle()
        assert (await state(here), here.bench.effects) == (["void"], [])
        assert "could not be found out in time" in text_of(here.card)


# -- from elsewhere -----------------------------------------------------------------------------


async def a_press(here: Guild, person: Any, guild: str | None) -> Press:
    [row] = await here.rows("SELECT id, place FROM approval")
    return Press(actor=Actor(id=str(person.id), guild=guild), approval=row["id"], place=row["place"], message=None)


async def test_a_press_from_direct_messages_is_looked_up_in_the_calls_own_guild(tmp_path: Path) -> None:
    """A16."""
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x))
        await all.ask()
        with pytest.raises(NotAllowed, match="not_approver"):
            await here.app.engine.decide(await a_press(here, all.emil, None), "approve")
        await here.app.engine.decide(await a_press(here, all.cleo, None), "approve")
        await here.app.background.idle()
        assert here.bench.effects == ["echo hello"]


async def test_a_press_from_direct_messages_of_somebody_who_left_counts_for_nothing(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(users=ids(all.cleo))
        await all.ask()
        here.guild.remove_member(all.cleo)
        with pytest.raises(NotAllowed, match="not_member"):
            await here.app.engine.decide(await a_press(here, all.cleo, None), "approve")


async def test_a_press_from_direct_messages_counts_for_nothing_while_nobody_can_be_looked_up(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        here = all.here
        all.by(roles=ids(all.x))
        await all.ask()
        here.env.inject_error("GET", "/guilds/*/members/*", status=403, code=50001, times=2)
        with pytest.raises(NotAllowed, match="unknown_member"):
            await here.app.engine.decide(await a_press(here, all.cleo, None), "approve")
        assert await state(here) == ["pending"]


async def test_a_press_from_another_guild_counts_for_nothing_there(tmp_path: Path) -> None:
    """S-A07."""
    async with crowd(tmp_path, SHELL, SHELL, "Done.") as all:
        here = all.here
        all.by(users=ids(all.cleo))
        await all.ask()
        other = here.env.create_guild("Elsewhere")
        cleo = other.add_member(all.cleo.user)
        channel = other.create_text_channel("ops")
        await cleo.slash(channel, "ask", prompt="please")
        [card] = [message for message in channel.history() if message.flags.components_v2]
        [told] = private(await forge(here, cleo, custom_id(here.card, "Approve"), message=card))
        assert "belongs to another server" in told
        assert await here.rows("SELECT detail FROM audit WHERE event = 'press_refused'") == [
            {"detail": '{"code": "wrong_guild"}'}
        ]
        assert (await state(here))[0] == "pending"


async def test_members_are_looked_up_once_in_a_few_seconds_and_then_anew(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        time = [100.0]
        looked = Members(all.here.env.bot, now=lambda: time[0])
        for _ in range(3):
            assert await looked.roles_of(all.here.guild.id, all.cleo.id) == ids(all.x)
        assert len(all.here.requests("GET", f"/members/{all.cleo.id}")) == 1
        time[0] += members.FRESH_SECONDS
        all.lose(all.cleo)
        assert await looked.roles_of(all.here.guild.id, all.cleo.id) == frozenset()
        assert await looked.roles_of(all.here.guild.id, 12345) is None


# -- settings -----------------------------------------------------------------------------------


async def test_a_rule_about_a_tool_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    settings = Settings.model_validate({"approvers": [{"tools": ["shel"], "users": ["1"]}]})
    with pytest.raises(SettingsError, match="rule 1 about shel, and no tool is called so"):
        async with open_guild(tmp_path, Script(), settings=settings):
            pass


async def test_a_start_with_everybodys_role_among_the_approvers_is_refused_by_name(tmp_path: Path) -> None:
    """S-A01."""
    async with open_guild(tmp_path, Script()) as here:
        here.approve_by(ApproverRule(roles=ids(here.guild)))
        with pytest.raises(StartError, match=f"{here.guild.id} stands among the approver roles.*Harbour"):
            await here.restart()


async def test_a_start_with_a_role_of_its_own_among_the_approvers_goes_well(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        all.by(roles=ids(all.x))
        await all.here.restart()


async def test_the_buttons_are_the_same_for_everybody(tmp_path: Path) -> None:
    async with crowd(tmp_path) as all:
        all.by(roles=ids(all.x), quorum=2)
        await all.ask()
        assert labels(all.here.card)[:2] == ["Approve", "Deny"]
