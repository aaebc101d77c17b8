"""Secrets by name: how a call refers to one, who is given one, and what happens where it is none of theirs."""

from __future__ import annotations

from typing import Any

import pytest

from bot.deferral.references import malformed, put_in, reference, referred, variable
from bot.deferral.tool import Arguments, SecretUse, Tool, ToolOutcome
from bot.deferral.vault import Vault, with_values
from bot.errors import NothingRan
from bot.redact import Redactor
from bot.secrets_file import NamedSecret

KEY = NamedSecret(name="key", tools=("act",), value="hunter2")
NET = NamedSecret(name="net-key", tools=("a*",), hosts=("api.example", "b.example"), value="swordfish")


class Anything(Arguments):
    what: Any


def a_tool(name: str = "act", **use: Any) -> Tool:
    async def body(arguments: Any, call: Any) -> ToolOutcome:
        return ToolOutcome(text="")

    secrets = SecretUse(**{"how": "Write it.", **use}) if use != {"none": True} else None
    return Tool(name=name, description="", arguments=Anything, body=body, secrets=secrets)


NO_USE = a_tool(none=True)
EVERYWHERE = {
    "a": [reference("key"), 7, None, True, [f"x{reference('key')}y{reference('key')}"]],
    "b": {reference("key"): 1.5},
    "c": (reference("net-key"),),
}


def refusal(vault: Vault, tool: Tool, value: Any) -> str | None:
    return vault.refusal(tool, {"what": value}, lambda: Anything(what=value))


def test_values_take_the_place_of_references_wherever_a_text_stands_and_nothing_else_changes() -> None:
    assert put_in(EVERYWHERE, {"key": "hunter2", "net-key": "fish"}) == {
        "a": ["hunter2", 7, None, True, ["xhunter2yhunter2"]],
        "b": {reference("key"): 1.5},
        "c": ["fish"],
    }
    assert put_in(reference("key"), {"key": "a'b"}, repr) == '"a\'b"'


def test_each_secret_is_referred_to_once_in_the_order_of_the_call() -> None:
    assert referred(EVERYWHERE) == ["key", "net-key"]
    assert referred([reference("net-key"), {"x": reference("key")}]) == ["net-key", "key"]
    assert referred({"what": 7}) == []


def test_a_secret_has_the_name_of_a_variable() -> None:
    assert variable("net-key") == "SECRET_NET_KEY"


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (reference("key"), False),
        ("{{other:key}}", False),
        (["{{secret:KEY}}"], True),
        ({"a": "{{ secret:key}}"}, True),
        (f"{reference('key')} {{{{SECRET}}}}", True),
        ({reference("key"): 1}, True),
        ([{"a": ({reference("key"): 1},)}], True),
        ([7, None], False),
    ],
)
def test_what_looks_like_a_reference_and_is_none_is_told_apart(value: Any, wrong: bool) -> None:
    assert malformed(value) is wrong


def test_a_call_may_refer_to_what_its_tool_may_have_and_to_nothing_else() -> None:
    vault = Vault([KEY, NET])
    assert refusal(vault, a_tool(), reference("key")) is None
    assert refusal(vault, NO_USE, "nothing") is None
    assert "other" in (refusal(vault, a_tool(), reference("other")) or "")
    for tool in (NO_USE, a_tool("look")):
        assert f"{tool.name}" in (refusal(vault, tool, reference("key")) or "")
        assert "key" in (refusal(vault, tool, reference("key")) or "")
    assert refusal(vault, a_tool(), ["{{secret:"]) is not None
    second = refusal(vault, a_tool(), [reference("key"), reference("other")])
    assert "other" in (second or ""), "every name counts, not only the first"


def test_a_call_that_holds_a_value_itself_is_refused() -> None:
    vault = Vault([KEY], redactor=Redactor({"key": "hunter2-hunter2"}))
    said = refusal(vault, a_tool(), ["x hunter2-hunter2"])
    assert said is not None
    assert "hunter2" not in said


def test_a_tool_may_object_to_the_secrets_of_a_call() -> None:
    seen: list[Any] = []

    def problem(arguments: Any, secrets: Any) -> str:
        seen.append((arguments.what, dict(secrets)))
        return "not there"

    assert refusal(Vault([KEY]), a_tool(problem=problem), reference("key")) == "not there"
    assert seen == [(reference("key"), {"key": KEY})]
    assert refusal(Vault([KEY]), a_tool(problem=problem), "none") is None


def test_a_model_is_told_of_the_secrets_that_a_tool_may_have() -> None:
    vault = Vault([KEY, NET])
    assert vault.told(a_tool()) == (
        " Secrets that it may refer to: {{secret:key}}, {{secret:net-key}} (api.example, b.example). Write it."
    )
    assert vault.told(a_tool("add")).count("{{") == 1
    assert vault.told(a_tool("look")) == vault.told(NO_USE) == ""


def test_what_a_secret_is_for_is_bound_and_its_value_is_not() -> None:
    vault = Vault([KEY, NET])
    bound = vault.bound({"what": [reference("key"), reference("net-key"), reference("other")]})
    assert bound == {"key": "act", "net-key": "a* (api.example, b.example)", "other": "gone"}


def test_values_are_given_to_the_tool_that_may_have_them() -> None:
    vault = Vault([KEY, NET])
    asked = {"what": [reference("key"), reference("net-key")]}
    assert vault.given(a_tool(), asked) == {"key": "hunter2", "net-key": "swordfish"}
    assert vault.given(NO_USE, {"what": 1}) == {}
    for tool in (NO_USE, a_tool("look"), a_tool("add")):
        with pytest.raises(NothingRan, match=f"(?s)key.*{tool.name}"):
            vault.given(tool, asked)


def test_a_secret_that_was_taken_away_is_given_to_nobody_from_then_on() -> None:
    vault = Vault([KEY])
    vault.replace([NET])
    assert refusal(vault, a_tool(), reference("key")) is not None
    with pytest.raises(NothingRan):
        vault.given(a_tool(), {"what": reference("key")})
    assert vault.given(a_tool(), {"what": reference("net-key")}) == {"net-key": "swordfish"}


def test_values_stand_in_the_arguments_only_where_the_tool_takes_them_so() -> None:
    asked, values = {"what": reference("key")}, {"key": "hunter2"}
    assert with_values(a_tool(in_arguments=True), asked, values) == {"what": "hunter2"}
    assert with_values(a_tool(in_arguments=True), asked, {}) == asked
    assert with_values(a_tool(), asked, values) == asked
    assert with_values(NO_USE, asked, values) == asked
