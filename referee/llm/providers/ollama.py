"""Ollama in its own format, where the request says how long the context is, to which it cuts prompts in silence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from referee.errors import ModelRefused
from referee.llm.clients import Connection, as_ours
from referee.llm.providers.protocol import Provider, WireRequest
from referee.llm.server_context import ServedModel, ollama_model, ollama_names
from referee.llm.spec import ModelSpec
from referee.nearest import did_you_mean

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel
    from langchain_ollama import ChatOllama

MOST_CONTEXT = 49_152
"""What is asked for of a model that was made for more: it takes memory for all of it."""

_MOST_ASKED = 8


class Ollama(Provider):
    """An Ollama on this machine, or at ``--base-url``."""

    def spec(self, form: str, name: str, base_url: str | None) -> ModelSpec:
        """Its own format begins at the root."""
        address = (base_url or self.usual_address).rstrip("/")
        return ModelSpec(self.name, name, address.removesuffix("/v1"))

    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """LangChain's client, set up as ours are."""
        ours = as_ours(connection.base_url, connection.timeout_s)
        # Without a header of ours the client would send OLLAMA_API_KEY to any address; a redirect would get the paper.
        ours["headers"] = {**ours["headers"], "authorization": f"Bearer {connection.key or 'none'}"}
        ours["follow_redirects"] = False
        chat = _chat_class()(
            model=connection.spec.name,
            reasoning=True,
            base_url=connection.base_url,
            num_ctx=connection.context_tokens,
            num_predict=max_tokens,
            temperature=temperature,
            sync_client_kwargs={"verify": ours["verify"], "trust_env": False},
            async_client_kwargs=ours,
        )
        chat._client._client.close()  # LangChain makes one that blocks beside the one that does not
        connection.closers.append(chat._async_client._client.aclose)
        return chat

    def errors(self) -> tuple[type[Exception], ...]:
        """What its client raises."""
        from ollama import RequestError, ResponseError

        return RequestError, ResponseError

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """The reply's format."""
        return {"format": self.dialect(request.schema)} if request.native else {}

    def schema_in_text(self, request: WireRequest) -> bool:
        """It holds a reply to the schema, and shows the model nothing of it."""
        return True

    def is_free(self, spec: ModelSpec) -> bool:
        """On this machine, unless the model is passed on to somebody else's."""
        here = urlsplit(spec.base_url or "").hostname in ("127.0.0.1", "::1", "localhost")
        return here and not spec.name.endswith(("-cloud", ":cloud"))

    async def served(self, client: httpx.AsyncClient, spec: ModelSpec, key: str | None) -> ServedModel | None:
        """What it says of the model; of a context that its file does not set, no more than is mostly needed.

        Raises:
            ModelRefused: It has no such model.
        """
        address = str(spec.base_url)
        names = await ollama_names(client, address)
        wanted = spec.name if ":" in spec.name else f"{spec.name}:latest"
        if names is not None and wanted not in names:
            near = did_you_mean(spec.name, names)
            there = ", ".join(names[:8]) or "none"
            raise ModelRefused(
                f"the Ollama at {address!r} has no model {spec.name!r}.",
                hint=f"{near}It has: {there}. Get it with `ollama pull {spec.name}`.",
                ids={"model": spec.id},
            )
        model = await ollama_model(client, address, spec.name)
        if model.tokens is None and model.most_tokens is not None:
            return replace(model, most_tokens=min(model.most_tokens, MOST_CONTEXT))
        return model

    def context_note(self, spec: ModelSpec, tokens: int) -> str:
        """Requests say how long the context is to be."""
        return f"{spec.id} is asked for a context of {tokens:,} tokens (models.context_tokens sets another)"

    async def nearby(self, client: httpx.AsyncClient, kind: str, root: str) -> tuple[list[ServedModel], str] | None:
        """Its models; the first ones with their contexts."""
        names = await ollama_names(client, root)
        if names is None:
            return None
        shown = await asyncio.gather(*(ollama_model(client, root, name) for name in names[:_MOST_ASKED]))
        address = "" if root == self.usual_address else f" --base-url {root}"
        models = [*shown, *map(ServedModel, names[_MOST_ASKED:])]
        return models, f"--model ollama:NAME{address}"


OLLAMA = Ollama(
    name="ollama",
    forms=("ollama",),
    usual_address="http://127.0.0.1:11434",
    keeps_form=True,
    keys=("REFEREE_API_KEY",),
    key_is_optional=True,
    sdk="langchain_ollama",
    asks_context=True,
    no_model_fix="ollama pull qwen3:8b",
    ports=(("ollama", 11434),),
)


@cache
def _chat_class() -> type[ChatOllama]:
    """LangChain's client with ``reasoning=True``: it keeps what a model thinks, and leaves it to the model to think.

    LangChain takes one setting for both, and a model that cannot think refuses a request to.
    """
    from langchain_ollama import ChatOllama

    class ChatOllamaWithReasoning(ChatOllama):
        def _chat_params(self, *arguments: Any, **more: Any) -> dict[str, Any]:
            return {**super()._chat_params(*arguments, **more), "think": None}

    return ChatOllamaWithReasoning
