"""What an embedder counts: its own pieces where we have its tokenizer, tokens of tiktoken otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from referee.llm.catalogue import embedder_key
from referee.llm.minilm import MAX_TOKENS, piece_counter
from referee.llm.spec import LOCAL
from referee.llm.tokens import count_tokens

_MARKS = 2  # the pieces that MiniLM puts before and behind every text


@dataclass(frozen=True, slots=True)
class PieceCount:
    """How long texts are for an embedder.

    Attributes:
        count: Pieces of a text. Exact for the embedded model and for OpenAI's; an estimate for others.
        reads: Most pieces of a text that the embedder sees; None where that is not known.
    """

    count: Callable[[str], int]
    reads: int | None


def pieces_of(embedder_id: str, cache_dir: Path | None = None) -> PieceCount:
    """The way an embedder counts.

    Args:
        embedder_id: The embedder's ``id``.
        cache_dir: Where fetched models lie.

    Raises:
        SettingsError: It names an embedded model that does not embed.
        DataError: It is the embedded embedder and its tokenizer is not here or cannot be read.
    """
    if embedder_id.partition(":")[0] != LOCAL:
        return PieceCount(partial(count_tokens, model=embedder_id), None)
    embedder_key(embedder_id)
    return PieceCount(piece_counter(cache_dir), MAX_TOKENS - _MARKS)
