"""What all tests share: no network but loopback, no keys, caches of their own."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from typer.main import get_command

ROOT = Path(__file__).parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
SLOW_FOLDERS = ("app", "damage", "evals_data", "fuzz", "reliability")
LOOPBACK = ("127.0.0.1", "::1", "localhost")

# A deadline in seconds fails on a busy machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# A shell has its background jobs ignore Ctrl-C, and so do all that they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_connect = socket.socket.connect


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOOPBACK:
        raise OSError(f"tests may only reach this machine, not {address[0]!r}")
    _connect(self, address)


@pytest.fixture(scope="session", autouse=True)
def _same_examples_in_every_worker() -> Iterator[None]:
    """Hypothesis mixes in constants of our modules that are loaded, which depends on the tests that ran before."""
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    with pytest.MonkeyPatch.context() as patched:
        if hasattr(providers, "_get_local_constants"):
            none = providers.Constants()
            patched.setattr(providers, "_get_local_constants", lambda: none)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_command_line() -> Iterator[None]:
    """Typer makes the tree of commands anew at each call, in a sixteenth of a second; here it is made once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("typer.main.get_command", cache(get_command))
        yield


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _guarded_connect)


@pytest.fixture(scope="session")
def _config_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Numbered here: ``mktemp`` looks for a free number through all folders that were made before."""
    root = tmp_path_factory.mktemp("config")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, _config_folders: Iterator[Path]) -> None:
    """No keys or settings from the developer's shell; model files that are here stay usable."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_TOKEN")) or (name.startswith("REFEREE_") and name != "REFEREE_CACHE_DIR"):
            monkeypatch.delenv(name)
    folder = next(_config_folders)
    folder.mkdir()
    monkeypatch.setenv("REFEREE_CONFIG_DIR", str(folder))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared review data, or a skip with the reason; in CI its absence is a failure."""
    if not SHARED_DATA.is_dir():
        reason = f"the shared review data is not beside this checkout: put it in {SHARED_DATA}"
        if "CI" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return SHARED_DATA


@pytest.fixture(scope="session")
def examples() -> Path:
    """The example paper's folder."""
    return ROOT / "examples"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs the embedded model, fuzzes, disturbs whole runs or measures whole sets is slow, each test of it.

    The longest come first, so that no worker is left with one when the others have ended.
    """
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS or item.get_closest_marker("local_model"):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: [item.get_closest_marker(mark) is None for mark in ("local_model", "slow")])


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no names: archives hold the time they were made, and every worker must collect the same tests."""
    return argname if isinstance(val, bytes) else None
