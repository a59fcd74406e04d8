"""How long a reply may get: what a server sends beyond is neither kept nor sent back to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

# No tokenizer makes tokens this long on average; a model that is within its limit of tokens never meets the bound.
_CHARACTERS_A_TOKEN, _MORE_CHARACTERS = 12, 4_096
# A streamed token comes in a frame of some 300 bytes, and a token of hidden reasoning may be sent as well.
_BYTES_A_TOKEN, _MORE_BYTES = 1_024, 2**20
# A reply that is shown to its model again is shown whole up to this length.
_SHOWN_A_TOKEN, _MORE_SHOWN = 6, 1_024
_HEAD_CHARACTERS, _TAIL_CHARACTERS = 3_000, 1_000

# What is no reply to a prompt: vectors, lists of models and of batches.
_MOST_BYTES_ELSE = 64 * 2**20

_most_bytes: ContextVar[int] = ContextVar("referee_most_bytes", default=_MOST_BYTES_ELSE)


class BodyTooLong(Exception):
    """A server sent more than any reply to its request can be long."""


def most_characters(max_output_tokens: int) -> int:
    """The characters of a reply that are kept, many more than so many tokens are."""
    return _CHARACTERS_A_TOKEN * max_output_tokens + _MORE_CHARACTERS


def shown_again(reply: str, max_output_tokens: int) -> str:
    """A reply as its model is shown it for a repair: whole, or head and tail of one that is far too long."""
    if len(reply) <= _SHOWN_A_TOKEN * max_output_tokens + _MORE_SHOWN:
        return reply
    left_out = len(reply) - _HEAD_CHARACTERS - _TAIL_CHARACTERS
    return f"{reply[:_HEAD_CHARACTERS]}\n[{left_out:,} characters are left out here]\n{reply[-_TAIL_CHARACTERS:]}"


@contextmanager
def bounded_body(max_output_tokens: int) -> Iterator[None]:
    """Bodies of what is sent from here end in ``BodyTooLong`` where they are longer than such a reply can be."""
    before = _most_bytes.set(_BYTES_A_TOKEN * max_output_tokens + _MORE_BYTES)
    try:
        yield
    finally:
        _most_bytes.reset(before)


async def bound_response(response: Any) -> None:
    """Count the body while it is read: a hook for the clients of httpx and of httpx2, which the SDKs bring.

    A body in an encoding that was not asked for stays as it came: unpacked, it could be of any length.
    """
    most = _most_bytes.get()
    response.headers.pop("content-encoding", None)
    kind: Any = type(response.stream)
    response.stream = _bounded_kind(kind)(response.stream, most)


@cache
def _bounded_kind(kind: Any) -> Any:
    """One class for each kind of stream: classes cost more to make than bodies to read, and are freed late."""
    return type("BoundedStream", (_Bounded, kind), {})


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and what it comes from, since SDKs wrap each other's errors."""
    for _ in range(8):
        if error is not None:
            yield error
            error = error.__cause__ or error.__context__


def body_too_long(error: BaseException) -> bool:
    """Whether this is what an exception of an SDK comes from."""
    return any(isinstance(cause, BodyTooLong) for cause in causes(error))


class _Bounded:
    """A stream of bytes that ends after so many. Each library wants its own kind of stream, which it is made as."""

    def __init__(self, stream: Any, most: int) -> None:
        self._bounded, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for part in self._bounded:
            seen += len(part)
            if seen > self._most:
                raise BodyTooLong(f"more than {self._most:,} bytes came")
            yield part

    async def aclose(self) -> None:
        await self._bounded.aclose()
