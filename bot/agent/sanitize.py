"""Makes a history that came from outside fit to be gone on from, and says what was wrong with it.

Whoever holds a history can write into it: words in the system's voice, addresses that the provider would fetch, calls
that the model never made. The last is the worst, because a paused history asks for consent: only the pause that the
application kept itself says what waits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from pydantic_ai.messages import (
    FileUrl,
    InstructionBaselinePart,
    InstructionDeltaPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    SystemPromptPart,
    UserContent,
    UserPromptPart,
    sanitize_messages,
)

from bot.agent.history import Message, from_values, open_calls, to_values
from bot.agent.repair import RepairReport, repair
from bot.deferral.results import DeferredToolRequests

FETCHABLE = frozenset({"http", "https"})
"""The schemes that an address in a history may have."""


@dataclass(frozen=True, kw_only=True)
class DroppedUrl:
    """An address that was taken out."""

    index: int
    """The message it stood in, counted in the history that was given."""
    kind: str
    """pydantic-ai's word: `image-url`, `document-url` and so on."""
    scheme: str
    """In lower case; empty for an address without one."""


@dataclass(frozen=True, kw_only=True)
class FabricatedCall:
    """A call that stands open in the history, though nobody was asked about it."""

    call_id: str
    tool_name: str


@dataclass(kw_only=True)
class SanitizeReport:
    """What was wrong."""

    system_parts: int = 0
    """Parts in the system's voice that were taken out."""
    urls: list[DroppedUrl] = field(default_factory=list)
    emptied: int = 0
    """Requests of which nothing was left."""
    fabricated: list[FabricatedCall] = field(default_factory=list)
    """They were closed as calls without a result: no resolution of them is asked for."""
    repaired: RepairReport = field(default_factory=RepairReport)
    notes: list[str] = field(default_factory=list)
    """What else pydantic-ai takes out of such histories, in its own words."""


def sanitize(
    history: Sequence[Message], *, pending: DeferredToolRequests | None = None
) -> tuple[list[Message], SanitizeReport]:
    """The history made fit, and the report; what was given stays as it is. Done again, it changes nothing.

    `pending` is the pause that the application kept, if the history is paused: those calls, and only those, stay open.
    Results of tools stay, but for those that answer no call. Raises `HistoryRefused`.
    """
    report = SanitizeReport()
    kept: list[ModelMessage] = []
    for index, message in enumerate(from_values(history)):
        clean = _request(message, index, report) if isinstance(message, ModelRequest) else message
        if clean is not None:
            kept.append(clean)
    genuine = {call.call_id: call.tool_name for call in pending} if pending is not None else {}
    for call in open_calls(kept):
        if genuine.get(call.tool_call_id) != call.tool_name:
            report.fabricated.append(FabricatedCall(call_id=call.tool_call_id, tool_name=call.tool_name))
    fabricated = {call.call_id for call in report.fabricated}
    whole, report.repaired = repair(kept, keep_open=genuine.keys() - fabricated)
    return to_values(_as_pydantic_ai_would(whole, report)), report


def _request(message: ModelRequest, index: int, report: SanitizeReport) -> ModelRequest | None:
    parts = [clean for part in message.parts if (clean := _part(part, index, report)) is not None]
    if not parts and message.parts:
        report.emptied += 1
        return None
    return replace(message, parts=parts)


def _part(part: ModelRequestPart, index: int, report: SanitizeReport) -> ModelRequestPart | None:
    if isinstance(part, SystemPromptPart | InstructionDeltaPart | InstructionBaselinePart):
        report.system_parts += 1
        return None
    if not isinstance(part, UserPromptPart) or isinstance(part.content, str):
        return part
    content = [item for item in part.content if not _is_unfetchable(item, index, report)]
    return replace(part, content=content) if content or not part.content else None


def _is_unfetchable(item: UserContent, index: int, report: SanitizeReport) -> bool:
    if not isinstance(item, FileUrl):
        return False
    scheme = _scheme(item.url)
    if scheme in FETCHABLE:
        return False
    report.urls.append(DroppedUrl(index=index, kind=item.kind, scheme=scheme))
    return True


def _scheme(url: str) -> str:
    try:
        return urlsplit(url.strip()).scheme.lower()
    except ValueError:
        return ""


def _as_pydantic_ai_would(messages: list[ModelMessage], report: SanitizeReport) -> list[ModelMessage]:
    """The rest: uploaded files, forced downloads, addresses in results, and what only pydantic-ai itself may write."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        clean = sanitize_messages(messages, resolved_tool_call_ids={call.tool_call_id for call in open_calls(messages)})
    report.notes = [str(one.message) for one in said]
    return clean
