"""Presses on cards: acknowledged, authorised, answered (cases A2, A4, A14, A16, A35, S-A02, S-A16, S-A18)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.errors import AlreadySettled
from bot.surface import Actor, Press
from cogs import forms, presses
from tests.cogs.guild import Guild, custom_id, labels, open_guild, text_of
from tests.house import Bench, Script

SHELL = [("shell", {"command": "echo hello"})]
WAITING = ["Approve", "Deny", "Deny with reason…", "Edit…", "Details", "Cancel", "Extend"]


@asynccontextmanager
async def asked(folder: Path) -> AsyncIterator[Guild]:
    """A guild in which Ben has asked, and a card waits."""
    async with open_guild(folder, Script(SHELL, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        yield here


def private(result: Any) -> list[str]:
    """What only the presser was told."""
    assert all(message.ephemeral for message in result.followups)
    answer = [result.response] if result.response is not None and result.response.ephemeral else []
    return [message.content for message in [*answer, *result.followups]]


async def forge(here: Guild, actor: Any, text: str, *, message: discord.Message | None = None) -> Any:
    """A press with a custom id that no button has."""
    from simcord.actors import _component_interaction
    from simcord.enums import ComponentType

    target = message or here.card
    stored = here.env.backend.get_message(target.channel.id, target.id)
    return await _component_interaction(actor, stored, {"custom_id": text, "component_type": ComponentType.BUTTON})


async def state(here: Guild) -> list[str]:
    return [row["state"] for row in await here.rows("SELECT state FROM approval ORDER BY position")]


async def test_a_denied_call_never_runs_and_the_card_says_who_denied_it(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        assert here.bench.effects == []
        assert f"<@{here.ana.id}> denied `shell`" in text_of(here.card)
        assert labels(here.card) == ["Details", "Run again"]


async def test_a_strangers_press_is_refused_privately_and_the_card_stays(tmp_path: Path) -> None:
    """A14, S-A02."""
    async with asked(tmp_path) as here:
        before = text_of(here.card)
        result = await here.mallory.click(here.card, label="Approve")
        await here.settle()
        [told] = private(result)
        assert "not an approver" in told
        assert text_of(here.card) == before
        assert labels(here.card) == WAITING
        assert await here.rows("SELECT actor FROM audit WHERE event = 'press_refused'") == [
            {"actor": str(here.mallory.id)}
        ]
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_a_second_press_is_told_who_was_first(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        approve = custom_id(here.card, "Approve")
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        [told] = private(await forge(here, here.ana, approve))
        assert "already been settled" in told
        assert f"<@{here.ana.id}> denied `shell`" in told
        assert here.bench.effects == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda id: id + "\n", id="newline"),
        pytest.param(str.upper, id="upper case"),
        pytest.param(lambda id: id.replace("approve", "allow"), id="unknown verb"),
        pytest.param(lambda id: id.replace("so1", "so0"), id="foreign prefix"),
        pytest.param(lambda id: id.rsplit(":", 1)[0] + ":" + "q" * 16, id="unknown request"),
        pytest.param(lambda id: "anything", id="nothing of ours"),
    ],
)
async def test_a_forged_press_is_answered_privately_and_decides_nothing(tmp_path: Path, change: Any) -> None:
    """A2, S-A16."""
    async with asked(tmp_path) as here:
        result = await forge(here, here.ana, change(custom_id(here.card, "Approve")))
        await here.settle()
        [told] = private(result)
        assert "nothing" in told
        assert await state(here) == ["pending"]


async def test_a_button_counts_only_on_its_own_message(tmp_path: Path) -> None:
    """S-A18."""
    async with asked(tmp_path) as here:
        other = next(message for message in here.messages if message.content)
        [told] = private(await forge(here, here.ana, custom_id(here.card, "Approve"), message=other))
        assert "does not belong to this message" in told
        assert await state(here) == ["pending"]


async def test_every_button_of_a_card_does_what_it_says(tmp_path: Path) -> None:
    """A2: the raw custom id of every button, fed back, is understood."""
    async with asked(tmp_path) as here:
        for label in labels(here.card):
            result = await forge(here, here.mallory, custom_id(here.card, label))
            assert presses.UNKNOWN not in private(result)


async def test_old_buttons_work_after_a_restart(tmp_path: Path) -> None:
    """A35: nothing is registered with the new client."""
    async with asked(tmp_path) as here:
        card = here.card
        await here.restart()
        result = await here.ana.click(card, label="Approve")
        await here.settle()
        assert result.acknowledged
        assert here.bench.effects == ["echo hello"]
        assert "done" in text_of(here.card)


async def test_a_press_is_acknowledged_before_anything_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A4: the store takes its time; Discord has its answer by then."""
    async with asked(tmp_path) as here:
        order: list[str] = []
        decide = here.app.engine.decide
        defer = discord.InteractionResponse.defer

        async def slow(*args: Any, **kwargs: Any) -> Any:
            order.append("decide")
            return await decide(*args, **kwargs)

        async def noted(*args: Any, **kwargs: Any) -> Any:
            order.append("acknowledge")
            return await defer(*args, **kwargs)

        monkeypatch.setattr(here.app.engine, "decide", slow)
        monkeypatch.setattr(discord.InteractionResponse, "defer", noted)
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert order == ["acknowledge", "decide"]


async def test_a_failed_acknowledgement_does_not_lose_the_decision(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        here.env.inject_error("POST", "/interactions/*/*/callback", status=404, code=10062)
        result = await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert not result.acknowledged
        assert here.bench.effects == ["echo hello"]
        assert "done" in text_of(here.card)


async def test_an_error_of_ours_is_told_truthfully_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with asked(tmp_path) as here:

        async def broken(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("the disk is on fire")

        monkeypatch.setattr(here.app.engine, "decide", broken)
        [told] = private(await here.ana.click(here.card, label="Approve"))
        assert "Something went wrong" in told
        assert "disk" not in told
        assert "the disk is on fire" in caplog.text


async def test_details_are_shown_to_whoever_asks_and_only_to_them(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        result = await here.mallory.click(here.card, label="Details")
        [told] = private(result)
        assert "echo hello" in told
        assert "Digest" in told
        assert await state(here) == ["pending"]


async def test_details_of_a_call_that_ran_show_its_result(tmp_path: Path) -> None:
    async with asked(tmp_path) as here:
        await here.ana.click(here.card, label="Approve")
        await here.settle()
        [told] = private(await here.ben.click(here.card, label="Details"))
        assert "Result, exit code 0\n```text\nout\n```" in told


async def test_a_role_decides_in_its_own_guild_only(tmp_path: Path) -> None:
    """The role comes from the press's own payload."""
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        role = here.guild.create_role("Approvers")
        dora = here.guild.add_member(here.env.create_user("dora"), roles=[role])
        here.approve_by(roles=[role.id])
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.mallory.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == []
        await dora.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == ["echo hello"]


async def test_everybodys_role_is_nobodys_authority(tmp_path: Path) -> None:
    """S-A01: the guild's own id is the role that all members hold."""
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        here.approve_by(roles=[here.guild.id])
        await here.ben.slash(here.channel, "ask", prompt="please")
        await here.mallory.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == []


async def test_in_direct_messages_the_presser_is_known_as_well(tmp_path: Path) -> None:
    """A16."""
    async with open_guild(tmp_path, Script(SHELL, "Done.")) as here:
        ana = here.env.create_user("ana-at-home")
        here.app.engine.set_owners(frozenset({str(ana.id)}))
        await ana.send_dm("say hello")
        await here.settle()
        [card] = [message for message in ana.dm_channel.history() if message.flags.components_v2]
        result = await ana.click(card, label="Approve")
        await here.settle()
        assert result.acknowledged
        assert here.bench.effects == ["echo hello"]


async def test_a_card_of_several_calls_decides_each_by_its_own_buttons(tmp_path: Path) -> None:
    """A1."""
    calls = [("shell", {"command": "echo one"}), ("shell", {"command": "echo two"})]
    async with open_guild(tmp_path, Script(calls, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="both")
        await here.ana.click(here.card, custom_id=custom_id(here.card, "Approve", 1))
        await here.settle()
        assert here.bench.effects == ["echo two"]
        assert labels(here.card) == [*WAITING[:5], "Details", "Run again", "Cancel", "Extend"]
        await here.ana.click(here.card, label="Deny")
        await here.settle()
        assert await state(here) == ["denied", "succeeded"]
        assert here.bench.effects == ["echo two"]


@pytest.mark.parametrize(("label", "effects"), [("Approve all", ["echo one", "echo two"]), ("Deny all", [])])
async def test_one_press_decides_all_calls_of_a_card(tmp_path: Path, label: str, effects: list[str]) -> None:
    calls = [("shell", {"command": "echo one"}), ("shell", {"command": "echo two"})]
    async with open_guild(tmp_path, Script(calls, "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="both")
        again = custom_id(here.card, label)
        result = await here.mallory.click(here.card, label=label)
        assert "not an approver" in private(result)[0]
        await here.ana.click(here.card, label=label)
        await here.settle()
        assert sorted(here.bench.effects) == effects
        [told] = private(await forge(here, here.ana, again))
        assert "changed nothing" in told


async def test_a_call_that_is_not_all_shown_is_approved_in_a_second_step(tmp_path: Path) -> None:
    """S-A38."""
    command = "echo " + "x" * 6_000 + "; rm -r ~/x"
    async with open_guild(tmp_path, Script([("shell", {"command": command})], "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="long")
        assert [file.filename for file in here.card.attachments] == [
            f"call-{custom_id(here.card, 'Deny').rsplit(':', 1)[1]}.txt"
        ]
        form = await here.ana.click(here.card, label="Approve")
        await here.settle()
        assert here.bench.effects == []
        [told] = private(await here.ana.submit_modal(form, {"text": "no"}))
        assert told == presses.NOT_CONFIRMED
        assert here.bench.effects == []
        form = await here.ana.click(here.card, label="Approve")
        assert (await here.ana.submit_modal(form, {"text": " Approve"})).acknowledged
        await here.settle()
        assert here.bench.effects == [command]
        assert "done" in text_of(here.card)
        assert len(here.card.attachments) == 1


async def test_a_stranger_cannot_confirm_the_second_step(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script([("shell", {"command": "x" * 6_000})], "Done.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="long")
        form = await here.mallory.click(here.card, label="Approve")
        [told] = private(await here.mallory.submit_modal(form, {"text": "approve"}))
        assert "not an approver" in told
        assert here.bench.effects == []


QUESTION = [("ask_user", {"question": "Which port?", "choices": ["80", "443"]})]


async def test_the_person_who_was_asked_answers_with_a_choice(tmp_path: Path) -> None:
    script = Script(QUESTION, "Port 443 it is.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="open a port")
        assert labels(here.card) == ["80", "443", "Answer…", "Details", "Cancel"]
        result = await here.ana.click(here.card, label="80")
        assert "Only the person who was asked" in private(result)[0]
        await here.ben.click(here.card, label="443")
        await here.settle()
        assert "443" in script.results()[0][1]
        assert here.texts[-1] == "Port 443 it is."


async def test_the_person_who_was_asked_answers_in_their_own_words_even_after_a_restart(tmp_path: Path) -> None:
    script = Script(QUESTION, "I see.")
    async with open_guild(tmp_path, script) as here:
        await here.ben.slash(here.channel, "ask", prompt="open a port")
        form = await here.ben.click(here.card, label="Answer…")
        assert form.modal is not None
        await here.restart()
        await here.ben.submit_modal(form, {"text": "8080, please"})
        await here.settle()
        assert "8080, please" in script.results()[0][1]


async def test_two_openings_of_a_form_are_two_forms(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(QUESTION, "I see.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="open a port")
        forms = [await here.ben.click(here.card, label="Answer…") for _ in range(2)]
        assert forms[0].modal["custom_id"] != forms[1].modal["custom_id"]


async def test_an_answer_that_comes_too_late_is_given_back(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(QUESTION, "I see.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="open a port")
        form = await here.ben.click(here.card, label="Answer…")
        await here.ben.click(here.card, label="80")
        await here.settle()
        [told] = private(await here.ben.submit_modal(form, {"text": "8080, please"}))
        assert "already been settled" in told
        assert "8080, please" in told


async def test_a_blank_answer_is_not_an_answer(tmp_path: Path) -> None:
    async with open_guild(tmp_path, Script(QUESTION, "I see.")) as here:
        await here.ben.slash(here.channel, "ask", prompt="open a port")
        form = await here.ben.click(here.card, label="Answer…")
        [told] = private(await here.ben.submit_modal(form, {"text": "   "}))
        assert told == forms.BLANK
        assert await state(here) == ["pending"]


async def test_two_people_at_once_make_one_decision(tmp_path: Path) -> None:
    """S-A12, in the small: the database decides the race, not the disabled button."""
    async with open_guild(tmp_path, Script(SHELL, "Done."), bench=Bench()) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        here.app.engine.set_owners(frozenset({str(here.ana.id), str(here.mallory.id)}))
        [row] = await here.rows("SELECT id, place FROM approval")
        pressed = [
            Press(
                actor=Actor(id=str(who.id), guild=str(here.guild.id)),
                approval=row["id"],
                place=row["place"],
                message=str(here.card.id),
            )
            for who in (here.ana, here.mallory)
        ]
        results = await asyncio.gather(
            *(here.app.engine.decide(press, "approve") for press in pressed), return_exceptions=True
        )
        assert sum(isinstance(result, AlreadySettled) for result in results) == 1
        await here.app.background.idle()
        assert here.bench.effects == ["echo hello"]
