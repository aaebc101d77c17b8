"""Texts of tools and errors, made fit to be stored and sent, whatever they hold.

A half of a surrogate pair (from a file name, or from careless JSON) can neither be stored nor sent, and an exception
may even fail to be printed. Neither may keep the row of a call from ending.
"""

from __future__ import annotations


def plain(text: str) -> str:
    """The text with what cannot be encoded written as escapes, such as `\\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def words_of(error: BaseException) -> str:
    """What an exception says, or that it cannot be printed."""
    try:
        return plain(str(error))
    except Exception:  # noqa: BLE001 - an exception's own code may raise anything, and this is asked in handlers
        return "(it cannot be printed)"


def describe(error: BaseException) -> str:
    """An exception's kind and what it says."""
    return f"{type(error).__name__}: {words_of(error)}"
