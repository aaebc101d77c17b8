"""Stand-ins that tests share: a clock that tests own, a face that remembers, a model that follows a script.

The database is always real, and so are the gate, the engine and everything between them.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from bot.app import App, OpenDatabase, open_app
from bot.deferral import sentences
from bot.deferral.tool import Arguments, Call, Tool, ToolKind, ToolOutcome
from bot.errors import ApprovalRequired, Gone
from bot.redact import Redactor
from bot.settings import Settings
from bot.surface import Actor, Announcement, CardView, JobView, Press, TurnContext
from storage.database import open_database

OWNER = Actor(id="1", guild="9")
ASKER = Actor(id="2", guild="9")
STRANGER = Actor(id="3", guild="9")
PLACE = "discord/9/90"


class ManualClock:
    """Time moves when a test says so."""

    def __init__(self, at: int = 1_700_000_000_000) -> None:
        self.at = at

    def now(self) -> int:
        return self.at

    def advance(self, *, seconds: float) -> None:
        self.at += int(seconds * 1000)


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):04d}"


@dataclass
class Face:
    """A `Surface` that keeps what people would see, and can be told to fail."""

    cards: dict[str, CardView] = field(default_factory=dict)
    card_words: dict[str, list[str]] = field(default_factory=dict)
    said: list[Announcement] = field(default_factory=list)
    told: list[tuple[str, Announcement]] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    fail_card: Exception | None = None
    fail_at: dict[str, Exception] = field(default_factory=dict)
    """What is wrong with cards, by place."""
    deleted: set[str] = field(default_factory=set)
    """Cards that somebody took away, by message."""
    fail_say: Exception | None = None
    fail_tell: Exception | None = None
    jobs: dict[str, JobView] = field(default_factory=dict)
    """Cards of jobs, by message."""
    job_edits: list[str] = field(default_factory=list)
    retired: list[tuple[str, str]] = field(default_factory=list)
    fail_job: Exception | None = None
    threads: dict[str, str] = field(default_factory=dict)
    shut: dict[str, str] = field(default_factory=dict)
    """Why nothing can be said in a place, by place."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Why people may not see a place, by person."""
    members: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Roles by guild and person; who is missing is no member."""
    fail_roles: Exception | None = None
    asked_for: list[tuple[str, str]] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def open_place(self, view: CardView) -> str:
        return view.card.place if view.card.person is None else f"discord/@me/{view.card.person}"

    async def post_card(self, view: CardView) -> str:
        if (error := self.fail_card or self.fail_at.get(view.card.place)) is not None:
            raise error
        message = f"m{next(self._numbers)}"
        self._see(message, view)
        return message

    async def edit_card(self, view: CardView) -> None:
        if (error := self.fail_card or self.fail_at.get(view.card.place)) is not None:
            raise error
        if view.card.message in self.deleted:
            raise Gone("That message was deleted.")
        assert view.card.message is not None
        self._see(view.card.message, view)

    def _see(self, message: str, view: CardView) -> None:
        self.cards[message] = view
        self.card_words.setdefault(message, []).append(", ".join(sentences.word(one) for one in view.approvals))

    async def announce(self, announcement: Announcement) -> str:
        if self.fail_say is not None:
            raise self.fail_say
        self.said.append(announcement)
        return f"m{next(self._numbers)}"

    async def tell(self, person: str, announcement: Announcement) -> str:
        if self.fail_tell is not None:
            raise self.fail_tell
        self.told.append((person, announcement))
        return f"m{next(self._numbers)}"

    async def post_job(self, view: JobView) -> str:
        if self.fail_job is not None:
            raise self.fail_job
        message = f"j{len(self.jobs) + 1}"
        self.jobs[message] = view
        return message

    async def edit_job(self, view: JobView) -> None:
        if self.fail_job is not None:
            raise self.fail_job
        assert view.job.message is not None
        self.jobs[view.job.message] = view
        self.job_edits.append(view.job.message)

    async def retire_job(self, place: str, message: str, to: str) -> None:
        self.retired.append((message, to))

    def above(self, place: str) -> str | None:
        return self.threads.get(place)

    async def hidden_from(self, person: str, place: str) -> str | None:
        return self.hidden.get(person)

    async def closed(self, place: str) -> str | None:
        return self.shut.get(place)

    def reopen(self, place: str, message: str, *, key: str) -> Page:
        return Page(message=message)

    async def mark_moved(self, place: str, message: str, to: str) -> None:
        self.moved.append((message, to))

    async def roles_of(self, guild: str, person: str) -> frozenset[str] | None:
        self.asked_for.append((guild, person))
        if self.fail_roles is not None:
            raise self.fail_roles
        return self.members.get((guild, person))

    def who(self, person: str) -> str:
        return f"<{person}>"

    def group(self, role: str) -> str:
        return f"<&{role}>"

    def link(self, place: str, message: str | None) -> str:
        return f"link:{place}/{message}" if message else ""


@dataclass
class Page:
    """A `Reply` that keeps what was shown."""

    shown: list[str] = field(default_factory=list)
    finished: str | None = None
    dropped: bool = False
    message: str | None = None
    run: str | None = None
    long: bool = False

    def belongs_to(self, run: str) -> None:
        self.run = run

    def lasts(self) -> None:
        self.long = True

    async def show(self, text: str) -> None:
        self.message = "reply"
        self.shown.append(text)

    async def rest(self, text: str) -> None:
        await self.show(text)

    def drop(self) -> None:
        self.dropped = True

    async def finish(self, text: str, *, key: str | None = None) -> str:
        self.message = "reply"
        self.finished = text
        return "reply"


Step = str | Sequence[tuple[str, dict[str, Any]]] | Exception
"""What the model does next: say something, call tools (name and arguments), or fail."""


def _is_news(messages: list[ModelMessage]) -> bool:
    """Whether the model is told, in a conversation, that a job of it has ended."""
    said = str(getattr(messages[-1].parts[-1], "content", ""))
    return said.startswith("[event: the person did not write this]\nBackground job ")


class Script:
    """A model that follows steps, and remembers what it was shown."""

    def __init__(self, *steps: Step, by_prompt: dict[str, list[Step]] | None = None) -> None:
        """`by_prompt`: steps of their own for conversations that begin with a prompt."""
        self.steps = list(steps)
        self.by_prompt = by_prompt or {}
        self.seen: list[list[ModelMessage]] = []
        self.news: Step = "Nothing to add."
        """What it does when it is told that a job has ended."""
        self.told: list[list[ModelMessage]] = []
        """What it was shown then."""
        self._calls = itertools.count(1)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, stream_function=self._stream, model_name="script")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if _is_news(messages):
            self.told.append(list(messages))
            steps = [self.news]
        else:
            self.seen.append(list(messages))
            steps = self._steps(messages)
        step: Step = steps.pop(0) if steps else "(the script is over)"
        if isinstance(step, Exception):
            raise step
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        return ModelResponse(
            parts=[ToolCallPart(name, arguments, f"call{next(self._calls)}") for name, arguments in step]
        )

    def _steps(self, messages: list[ModelMessage]) -> list[Step]:
        first = messages[0].parts[0]
        # A job's goal may be followed by where it comes from.
        return self.by_prompt.get(str(getattr(first, "content", "")).split("\n\n[")[0], self.steps)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for index, part in enumerate(self._answer(messages, info).parts):
            if isinstance(part, TextPart):
                for word in re.findall(r"\s*\S+|\s+", part.content):
                    yield word
            elif isinstance(part, ToolCallPart):
                yield {
                    index: DeltaToolCall(
                        name=part.tool_name,
                        # Not `args_as_json_str`: that makes sense of what makes none.
                        json_args=part.args if isinstance(part.args, str) else part.args_as_json_str(),
                        tool_call_id=part.tool_call_id,
                    )
                }

    def results(self, turn: int = -1) -> list[tuple[str, str]]:
        """Outcome and text of every tool result in one request, as the model saw them, in order."""
        return [
            (part.outcome, str(part.content))
            for message in self.seen[turn]
            if isinstance(message, ModelRequest)
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]


class DoArguments(Arguments):
    what: str


class CommandArguments(Arguments):
    command: str


class QuestionArguments(Arguments):
    question: str
    choices: list[str] = []


@dataclass
class Bench:
    """Tools with countable effects."""

    effects: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    hold: asyncio.Event | None = None
    fail_with: Exception | None = None
    exit_code: int = 0
    found: str = ""
    """What `look` sees beside."""

    def tools(self) -> list[Tool]:
        async def act(arguments: Any, call: Call) -> ToolOutcome:
            if self.fail_with is not None:
                raise self.fail_with
            self.effects.append(getattr(arguments, "what", None) or arguments.command)
            if self.hold is not None:
                await self.hold.wait()
            return ToolOutcome(text="out", ok=self.exit_code == 0, exit_code=self.exit_code)

        async def look(arguments: DoArguments, call: Call) -> ToolOutcome:
            self.looks.append(arguments.what)
            return ToolOutcome(text=f"saw {arguments.what} {self.found}".rstrip())

        async def careful(arguments: DoArguments, call: Call) -> ToolOutcome:
            if arguments.what == "big" and not call.approved:
                raise ApprovalRequired("big things need a second look")
            return await act(arguments, call)

        return [
            Tool(name="careful", description="Acts.", arguments=DoArguments, body=careful, gated=False),
            Tool(name="act", description="Acts.", arguments=DoArguments, body=act),
            Tool(name="shell", description="Runs.", arguments=CommandArguments, body=act),
            Tool(name="look", description="Looks.", arguments=DoArguments, body=look, gated=False),
            Tool(
                name="ask_user",
                description="Asks.",
                arguments=QuestionArguments,
                body=act,
                kind=ToolKind.QUESTION,
                gated=False,
            ),
        ]


@dataclass
class House:
    """An opened house with its stand-ins."""

    app: App
    clock: ManualClock
    face: Face
    bench: Bench
    script: Script

    async def ask(
        self,
        prompt: str = "please",
        *,
        request: str | None = "r1",
        by: str = "2",
        notify: str = "channel",
        conversation: str = PLACE,
        place: str = PLACE,
        page: Page | None = None,
    ) -> Page:
        """One turn to its pause or end, and everything it set off."""
        page = page or Page()
        await self.app.engine.take_turn(
            TurnContext(
                conversation=conversation, place=place, requester=by, request=request, prompt=prompt, notify=notify
            ),
            page,
        )
        await self.app.background.idle()
        return page

    @property
    def card(self) -> tuple[str, CardView]:
        """The newest card."""
        return list(self.face.cards.items())[-1]

    def press(self, actor: Actor, row: int = 0, *, message: str | None = None) -> Press:
        posted, view = self.card
        return Press(actor=actor, approval=view.approvals[row].id, place=view.card.place, message=message or posted)

    async def decide(self, verdict: Any, actor: Actor = OWNER, row: int = 0, *, reason: str | None = None) -> None:
        await self.app.engine.decide(self.press(actor, row), verdict, reason=reason)
        await self.app.background.idle()

    async def later(self, *, seconds: float) -> None:
        """Let time pass and do what is due."""
        self.clock.advance(seconds=seconds)
        await self.app.engine.sweep()
        await self.app.background.idle()

    async def rows(self, sql: str, *parameters: object) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.app.database.reader.all(sql, *parameters)]


@asynccontextmanager
async def open_house(
    folder: Path,
    script: Script,
    *,
    clock: ManualClock | None = None,
    face: Face | None = None,
    bench: Bench | None = None,
    settings: Settings | None = None,
    workspace: Path | None = None,
    ids: str = "id",
    recover: bool = True,
    open_db: OpenDatabase = open_database,
    sweep_ms: int = 3_600_000,
    mask: Callable[[str], str] = str,
    redactor: Redactor | None = None,
) -> AsyncIterator[House]:
    """A house on `folder`, its face connected and its past made good."""
    clock, face, bench = clock or ManualClock(), face or Face(), bench or Bench()
    settings = settings or Settings(approver_users=frozenset({OWNER.id}))
    settings = settings.model_copy(update={"database": folder / "house.sqlite3", "workspace": workspace or folder})
    async with open_app(
        settings,
        tools=bench.tools(),
        mask=redactor.result if redactor is not None else mask,
        redactor=redactor,
        clock=clock,
        new_id=counting_ids(ids),
        model=script.model,
        sweep_ms=sweep_ms,
        open_db=open_db,
    ) as app:
        app.engine.connect(face)
        if recover:
            await app.engine.recover()
            await app.background.idle()
        yield House(app=app, clock=clock, face=face, bench=bench, script=script)
