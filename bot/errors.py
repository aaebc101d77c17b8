"""What can go wrong, drawn as a tree, and beside it the signals a tool raises on purpose.

    SignoffError
    ├── SettingsError          a setting is missing or makes no sense; says which one
    ├── StartError             it cannot run here: second process, wrong token, missing intent
    ├── ModelError             the model did not answer; carries what the person can do about it
    │   └── TurnStopped        it kept asking for what it was refused, so the turn was ended
    ├── DecisionRefused        a press, an answer or a command that changes nothing, and why
    │   ├── NotAllowed         this person may not decide
    │   ├── AlreadySettled     somebody or something was first
    │   └── UnknownApproval    no such request, or not on this message
    └── DeliveryError          the face could not put a message where it belongs
        └── Unreachable        and trying again will not help

    Signals (not errors), raised by tools: NothingRan, ApprovalRequired, CallDeferred.

Each carries its data. None is written for a person: people read `bot.deferral.sentences`, the model
reads another sentence there, the log has the detail.
"""

from __future__ import annotations

from collections.abc import Sequence


class SignoffError(Exception):
    """The root of everything this program raises on purpose."""


class SettingsError(SignoffError):
    """A setting is missing or makes no sense."""

    def __init__(self, setting: str, problem: str) -> None:
        self.setting = setting
        self.problem = problem
        super().__init__(f"{setting}: {problem}")

    @classmethod
    def together(cls, problems: Sequence[SettingsError]) -> SettingsError:
        """One error for all that is wrong; its text has a line for each. `problems` is not empty."""
        error = cls(", ".join(one.setting for one in problems), "; ".join(one.problem for one in problems))
        error.args = ("\n".join(str(one) for one in problems),)
        return error


class StartError(SignoffError):
    """The program cannot run here; `str()` is one sentence with the fix."""


class ModelError(SignoffError):
    """The model did not give an answer.

    `advice` is one sentence for the person who asked; `detail` is for the log only.
    """

    def __init__(self, advice: str, *, detail: str = "") -> None:
        self.advice = advice
        self.detail = detail
        super().__init__(detail or advice)


class TurnStopped(ModelError):
    """The model kept emitting calls that had been answered already; the breaker ended the turn."""


class DecisionRefused(SignoffError):
    """A press, an answer or a command that changed nothing.

    `code` is the audit's word for why, `sentence` what the person is told.
    """

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(f"{code}: {sentence}")


class NotAllowed(DecisionRefused):
    """This person may not decide this request."""


class AlreadySettled(DecisionRefused):
    """Somebody or something decided before."""


class UnknownApproval(DecisionRefused):
    """There is no such request, or it does not belong to this message."""


class DeliveryError(SignoffError):
    """A message could not be put where it belongs; trying again may help."""


class Unreachable(DeliveryError):
    """A message can never get there: no permission, closed direct messages, no such channel."""


class NothingRan(Exception):
    """Raised by a tool that could not start: its effect has certainly not begun.

    The one way to say so: prose is never parsed for it, and a tool that raises anything else after this
    point is taken to have run.
    """


class ApprovalRequired(Exception):
    """Raised by a tool that, for these arguments, wants a person's sign-off: `reason` is shown on the card.

    Everything before it must be safe to repeat: the body runs again, from its beginning, once it is approved
    (`Call.approved` is true then).
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class CallDeferred(Exception):
    """Raised by a tool whose result lives elsewhere and comes later; `key` finds it there (a job's number, say).

    The body does not run again: whoever holds the result delivers it.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)
