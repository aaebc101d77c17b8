"""Approvers as they change: what the operator writes anew, roles that are looked up, and who is named as help."""

from __future__ import annotations

import pytest

from bot.deferral.authority import Act, Authority
from bot.errors import DeliveryError, NotAllowed
from bot.rules import ApproverRule, Subject
from bot.surface import Actor
from tests.storage.rows import a_call

HOUR = 3_600_000


class Guild:
    """What a face knows: who holds which role in guild 9."""

    def __init__(self, **roles: str) -> None:
        self.roles = {person[1:]: frozenset(names.split()) for person, names in roles.items()}
        self.down = False

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        if self.down:
            raise DeliveryError("Discord does not answer.")
        return self.roles.get(person) if guild == "9" else None

    def who(self, person: str) -> str:
        return f"<@{person}>"

    def group(self, role: str) -> str:
        return f"<@&{role}>"


class Voice:
    def __init__(self, person: str) -> None:
        self.person, self.roles = person, frozenset[str]()


def authority(*rules: ApproverRule, users: str | None = "1", roles: str | None = None, **more: object) -> Authority:
    return Authority(
        users=None if users is None else frozenset(users.split()),
        roles=None if roles is None else frozenset(roles.split()),
        rules=rules,
        **{"self_approval": True, **more},  # type: ignore[arg-type]
    )


def rewrite(who: Authority, *rules: ApproverRule, users: str | None, self_approval: bool = True, ttl: int = 1) -> None:
    who.replace(
        users=None if users is None else frozenset(users.split()),
        roles=None,
        self_approval=self_approval,
        rules=rules,
        ttl_ms=ttl * HOUR,
        ttl_binds=False,
    )


async def may(who: Authority, actor: Actor, act: Act = Act.APPROVE, **call: str) -> str:
    """`yes`, or the code of the refusal: the whole way of a press."""
    asked = a_call(**call)
    try:
        who.permit(act, asked, await who.meet(act, asked, actor))
    except NotAllowed as refusal:
        return refusal.code
    return "yes"


# -- written anew -------------------------------------------------------------------------------


async def test_what_the_operator_writes_anew_holds_from_the_next_press() -> None:
    who = authority(users="1")
    rule = ApproverRule(tools=("act",), users=frozenset({"7"}))
    rewrite(who, users="5")
    assert [await may(who, Actor(id=one, guild="9")) for one in "157"] == ["not_approver", "yes", "not_approver"]
    rewrite(who, rule, users="5", self_approval=False)
    assert [await may(who, Actor(id=one, guild="9")) for one in "157"] == ["not_approver", "not_approver", "yes"]
    assert await may(who, Actor(id="7", guild="9"), requester="7") == "four_eyes"
    assert (list(who.file_rules), who.ttl_ms, who.lifetime(a_call())) == ([rule], HOUR, HOUR)
    assert who.base.users == frozenset("5")


async def test_where_the_operator_names_nobody_any_more_the_owner_decides_again() -> None:
    who = authority(users="1")
    who.set_owners(frozenset({"3"}))
    assert not who.leaves_open
    rewrite(who, users=None)
    assert who.leaves_open
    assert [await may(who, Actor(id=one, guild="9")) for one in "13"] == ["not_approver", "yes"]
    assert await who.recheck(a_call(), [Voice("3")]) is None
    rewrite(who, users="1")
    assert [await may(who, Actor(id=one, guild="9")) for one in "13"] == ["yes", "not_approver"]


async def test_as_long_as_the_owner_is_not_known_nothing_may_run() -> None:
    who = authority(users=None)
    with pytest.raises(DeliveryError):
        await who.recheck(a_call(), [Voice("3")])
    rewrite(who, users=None)
    with pytest.raises(DeliveryError):
        await who.recheck(a_call(), [Voice("3")])
    who.set_owners(frozenset({"3"}))
    assert await who.recheck(a_call(), [Voice("3")]) is None


async def test_a_rule_that_names_somebody_can_be_met_before_the_owner_is_known() -> None:
    who = authority(ApproverRule(users=frozenset({"7"})), users=None)
    assert await who.recheck(a_call(), [Voice("7")]) is None
    who = authority(ApproverRule(roles=frozenset({"80"})), users=None)
    who.connect(Guild(_7="80"))
    assert await who.recheck(a_call(), [Voice("7")]) is None


def test_a_time_to_decide_binds_only_where_the_operator_says_so() -> None:
    assert (authority(ttl_ms=HOUR).base.lifetime, authority(ttl_ms=HOUR, ttl_binds=True).base.lifetime) == (None, HOUR)
    assert authority(ApproverRule(lifetime=5), ttl_ms=HOUR).lifetime(a_call()) == 5


def test_every_role_that_some_rule_names_is_known() -> None:
    rules = (ApproverRule(roles=frozenset({"80"})), ApproverRule(one_of_each=("81", "82")), ApproverRule())
    assert authority(*rules, roles="500").every_role() == {"500", "80", "81", "82"}


async def test_a_guilds_rule_counts_for_the_calls_that_it_is_about() -> None:
    own = [ApproverRule(tools=("other",), quorum=3), ApproverRule(tools=("act",), quorum=2)]
    who = authority(users="1 5", guild_rules=lambda guild: own if guild == "9" else ())
    assert who.rule_for(a_call()).quorum == 2
    assert who.rule_for(a_call(tool="else")).quorum == 1
    assert who.rule_for(a_call(place="discord/8/80")).quorum == 1
    assert who.rule_for(a_call(place="discord/@me/77")).quorum == 1


def test_a_guild_fills_in_who_decides_only_where_the_operator_named_nobody() -> None:
    own = [ApproverRule(users=frozenset({"7"}))]

    def decides(*rules: ApproverRule, users: str | None) -> bool:
        who = authority(*rules, users=users, guild_rules=lambda guild: own)
        return who.rule_for(a_call()).names("7", frozenset(), guild="9")

    assert decides(users=None)
    assert decides(ApproverRule(quorum=1), users=None)
    assert not decides(users="1")
    assert not decides(ApproverRule(users=frozenset({"1"})), users=None)


# -- roles --------------------------------------------------------------------------------------


async def test_a_press_from_another_guild_counts_for_nothing() -> None:
    who = authority()
    for act in Act:
        assert await may(who, Actor(id="1", guild="8"), act) == "wrong_guild"


async def test_roles_are_looked_up_for_somebody_who_presses_from_elsewhere() -> None:
    who = authority(users=None, roles="80")
    assert await may(who, Actor(id="4")) == "unknown_member", "without a face nobody knows"
    guild = Guild(_4="80", _5="81")
    who.connect(guild)
    assert await may(who, Actor(id="4")) == "yes"
    assert await may(who, Actor(id="5")) == "not_approver"
    assert await may(who, Actor(id="6")) == "not_member"
    met = await who.meet(Act.APPROVE, a_call(), Actor(id="4"))
    assert (met.guild, met.roles) == ("9", {"80"})
    guild.down = True
    with pytest.raises(NotAllowed, match=r"Discord does not answer\.") as refusal:
        await who.meet(Act.APPROVE, a_call(), Actor(id="4"))
    assert refusal.value.code == "unknown_member"


@pytest.mark.parametrize("act", [Act.ANSWER, Act.CANCEL, Act.AGAIN, Act.REVOKE])
async def test_who_asked_needs_no_role_for_what_is_theirs(act: Act) -> None:
    assert await may(authority(), Actor(id="2"), act) == "yes"
    assert await may(authority(), Actor(id="2", guild="9"), act) == "yes"


@pytest.mark.parametrize("act", [Act.AGAIN, Act.REVOKE, Act.EDIT, Act.EXTEND, Act.REVEAL])
async def test_an_approver_may_do_it_too_and_a_stranger_may_not(act: Act) -> None:
    assert await may(authority(), Actor(id="1", guild="9"), act) == "yes"
    assert await may(authority(), Actor(id="3", guild="9"), act) == "not_approver"
    assert await may(authority(), Actor(id="3"), act) == "unknown_member"


@pytest.mark.parametrize(
    ("act", "requester", "edited_by", "code"),
    [
        (Act.APPROVE, "1", None, "four_eyes"),
        (Act.GRANT, "1", None, "four_eyes"),
        (Act.DENY, "1", None, "four_eyes"),
        (Act.APPROVE, "2", "1", "four_eyes"),
        (Act.GRANT, "2", "1", "four_eyes"),
        (Act.DENY, "2", "1", "yes"),
        (Act.UNDO, "1", None, "four_eyes"),
        (Act.UNDO, "2", "1", "four_eyes"),
        (Act.UNDO, "2", None, "yes"),
        (Act.EDIT, "1", None, "yes"),
        (Act.REVEAL, "1", None, "yes"),
        (Act.APPROVE, "2", None, "yes"),
    ],
)
async def test_with_four_eyes_nobody_decides_about_what_is_their_own(
    act: Act, requester: str, edited_by: str | None, code: str
) -> None:
    who = authority(users="1 5", self_approval=False)
    call = {"requester": requester, "edited_by": edited_by}
    assert await may(who, Actor(id="1", guild="9"), act, **call) == code  # type: ignore[arg-type]


async def test_a_refusal_names_the_others_who_can_help() -> None:
    who = authority(users="1 5", self_approval=False)
    who.connect(Guild())
    for call, code in ((a_call(requester="1"), "asked"), (a_call(edited_by="1"), "changed")):
        with pytest.raises(NotAllowed) as refusal:
            who.permit(Act.APPROVE, call, Actor(id="1", guild="9"))
        assert "<@5>" in refusal.value.sentence
        assert "<@1>" not in refusal.value.sentence
        assert code in refusal.value.sentence


async def test_jobs_and_conversations_have_the_approvers_of_their_place() -> None:
    rules = (ApproverRule(tools=("act",), users=frozenset({"7"})), ApproverRule(channels=frozenset({"91"}), quorum=1))
    who = authority(*rules, users="1", roles="80")
    assert who.is_approver(Actor(id="1", guild="9"), "discord/9/90")
    assert who.is_approver(Actor(id="4", guild="9", roles=frozenset({"80"})), "discord/9/90")
    assert not who.is_approver(Actor(id="4", guild="8", roles=frozenset({"80"})), "discord/9/90")
    assert not who.is_approver(Actor(id="3", guild="9"), "discord/9/90")
    assert not who.is_approver(Actor(id="1", guild="9"), "discord/9/90", tool="act")
    assert who.is_approver(Actor(id="7", guild="9"), "discord/9/90", tool="act")
    assert not who.is_approver(Actor(id="", guild="9"), "discord/9/90")


async def test_at_the_claim_roles_count_as_they_are_then() -> None:
    who, guild = authority(users=None, roles="80"), Guild(_4="80", _5="80")
    who.connect(guild)
    assert await who.recheck(a_call(), [Voice("4")]) is None
    guild.roles["4"] = frozenset()
    said = await who.recheck(a_call(), [Voice("4")])
    assert said is not None
    assert "<@4>" in said
    del guild.roles["4"]
    assert await who.recheck(a_call(), [Voice("4")]) is not None
    assert await who.recheck(a_call(place="discord/@me/77"), [Voice("5")]) is not None, "no role counts in private"


async def test_at_the_claim_it_is_said_when_one_more_is_wanted_now() -> None:
    who = authority(users="1 5")
    rewrite(who, ApproverRule(quorum=2), users="1 5")
    one = await who.recheck(a_call(), [Voice("1")])
    assert one is not None
    assert "user 1's approval" not in one
    assert await who.recheck(a_call(), [Voice("1"), Voice("5")]) is None


# -- words --------------------------------------------------------------------------------------


def test_of_many_approvers_eight_are_named_and_the_rest_is_not_forgotten() -> None:
    eight, nine = " ".join("12345678"), " ".join("123456789")
    assert authority(users=eight).base_help().count("user ") == 8
    assert "others" not in authority(users=eight).base_help()
    said = authority(users=nine).base_help()
    assert (said.count("user "), "user 9" in said) == (8, False)
    assert "others" in said


def test_a_rule_that_names_nobody_says_which_it_is() -> None:
    empty = authority(ApproverRule(users=frozenset()), users="1")
    assert "Rule 1 " in empty.who_can(a_call())
    assert "user" not in empty.who_can(a_call())


def test_help_names_roles_and_how_many_are_wanted() -> None:
    who = authority(ApproverRule(users=frozenset({"1"}), roles=frozenset({"80"}), quorum=2, one_of_each=("81", "82")))
    who.connect(Guild())
    said = who.who_can(a_call())
    for part in ("2", "<@1>", "<@&80>", "<@&81>", "<@&82>", "Rule 1 "):
        assert part in said


def test_why_chat_may_not_let_a_call_through_is_said() -> None:
    assert authority().reserved(a_call()) is None
    assert "1" in str(authority(ApproverRule(tools=("act",))).reserved(a_call()))
    assert authority(ApproverRule(tools=("other",))).reserved(a_call()) is None
    assert authority(self_approval=False).reserved(a_call()) is not None


def test_those_who_could_approve_are_told_and_nobody_else() -> None:
    who = authority(
        ApproverRule(tools=("other",), users=frozenset({"7"})), users="1 5", roles="9 80", self_approval=False
    )
    calls = [a_call(requester="5"), a_call(tool="other", requester="5")]
    assert who.approvers(calls) == ({"1", "7"}, {"80"})
    assert who.approvers([]) == (frozenset(), frozenset())
    assert who.anyone_can_decide(Subject(tool="act", place="discord/9/90", within="", requester="5"))


def test_help_without_anybody_by_name_asks_for_one_of_each_role() -> None:
    who = authority(ApproverRule(one_of_each=("81",)))
    who.connect(Guild())
    assert who.who_can(a_call()) == "Rule 1 of [[approvers]] says who decides: one of <@&81>."
