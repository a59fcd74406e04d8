"""Sending one request to a provider through LangChain, and reading text and tokens back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, cast

from referee.llm.bounds import body_too_long, bounded_body
from referee.llm.clients import Connection, transport_errors
from referee.llm.completions import TOO_LONG, Completion, collected, whole
from referee.llm.providers import provider_of
from referee.llm.providers.answers import AnswersFolder
from referee.llm.providers.protocol import WireRequest
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk


class Wire:
    """A chat model of one provider: one client for each temperature and limit, over the same ``Connection``."""

    def __init__(self, spec: ModelSpec, **reached: Any) -> None:
        self._spec = spec
        self._connection = Connection(spec, **reached)
        self._provider = provider_of(spec)
        self._chats: dict[tuple[float | None, int], BaseChatModel] = {}

    async def send(self, request: WireRequest) -> Completion:
        """Send once. Raises whatever LangChain, the SDK or the transport raises.

        A body that is longer than a reply can be is not kept: an empty reply that was cut off stands for it.
        """
        from langchain_core.messages import AIMessage

        chat = self._chat(request.temperature, request.max_output_tokens)
        with bounded_body(request.max_output_tokens):
            try:
                message = await chat.ainvoke(self._provider.messages(request), **self._provider.arguments(request))
            except Exception as error:
                if body_too_long(error):
                    return TOO_LONG
                raise
        if not isinstance(message, AIMessage):
            raise TypeError(f"expected an AIMessage, got {type(message).__name__}")
        return whole(message, request.max_output_tokens)

    async def stream(self, request: WireRequest, begun: Callable[[], None]) -> Completion:
        """Send once and have the reply in pieces; ``begun`` is told of each. Raises as ``send`` does.

        A server that answers without a piece is sent the request again, for a reply as a whole; the completion says
        whether it was streamed.
        """
        chat = self._chat(request.temperature, request.max_output_tokens)
        errors = (*self._provider.errors(), *transport_errors())
        with bounded_body(request.max_output_tokens):
            chunks = cast(
                "AsyncGenerator[AIMessageChunk]",
                chat.astream(self._provider.messages(request), **self._provider.arguments(request)),
            )
            completion = await collected(chunks, request.max_output_tokens, begun, errors)
        return completion if completion is not None else await self.send(request)

    def listed_for_images(self) -> bool | None:
        """Whether LangChain's list of models says that this one takes pictures; null where it does not know it."""
        profile = self._chat(None, 1).profile or {}
        return bool(profile["image_inputs"]) if "image_inputs" in profile else None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connection.aclose()

    def _chat(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        kind = temperature, 0 if self._provider.limit_names else max_tokens
        if kind not in self._chats:
            self._chats[kind] = self._provider.chat(self._connection, temperature, max_tokens)
        return self._chats[kind]


class AnswersWire(Wire):
    """A model whose replies are read from a folder. Raises ``ModelRefused`` where that cannot be used any more."""

    def __init__(self, spec: ModelSpec, folder: AnswersFolder) -> None:
        super().__init__(spec, key=None, timeout_s=None)
        self._folder = folder

    async def send(self, request: WireRequest) -> Completion:
        """Have it answered, in whatever time that takes."""
        return await self.stream(request, lambda: None)

    async def stream(self, request: WireRequest, begun: Callable[[], None]) -> Completion:
        """The same; ``begun`` is told that the question is written down."""
        text = await self._folder.answer(request, begun)
        return Completion(text, None, None, streamed=True)
