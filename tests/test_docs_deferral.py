"""The example in docs/deferral.md is run as it stands there, and prints what the page says it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "deferral.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_example_prints_what_the_page_says() -> None:
    (example,), (printed,) = blocks("python"), blocks("text")
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_every_name_on_the_page_exists() -> None:
    """A page that speaks of what is not there misleads."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "bot").rglob("*.py"))
    names = set(re.findall(r"`([A-Z][A-Za-z]+[a-z])", PAGE)) | set(re.findall(r"`(\w+)=", PAGE))
    missing = {name for name in names if not re.search(rf"\b{name}\b", code)} - {"CancelledError"}
    assert names
    assert missing == set()


def test_every_module_on_the_page_exists() -> None:
    for name in set(re.findall(r"`(bot(?:\.\w+)+)", PAGE)):
        whole = ROOT / Path(*name.split("."))
        assert whole.is_dir() or whole.with_suffix(".py").exists() or whole.parent.with_suffix(".py").exists(), name
