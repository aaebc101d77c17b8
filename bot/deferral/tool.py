"""What a tool is to this house: a name, a schema, a body. No model library is needed to run one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.secrets_file import NamedSecret


class ToolKind(StrEnum):
    """What a call of the tool waits for, when it waits."""

    APPROVAL = "approval"
    """For consent; then the body runs."""
    EXTERNAL = "external"
    """For a result that lives elsewhere; the body never runs."""
    QUESTION = "question"
    """For the requester's answer; the body never runs."""


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused, nothing is guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, kw_only=True)
class Overwriting:
    """What a call is about to do to one file of the workspace."""

    path: str
    before: bytes | None = field(repr=False)
    """What the file holds; None: there is none."""
    after: bytes = field(repr=False)


async def keep_nothing(call: Call, change: Overwriting) -> None:
    """Where there is nobody who could undo anything."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call that is about to run: all that a body may know about where it came from."""

    id: str
    """The approval's id for an approved call, the model's call id for an allowed one."""
    run: str
    conversation: str
    place: str
    requester: str
    approved: bool
    """Whether a person signed it off (`CallApproved` in the seed)."""
    network: bool = False
    """Whether it was approved with the machine's network; counts only for tools that have a `networked`."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of the secrets that its arguments refer to, by name; only of a claimed call, see `bot.deferral.vault`."""
    keep: Keep = field(default=keep_nothing, repr=False, compare=False)
    """Awaited before a file is written: keeps what it held, for an undo. Raises `NothingRan` if that fails."""


Keep = Callable[[Call, Overwriting], Awaitable[None]]
"""Takes the call itself and what it is about to do to a file."""


@dataclass(frozen=True, kw_only=True)
class ToolOutcome:
    """What a body did, in words for the model and in marks that no prose can fake."""

    text: str
    ok: bool = True
    """The word on the card: succeeded or failed. For a command this is its exit code being 0."""
    exit_code: int | None = None
    unknown: bool = False
    """It had begun, and nobody can tell whether it took effect; `text` is then one sentence that says why, and no
    result. For approved calls only."""


ToolBody = Callable[[Any, Call], Awaitable[ToolOutcome]]
"""Takes the validated arguments (an instance of `Tool.arguments`) and the call.

Raises `NothingRan` if, and only if, nothing has begun. Any other exception counts as a failure after the
start. Being cancelled means: stop now and leave nothing behind.
"""


def _no_problem(arguments: Any, secrets: Mapping[str, NamedSecret]) -> str:
    return ""


def _anything(arguments: Mapping[str, Any]) -> str:
    return ""


def _nothing_missing() -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class SecretUse:
    """How a tool takes the secrets that a call of it refers to."""

    how: str
    """For the model: what to do with a reference."""
    in_arguments: bool = False
    """The values are put into the arguments before the body gets them; else the body finds them in its `Call`."""
    problem: Callable[[Any, Mapping[str, NamedSecret]], str] = _no_problem
    """Takes the validated arguments and the secrets that they refer to, by name; why that cannot be done, or ''."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool as policy, card and executor see it."""

    name: str
    description: str
    arguments: type[Arguments]
    body: ToolBody
    kind: ToolKind = ToolKind.APPROVAL
    gated: bool = True
    """Whether policy asks by default."""
    profile: str = "in-process"
    """What the body may touch, as shown on the card and bound by the digest: e.g. `bubblewrap, no network`."""
    networked: str = ""
    """The same for a call that a rule gives the machine's network; '' for a tool that has nothing to do with that."""
    environment: tuple[str, ...] = ()
    """Names of the environment variables the body's child process gets; bound by the digest."""
    binds: Callable[[Any], Mapping[str, str]] | None = None
    """Takes the validated arguments; the files that the call depends on, by name, each with a mark of its content as it
    is now. Called off the event loop, when the card is made and at the claim; the digest binds what it says."""
    preview: Callable[[Any], str] | None = None
    """Takes the validated arguments; a text that shows what the call would change, as things are now, or ''. Called as
    `binds` is; what it says is on the card and bound by the digest."""
    secrets: SecretUse | None = None
    """How it takes secrets; None: it takes none."""
    reads: Callable[[Mapping[str, Any]], str] | None = None
    """Takes the arguments as the model gave them; where the result comes from, if that is not from here: the name of a
    site, a file, a server. It is told to the people who decide about later calls. None: there is nothing to tell."""
    touches_nothing: bool = False
    """Its body can do nothing but compute: a rule may allow it although it takes a program's text. Never true of a tool
    that only says so of itself."""
    must_ask: Callable[[Mapping[str, Any]], str] = _anything
    """Takes the arguments; why no rule and no grant may let this call through, as half a sentence about it, or ''. What
    it cannot read counts as such a call."""
    sends: Callable[[Any], Mapping[str, Any]] | None = None
    """Takes the validated arguments; what would go out to whom: `method`, `host`, `path`, `headers` (names), `bytes`
    and `sha256` of the body; {} where there is nothing to tell. It is on the card and bound by the digest."""
    missing: Callable[[], str] = _nothing_missing
    """What it lacks on this machine, as a sentence, or ''. A tool that lacks something is off: offered to no model, and
    a call of it is refused before anybody is asked."""
    look_again: Callable[[], Awaitable[None]] | None = None
    """Finds out whether what it lacked is there by now; None where `missing` needs no finding out."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments. Made once: making one takes longer than storing a call."""
        return self.arguments.model_json_schema()


async def look_again(tools: Iterable[Tool]) -> None:
    """Find out anew which of them are off. What several have in common is looked at once."""
    for look in dict.fromkeys(tool.look_again for tool in tools):
        if look is not None:
            await look()
