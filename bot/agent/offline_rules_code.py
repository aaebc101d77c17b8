"""The offline model's rules for Python, sums and commands; see `offline_rules`."""

from __future__ import annotations

import ast
import builtins
import math
import re
import shlex

from bot.agent.offline_words import FENCE, SPAN, Read, Wish, fenced, left_over, mask, plain, quoted, trim

# --- Python and sums --------------------------------------------------------------------------------------------------

_PYTHON_LANGUAGES = {"python", "py", "python3"}
_RUN_THIS = re.compile(
    r"(?:(?:run|execute|evaluate|try|do)\b(?:\s+(?:this|the|following|some|my|python3?|code|snippet|program|script|in))*"
    r"|python3?|what\s+does\s+(?:this|it)\s+(?:print|say|output|give)(?:\?)?|)\s*:?\s*",
    re.IGNORECASE,
)
_PYTHON_COLON = re.compile(
    r"(?:(?:run|execute|evaluate|try|do|use)\s+)?(?:(?:this|the|some|following|in|with)\s+)*python3?"
    r"(?:\s+(?:code|snippet|program|script|expression|line))?\s*:\s*(?P<code>.+)",
    re.IGNORECASE | re.DOTALL,
)
_PYTHON_SPAN = re.compile(
    r"(?:run|execute|evaluate|try)\s+(?:(?:this|the|some|in|with)\s+)*python3?"
    rf"(?:\s+(?:code|snippet|program|expression))?\s+(?P<before>{SPAN})"
    rf"|(?:run|execute|evaluate|try)\s+(?P<after>{SPAN})\s+(?:in|with|as|using)\s+python3?",
    re.IGNORECASE,
)
_PYTHON_BARE = re.compile(
    r"(?:(?:run|execute|evaluate|use)\s+)?(?:(?:this|the|some)\s+)*python3?(?:\s+(?:code|snippet|program|expression))?"
    r"(?:\s+to\s+(?:run|execute|evaluate))?\s+(?P<code>[^-\s].*)|(?P<print>print\(.*\))",
    re.IGNORECASE | re.DOTALL,
)


def python_rule(clause: str) -> Read | None:
    """Run Python: a fenced python block, `run python: print(1+1)`, a `print(...)` as it stands."""
    fence = FENCE.search(clause)
    if fence and _RUN_THIS.fullmatch(clause[: fence.start()].strip()):
        language, body = fenced(fence)
        if language in _PYTHON_LANGUAGES or "python" in clause[: fence.start()].lower():
            return Read((Wish("execute_code", {"code": body}),), left_over(clause[fence.end() :]))
    if found := _PYTHON_COLON.fullmatch(clause):
        return _code(_unpack(found["code"]))
    if found := _PYTHON_SPAN.fullmatch(trim(clause)):
        return _code(plain(found["before"] or found["after"]))
    if found := _PYTHON_BARE.fullmatch(trim(clause)):
        code = found["code"] or found["print"]
        # `run python tool.py` is a command line; only what has the shape of a statement is code.
        if not code.split()[0].endswith(".py") and "(" in code and _parses(code):
            return _code(code)
    return None


def _unpack(written: str) -> str:
    """The code in `written`: a fence's body, the inside of backticks, otherwise the words as they stand."""
    fence = FENCE.fullmatch(written.strip())
    return fenced(fence)[1] if fence else plain(trim(written))


def _code(code: str) -> Read:
    return Read((Wish("execute_code", {"code": code}),))


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


_SUM = re.compile(
    r"(?:(?:use\s+python\s+to\s+)?(?P<verb>calculate|compute|evaluate|work\s+out|how\s+much\s+is|(?:tell\s+me\s+)?what(?:'s|’s|\s+is))"
    r"\s+)?(?P<sum>.+)",
    re.IGNORECASE,
)
_SPELT = {
    r"plus": "+",
    r"minus": "-",
    r"times": "*",
    r"multiplied\s+by": "*",
    r"divided\s+by": "/",
    r"to\s+the\s+power\s+of": "**",
}
_MATHS = {name for name in dir(math) if not name.startswith("_")} - set(dir(builtins))


def sum_rule(clause: str) -> Read | None:
    """Work out a sum with Python: `calculate 3*7`, `what is 12 / 5?`."""
    found = _SUM.fullmatch(trim(clause))
    if found is None:
        return None
    written = plain(found["sum"].strip().rstrip("=?. "))
    for word, sign in _SPELT.items():
        written = re.sub(rf"\s+{word}\s+", f" {sign} ", written, flags=re.IGNORECASE)
    written = re.sub(r"(?<=\d)\s*(?:%|percent)\s+of\s+", " / 100 * ", written)
    written = re.sub(r"(?<=\d)\s*[x×]\s*(?=[\d(])", "*", written).replace("÷", "/").replace("^", "**")
    try:
        tree = ast.parse(written, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if not isinstance(tree.body, (ast.BinOp, ast.Call)) or not any(map(str.isdigit, written)):
        return None
    if names and not (found["verb"] or "").lower().startswith(("calculate", "compute", "evaluate", "work")):
        return None  # without such a word only plain numbers are a sum
    borrowed = sorted(names & _MATHS)
    head = f"from math import {', '.join(borrowed)}\n" if borrowed else ""
    return _code(f"{head}print({written})")


# --- Commands ---------------------------------------------------------------------------------------------------------

_RUN = re.compile(
    r"(?:(?:run|execute|try|launch|shell|do(?=\s*`))(?!\w)|in\s+the\s+(?:shell|terminal)\s*[,:]?(?:\s*(?:run|execute))?)\s*:?\s*"
    r"(?:(?:(?:the|this|these|a|following)\s+)*(?:(?:shell|bash|terminal)\s+)?(?:command\s*line|commands?|cmd)\b\s*:?"
    r"|(?:this|the\s+following|in\s+(?:the|a)\s+(?:shell|terminal|bash))(?:\s+for\s+me)?\s*:)?\s*(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_OUTPUT_OF = re.compile(
    r"(?:(?:tell|show|give)\s+me\s+)?(?:what\s+(?:does|did)\s+(?:the\s+command\s+)?(?P<said>.+?)\s+"
    r"(?:say|print|show|output|return|report|display|give)"
    r"|what\s+(?P<says>`.+?`)\s+(?:says|prints|shows|outputs|returns|reports|gives)"
    r"|(?:what(?:'s|’s|\s+is)\s+)?the\s+output\s+of\s+(?:the\s+command\s+)?(?P<of>.+))",
    re.IGNORECASE | re.DOTALL,
)
_RUN_END = re.compile(
    r"(?:,?\s+(?:in|on|with|using)\s+(?:the|a)\s+(?:shell|terminal|bash|command\s*line)"
    r"|,?\s+and\s+(?:show|tell|give|send)\s+(?:me|us)\s+(?:the\s+|its\s+|what\s+)?"
    r"(?:output|results?|answer|it\s+(?:says|prints)))[\s.!?]*$",
    re.IGNORECASE,
)
_SPANS = re.compile(rf"{SPAN}(?:(?:\s*,\s*|\s+)(?:and\s+|then\s+|plus\s+)*{SPAN})*", re.IGNORECASE)
_SHELL_LANGUAGES = {"", "sh", "bash", "shell", "zsh"}
_NOT_A_COMMAND = re.compile(
    r"(?:\d+|an?|the|it|this|that|these|those|them|my|your|our|his|her|its|their|some|any|all|every\w*|something|me|us|you|i"
    r"|in|on|at|for|to|with|from|into|by|as|is|are|was|not|no|again|away|over|out|off|up|down|back|along)[,.:]*"
)
_NOT_IN_A_COMMAND = re.compile(
    r"(?:and|then|or|if|unless|when|whenever|until|because|but|so|tomorrow|tonight|daily|hourly|weekly|later|again|twice"
    r"|please)[,.;:]*"
)
_CONDITION = re.compile(
    r"[\s,]*(?:if|unless|when|whenever|until|only|every|tomorrow|tonight|later|daily|once|after|at)\b", re.IGNORECASE
)
_BACKTICKS = "Put the exact command between backticks, so that there is no doubt about it: run `date`."


def shell_rule(clause: str) -> Read | None:
    """Run a command: `run date`, `please execute uname -a in the shell`, `what does ... say`, `$ ls`, a lone span."""
    if clause.startswith("$ "):
        return _command(clause[2:].strip())
    fence = FENCE.match(clause)
    if re.fullmatch(SPAN, trim(clause)) or (fence and fence["lang"]):
        return _commands(trim(clause))
    if found := _RUN.fullmatch(clause):
        return _commands(found["rest"].strip())
    if found := _OUTPUT_OF.fullmatch(trim(clause)):
        return _commands((found["said"] or found["says"] or found["of"]).strip())
    return None


def _commands(rest: str) -> Read:
    fence = FENCE.match(rest)
    if fence:
        language, body = fenced(fence)
        if language not in _SHELL_LANGUAGES or (not language and "\n" in body):
            return Read(unread=(rest,), hints=("Say after the first three backticks what it is: `sh` or `python`.",))
        return Read((Wish("shell", {"command": body}),), left_over(rest[fence.end() :]))
    rest = trim(_RUN_END.sub("", trim(rest)))
    if spans := _SPANS.match(rest):
        after = trim(rest[spans.end() :]).lstrip(",;:. ")
        if _CONDITION.match(after):
            return Read(unread=(rest,), hints=("I cannot wait or check a condition; ask me when the time has come.",))
        wishes = tuple(Wish("shell", {"command": plain(span)}) for span in re.findall(SPAN, spans[0]))
        return Read(wishes, left_over(after))
    return _command(plain(rest) if quoted(rest) else rest)


def _command(text: str) -> Read:
    """Take `text` as a command line if it has the look of one; a person sees it on the card before it runs."""
    words = mask(text).lower().split()
    try:
        balanced = bool(shlex.split(text))
    except ValueError:
        balanced = False
    if (
        not balanced
        or _NOT_A_COMMAND.fullmatch(words[0])
        or not re.match(r"[\w./~$\x00]", text)
        or any(map(_NOT_IN_A_COMMAND.fullmatch, words))
    ):
        return Read(unread=(text,), hints=(_BACKTICKS,))
    return Read((Wish("shell", {"command": text}),))
