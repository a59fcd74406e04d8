"""What came back from a provider: text, why it ended, and the tokens as far as their numbers can be true."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from referee.llm.bounds import body_too_long, most_characters

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.messages.ai import UsageMetadata

TOOL = "reply"
_MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Completion:
    """What came back. Token counts are null where the provider gave none, or none that can be true.

    ``cached_tokens`` are those of the input that came from the provider's cache, ``cache_write_tokens`` those that
    were written to it. ``streamed`` is whether the reply came in pieces.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    cut_off: bool
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    streamed: bool = False


TOO_LONG = Completion("", None, None, cut_off=True)
"""What stands for a body that no reply can be."""


def whole(message: AIMessage, max_output_tokens: int) -> Completion:
    """A message that came in one piece."""
    return _completion(_text(message), _reason(message), message.usage_metadata, most_characters(max_output_tokens))


async def collected(
    chunks: AsyncGenerator[AIMessageChunk], max_output_tokens: int, begun: Callable[[], None]
) -> Completion | None:
    """A message that comes in pieces, read up to the bound; null where the stream held none.

    Args:
        chunks: The pieces. They are not read further once they are longer than a reply can be.
        max_output_tokens: The limit that was asked for.
        begun: Told of each piece when it comes.
    """
    from langchain_core.messages.ai import add_usage

    most = most_characters(max_output_tokens)
    text, length, reason, usage, came = list[str](), 0, "", cast("UsageMetadata | None", None), False
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                begun()
                came = True
                text.append(str(chunk.text))
                length += len(text[-1])
                reason = _reason(chunk) or reason
                usage = add_usage(usage, chunk.usage_metadata) if chunk.usage_metadata else usage
                if length > most:
                    break
    except ValidationError:
        # LangChain refuses a piece whose numbers of tokens are none: the text before it is whole or is repaired.
        if not came:
            raise
        usage = None
    except Exception as error:
        if not body_too_long(error):
            raise
        reason, came = "length", True
    if not came:
        return None
    return replace(_completion("".join(text), reason, usage, most), streamed=True)


def _completion(text: str, reason: str, usage: UsageMetadata | None, most: int) -> Completion:
    tokens: dict[str, Any] = dict(usage or {})
    details = tokens.get("input_token_details") or {}
    tokens_in = _number(tokens.get("input_tokens")) or None  # no prompt is empty
    # A tier of service stands before the names at OpenAI, the time of keeping in place of one at Anthropic.
    cached = sum(_number(count) or 0 for name, count in details.items() if name.endswith("cache_read"))
    written = sum(
        _number(count) or 0
        for name, count in details.items()
        if name.endswith("cache_creation") or name.startswith("ephemeral_")
    )
    believed = tokens_in is not None and cached + written <= tokens_in
    return Completion(
        text=text[:most],
        input_tokens=tokens_in,
        output_tokens=_number(tokens.get("output_tokens")) or (None if text else 0),
        cut_off=reason in ("length", "max_tokens") or len(text) > most,
        cached_tokens=cached if believed else 0,
        cache_write_tokens=written if believed else 0,
    )


def _number(count: Any) -> int | None:
    """A number of tokens; null for what cannot be one: negative, broken, not finite, or beyond any bill."""
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= _MOST_TOKENS:
        return None
    return int(count) if count == int(count) else None


def _reason(message: AIMessage) -> str:
    metadata = message.response_metadata
    names = ("finish_reason", "stop_reason", "done_reason")
    return str(next(filter(None, map(metadata.get, names)), "")).lower()


def _text(message: AIMessage) -> str:
    for call in message.tool_calls:
        if call["name"] == TOOL:
            return json.dumps(call["args"], ensure_ascii=False)
    return str(message.text)
