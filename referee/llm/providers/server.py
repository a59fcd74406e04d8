"""Servers in OpenAI's format at an address of one's own: vLLM, llama.cpp, LM Studio, gateways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.llm.providers.openai import OpenAI
from referee.llm.providers.protocol import WireRequest
from referee.llm.server_context import ServedModel, served_models

if TYPE_CHECKING:
    import httpx


class Server(OpenAI):
    """A server at ``--base-url``; LM Studio has a form of its own for its usual place on this machine."""

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """As at OpenAI; headers say which prompt it is, which a server on this machine may want to know."""
        headers = {"X-Referee-Role": request.role, "X-Referee-Prompt": request.prompt}
        return {**super().arguments(request), "extra_headers": headers}

    async def nearby(self, client: httpx.AsyncClient, kind: str, root: str) -> tuple[list[ServedModel], str] | None:
        """What its list of models says."""
        models = await served_models(client, f"{root}/v1")
        usual = kind == "lmstudio" and f"{root}/v1" == self.usual_address
        flags = "--model lmstudio:NAME" if usual else f"--model NAME --base-url {root}/v1"
        return None if models is None else (models, flags)


SERVER = Server(
    name="server",
    forms=("lmstudio",),
    keys=("REFEREE_API_KEY",),
    key_is_optional=True,
    limit_names=("max_tokens", "max_completion_tokens"),
    has_embeddings=True,
    has_batches=True,
    usual_address="http://127.0.0.1:1234/v1",
    keeps_form=True,
    asks_context=True,
    no_model_fix="load a model in LM Studio",
    ports=(("lmstudio", 1234), ("llama.cpp", 8080), ("vllm", 8000)),
)
