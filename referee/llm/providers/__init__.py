"""The providers, and which of them a model's name means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from referee.errors import SettingsError
from referee.llm.providers.openai import OpenAI
from referee.llm.providers.protocol import Provider
from referee.llm.providers.server import Server
from referee.llm.spec import LOCAL, ModelSpec
from referee.nearest import nearest

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (OpenAI(), Server())}
"""``ModelSpec.provider`` to what is particular to it: one file each, and its line here."""


def provider_of(spec: ModelSpec) -> Provider:
    """The provider of a model."""
    return PROVIDERS[spec.provider]
