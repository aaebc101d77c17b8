"""How a job's card looks: a pure function of its rows.

The first paragraph alone says which job, how it stands, for whom and what for. Time that passes is written so that
Discord counts it by itself: a card need not be edited for a second to go by.
"""

from __future__ import annotations

from collections.abc import Iterator

import discord
from discord import ui

from bot.jobs.cards import OPEN
from bot.jobs.words import state_word
from bot.surface import JobView
from cogs import inert, layout, schedule_words
from cogs.custom_ids import CustomId, Verb, steady
from cogs.layout import Item
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
    return layout.build(layout.text(f"-# This job goes on: its card is [here]({link}) now."))


def _items(view: JobView) -> Iterator[Item]:
    run = view.run
    goal = inert.line(run.prompt, limit=_GOAL)
    by = "" if view.schedule is None else f", {schedule_words.named(view.schedule)}"
    yield layout.text(f"### Job · {_state(view)}\nFor <@{run.requester}> · `{run.id}`{by}\n> {goal}")
    if view.steps:
        yield layout.text("\n".join(f"-# {inert.line(step.text, limit=_STEP)}" for step in view.steps))
    yield layout.text("\n".join(_accounts(view)))
    yield ui.ActionRow(*_buttons(view))


def _state(view: JobView) -> str:
    word = state_word(view.run)
    return f"{word}, place {view.place_in_queue} in the queue" if view.place_in_queue is not None else word


def _accounts(view: JobView) -> Iterator[str]:
    run, job = view.run, view.job
    for link in view.asks:
        yield f"Waits for a decision: {link}"
    if view.notes:
        yield f"-# {view.notes} note{'' if view.notes == 1 else 's'} to read at its next stretch"
    computed = f"computed {_minutes(run.spent_ms)}"
    if run.budget_ms is not None:
        computed += f" of {_minutes(run.budget_ms)}"
        if view.working_since is not None:
            left = run.budget_ms - view.spent_before_ms
            computed += f", at work since <t:{view.working_since // 1000}:R>"
            computed += f", time is up <t:{(view.working_since + left) // 1000}:R>"
    yield f"-# Started <t:{run.created_at // 1000}:R> · {computed}"
    if run.ended_at is not None:
        yield f"-# Ended <t:{run.ended_at // 1000}:R>"
    if job.input_tokens or job.output_tokens:
        cost = f", about ${job.cost_micros / 1_000_000:.4f}" if job.cost_micros else ""
        yield f"-# {job.input_tokens:,} tokens read, {job.output_tokens:,} written{cost}"
    if view.before:
        yield f"-# Its card before this one: {view.before}"


def _buttons(view: JobView) -> Iterator[ui.Button[ui.LayoutView]]:
    id = view.run.id
    if view.run.state in OPEN:
        yield _button("Stop", discord.ButtonStyle.danger, Verb.JOB_STOP, id)
        yield _button("Extend", discord.ButtonStyle.secondary, Verb.JOB_EXTEND, id)
        yield _button("Send a note", discord.ButtonStyle.primary, Verb.JOB_NOTE, id)
    yield _button("Log", discord.ButtonStyle.secondary, Verb.JOB_LOG, id)


def _button(label: str, style: discord.ButtonStyle, verb: Verb, id: str) -> ui.Button[ui.LayoutView]:
    custom_id = CustomId(verb=verb, id=id)
    return ui.Button(label=label, style=style, custom_id=str(custom_id), id=steady(custom_id))


def _minutes(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"
