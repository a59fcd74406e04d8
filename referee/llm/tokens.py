"""Counting tokens without a network: tiktoken, whose cache is filled from files that come with ``bpe-openai``.

tiktoken would download its vocabularies at first use. The same files (checked by tiktoken against its own hashes) are
put into its cache under the names it looks for, so it finds them. A cache folder a person has set is used as it is set.
A damaged file is put in place again: tiktoken would try to download it. Where nothing can be written, the files lie in
a temporary folder until they are loaded.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import importlib
import inspect
import logging
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import DataError
from referee.llm.catalogue import CACHE_VARIABLE, cache_root

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"
TIKTOKEN_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")

_SHIPPED = ("o200k_base", "cl100k_base")
_LOADING = threading.Lock()
# What a folder for reading only, or a file in the place of the cache folder, says.
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)

logger = logging.getLogger(__name__)


def count_tokens(text: str, model: str = "") -> int:
    """Tokens of a text.

    Args:
        text: Any text; special tokens in it count as the plain text they are.
        model: The provider's name for a model. Models tiktoken does not know, and those with an encoding that is not
            shipped, count by ``o200k_base``; for models of other providers the number is an estimate.

    Raises:
        DataError: The vocabulary cannot be stored in the cache folder.
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


@contextmanager
def _seeded_folder() -> Iterator[Path]:
    """The cache folder tiktoken is to use, a person's own or ours, with the vocabularies in it."""
    own = next((os.environ[name] for name in TIKTOKEN_VARIABLES if os.environ.get(name)), "")
    folder = Path(own) if own else cache_root() / "tiktoken"
    try:
        _seed_all(folder)
    except OSError as error:
        if error.errno in _UNWRITABLE:
            logger.info("%s cannot be written (%s); the vocabulary lies in a temporary folder", folder, error.strerror)
            with tempfile.TemporaryDirectory(prefix="referee-tokens-") as passing:
                _seed_all(Path(passing))
                yield Path(passing)
            return
        raise DataError(
            f"the token vocabulary cannot be stored in {str(folder)!r}: {error.strerror or error}.",
            hint=f"Set {CACHE_VARIABLE} or {TIKTOKEN_VARIABLES[0]} to a folder you may write.",
        ) from error
    yield folder


def _seed_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in _SHIPPED:
        _seed(folder, name)


def _seed(folder: Path, name: str) -> None:
    target = folder / hashlib.sha1(_address(name).encode(), usedforsecurity=False).hexdigest()
    if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == _pinned(name):
        return
    packed = (_vocabularies() / f"{name}.tiktoken.gz").read_bytes()
    with tempfile.TemporaryDirectory(dir=folder, prefix="unfinished-") as unfinished:
        (Path(unfinished) / name).write_bytes(gzip.decompress(packed))
        (Path(unfinished) / name).replace(target)


def _vocabularies() -> Path:
    """The data folder of the vocabulary package, found without importing its code (which warns as it loads)."""
    spec = find_spec("bpe_openai")
    assert spec is not None, "bpe-openai is a dependency of this package"
    assert spec.submodule_search_locations, "bpe-openai is a package"
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def _address(name: str) -> str:
    """The address tiktoken would load a vocabulary from: its cache names files by it."""
    found = re.search(r"https?://[^\"']+\.tiktoken", _source(name))
    assert found is not None, f"tiktoken has no address for {name!r}"
    return found.group()


def _pinned(name: str) -> str:
    """The sha256 tiktoken wants a vocabulary to have."""
    found = re.search(r"expected_hash=[\"']([0-9a-f]{64})", _source(name))
    assert found is not None, f"tiktoken has no hash for {name!r}"
    return found.group(1)


def _source(name: str) -> str:
    return inspect.getsource(getattr(importlib.import_module("tiktoken_ext.openai_public"), name))


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    """Load a vocabulary; tiktoken keeps it, so the folder need not stay in the environment."""
    import tiktoken

    variable = TIKTOKEN_VARIABLES[0]
    with _LOADING, _seeded_folder() as folder:
        before = os.environ.get(variable)
        os.environ[variable] = str(folder)
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ[variable]
            else:
                os.environ[variable] = before
