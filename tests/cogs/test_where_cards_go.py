"""Where cards go on Discord: approvals channels, forums, direct messages; threads that sleep or are closed; what
Discord's refusals come to (cases A13, A16, A22, A25, A34)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.errors import Locked
from bot.where import Places, Quiet
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.cogs.test_presses import SHELL, WAITING, private, state
from tests.cogs.test_surface import surface
from tests.house import Script

SILENT = 1 << 12
"""Discord's flag SUPPRESS_NOTIFICATIONS."""


@asynccontextmanager
async def guild_with(folder: Path, *steps: Any, places: Places | None = None) -> AsyncIterator[Guild]:
    async with open_guild(folder, Script(*(steps or (SHELL, "Done.")))) as here:
        if places is not None:
            here.cards_go(places)
        yield here


def cards_in(channel: Any) -> list[discord.Message]:
    return [message for message in channel.history() if message.flags.components_v2]


def direct(here: Guild, name: str) -> list[discord.Message]:
    return cards_in(here.people[name].dm_channel)


async def ask(here: Guild, channel: Any = None, *, by: Any = None) -> Any:
    result = await (by or here.ben).slash(channel or here.channel, "ask", prompt="please")
    await here.settle()
    return result


async def in_a_thread(here: Guild) -> Any:
    made = await here.env.bot.get_channel(here.channel.id).create_thread(
        name="quiet", type=discord.ChannelType.public_thread
    )
    await made.add_user(discord.Object(here.ben.id))
    await made.add_user(discord.Object(here.ana.id))
    return next(thread for thread in here.channel.threads if thread.id == made.id)


# -- several places --------------------------------------------------------------------------------


async def test_here_there_and_directly_all_copies_work_and_stay_in_step(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        there = here.guild.create_text_channel("approvals")
        here.cards_go(Places(channel=str(there.id), people=(str(here.ana.id),)))
        await ask(here)
        copies = [*cards_in(here.channel), *cards_in(there), *direct(here, "ana")]
        assert len(copies) == 3
        assert f"in <#{here.channel.id}>" in text_of(copies[1])
        assert f"in <#{here.channel.id}>" not in text_of(copies[0])
        result = await here.people["ana"].click(copies[2], label="Approve")
        await here.settle()
        assert result.acknowledged
        assert here.bench.effects == ["echo hello"]
        copies = [*cards_in(here.channel), *cards_in(there), *direct(here, "ana")]
        assert len(copies) == 3
        assert all("Approve" not in text_of(card) and f"<@{here.ana.id}>" in text_of(card) for card in copies)


async def test_whoever_approves_by_a_role_can_press_in_direct_messages(tmp_path: Path) -> None:
    """A16: the role is looked up in the server where it was asked."""
    async with guild_with(tmp_path) as here:
        role = here.guild.create_role("ops")
        user = here.env.create_user("cleo")
        here.guild.add_member(user, roles=[role])
        here.approve_by(roles=[role.id])
        here.cards_go(Places(people=(str(user.id),)))
        await ask(here)
        [card] = cards_in(user.dm_channel)
        await user.click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_a_copy_in_somebodys_messages_lets_nobody_decide_who_may_not(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        here.cards_go(Places(people=(str(here.mallory.id),)))
        await ask(here)
        [card] = direct(here, "mallory")
        result = await here.people["mallory"].click(card, label="Approve")
        await here.settle()
        assert "You are not an approver here" in private(result)[0]
        assert await state(here) == ["pending"]


async def test_where_the_card_went_is_told_where_it_was_asked(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        there = here.guild.create_text_channel("approvals")
        here.cards_go(Places(here=False, channel=str(there.id)))
        await ask(here)
        assert cards_in(here.channel) == []
        assert f"the card is in https://discord.com/channels/{here.guild.id}/{there.id}." in here.texts[-1]
        assert "below" not in here.texts[-1]


async def test_the_list_links_to_where_the_card_is(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        there = here.guild.create_text_channel("approvals")
        here.cards_go(Places(here=False, channel=str(there.id)))
        await ask(here)
        [card] = cards_in(there)
        listed = await here.ana.slash(here.channel, "approvals")
        assert card.jump_url in text_of(listed.response.message)


async def test_a_card_in_a_forum_gets_a_post_of_its_own(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        forum = here.guild.create_forum_channel("sign-offs")
        here.cards_go(Places(here=False, channel=str(forum.id)))
        await ask(here)
        [post] = forum.threads
        [row] = await here.rows("SELECT id, place FROM card")
        assert post.name.startswith("shell echo hello")
        assert post.name.endswith(row["id"])
        assert row["place"] == f"discord/{here.guild.id}/{post.id}"
        [card] = cards_in(post)
        await here.ana.click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_a_post_whose_creation_was_cut_off_is_found_again(tmp_path: Path) -> None:
    """There is no nonce for posts: the name tells it."""
    async with guild_with(tmp_path) as here:
        forum = here.guild.create_forum_channel("sign-offs")
        here.cards_go(Places(here=False, channel=str(forum.id)))
        here.env.inject_error("POST", "/channels/*/messages", status=502, times=None)
        await ask(here)
        async with here.app.database.begin("as if it had not been stored") as tx:
            await tx.execute("UPDATE card SET place = ?", f"discord/{here.guild.id}/{forum.id}")
        here.env.backend.faults.clear()
        await here.later(seconds=10)
        assert len(forum.threads) == 1
        assert len(cards_in(forum.threads[0])) == 1


@pytest.mark.parametrize(("code", "words"), [(40067, "wants a tag"), (160006, "as many open threads")])
async def test_a_forum_that_takes_no_post_is_stood_in_for(tmp_path: Path, code: int, words: str) -> None:
    """160006, 40067."""
    async with guild_with(tmp_path) as here:
        forum = here.guild.create_forum_channel("sign-offs")
        here.cards_go(Places(here=False, channel=str(forum.id)))
        here.env.inject_error("POST", "/channels/*/threads", status=400, code=code)
        await ask(here)
        assert len(cards_in(here.channel)) == 1
        [row] = await here.rows("SELECT error FROM card WHERE gone = 1")
        assert words in row["error"]


# -- whom it notifies ------------------------------------------------------------------------------


async def test_one_message_notifies_the_approvers_and_nobody_else(tmp_path: Path) -> None:
    """A22: two copies and two requests in two threads; each names its people once."""
    async with guild_with(tmp_path, SHELL, SHELL) as here:
        there = here.guild.create_text_channel("approvals")
        here.cards_go(Places(channel=str(there.id)))
        await ask(here)
        cards = [
            body for body in here.requests("POST", "/messages") if body.get("flags", 0) & 1 << 15 and body["nonce"]
        ]
        pinged = [list(map(int, body["allowed_mentions"].get("users", []))) for body in cards]
        assert sorted(pinged)[-2:] == [[], [here.ana.id]]
        assert sum(map(len, pinged)) == 1
        assert all(body["allowed_mentions"]["parse"] == [] for body in here.requests("POST", "/messages"))
        copies = [cards_in(here.channel)[0], cards_in(there)[0]]
        await here.ana.click(copies[0], label="Extend")
        await here.settle()
        named = [
            text_of(card).startswith(f"<@{here.ana.id}>") for card in (cards_in(here.channel)[0], cards_in(there)[0])
        ]
        assert named == [text_of(card).startswith(f"<@{here.ana.id}>") for card in copies]
        assert sum(named) == 1


@pytest.mark.parametrize(("hours", "flag"), [("22:00-23:00", SILENT), ("23:00-22:00", 0)])
async def test_quiet_hours_make_card_and_reminder_silent(tmp_path: Path, hours: str, flag: int) -> None:
    async with guild_with(tmp_path, places=Places(quiet=Quiet(hours=hours))) as here:  # it is 22:13 UTC there
        await ask(here)
        assert here.card.flags.value & SILENT == flag
        assert here.ana.id in [user.id for user in here.card.mentions]
        await here.later(seconds=86_400 - 300)
        reminder = here.messages[-1]
        assert "its time is running out" in reminder.content
        assert reminder.flags.value & SILENT == flag
        assert reminder.reference is not None
        assert reminder.reference.message_id == here.card.id


async def test_quiet_hours_never_silence_the_answer(tmp_path: Path) -> None:
    async with guild_with(tmp_path, places=Places(quiet=Quiet(hours="22:00-23:00"))) as here:
        await ask(here)
        await here.later(seconds=120)
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.texts[-1].endswith("Done.")
        assert not here.messages[-1].flags.value & SILENT


async def test_closed_direct_messages_are_told_under_the_card_to_whom_they_belong(tmp_path: Path) -> None:
    """50007."""
    async with guild_with(tmp_path) as here:
        dm = await here.env.bot.create_dm(discord.Object(here.ana.id))
        here.cards_go(Places(people=(str(here.ana.id),), here=True))
        here.env.inject_error("POST", f"/channels/{dm.id}/messages", status=403, code=50007, times=None)
        await ask(here)
        await here.settle()
        said = here.messages[-1]
        assert "directly: Your direct messages are closed to me." in said.content
        assert [user.id for user in said.mentions] == [here.ana.id]
        assert said.reference is not None
        assert said.reference.message_id == here.card.id
        await here.later(seconds=3_600)
        assert len(here.requests("POST", f"/channels/{dm.id}/messages")) == 1  # and it is not tried in a loop


# -- permissions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "name"),
    [
        ("send_messages", "Send Messages"),
        ("embed_links", "Embed Links"),
        ("attach_files", "Attach Files"),
    ],
)
async def test_what_is_missing_at_the_start_of_a_turn_is_named_and_nothing_begins(
    tmp_path: Path, lost: str, name: str
) -> None:
    async with guild_with(tmp_path) as here:
        narrow = here.guild.create_text_channel(
            "narrow", overwrites={here.guild.me: discord.PermissionOverwrite(**{lost: False})}
        )
        result = await ask(here, narrow)
        assert f"I lack {name} here" in result.response.content or f"I lack {name}." in result.response.content
        assert result.response.ephemeral
        assert await here.rows("SELECT 1 FROM run") == []


@pytest.mark.parametrize(("code", "words"), [(50001, "I cannot see that channel."), (50013, "I lack")])
async def test_permissions_that_are_lost_between_the_question_and_the_card_lead_elsewhere(
    tmp_path: Path, code: int, words: str
) -> None:
    """50001, 50013: here the approver's direct messages."""
    async with guild_with(tmp_path) as here:
        path = f"/channels/{here.channel.id}/messages"
        here.env.inject_error("POST", path, status=403, code=code, times=None)
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.settle()
        [card] = direct(here, "ana")
        [row] = await here.rows("SELECT error FROM card WHERE gone = 1")
        assert words in row["error"]
        await here.people["ana"].click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_when_neither_the_channel_nor_an_approver_takes_the_card_everybody_is_told(tmp_path: Path) -> None:
    """A13: the call ends undeliverable, the model is told, and `/why` and the trail have it."""
    async with guild_with(tmp_path) as here:
        dm = await here.env.bot.create_dm(discord.Object(here.ana.id))
        here.env.inject_error("POST", f"/channels/{dm.id}/messages", status=403, code=50007, times=None)
        here.env.inject_error("POST", f"/channels/{here.channel.id}/messages", status=403, code=50013, times=None)
        await ask(here)
        assert await state(here) == ["undeliverable"]
        [(outcome, told)] = here.script.results()
        assert outcome == "failed"
        assert "closed to me" in told
        assert here.bench.effects == []


async def test_where_the_bot_lost_its_voice_the_answer_reaches_whoever_asked_directly(tmp_path: Path) -> None:
    """A13, A25: people are told, and told why it comes this way."""
    async with guild_with(tmp_path) as here:
        dm = await here.env.bot.create_dm(discord.Object(here.ana.id))
        here.env.inject_error("POST", f"/channels/{dm.id}/messages", status=403, code=50007, times=None)
        here.env.inject_error("POST", f"/channels/{here.channel.id}/messages", status=403, code=50013, times=None)
        await ask(here)
        await here.later(seconds=5)
        [message] = here.people["ben"].dm_channel.history()
        assert message.content.startswith("Done.")
        assert "I could not say this where it was asked" in message.content


async def test_a_channel_that_is_closed_to_the_bot_keeps_no_decision_from_counting(tmp_path: Path) -> None:
    """Lost permissions while it waits: the press still comes, the edit does not; the other copy is right."""
    async with guild_with(tmp_path) as here:
        there = here.guild.create_text_channel("approvals")
        here.cards_go(Places(channel=str(there.id)))
        await ask(here)
        here.env.inject_error("PATCH", f"/channels/{here.channel.id}/messages/*", status=403, code=50001, times=1)
        await here.ana.click(cards_in(there)[0], label="Deny")
        await here.settle()
        assert await state(here) == ["denied"]
        assert "denied" in text_of(cards_in(there)[0])
        await here.later(seconds=10)  # by then the channel is open again
        assert "denied" in text_of(cards_in(here.channel)[0])
        assert await here.rows("SELECT 1 FROM card WHERE shown < version") == []


async def test_an_approver_who_cannot_see_the_channel_gets_the_card_directly(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        hidden = here.guild.create_text_channel(
            "hidden", overwrites={here.ana: discord.PermissionOverwrite(view_channel=False)}
        )
        await ask(here, hidden)
        [card] = direct(here, "ana")
        assert len(cards_in(hidden)) == 1
        await here.people["ana"].click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


# -- threads and slow mode ---------------------------------------------------------------------------


async def test_a_card_in_a_sleeping_thread_is_edited_after_waking_it(tmp_path: Path) -> None:
    """50083: Discord wakes a thread for a new message, and never for an edit."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        await ask(here, thread)
        [card] = cards_in(thread)
        here.env.inject_error("PATCH", f"/channels/{thread.id}/messages/*", status=400, code=50083)
        await here.ana.click(card, label="Deny")
        await here.settle()
        assert "denied" in text_of(cards_in(thread)[0])
        assert {"archived": False} in here.requests("PATCH", f"/channels/{thread.id}")


async def test_a_thread_that_may_not_be_woken_is_said_to_be_closed(tmp_path: Path, approval: Any, view: Any) -> None:
    """50083 with no right to open it."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        await ask(here, thread)
        here.env.inject_error("PATCH", f"/channels/{thread.id}/messages/*", status=400, code=50083, times=None)
        here.env.inject_error("PATCH", f"/channels/{thread.id}", status=403, code=50013, times=None)
        showing = here.app.engine.showing
        await showing.look_again()
        await here.later(seconds=2)
        assert len(cards_in(here.channel)) == 1  # above the thread, where it can be pressed
        shown = view(approval(), message=str(cards_in(thread)[0].id))
        closed = replace(shown, card=replace(shown.card, place=f"discord/{here.guild.id}/{thread.id}"))
        with pytest.raises(Locked, match="archived, and I may not open it again"):
            await surface(here).edit_card(closed)


async def test_in_a_server_without_room_for_another_open_thread_the_card_is_above_it(tmp_path: Path) -> None:
    """160006 on the way into a sleeping thread."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        here.env.inject_error("POST", f"/channels/{thread.id}/messages", status=400, code=160006, times=None)
        await ask(here, thread)
        [card] = cards_in(here.channel)
        assert f"in <#{thread.id}>" in text_of(card)


async def test_a_thread_with_an_open_request_is_kept_awake(tmp_path: Path) -> None:
    """Some clients let nobody press in an archived thread."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        await ask(here, thread)
        here.env.backend.edit_channel(thread.id, {}, thread_metadata={"archived": True})
        await here.settle()
        assert not here.env.backend.get_channel(thread.id).thread_metadata.archived
        await here.ana.click(cards_in(thread)[0], label="Deny")
        await here.settle()
        here.env.backend.edit_channel(thread.id, {}, thread_metadata={"archived": True})
        await here.settle()
        assert here.env.backend.get_channel(thread.id).thread_metadata.archived


async def test_the_card_in_a_locked_thread_is_shown_where_it_can_be_pressed(tmp_path: Path) -> None:
    """A34: locked while a request is pending."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        await ask(here, thread)
        here.env.backend.edit_channel(thread.id, {}, thread_metadata={"locked": True, "archived": True})
        await here.settle()
        [card] = cards_in(here.channel)
        assert f"in <#{thread.id}>" in text_of(card)
        await here.ana.click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_a_thread_that_is_locked_already_takes_no_card(tmp_path: Path) -> None:
    """A34, 160005."""
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        here.env.inject_error("POST", f"/channels/{thread.id}/messages", status=400, code=160005, times=None)
        await ask(here, thread)
        assert len(cards_in(here.channel)) == 1


async def test_a_short_slow_mode_is_waited_for(tmp_path: Path) -> None:
    """20016."""
    async with guild_with(tmp_path) as here:
        here.env.backend.edit_channel(here.channel.id, {"rate_limit_per_user": 20})
        here.env.inject_error("POST", f"/channels/{here.channel.id}/messages", status=400, code=20016, times=None)
        await ask(here)
        here.env.backend.faults.clear()
        await here.later(seconds=19)
        assert here.cards == []
        await here.later(seconds=1)
        assert len(here.cards) == 1


async def test_a_slow_mode_of_hours_sends_the_card_elsewhere(tmp_path: Path) -> None:
    """20016."""
    async with guild_with(tmp_path) as here:
        here.env.backend.edit_channel(here.channel.id, {"rate_limit_per_user": 21_600})
        here.env.inject_error("POST", f"/channels/{here.channel.id}/messages", status=400, code=20016, times=None)
        await ask(here)
        assert len(direct(here, "ana")) == 1


# -- what moderators do ------------------------------------------------------------------------------


async def test_a_card_that_a_moderator_deletes_is_posted_anew_once(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        here.env.backend.delete_message(here.channel.id, here.card.id)
        await here.settle()
        assert len(here.cards) == 1
        assert "Posted once more: the card before this one was deleted." in text_of(here.card)
        assert here.ana.id not in [user.id for user in here.card.mentions]
        here.env.backend.delete_message(here.channel.id, here.card.id)
        await here.settle()
        assert here.cards == []
        [card] = direct(here, "ana")
        await here.people["ana"].click(card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_cards_that_are_purged_are_posted_anew(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        everything = [message.id for message in here.messages]
        await here.env.bot.get_channel(here.channel.id).delete_messages([discord.Object(id) for id in everything])
        await here.settle()
        assert len(here.cards) == 1
        assert await state(here) == ["pending"]


async def test_what_waited_in_a_deleted_channel_waits_elsewhere(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        here.env.backend.delete_channel(here.channel.id)
        await here.settle()
        assert len(direct(here, "ana")) == 1
        assert await state(here) == ["pending"]


async def test_what_waited_in_a_deleted_thread_waits_in_its_channel(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        thread = await in_a_thread(here)
        await ask(here, thread)
        here.env.backend.delete_channel(thread.id)
        await here.settle()
        assert len(here.cards) == 1
        assert await state(here) == ["pending"]


async def test_what_waited_in_a_server_that_put_the_bot_out_has_ended(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        here.env.backend.remove_guild(here.guild.id)
        await here.settle()
        assert await state(here) == ["undeliverable"]


async def test_at_a_new_connection_a_card_is_found_missing(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        del here.env.backend.messages[here.channel.id][here.card.id]  # while nobody listened
        await here.restart()
        await here.later(seconds=5)
        assert len(here.cards) == 1
        assert "Posted once more" in text_of(here.card)


async def test_the_buttons_of_a_card_posted_anew_are_all_there(tmp_path: Path) -> None:
    async with guild_with(tmp_path) as here:
        await ask(here)
        here.env.backend.delete_message(here.channel.id, here.card.id)
        await here.settle()
        assert labels(here.card) == WAITING
