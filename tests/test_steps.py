"""What a stretch has done is written down as it happens, and is not done again after a restart (issue 6, point 6)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelRequest, UserPromptPart

from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.settings import Settings
from storage import conversations, jobs, steps
from tests.faults import FaultyDatabase
from tests.house import ASKER, PLACE, Bench, DoArguments, House, Script, open_house
from tests.test_jobs import Gate, asked, until_began

LOOKS: list[Any] = [[("look", {"what": "a"})], [("look", {"what": "b"})]]


class Stuck(Bench):
    """`look` stays for ever in the call for `at`; what it saw is kept beyond its house."""

    def __init__(self, at: str, seen: list[str]) -> None:
        super().__init__()
        self.at, self.seen = at, seen
        self.reached = asyncio.Event()

    def tools(self) -> list[Tool]:
        async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.seen.append(arguments.what)
            if arguments.what == self.at:
                self.reached.set()
                await asyncio.Event().wait()
            return ToolOutcome(text=f"saw {arguments.what}")

        others = [tool for tool in super().tools() if tool.name != "look"]
        return [*others, Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]


async def cut_short(
    folder: Path, script: Script, seen: list[str], *, at: str, job: bool, settings: Settings | None = None
) -> str:
    """A house that is stopped while it looks at `at`; the run's id."""
    bench = Stuck(at, seen)
    async with open_house(folder, script, bench=bench, settings=settings) as house:
        if job:
            id = (await house.app.engine.start_job(asked())).id
        else:
            turn = asyncio.ensure_future(house.ask())
            await bench.reached.wait()
            [row] = await house.rows("SELECT id FROM run")
            id = str(row["id"])
        await bench.reached.wait()
        await house.app.engine.stop(grace=0)
        if not job:
            await asyncio.wait([turn])
    return id


async def test_a_job_takes_up_in_the_batch_in_which_it_was_cut_short(tmp_path: Path) -> None:
    seen: list[str] = []
    await cut_short(tmp_path, Script(*LOOKS), seen, at="b", job=True)
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", seen), ids="later") as house:
        await house.app.background.idle()
        assert seen == ["a", "b", "b"]
        assert len(house.script.seen) == 1
        assert [said.text.partition(": ")[2] for said in house.face.said] == ["Both."]


async def test_a_turn_does_so_too(tmp_path: Path) -> None:
    seen: list[str] = []
    await cut_short(tmp_path, Script(*LOOKS), seen, at="b", job=False)
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", seen), ids="later") as house:
        assert seen == ["a", "b", "b"]
        assert [said.text for said in house.face.said] == ["Both."]


async def test_the_conversation_is_the_same_as_without_the_restart(tmp_path: Path) -> None:
    async def told(house: House) -> list[Any]:
        return [
            [(part.part_kind, getattr(part, "content", getattr(part, "args", None))) for part in message.parts]
            for message in house.script.seen[-1]
        ]

    (tmp_path / "whole").mkdir()
    async with open_house(tmp_path / "whole", Script(*LOOKS, "Both."), bench=Stuck("", [])) as house:
        await house.ask()
        whole, length = await told(house), await conversations.length(house.app.database.reader, PLACE)
    await cut_short(tmp_path, Script(*LOOKS), [], at="b", job=False)
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", []), ids="later") as house:
        assert await told(house) == whole
        assert await conversations.length(house.app.database.reader, PLACE) == length


async def test_behind_the_results_of_a_batch_only_the_model_is_asked(tmp_path: Path) -> None:
    seen: list[str] = []
    never = asyncio.Event()

    class Slow(Script):
        async def _stream(self, messages: Any, info: Any) -> Any:
            if len(messages) > 2:
                never.set()
                await asyncio.Event().wait()
            async for piece in super()._stream(messages, info):
                yield piece

    async with open_house(tmp_path, Slow(*LOOKS), bench=Stuck("", seen)) as house:
        turn = asyncio.ensure_future(house.ask())
        await never.wait()
        await house.app.engine.stop(grace=0)
        await asyncio.wait([turn])
    async with open_house(tmp_path, Script("One."), bench=Stuck("", seen), ids="later") as house:
        assert seen == ["a"]
        assert [said.text for said in house.face.said] == ["One."]
        assert house.script.results() == [("success", "saw a")]


async def test_a_gated_call_behind_a_restart_is_asked_about_once(tmp_path: Path) -> None:
    batch = [("look", {"what": "b"}), ("act", {"what": "x"})]
    await cut_short(tmp_path, Script(LOOKS[0], batch), [], at="b", job=True)
    async with open_house(tmp_path, Script("It ran."), bench=Stuck("", []), ids="later") as house:
        await house.app.background.idle()
        assert len(house.face.cards) == 1
        await house.decide("approve")
        assert house.bench.effects == ["x"]
        assert [said.text.partition(": ")[2] for said in house.face.said] == ["It ran."]


async def test_what_a_step_writes_does_not_grow_with_the_stretch(tmp_path: Path) -> None:
    rows: list[list[tuple[int, int]]] = []

    class Counting(Bench):
        def tools(self) -> list[Tool]:
            async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
                found = await house.rows("SELECT n, length(body) AS size FROM step ORDER BY n")
                rows.append([(row["n"], row["size"]) for row in found])
                return ToolOutcome(text="seen")

            return [Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False)]

    looks: list[Any] = [[("look", {"what": "x"})] for _ in range(30)]
    async with open_house(tmp_path, Script(*looks, "Done."), bench=Counting()) as house:
        await house.ask()
    assert [len(found) for found in rows] == [2 * number for number in range(1, 31)]
    first, last = (sum(size for _, size in found[-2:]) for found in (rows[1], rows[-1]))
    assert last <= first + 20


async def test_nothing_is_kept_of_a_stretch_that_has_ended(tmp_path: Path) -> None:
    async with open_house(tmp_path, Script(*LOOKS, [("act", {"what": "x"})], *LOOKS, "Done.")) as house:
        await house.ask()
        assert await house.rows("SELECT run FROM step") == []
        await house.decide("deny")
        assert await house.rows("SELECT run FROM step") == []
        assert await house.rows("SELECT state FROM run") == [{"state": "done"}]


async def test_what_the_recorded_answers_cost_is_on_the_jobs_account(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    async with open_house(tmp_path / "whole", Script(*LOOKS, "Both."), bench=Stuck("", [])) as house:
        await house.app.engine.start_job(asked())
        await house.app.background.idle()
        whole = await house.rows("SELECT input_tokens, output_tokens FROM job")
    await cut_short(tmp_path, Script(*LOOKS), [], at="b", job=True)
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", []), ids="later") as house:
        await house.app.background.idle()
        assert await house.rows("SELECT input_tokens, output_tokens FROM job") == whole


async def test_calls_that_were_answered_in_place_of_a_card_still_count(tmp_path: Path) -> None:
    """Else a model could keep asking from one restart to the next."""
    nobody = Settings()  # so a gated call is answered with that
    script = Script([("act", {"what": "x"})], [("act", {"what": "y"})], LOOKS[1])
    await cut_short(tmp_path, script, [], at="b", job=False, settings=nobody)
    async with open_house(tmp_path, Script("Done."), bench=Stuck("", []), ids="later", settings=nobody) as house:
        assert await house.rows("SELECT turned_away FROM run") == [{"turned_away": 2}]


async def test_a_step_that_cannot_be_written_down_ends_nothing_and_comes_with_the_next(tmp_path: Path) -> None:
    database, seen = FaultyDatabase(), list[str]()
    database.failing["keep step"] = 1
    bench = Stuck("b", seen)
    async with open_house(tmp_path, Script(*LOOKS), bench=bench, open_db=database.open) as house:
        turn = asyncio.ensure_future(house.ask())
        await bench.reached.wait()
        assert [row["n"] for row in await house.rows("SELECT n FROM step ORDER BY n")] == [0, 1, 2, 3]
        await house.app.engine.stop(grace=0)
        await asyncio.wait([turn])
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", seen), ids="later"):
        assert seen == ["a", "b", "b"]


async def test_of_a_run_that_somebody_has_ended_nothing_more_is_written(tmp_path: Path) -> None:
    gate = Gate()
    async with open_house(tmp_path, Script([("look", {"what": "x"})], "never said"), bench=gate) as house:
        job = await house.app.engine.start_job(asked())
        await until_began(gate)
        async with house.app.database.begin("end it") as tx:
            await tx.execute("UPDATE run SET state = 'cancelled', ended_at = 1 WHERE id = ?", job.id)
            await steps.clear(tx, job.id)
        gate.go.set()
        await house.app.background.idle()
        assert await house.rows("SELECT run FROM step") == []


async def test_where_somebody_has_spoken_meanwhile_the_stretch_begins_again_behind_it(tmp_path: Path) -> None:
    seen: list[str] = []
    id = await cut_short(tmp_path, Script(*LOOKS), seen, at="b", job=False)
    async with open_house(tmp_path, Script("Anew."), bench=Stuck("", seen), ids="later", recover=False) as house:
        async with house.app.database.begin("speak") as tx:
            body = '{"parts":[{"content":"hm","part_kind":"user-prompt"}],"kind":"request"}'
            assert await conversations.append(tx, PLACE, run="other", at_length=0, bodies=[body]) == 1
        await house.app.engine.recover()
        await house.app.background.idle()
        assert prompts(house.script) == ["hm", "please"]
        assert await house.rows("SELECT state FROM run WHERE id = ?", id) == [{"state": "done"}]


async def test_a_note_that_a_recorded_step_has_told_is_not_told_again(tmp_path: Path) -> None:
    bench = Stuck("b", [])
    async with open_house(tmp_path, Script(), ids="a") as house:
        await house.app.engine.stop(grace=0)
        job = await house.app.engine.start_job(asked())
        async with house.app.database.begin("note") as tx:
            await jobs.add_note(tx, job.id, person=ASKER.id, text="count the blue ones", at=1)
    async with open_house(tmp_path, Script(*LOOKS), bench=bench, ids="b", recover=False) as house:
        recovered = asyncio.ensure_future(house.app.engine.recover())
        await bench.reached.wait()
        await house.app.engine.stop(grace=0)
        await asyncio.wait([recovered])
    async with open_house(tmp_path, Script("Both."), bench=Stuck("", []), ids="c") as house:
        await house.app.background.idle()
        assert len(house.script.seen) == 1
        [prompt] = prompts(house.script)
        assert prompt.count("count the blue ones") == 1
        assert [said.text.partition(": ")[2] for said in house.face.said] == ["Both."]


def prompts(script: Script) -> list[str]:
    """What the model was told in people's position, at last."""
    return [
        str(part.content)
        for message in script.seen[-1]
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
