"""LangChain's chat of Ollama, with what it leaves out of a message."""

from __future__ import annotations

from typing import Any

from langchain_ollama import ChatOllama


class ChatOllamaWithReasoning(ChatOllama):
    """With ``reasoning=True`` it keeps what a model thinks; whether the model does is left to the model, as by default.

    LangChain takes one setting for both, and a model that cannot think refuses a request to.
    """

    def _chat_params(self, *arguments: Any, **more: Any) -> dict[str, Any]:
        return {**super()._chat_params(*arguments, **more), "think": None}
