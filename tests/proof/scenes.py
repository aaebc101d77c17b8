"""Fields that are shown together, each with a text of its own: a card has a tool, arguments, a reason, all at once.

A scene draws what several fields of `faces` draw one by one, so that a long run tries all of them in one showing. What
shares no room with others, or leaves others none, stays a scene by itself: each field is in exactly one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.anew import Begun
from bot.guild_book import InForce
from bot.jobs.schedules import Entry
from bot.permits import Condition
from bot.rules import ApproverRule
from bot.timeline import _text as moment
from cogs import anew, approval_list, inert, job_cards, policy_views, schedule_words, tools, why
from storage.jobs import Step
from tests.proof.faces import FIELDS, Field, drawn, private, some, state, value_of
from tests.proof.faces_rows import NOW, call, card, entry, job, otherwise, rule, rules, schedule, trail
from tests.proof.shown import Part, message, view


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What is shown at once: a text for each of its fields, in their order."""

    name: str
    fields: tuple[Field, ...]
    show: Callable[..., list[Part]]


def alone(field: Field) -> Scene:
    """A field by itself."""
    return Scene(name=field.name, fields=(field,), show=field.show)


def _waiting(tool: str, text: str, reason: str, touch: str, spoken: str, refused: str) -> list[Part]:
    asked = call(tool=tool, arguments=value_of(text), reason=reason)
    earlier = call(1, tool=refused, state=state("denied"))
    of = schedule(spoken=spoken)
    return drawn(card(asked, profiles={tool: some(touch)}, job="run1", schedule=of, earlier=(earlier,)))


def _different(text: str, change: str) -> list[Part]:
    asked = call(arguments={"path": "a", "content": text, "n": 5})
    return drawn(card(asked, changed={asked.id: (change,)}))


def _nested(within: str, name: str) -> list[Part]:
    return drawn(card(call(arguments={"a": {"k": [within]}, "b": {name: 1}})))


def _bound(preview: str, file: str) -> list[Part]:
    bound = {"preview": some(preview), "files": {file: "5 bytes, sha256 " + "b" * 64}}
    return drawn(card(call(bound=bound)))


def _edited(before: str, made: str) -> list[Part]:
    return drawn(card(call(arguments=value_of(made), original=value_of(before), edited_by="100")))


def _question(question: str, choice: str) -> list[Part]:
    arguments = {"question": question, "choices": [choice, "x"]}
    return drawn(card(call(kind="question", tool="ask_user", arguments=arguments)))


def _several(tool: str, text: str, reason: str) -> list[Part]:
    return drawn(card(call(0), call(1, tool=tool, arguments=value_of(text), reason=reason), call(2)))


def _details(tool: str, text: str, reason: str, change: str, profile: str) -> list[Part]:
    asked = call(tool=tool, arguments=value_of(text), reason=reason)
    return private(card(asked, changed={asked.id: (change,)}, profiles={tool: profile}))


def _entry(name: str, why: str, depends: str, profile: str, change: str) -> list[Part]:
    made = entry(name=name, why=why, depends=some(depends), profile=profile, changed=some(change))
    return view(tools.page([made], [], 0, knows=True))


def _from_server(description: str, broken: str) -> list[Part]:
    made = entry(description=description, server="srv", broken=some(broken))
    return view(tools.page([made], [], 0, knows=True))


def _rule(name: str, tool: str, argument: str, argv: str, below: str) -> list[Part]:
    where = (
        Condition(argument=argument, kind="below", value="a"),
        Condition(argument="a", kind="argv", value=(argv, "x")),
        Condition(argument="a", kind="below", value=below),
    )
    return view(policy_views.overview(rules(rule(name=name, tool=tool, where=where))))


def _more_rules(host: str, equals: str, one_of: str, who: str, problem: str) -> list[Part]:
    where = (
        Condition(argument="a", kind="host_in", value=(host, "x")),
        Condition(argument="a", kind="equals", value=equals),
        Condition(argument="a", kind="one_of", value=(one_of, "x")),
    )
    believed = InForce(changed_by="100", changed_at=NOW, problem=some(problem))
    given = rules(rule(where=where), approvers=(ApproverRule(tools=(who,)),), in_force=believed)
    return view(policy_views.overview(given))


def _job(goal: str, step: str, spoken: str) -> list[Part]:
    return view(job_cards.render(job(goal, steps=(Step(at=NOW, text=step),), schedule=schedule(spoken=spoken))))


def _draft(spoken: str, goal: str) -> list[Part]:
    return message(schedule_words.draft(Entry(schedule=schedule(spoken=spoken, goal=goal), times=(NOW,))))


def _anew(tool: str, text: str) -> list[Part]:
    return message(
        anew.told(Begun(requests=2, cancelled=[call(tool=tool), call(1, arguments=value_of(text))], running=[]))
    )


def _listed(tool: str, text: str) -> list[Part]:
    asked = call(tool=tool, arguments=value_of(text))
    row = approval_list._Entry(call=asked, place="discord/1/2", message="5", may_decide=True, own=False)
    return view(approval_list._drawn([row], approval_list.Leaf(), said="", others=0, unseen=0))


def _moments(denial: str, problem: str, lost: str, word: str) -> list[Part]:
    happened = (
        trail("denied", note=some(denial)),
        trail("card_not_posted", place="discord/1/2", problem=problem),
        trail("not_delivered", key="answer:1", problem=some(lost)),
        trail("something", word=word),
    )
    told = [moment(one, call(), lambda id: f"<@{id}>", lambda part: inert.line(part, limit=120)) for one in happened]
    return message(why._told(call(), told))


_TOGETHER: dict[Callable[..., list[Part]], tuple[str, ...]] = {
    _waiting: (
        "card: tool", "card: a text alone", "card: reason", "card: what it may touch", "card: a schedule's words",
        "card: an earlier refusal",
    ),
    _different: ("card: a text beside others", "card: what became different"),
    _nested: ("card: within a list", "card: a name within"),
    _bound: ("card: what it changes", "card: a bound file"),
    _edited: ("card: what was before an edit", "card: what an edit made of it"),
    _question: ("card: question", "card: choice"),
    _several: ("card of several: tool", "card of several: a text", "card of several: reason"),
    _details: (
        "details: tool", "details: a text", "details: reason", "details: what became different", "details: profile",
    ),
    _entry: ("tools: name", "tools: reason", "tools: what decides otherwise", "tools: profile", "tools: change"),
    _from_server: ("tools: description of a server's", "tools: why it is broken"),
    _rule: ("policy: name", "policy: tool", "policy: argument", "policy: argv", "policy: below"),
    _more_rules: (
        "policy: host_in", "policy: equals", "policy: one_of", "policy: who decides", "policy: why it is not believed",
    ),
    lambda name, tool: view(policy_views.what_runs(rules(rule(name=name, tool=tool)), 0)): (
        "policy: one rule", "policy: one rule's tool",
    ),
    lambda tool, by: view(policy_views.rehearsal(rules(), otherwise(tool=tool, by=by))): (
        "policy: rehearsed tool", "policy: rehearsed rule",
    ),
    _job: ("job: goal", "job: step", "job: schedule's words"),
    _draft: ("schedule: words", "schedule: goal"),
    _listed: ("list: tool", "list: a text"),
    _moments: ("why: denial", "why: no card", "why: not told", "why: anything else"),
    lambda tool, text: message(why._told(call(tool=tool, arguments=value_of(text)), [])): ("why: tool", "why: a text"),
    _anew: ("new: tool", "new: a text"),
}  # fmt: skip

_BY_NAME: dict[str, Any] = {field.name: field for field in FIELDS}
_SEVERAL = [
    Scene(name=" + ".join(names), fields=tuple(_BY_NAME[name] for name in names), show=show)
    for show, names in _TOGETHER.items()
]
_INSIDE = {field.name for scene in _SEVERAL for field in scene.fields}
SCENES = [*_SEVERAL, *(alone(field) for field in FIELDS if field.name not in _INSIDE)]
