"""One life of a house: opened on a folder, recovered; then people do what the scenario says, to the end or death."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.app import App, open_app
from bot.clock import new_id
from bot.deferral.tool import Call, Tool, ToolOutcome
from bot.errors import AlreadySettled, CallDeferred, DecisionRefused, NothingRan
from bot.settings import Settings
from bot.surface import CardPress, Press, TurnClock, TurnContext
from bot.toolbox.ask import make_ask_user
from bot.toolbox.writing import overwrite
from bot.where import PlacesRule
from storage import approvals, cards
from storage.approvals import Approval, ApprovalState
from storage.database import Database
from tests.crash.world import Fate, FileClock, Log, Sheet, Wall, open_mortal
from tests.house import ASKER, OWNER, PLACE, DoArguments

if TYPE_CHECKING:
    from tests.crash.scenarios import Scenario

EVENT = "[event:"
NEWS = "There is news."
NOTES = "notes"


@dataclass(kw_only=True)
class Stage:
    """What people can do in one life."""

    app: App
    clock: FileClock
    wall: Wall
    settings: Settings
    acknowledged: Log
    open_database: Callable[..., AbstractAsyncContextManager[Database]]
    """Opens the database as another process would, with moments."""

    async def ask(
        self, prompt: str, *, request: str = "r1", notify: str = "channel", clock: TurnClock | None = None
    ) -> None:
        """Ask, unless that has been taken down before."""
        if await self.app.database.reader.one("SELECT 1 FROM run WHERE request = ?", request) is None:
            ctx = TurnContext(
                conversation=PLACE,
                place=PLACE,
                requester=ASKER.id,
                request=request,
                prompt=prompt,
                notify=notify,
                clock=clock or TurnClock(),
            )
            await self.app.engine.take_turn(ctx, Sheet(self.wall, f"reply-{request}"))
        await self.idle()

    async def idle(self) -> None:
        await self.app.background.idle()

    async def every_call(self) -> list[Approval]:
        return await approvals.listed(self.app.database.reader, every=True)

    async def waiting(self) -> list[Approval]:
        """Calls that wait, in the model's order."""
        return [call for call in await self.every_call() if call.state is ApprovalState.PENDING]

    async def press(
        self, call: Approval, verdict: Any, *, reason: str | None = None, remember: Any = None, wait: bool = True
    ) -> None:
        """Decide as the owner, on the card; the house has to take it."""
        card = cards.visible(await cards.copies(self.app.database.reader, call.card))
        assert card is not None
        press = Press(actor=OWNER, approval=call.id, place=card.place, message=card.message)
        await self.app.engine.decide(press, verdict, reason=reason, remember=remember)
        self.acknowledged.write(call=call.id, verdict=verdict)
        if wait:
            await self.idle()

    async def answer(self, call: Approval, text: str) -> None:
        press = Press(actor=ASKER, approval=call.id, place=call.place, message=f"card-{call.card}")
        await self.app.engine.answer(press, text)
        self.acknowledged.write(call=call.id, verdict="answer")
        await self.idle()

    async def deliver(self, call: Approval, text: str) -> None:
        """Hand in the result of a call that lives elsewhere."""
        await self.app.engine.resolve(call.id, text)
        self.acknowledged.write(call=call.id, verdict="deliver")
        await self.idle()

    async def is_refused(self, press: Callable[[Stage], Awaitable[None]]) -> None:
        """A press that must change nothing."""
        try:
            await press(self)
        except DecisionRefused:
            return
        raise AssertionError("a press counted that must not")

    async def deadline(self) -> int:
        """When the last call expires; now if nothing was ever asked, because the run was lost."""
        return max((call.expires_at for call in await self.every_call()), default=self.clock.now())

    async def reach(self, at: int) -> None:
        """Let it become `at`, and do what is due."""
        self.clock.reach(at)
        await self.app.engine.sweep()
        await self.idle()

    async def to_the_end(self) -> None:
        """Sweep until nothing is owed, as a running house does; time passes while the face cannot do something."""
        for _ in range(20):
            await self.app.engine.sweep()
            await self.idle()
            if not await self.app.database.reader.all(
                "SELECT 1 FROM outbox WHERE state IN ('pending', 'attempting') AND key NOT LIKE 'remind:%'"
                " UNION ALL SELECT 1 FROM card WHERE shown < version"
                " UNION ALL SELECT 1 FROM run WHERE state IN ('queued', 'running', 'waiting')"
            ):
                return
            self.clock.advance(seconds=400)
        raise AssertionError("it never came to an end")


def _model(scenario: Scenario, fate: Fate) -> FunctionModel:
    """Follows the scenario by what stands in the history, so that it goes on after any restart."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        fate.meet("model")
        prompt, step = "", 0
        for message in messages:
            if isinstance(message, ModelResponse):
                step += 1
                continue
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    prompt, step = str(part.content), 0
        if prompt.startswith(EVENT):
            return ModelResponse(parts=[TextPart(NEWS)])
        does = scenario.says[prompt][step]
        if isinstance(does, Exception):
            raise does
        if isinstance(does, str):
            return ModelResponse(parts=[TextPart(does)])
        return ModelResponse(
            parts=[
                ToolCallPart(name, arguments, f"{prompt}-{step}-{number}")
                for number, (name, arguments) in enumerate(does)
            ]
        )

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for part in answer(messages, info).parts:
            assert isinstance(part, TextPart), "only talk is streamed here"
            for word in part.content.split(" "):
                yield f"{word} "

    return FunctionModel(answer, stream_function=stream, model_name="mortal")


def _act(folder: Path, fate: Fate, wall: Wall) -> Tool:
    """Has one effect, a line in a file, and does not end before people have seen it running."""
    log = Log(folder / "effects")

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        if arguments.what == "cannot start":
            raise NothingRan("there is no such thing")
        fate.meet("before effect")
        log.write(call=call.id, what=arguments.what)
        fate.meet("after effect")
        await wall.running[call.id].wait()
        if arguments.what == "fails":
            raise OSError("it broke")
        return ToolOutcome(text="out", exit_code=0)

    return Tool(name="act", description="Acts.", arguments=DoArguments, body=body)


def _look(folder: Path, fate: Fate) -> Tool:
    """Needs nobody's sign-off; each look is a line in a file."""
    log = Log(folder / "looks")

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        log.write(what=arguments.what)
        fate.meet("look")
        return ToolOutcome(text=f"saw {arguments.what}")

    return Tool(name="look", description="Looks.", arguments=DoArguments, body=body, gated=False)


def _leave(house: list[App]) -> Tool:
    """Somebody sends the turn into the background while it is at work on this."""

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        if (reply := house[0].engine._delivery.replies.get(call.run)) is not None:
            await reply.show("Working on it…")  # the message that the button is on
        press = CardPress(actor=ASKER, card=call.run, place=PLACE, message="reply-r1")
        with suppress(AlreadySettled):
            await house[0].engine.backgrounding.send(press)
        return ToolOutcome(text="left")

    return Tool(name="leave", description="Leaves.", arguments=DoArguments, body=body, gated=False)


def _script(folder: Path, fate: Fate, wall: Wall) -> Tool:
    """As `act`, and depends on a file."""
    file = folder / "script"
    return replace(_act(folder, fate, wall), name="script", binds=lambda _: {"script": str(file.exists())})


def _write(folder: Path, fate: Fate, wall: Wall) -> Tool:
    """As `act`; its effect is also another content of a file."""
    log = Log(folder / "effects")
    if not (folder / "house.sqlite3").exists():
        (folder / NOTES).write_text("old")

    async def body(arguments: DoArguments, call: Call) -> ToolOutcome:
        fate.meet("before effect")
        await overwrite(folder, NOTES, call, lambda before: b"new", unique=call.id)
        log.write(call=call.id, what=arguments.what)
        fate.meet("after effect")
        await wall.running[call.id].wait()
        return ToolOutcome(text="out")

    return Tool(name="write", description="Writes.", arguments=DoArguments, body=body)


async def _build(arguments: DoArguments, call: Call) -> ToolOutcome:
    raise CallDeferred(f"build of {arguments.what}")


async def live(folder: Path, scenario: Scenario, moment: str | None) -> None:
    """One life in `folder`. It ends at `moment`, or when everything has been said and done."""
    fate, clock = Fate(folder, moment), FileClock(folder)
    wall = Wall(folder, fate, scenario.faults())
    places = (PlacesRule(places=scenario.places),) if scenario.places is not None else None
    settings = Settings(approver_users=frozenset({OWNER.id}), places=places).model_copy(
        update={"database": folder / "house.sqlite3", "workspace": folder, "streaming": scenario.streaming}
    )

    def open_db(url: str, *, read_only: bool = False) -> AbstractAsyncContextManager[Database]:
        return open_mortal(url, fate, read_only=read_only)

    house: list[App] = []
    async with open_app(
        settings,
        tools=[
            _act(folder, fate, wall),
            _script(folder, fate, wall),
            _look(folder, fate),
            _leave(house),
            _write(folder, fate, wall),
            Tool(name="build", description="Builds elsewhere.", arguments=DoArguments, body=_build, gated=False),
            make_ask_user(),
        ],
        mask=lambda text: text,
        clock=clock,
        new_id=new_id,
        model=_model(scenario, fate),
        sweep_ms=3_600_000,
        open_db=open_db,
    ) as app:
        house.append(app)
        app.engine.connect(wall)
        await app.engine.recover()
        await app.background.idle()
        stage = Stage(
            app=app,
            clock=clock,
            wall=wall,
            settings=settings,
            acknowledged=Log(folder / "acknowledged"),
            open_database=open_db,
        )
        await scenario.people(stage)
        await stage.to_the_end()
