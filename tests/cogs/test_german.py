"""The main stories told to people whose Discord, and whose server, speak German: no English sentence of ours is left.

What is looked for are the English texts of the catalogue themselves, each by its longest run of words between what is
filled in. What people, models and tools wrote is in no language of ours.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.texts.catalogue import CATALOGUE
from bot.texts.entry import Language
from cogs.speech import speaking
from storage.approvals import ApprovalState
from tests.cogs import test_cards
from tests.cogs.guild import Guild, open_guild
from tests.cogs.languages import speak_german
from tests.house import Script

SHELL = [("shell", {"command": "echo hello"})]
_FILLED = re.compile(r"\{[^}]*\}|`[^`]*`|\*\*|<[^>]*>")
_LETTERS = 8
"""Shorter runs of letters are words that German has as well."""


def _runs() -> dict[str, str]:
    found = {}
    for name, entry in CATALOGUE.items():
        german = " ".join(entry.forms(Language.DE))
        for form in entry.forms(Language.EN):
            for run in re.split(r"[\n.:;,()]", _FILLED.sub("\n", form)):
                if len(run.strip()) >= _LETTERS and " " in run.strip() and run.strip() not in german:
                    found[run.strip()] = name
    return found


RUNS = _runs()


def english_in(shown: str) -> list[str]:
    """The catalogue's English runs of words that stand in what is shown, with their keys."""
    return sorted(f"{RUNS[run]}: {run}" for run in RUNS if re.search(rf"\b{re.escape(run)}(?!\w)", shown))


def everything(message: discord.Message) -> str:
    """Every word of a message that a person sees: text, cards, labels of buttons and lists."""
    return "\n".join([message.content, *_words(message.components)])


def _words(components: Any) -> list[str]:
    found: list[str] = []
    for one in components:
        seen = [getattr(one, name, None) for name in ("content", "label", "placeholder", "description")]
        found += [value for value in seen if isinstance(value, str)]
        found += _words(getattr(one, "options", []))
        found += _words(getattr(one, "children", []))
    return found


def told(result: Any) -> str:
    """What only the person who acted was told."""
    answers = [result.response] if result.response is not None else []
    return "\n".join(everything(getattr(one, "message", one)) for one in [*answers, *result.followups])


def spoken(here: Guild) -> str:
    return "\n".join(map(everything, here.messages))


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    speak_german(monkeypatch)
    return {"face": {"language": "de"}}


async def test_asked_refused_approved_and_ended_in_german(tmp_path: Path, german: dict[str, Any]) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Fertig."), **german) as here:
        await here.ben.slash(here.channel, "ask", prompt="bitte")
        assert "Wartet auf eine Freigabe: siehe die Karte unten." in spoken(here)
        assert "Genehmigen\nAblehnen" in everything(here.card)
        refused = await here.mallory.click(here.card, label="Genehmigen")
        assert "Du bist hier kein Genehmiger" in told(refused)
        details = await here.ana.click(here.card, label="Details")
        form = await here.ana.click(here.card, label="Ablehnen mit Begründung…")
        assert english_in(f"{told(refused)}\n{told(details)}\n{form.modal}\n{spoken(here)}") == []
        await here.ana.click(here.card, label="Genehmigen")
        await here.settle()
        assert here.bench.effects == ["echo hello"]
        again = await here.ana.click(here.card, label="Details")
        assert "`shell` ist gelaufen" in everything(here.card)
        assert english_in(f"{spoken(here)}\n{told(again)}") == []


@pytest.mark.parametrize("ending", ["Ablehnen", "Abbrechen", None])
async def test_every_way_not_to_run_is_told_in_german(
    tmp_path: Path, german: dict[str, Any], ending: str | None
) -> None:
    async with open_guild(tmp_path, Script(SHELL, "Fertig."), **german) as here:
        await here.ben.slash(here.channel, "ask", prompt="bitte")
        if ending is None:
            await here.later(seconds=25 * 3_600)
        else:
            await (here.ana if ending == "Ablehnen" else here.ben).click(here.card, label=ending)
        await here.settle()
        story = await here.ana.slash(here.channel, "why", id=(await here.rows("SELECT id FROM approval"))[0]["id"])
        assert "Nichts ist gelaufen." in everything(here.card)
        assert english_in(f"{spoken(here)}\n{told(story)}") == []


async def test_lists_help_and_housekeeping_answer_in_german(tmp_path: Path, german: dict[str, Any]) -> None:
    async with open_guild(tmp_path, Script(SHELL), **german) as here:
        await here.ben.slash(here.channel, "ask", prompt="bitte")
        for command, options in (
            ("approvals", {}),
            ("help", {}),
            ("help", {"topic": "commands"}),
            ("help", {"topic": "cards"}),
            ("tools", {}),
            ("inbox", {}),
            ("notify", {"where": "dm"}),
            ("job list", {}),
            ("schedule list", {}),
            ("policy", {}),
            ("doctor", {}),
            ("usage", {}),
            ("grants", {}),
            ("settings", {}),
            ("new", {}),
        ):
            answer = told(await here.ana.slash(here.channel, command, **options))
            assert answer, command
            assert english_in(answer) == [], (command, answer)
        assert english_in(spoken(here)) == []


async def test_a_job_and_its_ending_are_told_in_german(tmp_path: Path, german: dict[str, Any]) -> None:
    async with open_guild(tmp_path, Script("Erledigt."), **german) as here:
        answer = told(await here.ben.slash(here.channel, "job start", goal="zählen"))
        await here.settle()
        await here.later()
        assert "Auftrag" in spoken(here)
        assert english_in(f"{answer}\n{spoken(here)}") == []


@pytest.mark.parametrize("kind", ["approval", "question"])
@pytest.mark.parametrize("extreme", test_cards.EXTREMES.values(), ids=test_cards.EXTREMES.keys())
async def test_discord_takes_the_most_extreme_card_in_german_too(
    approval: Any, view: Any, kind: str, extreme: dict[str, Any]
) -> None:
    with speaking(Language.DE):
        for state in (ApprovalState.PENDING, ApprovalState.INTERRUPTED, ApprovalState.NOTHING_RAN):
            await test_cards.test_discord_takes_the_most_extreme_card(approval, view, kind, state, extreme)
