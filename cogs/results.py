"""What long results look like on a card: their two ends, and a file with the whole of them.

A short one is behind `Details`, as ever. What is stored is masked already; what looks like a credential is masked
here too, in the file as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.deferral.tool import ToolKind
from cogs import inert
from cogs.limits import length
from cogs.speech import tell
from storage.approvals import Approval, ApprovalState

LARGE = 1_000
"""Code units of a result from which on it comes as a file."""
LARGEST = 8 * 1024 * 1024
"""Bytes of the file; Discord takes 10 MiB where nobody has paid for more."""
_HEAD, _TAIL, _LINES = 260, 160, 8


def is_large(call: Approval) -> bool:
    """Whether what came of the call belongs into a file."""
    ran = call.kind == ToolKind.APPROVAL and call.state in {ApprovalState.SUCCEEDED, ApprovalState.FAILED}
    return ran and call.result is not None and length(call.result) > LARGE


def ends(call: Approval) -> list[str]:
    """The two ends of a long result, for a card that has room for them; nothing of a short one."""
    if not is_large(call):
        return []
    cut = inert.excerpt(call.result or "", head=_HEAD, tail=_TAIL, lines=_LINES)
    if cut is None:
        return [tell("details.result"), inert.block(call.result or "")]
    return [tell("details.result"), inert.fence(cut.head), tell("details.cut", n=cut.hidden), inert.fence(cut.tail)]


def whole(calls: Sequence[Approval]) -> str:
    """The long results of these calls as one file; '' if there is none."""
    large = [call for call in calls if is_large(call)]
    texts = [inert.encode(call.result or "", inert.Form.FILE) for call in large]
    if len(calls) == 1:
        return "".join(texts)
    parts = (f"{inert.label(call.tool)} ({call.id})\n\n{text}" for call, text in zip(large, texts, strict=True))
    return "\n\n----\n\n".join(parts)
