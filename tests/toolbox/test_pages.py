"""A page becomes the text a reader would see, in time that grows no faster than the page."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.toolbox.pages import page_text


def text(source: str) -> str:
    return page_text(source, base="https://h.example/dir/page")


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("plain", "plain"),
        ("a &amp; b &lt;c&gt; &#233;", "a & b <c> é"),
        ("<p>one\n  two</p><p>three</p>", "one two\n\nthree"),
        ("<title>T</title><body>x", "T\n\nx"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n\n- b"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "1  2"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<a href='/x?a=1&amp;b=2'>link</a> on", "link [https://h.example/x?a=1&b=2] on"),
        ("<a href=next>n</a>", "n [https://h.example/dir/next]"),
        ("<a href='#top'>t</a><a href='javascript:x()'>j</a><a>n</a>", "tjn"),
        ("<a data-href=/no href=/yes>x</a>", "x [https://h.example/yes]"),
        ("<a href=/1>one<a href=/2>two</a>", "one [https://h.example/1]two [https://h.example/2]"),
        ("x<script>if (a < b) { '</p>' }</script>y<STYLE>z</STYLE >w", "xyw"),
        ("x<script>never ends", "x"),
        ("x<!-- <p>no</p> -->y<!doctype html>z<?php ?>w", "xyzw"),
        ("x<!-- never ends", "x"),
        ("1 < 2 <3 </ a>b", "1 < 2 <3 b"),
        ('<p title="a > b">x</p>', "x"),
        ("<p title='never ends>x", ""),
        ("&#99999999999999999999;" + "&#" + "9" * 5000 + ";", None),
        ("<a href='http://[bad'>x</a>", "x"),
    ],
)
def test_a_page_becomes_what_a_reader_sees(source: str, seen: str | None) -> None:
    found = text(source)
    assert seen is None or found == seen


@settings(database=None)
@given(
    st.lists(st.sampled_from([*"<>/!-?'\"= a&;#", "<a ", "script", "href", "<!--", "-->", "</", "&#x", "pre", "\n"]))
)
def test_no_page_breaks_it(pieces: list[str]) -> None:
    text("".join(pieces))


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<!", "<?", "</", "<a ", "<a x='", "<", "&#", "<script>", "<a/", "<a x=", " <a\n", '<a ">"', "<a \"'>\"",
     "href ", "<svg>", "</script", "<a href='", "\n", "<a href=x>"],
)  # fmt: skip
@pytest.mark.parametrize("tail", ["", ">", "\"'>"])
def test_a_page_made_to_take_long_does_not(piece: str, tail: str) -> None:
    """The standard library's parser needs 20 s for 60 KB of some of these."""
    began = time.process_time()
    text(piece * (200_000 // len(piece)) + tail)
    assert time.process_time() - began < 2
