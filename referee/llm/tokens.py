"""Counting tokens without a network: tiktoken, with the vocabularies that come with ``bpe-openai``.

tiktoken would download its vocabularies at first use, and keep them in a folder. It is given the same files instead,
checked against its own hashes; nothing is written.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import threading
import zlib
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import DataError

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"

_SHIPPED = ("o200k_base", "cl100k_base")
_LOADING = threading.Lock()


def count_tokens(text: str, model: str = "") -> int:
    """Tokens of a text.

    Args:
        text: Any text; special tokens in it count as the plain text they are.
        model: The provider's name for a model. Models tiktoken does not know, and those with an encoding that is not
            shipped, count by ``o200k_base``; for models of other providers the number is an estimate.

    Raises:
        DataError: The vocabulary is damaged.
    """
    return len(_encoding(encoding_name(model)).encode_ordinary(text))


@cache
def encoding_name(model: str = "") -> str:
    """The shipped encoding for a model's name, with or without a provider in front; ``o200k_base`` when unknown."""
    from tiktoken.model import encoding_name_for_model

    try:
        name = encoding_name_for_model(model.rpartition(":")[2] if model.startswith("openai:") else model)
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in _SHIPPED else DEFAULT_ENCODING


def _vocabulary(address: str, expected_hash: str) -> dict[bytes, int]:
    """What tiktoken would load from an address: tokens and their ranks. The package is not imported: it warns."""
    file = Path(str(distribution("bpe-openai").locate_file(f"bpe_openai/data/{address.rpartition('/')[2]}.gz")))
    try:
        content = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error):
        content = b""
    if hashlib.sha256(content).hexdigest() != expected_hash:
        raise DataError(
            f"the token vocabulary {str(file)!r} is missing or damaged.",
            hint="Run `pip install --force-reinstall bpe-openai`.",
        )
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    """Load a vocabulary, which tiktoken keeps for all that ask it."""
    import tiktoken

    constructors: Any = importlib.import_module("tiktoken_ext.openai_public")
    with _LOADING:
        loads = constructors.load_tiktoken_bpe
        constructors.load_tiktoken_bpe = _vocabulary
        try:
            return tiktoken.get_encoding(name)
        finally:
            constructors.load_tiktoken_bpe = loads
