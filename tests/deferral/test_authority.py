"""Who may decide: one table over who presses, what, where, and how the installation is set up. Unknown means no."""

from __future__ import annotations

import pytest

from bot.deferral.authority import Act, Authority
from bot.errors import NotAllowed
from bot.rules import Subject
from bot.surface import Actor
from tests.storage.rows import a_call

GUILD = "discord/9/90"
PRIVATE = "discord/@me/77"

APPROVER = Actor(id="1", guild="9")
REQUESTER = Actor(id="2", guild="9")
STRANGER = Actor(id="3", guild="9")
BY_ROLE = Actor(id="4", guild="9", roles=frozenset({"500"}))
WRONG_ROLE = Actor(id="4", guild="9", roles=frozenset({"501"}))
ROLE_ELSEWHERE = Actor(id="4", guild="8", roles=frozenset({"500"}))
ROLE_IN_PRIVATE = Actor(id="4", guild=None, roles=frozenset({"500"}))
APPROVER_ELSEWHERE = Actor(id="1", guild="8")
APPROVER_IN_PRIVATE = Actor(id="1", guild=None)
ROLE_AS_ID = Actor(id="500", guild="9")
ID_AS_ROLE = Actor(id="6", guild="9", roles=frozenset({"1"}))
EVERYONE = Actor(id="3", guild="9", roles=frozenset({"9"}))


def authority(*, users: str | None = "1", roles: str | None = "500", self_approval: bool = True) -> Authority:
    """An installation with these approvers."""
    return Authority(
        users=None if users is None else frozenset(users.split()),
        roles=None if roles is None else frozenset(roles.split()),
        self_approval=self_approval,
    )


def says(who: Authority, actor: Actor, *, kind: str = "approval", requester: str = "2", place: str = GUILD) -> str:
    """The rule's word, `yes` for an allowed decision."""
    try:
        act = Act.ANSWER if kind == "question" else Act.APPROVE
        who.permit(act, a_call(kind=kind, requester=requester, place=place), actor)
    except NotAllowed as refusal:
        return refusal.code
    return "yes"


@pytest.mark.parametrize(
    ("actor", "place", "expected"),
    [
        (APPROVER, GUILD, "yes"),
        (APPROVER_ELSEWHERE, GUILD, "yes"),
        (APPROVER_IN_PRIVATE, PRIVATE, "yes"),
        (BY_ROLE, GUILD, "yes"),
        (WRONG_ROLE, GUILD, "not_approver"),
        (ROLE_ELSEWHERE, GUILD, "not_approver"),
        (ROLE_IN_PRIVATE, PRIVATE, "not_approver"),
        (BY_ROLE, PRIVATE, "not_approver"),
        (STRANGER, GUILD, "not_approver"),
        (STRANGER, PRIVATE, "not_approver"),
        (REQUESTER, GUILD, "not_approver"),
        (ROLE_AS_ID, GUILD, "not_approver"),
        (ID_AS_ROLE, GUILD, "not_approver"),
        (EVERYONE, GUILD, "not_approver"),
    ],
)
@pytest.mark.parametrize("kind", ["approval", "external"])
async def test_approvers_decide_and_nobody_else(actor: Actor, place: str, expected: str, kind: str) -> None:
    assert says(authority(), actor, place=place, kind=kind) == expected


@pytest.mark.parametrize("self_approval", [True, False])
@pytest.mark.parametrize("actor", [APPROVER, BY_ROLE])
async def test_an_approvers_own_request_is_theirs_only_where_that_is_allowed(actor: Actor, self_approval: bool) -> None:
    who = authority(self_approval=self_approval)
    assert says(who, actor, requester=actor.id) == ("yes" if self_approval else "four_eyes")
    assert says(who, actor, requester="2") == "yes"


@pytest.mark.parametrize(
    ("actor", "expected"),
    [(REQUESTER, "yes"), (APPROVER, "not_requester"), (BY_ROLE, "not_requester"), (STRANGER, "not_requester")],
)
@pytest.mark.parametrize("self_approval", [True, False])
async def test_a_question_is_for_the_person_who_was_asked(actor: Actor, expected: str, self_approval: bool) -> None:
    assert says(authority(self_approval=self_approval), actor, kind="question") == expected


@pytest.mark.parametrize("actor", [APPROVER, REQUESTER, STRANGER, BY_ROLE])
async def test_before_the_owner_is_known_nobody_decides(actor: Actor) -> None:
    assert says(authority(users=None, roles=None), actor) == "not_approver"


async def test_without_configured_approvers_the_owner_decides() -> None:
    who = authority(users=None, roles=None)
    who.set_owners(frozenset({STRANGER.id}))
    assert says(who, STRANGER) == "yes"
    assert says(who, APPROVER) == "not_approver"
    who.set_owners(frozenset())
    assert says(who, STRANGER) == "not_approver"


@pytest.mark.parametrize(("users", "roles"), [("1", None), (None, "500"), ("1", "500"), ("", None), (None, "")])
async def test_configured_approvers_are_not_widened_by_the_owner(users: str | None, roles: str | None) -> None:
    who = authority(users=users, roles=roles)
    who.set_owners(frozenset({STRANGER.id}))
    assert says(who, STRANGER) == "not_approver"


@pytest.mark.parametrize(
    ("users", "roles", "self_approval", "place", "requester", "expected"),
    [
        ("1", None, True, GUILD, "2", True),
        ("1", None, True, GUILD, "1", True),
        ("1", None, False, GUILD, "2", True),
        ("1", None, False, GUILD, "1", False),  # the only approver may not decide their own
        ("1 5", None, False, GUILD, "1", True),
        (None, "500", False, GUILD, "1", True),
        ("1", "500", False, GUILD, "1", True),
        ("", "", True, GUILD, "2", False),
        (None, None, True, GUILD, "2", False),
        ("1", "500", True, PRIVATE, "1", True),
        ("1", "500", True, PRIVATE, "2", False),  # nobody but the requester sees it there
        ("1", "500", False, PRIVATE, "1", False),
        (None, "500", True, PRIVATE, "4", False),
    ],
)
async def test_it_is_known_beforehand_whether_anybody_can_decide(
    users: str | None, roles: str | None, self_approval: bool, place: str, requester: str, expected: bool
) -> None:
    who = authority(users=users, roles=roles, self_approval=self_approval)
    assert who.anyone_can_decide(Subject(tool="act", place=place, within="", requester=requester)) is expected


async def test_a_refusal_names_who_can_help() -> None:
    with pytest.raises(NotAllowed) as refusal:
        authority().permit(Act.APPROVE, a_call(), STRANGER)
    assert "SIGNOFF_APPROVER_USERS" in refusal.value.sentence
    owned = authority(users=None, roles=None)
    assert "No approver is set up" in owned.who_can(a_call())
    owned.set_owners(frozenset({"1"}))
    assert owned.who_can(a_call()) == "The owner of this bot decides: user 1."
