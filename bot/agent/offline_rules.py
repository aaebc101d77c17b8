"""What the offline model understands: fixed rules from a person's words to tool calls.

Sentence matching, not language: a prompt is cut into clauses where a person would pause ("then", ";", a new line),
each clause is tried against the rules in the order of `_RULES`, and what no rule takes is handed back unread. A rule
would rather explain than guess: a negation or a condition ("don't run ...", "if ..., run ...") is never acted on.
`docs/offline-model.md` is the same list for people; `offline_rules_files` holds the rules for files and pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.agent.offline_rules_code import python_rule, shell_rule, sum_rule
from bot.agent.offline_rules_files import fetch_rule, list_rule, read_rule, write_rule
from bot.agent.offline_words import Read, Rule, Wish, is_courtesy, mask, plain, trim, without_courtesy


@dataclass(frozen=True)
class Reading:
    """A prompt as understood: calls to make, in order, and what was left over."""

    wishes: tuple[Wish, ...] = ()
    unread: tuple[str, ...] = ()
    """Clauses that no rule takes, in the person's words."""
    hints: tuple[str, ...] = ()
    """Sentences that say how to put a clause so that it is understood."""


_LONGEST = 10_000
"""Characters of a prompt that are looked at; Discord takes 6000 in a command."""
_WASTE = re.compile(r"\s{200}")
"""Some patterns take time with the square of such a run, and nobody means one."""


def read_prompt(text: str) -> Reading:
    """Read a person's prompt. Pure: the same text always reads the same."""
    if len(text) > _LONGEST or _WASTE.search(text):
        return Reading(unread=(text,), hints=("That is too long for fixed rules; say it in fewer characters.",))
    text = without_courtesy(text)
    reads = [_read_clause(clause) for clause in _clauses(text)]
    if any(read.unread or read.hints for read in reads):
        # The cut may have gone through the middle of something said in one breath, such as a text to be written.
        whole = _read_clause(text)
        if whole.wishes and not whole.unread and whole.wishes[0].tool in {"write_file", "ask_user"}:
            reads = [whole]
    return Reading(
        wishes=tuple(wish for read in reads for wish in read.wishes),
        unread=tuple(part for read in reads for part in read.unread),
        hints=tuple(dict.fromkeys(hint for read in reads for hint in read.hints)),
    )


# --- Cutting a prompt into clauses ------------------------------------------------------------------------------------

_OPENER = re.compile(
    r"(?:(?:please|pls|kindly|now|also|first|just|can you|could you|would you)\b,?\s+)*"
    r"(?:run|execute|try|read|show|display|view|list|write|save|create|make|put|append|fetch|get"
    r"|download|open|load|visit|calculate|compute|evaluate|work\s+out|how\s+much|start|launch|kick\s+off|ask\s+me"
    r"|tell\s+me|what|what's|which|in\s+(?:the\s+)?background|python:|shell:)(?!\w)",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?P<strong>(?<!\s)\s*+[,;.!?]?\s*+(?<!\w)(?:and\s+)?(?:then|after\s+that|afterwards)\b[,:]?\s+)"
    r"|(?P<line>(?<!\s)[^\S\n]*+\n\s*+)"
    r"|(?P<weak>(?<!\s)\s*+(?:;\s*+|,\s+(?:and\s+)?|[.!?]\s+|(?<=\s)and\s+(?:also\s+)?))",
    re.IGNORECASE,
)
_GUARD = re.compile(
    r"(?:if|unless|when|whenever|until|once|before|after|while|every|suppose|imagine|assuming|in\s+case|should|would"
    r"|never|not|no|without|don['’]?t|do\s+not|must\s+not|stop|avoid|instead\s+of|tomorrow|tonight|later|at\s+\d)(?!\w)",
    re.IGNORECASE,
)
_PLAIN_ONLY = "I act on plain requests only, never on conditions or on what not to do."
_AGAIN_AND_AGAIN = re.compile(
    r"(?:schedule|remind\s+me|daily|hourly|weekly|monthly"
    r"|every\s+(?:\d+\s+)?(?:minute|hour|day|weekday|workday|weekend|morning|evening|night|week|month|year"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)(?!\w)",
    re.IGNORECASE,
)
_SCHEDULE = "I start nothing by itself from words. `/schedule add` does: its `goal` is what to do, its `when` is when."
_BULLET_ONLY = re.compile(r"\s*(?:\d+|[-*•])\s*")


def _clauses(text: str) -> list[str]:
    """Cut at separators outside quotes, backticks, fences and addresses. Positions in the mask are the text's own."""
    clauses: list[str] = []
    start = 0
    for found in _BREAK.finditer(mask(text)):
        current = text[start : found.start()]
        if not current.strip():
            start = max(start, found.end())
            continue
        if _BULLET_ONLY.fullmatch(current):
            continue
        if _GUARD.match(said := without_courtesy(current)) or _AGAIN_AND_AGAIN.match(said):
            break
        if found["line"] is not None:
            if text.startswith("```", found.end()):
                continue
            if current.rstrip().endswith(":"):
                break
        elif _BACKGROUND.match(without_courtesy(current)) or (
            found["weak"] is not None and not _OPENER.match(text, found.end())
        ):
            continue
        clauses.append(current)
        start = found.end()
    clauses.append(text[start:])
    return [clause for clause in map(without_courtesy, clauses) if clause]


def _read_clause(clause: str) -> Read:
    clause = without_courtesy(clause)
    if is_courtesy(clause):
        return Read()
    if _AGAIN_AND_AGAIN.match(clause):
        return Read(unread=(clause,), hints=(_SCHEDULE,))
    if _GUARD.match(clause):
        return Read(unread=(clause,), hints=(_PLAIN_ONLY,))
    for rule in _RULES:
        if (read := rule(clause)) is not None:
            return read
    return Read(unread=(clause,))


# --- Jobs and questions -----------------------------------------------------------------------------------------------

_BACKGROUND = re.compile(
    r"(?:in\s+(?:the\s+)?background\b\s*[,:]?"
    r"|(?:start|launch|kick\s+off|begin|run|create|make)\s+(?:a|an|another)\s+(?:new\s+)?(?:background\s+|detached\s+)?"
    r"(?:job|task)\b\s*(?:in\s+the\s+background\b)?\s*(?:to\b|that\s+does\b|that\b|which\b|for\b|:|,)?"
    r"|(?:start|run|do|launch)\s+(?:(?:this|it|the\s+following|something)\s+)?in\s+(?:the\s+)?background\b\s*[,:]?)\s*",
    re.IGNORECASE,
)
_BACKGROUND_END = re.compile(
    r"(?P<goal>.+?),?\s+(?:in\s+(?:the\s+)?background|as\s+a\s+(?:background\s+)?job)", re.IGNORECASE | re.DOTALL
)
_DOES = re.compile(r"(run|execute|read|list|write|create|fetch|calculate)s\b", re.IGNORECASE)


def _job_rule(clause: str) -> Read | None:
    """Start a job: `in the background, run ...`, `start a job to ...`, `... in the background`."""
    if found := _BACKGROUND.match(clause):
        goal = trim(clause[found.end() :])
    elif ending := _BACKGROUND_END.fullmatch(trim(clause)):
        goal = ending["goal"].strip()
    else:
        return None
    goal = _DOES.sub(r"\1", goal, count=1) if _DOES.match(goal) else goal  # a job that runs ...: run ...
    if not goal:
        return Read(unread=(clause,), hints=("Say what the job is to do: in the background, run `sleep 5`.",))
    return Read((Wish("start_job", {"goal": goal}),))


_ASK = re.compile(
    r"ask\s+me\b\s*(?:(?:a\s+question|something)\b)?\s*(?:(?:about|to|for)\b)?\s*:?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CHOICE_BREAK = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+|\s*/\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:choose|pick|decide)\s+between\s+(?P<one>\S+)\s+and\s+(?P<other>\S+)", re.IGNORECASE)
_EITHER = re.compile(r"\S+(?:\s*,\s*\S+)*,?\s+or\s+\S+", re.IGNORECASE)
_WHETHER = re.compile(r"(?:whether|if)\s+(?!.*\sor\s)", re.IGNORECASE | re.DOTALL)


def _ask_rule(clause: str) -> Read | None:
    """Ask the person something: `ask me which colour: red, green or blue`."""
    found = _ASK.fullmatch(clause)
    if found is None:
        return None
    question = _bare(found["rest"])
    if not question:
        return Read(unread=(clause,), hints=("Say what to ask: ask me which colour: red, green or blue.",))
    head, colon, tail = question.partition(":")
    choices: list[str] = []
    if colon and head.strip() and tail.strip():
        question, choices = head.strip(), _choices(tail)
    elif between := _BETWEEN.fullmatch(question):
        choices = [_bare(between["one"]), _bare(between["other"])]
    elif _EITHER.fullmatch(question):
        choices = _choices(question)
    elif _WHETHER.match(question):
        choices = ["yes", "no"]
    return Read((Wish("ask_user", {"question": f"{question[:1].upper()}{question[1:]}?", "choices": choices}),))


def _choices(text: str) -> list[str]:
    """The alternatives in `red, green or "light, blue"`."""
    edges = [edge for found in _CHOICE_BREAK.finditer(mask(text)) for edge in found.span()]
    bounds = [0, *edges, len(text)]
    parts = [_bare(text[start:end]) for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    return [part for part in parts if part]


def _bare(text: str) -> str:
    return plain(text).rstrip("?.! ")


_DECISION = re.compile(
    r"(?:approve|deny|allow|confirm|reject|yes|go\s+ahead|do\s+it)(?:\s+(?:it|that|this|all))?[\s.!]*", re.IGNORECASE
)


def _decision_rule(clause: str) -> Read | None:
    """`approve it`, said in words: nobody decides in this way."""
    if not _DECISION.fullmatch(clause):
        return None
    return Read(unread=(clause,), hints=("Only people decide, with the buttons on the card; I cannot do it for you.",))


_RULES: tuple[Rule, ...] = (
    _job_rule,
    _ask_rule,
    write_rule,
    python_rule,
    sum_rule,
    fetch_rule,
    read_rule,
    list_rule,
    shell_rule,
    _decision_rule,
)
