"""LangChain's chat of OpenAI, with what it leaves out of a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

_LEFT_OUT = ("reasoning_content", "reasoning", "refusal")


class ChatOpenAIWithReasoning(ChatOpenAI):
    """Keeps the reasoning, which servers like OpenAI's send beside the content, and the refusal of a stream."""

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        for generation, choice in zip(result.generations, getattr(response, "choices", ()), strict=False):
            _keep(generation, {name: getattr(choice.message, name, None) for name in _LEFT_OUT})
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if made is not None and chunk.get("choices"):
            _keep(made, chunk["choices"][0]["delta"])
        return made


def _keep(generation: ChatGeneration, given: Mapping[str, Any]) -> None:
    generation.message.additional_kwargs |= {name: given[name] for name in _LEFT_OUT if given.get(name)}
