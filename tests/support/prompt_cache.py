"""The cache of prompts that providers keep: what a request begins with is cheaper once it was sent before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from tests.support.request import ChatRequest

BLOCK_WORDS = 16


class PromptCache:
    """Beginnings of the prompts that were answered.

    OpenAI's and Google's formats are served whatever blocks of 16 words they have in common with an earlier request
    to the same model, without being asked. Anthropic's is served, or has written, what the client marks with
    ``cache_control``, and nothing else.
    """

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def look(self, request: ChatRequest) -> tuple[int, int]:
        """Words of the prompt that come from the cache, and those that are written to it."""
        if request.wire != "anthropic":
            read = 0
            for words, block in _blocks(request):
                if block not in self._kept:
                    break
                read = words
            return read, 0
        marked = len((request.marked or "").split())
        return (marked, 0) if _marked(request) in self._kept else (0, marked)

    def keep(self, request: ChatRequest) -> None:
        """Keep the prompt: from the moment on at which its reply begins."""
        if request.wire != "anthropic":
            self._kept.update(block for _, block in _blocks(request))
        elif request.marked is not None:
            self._kept.add(_marked(request))


def _blocks(request: ChatRequest) -> Iterator[tuple[int, bytes]]:
    """The digest of the prompt's first block, of the first two, and so on, each with how many words that is."""
    seen, words = hashlib.sha256(request.model.encode()), request.text.split()
    for start in range(0, len(words) - BLOCK_WORDS + 1, BLOCK_WORDS):
        seen.update(f" {' '.join(words[start : start + BLOCK_WORDS])}".encode("utf-8", "replace"))
        yield start + BLOCK_WORDS, seen.digest()


def _marked(request: ChatRequest) -> bytes:
    """The marked beginning; tools stand before it."""
    parts = f"{request.model}\x00{request.tool and request.schema}\x00{request.marked}"
    return hashlib.sha256(parts.encode("utf-8", "replace")).digest()
