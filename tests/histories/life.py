"""One life of a house in a history: opened, recovered; what was not done yet is done, to the end or to its death."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import bot.engine
from bot.app import App, open_app
from bot.clock import new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import DecisionRefused, NothingRan
from bot.settings import Settings
from bot.surface import CardPress, Press, TurnContext
from storage import approvals, cards, jobs
from storage.approvals import Approval, ApprovalState
from storage.database import Database
from storage.jobs import Job
from storage.runs import Run
from tests.crash.world import Fate, FileClock, Log, Sheet, open_mortal
from tests.histories.plot import Op, Plot, plot
from tests.histories.street import Street
from tests.house import ASKER, OWNER, DoArguments

ROUNDS = 80
WEATHER = {"strike", "close", "open", "leave", "return"}
_NEWS = "[event: the person did not write this]\nBackground job "


class Life:
    """What people can do in one life."""

    def __init__(self, folder: Path, story: Plot, app: App, street: Street, clock: FileClock) -> None:
        self._folder = folder
        self._story = story
        self._app = app
        self._street = street
        self._clock = clock
        self._did = Log(folder / "did")
        self._acknowledged = Log(folder / "acknowledged")

    async def go_on(self) -> None:
        """Do what was not done yet, and then wait until everything has ended."""
        done = len(self._did.read())
        for number, op in enumerate(self._story.ops[done:], start=done):
            if op[0] == "restart":
                self._did.write(op=number)
                return
            with suppress(DecisionRefused):
                await self._do(op)
            self._did.write(op=number)
            if (number + self._story.seed) % 3:
                await self._app.background.idle()
        await self._to_the_end()

    async def _do(self, op: Op) -> None:
        if op[0] in WEATHER:
            self._street.weather.turn(op)
            return
        await getattr(self, f"_{op[0]}")(*op[1:])

    # -- what people do ---------------------------------------------------------------------------

    async def _start(self, goal: str, notify: str, place: str, budget_ms: int | None) -> None:
        if not await self._is_known(goal):
            await self._app.engine.start_job(self._asks(goal, notify, place, budget_ms))

    async def _ask(self, prompt: str, notify: str, place: str) -> None:
        if not await self._is_known(prompt):
            ctx = self._asks(prompt, notify, place)
            await self._app.engine.take_turn(ctx, Sheet(self._street, f"reply-{prompt}"))

    def _asks(self, prompt: str, notify: str, place: str, budget_ms: int | None = None) -> TurnContext:
        return TurnContext(
            conversation=place,
            place=place,
            requester=ASKER.id,
            request=f"r {prompt}",
            prompt=prompt,
            notify=notify,
            budget_ms=budget_ms,
        )

    async def _is_known(self, prompt: str) -> bool:
        return await self._app.database.reader.one("SELECT 1 FROM run WHERE prompt = ?", prompt) is not None

    async def _decide(self, which: int, verdict: Any) -> None:
        if waiting := await self._waiting():
            call = waiting[which % len(waiting)]
            card = cards.visible(await cards.copies(self._app.database.reader, call.card))
            if card is not None and card.message is not None:
                await self._app.engine.decide(
                    Press(actor=OWNER, approval=call.id, place=card.place, message=card.message), verdict
                )
                self._acknowledged.write(call=call.id, verdict=verdict)

    async def _expire(self, which: int) -> None:
        if waiting := await self._waiting():
            self._clock.reach(waiting[which % len(waiting)].expires_at)
            await self._app.engine.sweep()

    async def _cancel(self, which: int) -> None:
        if (found := await self._job(which)) is not None:
            await self._app.engine.cancel_job(found[0].id, ASKER)

    async def _background(self, prompt: str, notify: str, place: str) -> None:
        """A turn is begun, and goes on as a job."""
        await self._ask(prompt, notify, place)
        turn = await self._app.database.reader.one("SELECT id FROM run WHERE prompt = ?", prompt)
        if turn is not None:
            press = CardPress(actor=ASKER, card=turn["id"], place=place, message=f"reply-{prompt}")
            await self._app.engine.backgrounding.send(press)
            self._acknowledged.write(moved=turn["id"])

    async def _stop(self, which: int) -> None:
        for _ in range(2):
            await self._on_card(which, self._app.engine.desk.stop)

    async def _extend(self, which: int) -> None:
        await self._on_card(which, self._app.engine.desk.extend)

    async def _note(self, which: int) -> None:
        async def note(press: CardPress) -> None:
            await self._app.engine.desk.note(press, "only the red ones")
            self._acknowledged.write(note=press.card)

        await self._on_card(which, note)

    async def _inbox(self) -> None:
        inbox = self._app.engine.inbox
        for number, owed in enumerate(await inbox.of(ASKER.id)):
            self._street.put("inbox", f"inbox-{owed.key}-{number}-{self._clock.now()}", new=False, key=owed.key)
            await inbox.handed_over(owed, receipt=f"inbox {owed.key}")

    async def _on_card(self, which: int, press: Callable[[CardPress], Awaitable[object]]) -> None:
        found = await self._job(which)
        if found is not None and found[1].message is not None:
            run, job = found
            await press(CardPress(actor=ASKER, card=run.id, place=run.place, message=str(job.message)))

    async def _job(self, which: int) -> tuple[Run, Job] | None:
        if not (open_jobs := await self._app.engine.jobs()):
            return None
        run = open_jobs[which % len(open_jobs)]
        job = await jobs.get(self._app.database.reader, run.id)
        assert job is not None
        return run, job

    async def _waiting(self) -> list[Approval]:
        every = await approvals.listed(self._app.database.reader, every=True)
        return [call for call in every if call.state is ApprovalState.PENDING]

    async def _pass(self, seconds: int) -> None:
        self._clock.advance(seconds=seconds)
        await self._app.engine.sweep()

    async def _to_the_end(self) -> None:
        """The weather clears, whoever is still asked decides, and time passes until nothing is owed."""
        reader = self._app.database.reader
        for round in range(ROUNDS):
            if round == ROUNDS // 2:
                self._street.weather.clear()
            await self._app.engine.sweep()
            await self._app.background.idle()
            waiting = await self._waiting()
            if not waiting and not await reader.all(
                "SELECT 1 FROM outbox WHERE state IN ('pending', 'attempting') AND key NOT LIKE 'remind:%'"
                " UNION ALL SELECT 1 FROM card WHERE shown < version"
                " UNION ALL SELECT 1 FROM run WHERE state IN ('queued', 'running', 'waiting')"
            ):
                (self._folder / "ended").touch()
                return
            for which in range(len(waiting)):
                with suppress(DecisionRefused):
                    await self._decide(which, "approve" if (self._story.seed + which) % 4 else "deny")
            await self._app.background.idle()
            self._clock.advance(seconds=400 if round < ROUNDS - 10 else 100_000)
        raise AssertionError("it never came to an end")


def _model(story: Plot, fate: Fate) -> FunctionModel:
    """Follows the plot by what stands in the history, so that it goes on after any restart."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        fate.meet("model")
        prompt, step = _where(messages)
        if prompt.startswith(_NEWS):
            if story.news == "fails":
                raise RuntimeError("the wire broke")
            return ModelResponse(parts=[TextPart(story.news)])
        script = story.scripts.get(prompt, ["It came of that."])
        does = script[step] if step < len(script) else "And one more word."
        if does is None:
            raise RuntimeError("the wire broke")
        if isinstance(does, str):
            return ModelResponse(parts=[TextPart(does)])
        return ModelResponse(
            parts=[
                ToolCallPart(name, arguments, f"{prompt}-{step}-{number}")
                for number, (name, arguments) in enumerate(does)
            ]
        )

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "".join(part.content for part in answer(messages, info).parts if isinstance(part, TextPart))

    return FunctionModel(answer, stream_function=stream, model_name="mortal")


def _where(messages: list[ModelMessage]) -> tuple[str, int]:
    """Whose script is followed, and how far it is: a job's from its goal on, a person's from what they said last."""
    prompt, step = "", 0
    for message in messages:
        if isinstance(message, ModelResponse):
            step += 1
        elif isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart) and not prompt.startswith("goal"):
                    prompt, step = re.split(r"\n\n\[", str(part.content))[0], 0
    return prompt, step


def _tools(folder: Path, fate: Fate, clock: FileClock) -> list[Tool]:
    effects = Log(folder / "effects")

    async def act(arguments: DoArguments, call: Call) -> ToolOutcome:
        if arguments.what.endswith("cannot"):
            raise NothingRan("there is no such thing")
        fate.meet("before effect")
        effects.write(call=call.id, what=arguments.what)
        fate.meet("after effect")
        if arguments.what.endswith("fails"):
            raise OSError("it broke")
        return ToolOutcome(text="out", exit_code=0)

    async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
        fate.meet("look")
        if arguments.what.endswith("slow"):
            clock.advance(seconds=40)
        elif arguments.what.endswith("for ever"):
            clock.advance(seconds=4_000)
        return ToolOutcome(text=f"saw {arguments.what}")

    return [
        Tool(name="act", description="Acts.", arguments=DoArguments, body=act),
        Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False),
    ]


async def live(folder: Path, seed: int, moment: str | None) -> None:
    """One life in `folder`. It ends at `moment`, when it is stopped in order, or when everything has ended."""
    story, fate, clock = plot(seed), Fate(folder, moment), FileClock(folder)
    street = Street(folder, fate, clock)
    settings = Settings(approver_users=frozenset({OWNER.id})).model_copy(
        update={"database": folder / "house.sqlite3", "workspace": folder, "streaming": False}
    )

    def open_db(url: str, *, read_only: bool = False) -> AbstractAsyncContextManager[Database]:
        return open_mortal(url, fate, read_only=read_only)

    with patch.object(bot.engine, "SHORTEST_ALARM_MS", 3_600_000):  # time passes when the plot lets it
        async with open_app(
            settings,
            tools=_tools(folder, fate, clock),
            mask=lambda text: text,
            clock=clock,
            new_id=new_id,
            model=_model(story, fate),
            sweep_ms=3_600_000,
            open_db=open_db,
        ) as app:
            app.engine.connect(street)
            await app.engine.recover()
            await Life(folder, story, app, street, clock).go_on()
