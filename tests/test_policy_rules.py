"""The operator's rules, one property at a time: what they match, refuse to read, may never allow."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.deferral.policy import RulePolicy, rule_problems
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.permits import Asking, PolicyRule
from bot.policy_file import policy_rules

NOON = int(datetime(2026, 11, 30, 12, 0, tzinfo=UTC).timestamp() * 1000)  # a Monday
HERE = Asking(requester="2", place="discord/9/90", now=NOON)


class Url(Arguments):
    url: str | None = None


class File(Arguments):
    path: str
    content: str = ""


class Run(Arguments):
    argv: list[str]


class Line(Arguments):
    command: str


class Nothing(Arguments):
    n: int | bool | float | str = 0


async def never(arguments: Any, call: Call) -> ToolOutcome:
    raise AssertionError("no test here runs a tool")


def tool(name: str, arguments: type[Arguments] = Nothing, *, gated: bool = True) -> Tool:
    return Tool(name=name, description="", arguments=arguments, body=never, gated=gated)


def rules(text: str) -> tuple[PolicyRule, ...]:
    found = policy_rules(tomllib.loads(text)["policy"])
    assert found is not None
    return found


def action(text: str, called: Tool, asking: Asking = HERE, **arguments: Any) -> str:
    return RulePolicy(rules(text)).decide(called, arguments, asking).action


def rule(line: str, *, tool: str = "t", does: str = "allow") -> str:
    return f'[[policy]]\ntool = "{tool}"\naction = "{does}"\n{line}\n'


def problem(text: str) -> str:
    with pytest.raises(ValueError) as caught:
        rules(text)
    return str(caught.value)


# -- order and default ------------------------------------------------------------------------------


def test_the_first_rule_that_matches_decides_and_is_named() -> None:
    text = rule('name = "one"', does="refuse") + rule('name = "two"')
    verdict = RulePolicy(rules(text)).decide(tool("t"), {"n": 1}, HERE)
    assert (verdict.action, verdict.rule) == ("refuse", "one")


def test_what_no_rule_is_about_asks() -> None:
    assert action(rule("", tool="other"), tool("t")) == "ask"


def test_what_no_rule_is_about_and_only_looks_runs() -> None:
    assert action(rule("", tool="other"), tool("t", gated=False)) == "allow"


def test_a_tool_that_only_looks_can_be_made_to_ask() -> None:
    assert action(rule("", does="ask"), tool("t", gated=False)) == "ask"


def test_a_star_stands_for_the_tools_of_one_server_only() -> None:
    text = rule("", tool="github_*", does="refuse")
    assert action(text, tool("github_merge")) == "refuse"
    assert action(text, tool("gitlab_merge")) == "ask"
    assert action(text, tool("GITHUB_merge")) == "ask"


# -- conditions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example/a?b=c#d", "allow"),
        ("http://docs.example", "allow"),
        ("HTTPS://DOCS.EXAMPLE/", "allow"),
        ("https://docs.example:443/", "allow"),
        ("https://a.wiki.example/", "allow"),
        ("https://local.example:8080/", "allow"),
        ("https://docs.example:8443/", "ask"),
        ("https://local.example/", "ask"),
        ("https://wiki.example/", "ask"),
        ("https://evilwiki.example/", "ask"),
        ("https://docs.example.evil.example/", "ask"),
        ("https://evil.example/docs.example", "ask"),
        ("https://evil.example/?https://docs.example/", "ask"),
        ("https://docs.example@evil.example/", "ask"),
        ("https://evil.example\\@docs.example/", "ask"),
        ("https://docs.example\\.evil.example/", "ask"),
        ("https://docs.example%2eevil.example/", "ask"),
        ("https://docs.example /", "ask"),
        (" https://docs.example/", "ask"),
        ("https://docs.example\n/", "ask"),
        ("https://docs．example/", "ask"),
        ("//docs.example/", "ask"),
        ("ftp://docs.example/", "ask"),
        ("https://docs.example./", "ask"),
        ("https://docs..example/", "ask"),
        ("https://docs.example:99999/", "ask"),
        ("docs.example", "ask"),
        ("", "ask"),
    ],
)
def test_a_host_is_matched_whole_or_not_at_all(url: str, expected: str) -> None:
    text = rule('where.url.host_in = ["docs.example", "*.wiki.example", "local.example:8080"]')
    assert action(text, tool("t", Url), url=url) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("notes/a.md", "allow"),
        ("./notes//deep/a.md", "allow"),
        ("notes", "ask"),
        ("notes/", "ask"),
        ("notes2/a.md", "ask"),
        ("Notes/a.md", "ask"),
        ("other/notes/a.md", "ask"),
        ("notes/../secret", "ask"),
        ("/notes/a.md", "ask"),
        ("~/notes/a.md", "ask"),
        ("notes\\..\\secret", "ask"),
        ("notes/a\0.md", "ask"),
        ("notes/a\n.md", "ask"),
    ],
)
def test_a_path_is_below_a_folder_by_whole_names(path: str, expected: str) -> None:
    assert action(rule('where.path.below = "notes"'), tool("t", File), path=path, content="") == expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["git", "status"], "allow"),
        (["git", "status", ";", "id"], "ask"),
        (["git", "status; id"], "ask"),
        (["./git", "status"], "ask"),
        (["git", "Status"], "ask"),
        (["git", "status "], "ask"),
        (["git"], "ask"),
        ([], "ask"),
    ],
)
def test_a_command_is_its_exact_words(argv: list[str], expected: str) -> None:
    """S-A51, S-A54, S-A57."""
    assert action(rule('where.argv.argv = ["git", "status"]'), tool("t", Run), argv=argv) == expected


def test_another_option_of_an_allowed_program_asks() -> None:
    """S-A55."""
    text = rule('where.argv.argv = ["tar", "tf", "a.tar"]')
    assert action(text, tool("t", Run), argv=["tar", "tf", "a.tar"]) == "allow"
    assert action(text, tool("t", Run), argv=["tar", "tf", "a.tar", "--checkpoint-act=exec=id"]) == "ask"


@pytest.mark.parametrize(("value", "expected"), [(1, "allow"), (True, "ask"), (1.0, "ask"), ("1", "ask"), (2, "ask")])
def test_a_value_is_equal_only_in_its_own_kind(value: object, expected: str) -> None:
    assert action(rule("where.n.equals = 1"), tool("t"), n=value) == expected
    assert action(rule("where.n.one_of = [0, 1]"), tool("t"), n=value) == expected


def test_every_condition_has_to_hold() -> None:
    text = rule('where.path.below = "notes"\nwhere.content.equals = "x"')
    assert action(text, tool("t", File), path="notes/a", content="x") == "allow"
    assert action(text, tool("t", File), path="notes/a", content="y") == "ask"


def test_a_condition_that_cannot_read_its_argument_lets_nothing_further_down_allow_it() -> None:
    text = rule('name = "docs"\nwhere.url.host_in = ["docs.example"]', does="ask") + rule('name = "all"')
    verdict = RulePolicy(rules(text)).decide(tool("t", Url), {"url": None}, HERE)
    assert (verdict.action, verdict.rule) == ("ask", "docs: it cannot tell what url is")


def test_a_refusal_that_cannot_read_its_argument_refuses() -> None:
    text = rule('where.url.host_in = ["evil.example"]', does="refuse")
    assert action(text, tool("t", Url), url="https://x@evil.example") == "refuse"
    assert action(text, tool("t", Url), url="https://good.example") == "ask"


def test_a_missing_argument_cannot_be_read() -> None:
    assert action(rule('where.url.host_in = ["a.example"]', does="refuse"), tool("t", Url)) == "refuse"


def test_a_rule_for_many_tools_is_not_about_one_without_such_an_argument() -> None:
    text = rule('where.url.host_in = ["a.example"]', tool="*", does="refuse")
    assert action(text, tool("t", File), path="a", content="") == "ask"


# -- who, where, when -------------------------------------------------------------------------------


def at(**changes: Any) -> Asking:
    return Asking(**{"requester": "2", "place": "discord/9/90", "now": NOON, **changes})


@pytest.mark.parametrize(
    ("line", "asking", "expected"),
    [
        ("guilds = [9]", at(), "allow"),
        ("guilds = [8]", at(), "ask"),
        ("guilds = [9]", at(place="discord/@me/9"), "ask"),
        ("channels = [90]", at(), "allow"),
        ("channels = [91]", at(), "ask"),
        ("channels = [91]", at(within="91"), "allow"),
        ("channels = [90]", at(place="discord/@me/90"), "ask"),
        ("users = [2]", at(), "allow"),
        ("users = [3]", at(), "ask"),
        ("roles = [70]", at(roles=frozenset({"70", "71"})), "allow"),
        ("roles = [70]", at(roles=frozenset({"71"})), "ask"),
        ("roles = [9]", at(roles=frozenset({"9"})), "ask"),
        ("private = true", at(place="discord/@me/5"), "allow"),
        ("private = true", at(), "ask"),
        ("private = false", at(place="discord/@me/5"), "ask"),
        ("guilds = [9]", at(place=""), "ask"),
    ],
)
def test_a_rule_is_about_its_people_and_places_only(line: str, asking: Asking, expected: str) -> None:
    assert action(rule(line), tool("t"), asking, n=1) == expected


def moment(text: str) -> Asking:
    return at(now=int(datetime.fromisoformat(text).timestamp() * 1000))


@pytest.mark.parametrize(
    ("line", "when", "expected"),
    [
        ('hours = "09:00-17:00"', "2026-11-30T09:00:00+00:00", "allow"),
        ('hours = "09:00-17:00"', "2026-11-30T16:59:59+00:00", "allow"),
        ('hours = "09:00-17:00"', "2026-11-30T17:00:00+00:00", "ask"),
        ('hours = "09:00-17:00"', "2026-11-30T08:59:59+00:00", "ask"),
        ('hours = "09:00-17:00"\ntimezone = "Europe/Berlin"', "2026-11-30T08:00:00+00:00", "allow"),
        ('hours = "09:00-17:00"\ntimezone = "Europe/Berlin"', "2026-06-30T07:00:00+00:00", "allow"),
        ('hours = "22:00-06:00"', "2026-11-30T23:00:00+00:00", "allow"),
        ('hours = "22:00-06:00"', "2026-11-30T05:59:00+00:00", "allow"),
        ('hours = "22:00-06:00"', "2026-11-30T06:00:00+00:00", "ask"),
        ('hours = "22:00-06:00"\ndays = ["mon"]', "2026-12-01T05:00:00+00:00", "allow"),
        ('hours = "22:00-06:00"\ndays = ["mon"]', "2026-11-30T05:00:00+00:00", "ask"),
        ('hours = "20:00-24:00"', "2026-11-30T23:59:59+00:00", "allow"),
        ('days = ["mon", "tue"]', "2026-11-30T23:59:59+00:00", "allow"),
        ('days = ["sat", "sun"]', "2026-11-30T12:00:00+00:00", "ask"),
    ],
)
def test_a_rule_holds_in_its_hours_only(line: str, when: str, expected: str) -> None:
    assert action(rule(line), tool("t"), moment(when), n=1) == expected


# -- what can never be allowed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        '["sh", "-c", "ls"]', '["/bin/sh", "x.sh"]', '["env", "-S", "ls"]', '["busybox", "sh", "-c", "ls"]',
        '["timeout", "5", "sh", "-c", "ls"]', '["python3.11", "-c", "1"]', '["python3", "a.py"]', '["/usr/bin/perl"]',
        '["find", ".", "-exec", "id", ";"]', '["sudo", "ls"]', '["xargs", "ls"]', '["Python3.11.exe"]', '["node20"]',
        '["ssh", "host"]', '["make"]', '["ruby3.2"]', '["bash.exe"]', '["gawk", "1"]',
    ],
)  # fmt: skip
def test_a_rule_that_would_allow_a_wrapper_or_an_interpreter_is_an_error_that_names_it(argv: str) -> None:
    """S-A53."""
    told = problem(rule(f'name = "handy"\nwhere.argv.argv = {argv}'))
    assert "'handy'" in told
    assert "a wrapper or an interpreter" in told


@pytest.mark.parametrize("program", ["./git", "tools/git", "/opt/git", "/usr/bin/../../tmp/x", "", "git status", "a;b"])
def test_a_rule_that_would_allow_a_program_that_can_be_swapped_is_an_error(program: str) -> None:
    assert "'rule 1'" in problem(rule(f'where.argv.argv = ["{program}"]'))


def test_a_wrapper_may_be_refused_or_asked_about_by_rule() -> None:
    assert action(rule('where.argv.argv = ["env"]', does="refuse"), tool("t", Run), argv=["env"]) == "refuse"


@pytest.mark.parametrize("line", ["", 'where.command.equals = "ls"', 'where.command.one_of = ["ls"]'])
@pytest.mark.parametrize("pattern", ["t", "*"])
def test_a_rule_that_would_allow_a_shell_line_is_an_error_that_names_it(line: str, pattern: str) -> None:
    """S-A52: whatever the text of a command line is."""
    text = rule(f'name = "handy"\n{line}', tool=pattern)
    (told,) = rule_problems(rules(text), [tool("t", Line)])
    assert "'handy'" in told
    assert "command is a program's text" in told


@pytest.mark.parametrize("line", ["", 'where.command.equals = "ls"'])
def test_a_tool_that_comes_later_and_takes_a_shell_line_asks_all_the_same(line: str) -> None:
    verdict = RulePolicy(rules(rule(line))).decide(tool("t", Line), {"command": "ls"}, HERE)
    assert verdict.action == "ask"
    assert "command" in verdict.rule


def test_a_command_is_not_allowed_without_its_exact_words() -> None:
    assert action(rule(""), tool("t", Run), argv=["ls"]) == "ask"
    assert action(rule('where.argv.equals = ["ls"]'), tool("t", Run), argv=["ls"]) == "ask"


class Inner(Arguments):
    script: str


class Deep(Arguments):
    options: Inner


def test_a_program_that_hides_deeper_in_the_arguments_asks() -> None:
    assert action(rule(""), tool("t", Deep), options={"script": "x"}) == "ask"


# -- what makes no sense ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[policy]]\naction = "allow"', "needs a tool"),
        ('[[policy]]\ntool = "a b"\naction = "allow"', "needs a tool"),
        ('[[policy]]\ntool = "t"', "needs action: allow, ask, refuse"),
        ('[[policy]]\ntool = "t"\naction = "Allow"', "needs action"),
        (rule("user = [1]"), "unknown key 'user'"),
        (rule("users = []"), "users that is not a list"),
        (rule('users = ["ana"]'), "not a numeric Discord id"),
        (rule("users = [true]"), "not a numeric Discord id"),
        (rule("private = 1"), "private that is not true or false"),
        (rule("private = true\nguilds = [9]"), "can never match"),
        (rule("where = {}"), "a where that is not a table"),
        (rule("where.url = {}"), "exactly one of"),
        (rule('where.url = "x"'), "exactly one of"),
        (rule("where.url.like = 1"), "unknown condition 'like'"),
        (rule("where.url.host_in = []"), "list of hosts"),
        (rule('where.url.host_in = ["https://a.example"]'), "not a host"),
        (rule('where.url.host_in = ["*"]'), "not a host"),
        (rule('where.url.host_in = ["A.example"]'), "not a host"),
        (rule('where.path.below = "../x"'), "plain path"),
        (rule("where.n.one_of = []"), "list of values"),
        (rule("where.n.equals = nan"), "no argument can have"),
        (rule("where.argv.argv = []"), "words of one whole command"),
        (rule('hours = "9-17"'), "needs hours like"),
        (rule('hours = "09:00-09:00"'), "needs hours like"),
        (rule('hours = "09:00-25:00"'), "needs hours like"),
        (rule('days = ["monday"]'), "needs days out of"),
        (rule('timezone = "Mars"\ndays = ["mon"]'), "timezone that is not known"),
        (rule('timezone = "Europe/Berlin"'), "timezone without hours"),
        (rule('name = "x"') + rule('name = "x"'), "two rules with the name 'x'"),
        (rule('name = "a\\nb"'), "not a short text"),
        (rule("[[policy.example]]"), "expect in rule 1, example 1"),
        (rule('[[policy.example]]\nexpect = "allow"\nwho = 1'), "unknown key 'who'"),
        (rule('[[policy.example]]\nexpect = "allow"', tool="a_*"), "name of one tool in rule 1, example 1"),
        (rule('[[policy.example]]\nexpect = "allow"\nat = "soon"'), "date and time"),
        (rule('[[policy.example]]\nexpect = "allow"\nuser = "ana"'), "numeric Discord id"),
    ],
)  # fmt: skip
def test_a_rule_that_makes_no_sense_is_told_by_its_name(text: str, words: str) -> None:
    assert words in problem(text)


def test_a_condition_on_what_the_tool_does_not_take_is_an_error() -> None:
    (told,) = rule_problems(rules(rule('where.uri.host_in = ["a.example"]')), [tool("t", Url)])
    assert "no argument 'uri'" in told


def test_a_rule_that_gives_network_to_what_takes_none_is_an_error_that_names_it() -> None:
    text = rule('name = "net"\nnetwork = true', does="ask")
    taking = replace(tool("t"), networked=True)
    (told,) = rule_problems(rules(text), [tool("t")])
    assert "'net'" in told
    assert "takes none" in told
    assert list(rule_problems(rules(text), [taking])) == []
    assert RulePolicy(rules(text)).decide(taking, {}, HERE).network == "net"
