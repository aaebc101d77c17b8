"""The user's own agent: its gated tools become cards, policy gates the rest, and its answers stay its own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent

from bot.errors import SettingsError
from bot.policy_file import policy_rules
from bot.settings import Settings
from tests.agent import bakery
from tests.house import OWNER, House, Script, open_house

WHERE = "tests.agent.bakery:baker"
DEPS = "tests.agent.bakery:supplies"


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    bakery.OVEN.clear()
    yield
    if hasattr(bakery, "baker"):
        del bakery.baker


@asynccontextmanager
async def house_of(
    folder: Path,
    script: Script,
    *,
    rules: list[dict[str, Any]] | None = None,
    agent: Any = None,
    deps: str | None = DEPS,
) -> AsyncIterator[House]:
    bakery.baker = agent or bakery.build(script.model)  # type: ignore[attr-defined]
    settings = Settings(
        approver_users=frozenset({OWNER.id}),
        agent=WHERE,
        agent_deps=deps,
        policy=policy_rules(rules) if rules is not None else None,
    )
    async with open_house(folder, script, settings=settings) as house:
        yield house


async def test_a_tool_that_requires_approval_is_a_card_and_runs_once_with_its_own_dependencies(tmp_path: Path) -> None:
    script = Script([("bake", {"item": "rolls"})], "done")
    async with house_of(tmp_path, script) as house:
        await house.ask()
        (waiting,) = house.card[1].approvals
        assert (waiting.tool, waiting.arguments) == ("bake", {"item": "rolls", "pieces": 12})
        assert house.card[1].profiles == {"bake": "in-process, a tool of your own agent"}
        assert bakery.OVEN == []
        await house.decide("approve")
        assert bakery.OVEN == ["12 rolls for 2"]
        assert '{"rolls": 12}' in script.results()[0][1]


async def test_a_denied_call_does_not_run(tmp_path: Path) -> None:
    async with house_of(tmp_path, Script([("bake", {"item": "rolls"})], "ok")) as house:
        await house.ask()
        await house.decide("deny")
        assert bakery.OVEN == []


async def test_a_tool_that_asks_by_its_arguments_is_a_card_too_and_says_why(tmp_path: Path) -> None:
    script = Script([("sell", {"price": 3}), ("sell", {"price": 30})], "done")
    async with house_of(tmp_path, script) as house:
        await house.ask()
        assert bakery.OVEN == ["sold 3"]
        (waiting,) = house.card[1].approvals
        assert (waiting.arguments, waiting.reason) == ({"price": 30}, "price: 30")
        await house.decide("approve")
        assert bakery.OVEN == ["sold 3", "sold 30"]


async def test_policy_gates_a_tool_that_the_agent_leaves_open(tmp_path: Path) -> None:
    rules = [{"name": "no waste", "tool": "throw_away", "action": "ask"}]
    script = Script([("throw_away", {"item": "rolls"})], "done")
    async with house_of(tmp_path, script, rules=rules) as house:
        await house.ask()
        assert (bakery.OVEN, house.card[1].approvals[0].reason) == ([], "no waste")
        await house.decide("approve")
        assert bakery.OVEN == ["away rolls"]


async def test_a_tool_that_comes_through_a_capability_is_behind_the_gate_as_well(tmp_path: Path) -> None:
    rules = [{"name": "no fire", "tool": "set_fire", "action": "refuse"}]
    async with house_of(tmp_path, Script([("set_fire", {})], "ok"), rules=rules) as house:
        await house.ask()
        assert bakery.OVEN == []


async def test_our_own_tools_are_there_beside_its_own(tmp_path: Path) -> None:
    async with house_of(tmp_path, Script([("act", {"what": "a"}), ("flour", {"kind": "rye"})], "done")) as house:
        await house.ask()
        await house.decide("approve")
        assert house.bench.effects == ["a"]
        assert ("success", "rye is there") in house.script.results()


async def test_a_retry_of_the_tool_is_a_failed_result_for_the_model(tmp_path: Path) -> None:
    async with house_of(tmp_path, Script([("flour", {"kind": "moon dust"})], "sorry")) as house:
        await house.ask()
        assert house.script.results() == [("failed", "there is no such flour")]


async def test_a_call_whose_result_comes_later_waits_outside(tmp_path: Path) -> None:
    async with house_of(tmp_path, Script([("order", {"what": "salt"})], "done")) as house:
        await house.ask()
        (waiting,) = house.card[1].approvals
        assert (waiting.kind, waiting.reason) == ("external", "order: salt")


async def test_its_instructions_see_who_asked_and_ours_are_not_there(tmp_path: Path) -> None:
    script = Script("hello")
    async with house_of(tmp_path, script) as house:
        await house.ask(by="77")
        assert script.seen[0][-1].instructions == "You bake for 77."  # type: ignore[union-attr]


async def test_an_answer_of_its_output_type_is_shown_as_json(tmp_path: Path) -> None:
    script = Script([("final_result", {"item": "rolls", "pieces": 2})])
    async with house_of(tmp_path, script) as house:
        page = await house.ask()
        assert page.finished is not None
        assert json.loads(page.finished.removeprefix("```json\n").removesuffix("\n```")) == {
            "item": "rolls",
            "pieces": 2,
        }


async def test_arguments_that_its_tool_refuses_get_no_card(tmp_path: Path) -> None:
    script = Script([("bake", {"item": 3})], "sorry")
    async with house_of(tmp_path, script) as house:
        page = await house.ask()
        assert (page.finished, house.face.cards) == ("sorry", {})


async def test_what_was_approved_before_a_restart_runs_afterwards(tmp_path: Path) -> None:
    script = Script([("bake", {"item": "rolls"})], "done")
    async with house_of(tmp_path, script) as house:
        await house.ask()
        posted = house.card
    async with house_of(tmp_path, script) as house:
        house.face.cards[posted[0]] = posted[1]
        await house.decide("approve")
        assert bakery.OVEN == ["12 rolls for 2"]


@pytest.mark.parametrize(
    ("agent", "deps", "words"),
    [
        ("bakery", None, "package.module:name"),
        ("tests.agent.bakery:nobody", None, "cannot be found"),
        ("no.such.module:agent", None, "cannot be found"),
        ("tests.agent.bakery:OVEN", None, "is not a pydantic-ai Agent: tests.agent.bakery:OVEN is a list"),
        (WHERE, None, "takes dependencies"),
        (WHERE, "tests.agent.bakery:OVEN", "is not a function"),
    ],
)
async def test_an_agent_that_cannot_work_here_stops_the_start(
    agent: str, deps: str | None, words: str, tmp_path: Path
) -> None:
    script = Script()
    bakery.baker = bakery.build(script.model)  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match=words):
        async with open_house(tmp_path, script, settings=Settings(agent=agent, agent_deps=deps)):
            pass


async def test_a_tool_with_the_name_of_one_of_ours_stops_the_start(tmp_path: Path) -> None:
    script = Script()
    agent = bakery.build(script.model)
    agent.tool_plain(name="act")(lambda: "mine")
    with pytest.raises(SettingsError, match="the name of one of ours: act"):
        async with house_of(tmp_path, script, agent=agent):
            pass


async def test_an_agent_with_output_validators_has_to_name_the_pause(tmp_path: Path) -> None:
    script = Script()
    agent: Agent[None, str] = Agent(script.model)
    agent.output_validator(lambda output: output)
    with pytest.raises(SettingsError, match="put DeferredToolRequests into its output_type"):
        async with house_of(tmp_path, script, agent=agent, deps=None):
            pass


async def test_an_agent_is_found_in_the_folder_in_which_the_program_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_agent.py").write_text(
        "from pydantic_ai import Agent\n"
        "from pydantic_ai.models.test import TestModel\n"
        "agent = Agent(TestModel(call_tools=[]))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings = Settings(agent="my_own_agent:agent")
    async with open_house(tmp_path, Script(), settings=settings) as house:
        assert (await house.ask()).finished == "success (no tool calls)"


async def test_the_example_in_the_documentation_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "own-agent.md").read_text()
    example = text.split("```python\n")[1].split("```")[0].replace('"openai-chat:gpt-5", ', "")
    (tmp_path / "bakery_of_the_docs.py").write_text(example)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings = Settings(
        approver_users=frozenset({OWNER.id}),
        agent="bakery_of_the_docs:agent",
        agent_deps="bakery_of_the_docs:make_deps",
    )
    script = Script([("bake", {"item": "rolls"}), ("sell", {"price": 3}), ("sell", {"price": 30})], "done")
    async with open_house(tmp_path, script, settings=settings) as house:
        await house.ask()
        assert [call.tool for call in house.card[1].approvals] == ["bake", "sell"]
        await house.decide("approve", row=0)
        await house.decide("approve", row=1)
        texts = [text.splitlines()[-1] for _, text in script.results()]
        assert texts == ["12 rolls for 2", "sold", "sold"]
