"""Policy at work: on a turn, on the card, on the trail, and at the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SettingsError
from bot.policy_file import policy_rules
from bot.settings import Settings, load_settings
from tests.house import OWNER, Script, open_house
from tests.test_cli import signoff

DOCS = """\
[[policy]]
name = "documentation"
tool = "http_fetch"
action = "allow"
where.url.host_in = ["docs.example"]
[[policy.example]]
arguments = { url = "https://docs.example/x" }
expect = "allow"
rule = "documentation"
[[policy.example]]
name = "a look-alike"
arguments = { url = "https://docs.example.evil.example/" }
expect = "ask"

[[policy]]
name = "no deploys at night"
tool = "deploy_*"
action = "refuse"
hours = "20:00-06:00"
[[policy.example]]
tool = "deploy_start"
arguments = { host = "a" }
at = 2026-01-31T23:00:00Z
expect = "refuse"
[[policy.example]]
tool = "deploy_start"
arguments = { host = "a" }
expect = "ask"
"""


def ruled(*tables: dict[str, Any]) -> Settings:
    return Settings(approver_users=frozenset({OWNER.id}), policy=policy_rules(list(tables)))


async def test_a_call_that_a_rule_allows_runs_without_a_card_and_is_on_the_trail(tmp_path: Path) -> None:
    settings = ruled({"name": "fine", "tool": "act", "action": "allow", "where": {"what": {"equals": "a"}}})
    async with open_house(tmp_path, Script([("act", {"what": "a"})], "done"), settings=settings) as house:
        page = await house.ask()
        assert (page.finished, house.bench.effects, house.face.cards) == ("done", ["a"], {})
        (entry,) = await house.rows("SELECT * FROM audit WHERE event = 'allowed'")
        detail = json.loads(entry["detail"])
        assert detail == {"tool": "act", "arguments": '{"what": "a"}', "rule": "fine"}


async def test_a_call_beside_it_gets_a_card_with_the_deciding_rule_as_its_reason(tmp_path: Path) -> None:
    settings = ruled(
        {"tool": "act", "action": "allow", "where": {"what": {"equals": "a"}}},
        {"name": "deploys are looked at", "tool": "act", "action": "ask"},
    )
    script = Script([("act", {"what": "a"}), ("act", {"what": "b"})], "done")
    async with open_house(tmp_path, script, settings=settings) as house:
        await house.ask()
        assert house.bench.effects == ["a"]
        (waiting,) = house.card[1].approvals
        assert (waiting.arguments, waiting.reason) == ({"what": "b"}, "deploys are looked at")


async def test_a_call_that_a_rule_refuses_never_runs_and_the_model_is_told_which_rule(tmp_path: Path) -> None:
    settings = ruled({"name": "hands off", "tool": "look", "action": "refuse"})
    script = Script([("look", {"what": "a"})], "sorry")
    async with open_house(tmp_path, script, settings=settings) as house:
        await house.ask()
        assert (house.bench.looks, house.face.cards) == ([], {})
        assert script.results() == [("success", "Policy refuses this call: hands off. It did not run.")]


@pytest.mark.parametrize(("by", "cards"), [("2", 0), ("3", 1)])
async def test_a_rule_knows_who_asked(by: str, cards: int, tmp_path: Path) -> None:
    settings = ruled({"tool": "act", "action": "allow", "users": [2], "channels": [90]})
    async with open_house(tmp_path, Script([("act", {"what": "a"})], "done"), settings=settings) as house:
        await house.ask(by=by)
        assert len(house.face.cards) == cards


async def test_what_is_allowed_without_a_trail_does_not_run(tmp_path: Path) -> None:
    """The entry is committed before the body begins."""
    settings = ruled({"tool": "act", "action": "allow"})
    async with open_house(tmp_path, Script([("act", {"what": "a"})], "done"), settings=settings) as house:
        async with house.app.database.begin("test") as tx:
            await tx.execute(
                "CREATE TRIGGER no_entries BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'the trail is full'); END"
            )
        with pytest.raises(BaseException):  # noqa: B017 - whatever it is, nothing may have run
            await house.ask()
        assert house.bench.effects == []


async def test_a_rule_that_would_allow_the_shell_stops_the_start(tmp_path: Path) -> None:
    settings = ruled({"name": "handy", "tool": "shell", "action": "allow"})
    with pytest.raises(SettingsError, match="SIGNOFF_POLICY: has the rule 'handy'"):
        async with open_house(tmp_path, Script(), settings=settings):
            pass


def test_rules_are_read_from_the_toml_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "signoff.toml").write_text(DOCS)
    policy = load_settings().policy
    assert policy is not None
    assert [rule.name for rule in policy] == ["documentation", "no deploys at night"]


def test_policy_test_tries_every_example_and_names_the_rule(tmp_path: Path) -> None:
    (tmp_path / "signoff.toml").write_text(DOCS)
    done = signoff(tmp_path, "policy", "test")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ok    documentation, example 1: http_fetch -> allow\n      by: documentation\n" in done.stdout
    assert "ok    a look-alike: http_fetch -> ask\n" in done.stdout
    assert "by: no deploys at night" in done.stdout
    assert done.stdout.endswith("2 rules, 4 examples, 0 not as expected.\n")


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('expect = "ask"\n\n', 'expect = "allow"\n\n'),
        ('rule = "documentation"', 'rule = "something else"'),
        ('url = "https://docs.example/x"', 'url = "file:///etc/passwd"'),
    ],
)
def test_policy_test_fails_when_an_example_is_not_as_expected(was: str, now: str, tmp_path: Path) -> None:
    assert DOCS.count(was) == 1
    (tmp_path / "signoff.toml").write_text(DOCS.replace(was, now))
    done = signoff(tmp_path, "policy", "test", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [one["ok"] for one in found].count(False) == 1


def test_a_rule_without_an_example_is_told(tmp_path: Path) -> None:
    (tmp_path / "signoff.toml").write_text('[[policy]]\ntool = "read_file"\naction = "refuse"\n')
    assert "the rule 'rule 1' has no example" in signoff(tmp_path, "policy", "test").stdout


def test_policy_test_without_rules_says_so(tmp_path: Path) -> None:
    done = signoff(tmp_path, "policy", "test")
    assert (done.returncode, "There are no rules" in done.stdout) == (0, True)


def test_policy_test_refuses_a_rule_that_would_allow_the_shell(tmp_path: Path) -> None:
    (tmp_path / "signoff.toml").write_text('[[policy]]\nname = "handy"\ntool = "*"\naction = "allow"\n')
    done = signoff(tmp_path, "policy", "test")
    assert done.returncode == 1
    assert "'handy'" in done.stderr
