"""Which model files the package knows, and which of them are on this machine.

``catalogue.toml`` beside this file pins every file by size and sha256. A file counts as present when its size is the
pinned one and the record that a fetch wrote beside it holds the pinned hash for these very bytes (same size, same
modification time), so a start does not hash hundreds of megabytes again.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path
from pydantic import TypeAdapter

from referee.errors import DataError, SettingsError

CACHE_VARIABLE = "REFEREE_CACHE_DIR"
RECORD = "verified.json"

Kind = Literal["chat", "embedder", "scorer"]
State = Literal["present", "unverified", "partial", "absent"]


@dataclass(frozen=True)
class Part:
    """One member of one wheel; the members of a file's parts, joined in order, are the file."""

    package: str
    member: str


@dataclass(frozen=True)
class ModelFile:
    """One pinned file: ``size`` in bytes, ``url`` the official address, ``parts`` the fallback."""

    name: str
    size: int
    sha256: str
    url: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class CatalogueEntry:
    """A model that can be fetched. ``context_tokens`` is what it was trained for."""

    key: str
    title: str
    kind: Kind
    licence: str
    author: str
    context_tokens: int
    about: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """Bytes on disk, all files together."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class ModelStatus:
    """What of a model is here. ``path`` is set only when it is present; ``bytes_here`` counts unfinished files too.

    ``unverified`` means: all files have the right size, but no fetch has checked their hashes.
    """

    entry: CatalogueEntry
    state: State
    path: Path | None
    bytes_here: int


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """All known models by key, in the order of the file."""
    one = TypeAdapter(CatalogueEntry)
    return {key: one.validate_python({"key": key, **raw}) for key, raw in _raw()["models"].items()}


def catalogue_entry(key: str) -> CatalogueEntry:
    """The model of a key.

    Raises:
        SettingsError: No such key.
    """
    try:
        return catalogue()[key]
    except KeyError:
        raise SettingsError(f"there is no embedded model {key!r}.", hint=f"Known: {', '.join(catalogue())}.") from None


def chat_model_key(name: str = "local") -> str:
    """The key of an embedded chat model, from ``local``, ``local:KEY`` or ``KEY``.

    Raises:
        SettingsError: The key is unknown, or its model cannot chat.
    """
    return _key_of_kind(name, "chat", _raw()["default_chat"])


def embedder_key(name: str = "local") -> str:
    """The key of an embedded embedding model, from ``local``, ``local:KEY`` or ``KEY``.

    Raises:
        SettingsError: The key is unknown, or its model does not embed.
    """
    return _key_of_kind(name, "embedder", _raw()["default_embedder"])


def models_dir(cache_dir: Path | None = None) -> Path:
    """The folder of all fetched models: ``models`` under ``cache_dir``, ``REFEREE_CACHE_DIR`` or the user's cache."""
    return cache_root(cache_dir) / "models"


def cache_root(cache_dir: Path | None = None) -> Path:
    """The folder for everything that can be fetched or made again.

    Raises:
        SettingsError: It lies in the home folder, and nothing says where that is.
    """
    set_by_user = os.environ.get(CACHE_VARIABLE, "").strip()
    wanted = cache_dir or set_by_user or None
    try:
        return Path(wanted).expanduser() if wanted else user_cache_path("referee")
    except RuntimeError as error:
        named = f"the cache folder {str(wanted)!r}" if wanted else "the cache folder"
        raise SettingsError(
            f"{named} cannot be found: HOME is not set, and the system knows no home.",
            hint=f"Set {CACHE_VARIABLE} to a folder you may write.",
        ) from error


def model_path(key: str, cache_dir: Path | None = None) -> Path | None:
    """Where a fetched model lies: its file, or its folder when it has several; None when it is not here.

    Raises:
        SettingsError: No such key.
    """
    entry = catalogue_entry(key)
    folder = models_dir(cache_dir) / key
    record = read_record(folder)
    if not all(is_verified(folder, file, record) for file in entry.files):
        return None
    return folder / entry.files[0].name if len(entry.files) == 1 else folder


def fetched_path(key: str, cache_dir: Path | None = None) -> Path:
    """The same for a model that is needed.

    Raises:
        SettingsError: No such key.
        DataError: It was not fetched yet.
    """
    path = model_path(key, cache_dir)
    if path is None:
        raise DataError(
            f"the embedded model {key!r} is not on this machine yet.",
            hint=f"Run `referee models fetch {key}` ({catalogue_entry(key).size >> 20:,} MiB).",
            ids={"model": key},
        )
    return path


def model_status(key: str, cache_dir: Path | None = None) -> ModelStatus:
    """What of a model is on this machine.

    Raises:
        SettingsError: No such key.
    """
    entry = catalogue_entry(key)
    folder = models_dir(cache_dir) / key
    bytes_here = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    path = model_path(key, cache_dir)
    if path is not None:
        return ModelStatus(entry, "present", path, bytes_here)
    complete = all(_has_size(folder / file.name, file.size) for file in entry.files)
    state: State = "unverified" if complete else "partial" if bytes_here else "absent"
    return ModelStatus(entry, state, None, bytes_here)


def remove_model(key: str, cache_dir: Path | None = None) -> int:
    """Delete a model with all unfinished downloads of it; gives the bytes freed, 0 when nothing was here.

    Raises:
        SettingsError: No such key.
        DataError: The folder cannot be deleted.
    """
    status = model_status(key, cache_dir)
    folder = models_dir(cache_dir) / key
    if not folder.exists():
        return 0
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise DataError(f"model {key!r} in {str(folder)!r} cannot be deleted: {error.strerror}.") from error
    return status.bytes_here


def read_record(folder: Path) -> dict[str, Any]:
    """What fetches have verified in a folder, by file name; empty when nothing is recorded or it cannot be read."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def is_verified(folder: Path, file: ModelFile, record: dict[str, Any]) -> bool:
    """Whether the record proves that the file on disk is the pinned one."""
    known = record.get(file.name)
    path = folder / file.name
    if not isinstance(known, dict) or not _has_size(path, file.size):
        return False
    return known.get("sha256") == file.sha256 and known.get("mtime_ns") == path.stat().st_mtime_ns


def _key_of_kind(name: str, kind: Kind, default: str) -> str:
    key = name.removeprefix("local").removeprefix(":") or default
    offered = [entry.key for entry in catalogue().values() if entry.kind == kind]
    if key in offered:
        return key
    entry = catalogue().get(key)
    why = f"is no {kind} model but {entry.about!r}" if entry else "is not known"
    raise SettingsError(f"the embedded model {key!r} {why}.", hint=f"Embedded {kind} models: {', '.join(offered)}.")


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


@cache
def _raw() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))
