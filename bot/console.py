"""Text for terminals: tables, times, and strangers' words made harmless."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime


def visible(text: str) -> str:
    """`text` with every control, format and line-breaking character written out, as Python would write it."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or unicodedata.category(one) == "Zs" else one.encode("unicode_escape").decode()
        for one in text
    )


def one_line(text: str, width: int) -> str:
    """`text` made visible and cut to `width` characters, with a mark where it was cut."""
    shown = visible(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def local_time(at: int | None) -> str:
    """A moment (milliseconds UTC) as ISO 8601 in this machine's time zone; `-` for none."""
    if at is None:
        return "-"
    return datetime.fromtimestamp(at / 1000, tz=UTC).astimezone().isoformat(sep=" ", timespec="seconds")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns under their heads, without a trailing blank anywhere."""
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [heads, *rows]]
    return "\n".join(line.rstrip() for line in lines)


def block(text: str) -> str:
    """`text` made visible line by line; a second line and all behind it stand behind a bar."""
    return "\n| ".join(visible(line) for line in text.rstrip("\n").split("\n"))


def fields(pairs: Sequence[tuple[str, str]]) -> str:
    """`name: value`, the values aligned, those of several lines too."""
    width = max(len(name) for name, _ in pairs) + 2
    return "\n".join(
        f"{name + ':':<{width}}{value}".replace("\n", "\n" + " " * width).rstrip() for name, value in pairs
    )
