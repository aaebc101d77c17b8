"""`/approvals`: open requests of the whole guild, decided from the list by the one function that decides (issue 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from bot.rules import ApproverRule
from cogs import approval_list, list_presses
from cogs.approval_list import Leaf, Show
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.cogs.test_lists import SHELL, hidden
from tests.cogs.test_presses import forge, private, state
from tests.house import Script

LONG = [("shell", {"command": "echo " + "very " * 200 + "long"})]


async def listed(here: Guild, who: Any, **options: Any) -> Any:
    """The private list of one person."""
    result = await who.slash(here.channel, "approvals", **options)
    assert result.ephemeral
    return result.response.message


async def many(here: Guild, count: int, *, by: Any = None) -> None:
    for number in range(count):
        here.script.steps[:0] = [[("shell", {"command": f"echo {number}"})]]
        await (by or here.ben).slash(here.channel, "ask", prompt=f"please {number}")
        await here.settle()


async def test_an_approver_finds_requests_of_every_channel_and_approves_one_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        elsewhere = here.guild.create_text_channel("elsewhere")
        result = await here.ana.slash(elsewhere, "approvals")
        text = text_of(result.response.message)
        assert f"https://discord.com/channels/{here.guild.id}/{here.channel.id}/{here.card.id}" in text
        assert "echo hello" in text
        assert f"<@{here.ben.id}>" in text
        pressed = await here.ana.click(result.response.message, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello\nexit"]
        assert await state(here) == ["succeeded"]
        after = text_of((await here.ana.slash(elsewhere, "approvals")).response.message)
        assert "Nothing here waits" in after
        assert pressed.followups == []


async def test_the_list_shows_at_once_what_a_press_came_to(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        message = await listed(here, here.ana)
        result = await here.ana.click(message, label="Deny")
        await here.settle()
        assert list_presses.DENIED in text_of(result.response.message)
        assert "echo hello" not in text_of(result.response.message)
        [entry] = await here.rows("SELECT actor FROM audit WHERE event = 'denied'")
        assert entry["actor"] == str(here.ana.id)


async def test_who_may_not_decide_gets_no_buttons_for_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        assert labels(await listed(here, here.mallory, show="all")) == ["Details", "Look again"]
        assert labels(await listed(here, here.ben)) == ["Cancel", "Details", "Look again"]


async def test_rights_are_asked_at_the_press_not_when_the_list_was_drawn(tmp_path: Path) -> None:
    """Case A14, A15: one function for every route; a refusal is private, names the rule, and is on the trail."""
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        message = await listed(here, here.ana)
        here.approve_by(users=[here.ben.id])
        result = await here.ana.click(message, label="Approve")
        await here.settle()
        assert "You are not an approver here" in private(result)[-1]
        assert await state(here) == ["pending"]
        [entry] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert entry["actor"] == str(here.ana.id)
        assert "not_approver" in entry["detail"]


async def test_the_second_to_decide_from_a_list_is_told_who_was_first(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        message = await listed(here, here.ana)
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        result = await here.ana.click(message, label="Approve")
        await here.settle()
        assert "denied" in private(result)[-1]
        assert here.bench.effects == []


async def test_four_eyes_hold_in_the_list_too(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        here.approve_by(ApproverRule(four_eyes=True), users=[here.ana.id, here.ben.id])
        await here.ana.slash(here.channel, "ask", prompt="please")
        assert labels(await listed(here, here.ana)) == ["Cancel", "Details", "Look again"]
        assert labels(await listed(here, here.ben)) == ["Approve", "Deny", "Details", "Look again"]


async def test_a_vote_from_the_list_counts_once_and_says_that_more_are_needed(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        here.approve_by(ApproverRule(quorum=2), users=[here.ana.id, here.mallory.id])
        await here.ben.slash(here.channel, "ask", prompt="please")
        result = await here.ana.click(await listed(here, here.ana), label="Approve")
        await here.settle()
        assert list_presses.COUNTED in text_of(result.response.message)
        assert here.bench.effects == []
        await here.mallory.click(await listed(here, here.mallory), label="Approve")
        await here.settle()
        assert len(here.bench.effects) == 1


async def test_what_the_list_does_not_show_whole_wants_a_second_step(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(LONG, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        message = await listed(here, here.ana)
        form = await here.ana.click(message, label="Approve")
        assert form.modal is not None
        assert await state(here) == ["pending"]
        result = await here.ana.submit_modal(form, {"text": "yes"})
        assert "Nothing was approved" in private(result)[-1]
        form = await here.ana.click(message, label="Approve")
        result = await here.ana.submit_modal(form, {"text": "approve"})
        await here.settle()
        assert private(result)[-1] == list_presses.APPROVED
        assert len(here.bench.effects) == 1


async def test_ones_own_request_is_cancelled_from_the_list(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL, "I see.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        result = await here.ben.click(await listed(here, here.ben), label="Cancel")
        await here.settle()
        assert list_presses.CANCELLED in text_of(result.response.message)
        assert await state(here) == ["cancelled"]


async def test_details_are_private_and_whole(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        result = await here.mallory.click(await listed(here, here.mallory, show="all"), label="Details")
        assert "Digest:" in private(result)[-1]


async def test_mine_and_team_part_what_is_open(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await many(here, 1, by=here.ana)
        await many(here, 1, by=here.ben)
        mine = text_of(await listed(here, here.ana, show="mine"))
        team = text_of(await listed(here, here.ana, show="team"))
        both = text_of(await listed(here, here.ana))
        assert "Asked by you" in mine
        assert f"Asked by <@{here.ben.id}>" not in mine
        assert f"Asked by <@{here.ben.id}>" in team
        assert "Asked by you" not in team
        assert "Asked by you" in both
        assert f"Asked by <@{here.ben.id}>" in both


@pytest.mark.parametrize(
    ("show", "said"), [(None, Show.CONCERNS_ME), ("mine", Show.MINE), ("team", Show.TEAM), ("all", Show.ALL)]
)
async def test_an_empty_list_says_what_is_not_there(tmp_path: Path, show: str | None, said: Show) -> None:
    async with open_guild(tmp_path, Script()) as here:
        options = {} if show is None else {"show": show}
        assert approval_list._EMPTY[said] in text_of(await listed(here, here.ben, **options))


async def test_a_stranger_is_told_that_others_wait_without_being_shown_them(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        text = text_of(await listed(here, here.mallory))
        assert "Nothing here waits for you" in text
        assert "1 more that you can see" in text


async def test_a_long_list_has_pages_and_a_press_stays_on_its_page(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await many(here, 6)
        message = await listed(here, here.ana)
        assert "Page 1 of 2, 6 requests" in text_of(message)
        assert labels(message).count("Approve") == 4
        second = (await here.ana.click(message, label="Next")).response.message
        assert "Page 2 of 2" in text_of(second)
        assert "echo 4" in text_of(second)
        third = (await here.ana.click(second, custom_id=custom_id(second, "Deny"))).response.message
        await here.settle()
        assert "Page 2 of 2, 5 requests" in text_of(third)
        assert labels((await here.ana.click(third, label="Back")).response.message).count("Deny") == 4


async def test_what_lies_in_a_channel_one_cannot_see_is_only_counted(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(hidden(here, here.ben), "ask", prompt="please")
        told = text_of(await listed(here, here.mallory, show="all"))
        assert "echo hello" not in told
        assert "1 more in channels that you cannot open" in told
        assert "echo hello" in text_of(await listed(here, here.ben))


async def test_a_private_thread_is_not_everybodys(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        made = await here.env.bot.get_channel(here.channel.id).create_thread(name="quiet")
        await made.add_user(discord.Object(here.ben.id))
        [thread] = here.channel.threads
        await here.ben.slash(thread, "ask", prompt="please")
        assert "echo hello" in text_of(await listed(here, here.ben))
        assert "echo hello" not in text_of(await listed(here, here.mallory, show="all"))


async def test_another_persons_direct_messages_are_not_listed(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(SHELL)) as here:
        here.app.engine.set_owners(frozenset({str(here.ben.id)}))
        ben, mallory = here.people["ben"], here.people["mallory"]
        await ben.send_dm("please")
        await here.settle()
        assert "echo hello" not in text_of((await mallory.slash("approvals", show="all")).response.message)
        assert "echo hello" in text_of((await ben.slash("approvals")).response.message)


async def test_a_list_button_on_any_other_message_decides_nothing(tmp_path: Path) -> None:
    """Case A1: a button counts only where it belongs."""
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [call] = await here.rows("SELECT id FROM approval")
        result = await forge(here, here.ana, f"so1:list-approve:{call['id']}:0")
        await here.settle()
        assert private(result) == [list_presses.NOT_A_LIST]
        assert await state(here) == ["pending"]


@pytest.mark.parametrize("show", Show)
@pytest.mark.parametrize("page", [0, 1, 7])
def test_where_somebody_is_in_a_list_comes_back_as_it_was_sent(show: Show, page: int) -> None:
    assert Leaf.read(Leaf(show=show, page=page).number) == Leaf(show=show, page=page)
