"""Long results come back as files: on the card of the call, and below an answer, as far as Discord takes them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.deferral.tool import Call, Tool, ToolOutcome
from cogs import results
from cogs.cards import render
from cogs.limits import COMPONENTS
from storage.approvals import ApprovalState
from tests.cogs.conftest import approval, view
from tests.cogs.guild import Guild, labels, open_guild, text_of
from tests.cogs.test_cards import whole
from tests.cogs.test_presses import private
from tests.house import Bench, CommandArguments, Script

__all__ = ["approval", "view"]

SHELL = [("shell", {"command": "cat log"})]
LONG = "".join(f"line {number}\n" for number in range(500))


@dataclass
class Talkative(Bench):
    """A shell that says what it is told to say."""

    says: str = LONG

    def tools(self) -> list[Tool]:
        async def speak(arguments: CommandArguments, call: Call) -> ToolOutcome:
            return ToolOutcome(text=self.says, exit_code=0)

        return [replace(tool, body=speak) if tool.name == "shell" else tool for tool in super().tools()]


@asynccontextmanager
async def ran(folder: Path, says: str = LONG, *steps: Any, **options: Any) -> AsyncIterator[Guild]:
    """A guild in which a command has said that."""
    bench = Talkative(says=says)
    async with open_guild(folder, Script(*(steps or (SHELL, "Done."))), bench=bench, **options) as here:
        await here.ben.slash(here.channel, "ask", prompt="please")
        yield here


async def approve(here: Guild, label: str = "Approve") -> None:
    await here.ana.click(here.card, label=label)
    await here.settle()


async def attached(message: discord.Message) -> dict[str, str]:
    return {file.filename: (await file.read()).decode() for file in message.attachments}


async def forbid_files(here: Guild) -> None:
    """The bot may not attach anything in this channel any more: simcord knows the permission, and is made to ask it."""
    known = here.env.bot.get_channel(here.channel.id)
    await known.set_permissions(known.guild.me, attach_files=False)
    backend, me = here.env.backend, here.env.bot.user.id
    store = backend.cdn.store_attachment

    def checked(id: int, channel: int, *rest: Any) -> Any:
        backend.require_permissions(here.guild.id, me, channel, "attach_files")
        return store(id, channel, *rest)

    backend.cdn.store_attachment = checked
    await here.settle()


async def test_a_long_result_is_attached_to_its_card_beside_both_ends(tmp_path: Path) -> None:
    async with ran(tmp_path) as here:
        await approve(here)
        [call] = await here.rows("SELECT id FROM approval")
        assert await attached(here.card) == {f"result-{call['id']}.txt": LONG}
        shown = text_of(here.card)
        assert "line 0" in shown
        assert "line 499" in shown
        assert "line 250" not in shown
        assert "characters not shown" in shown


async def test_a_short_result_stays_behind_details(tmp_path: Path) -> None:
    async with ran(tmp_path, "short\n") as here:
        await approve(here)
        assert await attached(here.card) == {}
        assert "short" not in text_of(here.card)
        assert "short" in private(await here.ana.click(here.card, label="Details"))[0]


async def test_the_file_with_the_whole_call_stays_beside_it(tmp_path: Path) -> None:
    long_call = [("shell", {"command": "\n".join(f"echo {number}" for number in range(900))})]
    async with ran(tmp_path, LONG, long_call, "Done.") as here:
        form = await here.ana.click(here.card, label="Approve")
        await here.ana.submit_modal(form, {"text": "approve"})
        await here.settle()
        files = await attached(here.card)
        assert [name.partition("-")[0] for name in files] == ["call", "result"]
        assert "echo 899" in files[next(iter(files))]


async def test_what_looks_like_a_credential_is_masked_in_the_file_and_nothing_in_it_hides(tmp_path: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5" * 4
    async with ran(tmp_path, f"{LONG}\n{token}\nfdp.\u202eexe") as here:
        await approve(here)
        [content] = (await attached(here.card)).values()
        assert token not in content
        assert "masked: GitHub token" in content
        assert "\u202e" not in content


async def test_several_long_results_on_one_card_are_one_file(tmp_path: Path) -> None:
    both = [*SHELL, ("shell", {"command": "cat other"})]
    async with ran(tmp_path, LONG, both, "Done.") as here:
        await approve(here, "Approve all")
        [(name, content)] = (await attached(here.card)).items()
        assert name.startswith("result-")
        assert content.count("line 499") == 2
        assert content.startswith("shell (")


async def test_where_files_may_not_be_attached_the_card_says_so_and_keeps_its_ends_and_buttons(tmp_path: Path) -> None:
    async with ran(tmp_path) as here:
        await forbid_files(here)
        await approve(here)
        shown = text_of(here.card)
        assert "The whole result could not be attached here" in shown
        assert "line 499" in shown
        assert labels(here.card) == ["Details", "Run again"]
        assert await attached(here.card) == {}
        [row] = await here.rows("SELECT shown, version, error FROM card")
        assert row["shown"] == row["version"]


async def test_a_result_too_large_for_discord_is_not_even_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LARGEST", 1_000)
    async with ran(tmp_path) as here:
        await approve(here)
        assert "The whole result could not be attached here" in text_of(here.card)
        assert await attached(here.card) == {}


async def test_five_calls_with_long_results_fit_on_one_card(approval: Any, view: Any) -> None:
    done: dict[str, Any] = {"state": ApprovalState.SUCCEEDED, "result": LONG, "settled_by": "1"}
    calls = [approval(id=f"call{n}", position=n, **done) for n in range(5)]
    rendered = render(view(*calls))
    assert rendered.results is not None
    assert rendered.results.content.count("line 499") == 5
    assert len(list(rendered.view.walk_children())) <= COMPONENTS


async def test_the_ends_of_a_result_are_drawn_inert(approval: Any, view: Any) -> None:
    nasty = "``` @everyone \u202e\n" * 100
    drawn = whole(render(view(approval(state=ApprovalState.SUCCEEDED, result=nasty, settled_by="1"))))
    assert "\u202e" not in drawn
    assert drawn.count("```") % 2 == 0


async def test_a_long_answer_comes_as_a_file_and_where_that_is_forbidden_its_beginning_with_the_reason(
    tmp_path: Path,
) -> None:
    answer = ("x" * 499 + " ") * 40
    async with ran(tmp_path, "short", SHELL, answer, SHELL, answer) as here:
        await approve(here)
        assert "it is attached" in here.texts[-1]
        await here.ben.slash(here.channel, "ask", prompt="once more")
        await forbid_files(here)
        await approve(here)
        assert here.texts[-1].startswith("-# The whole answer has 20,000 characters, and could not be attached:")
        assert "Attach Files" in here.texts[-1]
        [run] = await here.rows("SELECT state FROM outbox WHERE key LIKE 'answer:%' ORDER BY id DESC LIMIT 1")
        assert run["state"] == "delivered"
