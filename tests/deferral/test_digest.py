"""The digest covers everything that decides, and a difference can be named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.deferral.digest import action_digest, differences, surroundings
from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome


class OneArguments(Arguments):
    what: str


class OtherArguments(Arguments):
    what: int


async def body(arguments: Any, call: Call) -> ToolOutcome:
    return ToolOutcome(text="")


TOOL = Tool(name="act", description="Acts.", arguments=OneArguments, body=body, environment=("PATH", "HOME"))


def bound(tool: Tool = TOOL, **changes: Any) -> dict[str, Any]:
    return surroundings(tool, **{"workspace": "/w", "files": {"a.sh": "1 bytes, sha256 " + "0" * 64}, **changes})


def digest(bound_to: dict[str, Any], **changes: Any) -> str:
    whole = {"requester": "2", "place": "discord/9/90", "expires_at": 5, **changes}
    return action_digest("act", {"what": "x"}, bound_to, **whole)


CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "description": (bound(replace(TOOL, description="Does.")), "what the tool takes and says of itself changed"),
    "schema": (bound(replace(TOOL, arguments=OtherArguments)), "what the tool takes and says of itself changed"),
    "profile": (bound(replace(TOOL, profile="anything")), "what it may touch changed: in-process → anything"),
    "environment": (
        bound(replace(TOOL, environment=("PATH",))),
        "the environment variables it gets changed: HOME, PATH → PATH",
    ),
    "workspace": (bound(workspace="/v"), "the working directory changed: /w → /v"),
    "file": (bound(files={"a.sh": "absent"}), "a.sh changed: 1 bytes, sha256 000000000000 → absent"),
    "no file": (bound(files={}), "a.sh changed: 1 bytes, sha256 000000000000 → not bound"),
    "another part": ({**bound(), "server": "other"}, "server changed: none → other"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_every_change_around_a_call_changes_the_digest_and_is_named(what: str) -> None:
    now, named = CHANGED[what]
    assert digest(now) != digest(bound())
    assert differences(bound(), now) == [named]


@pytest.mark.parametrize("change", [{"requester": "3"}, {"place": "discord/9/91"}, {"expires_at": 6}])
def test_for_whom_where_and_until_when_are_part_of_the_digest(change: dict[str, Any]) -> None:
    assert digest(bound(), **change) != digest(bound())


def test_nothing_changed_is_no_difference_and_the_same_digest_whatever_the_order() -> None:
    turned = bound(replace(TOOL, environment=("HOME", "PATH")))
    assert differences(bound(), turned) == []
    assert digest(turned) == digest(bound())


def test_what_a_secret_is_for_is_named_when_that_changed() -> None:
    one, two = {"key": "act (a.example)"}, {"key": "act (b.example)", "other": "act"}
    [said] = differences({"secrets": one}, {"secrets": two})
    assert said.endswith(": key is for act (a.example) → key is for act (b.example), other is for act")
