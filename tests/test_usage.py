"""What the model takes is counted with the step that it belongs to; a budget that is spent says so, and stops nothing
else.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from bot.accounts import Accounts
from bot.agent.metering import taken
from bot.agent.offline import offline_model
from bot.budgets import Budget, Budgets, Used, accounts, cost_words, dollars, free_again, spent_words
from bot.deferral.calls import ModelCall
from bot.errors import DecisionRefused, SettingsError
from bot.settings import Settings
from bot.surface import TurnContext
from storage import runs
from storage.usage import Sum
from tests.faults import FaultyDatabase
from tests.house import OWNER, PLACE, Bench, House, ManualClock, Page, Script, open_house
from tests.test_jobs import Gate, asked, until_began

LOOK = [("look", {"what": "a"})]
ACT = [("act", {"what": "paint"})]
ELSEWHERE = "discord/8/80"
PRIVATE = "discord/@me/70"


class Paid(Script):
    """A scripted model of which every answer takes 100 tokens, at the price of a model on the list."""

    name = "gpt-4o-mini"
    silent = False

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, stream_function=self._stream, model_name=self.name)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = super()._answer(messages, info)
        silent = RequestUsage(unmeasured_requests=1)
        answer.usage = silent if self.silent else RequestUsage(input_tokens=90, output_tokens=10)
        return answer


def limited(**budgets: Any) -> Settings:
    # Whole answers: the stand-in for a stream counts words, and these sentences count tokens.
    return Settings(approver_users=frozenset({OWNER.id}), streaming=False, **budgets)


async def used(house: House) -> list[dict[str, Any]]:
    return await house.rows("SELECT * FROM usage ORDER BY at, id")


async def days(house: House) -> list[dict[str, Any]]:
    return await house.rows("SELECT person, space, calls, input_tokens + output_tokens AS tokens FROM usage_day")


# -- counting -----------------------------------------------------------------------------------


async def test_each_call_of_the_model_is_stored_with_whom_it_was_for_and_what_it_took(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid(LOOK, "Seen."), settings=limited()) as house:
        await house.ask()
        first, last = await used(house)
        run = (await house.rows("SELECT id, conversation FROM run"))[0]
        assert (first["run"], first["conversation"]) == (run["id"], run["conversation"])
        assert (first["person"], first["place"], first["channel"], first["space"]) == ("2", PLACE, PLACE, "9")
        assert (first["model"], first["input_tokens"], first["output_tokens"]) == ("gpt-4o-mini", 90, 10)
        assert (first["tool_calls"], last["tool_calls"]) == (1, 0)
        assert first["cost_micros"] == 20  # $0.15 and $0.60 for a million tokens: 19.5 millionths, rounded up
        assert await days(house) == [{"person": "2", "space": "9", "calls": 2, "tokens": 200}]


async def test_a_call_is_stored_with_its_step_before_the_tools_of_that_step_run(tmp_path: Path) -> None:
    counts: list[int] = []

    class Watching(Bench):
        def tools(self) -> Any:
            tools = super().tools()

            async def look(arguments: Any, call: Any) -> Any:
                counts.append(len(await used(house)))
                return await plain(arguments, call)

            (there,) = [tool for tool in tools if tool.name == "look"]
            plain = there.body
            return [tool for tool in tools if tool.name != "look"] + [type(there)(**{**vars(there), "body": look})]

    async with open_house(tmp_path, Paid(LOOK, "Seen."), settings=limited(), bench=Watching()) as house:
        await house.ask()
    assert counts == [1]


async def test_a_restart_in_the_middle_of_a_job_counts_no_call_twice_and_loses_none(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Paid(LOOK), settings=limited(), bench=gate) as house:
        started = await house.app.engine.start_job(asked())
        await until_began(gate)
        await house.app.engine.stop(grace=0)
    async with open_house(tmp_path, Paid("Seen."), settings=limited(), ids="later") as house:
        await house.app.background.idle()
        assert [one["tool_calls"] for one in await used(house) if one["run"] == started.id] == [1, 0]
        [job] = await house.rows("SELECT input_tokens, output_tokens, cost_micros FROM job")
        assert job == {"input_tokens": 180, "output_tokens": 20, "cost_micros": 40}


async def test_what_a_stopped_turn_took_is_counted_all_the_same(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Paid(LOOK), settings=limited(), bench=gate) as house:
        turn = asyncio.ensure_future(house.ask())
        await until_began(gate)
        [run] = await house.rows("SELECT id FROM run")
        stored = await runs.get(house.app.database.reader, run["id"])
        assert stored is not None
        async with house.app.database.begin("end it") as tx:
            await tx.execute("UPDATE run SET state = 'cancelled', ended_at = 1 WHERE id = ?", run["id"])
        gate.go.set()
        await turn
        await house.app.engine.sweep()
        assert len(await used(house)) == len(house.script.seen)


async def test_a_commit_that_failed_takes_nothing_away_and_adds_nothing(tmp_path: Path) -> None:
    database = FaultyDatabase()
    database.failing["keep step"] = 1
    async with open_house(tmp_path, Paid(LOOK, "Seen."), settings=limited(), open_db=database.open) as house:
        await house.ask()
        await house.app.engine.sweep()
        assert len(await used(house)) == 2
        assert (await days(house))[0]["calls"] == 2


async def test_what_no_commit_took_along_is_written_by_the_sweep_once_nobody_works_on_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One."), settings=limited()) as house:
        await house.ask()
        [row] = await house.rows("SELECT id FROM run")
        run = await runs.get(house.app.database.reader, row["id"])
        assert run is not None
        book = Accounts(database=house.app.database, clock=house.clock, boot="other")
        book.meter(run).after(ModelCall(model="m", input_tokens=1, output_tokens=1))
        await book.settle()
        assert len(await used(house)) == 1
        book.forget(run.id)
        for _ in range(2):  # the second time finds it stored
            await book.settle()
            assert len(await used(house)) == 2


async def test_a_turn_in_a_thread_counts_for_the_channel_above_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("Hello."), settings=limited()) as house:
        ctx = TurnContext(
            conversation="t", place="discord/9/95", within="90", requester="2", request="r", prompt="hello"
        )
        await house.app.engine.take_turn(ctx, Page())
        [one] = await used(house)
        assert (one["place"], one["channel"]) == ("discord/9/95", "discord/9/90")


def test_the_offline_model_costs_nothing_and_a_model_that_is_not_on_the_list_has_no_known_price() -> None:
    usage = RequestUsage(input_tokens=5, output_tokens=5)
    offline = ModelResponse(parts=[TextPart("x")], model_name="offline", usage=usage)
    unknown = ModelResponse(parts=[TextPart("x")], model_name="qwen3", provider_name="ollama", usage=usage)
    assert taken(offline).cost_micros == 0
    assert (taken(unknown).cost_micros, taken(unknown).model) == (None, "ollama:qwen3")
    assert cost_words(Sum(calls=1)) == "no cost"
    assert cost_words(Sum(calls=2, unpriced=2)) == "price unknown"
    assert cost_words(Sum(calls=2, unpriced=1, cost_micros=20_000)) == (
        "about $0.02, and 1 of 2 calls with an unknown price"
    )


def test_an_answer_without_any_tokens_is_one_that_nobody_measured() -> None:
    silent = ModelResponse(parts=[ToolCallPart("look", {})], model_name="gpt-4o", provider_name="openai")
    assert not taken(silent).measured


def test_small_amounts_are_shown_and_do_not_round_to_nothing() -> None:
    assert [dollars(micros) for micros in (0, 20, 9_999, 10_000, 2_500_000, 1_234_560_000)] == [
        "$0.00",
        "$0.00002",
        "$0.009999",
        "$0.01",
        "$2.50",
        "$1,234.56",
    ]


# -- budgets ------------------------------------------------------------------------------------


async def test_who_has_spent_their_budget_is_told_when_it_is_free_again_and_who_can_raise_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One.", "Two."), settings=limited(tokens_per_person=100)) as house:
        assert (await house.ask(request="r1")).finished == "One."
        page = await house.ask(request="r2")
        at = free_again(house.clock.now()) // 1000
        assert page.finished == (
            "Your budget of 100 tokens for today is spent, so I did not ask the model. It is free again"
            f" <t:{at}:R> (<t:{at}:t>). Whoever runs this bot can raise it (SIGNOFF_TOKENS_PER_PERSON). What waits for"
            " a decision can still be decided."
        )
        assert len(house.script.seen) == 1
        assert '"why": "budget_spent"' in (await house.rows("SELECT detail FROM audit ORDER BY n DESC"))[0]["detail"]
        assert (await house.ask(request="r3", by="3")).finished == "Two."


async def test_a_new_day_begins_with_nothing_used(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One.", "Two."), settings=limited(tokens_per_person=100)) as house:
        await house.ask(request="r1")
        house.clock.at = free_again(house.clock.now()) - 1
        assert "is spent" in str((await house.ask(request="r2")).finished)
        house.clock.at += 1
        assert (await house.ask(request="r3")).finished == "Two."


async def test_what_was_used_before_a_restart_counts_after_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One."), settings=limited(tokens_per_person=100)) as house:
        await house.ask()
    async with open_house(tmp_path, Paid("Two."), settings=limited(tokens_per_person=100), ids="later") as house:
        assert "is spent" in str((await house.ask(request="r2")).finished)


async def test_a_guilds_budget_is_everybodys_there_and_nobodys_elsewhere(tmp_path: Path) -> None:
    settings = limited(tokens_per_guild=100)
    async with open_house(tmp_path, Paid("One.", "Two.", "Three."), settings=settings) as house:
        await house.ask(request="r1")
        told = str((await house.ask(request="r2", by="3")).finished)
        assert told.startswith("This server's budget of 100 tokens for today is spent")
        assert "SIGNOFF_TOKENS_PER_GUILD" in told
        assert (await house.ask(request="r3", place=ELSEWHERE, conversation="e")).finished == "Two."
        assert (await house.ask(request="r4", place=PRIVATE, conversation="p")).finished == "Three."


async def test_a_budget_in_calls_of_tools_needs_no_tokens_and_no_price(tmp_path: Path) -> None:
    script = Paid(LOOK, "never said", "Hello.")
    script.silent = True
    async with open_house(tmp_path, script, settings=limited(calls_per_person=1)) as house:
        told = str((await house.ask(request="r1")).finished)
        assert "Your budget of 1 call of a tool for today is spent" in told
        assert "SIGNOFF_CALLS_PER_PERSON" in told
        assert len(script.seen) == 1
    async with open_house(tmp_path, Paid(LOOK), settings=limited(calls_per_guild=1), ids="later") as house:
        told = str((await house.ask(request="r2", by="3")).finished)
        assert "This server's budget of 1 call of a tool for today is spent" in told


async def test_a_budget_in_dollars_is_counted_by_the_list_of_prices(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One.", "Two."), settings=limited(cost_per_person="0.00002")) as house:
        await house.ask(request="r1")
        told = str((await house.ask(request="r2")).finished)
        assert "Your budget of $0.00002 for today is spent" in told
        assert "SIGNOFF_COST_PER_PERSON" in told


async def test_a_turn_whose_budget_runs_out_ends_before_its_next_call_and_says_so(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid(LOOK, "Seen."), settings=limited(tokens_per_person=100)) as house:
        page = await house.ask()
        assert "Your budget of 100 tokens for today is spent" in str(page.finished)
        assert house.bench.looks == ["a"]
        assert len(house.script.seen) == 1
        assert await house.rows("SELECT state FROM run") == [{"state": "failed"}]
        assert len(await used(house)) == 1


async def test_the_users_own_agent_is_asked_no_more_either(tmp_path: Path) -> None:
    from tests.agent import bakery

    script = Paid([("flour", {"kind": "rye"})], "Baked.")
    bakery.baker = bakery.build(script.model)  # type: ignore[attr-defined]
    settings = limited(tokens_per_person=100).model_copy(
        update={"agent": "tests.agent.bakery:baker", "agent_deps": "tests.agent.bakery:supplies"}
    )
    try:
        async with open_house(tmp_path, script, settings=settings) as house:
            page = await house.ask()
            assert "Your budget of 100 tokens for today is spent" in str(page.finished)
            assert len(script.seen) == len(await used(house)) == 1
    finally:
        del bakery.baker  # type: ignore[attr-defined]


async def test_a_job_whose_budget_runs_out_ends_truthfully_and_none_is_begun(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid(LOOK, "Seen."), settings=limited(tokens_per_person=100)) as house:
        job = await house.app.engine.start_job(asked())
        await house.app.background.idle()
        ended = await runs.get(house.app.database.reader, job.id)
        assert ended is not None
        assert ended.state == "failed"
        assert await house.rows("SELECT input_tokens, cost_micros FROM job") == [
            {"input_tokens": 90, "cost_micros": 20}
        ]
        assert any(
            f"Job `{job.id}` failed: Your budget of 100 tokens for today is spent" in said.text
            for said in house.face.said
        )
        with pytest.raises(DecisionRefused, match="Your budget of 100 tokens for today is spent"):
            await house.app.engine.start_job(asked("another"))
        assert await house.rows("SELECT count(*) AS n FROM job") == [{"n": 1}]


async def test_what_waits_for_a_decision_can_still_be_decided_and_runs(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid(ACT, "Painted."), settings=limited(tokens_per_person=100)) as house:
        page = await house.ask()
        assert "is spent" in str((await house.ask(request="r2", conversation="other")).finished)
        await house.decide("approve")
        assert house.bench.effects == ["paint"]
        assert await house.rows("SELECT state FROM approval") == [{"state": "succeeded"}]
        assert "Your budget of 100 tokens for today is spent" in str(page.finished)


async def test_of_turns_at_once_each_overdraws_by_the_call_it_is_in_and_no_more(tmp_path: Path) -> None:
    class Slow(Paid):
        def __init__(self) -> None:
            super().__init__(*[LOOK] * 40)
            self.asked = 0
            self.go = asyncio.Event()

        @property
        def model(self) -> FunctionModel:
            async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
                self.asked += 1
                await self.go.wait()
                return self._answer(messages, info)

            return FunctionModel(answer, model_name=self.name)

    async with open_house(tmp_path, Slow(), settings=limited(tokens_per_person=100)) as house:
        turns = [
            asyncio.ensure_future(house.ask(request=f"r{number}", conversation=f"c{number}")) for number in range(5)
        ]
        while house.script.asked < 5:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        house.script.go.set()  # type: ignore[attr-defined]
        pages = await asyncio.gather(*turns)
        assert len(await used(house)) == 5
        assert all("is spent" in str(page.finished) for page in pages)


async def test_a_budget_in_dollars_for_a_model_without_a_known_price_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"price of this model is not known\. Set SIGNOFF_TOKENS_PER_GUILD"):
        async with open_house(tmp_path, Script(), settings=limited(cost_per_guild=1)):
            pass


async def test_the_offline_model_keeps_any_budget_in_dollars(tmp_path: Path) -> None:
    class Offline(Script):
        @property
        def model(self) -> FunctionModel:
            return offline_model()

    async with open_house(tmp_path, Offline(), settings=limited(cost_per_person=1)) as house:
        await house.ask(request="r1")
        assert "is spent" not in str((await house.ask(request="r2")).finished)
        assert {one["cost_micros"] for one in await used(house)} == {0}


async def test_a_provider_that_says_no_tokens_is_not_asked_on_under_a_budget(tmp_path: Path) -> None:
    script = Paid("One.", "Two.")
    script.silent = True
    async with open_house(tmp_path, script, settings=limited(tokens_per_person=100)) as house:
        await house.ask(request="r1")
        assert "does not say how many tokens" in str((await house.ask(request="r2")).finished)
        assert len(script.seen) == 1


async def test_a_price_that_turns_out_unknown_stops_what_has_a_budget_in_dollars_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, Paid(), settings=limited()) as house:
        own = {"9": Budgets(guild=Budget(cost_micros=100))}
        book = Accounts(
            database=house.app.database,
            clock=ManualClock(),
            boot="b",
            of_guild=lambda guild: own.get(guild, Budgets()),
        )
        await house.ask()
        [run] = await house.rows("SELECT id FROM run")
        stored = await runs.get(house.app.database.reader, run["id"])
        assert stored is not None
        book.meter(stored).after(ModelCall(model="ollama:qwen3", input_tokens=1, output_tokens=1))
        assert "the price of the model `ollama:qwen3` is not known" in str(book.refusal("2", "9"))
        assert book.refusal("2", "8") is None


def test_a_guilds_own_budget_counts_beside_the_files_and_only_narrows() -> None:
    file = Budgets(person=Budget(tokens=1_000), guild=Budget(tokens=5_000))
    own = Budgets(person=Budget(tokens=50), guild=Budget(tokens=9_999_999))
    somewhere = Used(person=Sum(input_tokens=900), here=Sum(input_tokens=50), space=Sum(input_tokens=6_000))
    found = accounts(file, own, somewhere, space="9")
    assert [(one.whose, one.set_by, one.tokens_left) for one in found] == [
        ("person", "file", 100),
        ("person", "guild", 0),
        ("guild", "file", 0),
        ("guild", "guild", 9_993_999),
    ]
    told = spent_words(found[1], now=0)
    assert "Your budget of 50 tokens for today in this server is spent" in told
    assert "Who manages this server can raise it with `/settings`." in told
    assert [one.whose for one in accounts(file, own, somewhere, space="@me")] == ["person"]
    assert [one.calls_left for one in accounts(Budgets(person=Budget(calls=3)), own, somewhere, space="@me")] == [3]


async def test_single_calls_are_forgotten_after_weeks_by_the_running_house(tmp_path: Path) -> None:
    async with open_house(tmp_path, Paid("One."), settings=limited()) as house:
        await house.ask()
        await house.later(seconds=36 * 86_400)
        assert await used(house) == []
        assert (await days(house))[0]["calls"] == 1
