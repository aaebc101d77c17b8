"""One request, one run: a call that the model emits again gets an answer, not a second card.

Durable, because it reads the rows: it holds across restarts, resumes and repeated requests, and forgets
nothing by count. It can only ever suppress a card.
"""

from __future__ import annotations

from bot.deferral import sentences
from storage import requests
from storage.approvals import Approval
from storage.database import Reader


async def screen(
    reader: Reader, *, intent: str | None, action: str, conversation: str, requester: str
) -> Approval | None:
    """The call that already answers for this one, or None if it is new.

    That is the same action for the same request in whatever state, or else the same person's identical ask
    that still waits in the same conversation.
    """
    if intent is not None and (same := await requests.of_request(reader, intent)) is not None:
        return same
    return await requests.open_action(reader, conversation=conversation, requester=requester, action=action)


def answer(earlier: Approval, *, intent: str | None, link: str, action: str | None = None) -> str:
    """What the model is told in place of a card. A call that is another action by now was edited in this request."""
    edited = action is not None and earlier.action != action
    if edited or (earlier.intent is not None and earlier.intent == intent):
        return sentences.reemitted(earlier)
    return sentences.still_waiting(earlier, link)
