"""What all tests share: no network but loopback, no keys, caches of their own."""

from __future__ import annotations

import gc
import os
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from typer.main import get_command
from xdist.scheduler import LoadGroupScheduling

ROOT = Path(__file__).parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
# One app, measured set, browser, run or model serves all tests of a file here, so that one worker takes them.
SHARING = (
    "tests/app/",
    "tests/cli/test_kill.py",
    "tests/damage/test_damaged_",
    "tests/evals_data/",
    "tests/unit/llm/test_logits.py",
    "tests/unit/llm/test_minilm.py",
    "tests/unit/reports/test_arena_reports.py",
    "tests/unit/reports/test_review_page_browser.py",
)
SLOW_FOLDERS = ("app", "damage", "evals_data", "fuzz", "reliability")
LOOPBACK = ("127.0.0.1", "::1", "localhost")

# Full collections go through all that hundreds of modules hold, which was a tenth of the tests' computing.
gc.set_threshold(20_000, 10, 10)

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


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """A kill loses nothing that was written: only a machine that loses its power needs more."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_store_of_certificates() -> Iterator[None]:
    """Every client reads the machine's certificates anew, a sixteenth of the tests' computing; none is asked here."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
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


class _OneWorkerAFile(LoadGroupScheduling):
    """Files that share something go to one worker. The groups of pytest-xdist 3.8 do nothing with pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0] if nodeid.startswith(SHARING) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadGroupScheduling:
    return _OneWorkerAFile(config, log)


@pytest.fixture(scope="module", autouse=True)
def _one_worker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fail where a second worker takes tests of a file that shares something: all is right then, but slow."""
    worker, name = os.environ.get("PYTEST_XDIST_WORKER"), request.node.nodeid
    if worker and name.startswith(SHARING):
        taken = tmp_path_factory.getbasetemp().parent / f"{name.replace('/', '+')}.worker"
        with suppress(FileExistsError), taken.open("x", encoding="utf-8") as file:
            file.write(worker)
        other = taken.read_text(encoding="utf-8")
        assert other in ("", worker), f"{name} runs in two workers, {other} and {worker}: see _OneWorkerAFile"


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
