"""What a button says when it is pressed: version, verb, and an opaque id. All else is in the row.

    so1:<verb>:<id>[.<edition>][:<number>]

Matched exactly. A press that does not decode is refused aloud, never mapped to a default: a separator left in an
id once recorded every approval of another bot as a rejection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

from cogs import limits


class Verb(StrEnum):
    """What is asked for. Unless said otherwise, the id is a call's."""

    APPROVE = "approve"
    APPROVE_UNSEEN = "approve-unseen"
    """Approve a call that the card does not show whole: asks once more before it counts."""
    REMEMBER = "remember"
    """Opens the form for approving it and the very call from then on."""
    DENY = "deny"
    DENY_REASON = "deny-reason"
    """Opens the form for a denial's reason."""
    EDIT = "edit"
    """Opens the form with the call's arguments."""
    CANCEL = "cancel"
    AGAIN = "again"
    """Ask about an ended call once more."""
    UNDO = "undo"
    """Take back what it wrote."""
    DETAILS = "details"
    REVEAL = "reveal"
    """See what the card masks."""
    ANSWER = "answer"
    """Opens the form for a question's answer."""
    CHOICE = "choice"
    """One of a question's choices; the number is its position."""
    ALL_APPROVE = "all-approve"
    """The id is a card's, here and in the next four; the edition is that of the card which was pressed."""
    ALL_APPROVE_UNSEEN = "all-approve-unseen"
    ALL_DENY = "all-deny"
    ALL_CANCEL = "all-cancel"
    EXTEND = "extend"
    LIST_APPROVE = "list-approve"
    """In a private list of open calls, here and in the next five; the number says where in which list."""
    LIST_APPROVE_UNSEEN = "list-approve-unseen"
    LIST_DENY = "list-deny"
    LIST_CANCEL = "list-cancel"
    LIST_DETAILS = "list-details"
    LIST_REVEAL = "list-reveal"
    """Also below a private look at one call."""
    LIST_PAGE = "list-page"
    GRANTS_PAGE = "grants-page"
    """In the private list of grants, here and in the next one; the number is the page."""
    GRANTS_REVOKE = "grants-revoke"
    """A choice in the list; the id says nothing."""
    RULES_HOME = "rules-home"
    """In the private list of a guild's rules, from here on. The id is a draft's with the number of a rule behind it,
    the edition the draft's mark."""
    RULES_PICK = "rules-pick"
    RULES_PICK_WHO = "rules-pick-who"
    RULES_SAVE = "rules-save"
    RULES_DROP = "rules-drop"
    RULES_TRY = "rules-try"
    RULES_TOOL = "rules-tool"
    """What runs: here and in the next six."""
    RULES_ACTION = "rules-action"
    RULES_CHANNELS = "rules-channels"
    RULES_ROLES = "rules-roles"
    RULES_ARGUMENTS = "rules-arguments"
    RULES_UP = "rules-up"
    RULES_REMOVE = "rules-remove"
    RULES_WHO_TOOLS = "rules-who-tools"
    """Who decides: here and in the next six."""
    RULES_WHO_CHANNELS = "rules-who-channels"
    RULES_PEOPLE = "rules-people"
    RULES_EACH = "rules-each"
    RULES_DEMANDS = "rules-demands"
    RULES_WHO_UP = "rules-who-up"
    RULES_WHO_REMOVE = "rules-who-remove"
    SET_CHANNEL = "set-channel"
    """In the private list of a guild's settings, from here on. The id is a draft's, the edition its mark."""
    SET_PEOPLE = "set-people"
    SET_HERE = "set-here"
    SET_NOTIFY = "set-notify"
    SET_MODEL = "set-model"
    SET_BUDGETS = "set-budgets"
    """Opens a form, like the next one."""
    SET_QUIET = "set-quiet"
    SET_SAVE = "set-save"
    SET_DROP = "set-drop"
    FORM_SET_BUDGETS = "form-set-budgets"
    FORM_SET_QUIET = "form-set-quiet"
    DRILL = "drill"
    """The id is a drill's."""
    TOOLS_PAGE = "tools-page"
    """Another page of the tools; the number says which, the id nothing."""
    HELP = "help"
    """A choice in the list of topics; the id says nothing."""
    USAGE_DAYS = "usage-days"
    """In the private list of usage, here and in the next two; the id says what it shows."""
    USAGE_BY = "usage-by"
    USAGE_WHOSE = "usage-whose"
    FORM_ANSWER = "form-answer"
    """A submitted form; the number tells this opening of it from others. Here and in the next six."""
    FORM_REMEMBER = "form-remember"
    FORM_APPROVE = "form-approve"
    FORM_LIST_APPROVE = "form-list-approve"
    FORM_ALL_APPROVE = "form-all-approve"
    FORM_DENY = "form-deny"
    FORM_EDIT = "form-edit"
    FORM_ASK_ABOUT = "form-ask-about"
    """Opened from a message's menu: the id is a clipping's, and the submit comes without a message."""
    JOB_STOP = "job-stop"
    """The id is a job's, from here on."""
    JOB_EXTEND = "job-extend"
    JOB_NOTE = "job-note"
    """Opens the form for a note."""
    JOB_LOG = "job-log"
    JOB_FILES = "job-files"
    FORM_JOB_NOTE = "form-job-note"
    SCHEDULE_SAVE = "schedule-save"
    """The id is a draft's, here and in the next one."""
    SCHEDULE_DROP = "schedule-drop"
    FORM_RULES_TOOL = "form-rules-tool"
    """Forms of the list of rules."""
    FORM_RULES_ARGS = "form-rules-args"
    FORM_RULES_DEMANDS = "form-rules-demands"
    FORM_RULES_WHO_TOOLS = "form-rules-who-tool"
    COMMAND_STOP = "command-stop"
    """In the private list of what goes on; the id is a background command's."""
    TURN_STOP = "turn-stop"
    """The id is that of a turn's run, here and in the next one."""
    TURN_BACKGROUND = "turn-background"


MESSAGELESS = frozenset({Verb.FORM_ASK_ABOUT})
"""What no button has opened, and so stands on no message; everything else counts on its own message only."""
FORMS = frozenset(verb for verb in Verb if verb.startswith("form-"))
GRANTS = frozenset({Verb.GRANTS_PAGE, Verb.GRANTS_REVOKE})
NUMBERED = FORMS | GRANTS | {Verb.CHOICE, Verb.TOOLS_PAGE} | {verb for verb in Verb if verb.startswith("list-")}
RULES = frozenset(verb for verb in Verb if verb.startswith(("rules-", "form-rules-")))
SETTINGS = frozenset(verb for verb in Verb if verb.startswith(("set-", "form-set-")))
EDITIONED = (
    frozenset({Verb.ALL_APPROVE, Verb.ALL_APPROVE_UNSEEN, Verb.ALL_DENY, Verb.FORM_ALL_APPROVE}) | RULES | SETTINGS
)
"""What decides about all calls of a card must not decide about one that the presser has not seen; likewise
rules and settings."""

_NUMBER = "0|[1-9][0-9]{0,19}"
_FORMAT = re.compile(rf"so1:([a-z-]{{1,20}}):([a-z0-9_-]{{1,40}})(?:\.({_NUMBER}))?(?::({_NUMBER}))?")


_VERBS = {str(verb): verb for verb in Verb}
_FIRST_STEADY = 10_000


@dataclass(frozen=True, kw_only=True)
class CustomId:
    """A decoded custom id."""

    verb: Verb
    id: str
    number: int | None = None
    edition: int | None = None

    def __str__(self) -> str:
        text = f"so1:{self.verb}:{self.id}" + ("" if self.edition is None else f".{self.edition}")
        text += "" if self.number is None else f":{self.number}"
        if decode(text) != self or len(text) > limits.CUSTOM_ID:
            raise ValueError(f"{text!r} would not come back as it was sent")
        return text


def steady(custom_id: object) -> int:
    """The component id of a button: the same through every edit of its message, whatever comes or goes around it.

    Without one, components are numbered as they stand, and a client that goes by the number would take a button for
    the one that has moved into its place. 32 bits, unique within a message; 0 means "none", and small numbers are
    given to what has no id of its own (Discord: Component Reference, "Anatomy of a Component").
    """
    return _FIRST_STEADY + crc32(str(custom_id).encode()) % (2**31 - _FIRST_STEADY)


def decode(text: str) -> CustomId | None:
    """The custom id that encodes to exactly this text, or None."""
    match = _FORMAT.fullmatch(text)
    verb = None if match is None else _VERBS.get(match[1])
    if match is None or verb is None:
        return None
    if (match[3] is not None) != (verb in EDITIONED) or (match[4] is not None) != (verb in NUMBERED):
        return None
    edition, number = (None if text is None else int(text) for text in (match[3], match[4]))
    return CustomId(verb=verb, id=match[2], number=number, edition=edition)
