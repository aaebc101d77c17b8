"""A job's compute time: how much it gets, and how much more people may give it.

Time spent waiting for people is never charged. The ceiling is captured when the job is created, at the last moment
anything knows who held a clock over the asker; afterwards the job has no clock but its own, and neither have its jobs.
"""

from __future__ import annotations

JOB_BUDGET_MS = 3_600_000
"""Compute time of a job that nobody held a clock over."""
CLOCKED_JOB_BUDGET_MS = 1_500_000
"""Compute time of a job born in a turn under an external clock."""
LEAST_BUDGET_MS = 60_000
"""Less cannot be chosen: it would end before its first answer."""

EXTENSION_MS = 15 * 60_000
"""What one press on `Extend` adds."""
MOST_BUDGET_MS = 4 * 3_600_000
"""What a job can be extended to."""

CHARGE_MS = 10_000
"""How often the time of a running job is stored: a crash loses no more of it."""


def budget(*, clocked: bool, wished_ms: int | None) -> int:
    """The compute time of a new job, in milliseconds: the ceiling, or less if that was wished."""
    ceiling = CLOCKED_JOB_BUDGET_MS if clocked else JOB_BUDGET_MS
    return ceiling if wished_ms is None else min(ceiling, max(LEAST_BUDGET_MS, wished_ms))
