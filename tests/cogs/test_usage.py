"""`/usage`: one's own figures for everybody, the server's for those who manage it, and nobody's for anybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.settings import Settings
from bot.usage_desk import MINE, RANGES, SERVERS, Wish
from cogs.custom_ids import CustomId, Verb
from storage import usage
from storage.usage import DAY_MS, ModelUse
from tests.cogs.guild import Guild, open_guild, text_of
from tests.cogs.test_policy import manager, walk
from tests.cogs.test_presses import forge as forge_press
from tests.cogs.test_presses import private
from tests.house import Script


class Board:
    """One person's private list of usage, as Discord shows it."""

    def __init__(self, here: Guild, who: Any, result: Any) -> None:
        self.here, self.who, self.message = here, who, result.response

    @classmethod
    async def open(cls, here: Guild, who: Any, channel: Any = None) -> Board:
        result = await who.slash(channel or here.channel, "usage")
        assert result.ephemeral
        return cls(here, who, result)

    @property
    def text(self) -> str:
        return "\n".join(item["content"] for item in walk(self.message.components) if item.get("type") == 10)

    def ids(self) -> list[str]:
        return [item["custom_id"] for item in walk(self.message.components) if "custom_id" in item]

    def id(self, verb: Verb) -> str:
        return next(one for one in self.ids() if f":{verb}:" in one)

    async def pick(self, verb: Verb, value: str) -> None:
        await self.who.select(self.message, [value], custom_id=self.id(verb))

    async def press(self) -> None:
        await self.who.click(self.message, custom_id=self.id(Verb.USAGE_WHOSE))


async def forge(board: Board, verb: Verb, id: str, *values: str) -> str:
    """A press in a list that sends what none of its components has; what was said privately."""
    from simcord.actors import _component_interaction
    from simcord.enums import ComponentType

    kind = ComponentType.STRING_SELECT if values else ComponentType.BUTTON
    data = {"custom_id": str(CustomId(verb=verb, id=id)), "component_type": kind, "values": list(values)}
    stored = board.here.env.backend.get_message(board.here.channel.id, board.message.id)
    return "\n".join(private(await _component_interaction(board.who, stored, data)))


def use(here: Guild, who: Any, **changes: Any) -> ModelUse:
    place = f"discord/{here.guild.id}/{here.channel.id}"
    one = ModelUse(
        id=changes.pop("id", f"u{who.id}"),
        at=here.clock.now(),
        run="r",
        conversation="c",
        person=str(who.id),
        place=place,
        channel=place,
        space=str(here.guild.id),
        model="openai:gpt-4o",
        input_tokens=900,
        output_tokens=100,
        cost_micros=250_000,
    )
    return replace(one, **changes)


async def put(here: Guild, uses: Sequence[ModelUse]) -> None:
    async with here.app.database.begin("put") as tx:
        await usage.put(tx, uses)


async def test_nothing_used_says_so_and_that_no_budget_limits_anything(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        board = await Board.open(here, here.ben)
        assert "### Your usage\n**Today**: nothing was used\n**7 days**: nothing was used" in board.text
        assert "No budget limits what you use here." in board.text


async def test_somebodys_own_usage_is_shown_for_today_a_week_and_a_month(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        today = use(here, here.ben)
        week = replace(today, id="week", at=today.at - 6 * DAY_MS, cost_micros=None)
        month = replace(today, id="month", at=today.at - 29 * DAY_MS, model="ollama:qwen3", cost_micros=None)
        await put(here, [today, week, month])
        board = await Board.open(here, here.ben)
        assert "**Today**: 1 call, 1,000 tokens (900 read, 100 written), about $0.25\n" in board.text
        assert (
            "**7 days**: 2 calls, 2,000 tokens (1,800 read, 200 written), about $0.25, and 1 of 2 calls" in board.text
        )
        assert "**30 days**: 3 calls" in board.text
        assert "**By model, 7 days**\n- `openai:gpt-4o`: 2 calls" in board.text
        await board.pick(Verb.USAGE_DAYS, "30")
        assert "- `ollama:qwen3`: 1 call, 1,000 tokens, price unknown" in board.text


async def test_what_a_real_turn_took_is_there_afterwards(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script("Hello.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="hi")
        await here.settle()
        board = await Board.open(here, here.ben)
        assert "**Today**: 1 call" in board.text
        assert "- `script`: 1 call" in board.text


async def test_others_figures_are_not_among_somebodys_own(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await put(here, [use(here, here.ana)])
        board = await Board.open(here, here.mallory)
        assert "nothing was used" in board.text
        for by in MINE:
            if f":{Verb.USAGE_BY}:me-{by}-" not in "".join(board.ids()):
                await board.pick(Verb.USAGE_BY, by)
            assert "1,000" not in board.text
        assert Verb.USAGE_WHOSE not in "".join(board.ids())


async def test_a_forged_press_for_the_servers_usage_is_refused_and_on_the_trail(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await put(here, [use(here, here.ana)])
        board = await Board.open(here, here.mallory)
        before = board.text
        told = await forge(board, Verb.USAGE_BY, "server-place-7", "person")
        assert "Only those who may manage this server" in told
        assert board.text == before
        [row] = await here.rows("SELECT actor FROM audit WHERE event = 'usage_refused'")
        assert row == {"actor": str(here.mallory.id)}


@pytest.mark.parametrize("id", ["server-guild-7", "me-person-7", "me-model-8", "us-model-7"])
async def test_a_list_that_nobody_can_wish_for_is_not_shown(id: str, tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        board = await Board.open(here, here.ben)
        assert "This list is not known any more" in await forge(board, Verb.USAGE_DAYS, id, "7")


async def test_a_press_on_a_message_that_all_can_see_shows_no_figures_there(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script([("act", {"what": "paint"})])) as here:
        await put(here, [use(here, here.ben)])
        await here.ben.slash(here.channel, "ask", prompt="go")
        await here.settle()
        before = text_of(here.card)
        result = await forge_press(here, here.ben, str(CustomId(verb=Verb.USAGE_WHOSE, id="server-model-7")))
        assert "This list is not known any more" in "\n".join(private(result))
        assert text_of(here.card) == before


async def test_who_manages_the_server_sees_it_by_person_channel_and_model(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        max_ = manager(here)
        await put(here, [use(here, here.ana), use(here, here.ben, input_tokens=5_000, model="ollama:qwen3")])
        board = await Board.open(here, max_)
        assert "nothing was used" in board.text
        await board.press()
        assert "### Usage of this server\n**Today**: 2 calls, 6,100 tokens" in board.text
        await board.pick(Verb.USAGE_BY, "person")
        assert f"- <@{here.ben.id}>: 1 call, 5,100 tokens, about $0.25\n- <@{here.ana.id}>: 1 call" in board.text
        await board.pick(Verb.USAGE_BY, "place")
        assert f"- <#{here.channel.id}>: 2 calls, 6,100 tokens" in board.text
        await board.press()
        assert "### Your usage" in board.text


async def test_a_channel_that_a_manager_cannot_open_has_no_name_for_them(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        hidden = here.guild.create_text_channel(
            "board", overwrites={here.guild.default_role: discord.PermissionOverwrite(view_channel=False)}
        )
        await put(here, [use(here, here.ana, channel=f"discord/{here.guild.id}/{hidden.id}")])
        board = await Board.open(here, manager(here))
        await board.press()
        await board.pick(Verb.USAGE_BY, "place")
        assert "- channels that you cannot open: 1 call, 1,000 tokens" in board.text
        assert str(hidden.id) not in board.text


async def test_what_is_used_elsewhere_and_in_direct_messages_is_only_on_ones_own_list(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        max_ = manager(here)
        other = use(here, max_, id="other", space="4711", channel="discord/4711/4712", place="discord/4711/4712")
        private = use(here, max_, id="private", space="@me", channel="discord/@me/5", place="discord/@me/5")
        await put(here, [other, private])
        board = await Board.open(here, max_)
        await board.pick(Verb.USAGE_BY, "place")
        assert "- other servers: 1 call" in board.text
        assert "- direct messages: 1 call" in board.text
        assert "4712" not in board.text
        await board.press()
        assert "**Today**: nothing was used" in board.text


async def test_budgets_are_shown_with_what_is_left_and_a_servers_only_to_who_may_see_it(tmp_path: Path) -> None:
    settings = Settings(tokens_per_person=1_000, tokens_per_guild=50_000, streaming=False)
    async with open_guild(tmp_path, Script("Hello."), settings=settings) as here:
        await here.ben.slash(here.channel, "ask", prompt="hi")
        await here.settle()
        [used] = await here.rows("SELECT input_tokens + output_tokens AS tokens FROM usage")
        board = await Board.open(here, here.ben)
        assert f"- Yours, everywhere: {1_000 - used['tokens']:,} of 1,000 tokens left" in board.text
        assert "- This server's, set by the operator: not spent" in board.text
        board = await Board.open(here, manager(here))
        await board.press()
        assert f"- This server's, set by the operator: {50_000 - used['tokens']:,} of 50,000 tokens left" in board.text


async def test_more_rows_than_fit_are_added_up(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        many = [use(here, here.ben, id=f"u{n}", model=f"{n:02}{'m' * 90}", input_tokens=n) for n in range(40)]
        await put(here, many)
        board = await Board.open(here, here.ben)
        assert "- 25 more: 25 calls" in board.text


async def test_a_spent_budget_is_said_in_the_channel_in_the_answers_place(tmp_path: Path) -> None:
    settings = Settings(tokens_per_person=1, streaming=False)
    async with open_guild(tmp_path, Script("Hello."), settings=settings) as here:
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        result = await here.ben.slash(here.channel, "job start", goal="two")
        await here.settle()
        assert "Your budget of 1 token for today is spent" in "\n".join(private(result))
        assert await here.rows("SELECT run FROM job") == []


async def test_direct_messages_show_ones_own_usage(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        await put(here, [use(here, here.people["ben"])])
        board = Board(here, here.people["ben"], await here.people["ben"].slash("usage"))
        assert "**Today**: 1 call" in board.text


def test_what_can_be_wished_for_comes_back_as_it_was_written() -> None:
    wishes = [Wish(server=server, by=by, days=days) for server in (False, True) for by in MINE for days in RANGES]
    for wish in wishes:
        known = wish.by in (SERVERS if wish.server else MINE)
        assert Wish.read(str(wish)) == (wish if known else None)
        assert len(str(CustomId(verb=Verb.USAGE_WHOSE, id=str(wish)))) <= 100


async def test_twenty_mentions_after_the_budget_is_spent_get_one_answer_that_counts_them(tmp_path: Path) -> None:
    settings = Settings(tokens_per_person=1, streaming=False)
    async with open_guild(tmp_path, Script("Hello."), settings=settings) as here:
        await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> hello")
        await here.settle()
        for number in range(20):
            await here.ben.send(here.channel, f"<@{here.env.bot.user.id}> and {number}")
        await here.settle()
        said_by_me = [one.content for one in here.channel.history() if one.author.id == here.env.bot.user.id]
        told = [text for text in said_by_me if "is spent" in text]
        assert len(told) == 1
        assert "That goes for 20 requests of the last minute" in told[0]
