"""Which model a name means: of a provider, of a server on this machine, ``local``, or a server's own name."""

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
OLLAMA = "ollama"
SERVERS_HERE = {OLLAMA: "http://127.0.0.1:11434", "lmstudio": "http://127.0.0.1:1234/v1"}
"""Short forms for servers on this machine, ``ollama:NAME`` and ``lmstudio:NAME``, and where they usually answer."""


@dataclass(frozen=True)
class ModelSpec:
    """A model as it will be called.

    ``provider`` is ``server`` for an OpenAI-compatible server at ``base_url``, ``ollama`` for one that is spoken to in
    its own format there, which alone says how long the context is to be.
    """

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
    def is_server(self) -> bool:
        """Whether it is a server at an address that was given, or is usual on this machine."""
        return self.provider in ("server", OLLAMA)

    @property
    def is_free(self) -> bool:
        """Whether nobody is paid: an Ollama on this machine, and no model that it passes on to somebody else's."""
        here = urlsplit(self.base_url or "").hostname in ("127.0.0.1", "::1", "localhost")
        return self.provider == OLLAMA and here and not self.name.endswith(("-cloud", ":cloud"))

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded model."""
        return self.provider == LOCAL


def parse_model(text: str, base_url: str | None = None) -> ModelSpec:
    """Read a model's name.

    With a ``base_url`` the whole text is the server's own name for the model (it may hold colons, as ``qwen2.5:7b``
    does); a leading ``openai:`` is dropped. ``local`` stays the embedded model. ``ollama:NAME`` and ``lmstudio:NAME``
    need none: they are at their usual ports on this machine, else at ``base_url``.

    Raises:
        SettingsError: The provider is missing or unknown, or the URL is not http or https.
    """
    text = text.strip()
    if text == LOCAL or text.startswith(f"{LOCAL}:"):
        return ModelSpec(LOCAL, text.partition(":")[2] or LOCAL)
    provider, colon, name = text.partition(":")
    if base_url is not None:
        _check_url(base_url)
    if provider in SERVERS_HERE and colon and name:
        address = (base_url or SERVERS_HERE[provider]).rstrip("/")
        if provider == OLLAMA:
            return ModelSpec(OLLAMA, name, address.removesuffix("/v1"))
        return ModelSpec("server", name, address)
    if base_url is not None:
        return ModelSpec("server", text.removeprefix("openai:"), base_url.rstrip("/"))
    if colon and name and provider in KEY_VARIABLES:
        return ModelSpec(provider, name)
    known = [*KEY_VARIABLES, *SERVERS_HERE, LOCAL]
    near = nearest(provider, known)
    offer = f"Did you mean {near[0] + ':' + name!r}? " if near and colon and name else ""
    raise SettingsError(
        f"model {text!r} names no known provider.",
        hint=f"{offer}Write {', '.join(p + ':NAME' for p in (*KEY_VARIABLES, *SERVERS_HERE))} or local, "
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
    names = (SERVER_KEY_VARIABLE,) if spec.is_server else KEY_VARIABLES[spec.provider]
    for name in names:
        if key := values.get(name, "").strip():
            return checked_key(key, name, spec)
    if spec.is_server:
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
    return SERVER_KEY_VARIABLE if spec.is_server else " or ".join(KEY_VARIABLES.get(spec.provider, ("",)))


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
