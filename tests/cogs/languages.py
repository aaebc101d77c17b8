"""People whose Discord speaks another language than English; in simcord everybody's does."""

from __future__ import annotations

from typing import Any

import pytest
import simcord.interactions


def speak_german(monkeypatch: pytest.MonkeyPatch, *people: int) -> None:
    """From now on these people's commands and presses come with the German locale; with none, everybody's do."""
    plain = simcord.interactions.base_payload

    def payload(backend: Any, *, user_id: int, **rest: Any) -> Any:
        record, made = plain(backend, user_id=user_id, **rest)
        if not people or user_id in people:
            made["locale"] = "de"
        return record, made

    monkeypatch.setattr(simcord.interactions, "base_payload", payload)
