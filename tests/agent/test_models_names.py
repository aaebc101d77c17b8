"""A model's name becomes a model, or one sentence that says what to set; no name calls anybody."""

from __future__ import annotations

import os

import pytest
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

from bot.agent.models import build_model, close_model
from bot.errors import SettingsError


@pytest.fixture(autouse=True)
def no_provider_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize("name", [None, "", "  ", "offline"])
async def test_no_name_is_the_offline_model(name: str | None) -> None:
    model = build_model(name)
    assert isinstance(model, FunctionModel)
    assert model.model_name == "offline"
    await close_model(model)


@pytest.mark.parametrize(
    ("name", "variable", "kind"),
    [
        ("openai:some-name", "OPENAI_API_KEY", OpenAIResponsesModel),
        ("openai-chat:some-name", "OPENAI_API_KEY", OpenAIChatModel),
        ("anthropic:some-name", "ANTHROPIC_API_KEY", AnthropicModel),
        (" openai-chat: some-name ", "OPENAI_API_KEY", OpenAIChatModel),
    ],
)
async def test_a_name_of_an_installed_provider_becomes_its_model_with_time_limits(
    name: str, variable: str, kind: type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "not-a-real-one")
    model = build_model(name, timeout_seconds=30, retries=0)
    await close_model(model)
    assert isinstance(model, kind)
    assert model.model_name == "some-name"
    assert model.settings == {"timeout": 30, "request_timeout": 30, "max_retries": 0}


async def test_a_compatible_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = build_model("openai-chat:local")
    await close_model(model)
    assert model.base_url == "http://127.0.0.1:9/v1/"


@pytest.mark.parametrize(
    ("name", "setting", "problem"),
    [
        ("openai:x", "OPENAI_API_KEY", "has to be set for SIGNOFF_MODEL=openai:x"),
        (
            "openai-chat:x",
            "OPENAI_API_KEY",
            "has to be set for SIGNOFF_MODEL=openai-chat:x (and OPENAI_BASE_URL for a compatible server)",
        ),
        ("anthropic:x", "ANTHROPIC_API_KEY", "has to be set for SIGNOFF_MODEL=anthropic:x"),
        ("openrouter:maker/x", "OPENROUTER_API_KEY", "has to be set for SIGNOFF_MODEL=openrouter:maker/x"),
        ("ollama:x", "OLLAMA_BASE_URL", "has to be set for SIGNOFF_MODEL=ollama:x"),
    ],
)
def test_a_missing_variable_is_named(name: str, setting: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build_model(name)
    assert (caught.value.setting, caught.value.problem) == (setting, problem)


@pytest.mark.parametrize("name", ["openai:x", "anthropic:x"])
def test_an_empty_key_counts_as_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{name.partition(':')[0].upper()}_API_KEY"
    monkeypatch.setenv(variable, "")
    with pytest.raises(SettingsError, match=variable):
        build_model(name)


@pytest.mark.parametrize("name", ["nope:x", "gpt", ":x", "google-gla:x"])
def test_an_unknown_name_is_told_how_names_look(name: str) -> None:
    with pytest.raises(SettingsError, match=f"SIGNOFF_MODEL: there is no model called {name}; write provider:model"):
        build_model(name)


def test_a_known_model_without_its_provider_is_told_the_whole_name() -> None:
    with pytest.raises(SettingsError, match="did you mean anthropic:claude-haiku-4-5"):
        build_model("claude-haiku-4-5")


def test_a_provider_without_a_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-one")
    with pytest.raises(SettingsError, match="names a provider but no model"):
        build_model("openai:")


@pytest.mark.parametrize("name", ["groq:x", "mistral:x", "google:x", "bedrock:x"])
def test_a_provider_that_is_not_installed_is_told_with_the_command_that_installs_it(name: str) -> None:
    provider = name.partition(":")[0]
    with pytest.raises(SettingsError) as caught:
        build_model(name)
    assert caught.value.setting == "SIGNOFF_MODEL"
    assert f'pip install "pydantic-ai-slim[{provider}]"' in caught.value.problem
