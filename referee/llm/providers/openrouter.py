"""OpenRouter: models of many providers behind one key, in OpenAI's format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.llm.batches.protocol import BatchProvider
from referee.llm.clients import Connection
from referee.llm.providers.openai import OpenAI
from referee.llm.server_context import ServedModel, served_models
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    import httpx

ADDRESS = "https://openrouter.ai/api/v1"


class OpenRouter(OpenAI):
    """OpenRouter; a model's name has its maker before a slash."""

    name = "openrouter"
    forms = ("openrouter",)
    keys = ("OPENROUTER_API_KEY",)
    price_list = "openrouter"
    limit_names = ("max_tokens", "max_completion_tokens")
    exact_counts = False
    asks_context = True

    def address(self, connection: Connection) -> str | None:
        """Its own."""
        return connection.base_url or ADDRESS

    def image_tokens(self, width: int, height: int) -> int | None:
        """As the model's maker counts."""
        return None

    async def served(self, client: httpx.AsyncClient, spec: ModelSpec, key: str | None) -> ServedModel | None:
        """What its public list says; no key is sent for it."""
        models = await served_models(client, spec.base_url or ADDRESS)
        return next((model for model in models or [] if model.name == spec.name), None)

    def batches(self, connection: Connection) -> BatchProvider | None:
        """It has none."""
        return None
