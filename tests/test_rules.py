"""Who may decide, as a pure function of a rule, a call and a person."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bot.rules import ApproverRule, Rule, can_be_met, matches, standing

GUILD, ROLE_X, ROLE_Y = "9", "80", "81"


@dataclass(frozen=True, kw_only=True)
class Call:
    tool: str = "shell"
    place: str = "discord/9/90"
    within: str = ""
    requester: str = "2"
    edited_by: str | None = None


@dataclass(frozen=True)
class Voice:
    person: str
    roles: frozenset[str]


def rule(
    *,
    users: set[str] | None = None,
    roles: set[str] | None = None,
    one_of_each: tuple[str, ...] = (),
    quorum: int = 1,
    four_eyes: bool = False,
) -> Rule:
    return Rule(
        name="rule",
        users=frozenset(users or ()),
        roles=frozenset(roles or ()),
        one_of_each=one_of_each,
        quorum=quorum,
        four_eyes=four_eyes,
    )


def vote(person: str, *roles: str) -> Voice:
    return Voice(person, frozenset(roles))


@pytest.mark.parametrize(
    ("made", "call", "about"),
    [
        (ApproverRule(), Call(), True),
        (ApproverRule(tools=("shell", "execute_code")), Call(), True),
        (ApproverRule(tools=("execute_code",)), Call(), False),
        (ApproverRule(tools=("github_*",)), Call(tool="github_merge"), True),
        (ApproverRule(tools=("github_*",)), Call(tool="githubber"), False),
        (ApproverRule(tools=("SHELL",)), Call(), False),
        (ApproverRule(channels=frozenset({"90"})), Call(), True),
        (ApproverRule(channels=frozenset({"91"})), Call(), False),
        (ApproverRule(channels=frozenset({"91"})), Call(within="91"), True),
        (ApproverRule(channels=frozenset({"90"})), Call(place="discord/@me/90"), False),
        (ApproverRule(guilds=frozenset({"9"})), Call(), True),
        (ApproverRule(guilds=frozenset({"8"})), Call(), False),
        (ApproverRule(guilds=frozenset({"9"}), channels=frozenset({"91"})), Call(), False),
        (ApproverRule(guilds=frozenset({"@me"})), Call(place="discord/@me/90"), False),
        (ApproverRule(tools=("shell",)), Call(place="discord/@me/90"), True),
    ],
)
def test_a_rule_is_about_the_tools_and_places_that_it_names(made: ApproverRule, call: Call, about: bool) -> None:
    assert matches(made, call) is about


def test_a_person_counts_once_however_often_they_vote() -> None:
    found = standing(rule(users={"1", "3"}, quorum=2), Call(), [vote("1"), vote("1")])
    assert (found.given, found.more) == (("1",), 1)


def test_a_vote_of_somebody_whom_the_rule_does_not_name_does_not_count() -> None:
    assert standing(rule(users={"1"}), Call(), [vote("7", ROLE_X)]).given == ()


def test_the_role_that_is_the_guild_itself_never_counts() -> None:
    """S-A01, also when somebody put it into the settings and it came through."""
    assert not standing(rule(roles={GUILD}), Call(), [vote("7", GUILD)]).complete
    assert not rule(roles={GUILD}).names("7", frozenset({GUILD}), guild=GUILD)


def test_roles_count_for_nothing_in_private() -> None:
    assert not standing(rule(roles={ROLE_X}), Call(place="discord/@me/5"), [vote("7", ROLE_X)]).complete


@pytest.mark.parametrize("author", [{"requester": "1"}, {"edited_by": "1"}])
def test_with_four_eyes_neither_who_asked_nor_who_edited_counts(author: dict[str, str]) -> None:
    """S-A03."""
    call = Call(**author)
    assert not standing(rule(users={"1"}, four_eyes=True), call, [vote("1")]).complete
    assert standing(rule(users={"1"}), call, [vote("1")]).complete
    assert standing(rule(users={"1", "3"}, four_eyes=True), call, [vote("1"), vote("3")]).given == ("3",)


def test_one_of_each_role_means_a_person_each() -> None:
    each = rule(one_of_each=(ROLE_X, ROLE_Y))
    assert standing(each, Call(), [vote("1", ROLE_X, ROLE_Y)]).more == 1
    two = standing(each, Call(), [vote("1", ROLE_X), vote("3", ROLE_X)])
    assert (two.complete, two.roles) == (False, (ROLE_Y,))
    assert standing(each, Call(), [vote("1", ROLE_X), vote("3", ROLE_Y)]).complete
    # The first could stand for either, and stands for the one that the second cannot.
    assert standing(each, Call(), [vote("1", ROLE_X, ROLE_Y), vote("3", ROLE_X)]).complete
    assert standing(each, Call(), [vote("3", ROLE_X), vote("1", ROLE_X, ROLE_Y)]).complete


def test_one_of_each_and_a_quorum_both_have_to_be_met() -> None:
    both = rule(users={"1", "3", "4"}, one_of_each=(ROLE_X,), quorum=2)
    assert standing(both, Call(), [vote("1"), vote("3")]).roles == (ROLE_X,)
    assert standing(both, Call(), [vote("5", ROLE_X)]).more == 1
    assert standing(both, Call(), [vote("5", ROLE_X), vote("1")]).complete


def test_three_roles_find_their_people_in_any_order() -> None:
    each = rule(one_of_each=("80", "81", "82"))
    votes = [vote("1", "80", "81"), vote("2", "80"), vote("3", "81", "82")]
    for first in range(3):
        turned = votes[first:] + votes[:first]
        assert standing(each, Call(), turned).complete
    assert standing(each, Call(), [vote("1", "80"), vote("2", "80"), vote("3", "81")]).roles == ("82",)


@pytest.mark.parametrize(
    ("made", "call", "possible"),
    [
        (rule(), Call(), False),
        (rule(users={"1"}), Call(), True),
        (rule(users={"2"}, four_eyes=True), Call(), False),
        (rule(users={"1", "2"}, four_eyes=True), Call(), True),
        (rule(users={"1", "2"}, four_eyes=True, quorum=2), Call(), False),
        (rule(users={"1"}, quorum=2), Call(), False),
        (rule(roles={ROLE_X}, quorum=3), Call(), True),
        (rule(one_of_each=(ROLE_X,)), Call(), True),
        (rule(users={"2"}), Call(place="discord/@me/5"), True),
        (rule(users={"1"}), Call(place="discord/@me/5"), False),
        (rule(roles={ROLE_X}), Call(place="discord/@me/5"), False),
        (rule(users={"2", "1"}, quorum=2), Call(place="discord/@me/5"), False),
        (rule(users={"2"}, four_eyes=True), Call(place="discord/@me/5"), False),
    ],
)
def test_a_call_that_nobody_could_approve_is_known_beforehand(made: Rule, call: Call, possible: bool) -> None:
    assert can_be_met(made, call) is possible
