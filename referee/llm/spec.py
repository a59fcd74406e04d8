"""Which model a name means: ``openai:NAME``, ``anthropic:NAME``, ``google_genai:NAME``, ``local``, a server's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from referee.errors import SettingsError
from referee.nearest import nearest

KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
SERVER_KEY_VARIABLE = "REFEREE_API_KEY"
LOCAL = "local"


@dataclass(frozen=True)
class ModelSpec:
    """A model as it will be called. ``provider`` is ``server`` for an OpenAI-compatible server at ``base_url``."""

    provider: str
    name: str
    base_url: str | None = None

    @property
    def id(self) -> str:
        """The id that stands in records: ``provider:name``, with the host for servers."""
        if self.base_url:
            return f"{self.name}@{urlsplit(self.base_url).netloc.rpartition('@')[2]}"
        return self.provider if self.provider == self.name else f"{self.provider}:{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded model."""
        return self.provider == LOCAL


def parse_model(text: str, base_url: str | None = None) -> ModelSpec:
    """Read a model's name.

    With a ``base_url`` the whole text is the server's own name for the model (it may hold colons, as ``qwen2.5:7b``
    does); a leading ``openai:`` is dropped. ``local`` stays the embedded model.

    Raises:
        SettingsError: The provider is missing or unknown, or the URL is not http or https.
    """
    text = text.strip()
    if text == LOCAL or text.startswith(f"{LOCAL}:"):
        return ModelSpec(LOCAL, text.partition(":")[2] or LOCAL)
    if base_url is not None:
        _check_url(base_url)
        return ModelSpec("server", text.removeprefix("openai:"), base_url.rstrip("/"))
    provider, colon, name = text.partition(":")
    if colon and name and provider in KEY_VARIABLES:
        return ModelSpec(provider, name)
    known = [*KEY_VARIABLES, LOCAL]
    near = nearest(provider, known)
    offer = f"Did you mean {near[0] + ':' + name!r}? " if near and colon and name else ""
    raise SettingsError(
        f"model {text!r} names no known provider.",
        hint=f"{offer}Write {', '.join(p + ':NAME' for p in KEY_VARIABLES)} or local, "
        "or give --base-url for an OpenAI-compatible server.",
    )


def require_key(spec: ModelSpec, env: Mapping[str, str] | None = None) -> str | None:
    """The key for a model, or None where none is needed.

    A provider's key is never sent to another host: a server at ``--base-url`` gets ``REFEREE_API_KEY`` or nothing.

    Raises:
        SettingsError: The provider needs a key and its variable is not set, or what it holds cannot be sent.
    """
    values = os.environ if env is None else env
    if spec.is_local:
        return None
    names = (SERVER_KEY_VARIABLE,) if spec.provider == "server" else KEY_VARIABLES[spec.provider]
    for name in names:
        if key := values.get(name, "").strip():
            return checked_key(key, name, spec)
    if spec.provider == "server":
        return None
    raise SettingsError(
        f"model {spec.id!r} needs a key, and {' or '.join(names)} is not set.",
        hint=f"Run `export {names[0]}=...`, or use the embedded model with --model local.",
    )


def checked_key(key: str, name: str, spec: ModelSpec) -> str:
    """The key, as an HTTP header can carry it; ``name`` is the variable that holds it.

    Raises:
        SettingsError: It holds something else than printable ASCII, which no client sends and no provider's key holds.
    """
    for position, character in enumerate(key, 1):
        if not " " <= character <= "~":
            raise SettingsError(
                f"{name}, the key for model {spec.id!r}, holds what no HTTP header can: U+{ord(character):04X}, as "
                f"its character {position}. Nothing was sent.",
                hint=f"Set {name} anew: copy the key without quotation marks, line ends and what stands around it.",
            )
    return key


def key_variable(spec: ModelSpec) -> str:
    """The variable a key for this model is read from."""
    return SERVER_KEY_VARIABLE if spec.provider == "server" else " or ".join(KEY_VARIABLES.get(spec.provider, ("",)))


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
