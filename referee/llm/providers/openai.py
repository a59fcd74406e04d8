"""OpenAI, and what all servers in its format share."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import quote

from pydantic import SecretStr

from referee.errors import ReplyInvalid
from referee.llm.batches.protocol import (
    BatchProvider,
    BatchResult,
    BatchState,
    Pause,
    Status,
    Submission,
    newest,
    status_in,
    unanswered,
)
from referee.llm.clients import Connection, never_used
from referee.llm.completions import TOOL
from referee.llm.dialects import strict_schema
from referee.llm.providers.protocol import Provider, Vector, WireRequest
from referee.llm.server_context import ServedModel, served_models
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel
    from langchain_openai import ChatOpenAI

# A picture is scaled into 2048 x 2048, then to 768 on the shorter side; 170 tokens a tile of 512, and 85.
_FIT, _SHORT, _TILE = 2048, 768, 512

_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_NAME = "referee"
_STATUS: dict[str, Status] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_FULL = "token_limit_exceeded"


class OpenAI(Provider):
    """OpenAI itself."""

    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """A client of the chat completions: the limit goes with each call."""
        import httpx2

        address = connection.base_url or self.address or None
        return _chat_class()(
            model=connection.spec.name,
            api_key=SecretStr(connection.key or "none"),
            base_url=address,
            temperature=temperature,
            timeout=connection.timeout_s,
            stream_chunk_timeout=connection.timeout_s,
            use_responses_api=False,
            stream_usage=True,
            max_retries=0,
            http_client=never_used(),
            http_async_client=connection.new_http(httpx2),
        )

    def errors(self) -> tuple[type[Exception], ...]:
        """The SDK's tree."""
        from openai import OpenAIError

        return (OpenAIError,)

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """The limit and the reply's format.

        They go in as part of the body: as parameters of LangChain's, the format would have the SDK parse the reply,
        and keep every state of one that comes in pieces.
        """
        body = {self.limit_names[request.renamed_limit]: request.max_output_tokens, **self.sampling}
        if request.native and self.schema_in_text(request):
            body["response_format"] = {"type": "json_object"}
        elif request.native:
            schema = {"name": TOOL, "strict": True, "schema": self.dialect(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {"extra_body": body}

    async def served(self, client: httpx.AsyncClient, spec: ModelSpec, key: str | None) -> ServedModel | None:
        """What its list of models says."""
        models = await served_models(client, spec.base_url or self.address, key)
        return next((model for model in models or [] if model.name == spec.name), None)

    def embedder(self, connection: Connection) -> Callable[[list[str]], Awaitable[list[Vector]]]:
        """One call of ``/v1/embeddings``; vectors are put in the order of their texts by ``index``."""
        client, spec = self.client(connection), connection.spec

        async def embed(texts: list[str]) -> list[Vector]:
            reply = await client.embeddings.create(model=spec.name, input=texts)
            if isinstance(reply, str):
                raise ValueError(reply)
            return in_order(reply.data, len(texts), spec.id)

        return embed

    def batches(self, connection: Connection) -> BatchProvider:
        """Over ``/v1/files`` and ``/v1/batches``."""
        return OpenAIBatches(self.client(connection), connection)

    def client(self, connection: Connection) -> Any:
        """The SDK's own client."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=connection.key or "none",
            base_url=connection.base_url or self.address or None,
            timeout=connection.timeout_s,
            max_retries=0,
            http_client=cast(Any, connection.http),  # the SDK takes both libraries' clients
        )


def in_order(data: list[Any], count: int, model: str) -> list[Vector]:
    """The vectors in the order of the texts. A reply without any ``index`` is taken as it came.

    Raises:
        ReplyInvalid: An index is there twice, is no text's, or is missing.
    """
    places = [getattr(one, "index", None) for one in data]
    if set(places) == {None}:
        return [one.embedding for one in data]
    for place in (*range(count), *places):
        if places.count(place) != 1 or place not in range(count):
            raise ReplyInvalid(
                f"the embedder {model!r} gave {len(data)} vectors for {count} texts, "
                f"{places.count(place)} with index {place!r}.",
                hint="Try another embedder.",
                ids={"model": model},
            )
    return [data[places.index(place)].embedding for place in range(count)]


class OpenAIBatches(BatchProvider):
    """Batches over ``/v1/files`` and ``/v1/batches``.

    Limits are OpenAI's (50,000 requests and 200 MB), a little below for what counts differently; the file is streamed.
    """

    most_requests, most_bytes = 50_000, 190_000_000

    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call; it is never streamed."""
        sent = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
        request = {"custom_id": digest, "method": "POST", "url": _ENDPOINT, "body": sent}
        return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    async def submit(self, submission: Submission, requests: Path) -> str:
        """Upload the requests, and make a batch of them that carries our name."""
        with requests.open("rb") as file:
            sent = await self.client.files.create(file=(f"{submission.name}.jsonl", file), purpose="batch")
        made = await self.client.batches.create(
            input_file_id=sent.id,
            endpoint=_ENDPOINT,
            completion_window="24h",
            metadata={_NAME: submission.name},
        )
        return str(made.id)

    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """By the name in its metadata."""
        listed = self.client.batches.list(limit=100)
        found = await newest(
            listed, lambda b: (b.metadata or {}).get(_NAME) == submission.name, lambda b: b.created_at, submission.at
        )
        return str(found.id) if found else ""

    async def state(self, batch_id: str) -> BatchState:
        """How it stands; a batch that was turned away says why."""
        batch = await self.client.batches.retrieve(batch_id)
        errors = (batch.errors.data if batch.errors else None) or []
        counts = batch.request_counts
        return BatchState(
            status=_STATUS.get(batch.status, "open"),
            answered=counts.completed if counts else 0,
            problem="; ".join(dict.fromkeys(error.message or error.code or "" for error in errors)),
            full=any(error.code == _FULL for error in errors),
            files=tuple(name for name in (batch.output_file_id, batch.error_file_id) if name),
        )

    def sources(self, batch_id: str, state: BatchState) -> list[str]:
        """Its files: one holds replies, the other what went wrong."""
        base = str(self.client.base_url).rstrip("/")
        return [f"{base}/files/{quote(name, safe='')}/content" for name in state.files]

    @property
    def headers(self) -> dict[str, str]:
        """The key."""
        return {"Authorization": f"Bearer {self.connection.key or 'none'}"}

    def result(self, line: Mapping[str, Any]) -> BatchResult:
        """A reply with its status, or why there is none."""
        digest, response, error = line["custom_id"], line.get("response"), line.get("error")
        if isinstance(response, dict) and isinstance(response.get("body"), dict):
            return BatchResult(digest, status_in(response.get("status_code"), 200), response["body"])
        return unanswered(digest, str((error.get("message") if isinstance(error, dict) else error) or "no reply came"))

    async def cancel(self, batch_id: str) -> None:
        """End it."""
        await self.client.batches.cancel(batch_id)


def _image_tokens(width: int, height: int) -> int:
    """OpenAI's page "Images and vision"."""
    scale = min(1.0, _FIT / max(width, height))
    scale *= min(1.0, _SHORT / (scale * min(width, height)))
    return 85 + 170 * math.ceil(width * scale / _TILE) * math.ceil(height * scale / _TILE)


OPENAI = OpenAI(
    name="openai",
    forms=("openai",),
    keys=("OPENAI_API_KEY",),
    price_list="openai",
    limit_names=("max_completion_tokens", "max_tokens"),
    schema_first=True,
    exact_counts=True,
    dialect=strict_schema,
    has_batches=True,
    has_embeddings=True,
    image_tokens=_image_tokens,
)


_LEFT_OUT = ("reasoning_content", "reasoning", "refusal")


@cache
def _chat_class() -> type[ChatOpenAI]:
    """LangChain's client, which leaves these parts of a message out, as one that keeps them."""
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_openai import ChatOpenAI

    class ChatOpenAIWithReasoning(ChatOpenAI):
        def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
            result = super()._create_chat_result(response, generation_info)
            for generation, choice in zip(result.generations, getattr(response, "choices", ()), strict=False):
                keep(generation, {name: getattr(choice.message, name, None) for name in _LEFT_OUT})
            return result

        def _convert_chunk_to_generation_chunk(
            self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
        ) -> ChatGenerationChunk | None:
            made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
            if made is not None and chunk.get("choices"):
                keep(made, chunk["choices"][0]["delta"])
            return made

    def keep(generation: ChatGeneration, given: Mapping[str, Any]) -> None:
        generation.message.additional_kwargs |= {name: given[name] for name in _LEFT_OUT if given.get(name)}

    return ChatOpenAIWithReasoning
