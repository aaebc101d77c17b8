"""Bug reports of other systems that need a guild to be tried (cases A3, A5, A11, A17, A20, A36)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import discord
import pytest

from bot import missed
from cogs.surface import DiscordSurface
from storage.sqlite import SqliteDatabase
from tests.cogs.guild import labels, open_guild
from tests.cogs.test_policy import ACT, List
from tests.cogs.test_presses import WAITING, private, state
from tests.house import Script

SHELL = [("shell", {"command": "echo hello"})]
WHOAMI = [("shell", {"command": 'bash -lc "whoami"'})]
PASSWD = [("shell", {"command": 'bash -lc "cat /etc/passwd"'})]


async def test_a_press_arrives_though_a_client_without_a_gateway_posted_the_card(tmp_path: Path) -> None:
    """A3: presses are routed by id, in the process that has the connection, whoever posted."""
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        rest = discord.Client(intents=discord.Intents.none())
        rest.http = rest._connection.http = here.env.bot.http
        assert not rest.is_ready()
        here.app.engine.showing.connect(DiscordSurface(rest, here.app.background.spawn, here.env.bot.languages))  # type: ignore[arg-type]
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.settle()
        result = await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert result.acknowledged
        assert here.bench.effects == ["echo hello"]
        assert await state(here) == ["succeeded"]


def least_options(command: Any) -> dict[str, Any]:
    """What the command cannot do without."""
    return {
        one.display_name: one.choices[0].value if one.choices else "x" for one in command.parameters if one.required
    }


async def test_every_command_is_acknowledged_before_anything_is_read_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A5, A4: whatever command comes to be added is in the tree, and so in this test."""
    async with open_guild(tmp_path, Script()) as here:
        order: list[str] = []

        def noting(word: str, inner: Callable[..., Any]) -> Callable[..., Any]:
            def note(*args: Any, **kwargs: Any) -> Any:
                order.append(word)
                return inner(*args, **kwargs)

            return note

        for name in ("defer", "send_message", "send_modal"):
            inner = getattr(discord.InteractionResponse, name)
            monkeypatch.setattr(discord.InteractionResponse, name, noting("acknowledged", inner))
        monkeypatch.setattr(SqliteDatabase, "begin", noting("database", SqliteDatabase.begin))
        reader = type(here.app.database.reader)
        monkeypatch.setattr(reader, "all", noting("database", reader.all))
        monkeypatch.setattr(reader, "one", noting("database", reader.one))
        late, all_seen = [], set()
        commands = [one for one in here.env.bot.tree.walk_commands() if not hasattr(one, "commands")]
        assert len(commands) > 15
        for command in commands:
            await here.settle()
            order.clear()
            await here.ana.slash(here.channel, command.qualified_name, **least_options(command))
            all_seen |= set(order)
            if order[:1] != ["acknowledged"]:
                late.append((command.qualified_name, order[:2]))
        assert (late, all_seen) == ([], {"acknowledged", "database"})


async def test_what_was_allowed_in_chat_is_allowed_after_a_restart_until_it_is_taken_back(tmp_path: Path) -> None:
    """A11: the widest that is on offer is a rule; it is a row with its author and its place."""
    async with open_guild(tmp_path, Script()) as here:
        rules = await List.open(here, here.ana)
        await rules.new_rule("act", "allow")
        await rules.press("save")
        guild = here.guild.id
    async with open_guild(tmp_path, Script(ACT, "Painted.", ACT)) as again:
        assert again.guild.id == guild
        await again.ben.slash(again.channel, "ask", prompt="one")
        await again.settle()
        assert (again.cards, again.bench.effects) == ([], ["paint"])
        rules = await List.open(again, again.ana)
        await rules.pick("pick", "0")
        await rules.press("remove")
        await rules.press("save")
        await again.ben.slash(again.channel, "ask", prompt="two")
        await again.settle()
        assert (len(again.cards), again.bench.effects) == (1, ["paint"])


async def test_an_approval_of_a_shell_leaves_nothing_allowed(tmp_path: Path) -> None:
    """A20: nothing on its card offers more than this once, and the next one asks, the same call included."""
    async with open_guild(tmp_path, Script(WHOAMI, "Done.", PASSWD, WHOAMI)) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        assert labels(here.card) == WAITING
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        for number, prompt in enumerate(("two", "three"), start=2):
            await here.ben.slash(here.channel, "ask", prompt=prompt)
            await here.settle()
            assert len(here.cards) == number
            if number == 2:
                await here.ana.click(here.card, label="Deny")
                await here.settle()
        assert here.bench.effects == ['bash -lc "whoami"']


async def test_who_may_ask_and_not_decide_is_told_which_list_and_who_can_help(tmp_path: Path) -> None:
    """A17: the two lists differ on purpose; the refusal says so and names the people."""
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        [told] = private(await here.ben.click(here.card, label="Approve"))
        assert "not an approver" in told
        assert f"<@{here.ana.id}>" in told
        assert await state(here) == ["pending"]


async def test_what_was_written_while_the_bot_was_away_is_taken_up_once(tmp_path: Path) -> None:
    """A36: in a channel where it talked before and in direct messages; what is meant for others is left alone."""
    async with open_guild(tmp_path, Script("One.", "Two.", "Three.", "Four.")) as here:
        me = here.env.bot.user.id
        await here.ben.send(here.channel, f"<@{me}> first")
        await here.people["ben"].send_dm("second")
        await here.settle()
        assert len(here.script.seen) == 2
        here.env.bot.remove_listener(here.env.bot.get_cog("Mentions").on_message, "on_message")
        await here.ben.send(here.channel, f"<@{me}> missed here")
        await here.ben.send(here.channel, "said to others")
        await here.people["ben"].send_dm("missed directly")
        await here.settle()
        assert len(here.script.seen) == 2
        for _ in range(2):
            await here.restart()
            await here.settle()
            prompts = await here.rows("SELECT prompt FROM run ORDER BY prompt")
            assert [row["prompt"] for row in prompts] == ["first", "missed directly", "missed here", "second"]
        assert len(here.script.seen) == 4


async def test_what_was_missed_longer_ago_than_a_day_is_not_acted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A36: a bound, so that nothing happens that nobody expects any more."""
    async with open_guild(tmp_path, Script("One.", "Two.")) as here:
        await here.people["ben"].send_dm("first")
        await here.settle()
        here.env.bot.remove_listener(here.env.bot.get_cog("Mentions").on_message, "on_message")
        await here.people["ben"].send_dm("missed directly")
        await here.settle()
        monkeypatch.setattr(missed, "MESSAGES_MS", -3_650 * 24 * 3_600_000)  # as if it was written long ago
        await here.restart()
        await here.settle()
        assert len(here.script.seen) == 1
