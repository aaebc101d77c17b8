"""Every made attack in every field: the long run behind `test_fidelity`, in chunks that can be shared out and resumed.

    python -m tests.proof.every_field FILE [--chunks N] [--share K/N] [--only FIELD] [--sum]

Each chunk has its own seed and is one line of JSON in FILE when it is done; those that are there are not done again.
Two hundred chunks of a thousand strings are the 200,000 strings that issue 4 asks for, each of them in every field.
`--share 0/2` takes every second chunk; `--only` tries one field, for one that came later; `--sum` adds a file up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.proof.attacks import made
from tests.proof.faces import FIELDS, Field
from tests.proof.judge import Unfaithful, judge

CHUNK = 1_000


def strings(seed: int, count: int = CHUNK) -> Iterator[str]:
    """The attacks of a chunk."""
    rng = random.Random(f"every field {seed}")
    return (made(rng) for _ in range(count))


def unfaithful(fields: Iterable[Field], texts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Each showing that is not faithful, or over a limit: the field, the text, what is wrong."""
    fields = list(fields)
    for text in texts:
        for field in fields:
            try:
                judge(field, text)
            except (Unfaithful, ValueError, AssertionError) as problem:
                yield field.name, text, str(problem)


def lines(file: Path) -> list[dict[str, Any]]:
    """What is done already."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def run(file: Path, chunks: Iterable[int], fields: list[Field]) -> None:
    """Do what is not done yet, a line for each chunk."""
    done = {line["chunk"] for line in lines(file)}
    for chunk in chunks:
        if chunk in done:
            continue
        began = time.process_time()
        wrong = [list(one) for one in unfaithful(fields, strings(chunk))]
        spent = round(time.process_time() - began, 2)
        line = {"chunk": chunk, "strings": CHUNK, "fields": len(fields), "cpu_s": spent, "wrong": wrong}
        with file.open("a") as out:
            out.write(json.dumps(line) + "\n")


def summed(file: Path) -> str:
    """The figures of a file, and what was wrong by field."""
    every = lines(file)
    shown = sum(line["strings"] * line["fields"] for line in every)
    spent = sum(line["cpu_s"] for line in every)
    wrong = [one for line in every for one in line["wrong"]]
    head = f"{sum(line['strings'] for line in every):,} strings, {shown:,} showings, {spent / 60:.0f} CPU minutes"
    return "\n".join([f"{head}, {len(wrong)} wrong", *(f"{name}: {text!r}: {why}" for name, text, why in wrong[:40])])


def main(arguments: list[str]) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--only", action="append")
    parser.add_argument("--sum", action="store_true")
    given = parser.parse_args(arguments)
    if given.sum:
        sys.stdout.write(summed(given.file) + "\n")
        return
    which, of = map(int, given.share.split("/"))
    fields = [field for field in FIELDS if not given.only or field.name in given.only]
    asyncio.run(run(given.file, range(which, given.chunks, of), fields))


if __name__ == "__main__":
    main(sys.argv[1:])
