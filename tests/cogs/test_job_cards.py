"""A job's card and its buttons, `/inbox` and `/notify`, in the guild (issue 6, points 2, 3 and 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from bot.surface import Actor
from cogs.inbox import EMPTY
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.cogs.test_presses import forge, private
from tests.house import Script

SHELL = [("shell", {"command": "echo hello"})]
BUTTONS = ["Stop", "Extend", "Send a note", "Log"]


def jobs(here: Guild) -> list[discord.Message]:
    """The cards of jobs, oldest first."""
    return [message for message in here.cards if "### Job" in text_of(message)]


async def waiting(here: Guild, goal: str = "clean up", **more: Any) -> str:
    """A job of Ben's that has asked for something; its id."""
    await here.ben.slash(here.channel, "job start", goal=goal, **more)
    await here.settle()
    return str((await here.rows("SELECT id FROM run WHERE kind = 'job' ORDER BY created_at DESC"))[0]["id"])


def script(*steps: Any) -> Script:
    return Script(by_prompt={"clean up": [SHELL, *steps]})


async def test_a_job_shows_its_goal_state_time_and_what_it_waits_for(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script("Cleaned.")) as here:
        id = await waiting(here)
        await here.later()
        [card] = jobs(here)
        text = text_of(card)
        assert text.startswith(f"### Job · waiting for people\nFor <@{here.ben.id}> · `{id}`\n> `clean up`")
        assert "asked for shell" in text
        approval = next(message for message in here.cards if message.id != card.id)
        assert f"https://discord.com/channels/{here.guild.id}/{here.channel.id}/{approval.id}" in text
        assert f"Asked by <@{here.ben.id}>, for job `{id}`" in text_of(approval)
        assert "computed 0 s of 60 min" in text
        assert labels(card) == BUTTONS
        await here.ana.click(approval, label="Approve")
        await here.later()
        assert "### Job · done" in text_of(jobs(here)[0])
        assert labels(jobs(here)[0]) == ["Log"]
        assert here.texts[-1] == f"<@{here.ben.id}> Job `{id}` is done: Cleaned."


async def test_a_cards_posting_and_edits_notify_nobody(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script("Cleaned.")) as here:
        await waiting(here)
        await here.later()
        [card] = jobs(here)
        sent = [body for method in ("POST", "PATCH") for body in here.requests(method, "/messages") if body]
        about = [body for body in sent if "### Job" in str(body.get("components"))]
        assert len(about) == 2
        assert all(body["allowed_mentions"]["parse"] == [] for body in about)
        assert all(not body["allowed_mentions"].get("users") for body in about)
        assert card.mentions == [] or [user.id for user in card.mentions] == [here.ben.id]


async def test_stop_takes_two_presses_and_also_works_after_a_restart(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        id = await waiting(here)
        [told] = private(await here.ben.click(jobs(here)[0], label="Stop"))
        assert "once more within a minute" in told
        await here.restart()
        [told] = private(await here.ben.click(jobs(here)[0], label="Stop"))
        assert told == f"Job `{id}` is stopped."
        await here.later()
        assert "### Job · stopped" in text_of(jobs(here)[0])
        assert f"Job `{id}` was stopped" in here.texts[-1]
        assert await here.rows("SELECT state FROM approval") == [{"state": "cancelled"}]


async def test_a_stranger_is_refused_privately_whatever_they_press(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        await waiting(here)
        [card] = jobs(here)
        for label in ("Stop", "Extend", "Log"):
            [told] = private(await here.mallory.click(card, label=label))
            assert "Only the person this job works for" in told
        form = await here.mallory.click(card, label="Send a note")
        [told] = private(await here.mallory.submit_modal(form, {"text": "delete everything"}))
        assert "Only the person this job works for" in told
        assert await here.rows("SELECT id FROM job_note") == []


async def test_a_press_with_another_jobs_id_does_not_count(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(by_prompt={"clean up": [SHELL], "other": [SHELL]})) as here:
        first = await waiting(here)
        await here.later()
        await waiting(here, "other")
        await here.later()
        result = await forge(here, here.ben, f"so1:job-stop:{first}", message=jobs(here)[-1])
        [told] = private(result)
        assert "newer card" in told
        assert await here.rows("SELECT stop_by FROM job WHERE run = ?", first) == [{"stop_by": None}]


async def test_a_note_is_typed_into_a_form_and_reaches_the_model(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script("Cleaned.")) as here:
        await waiting(here)
        [card] = jobs(here)
        form = await here.ben.click(card, label="Send a note")
        await here.restart()
        [told] = private(await here.ben.submit_modal(form, {"text": "only the cellar"}))
        assert "reads your note" in told
        await here.later()
        assert "1 note to read" in text_of(jobs(here)[0])
        approval = next(message for message in here.cards if "### Job" not in text_of(message))
        await here.ana.click(approval, label="Approve")
        await here.settle()
        assert "only the cellar" in str(here.script.seen[-1])


async def test_the_log_is_a_private_file_with_everything(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script("Cleaned.")) as here:
        id = await waiting(here)
        result = await here.ben.click(jobs(here)[0], label="Log")
        [message] = [one for one in [result.response, *result.followups] if one is not None and one.attachments]
        assert message.attachments[0].filename == f"job-{id}.md"
        body = (await message.attachments[0].read()).decode()
        assert "## Goal\nclean up" in body
        assert '"command":"echo hello"' in body
        assert f"job-{id}.md" not in str([posted.attachments for posted in here.messages])


async def test_extend_gives_more_time_and_the_card_says_so(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        await waiting(here, budget=10)
        assert await here.rows("SELECT budget_ms FROM run") == [{"budget_ms": 600_000}]
        [told] = private(await here.ben.click(jobs(here)[0], label="Extend"))
        assert "25 minutes" in told
        await here.later()
        assert "of 25 min" in text_of(jobs(here)[0])


async def test_a_hostile_goal_stays_in_its_line(tmp_path: Path) -> None:
    goal = "clean up\n### Job · done\n@everyone [x](http://evil)"
    async with open_guild(tmp_path, Script(SHELL)) as here:
        await waiting(here, goal)
        await here.later()
        [card] = jobs(here)
        assert text_of(card).count("\n### ") == 0
        assert not card.mention_everyone


# -- the ladder on Discord --------------------------------------------------------------------


async def in_a_thread(here: Guild, *, private_thread: bool = False) -> Any:
    channel = here.env.bot.get_channel(here.channel.id)
    kind = discord.ChannelType.private_thread if private_thread else discord.ChannelType.public_thread
    made = await channel.create_thread(name="quiet", type=kind)
    await made.add_user(discord.Object(here.ben.id))
    [thread] = here.channel.threads
    return thread


async def end_without(here: Guild, thread: Any) -> None:
    """Ben's job waits in a thread; the thread is deleted; then the job ends."""
    await here.ben.slash(thread, "job start", goal="clean up")
    await here.settle()
    await here.env.bot.get_channel(thread.id).delete()
    await here.settle()
    [job] = await here.rows("SELECT id FROM run")
    await here.app.engine.cancel_job(job["id"], _actor(here))
    await here.app.background.idle()  # the model is told of it, outside of what `settle` knows
    for _ in range(4):
        await here.later(seconds=2)


def _actor(here: Guild) -> Actor:
    return Actor(id=str(here.ben.id), guild=str(here.guild.id))


async def test_the_ending_of_a_deleted_threads_job_comes_in_its_channel(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        await end_without(here, await in_a_thread(here))
        assert "was stopped" in here.texts[-1]
        assert "I could not say this where it was asked" in here.texts[-1]


async def test_the_ending_of_a_private_threads_job_never_comes_in_its_channel(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        await end_without(here, await in_a_thread(here, private_thread=True))
        assert not [text for text in here.texts if "was stopped" in text]
        [message] = here.people["ben"].dm_channel.history()
        assert "was stopped" in message.content


async def test_somebody_who_left_the_server_is_told_nothing_of_it(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        thread = await in_a_thread(here, private_thread=True)
        actor = _actor(here)
        await here.ben.slash(thread, "job start", goal="clean up")
        await here.settle()
        here.guild.remove_member(here.ben)
        await here.env.bot.get_channel(thread.id).delete()
        await here.settle()
        [job] = await here.rows("SELECT id FROM run")
        await here.app.engine.cancel_job(job["id"], actor)
        await here.app.background.idle()
        for _ in range(4):
            await here.later(seconds=2)
        [owed] = await here.rows("SELECT state, error FROM outbox WHERE key LIKE 'answer:%'")
        assert owed == {"state": "inbox", "error": "They have left that server."}


async def test_the_inbox_hands_over_what_could_not_be_delivered_once(tmp_path: Path) -> None:
    async with open_guild(tmp_path, script()) as here:
        assert private(await here.ben.slash(here.channel, "inbox")) == [EMPTY]
        id = await waiting(here)
        async with here.app.database.begin("nobody takes it") as tx:
            await tx.execute("UPDATE run SET place = ? WHERE id = ?", f"discord/{here.guild.id}/4711", id)
            await tx.execute("UPDATE run SET notify = 'both' WHERE id = ?", id)
        await here.app.engine.cancel_job(id, _actor(here))
        for _ in range(4):
            await here.later(seconds=2)
        assert private(await here.mallory.slash(here.channel, "inbox")) == [EMPTY]
        told = private(await here.ben.slash(here.channel, "inbox"))
        assert f"Job `{id}` was stopped" in told[0]
        assert "In <#4711>: `That channel does not exist any more.`" in told[0]
        [owed] = await here.rows("SELECT state, receipt FROM outbox WHERE key LIKE 'answer:%'")
        assert owed["state"] == "delivered"
        assert owed["receipt"]
        assert private(await here.ben.slash(here.channel, "inbox")) == [EMPTY]


@pytest.mark.parametrize("option", [None, "channel"])
async def test_notify_holds_where_nothing_else_is_said(tmp_path: Path, option: str | None) -> None:
    async with open_guild(tmp_path, Script(by_prompt={"count": ["Seven."]})) as here:
        [told] = private(await here.ben.slash(here.channel, "notify", where="dm"))
        assert "as direct messages" in told
        given = {"notify": option} if option else {}
        await here.ben.slash(here.channel, "job start", goal="count", **given)
        await here.settle()
        direct = [message.content for message in here.people["ben"].dm_channel.history()] if option is None else []
        assert bool(direct) is (option is None)
        assert any("Seven." in text for text in here.texts) is (option is not None)


@pytest.mark.parametrize(
    ("goal", "shown"),
    [
        ("run `date` twice", "```text\nrun `date` twice\n```"),
        ("clean up", "> `clean up`"),
        ("end ``` here", "> `end ⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩ here`"),
    ],
)
async def test_a_goal_with_backticks_is_shown_as_it_was_said(tmp_path: Path, goal: str, shown: str) -> None:
    async with open_guild(tmp_path, Script(by_prompt={goal: [SHELL]})) as here:
        await waiting(here, goal)
        await here.later()
        assert shown in text_of(jobs(here)[0])
