"""What an embedder counts: its own pieces where we have its tokenizer, tokens of tiktoken otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock

from referee.errors import DataError
from referee.llm.catalogue import embedder_key, model_path
from referee.llm.minilm import MAX_TOKENS
from referee.llm.spec import LOCAL
from referee.llm.tokens import count_tokens

_MARKS = 2  # the pieces that MiniLM puts before and behind every text
_READING = Lock()


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
        DataError: It is the embedded embedder and its tokenizer is not here or cannot be read.
    """
    if embedder_id.partition(":")[0] != LOCAL:
        return PieceCount(partial(count_tokens, model=embedder_id), None)
    return PieceCount(_word_pieces(embedder_key(embedder_id), cache_dir), MAX_TOKENS - _MARKS)


def _word_pieces(key: str, cache_dir: Path | None) -> Callable[[str], int]:
    folder = model_path(key, cache_dir)
    if folder is None:
        raise DataError(
            f"the embedding model {key!r} is not on this machine yet.",
            hint=f"Run `referee models fetch {key}`.",
            ids={"model": key},
        )
    with _READING:
        return _tokenizer_of(key, folder)


@lru_cache(maxsize=2)
def _tokenizer_of(key: str, folder: Path) -> Callable[[str], int]:
    """How the tokenizer in the folder counts; kept, because each copy takes 30 ms and some 10 MB."""
    # tokenizers raises a bare Exception for a bad file, so the file is read and parsed before.
    import json

    from tokenizers import Tokenizer

    try:
        text = (folder / "tokenizer.json").read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError) as error:
        raise DataError(
            f"the tokenizer of {key!r} in {str(folder)!r} cannot be read: {error}.",
            hint=f"Run `referee models remove {key}` and `referee models fetch {key}`.",
            ids={"model": key},
        ) from error
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
