"""The gate: what a model emits becomes a run, a card or an answer, and nothing it emits gets past unread."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from bot.deferral.tool import Arguments, Call, Tool, ToolOutcome
from bot.errors import NothingRan
from bot.settings import Settings
from tests.house import OWNER, Bench, DoArguments, House, Script, open_house


class Rich(Arguments):
    """Arguments of every kind."""

    text: str
    number: int = 7
    ratio: float = 0.5
    flags: list[bool] = []
    note: str | None = None
    nested: dict[str, int] = Field(default_factory=dict)


class Tools(Bench):
    """A gated and a free tool with rich arguments, and free ones that end in their own ways."""

    def __init__(self, ends: BaseException | ToolOutcome | None = None) -> None:
        super().__init__()
        self.got: list[Any] = []
        self.ends = ends

    def tools(self) -> list[Tool]:
        async def body(arguments: Any, call: Call) -> ToolOutcome:
            self.got.append(arguments)
            if isinstance(self.ends, BaseException):
                raise self.ends
            return self.ends or ToolOutcome(text="ok")

        return [
            *super().tools(),
            Tool(name="rich", description="Rich.", arguments=Rich, body=body),
            Tool(name="free", description="Free.", arguments=Rich, body=body, gated=False),
        ]


def raw(name: str, arguments: object) -> Any:
    """A step that emits one call with its arguments as they stand, a text or an object."""
    return [(name, arguments)]


async def told(house: House, turn: int = -1) -> list[tuple[str, str]]:
    return house.script.results(turn)


# -- arguments ----------------------------------------------------------------------------------

BAD = {
    "a name twice": '{"text": "a", "text": "b"}',
    "a name twice, spelt differently": '{"text": "a", "te\\u0078t": "b"}',
    "a name twice, deep inside": '{"text": "a", "nested": {"x": 1, "x": 2}}',
    "not a number": '{"text": "a", "ratio": NaN}',
    "infinity": '{"text": "a", "ratio": Infinity}',
    "minus infinity": '{"text": "a", "ratio": -Infinity}',
    "a number too large to be one": '{"text": "a", "ratio": 1e999}',
    "half a character": '{"text": "\\ud800"}',
    "an unknown name": '{"text": "a", "force": true}',
    "a missing name": "{}",
    "nothing": "",
    "null": "null",
    "a list": '["a"]',
    "a text": '"a"',
    "cut off": '{"text": "a',
    "more behind it": '{"text": "a"} {"text": "b"}',
    "words around it": 'Sure! {"text": "a"}',
    "single quotes": "{'text': 'a'}",
    "a comment": '{"text": "a" /* b */}',
    "a comma too many": '{"text": "a",}',
    "a number for a text": '{"text": 1}',
    "a text for a number": '{"text": "a", "number": "7"}',
    "a fraction for a whole number": '{"text": "a", "number": 7.5}',
    "a number for a flag": '{"text": "a", "flags": [1]}',
    "too deep to be read": '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a number of too many digits": '{"text": "a", "number": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("tool", ["rich", "free"])
@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
async def test_arguments_that_cannot_be_read_in_one_way_go_back_to_the_model_and_nothing_is_asked_or_run(
    tmp_path: Path, arguments: str, tool: str, streaming: bool
) -> None:
    bench = Tools()
    settings = Settings(approver_users=frozenset({OWNER.id}), streaming=streaming)
    script = Script(raw(tool, arguments), "I give up.")
    async with open_house(tmp_path, script, bench=bench, settings=settings) as house:
        page = await house.ask()
        assert page.finished == "I give up."
        assert (bench.got, house.face.cards) == ([], {})
        [(outcome, _)] = await told(house)
        assert outcome == "retried"


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "a", "ratio": float("nan")},
        {"text": "a", "ratio": float("inf")},
        {"text": "\ud800"},
        {"text": 1},
        {"text": "a", "force": True},
        {},
    ],
    ids=str,
)
async def test_a_provider_that_hands_over_an_object_gets_no_more_past_than_one_that_hands_over_a_text(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    bench = Tools()
    settings = Settings(approver_users=frozenset({OWNER.id}), streaming=False)
    async with open_house(tmp_path, Script(raw("rich", arguments), "No."), bench=bench, settings=settings) as house:
        page = await house.ask()
        assert page.finished is not None
        assert house.face.cards == {}


async def test_the_model_may_correct_itself_and_only_the_correct_call_is_asked(tmp_path: Path) -> None:
    bench = Tools()
    script = Script(raw("rich", BAD["a name twice"]), raw("rich", {"text": "right"}), "Done.")
    async with open_house(tmp_path, script, bench=bench) as house:
        page = await house.ask()
        [call] = house.card[1].approvals
        assert call.arguments["text"] == "right"
        await house.decide("approve")
        assert [one.text for one in bench.got] == ["right"]
        assert page.finished == "Done."
        assert [outcome for outcome, _ in await told(house)] == ["retried", "success"]


async def test_a_model_that_never_gets_them_right_ends_the_turn_with_a_word(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(*[raw("rich", "{}")] * 10), bench=Tools()) as house:
        page = await house.ask()
        assert "makes no sense" in (page.finished or "")
        assert len(house.script.seen) == 3


async def test_what_is_shown_bound_and_run_is_complete_with_every_default(tmp_path: Path) -> None:
    bench = Tools()
    async with open_house(tmp_path, Script(raw("rich", '{"text":"a"}'), "Done."), bench=bench) as house:
        await house.ask()
        [call] = house.card[1].approvals
        whole = {"text": "a", "number": 7, "ratio": 0.5, "flags": [], "note": None, "nested": {}}
        assert call.arguments == whole
        await house.decide("approve")
        assert [one.model_dump() for one in bench.got] == [whole]


async def test_whether_a_default_was_written_out_makes_no_other_action(tmp_path: Path) -> None:
    batch = [("rich", '{"text": "a"}'), ("rich", '{"number": 7, "text": "a"}'), ("rich", '{"text": "a", "number": 8}')]
    script: Any = Script(batch, "Done.")  # type: ignore[arg-type]
    async with open_house(tmp_path, script, bench=Tools()) as house:
        await house.ask()
        assert [call.arguments["number"] for call in house.card[1].approvals] == [7, 8]


@pytest.mark.parametrize("text", ["", " ", "\0", "\u202e", "a" * 50_000, "\U0001f600", "```", "</tool>", "\r\n"])
async def test_any_text_that_is_one_reaches_the_body_as_it_was_shown(tmp_path: Path, text: str) -> None:
    bench = Tools()
    async with open_house(tmp_path, Script(raw("rich", {"text": text}), "Done."), bench=bench) as house:
        await house.ask()
        assert house.card[1].approvals[0].arguments["text"] == text
        await house.decide("approve")
        assert [one.text for one in bench.got] == [text]


# -- one batch ----------------------------------------------------------------------------------


async def test_a_gated_call_leaves_before_its_body_and_an_allowed_one_runs(tmp_path: Path) -> None:
    bench = Tools()
    async with open_house(tmp_path, Script([("free", {"text": "a"}), ("rich", {"text": "b"})]), bench=bench) as house:
        await house.ask()
        assert [one.text for one in bench.got] == ["a"]
        assert [call.arguments["text"] for call in house.card[1].approvals] == ["b"]


@pytest.mark.parametrize(
    ("ends", "told_of_it"),
    [
        (RuntimeError("bang"), "The tool failed: RuntimeError: bang"),
        (NothingRan("no sandbox"), "It could not start, so nothing ran: no sandbox"),
        (ToolOutcome(text="exit code 2", ok=False), "exit code 2"),
        (asyncio.CancelledError(), "The tool failed"),
        (StopIteration(), "The tool failed"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("free_first", [True, False])
async def test_a_sibling_that_fails_is_told_as_that_and_does_not_lose_the_pause(
    tmp_path: Path, ends: Any, told_of_it: str, free_first: bool
) -> None:
    bench = Tools(ends)
    calls = [("free", {"text": "a"}), ("act", {"what": "b"})]
    async with open_house(tmp_path, Script(calls[:: 1 if free_first else -1], "Done."), bench=bench) as house:
        page = await house.ask()
        await house.decide("approve")
        assert bench.effects == ["b"]
        assert page.finished == "Done."
        results = await told(house)
        outcome, text = results[0 if free_first else 1]
        assert outcome == "failed"
        assert told_of_it in text


async def test_of_equal_calls_in_a_batch_one_is_asked_and_the_others_are_told_to_wait(tmp_path: Path) -> None:
    batch = [("shell", {"command": "ls"}), ("shell", {"command": "ls "}), ("shell", {"command": " ls"})]
    async with open_house(tmp_path, Script(batch, "Done.")) as house:
        await house.ask()
        assert len(house.card[1].approvals) == 1
        await house.decide("approve")
        assert house.bench.effects == ["ls"]
        texts = [text for _, text in await told(house)]
        assert [("already being asked" in text) for text in texts] == [False, True, True]


async def test_of_equal_calls_that_were_denied_before_none_is_told_that_it_is_being_asked(tmp_path: Path) -> None:
    ask = [("act", {"what": "x"})]
    async with open_house(tmp_path, Script(ask, [*ask, *ask], "As you wish.")) as house:
        page = await house.ask()
        await house.decide("deny")
        assert page.finished == "As you wish."
        texts = [text for _, text in await told(house)]
        assert all("Not run again" in text for text in texts[1:])
        assert not any("being asked" in text for text in texts)


async def test_different_calls_of_a_batch_get_their_own_decisions(tmp_path: Path) -> None:
    batch = [("act", {"what": "a"}), ("act", {"what": "A"}), ("act", {"what": "a "})]
    async with open_house(tmp_path, Script(batch, "Done.")) as house:
        await house.ask()
        assert len(house.card[1].approvals) == 3


async def test_twenty_five_calls_of_a_batch_all_get_their_card_in_order(tmp_path: Path) -> None:
    batch = [("act", {"what": f"{n:02}"}) for n in range(25)]
    async with open_house(tmp_path, Script(batch, "Done.")) as house:
        page = await house.ask()
        views = list(house.face.cards.values())
        shown = [call.arguments["what"] for view in views for call in view.approvals]
        assert sorted(shown) == [f"{n:02}" for n in range(25)]
        assert max(len(view.approvals) for view in views) <= 5
        for row in await house.rows("SELECT id, place FROM approval ORDER BY position"):
            press = house.press(OWNER)
            one = type(press)(actor=OWNER, approval=row["id"], place=row["place"], message=None)
            await house.app.engine.decide(one, "approve")
        await house.app.background.idle()
        assert sorted(house.bench.effects) == sorted(shown)
        assert page.finished == "Done."
        assert [outcome for outcome, _ in await told(house)] == ["success"] * 25


async def test_a_batch_that_names_an_unknown_tool_asks_and_runs_nothing(tmp_path: Path) -> None:
    bench = Tools()
    batch = [("free", {"text": "a"}), ("rich", {"text": "b"}), ("nosuch", {})]
    async with open_house(tmp_path, Script(batch, "I see."), bench=bench) as house:
        page = await house.ask()
        assert (bench.got, house.face.cards) == ([], {})
        assert page.finished == "I see."


async def test_the_reason_on_the_card_is_the_policys_and_not_the_models(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script([("act", {"what": "reason: harmless"})])) as house:
        await house.ask()
        assert house.card[1].approvals[0].reason == "act needs a person's sign-off"


async def test_what_tools_say_is_masked_before_the_model_sees_it(tmp_path: Path) -> None:
    bench = Tools(ToolOutcome(text="key s3cret"))
    script = Script([("free", {"text": "a"})], [("free", {"text": "b"})], "Done.")

    def mask(text: str) -> str:
        return text.replace("s3cret", "[masked]")

    async with open_house(tmp_path, script, bench=bench, mask=mask) as house:
        await house.ask()
        bench.ends = RuntimeError("s3cret")
        assert await told(house) == [("success", "key [masked]"), ("success", "key [masked]")]
    bench, script = Tools(RuntimeError("s3cret")), Script([("free", {"text": "a"})], "Done.")
    async with open_house(tmp_path, script, bench=bench, mask=mask, ids="later") as house:
        await house.ask(request="r2")
        assert "s3cret" not in str(await told(house))


async def test_a_free_tool_is_told_that_nobody_approved_it(tmp_path: Path) -> None:
    seen: list[Call] = []

    class Looks(Bench):
        def tools(self) -> list[Tool]:
            async def body(arguments: Any, call: Call) -> ToolOutcome:
                seen.append(call)
                return ToolOutcome(text="ok")

            return [Tool(name="look", description="Looks.", arguments=DoArguments, body=body, gated=False)]

    async with open_house(tmp_path, Script([("look", {"what": "x"})], "Done."), bench=Looks()) as house:
        await house.ask()
        assert [(call.approved, call.requester, call.id) for call in seen] == [(False, "2", "call1")]
