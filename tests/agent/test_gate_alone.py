"""The gate without a model: which calls it runs, answers or lets wait, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest

from bot.agent.executions import Executions
from bot.agent.gate import BREAKER, Answered, Gate, RunDeps
from bot.deferral.calls import PendingToolCall
from bot.deferral.intent import action_key, intent_key
from bot.deferral.policy import RulePolicy
from bot.deferral.references import reference
from bot.deferral.tool import Call, SecretUse, Tool, ToolKind, ToolOutcome
from bot.deferral.vault import Vault
from bot.errors import ApprovalRequired, CallDeferred, RunStopped, TurnStopped
from bot.permits import Action, PolicyRule
from bot.secrets_file import NamedSecret
from storage.runs import Run
from tests.house import DoArguments, ManualClock
from tests.storage.rows import a_run

ARGS = {"what": "x"}


class Lab:
    """A gate over a few tools, whose screen and trail a test can read."""

    def __init__(self, *, ends: BaseException | None = None, rules: tuple[PolicyRule, ...] = (), **options: Any):
        self.ran: list[Call] = []
        self.screened: list[tuple[str | None, str]] = []
        self.earlier: str | None = None
        self.recorded: list[tuple[str, Mapping[str, Any], str, str]] = []
        self.nobody: str | None = None

        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.ran.append(call)
            if ends is not None:
                raise ends
            return ToolOutcome(text=f"did {arguments.what}", ok=arguments.what != "bad")

        async def screen(run: Run, intent: str | None, action: str) -> str | None:
            self.screened.append((intent, action))
            return self.earlier

        async def record(
            run: Run, tool: str, args: Mapping[str, Any], rule: str, what: Literal["allowed", "refused"]
        ) -> None:
            self.recorded.append((tool, dict(args), rule, what))

        use = SecretUse(how="Write it.")
        made = [
            Tool(name="act", description="", arguments=DoArguments, body=body, secrets=use),
            Tool(name="look", description="", arguments=DoArguments, body=body, gated=False, secrets=use),
            Tool(name="ask", description="", arguments=DoArguments, body=body, kind=ToolKind.QUESTION),
            Tool(name="job", description="", arguments=DoArguments, body=body, kind=ToolKind.EXTERNAL, gated=False),
        ]
        self.tools = {tool.name: tool for tool in made}
        self.gate = Gate(
            self.tools,
            policy=RulePolicy(rules),
            clock=ManualClock(),
            screen=screen,
            nobody_can_decide=lambda run, tool: self.nobody,
            mask=str,
            **{"record": record, **options},
        )
        self.deps = RunDeps(a_run(), tools=dict(self.tools))

    async def decide(self, name: str, args: dict[str, Any] | None = None) -> Answered | PendingToolCall:
        return await self.gate.decide(name, args or ARGS, call_id="c1", deps=self.deps)


def rule(tool: str, action: Action) -> PolicyRule:
    return PolicyRule(name="the rule", tool=tool, action=action)


def text(answer: Answered | PendingToolCall) -> str:
    assert isinstance(answer, Answered)
    return answer.text


async def test_what_only_looks_runs_and_what_acts_waits_with_its_keys() -> None:
    lab = Lab()
    assert await lab.decide("look") == Answered("did x")
    assert await lab.decide("look", {"what": "bad"}) == Answered("did bad", "failed")
    [one, _] = lab.ran
    assert (one.id, one.approved, one.secrets) == ("c1", False, {})
    assert (one.run, one.conversation, one.place, one.requester) == ("run1", "talk", "discord/9/90", "2")
    assert await lab.decide("act") == PendingToolCall(
        call_id="c1",
        tool_name="act",
        args=ARGS,
        reason="act needs a person's sign-off",
        kind=ToolKind.APPROVAL,
        intent=intent_key("talk", "request of run1", "act", ARGS),
        action=action_key("act", ARGS),
    )
    assert lab.deps.turned_away == 0
    assert lab.recorded == [], "what runs ungated is no decision of a rule"


@pytest.mark.parametrize(("name", "kind"), [("ask", ToolKind.QUESTION), ("job", ToolKind.EXTERNAL)])
async def test_a_question_and_a_job_elsewhere_wait_without_a_reason_and_without_anybody_to_decide(
    name: str, kind: ToolKind
) -> None:
    lab = Lab(rules=(rule("*", "allow"),))
    lab.nobody = "Nobody can decide."
    found = await lab.decide(name)
    assert isinstance(found, PendingToolCall)
    assert (found.kind, found.reason, lab.ran) == (kind, "", [])


async def test_a_tool_that_went_or_became_another_since_the_stretch_began_does_not_run() -> None:
    lab = Lab()
    lab.tools["look"] = replace(lab.tools["look"], description="Looks elsewhere now.")
    del lab.tools["act"]
    lab.tools["new"] = lab.tools["job"]
    assert sorted(lab.gate.offered(lab.deps)) == ["ask", "job"]
    for name in ("look", "act", "new", "unheard_of"):
        assert text(await lab.decide(name)).startswith(f"Not run: the tool {name} is not there any more")
        assert not lab.gate.would_run(name, ARGS, lab.deps)
    assert (lab.ran, lab.deps.turned_away) == ([], 0)


async def test_a_tool_that_is_off_is_not_offered_and_a_call_of_it_is_told_why() -> None:
    lab = Lab()
    lab.tools["look"] = replace(lab.tools["look"], missing=lambda: "no sandbox here.")
    lab.tools["act"] = replace(lab.tools["act"], missing=lambda: "")
    lab.deps.tools = await lab.gate.tools()
    assert sorted(lab.gate.offered(lab.deps)) == ["act", "ask", "job"]
    assert text(await lab.decide("look")) == (
        "Not run, and nobody was asked: the tool look is off here: no sandbox here."
    )
    assert (lab.ran, lab.deps.turned_away) == ([], 1)


async def test_beyond_so_many_calls_of_a_batch_people_are_not_asked_and_the_model_is_told() -> None:
    lab = Lab(most_at_once=1)
    assert isinstance(await lab.decide("act"), PendingToolCall)
    assert text(await lab.decide("act", {"what": "y"})).startswith("Not asked, and not run: people are asked about 1 ")
    [left_out] = lab.deps.left_out
    assert (left_out.args, left_out.action) == ({"what": "y"}, action_key("act", {"what": "y"}))
    assert lab.deps.turned_away == 0


async def test_no_call_of_a_batch_runs_that_names_a_tool_nobody_has() -> None:
    lab = Lab()
    lab.deps.unknown = ("fly", "swim")
    assert "tools that do not exist (fly, swim)" in text(await lab.decide("look"))
    assert not lab.gate.would_run("look", ARGS, lab.deps)
    assert lab.ran == []


@pytest.mark.parametrize("options", [{}, {"record": None}])
async def test_what_a_rule_refuses_does_not_run_and_the_model_is_told_which(options: dict[str, Any]) -> None:
    lab = Lab(rules=(rule("look", "refuse"),), **options)
    assert text(await lab.decide("look")) == "Policy refuses this call: the rule. It did not run."
    assert lab.recorded == ([] if options else [("look", ARGS, "the rule", "refused")])
    assert (lab.ran, lab.deps.turned_away) == ([], 1)


@pytest.mark.parametrize("options", [{}, {"record": None}])
async def test_what_a_rule_allows_runs_and_is_on_the_trail(options: dict[str, Any]) -> None:
    lab = Lab(rules=(rule("act", "allow"),), **options)
    assert await lab.decide("act") == Answered("did x")
    assert lab.recorded == ([] if options else [("act", ARGS, "the rule", "allowed")])


async def test_a_call_that_uses_a_secret_is_asked_about_even_where_a_rule_allows_it() -> None:
    lab = Lab(rules=(rule("*", "allow"),), vault=Vault([NamedSecret(name="key", tools=("*",), value="v")]))
    args = {"what": reference("key")}
    for name in ("act", "look"):
        found = await lab.decide(name, args)
        assert isinstance(found, PendingToolCall)
        assert found.reason == "it uses the secret key"
        assert not lab.gate.would_run(name, args, lab.deps)
    assert lab.ran == []


async def test_a_call_with_a_secret_that_there_is_not_is_answered_with_those_there_are() -> None:
    lab = Lab(vault=Vault([NamedSecret(name="key", tools=("*",), value="v")]))
    told = text(await lab.decide("act", {"what": reference("other")}))
    assert told.startswith("Not run. ")
    assert "{{secret:key}}" in told
    assert lab.deps.turned_away == 1


async def test_a_call_that_this_request_already_had_is_answered_whether_it_would_run_or_wait() -> None:
    lab = Lab(rules=(rule("job", "allow"),))
    lab.earlier = "It ran already."
    for name in ("look", "act", "job"):
        assert text(await lab.decide(name)) == "It ran already."
    assert (lab.ran, lab.deps.turned_away, lab.deps.deferred) == ([], 3, set())
    assert lab.screened[0] == (intent_key("talk", "request of run1", "look", ARGS), action_key("look", ARGS))


async def test_the_same_action_is_asked_about_once_in_a_batch() -> None:
    lab = Lab()
    assert isinstance(await lab.decide("act"), PendingToolCall)
    assert "already being asked about" in text(await lab.decide("act"))
    assert isinstance(await lab.decide("act", {"what": "y"}), PendingToolCall)
    assert lab.deps.deferred == {action_key("act", ARGS), action_key("act", {"what": "y"})}


async def test_where_nobody_could_decide_the_model_is_told_so_in_place_of_a_card() -> None:
    lab = Lab()
    lab.nobody = "Nobody can decide."
    assert text(await lab.decide("act")) == "Nobody can decide."
    assert (lab.screened, lab.deps.turned_away, lab.deps.deferred) == ([], 1, set())


async def test_a_tool_may_ask_or_wait_by_itself_after_it_was_allowed() -> None:
    found = await Lab(ends=ApprovalRequired("it is large")).decide("look")
    assert isinstance(found, PendingToolCall)
    assert (found.kind, found.reason) == (ToolKind.APPROVAL, "it is large")
    found = await Lab(ends=CallDeferred("job 7")).decide("look")
    assert isinstance(found, PendingToolCall)
    assert (found.kind, found.reason) == (ToolKind.EXTERNAL, "job 7")


async def test_a_tool_that_stops_the_run_is_noted_and_not_raised() -> None:
    stop = RunStopped("enough")
    lab = Lab(ends=stop)
    assert text(await lab.decide("look")) == "The run was stopped by this call."
    assert lab.deps.stopped == {"c1": stop}


async def test_a_run_that_has_used_up_its_calls_runs_no_more() -> None:
    lab = Lab()
    lab.deps.executions = Executions(1)
    assert await lab.decide("look") == Answered("did x")
    assert text(await lab.decide("look", {"what": "y"})).startswith("Not run: this run has used up")
    assert len(lab.ran) == 1


async def test_a_model_that_keeps_coming_back_ends_the_turn_and_asks_no_more() -> None:
    lab = Lab(rules=(rule("look", "refuse"),))
    for n in range(1, BREAKER + 1):
        assert lab.deps.stopped == {}
        await lab.decide("look")
        assert lab.deps.turned_away == n
    assert isinstance(lab.deps.stopped["c1"], TurnStopped)
    assert text(await lab.decide("act")) == "Not asked: this request has been refused often enough."
    assert lab.screened == []


async def test_only_what_would_be_allowed_would_run() -> None:
    lab = Lab(rules=(rule("job", "allow"),))
    assert [name for name in lab.tools if lab.gate.would_run(name, ARGS, lab.deps)] == ["look"]
