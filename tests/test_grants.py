"""Grants through the house: what is remembered, for whom, for how long, and everything that keeps it from holding."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.grants import Remember
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import AlreadySettled, DecisionRefused, DeliveryError
from bot.granting import MOST_GRANTS
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.surface import Actor, CardPress, TurnContext
from storage import audit
from tests.faults import FaultyDatabase
from tests.house import ASKER, OWNER, PLACE, STRANGER, Bench, Face, House, ManualClock, Page, Script, open_house

ACT: list[tuple[str, dict[str, Any]]] = [("act", {"what": "x"})]
HALF_HOUR, FIVE, OPEN = Remember.HALF_HOUR, Remember.FIVE_TIMES, Remember.UNTIL_REVOKED
SECOND = Actor(id="5", guild="9")
DAY = 24 * 3_600


class RunArguments(Arguments):
    argv: list[str]


class Words(Bench):
    """Beside the others a tool that takes the words of one command, and one that can be given any."""

    def __init__(self, **change: Any) -> None:
        super().__init__()
        self.change = change

    def tools(self) -> list[Tool]:
        async def run(arguments: RunArguments, call: Call) -> ToolOutcome:
            self.effects.append(" ".join(arguments.argv))
            return ToolOutcome(text="out")

        tool = Tool(name="run", description="Runs.", arguments=RunArguments, body=run)
        return [*super().tools(), replace(tool, **self.change)]


def run(*argv: str) -> list[tuple[str, dict[str, Any]]]:
    return [("run", {"argv": list(argv)})]


@asynccontextmanager
async def remembered(
    folder: Path, *steps: Any, call: Any = ACT, wish: Remember = FIVE, **opening: Any
) -> AsyncIterator[House]:
    """A house in which the owner has approved one call and remembers it; the model's next `steps` follow."""
    async with open_house(folder, Script(call, "Done.", *steps), **opening) as house:
        await house.ask()
        await remember(house, wish)
        yield house


async def remember(house: House, wish: Remember = FIVE, actor: Actor = OWNER) -> None:
    await house.app.engine.decide(house.press(actor), "approve", remember=wish)
    await house.app.background.idle()


async def states(house: House) -> list[str]:
    return [row["state"] for row in await house.rows("SELECT state FROM approval ORDER BY requested_at, id")]


async def events(house: House, like: str = "grant%") -> list[tuple[str, str]]:
    rows = await house.rows("SELECT event, actor FROM audit WHERE event LIKE ? ORDER BY n", like)
    return [(row["event"], row["actor"]) for row in rows]


async def grant(house: House) -> dict[str, Any]:
    [row] = await house.rows("SELECT * FROM call_grant")
    return row


async def revoke(house: House, actor: Actor) -> None:
    await house.app.engine.granting.revoke((await grant(house))["id"], actor)


# -- it holds -----------------------------------------------------------------------------------


async def test_the_very_call_runs_again_and_nobody_is_asked(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "Again.") as house:
        page = await house.ask(request="r2")
        assert house.bench.effects == ["x", "x"]
        assert await states(house) == ["succeeded", "succeeded"]
        assert page.finished == "Again."
        assert (await grant(house))["used"] == 1
        assert await events(house) == [("grant_made", OWNER.id), ("grant_used", audit.SYSTEM)]
        assert await audit.verify(house.app.database.reader) is None


async def test_what_a_grant_lets_through_is_shown_and_notifies_nobody(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "Again.") as house:
        await house.ask(request="r2")
        posted, view = house.card
        assert house.face.card_words[posted][-1] == "done"
        assert (view.ping, view.ping_roles) == ((), ())
        assert view.grants[view.approvals[0].id].left == 4
        assert not await house.rows("SELECT 1 FROM outbox WHERE key = ?", f"remind:{view.card.id}")
        first = house.face.cards["m1"]
        assert first.grants[first.approvals[0].id].makers == (OWNER.id,)


async def test_a_card_that_is_posted_late_is_edited_once_more(tmp_path: Path) -> None:
    """It may be the message of an earlier attempt, found again by its nonce, and show how things stood then."""
    async with remembered(tmp_path, ACT, "Again.") as house:
        house.face.fail_card = DeliveryError("Discord is slow.")
        await house.ask(request="r2")
        house.face.fail_card = None
        await house.later(seconds=60)
        await house.later(seconds=60)
        assert house.face.card_words[house.card[0]] == ["done", "done"]


async def test_the_trail_names_the_grant_and_no_person_as_the_one_who_approved(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "Again.") as house:
        await house.ask(request="r2")
        entries = [one for one in await audit.entries(house.app.database.reader) if one.event == "approved"]
        assert [one.actor for one in entries] == [OWNER.id, audit.SYSTEM]
        assert entries[1].detail == {"grant": (await grant(house))["id"], "makers": [OWNER.id]}
        assert "nobody was asked this time" in house.script.results()[-1][1]


async def test_after_five_uses_it_is_asked_again(tmp_path: Path) -> None:
    async with remembered(tmp_path, *[ACT, "Done."] * 6) as house:
        for number in range(6):
            await house.ask(request=f"again {number}")
        assert len(house.bench.effects) == 6
        assert await states(house) == ["succeeded"] * 6 + ["pending"]


@pytest.mark.parametrize(("wish", "seconds"), [(HALF_HOUR, 1_800), (FIVE, DAY)])
async def test_when_its_time_is_over_it_is_asked_again(tmp_path: Path, wish: Remember, seconds: int) -> None:
    """S-A56, its second half: five uses count for a day and no longer."""
    async with remembered(tmp_path, ACT, "Again.", ACT, wish=wish) as house:
        await house.later(seconds=seconds - 1)
        await house.ask(request="r2")
        assert len(house.bench.effects) == 2
        await house.later(seconds=1)
        await house.ask(request="r3")
        assert len(house.bench.effects) == 2
        assert (await states(house))[-1] == "pending"


async def test_it_is_not_forgotten_at_a_restart_and_asked_again_when_revoked(tmp_path: Path) -> None:
    """Case A11."""
    async with remembered(tmp_path, wish=OPEN):
        pass
    async with open_house(tmp_path, Script(ACT, "Again.", ACT), ids="later") as house:
        await house.later(seconds=400 * DAY)
        await house.ask(request="r2")
        assert house.bench.effects == ["x"]
        await revoke(house, OWNER)
        await house.ask(request="r3")
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"


async def test_an_edited_call_is_remembered_as_it_ran(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.", ACT, "?", [("act", {"what": "y"})], "Again.")) as house:
        await house.ask()
        await house.app.engine.edits.edit(house.press(OWNER), "y")
        await house.app.background.idle()
        await remember(house)
        await house.ask(request="r2")
        assert house.bench.effects == ["y"]
        await house.decide("deny")
        await house.ask(request="r3")
        assert house.bench.effects == ["y", "y"]


async def test_in_one_batch_only_the_remembered_call_runs_unasked(tmp_path: Path) -> None:
    async with remembered(tmp_path, [*ACT, ("act", {"what": "y"})], "Both.") as house:
        page = await house.ask(request="r2")
        assert house.bench.effects == ["x", "x"]
        assert (await states(house))[1:] == ["succeeded", "pending"]
        assert "Waiting for sign-off" in page.shown[-1]
        await house.decide("approve", row=1)
        assert house.bench.effects == ["x", "x", "y"]
        assert [text.splitlines()[-1] for _, text in house.script.results()[-2:]] == ["out", "out"]


async def test_a_call_that_nobody_is_asked_about_is_told_so_while_it_runs(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "Again.") as house:
        house.bench.hold = asyncio.Event()
        page = Page()
        asking = asyncio.ensure_future(house.ask(request="r2", page=page))
        while not page.shown or len(house.bench.effects) < 2:
            await asyncio.sleep(0)
        assert page.shown[-1] == "Allowed by a grant, so nobody is asked: see the card."
        house.bench.hold.set()
        await asking
        assert page.finished == "Again."


# -- only the very call -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trusted", "asked"),
    [
        pytest.param(["git", "status"], ["git", "status", ";", "id"], id="S-A51"),
        pytest.param(["git", "status"], ["git", "status; id"], id="S-A51, one word"),
        pytest.param(["echo", "hi"], ["echo", "$(id)"], id="S-A52"),
        pytest.param(["git", "status"], ["./git", "status"], id="S-A54"),
        pytest.param(["git", "status"], ["/usr/bin/git", "status"], id="S-A54, another name of it"),
        pytest.param(["tar", "tf", "a.tar"], ["tar", "tf", "a.tar", "--checkpoint-act=exec=id"], id="S-A55"),
        pytest.param(["rm", "ab"], ["rm", "a b"], id="S-A57"),
        pytest.param(["rm", "a", "b"], ["rm", "a b"], id="S-A57, the other way"),
        pytest.param(["rm", "é"], ["rm", "e\u0301"], id="S-A57, two ways to write a letter"),
        pytest.param(["ls", "A"], ["ls", "a"], id="S-A57, case"),
    ],
)
async def test_another_command_is_another_call(tmp_path: Path, trusted: list[str], asked: list[str]) -> None:
    async with remembered(tmp_path, run(*asked), call=run(*trusted), wish=OPEN, bench=Words()) as house:
        await house.ask(request="r2")
        assert house.bench.effects == [" ".join(trusted)]
        assert await states(house) == ["succeeded", "pending"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(run("env", "-S", "rm -rf ."), id="S-A53, env -S"),
        pytest.param(run("busybox", "sh", "-c", "id"), id="S-A53, busybox"),
        pytest.param(run("timeout", "5", "sh", "-c", "id"), id="S-A53, timeout"),
        pytest.param(run("bash", "-lc", "whoami"), id="A20"),
        pytest.param(run("python3.11", "x.py"), id="an interpreter"),
        pytest.param(run("./tool"), id="a program in the workspace"),
        pytest.param(run(), id="no program"),
        pytest.param([("shell", {"command": "whoami"})], id="a shell string"),
    ],
)
async def test_what_runs_whatever_it_is_given_is_never_remembered(tmp_path: Path, call: Any) -> None:
    async with open_house(tmp_path, Script(call, "Done.", call), bench=Words()) as house:
        await house.ask()
        assert house.card[1].grantable == frozenset()
        with pytest.raises(DecisionRefused, match="cannot be remembered"):
            await remember(house, OPEN)
        assert await states(house) == ["pending"]
        assert await events(house, "press_refused") == [("press_refused", OWNER.id)]
        await house.decide("approve")
        await house.ask(request="r2")
        assert (await states(house))[-1] == "pending"


async def test_approving_once_leaves_nothing_behind(tmp_path: Path) -> None:
    """S-A58."""
    async with open_house(tmp_path, Script(ACT, "Done.", ACT)) as house:
        await house.ask()
        assert house.card[1].grantable
        await house.decide("approve")
        await house.ask(request="r2")
        assert await states(house) == ["succeeded", "pending"]
        assert await house.rows("SELECT 1 FROM call_grant") == []


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Runs otherwise."},
        {"profile": "with network"},
        {"environment": ("HOME",)},
        {"binds": lambda arguments: {"script": "1 byte"}},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_other_surroundings_make_another_call(tmp_path: Path, change: dict[str, Any]) -> None:
    """S-A54: what it is bound to is part of it (facts F35, F44)."""
    async with remembered(tmp_path, call=run("ls"), wish=OPEN, bench=Words()):
        pass
    async with open_house(tmp_path, Script(run("ls")), bench=Words(**change), ids="later") as house:
        await house.ask(request="r2")
        assert house.bench.effects == []
        assert (await states(house))[-1] == "pending"


async def test_a_call_that_another_rule_asks_about_is_asked(tmp_path: Path) -> None:
    async with remembered(tmp_path, call=[("careful", {"what": "big"})], wish=OPEN):
        pass
    async with open_house(tmp_path, Script([("careful", {"what": "big"})], "."), ids="x1") as house:
        await house.ask(request="r2")
        assert house.bench.effects == ["big"]  # the same reason: it holds
    rule = [{"name": "look closely", "tool": "careful", "action": "ask"}]
    settings = Settings.model_validate({"approver_users": frozenset({OWNER.id}), "policy": rule})
    async with open_house(tmp_path, Script([("careful", {"what": "big"})]), settings=settings, ids="x2") as house:
        await house.ask(request="r3")
        assert house.bench.effects == []
        assert (await states(house))[-1] == "pending"


# -- only for whom and where it was given -------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {"by": OWNER.id},
        {"by": STRANGER.id},
        {"place": "discord/9/91", "conversation": "discord/9/91"},
        {"place": "discord/8/90", "conversation": "discord/8/90"},
        {"request": None},
    ],
    ids=["its maker", "a stranger", "another channel", "another server", "no request to anchor to"],
)
async def test_it_is_bound_to_the_person_and_the_place(tmp_path: Path, asked: dict[str, Any]) -> None:
    """S-A56: its requester, its place, its guild."""
    async with remembered(tmp_path, ACT, wish=OPEN) as house:
        await house.ask(**{"request": "r2"} | asked)
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"


async def test_a_thread_is_another_place_than_its_channel(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, wish=OPEN) as house:
        ctx = TurnContext(
            conversation="discord/9/95",
            place="discord/9/95",
            within="90",
            requester=ASKER.id,
            request="r2",
            prompt="please",
        )
        await house.app.engine.take_turn(ctx, Page())
        await house.app.background.idle()
        assert house.bench.effects == ["x"]


async def test_a_background_job_asks_for_itself_and_what_it_asks_is_not_remembered(tmp_path: Path) -> None:
    """What nobody is there for asks each time; docs/grants.md."""
    async with remembered(tmp_path, ACT, wish=OPEN) as house:
        ctx = TurnContext(conversation=PLACE, place=PLACE, requester=ASKER.id, request="r2", prompt="count")
        await house.app.engine.start_job(ctx)
        await house.app.background.idle()
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"
        assert house.card[1].grantable == frozenset()
        with pytest.raises(DecisionRefused, match="not those of jobs"):
            await remember(house)


# -- only as long as its makers may -------------------------------------------------------------

ROLE = Settings.model_validate({"approver_users": frozenset(), "approver_roles": frozenset({"80"})})
HOLDER = replace(OWNER, roles=frozenset({"80"}))


async def test_it_dies_with_its_makers_role(tmp_path: Path) -> None:
    """S-A56."""
    face = Face(members={("9", OWNER.id): frozenset({"80"})})
    async with open_house(tmp_path, Script(ACT, "Done.", ACT, "Again.", ACT), settings=ROLE, face=face) as house:
        await house.ask()
        await remember(house, OPEN, HOLDER)
        await house.ask(request="r2")
        assert house.bench.effects == ["x", "x"]
        face.members = {("9", OWNER.id): frozenset()}
        await house.ask(request="r3")
        assert house.bench.effects == ["x", "x"]
        assert await states(house) == ["succeeded", "succeeded", "pending"]


async def test_while_nobody_can_tell_who_its_makers_are_it_is_asked(tmp_path: Path) -> None:
    face = Face(members={("9", OWNER.id): frozenset({"80"})})
    async with open_house(tmp_path, Script(ACT, "Done.", ACT), settings=ROLE, face=face) as house:
        await house.ask()
        await remember(house, OPEN, HOLDER)
        face.fail_roles = DeliveryError("Discord is having trouble.")
        await house.ask(request="r2")
        assert await states(house) == ["succeeded", "pending"]


def needs(*rules: ApproverRule) -> Settings:
    return Settings(approver_users=frozenset({OWNER.id, SECOND.id, ASKER.id}), approvers=rules)


async def test_where_two_have_to_approve_both_have_to_remember_and_the_least_counts(tmp_path: Path) -> None:
    settings = needs(ApproverRule(quorum=2))
    async with open_house(tmp_path, Script(ACT, "Done.", ACT, "Again."), settings=settings) as house:
        await house.ask()
        await remember(house, HALF_HOUR, OWNER)
        assert await house.rows("SELECT 1 FROM call_grant") == []
        await remember(house, FIVE, SECOND)
        made = await grant(house)
        assert (made["uses"], made["expires_at"] - made["made_at"]) == (5, 1_800_000)
        assert made["makers"] == f'["{OWNER.id}", "{SECOND.id}"]'
        await house.ask(request="r2")
        assert house.bench.effects == ["x", "x"]


@pytest.mark.parametrize("first", [True, False])
async def test_where_two_have_to_approve_the_wish_of_one_is_no_grant(tmp_path: Path, first: bool) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=needs(ApproverRule(quorum=2))) as house:
        await house.ask()
        await (remember(house, OPEN, OWNER) if first else house.decide("approve", OWNER))
        await (house.decide("approve", SECOND) if first else remember(house, OPEN, SECOND))
        assert house.bench.effects == ["x"]
        assert await house.rows("SELECT 1 FROM call_grant") == []


async def test_when_the_rule_asks_for_more_than_it_did_the_grant_is_not_enough(tmp_path: Path) -> None:
    async with remembered(tmp_path, settings=needs(), wish=OPEN):
        pass
    for number, rule in enumerate((ApproverRule(quorum=2), ApproverRule(users=frozenset({SECOND.id})))):
        async with open_house(tmp_path, Script(ACT), settings=needs(rule), ids=f"n{number}") as house:
            await house.ask(request=f"r{number} again")
            assert house.bench.effects == []
            assert (await states(house))[-1] == "pending"
            await house.app.engine.decisions.cancel(house.press(ASKER))
            await house.app.background.idle()


async def test_four_eyes_hold_for_grants_too(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=needs(ApproverRule(four_eyes=True))) as house:
        await house.ask()
        with pytest.raises(DecisionRefused) as refused:
            await remember(house, OPEN, ASKER)
        assert refused.value.code == "four_eyes"
        await remember(house, OPEN, OWNER)
        assert house.bench.effects == ["x"]


# -- what ends it -------------------------------------------------------------------------------


async def test_a_denial_beats_it_and_ends_it(tmp_path: Path) -> None:
    """Two identical calls wait; one is remembered, the other denied afterwards."""
    async with open_house(tmp_path, Script(ACT, ACT, "Done.", "I see.", ACT)) as house:
        await house.ask(conversation="a")
        first = house.press(OWNER)
        await house.ask(conversation="b", request="r2")
        second = house.press(OWNER)
        await house.app.engine.decide(first, "approve", remember=OPEN)
        await house.app.background.idle()
        await house.app.engine.decide(second, "deny")
        await house.app.background.idle()
        ended = await grant(house)
        assert (ended["why"], ended["ended_by"]) == ("denied", OWNER.id)
        await house.ask(conversation="c", request="r3")
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"
        assert (await events(house))[-1] == ("grant_ended", OWNER.id)


async def test_in_a_request_of_which_something_was_refused_it_is_asked_in_spite_of_a_grant(tmp_path: Path) -> None:
    """T63: a denial is state of the request."""
    async with remembered(tmp_path, [("act", {"what": "y"})], ACT, wish=OPEN) as house:
        await house.ask(request="r2")
        await house.decide("deny")
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"
        assert house.card[1].earlier


@pytest.mark.parametrize("who", [OWNER, ASKER, SECOND], ids=["its maker", "for whom it is", "another approver"])
async def test_whoever_may_ends_it_once(tmp_path: Path, who: Actor) -> None:
    settings = Settings(approver_users=frozenset({OWNER.id, SECOND.id}))
    async with remembered(tmp_path, settings=settings) as house:
        await revoke(house, who)
        assert (await grant(house))["ended_by"] == who.id
        with pytest.raises(DecisionRefused, match="had ended already"):
            await revoke(house, who)
        assert (await events(house))[-1] == ("grant_ended", who.id)


@pytest.mark.parametrize("who", [STRANGER, Actor(id=OWNER.id, guild="8")], ids=["a stranger", "from another server"])
async def test_nobody_else_ends_it_and_that_is_on_the_trail(tmp_path: Path, who: Actor) -> None:
    async with remembered(tmp_path) as house:
        with pytest.raises(DecisionRefused):
            await revoke(house, who)
        assert (await grant(house))["ended_at"] is None
        assert await events(house, "press_refused") == [("press_refused", who.id)]


@pytest.mark.parametrize("change", ["revoked", "over", "maker"])
async def test_what_does_not_hold_any_more_at_the_claim_is_asked_and_never_run(tmp_path: Path, change: str) -> None:
    database, face = FaultyDatabase(), Face(members={("9", OWNER.id): frozenset({"80"})})
    script = Script(ACT, "Done.", ACT, "Again.")
    async with open_house(tmp_path, script, settings=ROLE, face=face, open_db=database.open) as house:
        await house.ask()
        await remember(house, FIVE, HOLDER)
        reached, go_on = database.hold("claim")
        asking = asyncio.ensure_future(house.ask(request="r2"))
        await reached.wait()
        assert (await states(house))[-1] == "approved"
        if change == "revoked":
            await revoke(house, OWNER)
        elif change == "over":
            house.clock.advance(seconds=DAY)
        else:
            # It was looked at before the commit: the next claim finds it.
            database.failing["claim"] = 1
            face.members = {}
        go_on.set()
        await asking
        await house.later(seconds=0)
        assert house.bench.effects == ["x"]
        assert await states(house) == ["succeeded", "void", "pending"]
        assert house.card[1].changed[house.card[1].approvals[0].id]
        face.members = {("9", OWNER.id): frozenset({"80"})}
        await house.decide("approve", HOLDER)
        assert house.bench.effects == ["x", "x"]
        assert (await grant(house))["used"] == 0


async def test_a_call_of_a_turn_that_became_a_job_before_the_claim_is_asked_and_never_run(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done.", ACT, "Again."), open_db=database.open) as house:
        await house.ask()
        await remember(house)
        reached, go_on = database.hold("claim")
        asking = asyncio.ensure_future(house.ask(request="r2", page=Page(message="reply")))
        await reached.wait()
        assert (await states(house))[-1] == "approved"
        [row] = await house.rows("SELECT id FROM run WHERE request = 'r2'")
        await house.app.engine.backgrounding.send(CardPress(actor=ASKER, card=row["id"], place=PLACE, message="reply"))
        go_on.set()
        await asking
        await house.app.background.idle()
        await house.later(seconds=0)
        assert house.bench.effects == ["x"]
        assert await states(house) == ["succeeded", "void", "pending"]
        assert (await grant(house))["used"] == 0
        await house.decide("approve")
        assert house.bench.effects == ["x", "x"]
        assert (await grant(house))["used"] == 0


async def test_what_is_revoked_before_the_call_is_stored_is_asked_like_any_other(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done.", ACT), open_db=database.open) as house:
        await house.ask()
        await remember(house)
        reached, go_on = database.hold("pause")
        asking = asyncio.ensure_future(house.ask(request="r2"))
        await reached.wait()
        await revoke(house, OWNER)
        go_on.set()
        await asking
        assert await states(house) == ["succeeded", "pending"]
        assert house.card[1].ping == (OWNER.id,)
        assert await house.rows("SELECT 1 FROM outbox WHERE key = ?", f"remind:{house.card[1].card.id}")


async def test_a_turn_that_became_a_job_before_the_call_is_stored_asks(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done.", ACT), open_db=database.open) as house:
        await house.ask()
        await remember(house)
        reached, go_on = database.hold("pause")
        page = Page(message="reply")
        asking = asyncio.ensure_future(house.ask(request="r2", page=page))
        await reached.wait()
        [row] = await house.rows("SELECT id FROM run WHERE request = 'r2'")
        press = CardPress(actor=ASKER, card=row["id"], place=PLACE, message="reply")
        await house.app.engine.backgrounding.send(press)
        go_on.set()
        await asking
        await house.app.background.idle()
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"


async def test_under_another_application_none_of_them_counts(tmp_path: Path) -> None:
    """T19."""
    async with open_house(tmp_path, Script(ACT, "Done.", ACT)) as house:
        await house.app.engine.belong_to("100")
        await house.ask()
        await remember(house, OPEN)
        await house.app.engine.belong_to("200")
        await house.ask(request="r2")
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "pending"
        assert (await events(house))[-1] == ("grant_ended", audit.SYSTEM)
        assert await house.app.engine.granting.listed(PLACE, OWNER) == []


async def test_with_another_key_none_of_them_counts_or_is_listed(tmp_path: Path) -> None:
    """T19."""
    async with remembered(tmp_path, wish=OPEN) as house:
        assert len(await house.app.engine.granting.listed(PLACE, OWNER)) == 1
    (tmp_path / "house.key").unlink()
    async with open_house(tmp_path, Script(ACT), ids="later") as house:
        await house.ask(request="r2")
        assert house.bench.effects == []
        assert (await states(house))[-1] == "pending"
        assert await house.app.engine.granting.listed(PLACE, OWNER) == []


# -- at most once, and never unrecorded ---------------------------------------------------------


async def test_of_two_that_race_for_the_last_use_one_runs_and_the_other_is_asked(tmp_path: Path) -> None:
    async with remembered(tmp_path, *[ACT, "Done."] * 4, wish=FIVE) as house:
        for number in range(4):
            await house.ask(request=f"again {number}")
        assert house.bench.effects == ["x"] * 5
        house.script.steps = [ACT, ACT, "Done.", "Done."]
        reached = asyncio.Event()
        asks = [house.ask(conversation=f"talk {n}", request=f"race {n}") for n in range(2)]
        await asyncio.gather(*asks)
        reached.set()
        assert house.bench.effects == ["x"] * 6
        assert sorted((await states(house))[5:]) in (["pending", "succeeded"], ["pending", "succeeded", "void"])
        assert (await grant(house))["used"] == 5


async def test_two_calls_approved_by_one_last_use_are_never_both_claimed(tmp_path: Path) -> None:
    database = FaultyDatabase()
    async with open_house(tmp_path, Script(ACT, "Done."), open_db=database.open) as house:
        await house.ask()
        await remember(house)
        house.script.steps = [ACT, "Done."] * 4
        for number in range(4):
            await house.ask(request=f"again {number}")
        house.script.steps = [ACT, ACT, "Done.", "Done."]
        # Both are paused and approved before either is claimed.
        database.failing["claim"] = 3  # the first one is tried again with the second
        for number in range(2):
            await house.ask(conversation=f"talk {number}", request=f"race {number}")
        assert (await states(house))[5:] == ["approved", "approved"]
        await house.later(seconds=0)
        assert house.bench.effects == ["x"] * 6
        assert sorted((await states(house))[5:]) == ["pending", "succeeded", "void"]
        uses = [one for one in await audit.entries(house.app.database.reader) if one.event == "grant_used"]
        assert [one.detail["use"] for one in uses] == [1, 2, 3, 4, 5]


FORBIDS = (
    "CREATE TRIGGER forbids BEFORE INSERT ON audit WHEN NEW.event = '{}' BEGIN SELECT RAISE(ABORT, 'no room'); END"
)


async def forbid(house: House, event: str) -> None:
    async with house.app.database.begin("forbid") as tx:
        await tx.execute(FORBIDS.format(event))


async def test_a_grant_whose_audit_row_cannot_be_written_is_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done.")) as house:
        await house.ask()
        await forbid(house, "grant_made")
        with pytest.raises(DecisionRefused) as refused:
            await remember(house, OPEN)
        assert refused.value.code == "not_recorded"
        assert await states(house) == ["pending"]
        assert await house.rows("SELECT 1 FROM call_grant") == []
        assert await house.rows("SELECT 1 FROM vote") == []
        await house.decide("approve")
        assert house.bench.effects == ["x"]


async def test_a_use_that_cannot_be_put_on_the_record_is_asked_instead(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "Again.", wish=OPEN) as house:
        await forbid(house, "grant_used")
        await house.ask(request="r2")
        assert house.bench.effects == ["x"]
        assert await states(house) == ["succeeded", "void", "pending"]
        assert (await grant(house))["used"] == 0


async def test_a_revocation_that_cannot_be_put_on_the_record_changes_nothing_and_says_so(tmp_path: Path) -> None:
    async with remembered(tmp_path) as house:
        await forbid(house, "grant_ended")
        with pytest.raises(DecisionRefused) as refused:
            await revoke(house, OWNER)
        assert refused.value.code == "not_recorded"
        assert (await grant(house))["ended_at"] is None


@pytest.mark.parametrize(
    "change",
    [
        "used = 0",
        "uses = 50",
        "uses = NULL",
        "expires_at = NULL",
        "ended_at = NULL, ended_by = NULL, why = NULL",
        'makers = \'["1", "5"]\'',
        'arguments = \'{"what": "y"}\'',
        "requester = '3'",
    ],
)
async def test_whoever_writes_into_the_database_still_cannot_let_a_call_through(tmp_path: Path, change: str) -> None:
    """T50."""
    async with remembered(tmp_path, ACT, "Again.", ACT) as house:
        await house.ask(request="r2")
        if "ended_at" in change:
            await revoke(house, OWNER)
        async with house.app.database.begin("tamper") as tx:
            await tx.execute(f"UPDATE call_grant SET {change}")
        await house.ask(request="r3")
        assert house.bench.effects == ["x", "x"]
        assert (await states(house))[-1] == "pending"


async def test_a_waiting_call_that_was_changed_in_the_database_becomes_no_grant(tmp_path: Path) -> None:
    evil = [("act", {"what": "evil"})]
    async with open_house(tmp_path, Script(ACT, "Done.", evil, "Again.")) as house:
        await house.ask()
        async with house.app.database.begin("tamper") as tx:
            await tx.execute("UPDATE approval SET arguments = ?", json.dumps({"what": "evil"}))
        with pytest.raises(AlreadySettled, match="not as"):
            await remember(house, OPEN)
        assert await states(house) == ["void"]
        assert await house.rows("SELECT * FROM call_grant") == []
        await house.ask(request="r2")
        assert house.bench.effects == []


async def test_a_call_that_is_said_to_be_granted_without_the_bots_seal_is_void(tmp_path: Path) -> None:
    async with remembered(tmp_path, ACT, "I see.", wish=OPEN) as house:
        await revoke(house, OWNER)
        await house.ask(request="r2")
        async with house.app.database.begin("tamper") as tx:
            await tx.execute(
                "UPDATE approval SET state = 'approved', settled_by = 'system', settled_at = 1,"
                " granted = (SELECT id FROM call_grant) WHERE state = 'pending'"
            )
        await house.later(seconds=0)
        assert house.bench.effects == ["x"]
        assert (await states(house))[-1] == "void"


async def test_a_forged_wish_on_somebodys_vote_is_no_vote(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(ACT, "Done."), settings=needs(ApproverRule(quorum=2))) as house:
        await house.ask()
        await house.decide("approve", OWNER)
        async with house.app.database.begin("tamper") as tx:
            await tx.execute("UPDATE vote SET remember = 'open'")
        await remember(house, OPEN, SECOND)
        assert house.bench.effects == []
        assert await house.rows("SELECT 1 FROM call_grant") == []


# -- bounds -------------------------------------------------------------------------------------


async def test_switched_off_none_is_offered_made_or_heeded(tmp_path: Path) -> None:
    async with remembered(tmp_path, wish=OPEN):
        pass
    settings = Settings(approver_users=frozenset({OWNER.id}), grants=False)
    async with open_house(tmp_path, Script(ACT, "Done."), settings=settings, ids="later") as house:
        await house.ask(request="r2")
        assert house.bench.effects == []
        assert house.card[1].grantable == frozenset()
        with pytest.raises(DecisionRefused, match="SIGNOFF_GRANTS"):
            await remember(house)


async def test_nobody_has_more_of_them_than_anybody_keeps_in_mind(tmp_path: Path) -> None:
    calls = [[("act", {"what": str(number)})] for number in range(MOST_GRANTS + 1)]
    steps = [step for call in calls for step in (call, "Done.")]
    async with open_house(tmp_path, Script(*steps), clock=ManualClock()) as house:
        for number in range(MOST_GRANTS):
            await house.ask(request=f"n{number}")
            await remember(house, OPEN)
        await house.ask(request="one more")
        with pytest.raises(DecisionRefused) as refused:
            await remember(house, OPEN)
        assert refused.value.code == "too_many_grants"
        assert (await states(house))[-1] == "pending"
