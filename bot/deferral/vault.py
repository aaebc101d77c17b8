"""The named secrets, and who is given one: a claimed call of a tool that may have it, and nobody else.

A call refers to a secret by name. The reference is what the model writes, what the card shows and what the digest
binds, together with what the secret is for. The value is looked up when the claimed call is about to run, so a value
that was changed meanwhile is the one that is used: its name was approved, and a leaked key must be replaceable at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.deferral.references import malformed, put_in, reference, referred
from bot.deferral.tool import Arguments, Tool
from bot.errors import NothingRan
from bot.redact import Redactor
from bot.secrets_file import NamedSecret
from bot.texts.text import say


class Vault:
    """The secrets of one process."""

    def __init__(self, secrets: Sequence[NamedSecret] = (), *, redactor: Redactor | None = None) -> None:
        """`redactor` knows every value that must not stand in a call itself."""
        self._secrets = {one.name: one for one in secrets}
        self._redactor = redactor or Redactor({})

    def replace(self, secrets: Sequence[NamedSecret]) -> None:
        """Others from now on."""
        self._secrets = {one.name: one for one in secrets}

    def refusal(self, tool: Tool, arguments: Mapping[str, Any], parsed: Callable[[], Arguments]) -> str | None:
        """Why a call cannot be asked about because of a secret in it, in a sentence for whoever wrote it; or None."""
        if (known := self._redactor.marked(self._redactor.values(arguments))) is not None:
            return say("secrets.holds", name=known)
        if malformed(arguments):
            return say("secrets.malformed")
        names = referred(arguments)
        for name in names:
            if name not in self._secrets:
                return say("secrets.unknown", name=name)
            if tool.secrets is None or not self._secrets[name].may(tool.name):
                return say("secrets.not_for", name=name, tool=tool.name)
        if names and tool.secrets is not None:
            return tool.secrets.problem(parsed(), {name: self._secrets[name] for name in names}) or None
        return None

    def told(self, tool: Tool) -> str:
        """What a model is told of the secrets that a tool may have; '' if there are none."""
        fit = [one for one in self._secrets.values() if tool.secrets is not None and one.may(tool.name)]
        if not fit or tool.secrets is None:
            return ""
        names = ", ".join(reference(one.name) + (f" ({', '.join(one.hosts)})" if one.hosts else "") for one in fit)
        return f" Secrets that it may refer to: {names}. {tool.secrets.how}"

    def bound(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """What the digest binds of the secrets that a call refers to: for each name, what it is for."""
        found = ((name, self._secrets.get(name)) for name in referred(arguments))
        return {name: "gone" if one is None else one.allowed for name, one in found}

    def given(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, str]:
        """The values for a claimed call, by name. Raises `NothingRan`."""
        names = referred(arguments)
        for name in names:
            if tool.secrets is None or name not in self._secrets or not self._secrets[name].may(tool.name):
                raise NothingRan(say("secrets.gone", name=name, tool=tool.name))
        return {name: self._secrets[name].value for name in names}


def with_values(tool: Tool, arguments: Mapping[str, Any], values: Mapping[str, str]) -> Mapping[str, Any]:
    """The arguments that a body is handed: with the values in them, where its tool takes them like that."""
    if not values or tool.secrets is None or not tool.secrets.in_arguments:
        return arguments
    filled: Mapping[str, Any] = put_in(arguments, values)
    return filled
