"""The authority matrix: actor x event x context x configuration x route, generated from tables. What no table allows is
refused.

The expectation is written as tables of who is what under which configuration, not as code that decides: the oracle
knows no rules, only the answers. Each cell asks the same functions that every route goes through.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.authority import Act, Authority, belongs
from bot.errors import DecisionRefused, DeliveryError
from bot.rules import ApproverRule
from bot.settings import Settings
from bot.surface import Actor, CardPress, Press
from storage.approvals import Approval, ApprovalState
from storage.cards import Card
from tests.house import Script, open_house
from tests.storage.rows import a_call

GUILD, OTHER = "9", "8"
PLACE, PRIVATE = f"discord/{GUILD}/90", "discord/@me/77"
X, Y, Z = "80", "81", "82"
"""X and Y make approvers where a configuration says so; Z never does."""


# -- actors -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    id: str
    roles: frozenset[str] = frozenset()
    """Held in the call's guild."""


ACTORS = {
    "listed": Person("1"),
    "requester": Person("2"),
    "requester with X": Person("2", frozenset({X})),
    "stranger": Person("3"),
    "X": Person("4", frozenset({X})),
    "Y": Person("5", frozenset({Y})),
    "X and Y": Person("6", frozenset({X, Y})),
    "Z": Person("7", frozenset({Z})),
    "everyone's role": Person("10", frozenset({GUILD})),
    "a role's id as a person": Person(X),
    "the guild's id as a person": Person(GUILD),
    "editor with X": Person("11", frozenset({X})),
    "owner of the bot": Person("12"),
    "zero": Person("0"),
    "nobody": Person(""),
}

# -- configurations -----------------------------------------------------------------------------

ALL = frozenset(ACTORS)
WITH_X = {"requester with X", "X", "X and Y", "editor with X"}
WITH_Y = {"Y", "X and Y"}


@dataclass(frozen=True)
class Configuration:
    users: frozenset[str] | None = None
    roles: frozenset[str] | None = None
    self_approval: bool = True
    rules: tuple[ApproverRule, ...] = ()
    approvers: frozenset[str] = frozenset()
    """Names of actors whom it makes approvers, in the guild."""
    in_private: frozenset[str] = frozenset()
    """The same where there are no roles."""
    four_eyes: bool = False

    def authority(self) -> Authority:
        made = Authority(users=self.users, roles=self.roles, self_approval=self.self_approval, rules=self.rules)
        made.set_owners(frozenset({"12"}))
        return made


def names(*sets: Any) -> frozenset[str]:
    return frozenset().union(*sets)


ONE, EX = frozenset({"1"}), frozenset({X})
CONFIGURATIONS = {
    "owner": Configuration(approvers=names({"owner of the bot"}), in_private=names({"owner of the bot"})),
    "users": Configuration(users=ONE, approvers=names({"listed"}), in_private=names({"listed"})),
    "roles": Configuration(roles=EX, approvers=names(WITH_X)),
    "users and roles": Configuration(
        users=ONE, roles=EX, approvers=names({"listed"}, WITH_X), in_private=names({"listed"})
    ),
    "four eyes": Configuration(
        users=ONE,
        roles=EX,
        self_approval=False,
        approvers=names({"listed"}, WITH_X),
        in_private=names({"listed"}),
        four_eyes=True,
    ),
    "the guild as a role": Configuration(roles=frozenset({GUILD})),
    "nobody": Configuration(users=frozenset(), roles=frozenset()),
    "quorum": Configuration(
        rules=(ApproverRule(users=ONE, roles=EX, quorum=2),),
        approvers=names({"listed"}, WITH_X),
        in_private=names({"listed"}),
    ),
    "one of each": Configuration(rules=(ApproverRule(one_of_each=(X, Y)),), approvers=names(WITH_X, WITH_Y)),
    "a rule for this tool": Configuration(
        users=ONE, rules=(ApproverRule(tools=("act",), roles=EX),), approvers=names(WITH_X)
    ),
    "a rule for another tool": Configuration(
        users=ONE,
        rules=(ApproverRule(tools=("shell",), roles=EX),),
        approvers=names({"listed"}),
        in_private=names({"listed"}),
    ),
    "a rule for this channel": Configuration(
        users=ONE,
        rules=(ApproverRule(channels=frozenset({"90"}), roles=EX, four_eyes=True),),
        approvers=names(WITH_X),
        in_private=names({"listed"}),
        four_eyes=True,
    ),
    "a rule for another channel": Configuration(
        users=ONE,
        rules=(ApproverRule(channels=frozenset({"91"}), roles=EX),),
        approvers=names({"listed"}),
        in_private=names({"listed"}),
    ),
    "a rule for another guild": Configuration(
        users=ONE,
        rules=(ApproverRule(guilds=frozenset({OTHER}), roles=EX),),
        approvers=names({"listed"}),
        in_private=names({"listed"}),
    ),
    "the first of two rules": Configuration(
        rules=(ApproverRule(users=ONE), ApproverRule(roles=EX)),
        approvers=names({"listed"}),
        in_private=names({"listed"}),
    ),
}

# -- contexts: where the call was asked, and where the press comes from -------------------------


@dataclass(frozen=True)
class Context:
    place: str
    guild: str | None
    """Where the press comes from; None: direct messages."""
    lookup: str = "member"
    """What is found when somebody is looked up in the call's guild."""


CONTEXTS = {
    "in the guild": Context(PLACE, GUILD),
    "in another guild": Context(PLACE, OTHER),
    "from direct messages": Context(PLACE, None),
    "from direct messages, having left": Context(PLACE, None, "left"),
    "from direct messages, nobody can be asked": Context(PLACE, None, "unknown"),
    "a call in direct messages": Context(PRIVATE, None),
    "a call in direct messages, from a guild": Context(PRIVATE, GUILD),
}

# -- events and routes --------------------------------------------------------------------------

EVENTS = tuple(Act)
OF_THE_REQUESTER = {Act.ANSWER, Act.CANCEL}
ALSO_OF_THE_REQUESTER = {Act.AGAIN, Act.REVOKE}

ROUTES = {
    "its card": "m1",
    "its card, faster than its posting": "early",
    "another message": "m9",
    "a list or a command": None,
}


def may_do(who: str, event: Act, configuration: Configuration, *, private: bool, edited: bool) -> bool:
    """The tables: whether somebody may do something, wherever the press comes from."""
    is_requester = who.startswith("requester")
    if event in OF_THE_REQUESTER:
        return is_requester
    if event in ALSO_OF_THE_REQUESTER and is_requester:
        return True
    if who not in (configuration.in_private if private else configuration.approvers):
        return False
    four_eyes = configuration.four_eyes and not (private and configuration.self_approval)
    if event in {Act.APPROVE, Act.GRANT, Act.UNDO}:
        return not (four_eyes and (is_requester or (edited and who == "editor with X")))
    return not (event is Act.DENY and four_eyes and is_requester)


def expected(who: str, event: Act, context: Context, configuration: Configuration, route: str, *, edited: bool) -> bool:
    """Whether a cell is a yes. Everything that is not, is a no."""
    private = context.place == PRIVATE
    if context.guild is not None and context.guild != (None if private else GUILD):
        return False
    if ROUTES[route] == "m9":
        return False
    own = event in OF_THE_REQUESTER or (event in ALSO_OF_THE_REQUESTER and who.startswith("requester"))
    if context.guild is None and not private and not own and context.lookup != "member":
        return False
    return may_do(who, event, configuration, private=private, edited=edited)


class People:
    """A face that knows the actors."""

    def __init__(self, context: Context, person: Person) -> None:
        self._context = context
        self._person = person

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        assert (guild, person) == (GUILD, self._person.id)
        if self._context.lookup == "unknown":
            raise DeliveryError("Discord is having trouble.")
        return self._person.roles if self._context.lookup == "member" else None

    def who(self, person: str) -> str:
        return person

    def group(self, role: str) -> str:
        return role


async def says(authority: Authority, who: str, event: Act, context: Context, route: str, *, edited: bool) -> str:
    """The rule's word, '' for a yes: through everything a press goes through before the database."""
    person = ACTORS[who]
    authority.connect(People(context, person))
    kind = "question" if event is Act.ANSWER else "approval"
    call = a_call(kind=kind, tool="act", requester="2", place=context.place, edited_by="11" if edited else None)
    # From another guild Discord sends the roles of that guild: the same ids there are somebody else's.
    roles = frozenset({X, Y}) if context.guild == OTHER else person.roles if context.guild is not None else frozenset()
    message = ROUTES[route]
    press = Press(
        actor=Actor(id=person.id, guild=context.guild, roles=roles),
        approval=call.id,
        place=context.place,
        message="m1" if message == "early" else message,
    )
    card = _card(context.place, None if message == "early" else "m1")
    try:
        belongs(call, [card], press)
        authority.permit(event, call, await authority.meet(event, call, press.actor))
    except DecisionRefused as refusal:
        return refusal.code if refusal.sentence else ""  # a refusal without a word is none
    return ""


def _card(place: str, message: str | None) -> Card:
    return Card(id="card1", run="run1", place=place, message=message, version=1, shown=0, tries=0, due_at=0, error=None)


def cells() -> Iterator[tuple[str, Act, str, str, str, bool]]:
    yield from itertools.product(ACTORS, EVENTS, CONTEXTS, CONFIGURATIONS, ROUTES, (False, True))


async def test_every_cell_of_the_matrix_is_as_the_tables_say() -> None:
    authorities = {name: configuration.authority() for name, configuration in CONFIGURATIONS.items()}
    wrong = []
    yes = number = 0
    for who, event, context, configuration, route, edited in cells():
        number += 1
        want = expected(who, event, CONTEXTS[context], CONFIGURATIONS[configuration], route, edited=edited)
        found = await says(authorities[configuration], who, event, CONTEXTS[context], route, edited=edited)
        yes += want
        if (found == "") is not want:
            wrong.append((who, str(event), context, configuration, route, edited, found))
    assert wrong == []
    assert number >= 2_500
    # A matrix of nothing but refusals would prove nothing, and one of mostly permissions would not be default deny.
    assert 1_000 < yes < number / 5


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
async def test_whoever_no_table_names_is_refused_everything(configuration: str, event: Act) -> None:
    authority = CONFIGURATIONS[configuration].authority()
    for who, context, route in itertools.product(
        ("stranger", "Z", "everyone's role", "a role's id as a person", "the guild's id as a person", "zero", "nobody"),
        CONTEXTS,
        ROUTES,
    ):
        assert await says(authority, who, event, CONTEXTS[context], route, edited=False) != ""


# -- a sample through the engine ----------------------------------------------------------------

SAMPLE_CONFIGURATIONS = ("users and roles", "four eyes", "a rule for this tool", "the guild as a role", "quorum")
SAMPLE_ACTORS = ("listed", "requester", "requester with X", "stranger", "X", "everyone's role", "owner of the bot")
SAMPLE_EVENTS = (Act.APPROVE, Act.DENY, Act.EDIT, Act.EXTEND, Act.CANCEL)


@pytest.mark.parametrize("configuration", SAMPLE_CONFIGURATIONS)
async def test_the_engine_says_the_same_and_a_refusal_changes_nothing(tmp_path: Path, configuration: str) -> None:
    made = CONFIGURATIONS[configuration]
    settings = Settings.model_validate(
        {
            "approver_users": made.users,
            "approver_roles": made.roles,
            "self_approval": made.self_approval,
            "approvers": made.rules or None,
        }
    )
    async with open_house(tmp_path, Script(), settings=settings) as house:
        house.app.engine.set_owners(frozenset({"12"}))
        for number, (who, event) in enumerate(itertools.product(SAMPLE_ACTORS, SAMPLE_EVENTS)):
            house.script.steps = [[("act", {"what": f"x{number}"})], "Done."]
            person = ACTORS[who]
            house.face.members = {(GUILD, person.id): person.roles}
            await house.ask(request=f"r{number}", by="2")
            calls = await house.app.engine.open_approvals("discord")
            if configuration == "the guild as a role" and not calls:
                continue  # nobody can decide it, so nobody is asked
            call = calls[-1].call
            actor = Actor(id=person.id, guild=GUILD, roles=person.roles)
            allowed = await _try(house.app.engine, event, call, actor)
            want = expected(who, event, CONTEXTS["in the guild"], made, "its card", edited=False)
            assert allowed is want, (who, event)
            await house.app.background.idle()
            [row] = await house.rows("SELECT state, expires_at FROM approval WHERE id = ?", call.id)
            if not allowed:
                assert (row["state"], row["expires_at"]) == ("pending", call.expires_at), (who, event)
            for left in await house.app.engine.open_approvals("discord"):
                if left.call.state is ApprovalState.PENDING:
                    await house.app.engine.decisions.cancel(
                        Press(actor=Actor(id="2", guild=GUILD), approval=left.call.id, place=PLACE, message=None)
                    )
            await house.app.background.idle()


async def _try(engine: Any, event: Act, call: Approval, actor: Actor) -> bool:
    """Do it; whether it was allowed."""
    [posted] = [one.message for one in await engine.open_approvals("discord") if one.call.id == call.id]
    press = Press(actor=actor, approval=call.id, place=call.place, message=posted)
    card = CardPress(actor=actor, card=call.card, place=call.place, message=posted)
    doing = {
        Act.APPROVE: lambda: engine.decide(press, "approve"),
        Act.DENY: lambda: engine.decide(press, "deny", reason="no"),
        Act.EDIT: lambda: engine.edits.edit(press, "changed"),
        Act.EXTEND: lambda: engine.edits.extend(card),
        Act.CANCEL: lambda: engine.decisions.cancel(press),
    }
    try:
        await doing[event]()
    except DecisionRefused:
        return False
    return True
