"""A model as it will be called: its provider, its name there, and its address where that was given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

LOCAL = "local"
ANSWERS = "answers"
MODEL_FORMS = (
    "local, openai:NAME, anthropic:NAME, google_genai:NAME, openrouter:NAME, ollama:NAME, lmstudio:NAME, "
    "answers:DIR, a server's name"
)
"""How a model is named on the command line: one form for each provider, for help texts that import no provider."""


@dataclass(frozen=True)
class ModelSpec:
    """A model as it will be called. ``provider`` is a name in ``providers.PROVIDERS``."""

    provider: str
    name: str
    base_url: str | None = None

    @property
    def id(self) -> str:
        """The id that stands in records: ``provider:name``, with the host for servers."""
        if self.is_answers:  # the folder's own name: records get no paths of this machine
            return f"{ANSWERS}:{Path(self.name).expanduser().absolute().name}"
        if self.base_url:
            return f"{self.name}@{urlsplit(self.base_url).netloc.rpartition('@')[2]}"
        return self.provider if self.provider == self.name else f"{self.provider}:{self.name}"

    @property
    def is_server(self) -> bool:
        """Whether it is a server at an address that was given, or is usual on this machine."""
        return self.provider in ("server", "ollama")

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded model."""
        return self.provider == LOCAL

    @property
    def is_answers(self) -> bool:
        """Whether a person or an assistant answers, in files of the folder ``name``."""
        return self.provider == ANSWERS
