"""Turns a web page into the text a reader would see.

Not with `html.parser`: a page of 60 KB made of nothing but `<a ` keeps it busy for 20 seconds, in one regular
expression, and with it the whole bot. This reads every character once; like a browser it gives up
on a tag, comment or script that never ends, instead of going back (HTML Standard, 13.2.5: eof-in-tag).
"""

from __future__ import annotations

import html
import re
from urllib.parse import urljoin

_TAG = re.compile(r"""<(/?+)([a-zA-Z][^\s/>]*+)((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""")
_HREF = re.compile(r"""(?<![\w-])href\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.IGNORECASE)
_BLANKS = re.compile(r"\s++")
_LINES = re.compile(r"\n{3,}+")

_UNSEEN = {
    name: re.compile(rf"</{name}(?=[\s/>])[^>]*+>?+", re.IGNORECASE)
    for name in ("script", "style", "template", "noscript", "svg", "iframe", "textarea")
}
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "br", "dd", "div", "dl", "dt", "fieldset", "figure",
        "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "li", "main", "nav", "ol",
        "option", "p", "pre", "section", "table", "title", "tr", "ul",
    }
)  # fmt: skip


class _Page:
    """The text so far."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts: list[str] = []
        self._pre = 0
        self._link = ""

    def text(self, raw: str) -> None:
        try:
            seen = html.unescape(raw)
        except ValueError:  # A character number of thousands of digits.
            seen = raw
        self._parts.append(seen if self._pre else _BLANKS.sub(" ", seen))

    def tag(self, name: str, *, closing: bool, attributes: str) -> None:
        if name in _BLOCKS:
            self._parts.append("\n- " if name == "li" and not closing else "\n")
        elif name in ("td", "th"):
            self._parts.append(" ")
        if name == "pre":
            self._pre = 0 if closing else 1
        elif name == "a":
            if self._link:
                self._parts.append(f" [{self._link}]")
            self._link = "" if closing else self._target(attributes)

    def _target(self, attributes: str) -> str:
        found = _HREF.search(attributes)
        if found is None:
            return ""
        try:
            href = html.unescape(found.group(1) or found.group(2) or found.group(3) or "").strip()
            target = "" if href.startswith("#") else urljoin(self._base, href)
        except ValueError:
            return ""
        return target if target.startswith(("http://", "https://")) and len(target) <= 500 else ""

    def whole(self) -> str:
        lines = (line.strip(" ") for line in "".join(self._parts).split("\n"))
        return _LINES.sub("\n\n", "\n".join(lines)).strip()


def page_text(source: str, *, base: str) -> str:
    """The readable text of an HTML page; link targets follow their words in brackets, absolute by `base`."""
    page = _Page(base)
    at = 0
    while True:
        opening = source.find("<", at)
        if opening < 0:
            page.text(source[at:])
            break
        page.text(source[at:opening])
        after = _pass_markup(source, opening, page)
        if after is None:
            break
        at = after
    return page.whole()


def _pass_markup(source: str, opening: int, page: _Page) -> int | None:
    """Where the text goes on after what begins with the `<` at `opening`; None if it never does."""
    following = source[opening + 1 : opening + 2]
    begins = source[opening + 2 : opening + 3] if following == "/" else following
    is_tag = begins.isascii() and begins.isalpha()
    if source.startswith("<!--", opening):
        return _after(source.find("-->", opening + 4), 3)
    if following in ("!", "?") or (following == "/" and not is_tag):
        return _after(source.find(">", opening), 1)
    if not is_tag:
        page.text("<")
        return opening + 1
    found = _TAG.match(source, opening)
    if found is None:
        return None
    slash, name, attributes = found.group(1), found.group(2).lower(), found.group(3)
    if not slash and name in _UNSEEN and not attributes.endswith("/"):
        end = _UNSEEN[name].search(source, found.end())
        return end.end() if end else None
    page.tag(name, closing=bool(slash), attributes=attributes)
    return found.end()


def _after(found: int, width: int) -> int | None:
    return None if found < 0 else found + width
