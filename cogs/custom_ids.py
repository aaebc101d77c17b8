"""What a button says when it is pressed: version, verb, and an opaque id. All else is in the row.

    so1:<verb>:<id>[:<number>]

Matched exactly. A press that does not decode is refused aloud, never mapped to a default: a separator left in an
id once recorded every approval of another bot as a rejection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from cogs import limits


class Verb(StrEnum):
    """What is asked for. Unless said otherwise, the id is a call's."""

    APPROVE = "approve"
    APPROVE_UNSEEN = "approve-unseen"
    """Approve a call that the card does not show whole: asks once more before it counts."""
    DENY = "deny"
    DETAILS = "details"
    ANSWER = "answer"
    """Opens the form for a question's answer."""
    CHOICE = "choice"
    """One of a question's choices; the number is its position."""
    ALL_APPROVE = "all-approve"
    """The id is a card's, here and in the next two."""
    ALL_APPROVE_UNSEEN = "all-approve-unseen"
    ALL_DENY = "all-deny"
    FORM_ANSWER = "form-answer"
    """A submitted form; the number tells this opening of it from others. Here and in the next two."""
    FORM_APPROVE = "form-approve"
    FORM_ALL_APPROVE = "form-all-approve"
    JOB_STOP = "job-stop"
    """The id is a job's, from here on."""
    JOB_EXTEND = "job-extend"
    JOB_NOTE = "job-note"
    """Opens the form for a note."""
    JOB_LOG = "job-log"
    FORM_JOB_NOTE = "form-job-note"


FORMS = frozenset({Verb.FORM_ANSWER, Verb.FORM_APPROVE, Verb.FORM_ALL_APPROVE, Verb.FORM_JOB_NOTE})
NUMBERED = FORMS | {Verb.CHOICE}

_FORMAT = re.compile(r"so1:([a-z-]{1,20}):([a-z0-9_-]{1,40})(?::(0|[1-9][0-9]{0,19}))?")


@dataclass(frozen=True, kw_only=True)
class CustomId:
    """A decoded custom id."""

    verb: Verb
    id: str
    number: int | None = None

    def __str__(self) -> str:
        text = f"so1:{self.verb}:{self.id}" + ("" if self.number is None else f":{self.number}")
        if decode(text) != self or len(text) > limits.CUSTOM_ID:
            raise ValueError(f"{text!r} would not come back as it was sent")
        return text


def decode(text: str) -> CustomId | None:
    """The custom id that encodes to exactly this text, or None."""
    match = _FORMAT.fullmatch(text)
    if match is None or match[1] not in set(Verb):
        return None
    verb = Verb(match[1])
    if (match[3] is not None) != (verb in NUMBERED):
        return None
    return CustomId(verb=verb, id=match[2], number=None if match[3] is None else int(match[3]))
