"""The house: three storeys, imports point down, and each foreign language is spoken in one place.

One table says who may import what; every import statement of every module is held to it, those under
TYPE_CHECKING and inside functions too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STOREYS = ("storage", "bot", "cogs")

MAY_IMPORT: dict[str, set[str]] = {
    # module or package: what it may import besides the standard library and itself. The longest name counts.
    "storage": {"aiosqlite"},
    # The ground of the middle floor: no other floor, no storey but their own.
    "bot.errors": set(),
    "bot.clock": set(),
    "bot.lanes": set(),
    "bot.place": set(),
    "bot.texts": set(),  # and everybody above storage may take a text from it
    "bot.rules": {"bot.place"},
    "bot.permits": {"bot.place"},
    "bot.where": {"bot.permits", "bot.place", "storage"},
    "bot.tables": set(),
    "bot.budgets": {"bot.errors", "bot.place", "storage.usage"},
    "bot.limits": {"bot.deferral", "bot.errors", "bot.place", "storage"},
    "bot.accounts": {
        "bot.budgets", "bot.clock", "bot.deferral.calls", "bot.errors", "bot.limits", "bot.place", "storage",
    },
    "bot.where_file": {"bot.tables", "bot.where"},
    "bot.errands": {"bot.errors", "bot.plain"},
    "bot.showing": {"bot", "storage"},
    "bot.moving": {"bot", "storage"},
    "bot.notices": {"bot", "storage"},
    "bot.wishes": {"bot", "storage"},
    "bot.interpreters": set(),
    "bot.policy_file": {"bot.interpreters", "bot.permits", "bot.tables"},
    "bot.guild_rules": {"bot.permits", "bot.policy_file", "bot.rules", "bot.values"},
    "bot.outside": set(),
    "bot.plain": set(),
    "bot.console": set(),
    "bot.shapes": set(),
    "bot.spellings": set(),
    "bot.secrets_file": set(),
    "bot.redact": {"bot.spellings"},
    "bot.streams": {"bot.redact"},
    "bot.setup": set(),
    "bot.single": {"bot.errors"},
    "bot.background": {"bot.clock"},
    "bot.values": {"bot.rules", "bot.tables", "pydantic"},
    "bot.settings": {
        "bot.budgets", "bot.limits", "bot.errors", "bot.outside", "bot.permits", "bot.policy_file", "bot.rules",
        "bot.secrets_file", "bot.values",
        "bot.where", "bot.where_file", "pydantic", "pydantic_settings", "dotenv", "storage.jobs",
        "storage.schedules",
    },
    "bot.logs": {"bot.console", "bot.redact", "bot.settings", "bot.shapes", "structlog"},
    "bot.surface": {"bot.rules", "storage"},
    # Between "asked" and "ran": usable without Discord and without any model library.
    "bot.deferral": {
        "bot.errors", "bot.clock", "bot.place", "bot.plain", "bot.rules", "bot.background", "bot.surface",
        "bot.interpreters", "bot.permits", "bot.redact", "bot.secrets_file",
        "storage", "pydantic", "anyio",
    },
    # The one place that speaks to models.
    "bot.agent": {
        "bot.errors", "bot.background", "bot.clock", "bot.deferral", "bot.outside", "bot.permits", "bot.plain",
        "bot.redact", "bot.values", "storage",
        "pydantic_ai", "pydantic", "pydantic_core", "anyio", "aiohttp", "httpx2", "openai", "anthropic",
        "httpx", "tavily",
        "mcp", "jsonschema", "referencing",
    },
    # What can run: knows neither who asked nor who answers.
    "bot.toolbox": {
        "bot.errors", "bot.clock", "bot.deferral.references", "bot.deferral.tool", "bot.secrets_file",
        "pydantic", "anyio", "aiohttp", "yarl",
    },
    "bot.jobs": {
        "bot.accounts", "bot.limits", "bot.errors", "bot.clock", "bot.deferral", "bot.delivery", "bot.errands",
        "bot.lanes", "bot.place", "bot.surface", "bot.agent.transcript", "storage", "pydantic", "cronsim",
    },
    "bot.files": {"bot", "storage", "anyio"},
    "bot.delivery": {"bot", "storage"},
    "bot.turns": {"bot", "storage"},
    "bot.stretches": {"bot", "storage"},
    "bot.decisions": {"bot", "storage"},
    "bot.edits": {"bot", "storage"},
    "bot.asking": {"bot", "storage"},
    "bot.holding": {"bot", "storage"},
    "bot.ending": {"bot.jobs", "bot.place", "storage"},
    "bot.recording": {"bot.clock", "bot.deferral", "storage"},
    "bot.commands": {"bot", "storage", "anyio"},
    "bot.job_files": {"bot", "storage", "anyio"},
    "bot.anew": {"bot", "storage"},
    "bot.forking": {"bot", "storage"},
    "bot.attachments": {"storage"},
    "bot.intake": {"bot", "storage"},
    "bot.backgrounding": {"bot", "storage"},
    "bot.progress": {"bot", "storage"},
    "bot.stopping": {"bot", "storage"},
    "bot.views": {"bot.deferral", "bot.granting", "bot.rules", "bot.surface", "storage"},
    "bot.granting": {"bot.clock", "bot.deferral", "bot.errors", "bot.place", "bot.surface", "storage"},
    "bot.timeline": {"bot", "storage"},
    "bot.refusing": {"bot.clock", "bot.delivery", "bot.errors", "bot.surface"},
    "bot.farewell": {"bot.clock", "bot.delivery", "bot.jobs", "bot.turns"},
    "bot.engine": {"bot", "storage"},
    "bot.policing": {"bot", "storage"},
    "bot.guild_settings": {"bot.budgets", "bot.where", "bot.where_file"},
    "bot.settings_desk": {"bot", "storage"},
    "bot.guild_book": {
        "bot.deferral.seal", "bot.guild_rules", "bot.guild_settings", "bot.permits", "bot.rules", "storage",
    },
    "bot.policy_view": {"bot.guild_book", "bot.guild_rules", "bot.permits", "bot.rules", "storage"},
    "bot.policy_desk": {"bot", "storage"},
    "bot.drafts": {"bot.clock", "bot.errors", "bot.guild_book", "bot.surface", "bot.texts", "storage"},
    "bot.rehearsal": {"bot.clock", "bot.deferral", "bot.permits", "storage"},
    "bot.app": {"bot", "storage"},
    "bot.screening": {"bot.deferral", "bot.delivery", "bot.rules", "storage"},
    "bot.toolbook": {"bot"},
    "bot.reloading": {"bot", "storage"},
    "bot.drills": {"bot", "storage"},
    "bot.startup": {"bot", "storage"},
    "bot.clippings": {"bot.clock", "bot.errors", "bot.texts", "storage"},
    "bot.missed": {"bot.clock", "storage"},
    "bot.usage_desk": {
        "bot.accounts", "bot.budgets", "bot.clock", "bot.errors", "bot.place", "bot.surface", "storage",
    },
    "bot.upkeep": {"bot", "storage"},
    "bot.doctor": {"bot", "storage"},
    # The twin: a program of its own, which nothing but the front door imports.
    "bot.playground": {
        "bot.background", "bot.clock", "bot.errors", "bot.lanes",
        "simcord", "discord", "aiohttp", "yarl", "PIL", "multidict", "markdown_it",
    },
    # The face.
    "cogs": {"bot", "storage", "discord", "aiohttp", "markdown_it", "anyio"},
    # The front door sees every floor.
    "bot.cli": {"bot", "storage", "cogs", "discord", "pydantic"},
    "bot.__main__": {"bot", "storage"},
}  # fmt: skip

NOBODY_ELSE = {
    "discord": ("cogs", "bot.playground", "bot.cli"),
    "simcord": ("bot.playground",),
    "pydantic_ai": ("bot.agent",),
    "mcp": ("bot.agent",),
    "sqlite3": ("storage",),
    "aiosqlite": ("storage",),
    "cogs": ("bot.cli",),
    "bot.playground": ("bot.cli",),
    "bot.cli": ("bot.__main__",),
    "cronsim": ("bot.jobs",),
}
"""A language, and the only ones who speak it (besides itself)."""

SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|PRAGMA\s+\w|CREATE\s+TABLE)\b", re.DOTALL
)


def modules() -> Iterator[tuple[str, Path]]:
    for storey in STOREYS:
        for path in sorted((ROOT / storey).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def imports(path: Path) -> set[str]:
    """Everything a file imports, as `package.module` (for `from a import b`: `a.b` if that is a module, else `a`)."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in whole}
    return found


def within(name: str, packages: set[str] | tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def rule_for(module: str) -> tuple[str, set[str]]:
    fitting = [name for name in MAY_IMPORT if within(module, {name})]
    assert fitting, f"{module} has no line in the table of floors: say what it may import"
    longest = max(fitting, key=len)
    return longest, MAY_IMPORT[longest]


@pytest.mark.parametrize("module", [name for name in MODULES if name not in STOREYS])
def test_a_module_imports_only_what_its_floor_may(module: str) -> None:
    floor, allowed = rule_for(module)
    foreign = {
        name
        for name in imports(MODULES[module])
        if name.split(".")[0] not in sys.stdlib_module_names and name not in {"bot", "storage", "cogs"}
    }
    texts = set() if within(module, {"storage"}) else {"bot.texts"}
    assert {name for name in foreign if not within(name, allowed | {floor} | texts)} == set()


@pytest.mark.parametrize("language", NOBODY_ELSE)
def test_a_language_is_spoken_in_its_own_place_only(language: str) -> None:
    speakers = {name for name, path in MODULES.items() if any(within(one, {language}) for one in imports(path))}
    assert {name for name in speakers if not within(name, (*NOBODY_ELSE[language], language))} == set()
    assert speakers, f"nobody imports {language}: is the table out of date?"


def test_the_front_door_imports_faces_and_models_only_inside_its_functions() -> None:
    """A listing must not wait seconds for Discord's and the model's libraries."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, bot.__main__, bot.cli.listings; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not {"discord", "pydantic_ai", "simcord"} & set(done.stdout.split())


def test_the_bot_starts_without_the_packages_of_providers_that_nobody_named() -> None:
    """They are a third of its start, and thirteen megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, bot.app, cogs.client; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not {"openai", "anthropic", "simcord"} & set(done.stdout.split())


@pytest.mark.parametrize("package", ["bot.deferral", "bot.toolbox", "storage"])
def test_what_has_to_do_without_discord_and_models_does(package: str) -> None:
    """A fresh process imports the whole package; neither library comes with it."""
    names = [name for name in MODULES if within(name, {package}) and name != "bot.toolbox.probe"]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(names)}; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert set(names) <= loaded
    assert not {"discord", "pydantic_ai"} & loaded


def test_sql_is_spoken_on_the_ground_floor_only() -> None:
    guilty = set()
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value):
                guilty.add(name)
    assert {name for name in guilty if not within(name, {"storage"})} == set()
    assert "storage.approvals" in guilty


def test_the_storeys_first_files_hold_nothing_but_their_docstring() -> None:
    """So that importing a leaf never wakes the house."""
    for storey in ("storage", "bot"):
        (only,) = ast.parse((ROOT / storey / "__init__.py").read_text(encoding="utf-8")).body
        assert isinstance(only, ast.Expr)


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"}
    }
    assert readers == {"bot.settings", "bot.setup"}


def test_every_module_says_why_it_exists() -> None:
    silent = {name for name, path in MODULES.items() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))}
    assert silent == set()


def test_no_file_grows_past_a_size_that_can_be_read_in_one_go() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_the_table_has_no_line_for_what_is_gone() -> None:
    assert {name for name in MAY_IMPORT if not any(within(module, {name}) for module in MODULES)} == set()


def test_every_package_is_part_of_what_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert set(project["tool"]["setuptools"]["packages"]) == packages


def test_no_two_migrations_have_the_same_number() -> None:
    """The second of them would never run."""
    numbers = [path.name[:4] for path in sorted((ROOT / "storage" / "migrations").glob("*.sql"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
