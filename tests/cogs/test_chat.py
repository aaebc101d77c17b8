"""How a turn begins (issue 2, point 4; cases A5, A23, A24, S-A39, S-A42)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import discord
import pytest

from cogs import limits
from cogs.chat import quoted, refusal_here
from cogs.help import HELP
from cogs.limits import NONCE
from tests.cogs.guild import open_guild
from tests.house import Script


async def test_others_see_what_was_asked(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        result = await here.ben.slash(here.channel, "ask", prompt="say hello\nto @everyone")
        assert not result.ephemeral
        assert result.response.content == "> say hello\n> to @everyone"
        assert here.texts == ["> say hello\n> to @everyone", "Hello."]


async def test_the_answer_is_an_ordinary_message_with_a_nonce_that_notifies_nobody(tmp_path: Path) -> None:
    """S-A39, S-A42: neither what a person asks nor what a model writes can ping, and no preview is fetched for it."""
    async with open_guild(tmp_path, Script("Approved by @everyone <@1> <@&2> https://x.example/?secret")) as here:
        await here.ben.slash(here.channel, "ask", prompt="hi @here")
        bodies = here.requests("POST", "/messages") + here.requests("PATCH", "/messages")
        assert bodies
        for body in bodies:
            assert body["allowed_mentions"]["parse"] == []
            assert not body["allowed_mentions"].get("users")
            assert not body["allowed_mentions"].get("roles")
        for body in here.requests("POST", "/messages"):
            assert 0 < len(body["nonce"]) <= NONCE
            assert body["enforce_nonce"] is True
        assert here.messages[-1].flags.suppress_embeds
        assert await here.rows("SELECT * FROM approval") == []


async def test_every_create_and_edit_of_a_whole_walk_carries_its_own_mention_rules(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script([("shell", {"command": "echo @here"})], "@here, done")) as here:
        await here.ben.slash(here.channel, "ask", prompt="@here")
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        sent = [
            entry.json
            for entry in here.env.http_requests
            if entry.method in {"POST", "PATCH"} and "messages" in entry.path and entry.json
        ]
        assert len(sent) >= 5
        assert all(body["allowed_mentions"]["parse"] == [] for body in sent)
        pinged = {str(user) for body in sent for user in body["allowed_mentions"].get("users", [])}
        assert pinged == {str(here.ana.id)}


async def test_a_mention_starts_a_turn_and_is_not_part_of_the_prompt(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        me = here.env.bot.user.id
        message = await here.ben.send(here.channel, f"<@{me}> say hello")
        await here.settle()
        assert here.texts[-1] == "Hello."
        assert here.messages[-1].reference.message_id == message.id
        [run] = await here.rows("SELECT prompt, requester, request FROM run")
        assert run == {"prompt": "say hello", "requester": str(here.ben.id), "request": str(message.id)}


async def test_an_answer_to_the_bot_starts_a_turn(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.", "Again.")) as here:
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> hello")
        await here.settle()
        await here.ben.send(here.channel, "and once more", reply_to=here.messages[-1])
        await here.settle()
        assert here.texts[-1] == "Again."


async def test_people_can_talk_among_themselves(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.ben.send(here.channel, "hello all")
        await here.mallory.send(here.channel, "hi ben", reply_to=here.messages[-1])
        await here.settle()
        assert await here.rows("SELECT * FROM run") == []


async def test_other_bots_are_not_answered(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        robot = here.guild.add_member(here.env.create_user("robot", bot=True))
        await robot.send(here.channel, f"<@{here.env.bot.user.id}> run ls")
        await here.settle()
        assert await here.rows("SELECT * FROM run") == []


async def test_a_bare_mention_gets_help(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> ")
        await here.settle()
        assert here.texts[-1] == HELP
        assert await here.rows("SELECT * FROM run") == []


async def test_direct_messages_of_two_people_are_two_conversations(tmp_path: Path) -> None:
    """A24."""
    script = Script("I will remember.", "I know nothing.")
    async with open_guild(tmp_path, script) as here:
        ben, mallory = here.env.create_user("ben2"), here.env.create_user("mallory2")
        await ben.send_dm("the secret word is swordfish")
        await here.settle()
        await mallory.send_dm("what is the secret word?")
        await here.settle()
        assert "swordfish" not in str(script.seen[-1])
        assert {row["conversation"] for row in await here.rows("SELECT conversation FROM run")} == {
            f"discord/dm/{ben.id}",
            f"discord/dm/{mallory.id}",
        }
        assert [message.content for message in ben.dm_channel.history()][-1] == "I will remember."


async def test_one_place_has_one_conversation_however_one_comes_to_it(tmp_path: Path) -> None:
    """A23."""
    async with open_guild(tmp_path, Script("One.", "Two.", "Three.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> two")
        await here.settle()
        await here.mallory.send(here.channel, "three", reply_to=here.messages[-1])
        await here.settle()
        conversations = {row["conversation"] for row in await here.rows("SELECT conversation FROM run")}
        assert conversations == {f"discord/{here.guild.id}/{here.channel.id}"}


@pytest.mark.parametrize(("permission", "name"), [("send_messages", "Send Messages"), ("attach_files", "Attach Files")])
async def test_where_the_bot_may_not_post_no_turn_begins(tmp_path: Path, permission: str, name: str) -> None:
    """Answering a command needs no permission there, everything afterwards does."""
    async with open_guild(tmp_path, Script("Hello.")) as here:
        closed = here.guild.create_text_channel(
            "closed", overwrites={here.guild.me: discord.PermissionOverwrite(**{permission: False})}
        )
        result = await here.ben.slash(closed, "ask", prompt="hello")
        assert result.ephemeral
        assert f"I lack {name}." in result.response.content
        assert await here.rows("SELECT * FROM run") == []


def test_where_the_bot_is_no_member_no_turn_begins() -> None:
    """A user-installed command works anywhere; nothing could follow it there."""
    bot: Any = SimpleNamespace(get_guild=lambda guild: None)
    interaction: Any = SimpleNamespace(guild_id=5, channel=None, app_permissions=discord.Permissions.all())
    assert "not a member of this server" in str(refusal_here(bot, interaction))


async def test_a_command_in_direct_messages_is_answered_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        ben = here.people["ben"]
        await ben.slash("ask", prompt="hello")
        await here.settle()
        assert [message.content for message in ben.dm_channel.history()] == ["> hello", "Hello."]


async def test_a_lost_acknowledgement_does_not_lose_the_request(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        here.env.inject_error("POST", "/interactions/*/*/callback", status=404, code=10062)
        await here.ben.slash(here.channel, "ask", prompt="hello")
        assert here.texts == ["Hello."]


async def test_a_request_that_another_process_took_is_left_to_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        here.env.inject_error("POST", "/interactions/*/*/callback", status=400, code=40060)
        await here.ben.slash(here.channel, "ask", prompt="hello")
        assert await here.rows("SELECT * FROM run") == []


async def test_an_answer_right_below_its_request_does_not_point_to_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("First.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        assert here.messages[-1].reference is None


async def test_a_broken_turn_ends_with_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*args: object) -> None:
        raise RuntimeError("no database")

    async with open_guild(tmp_path, Script("Hello.")) as here:
        monkeypatch.setattr(here.app.engine, "take_turn", broken)
        await here.ben.slash(here.channel, "ask", prompt="hello")
        assert "Something went wrong" in here.texts[-1]


async def test_where_the_answer_goes_can_be_chosen(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="hello", notify="both")
        assert await here.rows("SELECT notify FROM run") == [{"notify": "both"}]
        told = [message.content for message in here.people["ben"].dm_channel.history()]
        assert told == [f"Hello.\n-# You asked in <#{here.channel.id}>."]


def test_a_quote_keeps_every_line_and_cuts_what_is_too_long() -> None:
    assert quoted("a\n\nb") == "> a\n> \n> b"
    for long in ("x" * 6_000, "a\n" * 3_000, "🙂" * 3_000):
        assert limits.length(quoted(long)) < 1_300
        assert quoted(long).endswith("\n> …")
