"""How a job's card looks: a pure function of its rows.

The first paragraph alone says which job, how it stands, for whom and what for. Time that passes is written so that
Discord counts it by itself: a card need not be edited for a second to go by.
"""

from __future__ import annotations

from collections.abc import Iterator

import discord
from discord import ui

from bot.budgets import money
from bot.jobs.cards import OPEN
from bot.jobs.words import state_word
from bot.surface import JobView
from bot.texts.recall import recall
from cogs import inert, layout, schedule_words
from cogs.custom_ids import CustomId, Verb, steady
from cogs.layout import Item
from cogs.limits import length
from cogs.speech import shown, tell
from storage.runs import RunState

_GOAL = 700
_STEP = 100

_COLOURS = {
    RunState.QUEUED: 0x80848E,
    RunState.RUNNING: 0x5865F2,
    RunState.WAITING: 0xE8A33D,
    RunState.DONE: 0x3BA55C,
    RunState.FAILED: 0xD83C3E,
    RunState.TIMED_OUT: 0xD83C3E,
    RunState.LOST: 0xD83C3E,
    RunState.CANCELLED: 0x80848E,
}


def render(view: JobView) -> ui.LayoutView:
    """The card. Needs a running loop."""
    run = view.run
    return layout.build(ui.Container(*_items(view), accent_colour=_COLOURS[run.state]))


def moved(link: str) -> ui.LayoutView:
    """What an old card is turned into. Needs a running loop."""
    return layout.build(layout.text(tell("jobs.moved", link=link)))


def _items(view: JobView) -> Iterator[Item]:
    run = view.run
    by = "" if view.schedule is None else f", {schedule_words.named(view.schedule)}"
    yield layout.text(
        tell("jobs.card", state=_state(view), person=run.requester, id=run.id, by=by, goal=_goal(run.prompt))
    )
    if view.steps:
        yield layout.text("\n".join(f"-# {inert.line(shown(recall(step.text)), limit=_STEP)}" for step in view.steps))
    yield layout.text("\n".join(_accounts(view)))
    yield ui.ActionRow(*_buttons(view))


def _goal(goal: str) -> str:
    """The goal as a line of code. One with single backticks, which could only be written out there, is a block."""
    whole = inert.encode(goal, inert.Form.FILE)
    if "`" in goal and "``" not in goal and goal.split() == goal.split(" ") and length(whole) <= _GOAL:
        return f"\n{inert.fence(whole)}"
    return f"\n> {inert.line(goal, limit=_GOAL)}"


def _state(view: JobView) -> str:
    word = shown(state_word(view.run))
    return tell("jobs.queue_place", state=word, place=view.place_in_queue) if view.place_in_queue is not None else word


def _accounts(view: JobView) -> Iterator[str]:
    run, job = view.run, view.job
    for link in view.asks:
        yield tell("jobs.waits_for", link=link)
    if view.notes:
        yield tell("jobs.notes", n=view.notes)
    computed = tell("jobs.computed", time=_minutes(run.spent_ms))
    if run.budget_ms is not None:
        computed += tell("jobs.of_budget", time=_minutes(run.budget_ms))
        if view.working_since is not None:
            left = run.budget_ms - view.spent_before_ms
            computed += tell("jobs.at_work", at=view.working_since // 1000)
            computed += tell("jobs.time_up", at=(view.working_since + left) // 1000)
    yield tell("jobs.times", at=run.created_at // 1000, computed=computed)
    if run.ended_at is not None:
        yield tell("jobs.ended", at=run.ended_at // 1000)
    if job.input_tokens or job.output_tokens:
        cost = shown(money(job.cost_micros))
        yield tell("jobs.tokens", read=job.input_tokens, written=job.output_tokens, cost=cost)
    if view.before:
        yield tell("jobs.before", link=view.before)


def _buttons(view: JobView) -> Iterator[ui.Button[ui.LayoutView]]:
    id = view.run.id
    if view.run.state in OPEN:
        yield _button(tell("turns.stop"), discord.ButtonStyle.danger, Verb.JOB_STOP, id)
        yield _button(tell("cards.extend"), discord.ButtonStyle.secondary, Verb.JOB_EXTEND, id)
        yield _button(tell("jobs.send_note"), discord.ButtonStyle.primary, Verb.JOB_NOTE, id)
    yield _button(tell("jobs.log"), discord.ButtonStyle.secondary, Verb.JOB_LOG, id)
    if view.has_files:
        yield _button(tell("jobs.files_button"), discord.ButtonStyle.secondary, Verb.JOB_FILES, id)


def _button(label: str, style: discord.ButtonStyle, verb: Verb, id: str) -> ui.Button[ui.LayoutView]:
    custom_id = str(CustomId(verb=verb, id=id))
    return ui.Button(label=label, style=style, custom_id=custom_id, id=steady(custom_id))


def _minutes(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"
