"""The authority matrix of grants: who can make one, who can end one, and on whose word one holds.

Making is an act on a card and stands in `tests.test_authority_matrix` with the others, over every route. Here are the
other two, from the same tables of actors, contexts and configurations: what no table allows is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import pytest

from bot.clock import new_id
from bot.deferral.authority import Act, Authority
from bot.deferral.seal import Seal
from bot.errors import DecisionRefused, DeliveryError
from bot.granting import Granting, Maker
from bot.surface import Actor
from storage.database import Database
from storage.grants import Grant
from tests.house import ManualClock
from tests.storage.rows import a_call, open_at
from tests.test_authority_matrix import (
    ACTORS,
    CONFIGURATIONS,
    CONTEXTS,
    GUILD,
    OTHER,
    PLACE,
    PRIVATE,
    Configuration,
    Context,
    People,
    X,
    Y,
    may_do,
)


def a_grant(*, place: str, makers: Sequence[str]) -> Grant:
    """What the requester was allowed by these people."""
    return Grant(
        id="g",
        mark="",
        action="",
        origin="call1",
        space=GUILD,
        place=place,
        within="",
        requester="2",
        tool="act",
        arguments={},
        bound={},
        reason="",
        makers=tuple(makers),
        made_at=0,
        expires_at=None,
        uses=None,
        seal="",
    )


def granting(database: Database, configuration: Configuration) -> tuple[Granting, Authority]:
    authority = configuration.authority()
    made = Granting(
        database=database,
        clock=ManualClock(),
        new_id=new_id,
        authority=authority,
        seal=Seal(b"key"),
        tools=MappingProxyType({}),
        who=str,
        enabled=True,
    )
    return made, authority


# -- ending one ---------------------------------------------------------------------------------


def may_end(who: str, context: Context, configuration: Configuration, *, made_it: bool) -> bool:
    """The tables: its makers and its requester, and whoever decides such calls; nobody from another server."""
    private = context.place == PRIVATE
    if context.guild is not None and context.guild != (None if private else GUILD):
        return False
    if made_it or who.startswith("requester"):
        return True
    if context.guild is None and not private and context.lookup != "member":
        return False
    return may_do(who, Act.EDIT, configuration, private=private, edited=False)


async def test_every_cell_about_ending_a_grant_is_as_the_tables_say(tmp_path: Path) -> None:
    wrong = []
    yes = number = 0
    async with open_at(tmp_path) as database:
        made = {name: granting(database, configuration) for name, configuration in CONFIGURATIONS.items()}
        for who, at, name, made_it in itertools.product(ACTORS, CONTEXTS, CONFIGURATIONS, (False, True)):
            person, context = ACTORS[who], CONTEXTS[at]
            desk, authority = made[name]
            authority.connect(People(context, person))
            roles = person.roles if context.guild is not None else frozenset()
            actor = Actor(
                id=person.id, guild=context.guild, roles=frozenset({X, Y}) if context.guild == OTHER else roles
            )
            try:
                await desk._may_end(a_grant(place=context.place, makers=[person.id] if made_it else ["99"]), actor)
                found = True
            except DecisionRefused:
                found = False
            want = may_end(who, context, CONFIGURATIONS[name], made_it=made_it)
            number += 1
            yes += want
            if found is not want:
                wrong.append((who, at, name, made_it, found))
    assert wrong == []
    assert number >= 2_500
    assert 300 < yes < number * 0.6


# -- on whose word one holds --------------------------------------------------------------------


class Everybody:
    """A face that knows all actors, or cannot be asked."""

    def __init__(self, *, gone: frozenset[str] = frozenset(), silent: bool = False) -> None:
        self._gone = gone
        self._silent = silent
        self._roles: dict[str, frozenset[str]] = {}

    def of(self, *names: str) -> None:
        self._roles = {ACTORS[name].id: ACTORS[name].roles for name in names}

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        assert guild == GUILD
        if self._silent:
            raise DeliveryError("Discord is having trouble.")
        return None if person in self._gone else self._roles[person]

    def who(self, person: str) -> str:
        return person

    def group(self, role: str) -> str:
        return role


def holds(name: str, makers: Sequence[str], *, private: bool, edited: bool) -> bool:
    """The tables: whether these people's approvals are what the configuration asks for."""
    configuration = CONFIGURATIONS[name]
    counted = {
        ACTORS[who].id: ACTORS[who].roles
        for who in makers
        if may_do(who, Act.APPROVE, configuration, private=private, edited=edited)
    }
    if name == "quorum":
        return len(counted) >= 2
    if name == "one of each":
        pairs = itertools.permutations(counted, 2)
        return not private and any(X in counted[one] and Y in counted[other] for one, other in pairs)
    return bool(counted)


def teams() -> Iterator[tuple[str, ...]]:
    """One maker, or two who are not the same person."""
    yield from ((who,) for who in ACTORS)
    yield from ((one, other) for one, other in itertools.combinations(ACTORS, 2) if ACTORS[one].id != ACTORS[other].id)


async def test_every_cell_about_a_use_is_as_the_tables_say() -> None:
    face = Everybody()
    wrong = []
    yes = number = 0
    for name, configuration in CONFIGURATIONS.items():
        authority = configuration.authority()
        authority.connect(face)
        for makers, place, edited in itertools.product(teams(), (PLACE, PRIVATE), (False, True)):
            face.of(*makers)
            call = a_call(tool="act", requester="2", place=place, edited_by="11" if edited else None)
            found = await authority.recheck(call, [Maker(person=ACTORS[who].id) for who in makers]) is None
            want = holds(name, makers, private=place == PRIVATE, edited=edited)
            number += 1
            yes += want
            if found is not want:
                wrong.append((name, makers, place, edited, found))
    assert wrong == []
    assert number >= 2_500
    assert 300 < yes < number / 2


@pytest.mark.parametrize("name", CONFIGURATIONS)
async def test_whoever_has_left_or_cannot_be_looked_up_gives_no_word_by_a_role(name: str) -> None:
    authority = CONFIGURATIONS[name].authority()
    for who in ("X", "Y", "X and Y"):
        for face in (Everybody(gone=frozenset({ACTORS[who].id})), Everybody(silent=True)):
            face.of(who)
            authority.connect(face)
            with suppress(DeliveryError):  # then it is asked: tests/test_grants.py
                assert await authority.recheck(a_call(tool="act"), [Maker(person=ACTORS[who].id)]) is not None
