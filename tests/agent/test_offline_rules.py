"""What the offline model understands of a person's words, and what it leaves alone."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.agent.offline_rules import read_prompt


def wishes(prompt: str) -> list[tuple[str, Any]]:
    """Tool and arguments of each wish; a lone argument stands for itself."""
    found = [(wish.tool, list(wish.arguments.values())) for wish in read_prompt(prompt).wishes]
    return [(tool, values[0] if len(values) == 1 else tuple(values)) for tool, values in found]


UNDERSTOOD: dict[str, list[tuple[str, Any]]] = {
    # commands
    "run `date`": [("shell", "date")],
    "run `date`.": [("shell", "date")],
    "Run date.": [("shell", "date")],
    "run date please": [("shell", "date")],
    "run date!": [("shell", "date")],
    "run the command ls -la": [("shell", "ls -la")],
    "run the following command: ls -la": [("shell", "ls -la")],
    "please execute uname -a in the shell": [("shell", "uname -a")],
    "in the shell, run ls -la": [("shell", "ls -la")],
    "what does `df -h` say": [("shell", "df -h")],
    "What does df -h say?": [("shell", "df -h")],
    "show me the output of `df -h`": [("shell", "df -h")],
    "tell me what `uptime` says": [("shell", "uptime")],
    "run `date` and show me the output": [("shell", "date")],
    "Hi! Can you run `date` for me?": [("shell", "date")],
    "<@123> run `date`": [("shell", "date")],
    "I want you to run `date`": [("shell", "date")],
    "`date`": [("shell", "date")],
    "$ ls -la": [("shell", "ls -la")],
    'run "ls -la"': [("shell", "ls -la")],
    'run grep "a b" notes.txt': [("shell", 'grep "a b" notes.txt')],
    "run ls .": [("shell", "ls .")],
    "run ./script.sh --x=1": [("shell", "./script.sh --x=1")],
    "run sleep 1 && echo ok": [("shell", "sleep 1 && echo ok")],
    "run cd src; ls -la": [("shell", "cd src; ls -la")],
    "run ``echo `date` ``": [("shell", "echo `date`")],
    "run:\n```bash\nls -la | wc\nid\n```": [("shell", "ls -la | wc\nid")],
    "run:\n```\nls -la\n```": [("shell", "ls -la")],
    "```sh\nls\n```": [("shell", "ls")],
    "run python script.py": [("shell", "python script.py")],
    "use the shell to run date": [("shell", "date")],
    "run this for me: date": [("shell", "date")],
    "run `date` again": [("shell", "date")],
    "run `printf 'a\nb'`": [("shell", "printf 'a\nb'")],
    # Python
    "run python: print(1+1)": [("execute_code", "print(1+1)")],
    "run python print(1+1)": [("execute_code", "print(1+1)")],
    "print(1+1)": [("execute_code", "print(1+1)")],
    "run `print(1)` in python": [("execute_code", "print(1)")],
    "execute the python code `import os; print(os.sep)`": [("execute_code", "import os; print(os.sep)")],
    "```python\nprint(1)\nprint(2)\n```": [("execute_code", "print(1)\nprint(2)")],
    "run this:\n```py\nif True:\n    print(1)\n```\nthanks!": [("execute_code", "if True:\n    print(1)")],
    "run this python:\n```\nprint(1)\n```": [("execute_code", "print(1)")],
    "calculate 3*7": [("execute_code", "print(3*7)")],
    "Calculate 2^10, please.": [("execute_code", "print(2**10)")],
    "what is 3 plus 4?": [("execute_code", "print(3 + 4)")],
    "calculate sqrt(2)": [("execute_code", "from math import sqrt\nprint(sqrt(2))")],
    "calculate sum(range(1, 101))": [("execute_code", "print(sum(range(1, 101)))")],
    "run the python code print(2+2)": [("execute_code", "print(2+2)")],
    "use python to compute 2+2": [("execute_code", "print(2+2)")],
    "2+2": [("execute_code", "print(2+2)")],
    "calculate 15% of 200": [("execute_code", "print(15 / 100 * 200)")],
    # reading and listing
    "read notes.txt": [("read_file", "notes.txt")],
    "Read notes.txt.": [("read_file", "notes.txt")],
    "show me the file a/b.txt": [("read_file", "a/b.txt")],
    'read the file "my notes.txt"': [("read_file", "my notes.txt")],
    "read Makefile": [("read_file", "Makefile")],
    "what's in notes.txt?": [("read_file", "notes.txt")],
    "read a.txt and b.txt": [("read_file", "a.txt"), ("read_file", "b.txt")],
    "list files": [("list_files", ".")],
    "List the files in src.": [("list_files", "src")],
    "list files in the folder src/": [("list_files", "src/")],
    "what's in src?": [("list_files", "src")],
    "what's in the src folder?": [("list_files", "src")],
    "which files are there?": [("list_files", ".")],
    "list the current directory": [("list_files", ".")],
    "list files in src and docs": [("list_files", "src"), ("list_files", "docs")],
    "show me src/": [("list_files", "src/")],
    # writing
    "write hello world to notes.txt": [("write_file", ("notes.txt", "hello world"))],
    'write "hello, and then bye; ok" to notes.txt': [("write_file", ("notes.txt", "hello, and then bye; ok"))],
    "create todo.md with: buy milk": [("write_file", ("todo.md", "buy milk"))],
    "create todo.md with:\n- milk\n- bread": [("write_file", ("todo.md", "- milk\n- bread"))],
    "create todo.md with:\n```\n- milk\n- bread\n```": [("write_file", ("todo.md", "- milk\n- bread\n"))],
    "write this to a.py:\n```python\nprint(1)\n```\nthanks!": [("write_file", ("a.py", "print(1)\n"))],
    "create a file called todo.md containing buy milk": [("write_file", ("todo.md", "buy milk"))],
    "save `x = 1` as a.py": [("write_file", ("a.py", "x = 1"))],
    "put hello in the file notes": [("write_file", ("notes", "hello"))],
    "create an empty file x.txt": [("write_file", ("x.txt", ""))],
    "write buy milk and then run home to todo.txt": [("write_file", ("todo.txt", "buy milk and then run home"))],
    "create a file a.txt with hello world in it": [("write_file", ("a.txt", "hello world"))],
    "create a file a.txt with the following content:\nhello\nworld": [("write_file", ("a.txt", "hello\nworld"))],
    "write hello to a.txt please": [("write_file", ("a.txt", "hello"))],
    # pages
    "fetch https://example.org": [("http_fetch", "https://example.org")],
    "fetch the page https://example.org/a?b=c, please.": [("http_fetch", "https://example.org/a?b=c")],
    "open example.org": [("http_fetch", "https://example.org")],
    "fetch <https://example.org/x>": [("http_fetch", "https://example.org/x")],
    # jobs
    "in the background, run `sleep 5`": [("start_job", "run `sleep 5`")],
    "in the background, run `date` and then read a.txt": [("start_job", "run `date` and then read a.txt")],
    "start a job to count the stars": [("start_job", "count the stars")],
    "run `make` in the background": [("start_job", "run `make`")],
    "start a job that runs `date`": [("start_job", "run `date`")],
    "start something in the background: run `make`": [("start_job", "run `make`")],
    # questions
    "ask me which colour: red, green or blue": [("ask_user", ("Which colour?", ["red", "green", "blue"]))],
    "ask me what to do: run, read or list": [("ask_user", ("What to do?", ["run", "read", "list"]))],
    "ask me whether to go on": [("ask_user", ("Whether to go on?", ["yes", "no"]))],
    'ask me which one: "a, b" or c': [("ask_user", ("Which one?", ["a, b", "c"]))],
    "ask me: red or blue?": [("ask_user", ("Red or blue?", ["red", "blue"]))],
    "ask me whether I want tea or coffee": [("ask_user", ("Whether I want tea or coffee?", []))],
    "ask me my name": [("ask_user", ("My name?", []))],
    # several
    "run `date` and then read notes.txt": [("shell", "date"), ("read_file", "notes.txt")],
    "list the files, then run `id`": [("list_files", "."), ("shell", "id")],
    "list files; run `id`; calculate 3*7": [("list_files", "."), ("shell", "id"), ("execute_code", "print(3*7)")],
    "1. run `date`\n2. read a.txt\n- list files": [("shell", "date"), ("read_file", "a.txt"), ("list_files", ".")],
    "Run `date`. Then read notes.txt.": [("shell", "date"), ("read_file", "notes.txt")],
    "run `date`, `id` and `uname -a`": [("shell", "date"), ("shell", "id"), ("shell", "uname -a")],
    "write hi to a.txt, then read a.txt": [("write_file", ("a.txt", "hi")), ("read_file", "a.txt")],
    "fetch https://a.org/; run `id`": [("http_fetch", "https://a.org/"), ("shell", "id")],
}


@pytest.mark.parametrize("prompt", UNDERSTOOD)
def test_free_words_become_calls(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert wishes(prompt) == UNDERSTOOD[prompt]
    assert (reading.unread, reading.hints) == ((), ())


@pytest.mark.parametrize(
    "command", ["echo a and then b; echo c", "ls; read x", "echo 'x' and run y", "grep -c then, a", "a\tb"]
)
def test_a_command_between_backticks_stays_whole(command: str) -> None:
    assert wishes(f"run `{command}`") == [("shell", command)]


def test_separators_inside_quotes_do_not_cut() -> None:
    assert wishes('run echo "a and then run b; list files"') == [("shell", 'echo "a and then run b; list files"')]


def test_separators_inside_a_fence_do_not_cut() -> None:
    code = "x = 1; y = 2\n# then run this and read that\nprint(x)"
    assert wishes(f"run this:\n```python\n{code}\n```\nthen list files") == [
        ("execute_code", code),
        ("list_files", "."),
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "don't run `rm -rf x`",
        "please do not run `date`",
        "never read notes.txt",
        "if it rains, run `date`",
        "when you are done, list files",
        "run `date` if it rains",
        "run `date` tomorrow",
        "run date unless it rains",
        "how do I run `date`?",
        "what would `date` say?",
        "what does `rm -rf x` do?",
        "run the tests",
        "run it",
        "run ls and wc",
        "run 50 laps",
        "run `unclosed",
        'run "unclosed',
        "read a book",
        "write a poem",
        "write hello to bob",
        "create todo.md",
        "append x to notes.txt",
        "fetch ftp://example.org/x",
        "what's in the fridge?",
        "what is love?",
        "calculate the meaning of life",
        "run:\n```\na\nb\n```",
        "start a job",
        "ask me",
        "tell me a joke",
        "make a sandwich",
        "running late",
        "start something in the background",
        "ask me something",
        "approve it",
        "run",
    ],
)
def test_what_is_not_clearly_asked_for_is_left_alone_and_handed_back(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert reading.wishes == ()
    assert reading.unread != ()


@pytest.mark.parametrize("prompt", ["", "hello", "Hi there!", "thanks", "help", "what can you do?", "please"])
def test_courtesy_alone_is_neither_a_wish_nor_something_not_understood(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert (reading.wishes, reading.unread) == ((), ())


def test_the_part_that_is_not_understood_is_handed_back_beside_the_calls() -> None:
    reading = read_prompt("run `date` and then sing a song")
    assert [wish.arguments for wish in reading.wishes] == [{"command": "date"}]
    assert reading.unread == ("sing a song",)


@pytest.mark.parametrize(
    "prompt",
    ["every day at 9, run `date`", "schedule a look at notes.txt, run `date`", "please remind me, then run `date`"],
)
def test_a_schedule_in_words_starts_nothing_and_points_to_the_command(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert reading.wishes == ()
    assert "`/schedule add`" in reading.hints[0]


def test_a_result_cannot_be_passed_on_and_the_hint_says_so() -> None:
    reading = read_prompt("fetch https://example.org and save it to page.html")
    assert [wish.tool for wish in reading.wishes] == ["http_fetch"]
    assert "result of one step" in reading.hints[0]


def test_an_unclear_command_is_answered_with_how_to_make_it_clear() -> None:
    assert "between backticks" in read_prompt("run the tests").hints[0]


@pytest.mark.parametrize(
    "prompt",
    [
        "run a" + " " * 6000 + "b",
        ("write a" + " " * 199) * 30 + "to b",
        "run " + "`a" * 3000,
        "run " + '"a ' * 2000,
        "," * 6000,
        " ," * 3000,
        "then " * 1200,
        "please " * 800,
        "write " + "a to " * 1200,
        "run\n" * 1500,
        "calculate " + "(" * 3000 + "1" + ")" * 3000,
        "x" * 200_000,
    ],
    ids=lambda prompt: repr(prompt[:12]),
)
def test_no_prompt_keeps_the_program_busy(prompt: str) -> None:
    began = time.process_time()
    read_prompt(prompt)
    assert time.process_time() - began < 1
