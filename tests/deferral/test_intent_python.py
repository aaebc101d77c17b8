"""The key of a Python program: its syntax tree. Sixty-odd pairs by hand, and properties that look for more.

The oracle for "different" is the compiler: programs with one key must compile to the same code.
"""

from __future__ import annotations

import ast
import types
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.deferral.intent import action_key, normalise_python


def same(one: str, two: str) -> bool:
    """Whether two programs are taken for one action."""
    return action_key("execute_code", {"code": one}) == action_key("execute_code", {"code": two})


RESPELLINGS = [
    # blanks, lines, comments
    ("print(sum(range(1,101)))", "print(sum(range(1, 101)))"),
    ("x=1", "x = 1"),
    ("x = 1", "x = 1\n"),
    ("x = 1", "\n\nx = 1\n\n"),
    ("x = 1", "x = 1  # why"),
    ("x = 1", "# why\nx = 1"),
    ("x = 1;", "x = 1"),
    ("x = 1; y = 2", "x = 1\ny = 2"),
    ("x = 1\ny = 2", "x = 1\r\ny = 2"),
    ("x = 1\ny = 2", "x = 1\ry = 2"),
    ("f(1,\n  2)", "f(1, 2)"),
    ("x = 1 + \\\n 2", "x = 1 + 2"),
    ("if a:\n  b", "if a:\n    b"),
    ("if a:\n\tb", "if a:\n    b"),
    ("if a: b", "if a:\n    b"),
    ("if a:\n    b\n    # end\nc", "if a:\n    b\nc"),
    ("\x0cx = 1", "x = 1"),
    ("x = 1  # type: int", "x = 1"),
    # parentheses and commas
    ("x = (1)", "x = 1"),
    ("x = (1 + 2) + 3", "x = 1 + 2 + 3"),
    ("x = 1, 2", "x = (1, 2)"),
    ("f(1,)", "f(1)"),
    ("[1, 2,]", "[1, 2]"),
    ("del (a)", "del a"),
    # literals with one value
    ("x = 1_000", "x = 1000"),
    ("x = 0x10", "x = 16"),
    ("x = 0b1010", "x = 10"),
    ("x = 0o17", "x = 15"),
    ("x = 1e3", "x = 1000.0"),
    ("x = 1.50", "x = 1.5"),
    ("x = 1J", "x = 1j"),
    ("x = 00", "x = 0"),
    ("x = 'a'", 'x = "a"'),
    ("x = 'a'", "x = '''a'''"),
    ("x = 'a' 'b'", "x = 'ab'"),
    ("x = r'a'", "x = 'a'"),
    ("x = '\\x61'", "x = 'a'"),
    ("x = '\\u00e9'", "x = 'é'"),
    ("x = '\\N{LATIN SMALL LETTER A}'", "x = 'a'"),
    ("x = b'a' b'b'", "x = b'ab'"),
    ("x = b'\\x61'", "x = b'a'"),
    ("x = f'{a}'", "x = f'{ a }'"),
    ("x = f'a{b}'", "x = 'a' f'{b}'"),
    ("x = f'{a=}'", "x = f'a={a!r}'"),
    ("x = '\\\na'", "x = 'a'"),
    ("x = '\\d'", "x = '\\\\d'"),
    # one operator, one name
    ("x = a  !=  b", "x = a != b"),
    ("a if b else c", "(a) if (b) else (c)"),
    ("ﬁ = 1", "fi = 1"),
    ("x = lambda: 0", "x = lambda : 0"),
    ("x[1:2]", "x[1:2:]"),
]

DIFFERENT = [
    # numbers
    ("x = 1", "x = 1.0"),
    ("x = 1", "x = True"),
    ("x = 0", "x = False"),
    ("x = 1", "x = 1j"),
    ("x = 0.0", "x = -0.0"),
    ("x = 0", "x = -0"),
    ("x = 1e999", "x = inf"),
    ("x = 1e999", "x = float('inf')"),
    ("x = 0.1", "x = 0.1000000000000001"),
    ("x = 10**2", "x = 100"),
    ("x = 1_0", "x = 1_00"),
    ("x = 0xff", "x = 0xfe"),
    ("x = " + "9" * 4000, "x = " + "9" * 3999 + "8"),
    ("x = 0x" + "f" * 5000, "x = 0x" + "f" * 4999 + "e"),
    # strings
    ("x = 'a'", "x = b'a'"),
    ("x = 'a'", "x = 'A'"),
    ("x = 'a b'", "x = 'a  b'"),
    ("x = ''", "x = ' '"),
    ("x = 'a'", "x = a"),
    ("x = 'é'", "x = 'e\u0301'"),
    ("x = 'ﬁ'", "x = 'fi'"),
    ("x = ' '", "x = '\u00a0'"),
    ("x = 'a\\tb'", "x = 'a b'"),
    ("x = '\t'", "x = ' '"),
    ("x = '\\n'", "x = r'\\n'"),
    ("x = '\\ud800'", "x = '\\\\ud800'"),
    ("x = '\\ud800'", "x = '\\ud801'"),
    ("x = '\\x00'", "x = ''"),
    ("x = 'None'", "x = None"),
    ("x = '1'", "x = 1"),
    ("x = '''a\nb'''", "x = '''a\n b'''"),
    ("x = '''a\n\nb'''", "x = '''a\nb'''"),
    ("x = 'a' 'b'", "x = 'a', 'b'"),
    ("x = f'{a}'", "x = '{a}'"),
    ("x = f'{a}'", "x = f'{{a}}'"),
    ("x = f'{a}'", "x = f'{a!r}'"),
    ("x = f'{a!s}'", "x = f'{a}'"),
    ("x = f'{a:>3}'", "x = f'{a:>4}'"),
    ("x = f'{a=}'", "x = f'{a = }'"),
    ("x = f'{a} '", "x = f'{a}'"),
    # names and singletons
    ("x = None", "x = ..."),
    ("x = None", "x = False"),
    ("Print(1)", "print(1)"),
    ("х = 1", "x = 1"),
    ("x = os.path", "x = os .pathx"),
    # structure
    ("if a:\n    b\nc", "if a:\n    b\n    c"),
    ("for a in b:\n    c\nd", "for a in b:\n    c\n    d"),
    ("while a:\n    if b:\n        c\n    d", "while a:\n    if b:\n        c\n        d"),
    ("if a:\n    b\nelse:\n    c", "if a:\n    b\nc"),
    ("a\nb", "b\na"),
    ("x = 1", "x == 1"),
    ("x = 1", "x: int = 1"),
    ("x = [1]", "x = (1,)"),
    ("x = (1)", "x = (1,)"),
    ("x = {1}", "x = {1: 1}"),
    ("x = {}", "x = set()"),
    ("f(a, b)", "f(a, *b)"),
    ("f(a=1)", "f(**{'a': 1})"),
    ("x = a and b or c", "x = a and (b or c)"),
    ("x = a - b - c", "x = a - (b - c)"),
    ("x = not a == b", "x = (not a) == b"),
    ("x = -1 ** 2", "x = (-1) ** 2"),
    ("a is not b", "a is (not b)"),
    ("a < b < c", "(a < b) < c"),
    ("def f(): 'doc'", "def f(): pass  # 'doc'"),
    ("def f(a, /): pass", "def f(a): pass"),
    ("def f(*, a): pass", "def f(a): pass"),
    ("def f(): pass", "async def f(): pass"),
    ("import a.b", "import a"),
    ("import a as b", "import b as a"),
    ("from a import b", "from .a import b"),
    ("from a import b", "from ..a import b"),
    ("del a, b", "del (a), [b]"),
    ("global a", "nonlocal a"),
    ("try:\n  a\nexcept E:\n  b", "try:\n  a\nexcept* E:\n  b"),
    ("raise a", "raise a from None"),
    ("lambda: (yield)", "lambda: (yield None)"),
    ("x[1,]", "x[1]"),
    ("match a:\n  case None: b", "match a:\n  case _: b"),
    # what is no program is its own key
    ("x = = 1", "x == 1"),
    ("if a:\n b\n   c", "if a:\n b\n c"),
    ("if a:\n\tb\n        c", "if a:\n\tb\n\tc"),
    ("x = 1\x00", "x = 1"),
    ("\ufeffx = 1", "x = 1"),
    ("x\u00a0= 1", "x = 1"),
    ("x = 1 \u202e", "x = 1"),
    ("print 1", "print  1"),
    # a comment that says how the file is to be read
    ("# coding: latin-1\nprint('é')", "print('é')"),
    ("#!/x\n# -*- coding: latin-1 -*-\nprint('é')", "#!/x\nprint('é')"),
    ("# vim: set fileencoding=latin-1 :\nprint('é')", "print('é')"),
    ("\r\n#coding=latin-1\nprint('é')", "\r\nprint('é')"),
]

CAREFUL = [
    ("x = u'a'", "x = 'a'"),
    ("x = f'a'", "x = 'a'"),
    ("# coding: utf-8\nx = 1", "x = 1"),
]
"""Pairs that do the same and are told apart all the same: one card too many, never one too few."""


def test_there_are_enough_pairs_by_hand() -> None:
    pairs = RESPELLINGS + DIFFERENT
    assert len(pairs) >= 60
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(("one", "two"), RESPELLINGS)
def test_a_respelling_is_the_same_action(one: str, two: str) -> None:
    assert same(one, two)
    assert compiled(one) == compiled(two), "the compiler does not agree that these are one program"


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_another_program_is_another_action(one: str, two: str) -> None:
    assert not same(one, two)


@pytest.mark.parametrize(("one", "two"), CAREFUL)
def test_where_the_tree_is_not_certain_the_programs_are_told_apart(one: str, two: str) -> None:
    assert not same(one, two)


def test_a_later_line_that_talks_about_coding_is_only_a_comment() -> None:
    assert same("a\nb\n# coding: latin-1", "a\nb")


@pytest.mark.parametrize("code", ["(" * 300 + ")" * 300, "-" * 100_000 + "1", "a" + ".b" * 20_000, "[" * 90 + "]" * 90])
def test_code_that_is_too_deep_for_the_parser_is_its_own_key(code: str) -> None:
    assert same(code, code)
    assert not same(code, code + " + 1")


@pytest.mark.parametrize("one", [{"code": "1"}, {"code": "1", "timeout": 1}, {"code": 1}, {}])
@pytest.mark.parametrize("two", [{"code": "1", "timeout": 2}, {"code": 1.0}, {"code": None}, {"Code": "1"}])
def test_every_other_argument_counts_exactly(one: dict[str, object], two: dict[str, object]) -> None:
    assert action_key("execute_code", one) != action_key("execute_code", two)


def test_no_two_kinds_of_constants_have_one_dump() -> None:
    constants: list[object] = [
        0, 0.0, False, 0j, "0", b"0", 1, 1.0, True, 1j, None, ..., "", b"", "None", "Ellipsis", "True", 1e999, "inf",
        "\ud800", "\\ud800", "\udc80", "a", b"a", 10**4000, 10**4000 + 1,
    ]  # fmt: skip
    dumps = [ast.dump(ast.Constant(value)) for value in constants]
    assert len(set(dumps)) == len(dumps)


def compiled(code: str) -> object:
    """What the interpreter would run, without line numbers; None for a text that does not compile: it does nothing."""
    with warnings.catch_warnings(action="ignore"):
        try:
            tree = ast.parse(code)
            # Everything in one place: the compiler leaves idle instructions where lines of a program begin.
            for node in ast.walk(tree):
                for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
                    if hasattr(node, name):
                        setattr(node, name, 1)
            return _flat(compile(tree, "<program>", "exec"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _flat(code: types.CodeType) -> object:
    constants = tuple(_flat(one) if isinstance(one, types.CodeType) else _exact(one) for one in code.co_consts)
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_flags, code.co_name)


def _exact(value: object) -> object:
    if isinstance(value, tuple | frozenset):
        return (
            type(value),
            sorted(map(repr, map(_exact, value))) if isinstance(value, frozenset) else [*map(_exact, value)],
        )
    return (type(value), repr(value))


names = st.sampled_from(["a", "b", "c", "f"])
numbers = st.sampled_from(
    ["0", "1", "1.0", "True", "None", "1_0", "0xa", "10", "1j", "''", "'a'", '"a"', "b'a'", "r'\\n'"]
)
expressions = st.recursive(
    st.one_of(names, numbers),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", " and ", " or ", " is ", "==", "<"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f"not {text}"),
        st.tuples(names, inner).map(lambda pair: f"{pair[0]}({pair[1]})"),
        st.tuples(names, inner).map(lambda pair: f"{pair[0]}[{pair[1]}]"),
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"({','.join(items)},)"),
        inner.map(lambda text: f"lambda a: {text}"),
    ),
    max_leaves=5,
)
simple = st.one_of(
    expressions,
    st.tuples(names, expressions).map(" = ".join),
    st.tuples(names, expressions).map("+=".join),
    expressions.map(lambda text: f"return {text}"),
    st.just("pass"),
)
statements = st.recursive(
    simple,
    lambda inner: st.tuples(
        st.sampled_from(["if a:", "while b:", "for c in f:", "def f(a):", "class c:", "try:\n    pass\nfinally:"]),
        st.lists(inner, min_size=1, max_size=2),
    ).map(lambda pair: pair[0] + "".join(f"\n{_indented(line)}" for line in pair[1])),
    max_leaves=4,
)
programs = st.lists(statements, min_size=1, max_size=3).map("\n".join)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


@settings(max_examples=150)
@given(programs)
def test_a_program_written_anew_by_another_hand_is_the_same_action(code: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        try:
            respelt = ast.unparse(ast.parse(code))
        except SyntaxError:
            return
    assert same(code, respelt)
    assert same(code, "\n# a note\n" + respelt.replace("    ", "\t") + "  # the end\n")


@settings(max_examples=150)
@given(programs, st.data())
def test_two_programs_with_one_key_compile_to_the_same_code(code: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(code)))
    cut = data.draw(st.integers(0, 2))
    more = data.draw(
        st.sampled_from(
            ["", " ", "\n", "    ", "1", "a", "'", "(", ",", "-", "#", "\t", ".0", "_0", "\\\n", "u", "f", "b"]
        )
    )
    other = code[:at] + more + code[at + cut :]
    if same(code, other):
        assert compiled(code) == compiled(other)


@given(programs, programs)
def test_two_unrelated_programs_share_a_key_only_if_they_compile_to_the_same_code(one: str, two: str) -> None:
    if same(one, two):
        assert compiled(one) == compiled(two)


@given(st.text(max_size=30))
def test_no_text_at_all_makes_it_fail(text: str) -> None:
    assert normalise_python(text) == normalise_python(text)
    assert same(text + "\ud800", text + "\ud800")
