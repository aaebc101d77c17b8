"""`/settings`: a server's places, notifications, model and budgets; a draft with a preview, saved for what comes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.drafts import DraftPress
from bot.errors import NotAllowed
from bot.settings import Settings
from bot.surface import Actor
from bot.where import Places, PlacesRule
from storage.guilds import Draft
from tests.cogs.guild import Guild, open_guild
from tests.cogs.test_policy import manager, said, walk
from tests.house import Script
from tests.test_usage import Paid

ACT = [("act", {"what": "paint"})]


class List:
    """One person's private list of settings, pressed as Discord shows it."""

    def __init__(self, here: Guild, who: Any, result: Any) -> None:
        self.here, self.who, self.message = here, who, result.response

    @classmethod
    async def open(cls, here: Guild, who: Any) -> List:
        result = await who.slash(here.channel, "settings")
        assert result.ephemeral
        return cls(here, who, result)

    @property
    def text(self) -> str:
        return "\n".join(item["content"] for item in walk(self.message.components) if item.get("type") == 10)

    def item(self, verb: str) -> Any:
        return next(item for item in walk(self.message.components) if f":set-{verb}:" in item.get("custom_id", ""))

    async def pick(self, verb: str, *values: Any) -> Any:
        return await self.who.select(self.message, values, custom_id=self.item(verb)["custom_id"])

    async def press(self, verb: str) -> Any:
        return await self.who.click(self.message, custom_id=self.item(verb)["custom_id"])

    async def fill(self, verb: str, **fields: str) -> Any:
        return await self.who.submit_modal(await self.press(verb), fields)


async def test_what_counts_is_shown_with_what_stands_where_nothing_is_set(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        shown = (await List.open(here, here.ana)).text
        assert "**Cards** go to where it was asked." in shown
        assert "**Results of jobs** go to where it was asked" in shown
        assert "no budget is set" in shown
        assert "`SIGNOFF_MODELS`" in shown
        assert "Nothing was set here yet." in shown


async def test_an_approvals_channel_counts_once_it_is_saved_and_is_on_the_trail(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT, ACT, "Done.")) as here:
        there = here.guild.create_text_channel("approvals")
        settings = await List.open(here, manager(here))
        await settings.pick("channel", there)
        await settings.pick("here", "no")
        assert "None of it counts yet" in settings.text
        assert f"- **Cards** go to <#{there.id}>." in settings.text
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert len(here.cards) == 1
        await settings.press("save")
        assert "Saved. It counts from now on." in settings.text
        assert f"Version 1, saved by <@{settings.who.id}>" in settings.text
        await here.ben.slash(there, "ask", prompt="two")
        await here.settle()
        assert any(one.flags.components_v2 for one in there.history())
        [row] = await here.rows("SELECT actor, detail FROM audit WHERE event = 'settings_changed'")
        assert row["actor"] == str(settings.who.id)
        assert str(there.id) in json.loads(row["detail"])["after"]


async def test_people_and_quiet_hours_are_set_and_the_last_place_cannot_be_taken_away(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("people", here.ben)
        await settings.pick("here", "no")
        await settings.fill("quiet", hours="22:00-07:00", zone="Europe/Berlin")
        assert f"- **Cards** go directly to <@{here.ben.id}>. From 22:00-07:00 (Europe/Berlin)" in settings.text
        await settings.pick("people")
        assert "- **Cards** go to where it was asked. From 22:00-07:00" in settings.text


@pytest.mark.parametrize(
    ("verb", "fields", "problem"),
    [
        ("quiet", {"hours": "ten", "zone": "UTC"}, "“ten” are no hours"),
        ("quiet", {"hours": "22:00-07:00", "zone": "Mars"}, "“Mars” is no time zone"),
        ("budgets", {"tokens_each": "many"}, "“many” is no number of tokens"),
        ("budgets", {"tokens_all": "0"}, "“0” is no number of tokens"),
        ("budgets", {"cost_all": "-3"}, "“-3” is no amount"),
        ("budgets", {"cost_each": "NaN"}, "“NaN” is no amount"),
    ],
)
async def test_what_makes_no_sense_is_said_and_changes_nothing(
    tmp_path: Path, verb: str, fields: dict[str, str], problem: str
) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        result = await settings.fill(verb, **fields)
        assert problem in said(result)
        assert "Your draft" not in settings.text


async def test_a_budget_of_the_server_holds_beside_the_operators_and_says_who_can_raise_it(tmp_path: Path) -> None:
    operator = Settings(tokens_per_guild=1_000_000)
    async with open_guild(tmp_path, Paid("One.", "Two."), settings=operator) as here:
        settings = await List.open(here, manager(here))
        assert "everybody here together 1,000,000 tokens. Both count" in settings.text
        await settings.fill("budgets", tokens_each="1", cost_all="2,50")
        assert "each person 1 token, everybody here together $2.50" in settings.text
        await settings.press("save")
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        await here.ben.slash(here.channel, "ask", prompt="two")
        await here.settle()
        shown = "\n".join(here.texts)
        assert "One." in shown
        assert "Two." not in shown
        assert "Who manages this server can raise it with `/settings`" in shown


async def test_a_budget_in_dollars_for_a_model_without_a_known_price_cannot_be_saved(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), settings=Settings(models=("offline",))) as here:
        settings = await List.open(here, here.ana)
        await settings.fill("budgets", cost_all="2.50")
        assert "a budget in US dollars could not be kept. Set one in tokens." in settings.text
        assert settings.item("save").get("disabled")
        await settings.pick("model", "offline")  # which costs nothing
        assert not settings.item("save").get("disabled")


async def test_a_model_that_the_operator_offers_answers_in_this_server(tmp_path: Path) -> None:
    operator = Settings(model="some:other", models=("offline",))
    async with open_guild(tmp_path, Script("By the usual one."), settings=operator) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("model", "offline")
        assert "- **The model** is `offline`." in settings.text
        await settings.press("save")
        await here.ben.slash(here.channel, "ask", prompt="hello")
        await here.settle()
        assert "offline" in here.texts[-1]
        assert "By the usual one." not in "\n".join(here.texts)


async def test_a_model_that_is_not_offered_any_more_gives_way_to_the_usual_one(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(), settings=Settings(models=("offline",))) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("model", "offline")
        await settings.press("save")
        guild = str(here.guild.id)
    async with open_guild(tmp_path, Script("By the usual one.")) as again:
        view = await again.app.engine.settings_desk.look(Actor(id="1", guild=guild, manages=True))
        assert view.in_force.model == "offline"
        assert "does not offer the model `offline` any more" in view.blocked
        await again.ben.slash(again.channel, "ask", prompt="hello")
        await again.settle()
        assert "By the usual one." in "\n".join(again.texts)


async def test_results_of_jobs_go_as_the_server_says_unless_the_person_said_otherwise(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("notify", "dm")
        assert "- **Results of jobs** go into a direct message" in settings.text
        await settings.press("save")
        desk, place = here.app.engine.desk, f"discord/{here.guild.id}/{here.channel.id}"
        assert await desk.notify_of(str(here.ben.id), place) == "dm"
        await here.ben.slash(here.channel, "notify", where="both")
        assert await desk.notify_of(str(here.ben.id), place) == "both"
        assert await desk.notify_of(str(here.mallory.id), "discord/77/78") == "channel"


async def test_the_file_wins_over_the_chat_and_the_list_says_so(tmp_path: Path) -> None:
    rules = (PlacesRule(places=Places(people=("1",), here=True)),)
    async with open_guild(tmp_path, Script(ACT), settings=Settings(places=rules)) as here:
        there = here.guild.create_text_channel("approvals")
        settings = await List.open(here, here.ana)
        await settings.pick("channel", there)
        await settings.press("save")
        assert "said in `signoff.toml` that cards go to where it was asked and directly to <@1>, and that wins" in (
            settings.text
        )
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert not any(one.flags.components_v2 for one in there.history())


async def test_a_channel_that_the_bot_may_not_write_in_is_named_before_it_is_saved(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        closed = here.guild.create_text_channel(
            "closed", overwrites={here.guild.me: discord.PermissionOverwrite(send_messages=False)}
        )
        settings = await List.open(here, here.ana)
        await settings.pick("channel", closed)
        assert f"I may not post in <#{closed.id}> (missing: Send Messages" in settings.text


async def test_who_may_not_see_them_is_told_who_can_help(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        result = await here.mallory.slash(here.channel, "settings")
        assert result.ephemeral
        assert "Manage Server" in said(result)


async def test_another_persons_list_is_not_theirs_to_press(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("notify", "dm")
        [draft] = await here.rows("SELECT * FROM guild_draft")
        other = Actor(id=str(manager(here).id), guild=str(here.guild.id), manages=True)
        press = DraftPress(actor=other, draft=draft["id"], mark=Draft(**draft).mark)
        with pytest.raises(NotAllowed, match="`/settings` opens your own"):
            await here.app.engine.settings_desk.save(press)
        assert await here.rows("SELECT * FROM guild_config") == []


async def test_who_was_overtaken_is_told_and_saves_nothing_over_the_other(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        mine, theirs = await List.open(here, here.ana), await List.open(here, manager(here))
        await mine.pick("notify", "dm")
        await theirs.pick("notify", "both")
        await theirs.press("save")
        result = await mine.press("save")
        assert "so yours were not saved" in said(result) + mine.text
        [row] = await here.rows("SELECT body FROM guild_config")
        assert json.loads(row["body"]) == {"notify": "both"}


async def test_a_draft_outlives_a_restart_and_can_be_discarded(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("notify", "dm")
        await here.restart()
        await settings.pick("here", "yes")
        assert "- **Results of jobs** go into a direct message" in settings.text
        await settings.press("drop")
        assert "Your draft is gone." in settings.text
        assert "None of it counts yet" not in settings.text


async def test_settings_that_somebody_wrote_into_the_database_do_not_count(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("notify", "dm")
        await settings.press("save")
        guild = str(here.guild.id)
    with sqlite3.connect(tmp_path / "guild.sqlite3") as file:
        file.execute("UPDATE guild_config SET body = ? WHERE topic = 'settings'", ('{"notify":"both"}',))
    file.close()
    async with open_guild(tmp_path, Script()) as again:
        view = await again.app.engine.settings_desk.look(Actor(id="1", guild=guild, manages=True))
        assert view.problem
        assert await again.app.engine.desk.notify_of("5", f"discord/{guild}/1") == "channel"


async def test_a_draft_that_was_changed_in_the_database_is_shown_before_it_can_be_saved(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script()) as here:
        settings = await List.open(here, here.ana)
        await settings.pick("notify", "dm")
        async with here.app.database.begin("tamper") as tx:
            await tx.execute("UPDATE guild_draft SET body = ?", '{"notify":"both"}')
        await settings.press("save")
        assert await here.rows("SELECT * FROM guild_config") == []
        assert "- **Results of jobs** go to where it was asked and into a direct message" in settings.text


async def test_no_card_goes_into_a_channel_of_another_server(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(ACT)) as here:
        other = here.env.create_guild("Other")
        foreign = other.create_text_channel("approvals")
        here.cards_go(Places(here=False, channel=str(foreign.id)))
        await here.ben.slash(here.channel, "ask", prompt="one")
        await here.settle()
        assert list(foreign.history()) == []
        assert len(here.cards) == 1  # it went on to where it was asked
