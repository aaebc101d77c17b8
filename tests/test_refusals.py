"""A no stays a no for its request: variants are shown with what became of the ones before, and a model that keeps on is
stopped, over all its pauses and across restarts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.gate import BREAKER
from tests.house import OWNER, Bench, Face, House, Script, open_house


def act(what: object) -> list[tuple[str, dict[str, str]]]:
    return [("act", {"what": str(what)})]


def earlier(house: House) -> list[tuple[str, str]]:
    """State and argument of what the newest card says of calls before."""
    return [(str(call.state), call.arguments["what"]) for call in house.card[1].earlier]


async def test_a_near_variant_after_a_denial_gets_a_card_that_shows_the_denial(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("rm x"), act("rm ./x"), "Done.")) as house:
        await house.ask()
        assert earlier(house) == []
        await house.decide("deny", reason="no")
        assert earlier(house) == [("denied", "rm x")]
        assert house.card[1].earlier[0].settled_by == OWNER.id
        await house.decide("approve")
        assert house.bench.effects == ["rm ./x"]
        assert earlier(house) == []  # decided: the question has given way to the answer


async def test_silence_is_shown_as_silence(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("a"), act("b"))) as house:
        await house.ask()
        await house.later(seconds=86_400)
        assert earlier(house) == [("expired", "a")]


async def test_what_ran_is_no_refusal(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("a"), act("b"))) as house:
        await house.ask()
        await house.decide("approve")
        assert earlier(house) == []


async def test_a_new_request_starts_without_the_refusals_of_the_last(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("a"), "As you wish.", act("b"))) as house:
        await house.ask(request="r1")
        await house.decide("deny")
        await house.ask(request="r2")
        assert earlier(house) == []


async def test_a_denial_is_remembered_over_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(act("a"), act("b"))) as house:
        await house.ask()
        await house.decide("deny")
        press = house.press(OWNER)
    face = Face()
    async with open_house(tmp_path, Script(act("c")), face=face, ids="second") as house:
        await house.app.engine.decide(press, "deny")
        await house.app.background.idle()
        assert earlier(house) == [("denied", "a"), ("denied", "b")]


@pytest.mark.parametrize("restart", [False, True])
async def test_a_model_that_respells_after_every_denial_is_stopped_and_it_is_said(
    tmp_path: Path, restart: bool
) -> None:
    face, bench = Face(), Bench()
    cards = 0
    for life in range(30):
        script = Script(*(act(f"{life} {number}") for number in range(30)))
        async with open_house(tmp_path, script, face=face, bench=bench, ids=f"life{life}-") as house:
            if life == 0:
                await house.ask()
            while [row["state"] for row in await house.rows("SELECT state FROM run")] == ["waiting"]:
                cards += 1
                await house.decide("deny")
                if restart:
                    break
            [run] = await house.rows("SELECT state, result FROM run")
        if run["state"] != "waiting":
            break
    assert run["state"] == "failed"
    assert "kept asking" in run["result"]
    assert cards == BREAKER
    assert bench.effects == []


async def test_five_calls_that_are_denied_together_are_one_no(tmp_path: Path) -> None:
    batch = [call for number in range(5) for call in act(number)]
    async with open_house(tmp_path, Script(batch, act("another way"), "Done.")) as house:
        page = await house.ask()
        for row in range(5):
            await house.decide("deny", row=row)
        assert len(house.card[1].approvals) == 1
        await house.decide("approve")
        assert house.bench.effects == ["another way"]
        assert page.finished == "Done."


async def test_repeated_calls_are_counted_over_pauses_and_restarts(tmp_path: Path) -> None:
    repeats = [*act("a"), *act("a"), *act("a")]
    async with open_house(tmp_path, Script(act("a"), [*repeats, *act("b")])) as house:
        await house.ask()
        await house.decide("deny")
        [run] = await house.rows("SELECT state, turned_away FROM run")
        assert run == {"state": "waiting", "turned_away": 3}
        press = house.press(OWNER)
    async with open_house(tmp_path, Script(act("a"), "unheard"), ids="second") as house:
        await house.app.engine.decide(press, "deny")
        await house.app.background.idle()
        [run] = await house.rows("SELECT state, result FROM run")
        assert run["state"] == "failed"
        assert "kept asking" in run["result"]


async def test_a_model_that_takes_no_for_an_answer_is_not_stopped(tmp_path: Path) -> None:
    steps = [act(number) for number in range(BREAKER)]
    async with open_house(tmp_path, Script(*steps, "Then not.")) as house:
        page = await house.ask()
        for _ in range(BREAKER):
            await house.decide("deny")
        assert page.finished == "Then not."
