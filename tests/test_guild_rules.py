"""A guild's own rules within the operator's file: the stricter one counts, and what cannot be believed refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.deferral.authority import Authority
from bot.deferral.layers import LayeredPolicy
from bot.deferral.policy import RulePolicy
from bot.deferral.seal import Seal
from bot.deferral.tool import Tool
from bot.guild_book import GuildBook
from bot.guild_rules import Body, lets_through, names_people
from bot.permits import Asking
from bot.policy_file import policy_rules
from bot.rules import ApproverRule, Subject
from bot.values import approver_rules
from storage import guilds
from storage.database import open_database
from storage.guilds import GuildConfig
from tests.house import Bench

HERE = Asking(requester="2", place="discord/9/90", now=0)
FETCH = {"name": "docs", "tool": "echo", "action": "allow"}


def echo() -> Tool:
    """A tool that acts, and takes no program's text."""
    return replace(next(tool for tool in Bench().tools() if tool.name == "act"), name="echo")


def layered(
    file: Sequence[dict[str, Any]], chat: Sequence[dict[str, Any]], *approvers: ApproverRule, alone: bool = True
) -> LayeredPolicy:
    own = Body(policy=tuple(chat)).rules().policy
    authority = Authority(users=frozenset({"1"}), roles=None, self_approval=alone, rules=approvers)
    return LayeredPolicy(
        RulePolicy(policy_rules(list(file)) or () if file else ()),
        guild_rules=lambda guild: own if guild == "9" else (),
        reserved=authority.reserved,
    )


def rule(action: str, name: str = "one", **more: Any) -> dict[str, Any]:
    return {"name": name, "tool": "echo", "action": action, **more}


@pytest.mark.parametrize(
    ("file", "chat", "comes"),
    [
        (None, None, "ask"),
        (None, "allow", "allow"),
        (None, "refuse", "refuse"),
        ("allow", "ask", "ask"),
        ("allow", "refuse", "refuse"),
        ("ask", "allow", "ask"),
        ("ask", "refuse", "refuse"),
        ("refuse", "allow", "refuse"),
        ("refuse", "ask", "refuse"),
        ("allow", "allow", "allow"),
    ],
)
def test_of_the_file_and_the_chat_the_stricter_one_counts(file: str | None, chat: str | None, comes: str) -> None:
    policy = layered([rule(file)] if file else [], [rule(chat)] if chat else [])
    assert policy.decide(echo(), {}, HERE).action == comes


def test_a_rule_made_in_chat_says_so_and_counts_in_its_own_guild_only() -> None:
    policy = layered([], [rule("refuse", "no echo")])
    assert policy.decide(echo(), {}, HERE).rule == "no echo (set in this server's /policy)"
    assert policy.decide(echo(), {}, replace(HERE, place="discord/8/90")).action == "ask"
    assert policy.decide(echo(), {}, replace(HERE, place="discord/@me/90")).action == "ask"
    assert policy.decide(echo(), {}, replace(HERE, place="")).action == "ask"


def test_chat_lets_nothing_through_of_which_the_file_says_who_decides() -> None:
    verdict = layered([], [rule("allow")], ApproverRule(tools=("echo",), quorum=2)).decide(echo(), {}, HERE)
    assert verdict.action == "ask"
    assert "rule 1 of [[approvers]]" in verdict.rule
    assert layered([], [rule("allow")], ApproverRule(tools=("other",))).decide(echo(), {}, HERE).action == "allow"


def test_chat_lets_nothing_through_where_the_operator_wants_somebody_else_to_decide() -> None:
    verdict = layered([], [rule("allow")], alone=False).decide(echo(), {}, HERE)
    assert verdict.action == "ask"
    assert "SIGNOFF_SELF_APPROVAL" in verdict.rule


@pytest.mark.parametrize("tool", ["shell", "*"])
def test_chat_cannot_let_a_programs_text_through_whatever_it_says(tool: str) -> None:
    shell = next(one for one in Bench().tools() if one.name == "shell")
    policy = layered([], [{"name": "all", "tool": tool, "action": "allow"}])
    assert policy.decide(shell, {"command": "ls"}, HERE).action == "ask"


@pytest.mark.parametrize(
    "body",
    [
        Body(policy=({**FETCH, "guilds": ["9"]},)),
        Body(policy=({**FETCH, "where": {"argv": {"argv": ["bash", "-c", "x"]}}},)),
        Body(policy=(FETCH, FETCH)),
        Body(approvers=({"quorum": 0},)),
        Body(approvers=({"lifetime": "never"},)),
        Body(policy=tuple({**FETCH, "name": f"rule {n}"} for n in range(21))),
    ],
)
def test_tables_that_make_no_sense_are_refused_whole(body: Body) -> None:
    with pytest.raises(ValueError, match="has"):
        body.rules()


def test_what_is_stored_comes_back_as_it_was() -> None:
    body = Body(policy=(FETCH,), approvers=({"tools": ["echo"], "quorum": 2, "lifetime": "10m"},))
    assert Body.from_json(body.to_json()) == body
    assert body.rules().approvers[0].lifetime == 600_000


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"policy": [], "approvers": [1]}', '{"policy": {}, "approvers": []}']
)
def test_a_text_that_is_no_body_is_not_guessed_at(text: str) -> None:
    with pytest.raises(ValueError, match=r"is|has"):
        Body.from_json(text)


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        ([], [rule("ask")], False),
        ([], [rule("allow")], True),
        ([rule("allow")], [rule("allow"), rule("refuse", "two")], False),
        ([rule("allow")], [rule("refuse", "two"), rule("allow")], False),
        ([rule("refuse", "two"), rule("allow")], [rule("allow"), rule("refuse", "two")], True),
        ([rule("refuse", "two"), rule("allow")], [rule("allow")], True),
        ([rule("refuse", "two"), rule("allow")], [rule("refuse", "two")], False),
        ([rule("refuse", "two")], [], False),
        ([rule("allow", channels=["5"])], [rule("allow")], True),
    ],
)
def test_it_is_known_what_would_let_more_through(
    old: list[dict[str, Any]], new: list[dict[str, Any]], wider: bool
) -> None:
    assert lets_through(Body(policy=tuple(old)).rules(), Body(policy=tuple(new)).rules()) is wider


def test_it_is_known_when_people_are_named_or_unnamed() -> None:
    named, bare = Body(approvers=({"users": ["5"]},)).rules(), Body(approvers=({"quorum": 2},)).rules()
    assert names_people(Body().rules(), named)
    assert names_people(named, Body().rules())
    assert not names_people(Body().rules(), bare)
    assert not names_people(named, named)


# -- who decides ------------------------------------------------------------------------------------


ASKED = Subject(tool="echo", place="discord/9/90", within="", requester="2")


def authority(*own: dict[str, Any], users: frozenset[str] | None = frozenset({"1", "4"}), **more: Any) -> Authority:
    rules = approver_rules(list(own)) or ()
    return Authority(
        users=users, roles=more.pop("roles", None), self_approval=True, guild_rules=lambda guild: rules, **more
    )


def may(who: Authority, person: str, *roles: str) -> bool:
    return who.rule_for(ASKED).names(person, frozenset(roles), guild="9")


def test_whom_a_guild_names_decides_only_if_the_operator_names_them_too() -> None:
    who = authority({"users": ["1", "6"]})
    assert [may(who, person) for person in ("1", "4", "6")] == [True, False, False]
    by_role = authority({"users": ["6"]}, roles=frozenset({"70"}))
    assert may(by_role, "6", "70")
    assert not may(by_role, "6")
    assert not may(by_role, "7", "70")


def test_a_guild_that_names_nobody_who_may_has_nobody_and_is_told() -> None:
    who = authority({"users": ["6"]})
    assert not who.anyone_can_decide(ASKED)
    assert "it names nobody who may" in who.who_can(ASKED)


def test_where_the_operator_names_nobody_those_whom_the_guild_names_decide() -> None:
    who = authority({"users": ["6"]}, users=None)
    who.set_owners(frozenset({"1"}))
    assert may(who, "6")
    assert not may(who, "1")


def test_a_guild_can_ask_for_more_people_and_never_for_fewer() -> None:
    more = authority({"quorum": 2, "four_eyes": True})
    assert (more.rule_for(ASKED).quorum, more.rule_for(ASKED).four_eyes) == (2, True)
    fewer = authority({"quorum": 1, "four_eyes": False}, rules=(ApproverRule(quorum=3, four_eyes=True),))
    assert (fewer.rule_for(ASKED).quorum, fewer.rule_for(ASKED).four_eyes) == (3, True)


def test_a_guild_can_shorten_a_lifetime_and_lengthens_only_one_that_the_operator_left_alone() -> None:
    assert authority({"lifetime": "10m"}, ttl_binds=True, ttl_ms=3_600_000).lifetime(ASKED) == 600_000
    assert authority({"lifetime": "3d"}, ttl_binds=True, ttl_ms=3_600_000).lifetime(ASKED) == 3_600_000
    assert authority({"lifetime": "3d"}).lifetime(ASKED) == 3 * 86_400_000


# -- the book ---------------------------------------------------------------------------------------


async def stored(folder: Path, text: str, seal: Seal, **changes: Any) -> GuildBook:
    async with open_database(str(folder / "one.sqlite3")) as database:
        config = GuildConfig(guild="9", topic="policy", version=1, body=text, seal="", changed_by="1", changed_at=5)
        config = replace(config, seal=GuildBook(seal).sealed(config))
        async with database.begin("policy") as tx:
            assert await guilds.put(tx, replace(config, **changes), before="", detail={}, mask=lambda text: text)
        book = GuildBook(seal)
        await book.load(database.reader)
        return book


async def test_what_was_stored_is_there_after_a_start(tmp_path: Path) -> None:
    book = await stored(tmp_path, Body(policy=(FETCH,)).to_json(), Seal(b"key"))
    assert [one.name for one in book.policy("9")] == ["docs"]
    assert book.policy("8") == ()


async def test_rules_that_this_bot_did_not_store_refuse_everything_and_name_nobody(tmp_path: Path) -> None:
    book = await stored(tmp_path, Body(policy=(FETCH,)).to_json(), Seal(b"key"), body=Body().to_json())
    assert [(one.tool, one.action) for one in book.policy("9")] == [("*", "refuse")]
    who = Authority(users=frozenset({"1"}), roles=None, self_approval=True, guild_rules=book.approvers)
    assert not may(who, "1")


async def test_the_second_of_two_changes_to_one_version_is_not_stored(tmp_path: Path) -> None:
    async with open_database(str(tmp_path / "one.sqlite3")) as database:
        config = GuildConfig(guild="9", topic="policy", version=1, body="a", seal="", changed_by="1", changed_at=5)
        async with database.begin("policy") as tx:
            assert await guilds.put(tx, config, before="", detail={}, mask=str)
            assert not await guilds.put(tx, replace(config, body="b"), before="", detail={}, mask=str)
            assert await guilds.put(tx, replace(config, version=2, body="c"), before="a", detail={}, mask=str)
        assert [one.body for one in await guilds.every(database.reader)] == ["c"]
        told = await database.reader.all("SELECT event, actor, detail FROM audit ORDER BY n")
        assert [(row["event"], row["actor"]) for row in told] == [("policy_changed", "1")] * 2
        assert '"before": "a"' in told[1]["detail"]
        assert '"after": "c"' in told[1]["detail"]
