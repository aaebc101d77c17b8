"""Discord as a face: receipts, exact pings, and refusals told apart (cases A13, A25, A30, S-A38)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from bot.errors import DeliveryError, Unreachable
from bot.surface import Announcement, CardView
from cogs.faults import NotAccepted
from cogs.places import Place
from cogs.posting import Post
from cogs.surface import DiscordSurface
from storage.approvals import ApprovalState
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.house import Script


def surface(here: Guild) -> DiscordSurface:
    found: DiscordSurface = here.env.bot.surface
    return found


def place(here: Guild) -> str:
    return f"discord/{here.guild.id}/{here.channel.id}"


def at(view: CardView, here: Guild, *, message: str | None = None) -> CardView:
    from dataclasses import replace

    return replace(view, card=replace(view.card, place=place(here), message=message))


def saying(here: Guild, text: str = "Done.", **more: Any) -> Announcement:
    return Announcement(key="answer:1", place=place(here), text=text, **more)


async def test_an_announcement_notifies_exactly_whom_it_names(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        receipt = await surface(here).announce(saying(here, "Done, @everyone.", ping=(str(here.ben.id),)))
        message = here.messages[-1]
        assert str(message.id) == receipt
        assert message.content == f"<@{here.ben.id}> Done, @everyone."
        assert [user.id for user in message.mentions] == [here.ben.id]
        assert not message.mention_everyone


async def test_a_name_that_is_in_the_text_already_is_not_repeated(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        text = f"Job done for <@{here.ben.id}>."
        await surface(here).announce(saying(here, text, ping=(str(here.ben.id),)))
        assert here.texts[-1] == text


async def test_a_reminder_names_its_moment_and_answers_the_card(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        first = await surface(here).announce(saying(here))
        await surface(here).announce(saying(here, "Hurry.", deadline=1_700_000_000_500, reply_to=first))
        assert here.texts[-1] == "Hurry. <t:1700000000:R>"
        assert here.messages[-1].reference.message_id == int(first)


async def test_a_possible_repeat_says_so_under_the_same_nonce(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await surface(here).announce(saying(here))
        await surface(here).announce(saying(here, repeated=True))
        assert "may have seen this already" in here.texts[-1]
        assert len({body["nonce"] for body in here.requests("POST", "/messages")}) == 1


async def test_a_direct_message_says_where_it_was_asked(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        receipt = await surface(here).tell(str(here.ben.id), saying(here))
        [message] = here.people["ben"].dm_channel.history()
        assert str(message.id) == receipt
        assert message.content == f"Done.\n-# You asked in <#{here.channel.id}>."


@pytest.mark.parametrize(
    ("status", "code", "final", "sentence"),
    [
        (403, 50007, True, "closed to me"),
        (403, 50278, True, "share no server"),
        (400, 40003, False, "too fast"),
        (503, 0, False, "trouble"),
    ],
)
async def test_closed_direct_messages_are_told_apart_from_trouble(
    tmp_path: Path, status: int, code: int, final: bool, sentence: str
) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.env.inject_error("POST", "/channels/*/messages", status=status, code=code)
        with pytest.raises(DeliveryError, match=sentence) as error:
            await surface(here).tell(str(here.ben.id), saying(here))
        assert isinstance(error.value, Unreachable) is final


@pytest.mark.parametrize(
    ("status", "code", "final"),
    [
        (403, 50001, True),
        (403, 50013, True),
        (404, 10003, True),
        (400, 50035, True),
        (400, 20016, False),
        (400, 30046, False),
        (500, 0, False),
        (502, 0, False),
    ],
)
async def test_refusals_that_pass_are_told_apart_from_those_that_stay(
    tmp_path: Path, status: int, code: int, final: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.env.inject_error("POST", "/channels/*/messages", status=status, code=code)
        with pytest.raises(DeliveryError) as error:
            await surface(here).announce(saying(here))
        assert isinstance(error.value, Unreachable) is final
        assert str(error.value).endswith(".")


async def test_a_missing_permission_is_named(tmp_path: Path) -> None:
    """A13."""
    async with open_guild(tmp_path, Script()) as here:
        closed = here.guild.create_text_channel(
            "closed", overwrites={here.guild.me: discord.PermissionOverwrite(send_messages=False)}
        )
        lost = Announcement(key="k", place=f"discord/{here.guild.id}/{closed.id}", text="Done.")
        with pytest.raises(Unreachable, match="I lack Send Messages, "):
            await surface(here).announce(lost)


async def test_a_place_that_is_not_on_discord_cannot_be_reached(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        with pytest.raises(Unreachable):
            await surface(here).announce(Announcement(key="k", place="terminal/@me/1", text="Done."))
        assert surface(here).link("terminal/@me/1", "1") == ""


async def test_a_card_is_posted_pinging_its_people_and_edited_pinging_nobody(
    tmp_path: Path, approval: Any, view: Any
) -> None:
    async with open_guild(tmp_path, Script()) as here:
        new = at(view(approval(), ping=(str(here.ana.id),)), here)
        message = await surface(here).post_card(new)
        assert [user.id for user in here.card.mentions] == [here.ana.id]
        await surface(here).edit_card(at(new, here, message=message))
        assert f"<@{here.ana.id}>" in text_of(here.card)
        settled = at(view(approval(state=ApprovalState.EXPIRED), ping=(str(here.ana.id),)), here, message=message)
        await surface(here).edit_card(settled)
        assert "expired" in text_of(here.card)
        assert f"<@{here.ana.id}>" not in text_of(here.card).replace("<@100>", "")
        edits = here.requests("PATCH", "/messages")
        assert len(edits) == 2
        for body in edits:
            assert body["allowed_mentions"]["parse"] == []
            assert not body["allowed_mentions"].get("users")


@pytest.mark.parametrize(("status", "code"), [(413, 0), (400, 40005), (403, 50013)])
async def test_a_card_whose_file_is_refused_goes_out_without_it_and_without_approval(
    tmp_path: Path, approval: Any, view: Any, status: int, code: int
) -> None:
    """A30, S-A38; and its edits do not bring the button back."""
    async with open_guild(tmp_path, Script()) as here:
        here.env.inject_error("POST", "/channels/*/messages", status=status, code=code, times=1)
        long = approval(arguments={"command": "x" * 6_000})
        message = await surface(here).post_card(at(view(long), here))
        assert labels(here.card) == ["Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]
        await surface(here).edit_card(at(view(long), here, message=message))
        assert labels(here.card) == ["Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]


async def test_a_deleted_card_can_not_be_edited(tmp_path: Path, approval: Any, view: Any) -> None:
    async with open_guild(tmp_path, Script()) as here:
        with pytest.raises(Unreachable, match="deleted"):
            await surface(here).edit_card(at(view(approval()), here, message="12345"))


async def test_what_discord_finds_wrong_with_a_card_is_not_hidden(tmp_path: Path, approval: Any, view: Any) -> None:
    async with open_guild(tmp_path, Script()) as here:
        message = await surface(here).post_card(at(view(approval()), here))
        here.env.inject_error("PATCH", "/channels/*/messages/*", status=400, code=50035)
        with pytest.raises(NotAccepted, match="50035"):
            await surface(here).edit_card(at(view(approval()), here, message=message))


async def test_an_old_reply_points_to_the_message_that_goes_on(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        old = await surface(here).announce(saying(here, "Still waiting."))
        await surface(here).mark_moved(place(here), old, "77")
        assert here.texts == [f"The answer is here: https://discord.com/channels/{here.guild.id}/{here.channel.id}/77"]
        await surface(here).mark_moved(place(here), "12345", "77")


async def test_a_message_refers_to_another_only_when_something_stands_between(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        channel = surface(here).channel(Place(guild=here.guild.id, channel=here.channel.id))
        first = await channel.create(Post(nonce="a", content="one"))
        await here.env.settle()
        await channel.create(Post(nonce="b", content="two", reply_to=first, if_apart=True))
        await here.env.settle()
        assert here.messages[-1].reference is None
        await channel.create(Post(nonce="c", content="three", reply_to=first, if_apart=True))
        assert here.messages[-1].reference.message_id == first


async def test_without_the_right_to_refer_the_text_still_goes(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        here.env.inject_error("POST", "/channels/*/messages", status=403, code=160002, times=1)
        await surface(here).announce(saying(here, reply_to="12345"))
        assert here.texts == ["Done."]


async def test_after_the_client_has_closed_nothing_is_lost(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        face = surface(here)
        await here.env.bot.close()
        with pytest.raises(DeliveryError) as error:
            await face.announce(saying(here))
        assert not isinstance(error.value, Unreachable)


async def test_people_are_named_without_notifying_them(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        assert surface(here).who("5") == "<@5>"
