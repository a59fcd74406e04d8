"""How many tokens of a model's context a prompt leaves for more text."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from referee.llm.dialects import reply_schema
from referee.prompts import RenderedPrompt

CountTokens = Callable[[str], int]

# Message framing, and what joining of texts adds to their counts.
SLACK_TOKENS = 64


def tokens_left(
    prompt: RenderedPrompt, reply: type[BaseModel], reply_tokens: int, context_tokens: int, count: CountTokens
) -> int:
    """Tokens of text that fit beside a prompt, its reply's schema and its reply.

    Args:
        prompt: As it is without that text.
        reply: What is asked for; its schema is sent too.
        reply_tokens: The longest reply.
        context_tokens: The model's context.
        count: Counts tokens as the model does.

    Returns:
        Negative where the prompt alone is too long.
    """
    taken = count(prompt.system) + count(prompt.user) + count(str(reply_schema(reply)))
    return context_tokens - taken - reply_tokens - SLACK_TOKENS
