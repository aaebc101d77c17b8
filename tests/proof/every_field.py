"""Every made attack in every field: the long run behind `test_fidelity`, in chunks that can be shared out and resumed.

    python -m tests.proof.every_field FILE [--chunks N] [--share K/N] [--only WORDS] [--sum]

Each chunk has its own seed and is one line of JSON in FILE when it is done; those that are there are not done again.
Two hundred chunks of a thousand strings are the 200,000 strings that issue 4 asks for, each of them in every field.
One run, on 2026-12-01: 87 fields, 200,000 strings in each, 17,400,000 texts shown, 50 minutes of processor time. In
eight showings the list of `/approvals` was unfaithful: a `](` in a call's text became the end of our link. It has no
link by a name. In 376 a field's name was not looked at, as the form beside it offered a file; it is by itself since.
The six fields of lists and forms were run again after that, with 200,000 strings in each: none unfaithful.

`--share 0/2` takes every second chunk; `--only` tries what has these words in its name, for what came later; `--sum`
adds a file up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.proof.attacks import made
from tests.proof.judge import Unfaithful, judge
from tests.proof.scenes import SCENES, Scene

CHUNK = 1_000


def strings(seed: int, count: int = CHUNK) -> list[str]:
    """The attacks of a chunk."""
    rng = random.Random(f"every field {seed}")
    return [made(rng) for _ in range(count)]


def unfaithful(scenes: Iterable[Scene], texts: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each showing that is not faithful, or over a limit: the scene, its texts, what is wrong.

    Every field gets every text once; in a scene of several each field has another one.
    """
    for scene in scenes:
        # Apart by as much as can be, so that two fields do not meet the same neighbours again.
        apart = len(texts) // len(scene.fields)
        for at in range(len(texts)):
            given = tuple(texts[(at + number * apart) % len(texts)] for number in range(len(scene.fields)))
            try:
                judge(scene, *given)
            except (Unfaithful, ValueError, AssertionError) as problem:
                yield scene.name, given, str(problem)


def lines(file: Path) -> list[dict[str, Any]]:
    """What is done already."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def run(file: Path, chunks: Iterable[int], scenes: list[Scene]) -> None:
    """Do what is not done yet, a line for each chunk."""
    count = sum(len(scene.fields) for scene in scenes)
    done = {line["chunk"] for line in lines(file)}
    for chunk in chunks:
        if chunk in done:
            continue
        began = time.process_time()
        wrong = [list(one) for one in unfaithful(scenes, strings(chunk))]
        spent = round(time.process_time() - began, 2)
        line = {"chunk": chunk, "strings": CHUNK, "fields": count, "cpu_s": spent, "wrong": wrong}
        with file.open("a") as out:
            out.write(json.dumps(line) + "\n")


def summed(file: Path) -> str:
    """The figures of a file, and what was wrong by field."""
    every = lines(file)
    tried = sum(line["strings"] * line["fields"] for line in every)
    spent = sum(line["cpu_s"] for line in every)
    wrong = [one for line in every for one in line["wrong"]]
    head = f"{sum(line['strings'] for line in every):,} strings, {tried:,} texts shown, {spent / 60:.0f} CPU minutes"
    return "\n".join([f"{head}, {len(wrong)} wrong", *(f"{name}: {texts!r}: {why}" for name, texts, why in wrong[:40])])


def main(arguments: list[str]) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--sum", action="store_true")
    given = parser.parse_args(arguments)
    if given.sum:
        sys.stdout.write(summed(given.file) + "\n")
        return
    which, of = map(int, given.share.split("/"))
    scenes = [scene for scene in SCENES if not given.only or given.only in scene.name]
    asyncio.run(run(given.file, range(which, given.chunks, of), scenes))


if __name__ == "__main__":
    main(sys.argv[1:])
