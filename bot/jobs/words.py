"""What is said about jobs: to the model at their beginning, to people at their end.

Every ending has words of its own. A job that ends with nothing to say is not "done" with a blank: it is said to have
reported nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.texts.text import Text, key, say
from storage.jobs import Note
from storage.runs import Run, RunState

NOTHING_TO_REPORT = say("jobs.no_summary")
RESTARTING = say("jobs.put_aside")
BACKGROUND_EVENT = (
    "[event: a person sent this request into the background; it goes on there as job {id}. What comes of it is told"
    " here by itself. Do not start it again.]"
)
OUT_OF_TIME = say("jobs.out_of_time")

ANNOUNCING = say("jobs.announcing")

_OUTCOME = 6_000
"""Characters of an outcome that the model is told in an event."""

_ENDINGS = {
    RunState.DONE: "is done",
    RunState.FAILED: "failed",
    RunState.TIMED_OUT: "ran out of time",
    RunState.LOST: "was lost",
    RunState.CANCELLED: "was stopped",
}

_ANNOUNCED = {
    RunState.DONE: key("jobs.ended_done"),
    RunState.FAILED: key("jobs.ended_failed"),
    RunState.TIMED_OUT: key("jobs.ended_time"),
    RunState.LOST: key("jobs.ended_lost"),
    RunState.CANCELLED: key("jobs.ended_stopped"),
}

_STATES = {
    RunState.QUEUED: key("jobs.queued"),
    RunState.RUNNING: key("jobs.working"),
    RunState.WAITING: key("jobs.waiting"),
    RunState.DONE: key("jobs.done"),
    RunState.FAILED: key("jobs.failed"),
    RunState.TIMED_OUT: key("jobs.state_time"),
    RunState.LOST: key("jobs.lost"),
    RunState.CANCELLED: key("jobs.stopped"),
}


def too_deep(most: int) -> str:
    """Why a job may not start one more."""
    return say("jobs.too_deep", most=most)


def unfinished(text: str, partial: str) -> str:
    """The words of an ending that came before the answer, with what had been said until then shown as such."""
    return say("jobs.unfinished", text=text, partial=partial) if partial else text


def state_word(run: Run) -> Text:
    """How a job stands, in a word or three."""
    return say("jobs.nothing_to_report") if reports_nothing(run) else say(_STATES[run.state])


def reports_nothing(run: Run) -> bool:
    """Whether the job ended well and said nothing."""
    return run.state is RunState.DONE and not (run.result or "").strip()


_BLOCK = re.compile(r"-# |#{1,3} |>{1,3} |[-*] |\d+[.)] |```")


def ending(run: Run, state: RunState, text: str) -> Text:
    """The whole announcement of a job's end."""
    if state is RunState.DONE and not text.strip():
        return say("jobs.ended_silent", id=run.id, summary=NOTHING_TO_REPORT)
    # Small print, headings, lists, quotes and fences are only what they are at the beginning of a line.
    return say(_ANNOUNCED[state], id=run.id, text=f"\n{text}" if _BLOCK.match(text) else text)


EVENT = "[event: the person did not write this]"


def event(run: Run) -> str:
    """What stands in the user position of the conversation that an ended job came from."""
    return (
        f"{EVENT}\nBackground job {run.id} {_ended(run)}. The program tells people its outcome word for word, so do not"
        " repeat it. Say only what helps beyond it. Do not start it again. If there is nothing to add, answer with"
        f" nothing but: nothing to add\n\n{_outcome(run)}"
    )


def event_for_job(run: Run) -> str:
    """What an open job is told, as a note that nobody wrote, when a job that it has started ended."""
    return f"{EVENT}\nThe job {run.id} that you have started {_ended(run)}; people have been told.\n\n{_outcome(run)}"


def _ended(run: Run) -> str:
    return "has nothing to report" if reports_nothing(run) else _ENDINGS[run.state]


def _outcome(run: Run) -> str:
    result = (run.result or "").strip() or str(NOTHING_TO_REPORT)
    if len(result) > _OUTCOME:
        result = f"{result[:_OUTCOME]}\n[... {len(result) - _OUTCOME} more characters; people get all of them ...]"
    return f"Its goal: {run.prompt}\n\nIts outcome: {result}"


def first_message(goal: str, background: str, notes: Sequence[Note], who: Callable[[str], str]) -> str:
    """What a job is told at its beginning: the goal in its own words, then where it comes from."""
    parts = [goal]
    if background:
        parts.append(
            "[Background, added by the program: what was said last in the conversation that this job comes from. It is"
            f" there for understanding the goal, and asks for nothing by itself.]\n{background}"
        )
    if notes:
        parts.append(told(notes, who))
    return "\n\n".join(parts)


def told(notes: Sequence[Note], who: Callable[[str], str]) -> str:
    """Notes for a job that is at work, as the model is told them."""
    return "\n\n".join(
        # A note without a person is an event, and says so itself.
        f"[A note from {who(note.person)} about this job:]\n{note.text}" if note.person else note.text
        for note in notes
    )
