"""Votes as rows: counted inside the deciding transaction, sealed, and believed only if this bot stored them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.errors import AlreadySettled, DecisionRefused, DeliveryError, NotAllowed
from bot.settings import Settings
from bot.surface import Actor, CardPress, Press
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, Face, House, Script, open_house

ACT = [("act", {"what": "x"})]
SECOND, THIRD = Actor(id="5", guild="9"), Actor(id="6", guild="9")
BY_ROLE = Actor(id="7", guild="9", roles=frozenset({"80"}))
TWO_OF_THREE = Settings.model_validate({"approvers": [{"users": ["1", "5", "6"], "quorum": 2}]})


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY requested_at, id")]


async def alter(house: House, sql: str, *parameters: Any) -> None:
    """Somebody who can write to the database."""
    async with house.app.database.begin("alter") as tx:
        await tx.execute(sql, *parameters)


async def test_a_vote_is_kept_across_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT), settings=TWO_OF_THREE) as house:
        await house.ask()
        press = house.press(SECOND)
        await house.decide("approve")
        assert await states(house) == ["pending"]
    async with open_house(tmp_path, Script("Done."), settings=TWO_OF_THREE, ids="later") as house:
        await house.app.engine.decide(press, "approve")
        await house.app.background.idle()
        assert house.bench.effects == ["x"]


async def test_of_two_last_votes_at_once_both_count_and_it_runs_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=TWO_OF_THREE) as house:
        await house.ask()
        endings = await asyncio.gather(
            *(house.app.engine.decide(house.press(actor), "approve") for actor in (OWNER, SECOND, THIRD)),
            return_exceptions=True,
        )
        await house.app.background.idle()
        assert [type(ending) for ending in endings].count(AlreadySettled) == 1
        assert house.bench.effects == ["x"]


async def test_a_yes_and_a_no_at_once_never_run_when_the_no_was_in_time(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=TWO_OF_THREE) as house:
        await house.ask()
        await house.decide("approve")
        endings = await asyncio.gather(
            house.app.engine.decide(house.press(SECOND), "deny"),
            house.app.engine.decide(house.press(THIRD), "approve"),
            return_exceptions=True,
        )
        await house.app.background.idle()
        [winner] = [ending for ending in endings if not isinstance(ending, BaseException)]
        assert house.bench.effects == ([] if winner.state == "denied" else ["x"])


@pytest.mark.parametrize(
    "forged",
    [
        "INSERT INTO vote (approval, person, verdict, roles, at, seal)"
        " SELECT id, '6', 'approve', '[]', 1, 'forged' FROM approval",
        "INSERT INTO vote (approval, person, verdict, roles, at, seal)"
        " SELECT approval, '6', verdict, roles, at, seal FROM vote",
    ],
    ids=["a made-up seal", "somebody else's seal"],
)
async def test_a_vote_that_was_put_into_the_database_does_not_count(tmp_path: Path, forged: str) -> None:
    """S-A49, S-A50."""
    async with open_house(tmp_path, Script(ACT), settings=TWO_OF_THREE) as house:
        await house.ask()
        await house.decide("approve", SECOND)
        await alter(house, forged)
        _, view = house.card
        assert view.standings[view.approvals[0].id].given == (SECOND.id,)
        with pytest.raises(DecisionRefused, match="already_voted"):
            await house.decide("approve", SECOND)
        assert (await states(house), house.bench.effects) == (["pending"], [])


@pytest.mark.parametrize(
    "alteration",
    [
        "DELETE FROM vote WHERE person = '1'",
        "UPDATE vote SET person = '6' WHERE person = '1'",
        "UPDATE vote SET verdict = 'deny' WHERE person = '1'",
        "UPDATE approval SET settled_by = '1'",
    ],
)
async def test_a_decision_whose_votes_were_altered_does_not_run(tmp_path: Path, alteration: str) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Void."), settings=TWO_OF_THREE, open_db=database.open) as house:
        await house.ask()
        await house.decide("approve")
        database.failing["claim"] = 1
        await house.decide("approve", SECOND)
        assert await states(house) == ["approved"]
        await alter(house, alteration)
        await house.later(seconds=2)
        assert (await states(house), house.bench.effects) == (["void"], [])


async def test_a_vote_on_an_earlier_wording_is_no_vote_on_the_new_one(tmp_path: Path) -> None:
    """S-A22, against somebody who moves the vote over."""
    async with open_house(tmp_path, Script(ACT), settings=TWO_OF_THREE) as house:
        await house.ask()
        await house.decide("approve")
        await house.app.engine.edits.edit(house.press(SECOND), "y")
        await house.app.background.idle()
        [new] = await house.rows("SELECT id FROM approval WHERE state = 'pending'")
        await alter(house, "UPDATE vote SET approval = ?", new["id"])
        await house.decide("approve", THIRD)
        assert await states(house) == ["cancelled", "pending"]
        assert house.bench.effects == []


@pytest.mark.parametrize(
    ("act", "column"),
    [("edit", 'arguments = \'{"what": "z"}\''), ("edit", "requester = '3'"), ("extend", "seal = 'x'")],
)
async def test_a_row_that_was_altered_is_not_sealed_anew(tmp_path: Path, act: str, column: str) -> None:
    """Whoever can write to the database must not get our seal by having somebody edit or put off."""
    async with open_house(tmp_path, Script(ACT)) as house:
        await house.ask()
        await alter(house, f"UPDATE approval SET {column}")
        posted, view = house.card
        card = CardPress(actor=OWNER, card=view.card.id, place=view.card.place, message=posted)
        edits = house.app.engine.edits
        doing = edits.edit(house.press(OWNER), "y") if act == "edit" else edits.extend(card)
        with pytest.raises(DecisionRefused, match="not_genuine"):
            await doing
        assert await states(house) == ["pending"]


async def test_who_decides_under_new_settings_is_asked_at_the_claim(tmp_path: Path) -> None:
    """Approved, not yet claimed, and the approver is struck from the settings before the next start."""
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT), open_db=database.open) as house:
        await house.ask()
        database.failing["claim"] = 1
        await house.decide("approve")
    others = Settings(approver_users=frozenset({SECOND.id}))
    async with open_house(tmp_path, Script("Void."), settings=others, ids="later") as house:
        assert await states(house) == ["void"]
        [row] = await house.rows("SELECT note FROM approval")
        assert "the approval of" in row["note"]
        assert "does not count any more" in row["note"]
        assert house.bench.effects == []


async def test_before_it_is_known_who_owns_the_bot_nothing_approved_runs(tmp_path: Path) -> None:
    database = FaultyDatabase()
    nobody = Settings()
    async with open_house(tmp_path, Script(ACT), settings=nobody, open_db=database.open) as house:
        house.app.engine.set_owners(frozenset({OWNER.id}))
        await house.ask()
        database.failing["claim"] = 1
        await house.decide("approve")
    async with open_house(tmp_path, Script("Done."), settings=nobody, ids="later") as house:
        assert await states(house) == ["approved"]
        house.app.engine.set_owners(frozenset({OWNER.id}))
        await house.later(seconds=2)
        assert house.bench.effects == ["x"]


async def test_roles_are_asked_for_at_the_claim_only_where_they_matter(tmp_path: Path) -> None:
    mixed = Settings.model_validate({"approver_users": frozenset({OWNER.id}), "approver_roles": frozenset({"80"})})
    face = Face(members={("9", BY_ROLE.id): BY_ROLE.roles})
    async with open_house(tmp_path, Script(ACT, "Done.", ACT, "Done."), settings=mixed, face=face) as house:
        await house.ask()
        await house.decide("approve")
        assert face.asked_for == []
        await house.ask(request="r2")
        await house.decide("approve", BY_ROLE)
        assert face.asked_for == [("9", BY_ROLE.id)]


async def test_an_approval_stays_approved_while_roles_cannot_be_asked_for(tmp_path: Path) -> None:
    by_role = Settings.model_validate({"approver_roles": frozenset({"80"})})
    face = Face(members={("9", BY_ROLE.id): BY_ROLE.roles}, fail_roles=DeliveryError("Discord is having trouble."))
    async with open_house(tmp_path, Script(ACT, "Done."), settings=by_role, face=face) as house:
        await house.ask()
        await house.decide("approve", BY_ROLE)
        assert (await states(house), house.bench.effects) == (["approved"], [])
        face.fail_roles = None
        await house.later(seconds=2)
        assert house.bench.effects == ["x"]


@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_a_vote_after_the_deadline_counts_for_nothing(tmp_path: Path, verdict: Any) -> None:
    """S-A13."""
    async with open_house(tmp_path, Script(ACT, "Nobody."), settings=TWO_OF_THREE) as house:
        await house.ask()
        await house.decide("approve")
        house.clock.advance(seconds=86_400)
        with pytest.raises(AlreadySettled, match="too_late"):
            await house.app.engine.decide(house.press(SECOND), verdict)
        await house.later(seconds=0)
        assert (await states(house), house.bench.effects) == (["expired"], [])


async def test_a_quorum_that_cannot_be_met_is_no_card_but_a_word_to_the_model(tmp_path: Path) -> None:
    lonely = Settings.model_validate({"approvers": [{"quorum": 2}], "approver_users": frozenset({OWNER.id})})
    script = Script(ACT, "Nobody can.")
    async with open_house(tmp_path, script, settings=lonely) as house:
        await house.ask()
        assert house.face.cards == {}
        assert "Nobody who may sign this off" in script.results()[0][1]


async def test_the_requester_takes_back_what_was_approved_but_has_not_begun(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "I see."), open_db=database.open) as house:
        await house.ask()
        press = house.press(ASKER)
        database.failing["claim"] = 1
        await house.decide("approve")
        assert await states(house) == ["approved"]
        await house.app.engine.decisions.cancel(press)
        await house.later(seconds=2)
        assert (await states(house), house.bench.effects) == (["cancelled"], [])


async def test_refusals_name_the_rule_and_are_on_the_trail(tmp_path: Path) -> None:
    """S-A02."""
    async with open_house(tmp_path, Script(ACT), settings=TWO_OF_THREE) as house:
        await house.ask()
        [row] = await house.rows("SELECT id FROM approval")
        press = Press(actor=ASKER, approval=row["id"], place="discord/9/90", message=None)
        for act in ("approve", "deny"):
            with pytest.raises(NotAllowed, match="not_approver") as refusal:
                await house.app.engine.decide(press, act)  # type: ignore[arg-type]
            assert "Rule 1 of [[approvers]] says who decides: 2 of <1>, <5>, <6>." in refusal.value.sentence
        trail = await house.rows("SELECT actor, detail FROM audit WHERE event = 'press_refused'")
        assert trail == [{"actor": ASKER.id, "detail": '{"code": "not_approver"}'}] * 2
