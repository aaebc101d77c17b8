"""What can go wrong, drawn as a tree, and beside it the signals a tool raises on purpose.

    SignoffError
    ├── SettingsError          a setting is missing or makes no sense; says which one
    ├── StartError             it cannot run here: second process, wrong token, missing intent
    ├── ModelError             the model did not answer; carries what the person can do about it
    │   ├── EmptyAnswer        it answered with nothing; a job that ends so has nothing to report
    │   ├── BudgetSpent        it was not asked: a person's or a guild's budget for today is spent
    │   └── TurnStopped        the turn was ended on purpose: it kept asking, or a tool stopped it
    ├── DecisionRefused        a press, an answer or a command that changes nothing, and why
    │   ├── NotAllowed         this person may not decide
    │   ├── AlreadySettled     somebody or something was first
    │   └── UnknownApproval    no such request, or not on this message
    ├── DeliveryError          the face could not put a message where it belongs
    │   └── Unreachable        and trying again will not help
    │       ├── Gone           because the message, or the place itself, is not there any more
    │       └── Locked         because the place was closed; what stands there cannot be pressed either
    ├── ResumeRefused          a conversation cannot be gone on with like this; nothing was done
    │   ├── HistoryRefused     it cannot be read, or it is paused and was taken for one that is not
    │   ├── UnknownPauseFormat the stored pause was written by another version
    │   ├── ResultsMismatch    the resolutions do not fit the pause
    │   └── AlreadyResumed     the pause has had its one resume
    └── RunFailed              a run ended without an answer; names the stage, carries what was done
        └── RunCancelled       because a tool stopped it on purpose

    Signals (not errors), raised by tools: NothingRan, ApprovalRequired, CallDeferred, RunStopped.

Each carries its data. None is written for a person: people read `bot.deferral.sentences`, the model
reads another sentence there, the log has the detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal


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


class EmptyAnswer(ModelError):
    """The model ended the run with no word and no call."""


class BudgetSpent(ModelError):
    """The model was not asked, because what this person or this guild may use today is used."""


class TurnStopped(ModelError):
    """The turn was ended on purpose: the model kept emitting calls that had been answered, or a tool stopped it."""


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
    """A message could not be put where it belongs; trying again may help, but not before `after_ms` from now.

    `problem` is a sentence for people.
    """

    def __init__(self, problem: str, *, after_ms: int = 0) -> None:
        self.problem = problem
        self.after_ms = after_ms
        super().__init__(problem)


class Unreachable(DeliveryError):
    """A message can never get there: no permission, closed direct messages, no such channel."""


class Gone(Unreachable):
    """The message, or the place it was in, does not exist any more."""


class Locked(Unreachable):
    """The place was closed: nothing new can be said there, and nothing that stands there can be pressed."""


class ResumeRefused(SignoffError):
    """A conversation cannot be gone on with like this. No tool ran, no model was called, nothing changed."""


class HistoryRefused(ResumeRefused):
    """The history cannot be read, or it is paused and nobody said what to do with the calls that stand open.

    `open_calls` are the ids of those calls.
    """

    def __init__(self, problem: str, *, open_calls: Sequence[str] = ()) -> None:
        self.open_calls = tuple(open_calls)
        super().__init__(problem)


class UnknownPauseFormat(ResumeRefused):
    """A stored pause of a format that this program does not know; it is not guessed at."""


class ResultsMismatch(ResumeRefused):
    """The resolutions do not fit the pause. `problems` names every one of the reasons."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class AlreadyResumed(ResumeRefused):
    """The pause has had its one resume; what was approved in it has run, or runs now."""


Stage = Literal["tool", "model", "limits", "cancellation"]
"""Where a run ended that has no answer."""


class RunFailed(SignoffError):
    """A run of `bot.agent.deferring` ended without an answer, though something may have been done.

    `messages` is the conversation with everything that was done, each call of it closed, so that a new run can go on
    from there and nothing is done twice. The cause, where there is one, is `__cause__`.
    """

    def __init__(
        self,
        stage: Stage,
        problem: str,
        *,
        messages: Sequence[dict[str, Any]],
        run_id: str,
        conversation_id: str,
    ) -> None:
        self.stage = stage
        self.messages = list(messages)
        self.run_id = run_id
        self.conversation_id = conversation_id
        super().__init__(f"{stage} stage: {problem}")


class RunCancelled(RunFailed):
    """A tool raised `RunStopped`: the run ended on purpose, and nothing of it waits."""


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


class RunStopped(Exception):
    """Raised by a tool that wants the whole run to end, now and on purpose: no other card, no further model call.

    `reason` is for the person who asked. The calls of the same batch come to their end, but nothing of it is asked.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
