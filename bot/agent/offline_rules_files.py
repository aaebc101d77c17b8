"""The offline model's rules for files and pages; see `offline_rules`."""

from __future__ import annotations

import re

from bot.agent.offline_words import FENCE, SPAN, Read, Wish, fenced, plain, quoted, trim

_QUOTED = rf"(?:{SPAN}|\"[^\"\n]+\"|“[^”\n]+”|'[^'\n]+')"
_TOKEN = r"[\w./~@+][\w./~@+-]*"  # noqa: S105 - a pattern, not a password
_PATH = rf"(?:{_QUOTED}|{_TOKEN})"
_KNOWN_FILE = re.compile(r"makefile|readme|licen[sc]e|dockerfile|changelog|procfile", re.IGNORECASE)
_NOT_A_PATH = re.compile(
    r"it|this|that|them|these|those|me|us|all|everything|something|anything|here|there", re.IGNORECASE
)


def _path(written: str, *, named_as_file: bool) -> str | None:
    """The path in `written`, or None if it does not look like one.

    `named_as_file`: the person said that it is a file, so it needs neither a slash nor an extension.
    """
    written = trim(written)
    if quoted(written):
        inner = plain(written).strip()
        return inner if inner and (named_as_file or not re.search(r"\s", inner)) else None
    if not re.fullmatch(_TOKEN, written) or _NOT_A_PATH.fullmatch(written):
        return None
    looks_like_one = (
        "/" in written
        or re.search(r"\.[A-Za-z0-9_]{1,8}$", written) is not None
        or written.startswith(".")
        or _KNOWN_FILE.fullmatch(written) is not None
    )
    return written if looks_like_one or named_as_file else None


# --- Writing ----------------------------------------------------------------------------------------------------------

_ARTICLES = r"(?:(?:a|an|the|my|new|text)\s+)*"
_NAMED = r"(?:called\s+|named\s+)?"
_WRITE_PATH_FIRST = re.compile(
    r"(?:write|save|put|store|create|make)\s+(?:(?:the\s+following|this|the\s+text|text|content)\s+)?"
    rf"(?:(?:to|into|in|as)\s+)?{_ARTICLES}(?P<file>file\s+)?{_NAMED}(?P<path>{_PATH})"
    r"\s*(?:,?\s+(?:with|containing|that\s+says|saying|and\s+(?:write|put)\s+(?:into|in)\s+it)\b"
    r"(?:(?:\s+(?:the|this|these|following))*\s+(?:contents?|text|following|lines?|words?)\b)?\s*:?|:|\s(?=[\"“'`]))"
    r"\s*(?P<content>.+?)(?:\s+(?:in|inside)\s+it)?",
    re.IGNORECASE | re.DOTALL,
)
_WRITE_PATH_LAST = re.compile(
    rf"(?:write|save|put|store)\s+(?:the\s+(?:text|words?|line)\s+)?(?P<content>.+)\s+(?:to|into|in|as|under)\s+{_ARTICLES}(?P<file>file\s+)?{_NAMED}"
    rf"(?P<path>{_PATH})[\s.!?]*",
    re.IGNORECASE | re.DOTALL,
)
_WRITE_EMPTY = re.compile(
    rf"(?:create|make|write)\s+an?\s+(?:new\s+)?empty\s+(?:text\s+)?file\s+{_NAMED}(?P<path>{_PATH})[\s.!?]*",
    re.IGNORECASE,
)
_WRITE_NOTHING = re.compile(
    rf"(?:create|make|write|save)\s+{_ARTICLES}(?P<file>file\s+)?{_NAMED}(?P<path>{_PATH})[\s.!?]*", re.IGNORECASE
)
_WRITE_APPEND = re.compile(r"(?:append|add)\s+.+\s+to\s+\S+", re.IGNORECASE | re.DOTALL)
_NOT_A_TEXT = re.compile(
    r"(?:it|this|that|them|(?:the|its|this|that)\s+(?:results?|outputs?|answer|page|contents?|text|file|following))",
    re.IGNORECASE,
)


def write_rule(clause: str) -> Read | None:
    """Write a file: `write hello world to notes.txt`, `create todo.md with: ...`, a fenced text for exact content."""
    if found := _WRITE_EMPTY.fullmatch(clause):
        path = _path(found["path"], named_as_file=True)
        return None if path is None else Read((Wish("write_file", {"path": path, "content": ""}),))
    for form in (_WRITE_PATH_FIRST, _WRITE_PATH_LAST):
        found = form.fullmatch(clause if form is _WRITE_PATH_FIRST else trim(clause))
        path = found and _path(found["path"], named_as_file=bool(found["file"]))
        if not found or not path:
            continue
        if _NOT_A_TEXT.fullmatch(found["content"].strip()):
            return Read(unread=(clause,), hints=("I cannot hand the result of one step to another; give me the text.",))
        return Read((Wish("write_file", {"path": path, "content": _content(found["content"])}),))
    found = _WRITE_NOTHING.fullmatch(clause)
    if found and _path(found["path"], named_as_file=bool(found["file"])):
        return Read(unread=(clause,), hints=("Say what to put into the file: create todo.md with: buy milk.",))
    if _WRITE_APPEND.fullmatch(clause):
        return Read(unread=(clause,), hints=("I can only write whole files: write hello world to notes.txt.",))
    return None


def _content(written: str) -> str:
    """The text to write: a fence's lines, each ended; the inside of quotes; otherwise the words as they stand."""
    written = written.strip()
    if fence := FENCE.fullmatch(written):
        return f"{fenced(fence)[1]}\n"
    return plain(written)


# --- Reading and listing ----------------------------------------------------------------------------------------------

_READ = re.compile(
    r"(?:read|show|display|print|cat|open|view|see|get|fetch|load)(?:\s+(?:me|out|aloud))?\s+"
    r"(?:what(?:'s|’s|\s+is)\s+in\s+)?(?:the\s+|my\s+)?(?:(?:contents?|text)\s+of\s+)?(?:the\s+)?"
    rf"(?P<file>files?\s+)?{_NAMED}(?P<rest>.+)",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"(?:tell\s+me\s+)?what(?:(?:'s|’s|\s+is)\s+(?:written\s+)?(?:in|inside)\s+(?:the\s+)?(?P<file>file\s+)?(?P<rest>.+)"
    r"|\s+does\s+(?:the\s+)?(?P<file2>file\s+)?(?P<rest2>.+?)\s+(?:say|contain))",
    re.IGNORECASE,
)
_PATH_BREAK = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*", re.IGNORECASE)


def read_rule(clause: str) -> Read | None:
    """Read files: `read notes.txt`, `show me the file a/b.txt`, `what's in notes.txt?`."""
    clause = trim(clause)
    if found := _READ.fullmatch(clause):
        named, rest = bool(found["file"]) or clause.lower().startswith("read"), found["rest"]
    elif found := _INSIDE.fullmatch(clause):
        named, rest = bool(found["file"] or found["file2"]), found["rest"] or found["rest2"]
    else:
        return None
    paths = [_path(part, named_as_file=named) for part in _PATH_BREAK.split(trim(rest))]
    if any(path is None or path.endswith("/") for path in paths):
        return None
    return Read(tuple(Wish("read_file", {"path": path}) for path in paths))


_LIST = re.compile(
    r"(?:list|ls|show|display|see|what\s+are|give)(?:\s+(?:me|us))?\s+(?:all\s+)?(?:of\s+)?"
    r"(?:(?:the|my|your|this|current|working)\s+)*"
    r"(?:files?|folders?|director(?:y|ies)|contents?|everything|workspace)(?:\s+(?:and|or)\s+(?:folders?|director(?:y|ies)))?"
    r"(?:\s+(?:you\s+have|there\s+are|are\s+there|are\s+here|here|there))?"
    r"(?:\s+(?:in|of|under|inside|at|from|below|within)\s+(?P<where>.+))?",
    re.IGNORECASE,
)
_LIST_SHORT = re.compile(rf"(?:list|ls)(?:\s+(?P<where>{_PATH}))?|show(?:\s+me)?\s+(?P<folder>\S+/)", re.IGNORECASE)
_LIST_WHICH = re.compile(
    r"(?:what|which)\s+files\s+(?:are|do\s+you\s+have|exist|can\s+you\s+see)(?:\s+(?:there|here))?"
    r"(?:\s+(?:in|under|inside|below|within)\s+(?P<where>.+))?",
    re.IGNORECASE,
)
_LIST_INSIDE = re.compile(r"(?:tell\s+me\s+)?what(?:'s|’s|\s+is)\s+(?:in|inside|under)\s+(?P<where>.+)", re.IGNORECASE)
_PLACE = re.compile(
    rf"(?P<article>(?:the|this|your|my|current|working)\s+)*(?P<kind>(?:folder|directory|dir)\s*)?{_NAMED}(?P<path>{_PATH})?"
    r"(?P<kind2>\s+(?:folder|directory|dir))?",
    re.IGNORECASE,
)
_ROOT = re.compile(r"\./?|workspace|here|root|it|folder|directory|dir", re.IGNORECASE)


def list_rule(clause: str) -> Read | None:
    """List files: `list files`, `list the files in src`, `what's in src?`."""
    clause = trim(clause)
    for form in (_LIST, _LIST_SHORT, _LIST_WHICH, _LIST_INSIDE):
        if found := form.fullmatch(clause):
            where = found["where"] or (found["folder"] if form is _LIST_SHORT else None)
            parts = _PATH_BREAK.split(trim(where)) if where else [None]
            places = [_place(part, loose=form is not _LIST_INSIDE) for part in parts]
            if None in places:
                return None
            return Read(tuple(Wish("list_files", {"path": place}) for place in places))
    return None


def _place(where: str | None, *, loose: bool) -> str | None:
    """The folder meant by `where`. Unless `loose`, an article needs a word or a slash that makes it a folder."""
    found = _PLACE.fullmatch(trim(where)) if where else None
    if where is None or (found and _ROOT.fullmatch(found["path"] or "workspace")):
        return "."
    if found is None:
        return None
    path = plain(found["path"])
    sure = loose or not found["article"] or found["kind"] or found["kind2"] or "/" in path or quoted(found["path"])
    return path if sure and not _NOT_A_PATH.fullmatch(path) else None


# --- Pages ------------------------------------------------------------------------------------------------------------

_FETCH = re.compile(
    r"(?P<verb>fetch|get|download|open|load|visit|read|show|look\s+at|check|what(?:'s|’s|\s+is)\s+(?:at|on))(?:\s+me)?\s+"
    r"(?:the\s+)?(?:(?:contents?|text|web)\s+)?(?:of\s+)?(?:the\s+)?(?:(?:web)?(?:page|site)|url|website|address|link)?"
    r"\s*(?:at|of|from|on)?\s*:?\s*(?P<rest>.+)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[<`\"'“]?(?P<url>https?://[^\s<>`\"”]*[^\s<>`\"”'.,;:!?)\]])[>`\"'”]?\)?", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w-]+\.)+(?P<last>[A-Za-z]{2,})(?:/\S*)?")
_FILE_ENDING = re.compile(
    r"txt|md|py|json|csv|log|toml|ya?ml|html?|ini|cfg|conf|sh|xml|pdf|png|jpg|sql|lock|rst|js|ts", re.IGNORECASE
)


def fetch_rule(clause: str) -> Read | None:
    """Fetch a page: `fetch https://example.org`, `open the page example.org`."""
    found = _FETCH.fullmatch(trim(clause))
    if found is None:
        return None
    rest = trim(found["rest"])
    addresses = [address["url"] for address in _ADDRESS.finditer(rest)]
    if addresses and re.fullmatch(r"(?:\s|,|and|&)*", _ADDRESS.sub("", rest), re.IGNORECASE):
        return Read(tuple(Wish("http_fetch", {"url": address}) for address in addresses))
    if found["verb"].lower() in {"fetch", "visit", "download", "open"}:
        if (host := _HOST.fullmatch(plain(rest))) and not _FILE_ENDING.fullmatch(host["last"]):
            return Read((Wish("http_fetch", {"url": f"https://{plain(rest)}"}),))
        if re.match(r"\w+://", rest):
            return Read(unread=(clause,), hints=("I fetch http and https addresses: fetch https://example.org.",))
    return None
