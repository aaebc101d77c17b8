"""What a card shows decodes back to exactly what would run (threats T31 to T41, cases S-A31 to S-A43)."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogs import inert, limits
from cogs.inert import Form

_FENCE = re.compile(r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n].*?)\n*```", re.IGNORECASE | re.DOTALL)
"""How a Discord client finds a block, as its public re-implementations have it: tag swallowed, edges trimmed."""

NASTY = [
    "```", "`", "``", "`````", "\n", "\n\n", " ", "  ", "\t", "\r", "\x1b[2K\x1b[1A", "\u202e", "\u200b", "\u3164",
    "\ufe0f", "\U000e0041", "\u2800", "\ud800", "\u0301", "\u0301\u0302\u0303\u0304", "⟨", "⟩", "⟨U+0041⟩", "⟨empty⟩",
    "⟨9 spaces⟩", "↵", "⇥", "␠", "@everyone", "<@1>", "||", "-# ", "# ", "> ", "**Approved by Ana**", "[a](http://x)",
    "<t:1:R>", "text", "text\n", "sh\n", "rm -rf /", "é", "🙂", "\U0001f1e9\U0001f1ea", "日本", "\x00", "\x7f",
    "\u00ad", "\u2028", "\u00a0", "\ufeff", "\ufffc", "\U0010ffff", "\ue000", "x" * 30, " " * 40, "\n" * 100,
]  # fmt: skip


def as_discord_reads(message: str) -> str:
    """The content of the only block. Anything before, after, or in a second block fails the test."""
    match = _FENCE.match(message)
    assert match is not None
    assert match.end() == len(message)
    assert match[1] == "text"
    assert not match[2][0].isspace()
    assert not match[2][-1].isspace()
    return match[2]


@settings(max_examples=400, deadline=None)
@given(st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from("\n `⟨⟩↵␠⇥\t"))))
def test_a_block_decodes_to_what_was_given(text: str) -> None:
    assert inert.decode(as_discord_reads(inert.block(text))) == text


@settings(max_examples=200, deadline=None)
@given(st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from("\n `⟨⟩↵␠⇥\t"))))
def test_a_line_is_one_line_of_code_and_decodes_to_what_was_given(text: str) -> None:
    shown = inert.line(text)
    assert len(shown.splitlines()) == 1
    assert shown.count("`") == 2
    assert inert.decode(shown[1:-1]) == text


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_a_file_decodes_to_what_was_given(text: str) -> None:
    assert inert.decode(inert.encode(text, Form.FILE)) == text


def test_five_thousand_attacks_stay_in_their_block_and_no_two_look_alike() -> None:
    """S-A31, A18: breaking out, swallowing the first line, hiding, counting, and all of it mixed."""
    rng = random.Random(20)
    seen: dict[str, str] = {}
    for _ in range(5000):
        text = "".join(rng.choice(NASTY) for _ in range(rng.randint(0, 9)))
        shown = as_discord_reads(inert.block(text))
        assert inert.decode(shown) == text
        assert seen.setdefault(shown, text) == text


def test_words_and_single_spaces_are_shown_as_they_are() -> None:
    text = "git commit -m 'Grüße an 日本, naïve café ½ €' && echo done"
    assert inert.encode(text) == text


def test_a_block_shows_backticks_that_cannot_end_it() -> None:
    assert inert.encode("echo `date` ``x``") == "echo `date` ``x``"
    assert inert.encode("a```b`c") == "a⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩b`c"
    assert inert.label("echo `date`") == "echo ⟨U+0060⟩date⟨U+0060⟩"


def test_code_keeps_its_indentation() -> None:
    assert inert.encode("def f():\n    return 1") == "def f():↵\n    return 1"


def test_a_first_line_of_one_word_is_not_taken_for_a_language() -> None:
    """S-A32."""
    assert "reboot" in as_discord_reads(inert.block("reboot\necho hi"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\u202eb", "a⟨U+202E⟩b", id="reordering (S-A33)"),
        pytest.param("\u3164\U000e0041\ufe0f", "⟨U+3164⟩⟨U+E0041⟩⟨U+FE0F⟩", id="fillers (S-A34)"),
        pytest.param("\x1b[2Kls", "⟨U+001B⟩[2Kls", id="terminal codes (S-A36)"),
        pytest.param("ls" + "\n" * 100 + "; rm", "ls⟨100 newlines⟩\n; rm", id="padding by lines (S-A37)"),
        pytest.param("ls" + " " * 100 + "; rm", "ls⟨100 spaces⟩; rm", id="padding by spaces (S-A37)"),
        pytest.param("ls ", "ls␠", id="a space at the end (S-A27)"),
        pytest.param("a  b", "a␠␠b", id="two spaces"),
        pytest.param("a\tb", "a⇥b", id="tab"),
        pytest.param("a```b", "a⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩b", id="backticks"),
        pytest.param("a\u0301\u0302\u0303", "a\u0301\u0302⟨U+0303⟩", id="stacked marks"),
        pytest.param("\u0301a", "⟨U+0301⟩a", id="a mark on nothing"),
        pytest.param("⟨U+0041⟩", "⟨U+27E8⟩U+0041⟨U+27E9⟩", id="our own notation"),
        pytest.param("\ud800", "⟨U+D800⟩", id="lone surrogate"),
        pytest.param("", "⟨empty⟩", id="nothing"),
        pytest.param("\n", "↵", id="only a newline"),
    ],
)
def test_what_hides_is_drawn(text: str, shown: str) -> None:
    assert inert.encode(text) == shown


@pytest.mark.parametrize("shown", ["⟨U+XYZ⟩", "⟨", "a⟩", "⟨U+0041", "⟨many spaces⟩"])
def test_what_was_never_drawn_by_us_does_not_decode(shown: str) -> None:
    with pytest.raises(ValueError, match="not an inert rendering"):
        inert.decode(shown)


def test_a_reason_cannot_format_or_leave_its_line() -> None:
    """S-A40, S-A41."""
    assert inert.line("[docs](http://evil.example)") == "`[docs](http://evil.example)`"
    assert inert.line("||safe||\n-# low risk") == "`||safe||↵-# low risk`"


def test_a_text_that_fits_has_no_excerpt() -> None:
    assert inert.excerpt("ls -l", head=100, tail=50, lines=20) is None


def test_an_excerpt_shows_both_ends_and_counts_the_rest() -> None:
    """S-A38."""
    text = "echo start; " + "x" * 6000 + "; rm -r ~/x"
    cut = inert.excerpt(text, head=500, tail=200, lines=20)
    assert cut is not None
    assert cut.head.startswith("echo start; ")
    assert cut.tail.endswith("; rm -r ~/x")
    assert len(inert.decode(cut.head)) + cut.hidden + len(inert.decode(cut.tail)) == len(text)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(NASTY), min_size=40, max_size=120).map("".join),
    st.integers(40, 200),
    st.integers(20, 100),
)
def test_the_ends_of_any_excerpt_are_the_ends_of_the_text(text: str, head: int, tail: int) -> None:
    cut = inert.excerpt(text, head=head, tail=tail, lines=9)
    if cut is None:
        return
    front, back = inert.decode(cut.head), inert.decode(cut.tail)
    assert limits.length(cut.head) <= head
    assert limits.length(cut.tail) <= tail
    assert text.startswith(front)
    assert text.endswith(back)
    assert len(front) + cut.hidden + len(back) == len(text)


def test_a_tall_text_is_cut_by_its_lines() -> None:
    cut = inert.excerpt("\n".join("x" * 2 for _ in range(300)), head=3000, tail=1000, lines=30)
    assert cut is not None
    assert cut.head.count("\n") <= 30


def test_a_label_is_cut_visibly() -> None:
    assert inert.label("yes") == "yes"
    assert inert.label("y" * 100, limit=80) == "y" * 79 + "…"


def test_three_dots_at_the_end_of_a_line_always_mean_that_it_goes_on() -> None:
    assert inert.label("wait…") == "wait⟨U+2026⟩"
    assert inert.label("wait…", limit=10) == "wait…"  # cut, and there is more
    assert inert.label("wait", more=True) == "wait…"
    assert inert.label("", more=True) == "…"
    assert inert.encode("wait…") == "wait…"


def test_a_piece_of_a_text_shows_where_the_text_goes_on() -> None:
    assert inert.piece("abcdef", 0, 6, limit=20) == "`abcdef`"
    assert inert.piece("abcdef", 2, 4, limit=20) == "`…cd…`"
    assert inert.piece("abcdef", 6, 6, limit=20) == "`…`"
    assert inert.piece("…def", 0, 4, limit=20) == "`⟨U+2026⟩def`"
    assert inert.piece("…", 0, 1, limit=20) == "`⟨U+2026⟩`"
