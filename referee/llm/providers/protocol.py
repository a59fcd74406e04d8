"""What is particular to a provider: its names and key, its format, its exceptions, its embeddings and batches."""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from referee.llm.dialects import Schema, bounded_schema
from referee.llm.images import PromptImage
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

    from referee.llm.batches.protocol import BatchProvider
    from referee.llm.clients import Connection
    from referee.llm.server_context import ServedModel

Messages = tuple[tuple[str, str], ...]
Vector = list[float]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request: messages as (role, text), system and user first, the reply's schema, parameters.

    ``native`` is whether the provider's own structured output is used; otherwise the schema stands in the prompt.
    ``prefix_chars`` is how much of the first user message the calls of a run share. ``digest`` names the call.
    ``images`` stand in the first user message, behind what is shared. ``system_role`` is whether the system text is
    a message of its own; otherwise it stands at the head of the user's. ``renamed_limit`` is whether the limit of
    tokens goes under its other name.
    """

    messages: Messages
    schema: Schema
    max_output_tokens: int
    temperature: float | None
    native: bool
    role: str
    prompt: str
    prefix_chars: int = 0
    digest: str = ""
    images: tuple[PromptImage, ...] = ()
    system_role: bool = True
    renamed_limit: bool = False


@dataclass(kw_only=True)
class Provider(ABC):
    """A provider: a subclass and its one instance in one file, and its place in ``PROVIDERS``.

    Start-up must stay fast: SDKs are imported in methods only.

    Attributes:
        name: ``ModelSpec.provider``.
        forms: How a model is named on the command line: ``FORM:NAME``.
        address: Where the provider is, where the SDK does not know that.
        usual_address: Where a server that is named so is without ``--base-url``.
        keeps_form: Whether its forms mean the same with ``--base-url``, where others are the server's own names.
        keys: Variables a key is read from.
        key_is_optional: Whether it may be asked without one.
        sdk: The module of LangChain that sends, which takes about a second to import.
        no_model_fix: What to do where its server on this machine lists no model.
        price_list: What genai-prices calls the provider.
        limit_names: The name of the parameter that limits a reply's tokens, and its other name; empty where a
            client is made for each limit.
        schema_first: Whether the schema of a structured reply is put before the messages, where it would end what
            calls share.
        dialect: A reply's schema as it is sent.
        sampling: Parameters that go with each call.
        cache_mark: What marks the end of the shared part for the provider's cache.
        exact_counts: Whether tiktoken counts as the provider does.
        asks_context: Whether the provider is asked, before the first call, how long a model's context is.
        assumed_context: Tokens that a model's context is taken to have where nobody else knows.
        image_tokens: What a picture of a width and a height counts as; null where nobody knows.
        has_embeddings: Whether it has an ``embedder``.
        has_batches: Whether it has ``batches``.
        ports: Kinds of servers on this machine, and where each usually listens.
    """

    name: str
    forms: tuple[str, ...] = ()
    address: str = ""
    usual_address: str = ""
    keeps_form: bool = False
    keys: tuple[str, ...] = ()
    key_is_optional: bool = False
    sdk: str = "langchain_openai"
    no_model_fix: str = ""
    price_list: str = ""
    limit_names: tuple[str, ...] = ()
    schema_first: bool = False
    dialect: Callable[[Schema], Schema] = bounded_schema
    sampling: Mapping[str, Any] = field(default_factory=dict)
    cache_mark: Mapping[str, Any] = field(default_factory=dict)
    exact_counts: bool = False
    asks_context: bool = False
    assumed_context: int | None = None
    image_tokens: Callable[[int, int], int] | None = None
    has_embeddings: bool = False
    has_batches: bool = False
    ports: tuple[tuple[str, int], ...] = ()

    def spec(self, form: str, name: str, base_url: str | None) -> ModelSpec:
        """The model that ``FORM:NAME`` means."""
        address = base_url or self.usual_address
        return ModelSpec(self.name, name, address.rstrip("/") if address else None)

    def load(self) -> None:
        """Import what sending needs, ahead of the first call."""
        importlib.import_module(self.sdk)

    @abstractmethod
    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """LangChain's client, its own retries off; what it opens is closed with the connection."""

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """What the SDK, and LangChain for it, can raise."""

    @abstractmethod
    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """Parameters of one call: how the reply is structured, and its limit where the client does not hold it."""

    def schema_in_text(self, request: WireRequest) -> bool:
        """Whether the schema stands in the prompt although the provider's own structured output is used."""
        return bool(request.prefix_chars) and self.schema_first

    def messages(self, request: WireRequest) -> list[tuple[str, Any]]:
        """The messages as LangChain takes them, the schema among them where it goes no other way."""
        (_, system), (_, user), *rest = request.messages
        shared = request.prefix_chars
        if not request.native and not shared:
            system = f"{system}\n\n{_schema_text(request.schema)}"
        elif not request.native or self.schema_in_text(request):
            user = f"{user}\n\n{_schema_text(request.schema)}"
        head = [("system", system)]
        if not request.system_role:
            head, user = [], f"{system}\n\n{user}"
            shared += len(system) + 2 if shared else 0
        content: Any = user
        if request.images or (shared and self.cache_mark):
            pictures = [{"type": "image", "base64": one.base64, "mime_type": one.media} for one in request.images]
            begins = [{"type": "text", "text": user[:shared], **self.cache_mark}] if shared else []
            content = [*begins, *pictures, {"type": "text", "text": user[shared:]}]
        return [*head, ("user", content), *rest]

    def is_free(self, spec: ModelSpec) -> bool:
        """Whether nobody is paid for this model's calls; those without a key are on this machine."""
        return not self.keys

    async def served(self, client: httpx.AsyncClient, spec: ModelSpec, key: str | None) -> ServedModel | None:
        """What the provider says of the model, where ``asks_context``; null where it says nothing."""
        return None

    def context_note(self, spec: ModelSpec, tokens: int) -> str:
        """What is said of a context that is known; mostly nothing."""
        return ""

    async def nearby(self, client: httpx.AsyncClient, kind: str, root: str) -> tuple[list[ServedModel], str] | None:
        """The models of a server at one of ``ports``, and the options that use one; null where it is a stranger."""
        return None

    def embedder(self, connection: Connection) -> Callable[[list[str]], Awaitable[list[Vector]]]:
        """What embeds texts in one call, where ``has_embeddings``. Raises as ``errors`` says."""
        raise NotImplementedError

    def batches(self, connection: Connection) -> BatchProvider:
        """Its batches, where ``has_batches``."""
        raise NotImplementedError


def _schema_text(schema: Schema) -> str:
    text = json.dumps(bounded_schema(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. Its JSON schema:\n{text}"
