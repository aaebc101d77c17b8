"""The key of a shell command: blanks between words are folded, and nothing else ever is.

Sixty-odd pairs by hand, and properties that look for more.
"""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.deferral.intent import action_key, normalise_shell


def same(one: str, two: str) -> bool:
    """Whether two commands are taken for one action."""
    return action_key("shell", {"command": one}) == action_key("shell", {"command": two})


RESPELLINGS = [
    ("ls -l", "ls  -l"),
    ("ls -l", " ls -l"),
    ("ls -l", "ls -l "),
    ("ls -l", "\tls\t-l\t"),
    ("ls -l", "ls \t \t-l"),
    ("ls", "   ls"),
    ("echo a b", "echo   a   b"),
    ("echo 'a  b' c", "echo  'a  b'   c"),
    ('echo "a  b" c', 'echo\t"a  b"  c'),
    ("echo ''", "echo   ''"),
    ("rm -rf build", "rm  -rf  build "),
    ("git commit -m 'one two'", "git  commit  -m  'one two'"),
    ("cp a.txt b.txt", "cp a.txt  b.txt"),
    ("env A=1 B=2 make", "env  A=1  B=2  make"),
    ("python3 -c 'print(1)'", "python3  -c  'print(1)'"),
    ("echo 'line one\nline two' x", "echo  'line one\nline two'  x"),
    ("echo héllo wörld", "echo  héllo  wörld"),
    ("sort -k 2 -t , file", "sort   -k 2  -t ,  file"),
    ("echo a > b", "echo  a  >  b"),
    ("echo 'a'\"b\" c", "echo  'a'\"b\"  c"),
    ("", "   "),
    ("cmd /path/with.dots,and+signs@host:1", "cmd   /path/with.dots,and+signs@host:1"),
]

DIFFERENT = [
    # quoting
    ('rm "a b"', 'rm "ab"'),
    ('rm "a b"', "rm a b"),
    ('rm "a b"', "rm 'a b'"),
    ('rm "a b"', 'rm "a  b"'),
    ("rm 'a b'", "rm 'a  b'"),
    ("rm 'a' 'b'", "rm 'a''b'"),
    ("rm a''b", "rm a'' b"),
    ("rm ''", "rm"),
    ("rm '' a", "rm a"),
    ('rm " "', 'rm ""'),
    ("rm ' '", "rm '\t'"),
    ("echo '#'", "echo #"),
    ("echo 'a'b", "echo 'a' b"),
    ("rm 'a b", "rm 'a  b"),
    ('rm "a b', 'rm "a  b'),
    ("echo '$HOME'", 'echo "$HOME"'),
    ('echo "$A  $B"', 'echo "$A $B"'),
    ('echo "a\\  b"', 'echo "a\\ b"'),
    ("echo '\"'  '\"'", "echo '\"' '\"  '\"' '\"'"),
    # escapes
    ("rm a\\ b", "rm a b"),
    ("rm a\\ b", "rm a\\  b"),
    ("rm a\\", "rm a\\ "),
    ("echo a\\\nb", "echo a b"),
    ("echo a\\\n b", "echo a\\\nb"),
    # case and letters
    ("rm File", "rm file"),
    ("LS", "ls"),
    ("rm é", "rm e\u0301"),
    ("rm \u0430", "rm a"),
    ("rm ﬁle", "rm file"),
    ("echo ＡＢＣ", "echo ABC"),
    # blanks that are none
    ("rm a\u00a0b", "rm a b"),
    ("rm a\u00a0b", "rm a\u00a0 b"),
    ("rm a\u3000b", "rm a b"),
    ("rm a\u200bb", "rm ab"),
    ("rm a\u202eb", "rm ab"),
    ("rm a\x0bb", "rm a b"),
    ("rm a\x0cb", "rm a b"),
    ("rm a\rb", "rm a b"),
    # lines, comments, here-documents
    ("echo a\necho b", "echo a echo b"),
    ("echo a\n\necho b", "echo a\necho b"),
    ("ls\n", "ls"),
    ("ls # x", "ls"),
    ("ls #x", "ls #  x"),
    ("ls#x", "ls #x"),
    ("cat <<E\na  b\nE", "cat <<E\na b\nE"),
    ("cat <<E\n\ta\nE", "cat <<E\na\nE"),
    ("cat <<-E\n\ta\nE", "cat <<-E\n a\nE"),
    ("cat <<'E'\n$x  y\nE", "cat <<'E'\n$x y\nE"),
    ("cat << E\na\nE", "cat <<E\na\nE"),
    # operators and expansions, where blanks may mean something
    ("echo $(( 1  + 2 ))", "echo $(( 1 + 2 ))"),
    ("echo $( ls )", "echo $(ls)"),
    ("echo `ls  -l`", "echo `ls -l`"),
    ("[ a = b ]", "[ a =b ]"),
    ("[ a =  b ]", "[ a = b ]"),
    ("echo a 2>b", "echo a 2 >b"),
    ("echo a2 >b", "echo a 2>b"),
    ("a & b", "a && b"),
    ("a | b", "a || b"),
    ("a; b", "a ;b"),
    ("{ ls; }", "{ls; }"),
    ("( ls )", "(ls)"),
    ("f() { ls; }", "f () { ls; }"),
    ("! ls", "!ls"),
    ("rm ~ /x", "rm ~/x"),
    ("rm * .o", "rm *.o"),
    ("rm ? x", "rm ?x"),
    ("echo {a, b}", "echo {a,b}"),
    ("echo a^b  c", "echo a^b c"),
    ("A=1 ls", "A= 1 ls"),
    ("A=1 ls", "A =1 ls"),
    ("echo -n a", "echo - n a"),
    ("echo ab", "echo a b"),
    ("kill -9 1", "kill -91"),
    ("rm -r f", "rm -rf"),
    ("echo 1", "echo 1.0"),
    ("echo \x00", "echo "),
]


def test_there_are_enough_pairs_by_hand() -> None:
    assert len(RESPELLINGS) + len(DIFFERENT) >= 60
    assert len(set(RESPELLINGS + DIFFERENT)) == len(RESPELLINGS) + len(DIFFERENT)


@pytest.mark.parametrize(("one", "two"), RESPELLINGS)
def test_a_respelling_is_the_same_action(one: str, two: str) -> None:
    assert same(one, two)


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_another_meaning_is_another_action(one: str, two: str) -> None:
    assert one != two
    assert not same(one, two)


@pytest.mark.parametrize(
    "other", [{}, {"cwd": "/tmp"}, {"cwd": ""}, {"timeout": 5}, {"timeout": 5.0}, {"timeout": True}]
)
@pytest.mark.parametrize("another", [{"cwd": "/"}, {"timeout": 6}, {"timeout": "5"}, {"timeout": 1}, {"x": None}])
def test_every_other_argument_counts_exactly(other: dict[str, object], another: dict[str, object]) -> None:
    assert action_key("shell", {"command": "ls", **other}) != action_key("shell", {"command": "ls", **another})
    assert action_key("shell", {"command": "ls", **other}) == action_key("shell", {"command": " ls ", **other})


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"command": "1"}, {"command": 1}),
        ({"command": ""}, {}),
        ({"command": "None"}, {"command": None}),
        ({"command": "['ls']"}, {"command": ["ls"]}),
        ({"command": 'x\0{"a":1}'}, {"command": "x", "a": 1}),
    ],
)
def test_arguments_of_another_kind_are_another_action(one: dict[str, object], two: dict[str, object]) -> None:
    assert action_key("shell", one) != action_key("shell", two)


def test_another_tool_is_another_action() -> None:
    assert action_key("shell", {"command": "ls"}) != action_key("bash", {"command": "ls"})
    # What folds blanks of `shell` does so for `shell` alone.
    assert action_key("bash", {"command": "ls  -l"}) != action_key("bash", {"command": "ls -l"})


plain_words = st.text("abcXYZ019._/:,+@=-é", min_size=1, max_size=6)
quoted = st.one_of(
    st.text('ab \t\n$`\\#*;"', max_size=5).map(lambda text: f"'{text}'"),
    st.text("ab \t\n#*;'", max_size=5).map(lambda text: f'"{text}"'),
)
words = st.lists(st.one_of(plain_words, quoted), min_size=1, max_size=4).map("".join)
blanks = st.text(" \t", min_size=1, max_size=3)
maybe_blanks = st.text(" \t", max_size=3)
anything = st.text("ab'\"\\ \t\n#$`<>;&|(){}*~!\u00a0", max_size=10)


@given(st.lists(words, min_size=1, max_size=5), st.data())
def test_however_blanks_between_words_are_written_it_is_one_action(line: list[str], data: st.DataObject) -> None:
    respelt = data.draw(maybe_blanks)
    for word in line:
        respelt += word + data.draw(blanks)
    assert same(" ".join(line), respelt)


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_other_words_are_another_action(one: list[str], two: list[str]) -> None:
    assert same(" ".join(one), " ".join(two)) == (one == two)


def _as_a_shell_reads_it(command: str) -> list[str] | str:
    """The words with their quotes, by a reader that is not ours; a text that it may read wrongly stands for itself."""
    bare = re.sub(r"'[^']*'", "", command)
    bare = re.sub(r'"[^"\\`$!]*"', "", bare)
    if re.search(r"[^\w \t.,/:+@=>-]", bare):
        return command
    lexer = shlex.shlex(command, posix=False, punctuation_chars=False)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    return list(lexer)


@given(anything, anything)
@example("a''", "a ''")
@example("'a' b", "'a'b")
@example("a#b", "a #b")
def test_two_texts_share_a_key_only_if_another_reader_reads_the_same_words(one: str, two: str) -> None:
    if same(one, two):
        assert _as_a_shell_reads_it(one) == _as_a_shell_reads_it(two)


@given(anything, st.integers(0, 10), st.sampled_from(" \t\n'\"\\#a\u00a0"))
def test_one_more_character_shares_a_key_only_if_it_is_a_blank_between_words(text: str, at: int, more: str) -> None:
    longer = text[:at] + more + text[at:]
    if same(text, longer):
        assert more in " \t"
        assert _as_a_shell_reads_it(text) == _as_a_shell_reads_it(longer)


@given(st.text(max_size=20))
def test_folding_what_was_folded_changes_nothing(text: str) -> None:
    folded = normalise_shell(text)
    kind, _, rest = folded.partition(":")
    assert kind in {"words", "text"}
    assert rest == text or kind == "words"
    if kind == "words":
        assert normalise_shell(rest) == folded


@given(st.text(st.characters(), max_size=10))
def test_no_text_at_all_makes_it_fail(text: str) -> None:
    assert same(text, text)
    assert same(text + "\ud800", text + "\ud800")
