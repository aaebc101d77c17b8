"""Settings: where they come from, how they are read, and that nonsense stops the start with a sentence for each."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.rules import ApproverRule
from bot.settings import Settings, export_env_file, known_secrets, load_settings, names, provider_secrets

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder and an environment without any setting."""
    for name in os.environ:
        if name.startswith(("SIGNOFF_", "DISCORD_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problem() -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_settings()
    return caught.value


def test_an_empty_folder_and_environment_give_the_defaults(folder: Path) -> None:
    settings = load_settings()
    assert settings.token is None
    assert settings.model is None
    assert settings.database == folder / "data/signoff.sqlite3"
    assert settings.workspace == folder / "data/workspace"
    assert settings.sandbox == "bubblewrap"
    assert settings.approver_users is settings.approver_roles is None
    assert settings.approval_ttl == timedelta(hours=24)
    assert settings.approval_ttl_ms == 86_400_000
    assert settings.hold_ms == 60_000


def test_the_example_lists_every_setting_in_order_with_its_default() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    lines = re.findall(r"^# ([A-Z_]+)=(.*)$", text, re.MULTILINE)
    assert [name for name, _ in lines] == list(names())
    given = Settings.model_validate({names()[name]: value for name, value in lines if value})
    assert given == Settings()
    without_default = {name for name, value in lines if not value}
    assert without_default == {name for name, field in names().items() if getattr(Settings(), field) is None}


def test_the_example_copied_as_it_is_changes_nothing(folder: Path) -> None:
    plain = load_settings()
    (folder / ".env").write_text((ROOT / ".env.example").read_text(encoding="utf-8"), encoding="utf-8")
    assert load_settings() == plain


def test_the_environment_goes_before_the_env_file_and_that_before_the_toml_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "signoff.toml").write_text('model = "c"\nSIGNOFF_SANDBOX = "none"\nhold_seconds = 5\n')
    (folder / ".env").write_text("SIGNOFF_MODEL=b\nSIGNOFF_HOLD_SECONDS=7\n")
    monkeypatch.setenv("SIGNOFF_MODEL", "a")
    settings = load_settings()
    assert (settings.model, settings.hold_ms, settings.sandbox) == ("a", 7_000, "none")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6", 6), ("6.5", 6.5), ("90s", 90), ("30m", 1_800), ("24h", 86_400), ("1h30m", 5_400), ("7d", 604_800)],
)
def test_a_time_is_bare_seconds_or_a_form_with_units(
    text: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNOFF_APPROVAL_TTL", text)
    assert load_settings().approval_ttl == timedelta(seconds=seconds)


def test_the_hold_window_goes_down_to_one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_HOLD_SECONDS", "1")
    assert load_settings().hold_ms == 1_000


@pytest.mark.parametrize("text", ["5", "0", "-6", "soon", "1 2", "1y", "h", "9999d", "٦"])
def test_a_time_that_makes_no_sense_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_APPROVAL_TTL", text)
    assert problem().setting == "SIGNOFF_APPROVAL_TTL"


def test_approvers_are_numeric_ids_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_APPROVER_USERS", "80351110224678912, 80351110224678913")
    assert load_settings().approver_users == {"80351110224678912", "80351110224678913"}


def test_approvers_may_be_a_list_in_the_toml_file(folder: Path) -> None:
    (folder / "signoff.toml").write_text('approver_users = [80351110224678912]\napprover_roles = ["12"]\n')
    settings = load_settings()
    assert (settings.approver_users, settings.approver_roles) == ({"80351110224678912"}, {"12"})


@pytest.mark.parametrize("name", ["SIGNOFF_APPROVER_USERS", "SIGNOFF_APPROVER_ROLES"])
@pytest.mark.parametrize(
    "text", ["", "  ", ",", "12,", "ana", "Admins", "12,ana", "*", "<@12>", "-1", "0", "1e5", "[12]", "１２"]
)
def test_approvers_that_are_empty_or_not_numeric_stop_the_start(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-A06, S-T01: a nonsense approver never widens."""
    monkeypatch.setenv(name, text)
    told = str(problem())
    assert told.startswith(name)
    assert "\n" not in told


def test_an_empty_list_of_approvers_in_the_toml_file_stops_the_start(folder: Path) -> None:
    (folder / "signoff.toml").write_text("approver_users = []\n")
    assert problem().setting == "SIGNOFF_APPROVER_USERS"


def test_an_empty_approver_in_the_environment_is_not_healed_by_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("SIGNOFF_APPROVER_USERS=12\n")
    monkeypatch.setenv("SIGNOFF_APPROVER_USERS", "")
    assert problem().setting == "SIGNOFF_APPROVER_USERS"


def test_an_empty_value_elsewhere_means_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "")
    monkeypatch.setenv("SIGNOFF_MODEL", " ")
    settings = load_settings()
    assert settings.token is settings.model is None


def test_the_token_is_read_from_a_file_and_stripped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret").write_text("  abc.def.ghi\n")
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(folder / "secret"))
    token = load_settings().token
    assert token is not None
    assert token.get_secret_value() == "abc.def.ghi"


def test_a_token_and_a_token_file_together_are_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret").write_text("abc.def.ghi")
    (folder / ".env").write_text("DISCORD_TOKEN=abc.def.ghi\n")
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(folder / "secret"))
    assert str(problem()) == "DISCORD_TOKEN_FILE: is set beside DISCORD_TOKEN; keep one of the two."


@pytest.mark.parametrize("content", [None, b"", b"Bot abc.def", b"\xff\xfe"])
def test_a_token_file_that_is_missing_or_holds_no_token_is_refused(
    content: bytes | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (folder / "secret").write_bytes(content)
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(folder / "secret"))
    told = problem()
    assert told.setting == "DISCORD_TOKEN_FILE"
    assert "abc" not in str(told)


def test_neither_print_nor_error_shows_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "very-secret-token")
    settings = load_settings()
    assert "very-secret" not in f"{settings} {settings!r} {settings.model_dump_json()}"
    monkeypatch.setenv("DISCORD_TOKEN", "very secret token")
    assert "secret" not in str(problem())


def test_an_unknown_name_is_refused_with_the_nearest_known_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_APPROVERS_USERS", "12")
    (folder / ".env").write_text("SIGNOFF_MODLE=x\n")
    (folder / "signoff.toml").write_text("work_space = 'x'\n")
    assert str(problem()).splitlines() == [
        "SIGNOFF_APPROVERS_USERS: is not a setting; did you mean SIGNOFF_APPROVER_USERS?",
        "SIGNOFF_MODLE: is not a setting in .env; did you mean SIGNOFF_MODEL?",
        "work_space: is not a setting in signoff.toml; did you mean workspace?",
    ]


def test_every_problem_is_told_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "signoff.toml").write_text("this is not toml")
    monkeypatch.setenv("SIGNOFF_STREAMING", "perhaps")
    monkeypatch.setenv("SIGNOFF_SANDBOX", "chroot")
    monkeypatch.setenv("SIGNOFF_DATABASE", "postgresql://localhost/signoff")
    monkeypatch.setenv("SIGNOFF_NONSENSE", "1")
    monkeypatch.setenv("DISCORD_PROXY", "somewhere:99999")
    told = str(problem()).splitlines()
    assert [line.split(":")[0] for line in told] == [
        "SIGNOFF_NONSENSE",
        "signoff.toml",
        "DISCORD_PROXY",
        "SIGNOFF_STREAMING",
        "SIGNOFF_DATABASE",
        "SIGNOFF_SANDBOX",
    ]
    assert "'bubblewrap' or 'none'" in told[-1]


def test_settings_cannot_be_changed_after_the_start() -> None:
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.sandbox = "none"  # type: ignore[misc]


def test_a_provider_key_in_the_env_file_reaches_the_environment_and_ours_do_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("OPENAI_API_KEY=from-the-file\nOPENAI_BASE_URL=http://a\nDISCORD_TOKEN=t\n")
    monkeypatch.setenv("OPENAI_API_KEY", "")  # so that both are put back afterwards
    monkeypatch.setenv("OPENAI_BASE_URL", "http://b")
    monkeypatch.delenv("OPENAI_API_KEY")
    export_env_file()
    assert os.environ["OPENAI_API_KEY"] == "from-the-file"
    assert os.environ["OPENAI_BASE_URL"] == "http://b"
    assert "DISCORD_TOKEN" not in os.environ


def test_keys_tokens_and_passwords_are_known_as_secrets_and_nothing_else() -> None:
    environ = {
        "OPENAI_API_KEY": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "HF_TOKEN": "c",
        "PGPASSWORD": "d",
        "DB_PASSWORD": "e",
        "DISCORD_TOKEN_FILE": "/run/token",
        "PATH": "/bin",
        "EMPTY_TOKEN": "",
    }
    assert set(provider_secrets(environ)) == {
        "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "PGPASSWORD", "DB_PASSWORD",
    }  # fmt: skip


def test_the_token_and_a_proxy_password_are_secrets() -> None:
    settings = Settings.model_validate({"discord_token": "abc.def", "discord_proxy": "http://me:hush@proxy:3128"})
    assert known_secrets(settings, {}) == {"DISCORD_TOKEN": "abc.def", "DISCORD_PROXY": "hush"}


def test_an_empty_value_in_the_environment_takes_back_what_a_file_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("SIGNOFF_MODEL=from-the-file\n")
    monkeypatch.setenv("SIGNOFF_MODEL", "")
    assert load_settings().model is None


def test_in_the_playground_the_files_say_nothing_about_discord(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("DISCORD_TOKEN_FILE=secret\nDISCORD_PROXY=http://p:1\nSIGNOFF_APPROVER_USERS=7\n")
    monkeypatch.setenv("SIGNOFF_TWIN", "http://127.0.0.1:1")
    monkeypatch.setenv("DISCORD_TOKEN", "playground.token")
    settings = load_settings()
    assert settings.token is not None
    assert settings.token.get_secret_value() == "playground.token"
    assert (settings.discord_proxy, settings.approver_users) == (None, {"7"})


def test_rules_about_approvers_are_tables_in_the_toml_file(folder: Path) -> None:
    (folder / "signoff.toml").write_text(
        '[[approvers]]\ntools = ["shell", "github_*"]\nchannels = [12]\nusers = [1, "2"]\nquorum = 2\n'
        '[[approvers]]\none_of_each = [5, 4]\nfour_eyes = true\nguilds = ["9"]\nroles = [6]\n'
    )
    assert load_settings().approvers == (
        ApproverRule(tools=("shell", "github_*"), channels=frozenset({"12"}), users=frozenset({"1", "2"}), quorum=2),
        ApproverRule(one_of_each=("4", "5"), four_eyes=True, guilds=frozenset({"9"}), roles=frozenset({"6"})),
    )


def test_the_same_rules_may_stand_in_the_environment_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_APPROVERS", '[{"tools": ["shell"], "quorum": 2}]')
    assert load_settings().approvers == (ApproverRule(tools=("shell",), quorum=2),)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("[]", "at least one rule"),
        ("{}", "at least one rule"),
        ("", "JSON"),
        ("ana", "JSON"),
        ("[1]", "rule 1 that is not a table"),
        ('[{"quorum": 2}, {"user": ["1"]}]', "rule 2 with the unknown key 'user'"),
        ('[{"users": []}]', "rule 1, users,"),
        ('[{"users": "12"}]', "rule 1, users,"),
        ('[{"users": [true]}]', "rule 1, users,"),
        ('[{"roles": ["Admins"]}]', "'Admins'"),
        ('[{"roles": [""]}]', "rule 1, roles,"),
        ('[{"roles": ["0"]}]', "'0'"),
        ('[{"guilds": ["@me"]}]', "'@me'"),
        ('[{"channels": ["#ops"]}]', "'#ops'"),
        ('[{"one_of_each": [12, -3]}]', "'-3'"),
        ('[{"tools": []}]', "tools"),
        ('[{"tools": ["a b"]}]', "tools"),
        ('[{"tools": "shell"}]', "tools"),
        ('[{"quorum": 0}]', "quorum"),
        ('[{"quorum": "2"}]', "quorum"),
        ('[{"quorum": true}]', "quorum"),
        ('[{"quorum": 1000}]', "quorum"),
        ('[{"four_eyes": "no"}]', "four_eyes"),
        ('[{"users": ["1"], "quorum": 2}]', "can never be met"),
    ],
)
def test_a_rule_that_makes_no_sense_stops_the_start_and_is_named(
    rule: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-A06: names are no authority; nothing widens."""
    monkeypatch.setenv("SIGNOFF_APPROVERS", rule)
    told = problem()
    assert told.setting == "SIGNOFF_APPROVERS"
    assert words in str(told)
    assert "\n" not in str(told)


@pytest.mark.parametrize("where", ["environment", "file"])
def test_the_key_for_searches_is_read_and_is_a_secret(
    where: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "file":
        (folder / "key").write_text(" tvly-5f0b7c1e9a2d4486\n")
        monkeypatch.setenv("SIGNOFF_TAVILY_KEY_FILE", str(folder / "key"))
    else:
        monkeypatch.setenv("SIGNOFF_TAVILY_KEY", "tvly-5f0b7c1e9a2d4486")
    settings = load_settings()
    assert known_secrets(settings, {}) == {"SIGNOFF_TAVILY_KEY": "tvly-5f0b7c1e9a2d4486"}
    assert "5f0b7c1e" not in f"{settings} {settings!r} {settings.model_dump_json()}"


def test_a_key_and_a_key_file_together_are_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "key").write_text("tvly-5f0b7c1e9a2d4486")
    monkeypatch.setenv("SIGNOFF_TAVILY_KEY", "tvly-5f0b7c1e9a2d4486")
    monkeypatch.setenv("SIGNOFF_TAVILY_KEY_FILE", str(folder / "key"))
    assert str(problem()) == "SIGNOFF_TAVILY_KEY_FILE: is set beside SIGNOFF_TAVILY_KEY; keep one of the two."


@pytest.mark.parametrize("bad", ["short", "a key with blanks", "kéy-kéy-kéy"])
def test_what_is_no_key_is_refused_without_being_shown(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNOFF_TAVILY_KEY", bad)
    told = problem()
    assert told.setting == "SIGNOFF_TAVILY_KEY"
    assert bad not in str(told)
