"""A pause and what resolves it, as plain data: it can be stored, sent, and checked without a model at hand.

The pause is the authority on what waits. A history that says something else is not believed; neither is a resolution
that does not fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.deferral.calls import PendingToolCall
from bot.deferral.endings import ENDINGS
from bot.deferral.executor import parse
from bot.deferral.tool import Tool, ToolKind
from bot.errors import ResultsMismatch, UnknownPauseFormat
from storage.approvals import ApprovalState

PAUSE_FORMAT = 1
"""The format of a stored pause. An unknown one is refused, not guessed."""


@dataclass(frozen=True, kw_only=True)
class ToolApproved:
    """Consent to run the call."""

    override_args: Mapping[str, Any] | None = None
    """Run it with these arguments in place of the model's, all of them; the model is told."""


@dataclass(frozen=True, kw_only=True)
class ToolDenied:
    """The call does not run."""

    message: str = ""
    """The reason, handed to the model; may be empty."""


Approval = ToolApproved | ToolDenied
"""The decision about one call that waits for consent."""


@dataclass(frozen=True, kw_only=True)
class DeferredToolRequests:
    """What a paused run waits for, each group in the model's emission order."""

    run_id: str
    """The run that paused. One pause has one resume: this is what it is known by."""
    conversation_id: str
    approvals: tuple[PendingToolCall, ...] = ()
    """Calls that wait for consent."""
    external: tuple[PendingToolCall, ...] = ()
    """Calls whose result comes from elsewhere; questions too (`PendingToolCall.kind` tells them apart)."""
    request: str | None = None
    """The request that the run was working on (see `bot.deferral.registry`); its resume inherits it."""

    @classmethod
    def of(
        cls, calls: Sequence[PendingToolCall], *, run_id: str, conversation_id: str, request: str | None
    ) -> DeferredToolRequests:
        """Group calls by what resolves them."""
        return cls(
            run_id=run_id,
            conversation_id=conversation_id,
            request=request,
            approvals=tuple(call for call in calls if call.kind is ToolKind.APPROVAL),
            external=tuple(call for call in calls if call.kind is not ToolKind.APPROVAL),
        )

    def __iter__(self) -> Iterator[PendingToolCall]:
        """Every call, approvals first."""
        yield from self.approvals
        yield from self.external

    def to_json(self) -> str:
        """The pause as one JSON object that says its own format."""
        return _STORED.dump_json(_StoredPause(format=PAUSE_FORMAT, pause=self)).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> DeferredToolRequests:
        """The pause from `to_json`. Raises `UnknownPauseFormat`."""
        try:
            format = _FORMAT.validate_json(text).format
        except ValidationError as error:
            raise UnknownPauseFormat("this is not a stored pause") from error
        if format != PAUSE_FORMAT:
            raise UnknownPauseFormat(f"a stored pause of format {format}; this program knows {PAUSE_FORMAT}")
        try:
            return _STORED.validate_json(text).pause
        except ValidationError as error:
            raise UnknownPauseFormat(f"a stored pause of format {format} that cannot be read: {error}") from error


@dataclass(frozen=True)
class _Format:
    format: int


@dataclass(frozen=True)
class _StoredPause:
    format: int
    pause: DeferredToolRequests


_FORMAT = TypeAdapter(_Format)
_STORED = TypeAdapter(_StoredPause)


@dataclass(frozen=True, kw_only=True)
class DeferredToolResults:
    """The resolutions of one pause by call id: a decision for each call that waits for consent, else a text."""

    approvals: Mapping[str, Approval] = field(default_factory=dict)
    external: Mapping[str, str] = field(default_factory=dict)
    """Results from elsewhere and answers to questions; the model gets them verbatim."""

    def check(self, requests: DeferredToolRequests, tools: Mapping[str, Tool]) -> None:
        """See that every pending call is resolved exactly once, by what resolves its kind, and can still run as shown.

        `tools` are the tools there are now, by name. Raises `ResultsMismatch` with everything that is wrong.
        """
        problems = [*_problems_of_pause(requests), *self._unknown(requests)]
        for call in requests.approvals:
            problems += self._problems_of_approval(call, tools.get(call.tool_name))
        for call in requests.external:
            problems += self._problems_of_external(call)
        if problems:
            raise ResultsMismatch(problems)

    def _unknown(self, requests: DeferredToolRequests) -> Iterator[str]:
        pending = {call.call_id for call in requests}
        for id in dict.fromkeys([*self.approvals, *self.external]):
            if id not in pending:
                yield f"nothing waits under the id {id!r}"
            elif id in self.approvals and id in self.external:
                yield f"the call {id} is resolved twice, by a decision and by a text"

    def _problems_of_approval(self, call: PendingToolCall, tool: Tool | None) -> Iterator[str]:
        if call.call_id not in self.approvals:
            wrong = call.call_id in self.external
            yield f"{_named(call)} waits for a decision and has {'a text' if wrong else 'none'}"
            return
        decision: object = self.approvals[call.call_id]
        if isinstance(decision, ToolDenied):
            return
        if not isinstance(decision, ToolApproved):
            yield f"the decision about {_named(call)} is neither an approval nor a denial"
        elif tool is None:
            yield f"the tool of {_named(call)} is not there any more"
        elif not _runs_as_shown(tool, call.args):
            yield f"{_named(call)} would not run as it was shown: the tool takes other arguments now"
        elif decision.override_args is not None and not _fits(tool, decision.override_args):
            yield f"the arguments given with the approval of {_named(call)} do not fit the tool"

    def _problems_of_external(self, call: PendingToolCall) -> Iterator[str]:
        if call.call_id not in self.external:
            wrong = call.call_id in self.approvals
            yield f"{_named(call)} waits for a result and has {'a decision' if wrong else 'none'}"
        elif not isinstance(self.external[call.call_id], str):
            yield f"the result of {_named(call)} is not a text"


def denial(tool_name: str, message: str) -> str:
    """What the model is told of a denied call."""
    note = f": {message}" if message else ""
    return ENDINGS[ApprovalState.DENIED].model.format(tool=tool_name, by="", code="", note=note)


def _problems_of_pause(requests: DeferredToolRequests) -> Iterator[str]:
    ids = Counter(call.call_id for call in requests)
    if not ids:
        yield "nothing is pending"
    if "" in ids:
        yield "a pending call has no id"
    for id, times in ids.items():
        if times > 1:
            yield f"{times} pending calls have the id {id!r}"


def _named(call: PendingToolCall) -> str:
    return f"the call {call.call_id} ({call.tool_name})"


def _fits(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    try:
        parse(tool, arguments)
    except (ValidationError, TypeError, ValueError):
        return False
    return True


def _runs_as_shown(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments still mean, whole and unchanged, what they meant when they were shown."""
    return _fits(tool, arguments) and parse(tool, arguments).model_dump(mode="json") == dict(arguments)
