"""Every place where people are shown a text that somebody else chose, drawn by the code that draws it.

A field takes a text and gives what goes to Discord; `means` says what is to be read there: the text itself, unless the
field shows something made of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.anew import Begun
from bot.deferral.amend import Draft
from bot.errors import DecisionRefused
from bot.forking import Forked
from bot.guild_book import InForce
from bot.jobs.schedules import Entry
from bot.outside import ServerState
from bot.permits import Condition
from bot.policy_view import Change, PolicyView
from bot.rules import ApproverRule
from bot.surface import CardView
from bot.timeline import _text as moment
from cogs import (
    anew,
    approval_list,
    cards,
    details,
    fork,
    forms,
    inbox,
    inert,
    job_cards,
    modals,
    policy_forms,
    policy_views,
    schedule_words,
    tools,
    why,
)
from cogs.places import Place
from storage.approvals import ApprovalState
from storage.jobs import Step
from storage.schedules import Occurrence, Why
from tests.proof.faces_rows import NOW, call, card, entry, job, otherwise, owed, rule, rules, schedule, trail
from tests.proof.shown import Part, message, name, view

Means = Callable[[str], Sequence[str]]


def some(text: str) -> str:
    """For what is not there at all when it is empty."""
    return text or "x"


def something(text: str) -> Sequence[str]:
    return (some(text),)


def itself(text: str) -> Sequence[str]:
    return (text,)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One place. `always`: the text is always to be read there, if only its beginning."""

    name: str
    show: Callable[[str], list[Part]]
    means: Means = itself
    always: bool = True
    pieces: bool = False
    """It shows pieces of the text beside it: hosts, words, what stands around a change."""


# -- drawing ---------------------------------------------------------------------------------------


def drawn(shown: CardView) -> list[Part]:
    rendered = cards.render(shown)
    parts = view(rendered.view)
    return parts if rendered.attachment is None else [*parts, Part("file", rendered.attachment.content, 0, 10_000_000)]


def private(shown: CardView) -> list[Part]:
    text, files = details.compose(shown, shown.approvals[0].id)
    return message(text if len(text) <= 2_000 else text[:1_990], files) if len(text) > 2_000 else message(text, files)


def several(**changes: Any) -> Callable[[str], list[Part]]:
    """A card of three calls; the middle one is the one in question."""
    return lambda text: drawn(card(call(0), call(1, **{key: make(text) for key, make in changes.items()}), call(2)))


def one(**changes: Any) -> Callable[[str], list[Part]]:
    return lambda text: drawn(
        card(call(**{key: make(text) if callable(make) else make for key, make in changes.items()}))
    )


def looked_at(**changes: Any) -> Callable[[str], list[Part]]:
    return lambda text: private(
        card(call(**{key: make(text) if callable(make) else make for key, make in changes.items()}))
    )


def listed(**changes: Any) -> Callable[[str], list[Part]]:
    def show(text: str) -> list[Part]:
        made = call(**{key: make(text) if callable(make) else make for key, make in changes.items()})
        row = approval_list._Entry(call=made, place="discord/1/2", message="5", may_decide=True, own=False)
        return view(approval_list._drawn([row], approval_list.Leaf(), said="", others=0, unseen=0))

    return show


def book(
    knows: bool = True, servers: Callable[[str], list[ServerState]] | None = None, **changes: Any
) -> Callable[[str], list[Part]]:
    def show(text: str) -> list[Part]:
        made = entry(**{key: make(text) if callable(make) else make for key, make in changes.items()})
        return view(tools.page([made], servers(text) if servers else [], 0, knows=knows))

    return show


def story(event: str, **detail: Any) -> Callable[[str], list[Part]]:
    def show(text: str) -> list[Part]:
        given = trail(event, **{key: make(text) if callable(make) else make for key, make in detail.items()})
        told = moment(given, call(), lambda id: f"<@{id}>", lambda part: inert.line(part, limit=120))
        return message(why._told(call(), [told]))

    return show


def policy(make: Callable[[str], PolicyView]) -> Callable[[str], list[Part]]:
    return lambda text: view(policy_views.overview(make(text)))


def value_of(text: str) -> dict[str, object]:
    return {"command": text}


def state(one: str) -> ApprovalState:
    return ApprovalState(one)


def dumped(text: str) -> Sequence[str]:
    return (json.dumps({"k": [text]}, ensure_ascii=False), json.dumps({text: 1}, ensure_ascii=False))


def quoted_value(text: str) -> Sequence[str]:
    return (json.dumps(text, ensure_ascii=False), json.dumps([text, "x"], ensure_ascii=False), text)


SETTLED = ("denied", "cancelled", "undeliverable", "void", "nothing_ran")

CARDS = [
    Field(name="card: tool", show=one(tool=str)),
    Field(name="card: a text alone", show=one(arguments=value_of), pieces=True),
    Field(
        name="card: a text beside others",
        show=one(arguments=lambda t: {"path": "a", "content": t, "n": 5}),
        pieces=True,
    ),
    Field(
        name="card: an argument's name",
        show=one(arguments=lambda t: {f"{t}.": "a", "n": 5}),
        means=lambda t: (f"{t}.",),
    ),
    Field(
        name="card: within a list", show=one(arguments=lambda t: {"a": {"k": [t]}, "b": 1}), means=dumped, pieces=True
    ),
    Field(name="card: a name within", show=one(arguments=lambda t: {"a": {t: 1}, "b": 1}), means=dumped, pieces=True),
    Field(name="card: reason", show=one(reason=str)),
    Field(
        name="card: what it may touch",
        show=lambda t: drawn(card(call(), profiles={"shell": t or "x"})),
        means=something,
    ),
    Field(name="card: what it changes", show=one(bound=lambda t: {"preview": t or "x"}), means=something),
    Field(name="card: a bound file", show=one(bound=lambda t: {"files": {t: "5 bytes, sha256 " + "b" * 64}})),
    Field(name="card: what became different", show=lambda t: drawn(card(call(), changed={call().id: (t,)}))),
    Field(
        name="card: an earlier refusal",
        show=lambda t: drawn(card(call(), earlier=(call(1, tool=t, state=state("denied")),))),
    ),
    Field(name="card: a schedule's words", show=lambda t: drawn(card(call(), job="run1", schedule=schedule(spoken=t)))),
    Field(
        name="card: what was before an edit", show=one(original=value_of, edited_by="100"), pieces=True, always=False
    ),
    Field(
        name="card: what an edit made of it",
        show=one(arguments=value_of, original={"command": "ls"}, edited_by="100"),
        pieces=True,
    ),
    Field(
        name="card: an edited argument's name",
        show=one(
            arguments=lambda t: {f"{t}.": "a", "n": 1}, original=lambda t: {f"{t}.": "b", "n": 1}, edited_by="100"
        ),
        means=lambda t: (f"{t}.",),
        pieces=True,
    ),
    Field(name="card: question", show=one(kind="question", tool="ask_user", arguments=lambda t: {"question": t})),
    Field(
        name="card: choice",
        show=one(kind="question", tool="ask_user", arguments=lambda t: {"question": "Which?", "choices": [t, "x"]}),
        means=quoted_value,
    ),
    Field(name="card: key elsewhere", show=one(kind="external", reason=some), means=something),
    Field(
        name="card: answer",
        show=one(kind="question", tool="ask_user", state=state("succeeded"), result=some),
        means=something,
    ),
    *(
        Field(
            name=f"card: note of {one_state}",
            show=one(state=state(one_state), note=some),
            means=something,
            always=one_state in {"denied", "cancelled"},
        )
        for one_state in SETTLED
    ),
    Field(name="card: tool of what ended", show=one(tool=str, state=state("succeeded"))),
    Field(name="card of several: tool", show=several(tool=str)),
    Field(name="card of several: a text", show=several(arguments=value_of), pieces=True),
    Field(name="card of several: reason", show=several(reason=str)),
]

DETAILS = [
    Field(name="details: tool", show=looked_at(tool=str)),
    Field(name="details: a text", show=looked_at(arguments=value_of)),
    Field(name="details: reason", show=looked_at(reason=str)),
    Field(name="details: result", show=looked_at(state=state("succeeded"), result=some), means=something),
    Field(
        name="details: what was before", show=looked_at(original=value_of, edited_by="100"), pieces=True, always=False
    ),
    Field(name="details: what became different", show=lambda t: private(card(call(), changed={call().id: (t,)}))),
    Field(name="details: profile", show=lambda t: private(card(call(), profiles={"shell": t}))),
]

LISTS = [
    Field(name="list: tool", show=listed(tool=str)),
    Field(name="list: a text", show=listed(arguments=value_of)),
    Field(name="list: question", show=listed(kind="question", arguments=lambda t: {"question": t})),
    Field(name="tools: name", show=book(name=str)),
    Field(name="tools: description of a server's", show=book(description=str, server="srv")),
    Field(name="tools: server", show=book(server=some), means=something),
    Field(name="tools: reason", show=book(why=str)),
    Field(name="tools: what decides otherwise", show=book(depends=some), means=something),
    Field(name="tools: profile", show=book(profile=str)),
    Field(name="tools: change", show=book(changed=some), means=something),
    Field(name="tools: why it is broken", show=book(broken=some), means=something),
    Field(
        name="tools: server's problem",
        show=book(servers=lambda t: [ServerState(name="srv", where="w", connected=False, problem=t, tools=())]),
    ),
    Field(name="why: tool", show=lambda t: message(why._told(call(tool=t), []))),
    Field(name="why: a text", show=lambda t: message(why._told(call(arguments=value_of(t)), []))),
    Field(
        name="why: note",
        show=lambda t: message(why._told(call(state=state("denied"), note=t or "x"), [])),
        means=something,
    ),
    Field(name="why: denial", show=story("denied", note=some), means=something),
    Field(name="why: no card", show=story("card_not_posted", place="discord/1/2", problem=str)),
    Field(name="why: not told", show=story("not_delivered", key="answer:1", problem=some), means=something),
    Field(
        name="why: anything else",
        show=story("something", word=str),
        means=lambda t: (json.dumps({"word": t}, ensure_ascii=False),),
    ),
    Field(name="new: tool", show=lambda t: message(anew.told(Begun(requests=1, cancelled=[call(tool=t)], running=[])))),
    Field(
        name="new: a text",
        show=lambda t: message(anew.told(Begun(requests=1, cancelled=[call(arguments=value_of(t))], running=[]))),
    ),
    Field(
        name="fork: tool",
        show=lambda t: message(
            fork.told(Forked(messages=1, working=0, waiting=[call(tool=t)]), Place(guild=1, channel=2))
        ),
    ),
    Field(name="inbox: failure", show=lambda t: message(*inbox.compose(owed(t)))),
    Field(name="given back", show=lambda t: message(forms.given_back(DecisionRefused("x", "No."), t).sentence)),
    Field(name="suggestion", show=lambda t: name(inert.label(f"run1 {t}", limit=100)), means=lambda t: (f"run1 {t}",)),
    Field(name="thread's name", show=lambda t: name(inert.label(t, limit=100))),
]

JOBS = [
    Field(name="job: goal", show=lambda t: view(job_cards.render(job(t)))),
    Field(name="job: step", show=lambda t: view(job_cards.render(job(steps=(Step(at=NOW, text=t),))))),
    Field(name="job: schedule's words", show=lambda t: view(job_cards.render(job(schedule=schedule(spoken=t))))),
    Field(
        name="schedule: words",
        show=lambda t: message(schedule_words.draft(Entry(schedule=schedule(spoken=t), times=(NOW,)))),
    ),
    Field(
        name="schedule: goal",
        show=lambda t: message(schedule_words.draft(Entry(schedule=schedule(goal=t), times=(NOW,)))),
    ),
    Field(
        name="schedule: goal in the list",
        show=lambda t: message(
            schedule_words.entry(
                Entry(
                    schedule=schedule(goal=t), times=(NOW,), last=Occurrence(schedule="s", at=NOW, run="r", why=Why.DUE)
                )
            )
        ),
    ),
]

POLICY = [
    Field(name="policy: name", show=policy(lambda t: rules(rule(name=t)))),
    Field(name="policy: tool", show=policy(lambda t: rules(rule(tool=t)))),
    Field(
        name="policy: argument",
        show=policy(lambda t: rules(rule(where=(Condition(argument=t, kind="below", value="a"),)))),
    ),
    *(
        Field(
            name=f"policy: {kind}",
            show=policy(
                lambda t, kind=kind, many=many: rules(
                    rule(where=(Condition(argument="a", kind=kind, value=(t, "x") if many else t),))
                )
            ),
            means=quoted_value,
        )  # type: ignore[misc]
        for kind, many in (("argv", True), ("below", False), ("host_in", True), ("equals", False), ("one_of", True))
    ),
    Field(name="policy: who decides", show=policy(lambda t: rules(approvers=(ApproverRule(tools=(t,)),)))),
    Field(
        name="policy: change",
        show=policy(lambda t: rules(rule(name=t), changes=(Change(kind="policy", what="added", number=0),))),
    ),
    Field(name="policy: one rule", show=lambda t: view(policy_views.what_runs(rules(rule(name=t)), 0))),
    Field(name="policy: one rule's tool", show=lambda t: view(policy_views.what_runs(rules(rule(tool=t)), 0))),
    Field(
        name="policy: one about people",
        show=lambda t: view(policy_views.who_decides(rules(approvers=(ApproverRule(tools=(t,)),)), 0)),
    ),
    Field(
        name="policy: why it is not believed",
        show=policy(lambda t: rules(in_force=InForce(changed_by="100", changed_at=NOW, problem=t or "x"))),
        means=something,
    ),
    Field(name="policy: rehearsed tool", show=lambda t: view(policy_views.rehearsal(rules(), otherwise(tool=t)))),
    Field(name="policy: rehearsed rule", show=lambda t: view(policy_views.rehearsal(rules(), otherwise(by=t)))),
]

FORMS = [
    Field(
        name="form: what is edited",
        show=lambda t: view(modals.edit("abc", 1, Draft(text=t, field="command"))),
        always=False,
    ),
    Field(name="form: name of what is edited", show=lambda t: view(modals.edit("abc", 1, Draft(text="x", field=t)))),
    Field(
        name="form: name of a rule",
        show=lambda t: view(policy_forms.arguments(rules(rule(name=t[:100])), 0, 1)),
        means=lambda t: (t[:100],),
    ),
]

FIELDS = [*CARDS, *DETAILS, *LISTS, *JOBS, *POLICY, *FORMS]
