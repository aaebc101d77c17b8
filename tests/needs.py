"""What a machine may lack: tests that need it are skipped there with the reason, but never in CI, where they fail."""

from __future__ import annotations

import os
import shutil

import pytest

IN_CI = bool(os.environ.get("CI"))


def needs(*programs: str) -> pytest.MarkDecorator:
    """Marks a test, or as `pytestmark` a file, that drives these programs."""
    missing = [program for program in programs if shutil.which(program) is None]
    reason = f"not installed here: {', '.join(missing)}; on Debian: apt install bubblewrap chromium"
    return pytest.mark.skipif(bool(missing) and not IN_CI, reason=reason)
