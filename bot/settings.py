"""Every setting, in one frozen model: the only place that reads the environment and the settings' files.

Three sources, the earlier one wins: the environment, `.env`, `signoff.toml`. The files are looked for in the
folder in which the program starts. `.env.example` lists the same names in the same order (a test holds the
two together). Nothing is guessed: what makes no sense stops the start, all of it at once, each in one sentence.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from dotenv import dotenv_values
from pydantic import BeforeValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot import outside, policy_file, values, where_file
from bot.budgets import Budget, Budgets
from bot.errors import SettingsError
from bot.limits import AtOnce, TurnLimits
from bot.outside import McpServer
from bot.permits import PolicyRule
from bot.rules import ApproverRule
from bot.secrets_file import NamedSecret, named_secrets
from bot.values import TokenFile
from bot.where import PlacesRule
from storage.jobs import JobLimits
from storage.schedules import ScheduleLimits

PREFIX = "SIGNOFF_"
"""What our own names begin with; names of this shape that we do not know are refused."""

INTERNAL = frozenset({"SIGNOFF_TWIN"})
"""Names that the playground passes to the bot it starts: not settings, not for people."""

ENV_FILE = ".env"
TOML_FILE = "signoff.toml"


class Settings(BaseSettings):
    """What the operator decides. `load_settings` fills it; `Settings()` alone is all defaults and reads nothing."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=None,
        frozen=True,
        validate_default=False,
        extra="ignore",
        populate_by_name=True,
        case_sensitive=False,
    )

    discord_token: Annotated[SecretStr | None, BeforeValidator(values.token)] = Field(
        None, validation_alias="DISCORD_TOKEN"
    )
    discord_token_file: Annotated[TokenFile | None, NoDecode, BeforeValidator(values.token_file)] = Field(
        None, validation_alias="DISCORD_TOKEN_FILE"
    )
    discord_proxy: Annotated[str | None, BeforeValidator(values.proxy)] = Field(None, validation_alias="DISCORD_PROXY")
    """Passed to discord.py for REST and gateway alike."""

    model: str | None = None
    """A pydantic-ai model name; None is the offline model."""
    models: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(values.model_names)] = None
    """Models that a server may choose with `/settings` in its place. None: there is no choice."""
    model_timeout: Annotated[timedelta, BeforeValidator(values.duration(least=1))] = timedelta(seconds=120)
    """How long one answer of the model may take."""
    agent: str | None = None
    """The user's own pydantic-ai agent, as package.module:name; None is ours."""
    agent_deps: str | None = None
    """What makes its dependencies, likewise."""
    images: Literal["auto", "on", "off"] = "auto"
    """Whether the model is shown images that people attach; `auto`: as far as is known of it."""
    streaming: Annotated[bool, BeforeValidator(values.switch)] = True
    """Whether answers grow while the model writes."""

    database: Annotated[Path, BeforeValidator(values.database)] = Path("data/signoff.sqlite3")
    workspace: Annotated[Path, BeforeValidator(values.path)] = Path("data/workspace")
    """The tools' working directory."""
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    """`none` is the operator's explicit word that commands may run bare."""

    tavily_key: Annotated[SecretStr | None, BeforeValidator(values.key)] = None
    """The key with which `web_search` asks Tavily; without one there is no such tool."""
    tavily_key_file: Annotated[TokenFile | None, NoDecode, BeforeValidator(values.key_file)] = None

    undo_for: Annotated[timedelta, BeforeValidator(values.duration(least=60))] = timedelta(days=7)
    """How long what a write replaced is kept for `Undo`."""

    upload_megabytes: Annotated[int, Field(ge=0)] = 10
    """The most that one attached file may have to be put into the workspace; 0: none is."""
    uploads_megabytes: Annotated[int, Field(ge=1)] = 500
    """What all of them together may take there."""

    approver_users: Annotated[frozenset[str] | None, NoDecode, BeforeValidator(values.ids)] = None
    """Numeric Discord ids. None (unset) in both this and `approver_roles`: the application's owner or team."""
    approver_roles: Annotated[frozenset[str] | None, NoDecode, BeforeValidator(values.ids)] = None
    self_approval: Annotated[bool, BeforeValidator(values.switch)] = True
    """Whether an approver may decide a call of their own request."""
    approvers: Annotated[tuple[ApproverRule, ...] | None, NoDecode, BeforeValidator(values.approver_rules)] = None
    """Rules per tool and place, the first that matches counts; for what none is about, the three above."""
    places: Annotated[tuple[PlacesRule, ...] | None, NoDecode, BeforeValidator(where_file.places_rules)] = None
    """Where cards go and when their pings are silent, by server; for one that no rule is about, where it was asked."""
    policy: Annotated[tuple[PolicyRule, ...] | None, NoDecode, BeforeValidator(policy_file.policy_rules)] = None
    """What runs without asking and what never runs, the first rule that matches counts; what none is about asks."""
    mcp: Annotated[tuple[McpServer, ...] | None, NoDecode, BeforeValidator(outside.mcp_servers)] = None
    """MCP servers whose tools the agent may ask for."""
    secrets: Annotated[tuple[NamedSecret, ...] | None, NoDecode] = None
    """Secrets that calls of some tools may refer to, with their values as they were when the settings were read."""
    approval_ttl: Annotated[timedelta, BeforeValidator(values.duration(least=6))] = timedelta(hours=24)
    """How long a request waits for a decision."""
    grants: Annotated[bool, BeforeValidator(values.switch)] = True
    """Whether people may allow an exact call for a time, in place of approving it each time."""
    hold_seconds: Annotated[timedelta, BeforeValidator(values.duration(least=1))] = timedelta(seconds=60)
    """How long a turn waits in place for a decision."""

    queue: Annotated[int, Field(ge=1)] = 10
    """Requests of one conversation that may wait in line behind the one at work."""
    ask_in_thread: Annotated[bool, BeforeValidator(values.switch)] = False
    """Whether `/ask` opens a thread in a channel when the person says nothing about it."""
    language: Literal["en", "de"] = "en"
    """What is spoken where no language is known: a server that set none, somebody of whom nothing has been seen yet."""
    message_content: Literal["auto", "on", "off"] = "auto"
    """Whether Discord is asked for the text of messages without a mention; `auto`: if the application may."""

    jobs_per_person: Annotated[int, Field(ge=1)] = 2
    """Background jobs of one person that work at the same time; the others queue."""
    jobs_per_guild: Annotated[int, Field(ge=1)] = 6
    jobs_at_once: Annotated[int, Field(ge=1)] = 12
    """Of everybody."""
    job_depth: Annotated[int, Field(ge=1)] = 3
    """How deep jobs may start jobs; 1: not at all."""
    schedules_per_person: Annotated[int, Field(ge=1)] = 10
    schedules_per_guild: Annotated[int, Field(ge=1)] = 50
    schedule_shortest: Annotated[timedelta, BeforeValidator(values.duration(least=60))] = timedelta(minutes=15)
    """The shortest time between two jobs of one schedule."""

    turns_per_person: Annotated[int, Field(ge=1)] = 5
    """Turns of one person that are worked on at the same time; the others wait."""
    turns_per_guild: Annotated[int, Field(ge=1)] = 25
    decisions_per_turn: Annotated[int, Field(ge=1)] = 50
    """Calls that one turn or job may ask people about in all; what wants more is stopped, and asks for nothing."""
    decisions_per_person: Annotated[int, Field(ge=1)] = 100
    """Calls of one person's requests that may wait for a decision at the same time."""
    decisions_per_guild: Annotated[int, Field(ge=1)] = 500
    calls_per_turn: Annotated[int, Field(ge=1)] = 150
    """Calls of tools that one turn or job may make in all, over its pauses and restarts."""
    tokens_per_turn: Annotated[int | None, Field(ge=1)] = None
    cost_per_turn: Annotated[int | None, BeforeValidator(values.dollars)] = None

    tokens_per_person: Annotated[int | None, Field(ge=1)] = None
    """Tokens, read and written, that one person may use in a day (UTC), everywhere; None: as many as they like."""
    tokens_per_guild: Annotated[int | None, Field(ge=1)] = None
    calls_per_person: Annotated[int | None, Field(ge=1)] = None
    """Calls of tools that the model may ask for, for one person in a day."""
    calls_per_guild: Annotated[int | None, Field(ge=1)] = None
    cost_per_person: Annotated[int | None, BeforeValidator(values.dollars)] = None
    """US dollars in settings, here in millionths; by the providers' list prices."""
    cost_per_guild: Annotated[int | None, BeforeValidator(values.dollars)] = None

    startup_report: Annotated[bool, BeforeValidator(values.switch)] = True
    """Whether the owner is told after a start what waited, what is gone on with, and what was ended."""

    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(values.upper)] = "INFO"
    log_format: Literal["auto", "json", "text"] = "auto"
    """`auto`: text on a terminal, JSON elsewhere."""

    @property
    def token(self) -> SecretStr | None:
        """The bot's token, wherever it was given; None: open the playground."""
        return self.discord_token_file.token if self.discord_token_file else self.discord_token

    @property
    def search_key(self) -> SecretStr | None:
        """`tavily_key`, wherever it was given."""
        return self.tavily_key_file.token if self.tavily_key_file else self.tavily_key

    @property
    def job_limits(self) -> JobLimits:
        """How many jobs may work at once, and how deep they may start others."""
        return JobLimits(
            person=self.jobs_per_person, space=self.jobs_per_guild, bot=self.jobs_at_once, depth=self.job_depth
        )

    @property
    def schedule_limits(self) -> ScheduleLimits:
        """How many schedules there may be, and how often one may run."""
        shortest = self.schedule_shortest // timedelta(milliseconds=1)
        return ScheduleLimits(person=self.schedules_per_person, space=self.schedules_per_guild, shortest_ms=shortest)

    @property
    def turn_limits(self) -> TurnLimits:
        """What one turn or job may take in all."""
        return TurnLimits(
            calls=self.calls_per_turn,
            decisions=self.decisions_per_turn,
            tokens=self.tokens_per_turn,
            cost_micros=self.cost_per_turn,
        )

    @property
    def at_once(self) -> AtOnce:
        """What may be under way at the same time."""
        return AtOnce(
            decisions_person=self.decisions_per_person,
            decisions_guild=self.decisions_per_guild,
            turns_person=self.turns_per_person,
            turns_guild=self.turns_per_guild,
        )

    @property
    def budgets(self) -> Budgets:
        """What may be used in a day."""
        return Budgets(
            person=Budget(tokens=self.tokens_per_person, cost_micros=self.cost_per_person, calls=self.calls_per_person),
            guild=Budget(tokens=self.tokens_per_guild, cost_micros=self.cost_per_guild, calls=self.calls_per_guild),
        )

    @property
    def approval_ttl_ms(self) -> int:
        """`approval_ttl` in milliseconds."""
        return self.approval_ttl // timedelta(milliseconds=1)

    @property
    def hold_ms(self) -> int:
        """`hold_seconds` in milliseconds."""
        return self.hold_seconds // timedelta(milliseconds=1)

    @field_validator("discord_token_file", "tavily_key_file")
    @classmethod
    def _one_token(cls, value: TokenFile | None, info: ValidationInfo) -> TokenFile | None:
        other = str(info.field_name).removesuffix("_file")
        if value is not None and info.data.get(other) is not None:
            name = next(name for name, field in names().items() if field == other)
            raise ValueError(f"is set beside {name}; keep one of the two.")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Nothing but the arguments: reading the world is `load_settings`' business."""
        return (init_settings,)


def names() -> dict[str, str]:
    """Every setting's name for people, to its field's; in the order of `.env.example`."""
    return {
        (str(field.validation_alias) if field.validation_alias else PREFIX + name.upper()): name
        for name, field in Settings.model_fields.items()
    }


def load_settings(folder: Path | None = None) -> Settings:
    """Read environment, `.env` and `signoff.toml` in `folder` (the current one); relative paths start there.

    Raises `SettingsError`, which tells everything that is wrong.
    """
    folder = (folder or Path.cwd()).absolute()
    env_file = folder / ENV_FILE
    problems = [*_unknown(os.environ, ""), *_unknown(dotenv_values(env_file), f" in {ENV_FILE}")]
    table = _toml(folder / TOML_FILE, problems)
    merged: dict[str, Any] = {}
    own = EnvSettingsSource(Settings)()
    for source in (table, DotEnvSettingsSource(Settings, env_file=env_file)(), own):
        for name, value in source.items():
            field = names().get(name, name)
            if twin_address() and source is not own and field.startswith("discord_"):
                continue  # The operator's own application is none of the playground's business.
            merged[field] = value
            if _blank(value) and not field.startswith("approver"):
                del merged[field]  # `NAME=` means: not set. Not so for approvers, see `values.ids`.
    try:
        if "secrets" in merged:
            merged["secrets"] = named_secrets(merged["secrets"], dotenv_values(env_file) | os.environ, folder)
    except ValueError as error:
        problems.append(SettingsError(PREFIX + "SECRETS", str(error)))
        del merged["secrets"]
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        by_field = {field: name for name, field in names().items()}
        for detail in error.errors(include_url=False, include_input=False):
            field = str(detail["loc"][0])
            problems.append(SettingsError(by_field.get(field, field), _sentence(detail)))
        raise SettingsError.together(problems) from None
    try:
        servers = outside.with_secrets(settings.mcp, {one.name: one.value for one in settings.secrets or ()})
    except ValueError as error:
        problems.append(SettingsError(PREFIX + "MCP", str(error)))
    if problems:
        raise SettingsError.together(problems)
    return settings.model_copy(
        update={"database": folder / settings.database, "workspace": folder / settings.workspace, "mcp": servers}
    )


def export_env_file(folder: Path | None = None) -> None:
    """Put the variables of others that stand in `.env` (a provider's key, say) into the environment.

    The providers' own libraries look for them there. One that is already there stays.
    """
    for name, value in dotenv_values((folder or Path.cwd()) / ENV_FILE).items():
        if value is not None and name not in names() and not name.upper().startswith(PREFIX):
            os.environ.setdefault(name, value)


def environment() -> dict[str, str]:
    """A copy of this process's environment, for the child processes that are ours."""
    return dict(os.environ)


def twin_address() -> str | None:
    """Where the playground that started this process is, or None on Discord."""
    return os.environ.get("SIGNOFF_TWIN")


def known_secrets(settings: Settings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Everything that must never be shown, by name: what a `Redactor` is built from.

    The token, a proxy's password, the key for searches, those of providers that stand in the environment, what MCP
    servers are given, and the named secrets.
    """
    found = provider_secrets(environ)
    if settings.token is not None:
        found["DISCORD_TOKEN"] = settings.token.get_secret_value()
    if settings.search_key is not None:
        found["SIGNOFF_TAVILY_KEY"] = settings.search_key.get_secret_value()
    if settings.discord_proxy and (password := values.password(settings.discord_proxy)):
        found["DISCORD_PROXY"] = password
    for server in settings.mcp or ():
        found |= outside.secrets_of(server, environ)
    return found | {one.name: one.value for one in settings.secrets or ()}


def provider_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The values in `environ` that are keys, tokens or passwords, by their variables' names."""
    return {name: value.strip() for name, value in environ.items() if values.is_secret_name(name) and value.strip()}


def _toml(path: Path, problems: list[SettingsError]) -> dict[str, Any]:
    """The table in `path`, its keys made field names. Keys are written as `model` or as `SIGNOFF_MODEL`."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problems.append(SettingsError(TOML_FILE, f"cannot be read ({error})."))
        return {}
    fields = names() | {field: field for field in names().values()}
    problems.extend(
        SettingsError(key, f"is not a setting in {TOML_FILE}{_hint(key, fields)}") for key in table if key not in fields
    )
    return {fields[key]: value for key, value in table.items() if key in fields}


def _unknown(given: Iterable[str], where: str) -> Iterator[SettingsError]:
    for name in sorted(given):
        if name.upper().startswith(PREFIX) and name not in names() and name not in INTERNAL:
            yield SettingsError(name, f"is not a setting{where}{_hint(name, names())}")


def _hint(name: str, known: Iterable[str]) -> str:
    by_lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    return f"; did you mean {by_lower[close[0]]}?" if close else "."


def _blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _sentence(detail: Mapping[str, Any]) -> str:
    if detail["type"] == "literal_error":
        return f"must be {detail['ctx']['expected']}."
    error = detail.get("ctx", {}).get("error")
    return str(error) if error is not None else f"{detail['msg'][0].lower()}{detail['msg'][1:]}."
