"""The code and what it is built on: bandit, rules of our own, a bill of materials, and known vulnerabilities.

    .venv/bin/python .ci/supply_chain.py

Ends with 1 if something is wrong. What could not be asked is *not run*, never green: an audit that reached no source of
vulnerabilities has found none, and that says nothing (pip-audit then gives every package a `skip_reason`, and exits 0).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TOOLS = BUILD / "checks"
CODE = ("bot", "cogs", "storage")


def main() -> int:
    """Run all of them, also after one has failed."""
    os.chdir(ROOT)
    install()
    return 0 if all([bandit(), semgrep(), bill_of_materials(), audit()]) else 1


def install() -> None:
    """The tools into `build/checks`."""
    if not (TOOLS / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
    asked = ["install", "--quiet", "--quiet", "--disable-pip-version-check", "--requirement", ".ci/checks.txt"]
    subprocess.run([str(TOOLS / "bin" / "pip"), *asked], check=True)


def run(tool: str, *words: str, within: float = 300) -> subprocess.CompletedProcess[str]:
    """One of the tools, with nobody asked for a newer version of it."""
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "SEMGREP_ENABLE_VERSION_CHECK": "0", "SEMGREP_SEND_METRICS": "off"}
    command = [str(TOOLS / "bin" / tool), *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=within)


def say(what: str, verdict: str) -> None:
    """One line of the report."""
    print(f"{what}: {verdict}", flush=True)


def bandit() -> bool:
    """No finding of high severity; how many of the others there are."""
    done = run("bandit", "--quiet", "--format", "json", "--recursive", *CODE)
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    by = {level: [one for one in found if one["issue_severity"] == level] for level in ("HIGH", "MEDIUM", "LOW")}
    for one in by["HIGH"]:
        print(f"  {one['filename']}:{one['line_number']}: {one['test_id']} {one['issue_text']}")
    say("bandit", ", ".join(f"{len(of_level)} {level.lower()}" for level, of_level in by.items()))
    return not by["HIGH"]


def semgrep() -> bool:
    """Our rules, each first on its example; then over the code."""
    tried = run("semgrep", "scan", "--test", "--config", ".ci/semgrep/rules.yml", ".ci/semgrep/rules.py")
    if tried.returncode != 0:
        print(tried.stdout, tried.stderr)
        say("semgrep", "a rule misses its example")
        return False
    done = run("semgrep", "scan", "--quiet", "--json", "--strict", "--config", ".ci/semgrep/rules.yml", *CODE)
    told = json.loads(done.stdout)
    for one in told["results"]:
        print(
            f"  {one['path']}:{one['start']['line']}: {one['check_id'].rpartition('.')[2]}: {one['extra']['message']}"
        )
    for problem in told["errors"]:
        print(f"  {problem.get('message', problem)}")
    rules = Path(".ci/semgrep/rules.yml").read_text(encoding="utf-8").count("\n  - id: ")
    files = len(told["paths"]["scanned"])
    say("semgrep", f"{len(told['results'])} findings by {rules} rules of ours in {files} files")
    return not told["results"] and not told["errors"] and files > 0


def bill_of_materials() -> bool:
    """CycloneDX, of what is installed beside this Python; in `build/sbom.cdx.json`."""
    file = BUILD / "sbom.cdx.json"
    words = ("environment", "--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", str(file))
    done = run("cyclonedx-py", *words, sys.executable)
    if done.returncode != 0:
        print(done.stderr)
        say("bill of materials", "could not be made")
        return False
    parts = len(json.loads(file.read_text(encoding="utf-8"))["components"])
    say("bill of materials", f"{parts} components in {file.relative_to(ROOT)}")
    return parts > 0


def audit() -> bool:
    """Known vulnerabilities of the pinned packages: none, some, or *not run* where they could not be asked for."""
    words = ("--requirement", ".ci/constraints.txt", "--no-deps", "--disable-pip", "--format", "json")
    try:
        told = json.loads(run("pip-audit", *words, within=120).stdout)["dependencies"]
    except (ValueError, subprocess.TimeoutExpired) as error:
        say("dependency audit", f"NOT RUN: no source of vulnerabilities answered ({type(error).__name__})")
        return True
    asked = [one for one in told if "skip_reason" not in one]
    found = [(one["name"], one["version"], each["id"]) for one in asked for each in one["vulns"]]
    for name, version, id in found:
        print(f"  {name} {version}: {id}")
    unasked = len(told) - len(asked)
    if not asked:
        say("dependency audit", f"NOT RUN: no source of vulnerabilities knew any of the {unasked} packages")
    elif unasked:
        say("dependency audit", f"{len(found)} known in {len(asked)} packages; NOT RUN for {unasked} more")
    else:
        say("dependency audit", f"{len(found)} known in {len(asked)} packages")
    return not found


if __name__ == "__main__":
    sys.exit(main())
