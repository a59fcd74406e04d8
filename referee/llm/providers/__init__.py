"""The providers, and which of them a model's name means."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from referee.errors import SettingsError
from referee.llm.providers.answers import ANSWERS_FILES
from referee.llm.providers.anthropic import ANTHROPIC
from referee.llm.providers.google import GOOGLE
from referee.llm.providers.local import LOCAL_MODEL
from referee.llm.providers.ollama import OLLAMA
from referee.llm.providers.openai import OPENAI
from referee.llm.providers.openrouter import OPENROUTER
from referee.llm.providers.protocol import Provider
from referee.llm.providers.server import SERVER
from referee.llm.spec import LOCAL, MODEL_FORMS, ModelSpec
from referee.nearest import nearest

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (OPENAI, ANTHROPIC, GOOGLE, OPENROUTER, OLLAMA, SERVER, LOCAL_MODEL, ANSWERS_FILES)
}
"""``ModelSpec.provider`` to what is particular to it: one file each, and its place here."""


def provider_of(spec: ModelSpec) -> Provider:
    """The provider of a model."""
    return PROVIDERS[spec.provider]


def parse_model(text: str, base_url: str | None = None) -> ModelSpec:
    """Read a model's name.

    With a ``base_url`` the whole text is the server's own name for the model (it may hold colons, as ``qwen2.5:7b``
    does); a leading ``openai:`` is dropped. ``local`` stays the embedded model, ``answers:DIR`` a folder of answers.
    ``ollama:NAME`` and ``lmstudio:NAME`` need none: they are at their usual ports on this machine, else at
    ``base_url``.

    Raises:
        SettingsError: The provider is missing or unknown, or the URL is not http or https.
    """
    text = text.strip()
    form, colon, name = text.partition(":")
    if form == LOCAL:
        return ModelSpec(LOCAL, name or LOCAL)
    if base_url is not None:
        _check_url(base_url)
    provider = next((one for one in PROVIDERS.values() if form in one.forms), None)
    if provider is not None and colon and name and (base_url is None or provider.keeps_form):
        return provider.spec(form, name, base_url)
    if base_url is not None:
        return ModelSpec("server", text.removeprefix("openai:"), base_url.rstrip("/"))
    near = nearest(form, [form for one in PROVIDERS.values() for form in one.forms])
    offer = f"Did you mean {near[0] + ':' + name!r}? " if near and colon and name else ""
    raise SettingsError(
        f"model {text!r} names no known provider.",
        hint=f"{offer}Write one of {MODEL_FORMS}; a server's name needs --base-url.",
    )


def require_key(spec: ModelSpec, env: Mapping[str, str] | None = None) -> str | None:
    """The key for a model, or None where none is needed.

    A provider's key is never sent to another host: a server at ``--base-url`` gets ``REFEREE_API_KEY`` or nothing.

    Raises:
        SettingsError: The provider needs a key and its variable is not set, or what it holds cannot be sent.
    """
    values = os.environ if env is None else env
    provider = provider_of(spec)
    for name in provider.keys:
        if key := values.get(name, "").strip():
            return checked_key(key, name, spec)
    if provider.key_is_optional:
        return None
    raise SettingsError(
        f"model {spec.id!r} needs a key, and {key_variable(spec)} is not set.",
        hint=f"Run `export {provider.keys[0]}=...`, or use the embedded model with --model local.",
    )


def checked_key(key: str, name: str, spec: ModelSpec) -> str:
    """The key, as an HTTP header can carry it; ``name`` is the variable that holds it.

    Raises:
        SettingsError: It holds something else than printable ASCII, which no client sends and no provider's key holds.
    """
    if odd := re.search("[^ -~]", key):
        raise SettingsError(
            f"{name}, the key for model {spec.id!r}, holds what no HTTP header can: U+{ord(odd[0]):04X}, as its "
            f"character {odd.end()}. Nothing was sent.",
            hint=f"Set {name} anew: copy the key without quotation marks, line ends and what stands around it.",
        )
    return key


def key_variable(spec: ModelSpec) -> str:
    """The variables a key for this model is read from."""
    return " or ".join(provider_of(spec).keys)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket left open, a port that is no number or above 65535
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise SettingsError(
            f"base URL {url!r} is not an http or https address.", hint="Example: http://127.0.0.1:11434/v1"
        )
