"""No key in any file or on any stream, whatever is run, logged, refused or killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Outcome, Referee
from tests.cli.processes import PATIENCE_S, wait_for
from tests.cli.refusals import record
from tests.graphs.guidelines_script import PAGE, labelling, sensible
from tests.support import ChatRequest, FakeServer, Fault, FaultPlan

from .damaged_runs import SECTIONS, SINGLE
from .planted_keys import KEYS, echo, leaks, leaks_in

# What -v logs, -vv logs too.
LEVELS = {"default": (), "-vv": ("-vv",)}
OWN = KEYS["REFEREE_API_KEY"]
FAULTS = {"success": "", "rejected": "401", "broken": "500"}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("REFEREE_CALLS__RETRY_WAIT_S", "0")
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "2")
    return KEYS


@pytest.fixture
def folders(workplace: Path) -> tuple[Path, ...]:
    """All that a command may write to: run folders, cache with Chroma, configuration with venues."""
    return workplace, Path(os.environ["REFEREE_CACHE_DIR"]), Path(os.environ["REFEREE_CONFIG_DIR"])


def commands(paper: Path, server: FakeServer, name: str) -> dict[str, tuple[object, ...]]:
    """Every command that calls a model."""
    (Path("guide.md")).write_text(PAGE, encoding="utf-8")
    on = ("--model", "fake", "--base-url", server.base_url, "--out")
    return {
        "single": ("review", paper, *SINGLE, *on, f"single-{name}"),
        "sections": ("review", paper, *SECTIONS, *on, f"sections-{name}"),
        "compile": (
            "venue",
            "compile",
            "guide.md",
            "--id",
            f"mine-{name}",
            "--force",
            "--rounds",
            1,
            *on,
            f"compile-{name}",
        ),
        "refine": ("venue", "refine", "corl-2024", "--rounds", 1, *on, f"refine-{name}"),
    }


def faulty(fault: str) -> FakeServer:
    """A server that takes our key only; its error replies hold all keys in all forms."""
    faults = [Fault(fault, message=echo())] if fault else []  # type: ignore[arg-type]
    return FakeServer({"guidelines/label": labelling(sensible)}, faults=faults, context_tokens=32_000, expected_key=OWN)


@pytest.mark.parametrize("level", LEVELS)
def test_every_command_that_calls_a_model(
    referee: Referee, paper: Path, keys: dict[str, str], folders: tuple[Path, ...], level: str
) -> None:
    for name, fault in FAULTS.items():
        if fault == "500" and level != "-vv":
            continue
        with faulty(fault) as server:
            for command, arguments in commands(paper, server, name).items():
                done = referee(*LEVELS[level], *arguments)
                assert done.code == (2 if fault else 0), (command, name, done.err)
                assert not leaks(f"{command} {name}", (done.out + done.err).encode())
                assert not fault or "[key removed]" in done.err
            assert len(server.log) > 0
    assert not leaks_in(*folders)
    assert "401" in record(Path("single-rejected")).error
    assert "[key removed]" in record(Path("single-rejected")).error


PROVIDERS: dict[str, Callable[[FakeServer], tuple[str, str]]] = {
    "openai:gpt-4o-mini": lambda server: ("OPENAI_BASE_URL", server.base_url),
    "anthropic:claude-x": lambda server: ("ANTHROPIC_BASE_URL", server.url),
    "google_genai:gemini-2.0-flash": lambda server: ("GOOGLE_GEMINI_BASE_URL", server.url),
}


@pytest.mark.parametrize("model", PROVIDERS)
def test_each_providers_own_key(
    referee: Referee,
    paper: Path,
    keys: dict[str, str],
    folders: tuple[Path, ...],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google_genai": "GOOGLE_API_KEY"}
    expected = KEYS[variable[model.partition(":")[0]]]
    for name, fault in FAULTS.items():
        faults = [Fault(fault, message=echo())] if fault else []  # type: ignore[arg-type]
        with FakeServer(faults=faults, expected_key=expected) as server:
            monkeypatch.setenv(*PROVIDERS[model](server))
            done = referee("-vv", "review", paper, *SINGLE, "--model", model, "--out", name, "--no-cache")
            assert done.code == (2 if fault else 0), done.err
            # Google refuses keys with 400 too; where the words are not about a key, substitutes are tried.
            tried = 4 if fault == "401" and model.startswith("google") else 2 if fault == "500" else 1
            assert len(server.log) == tried
            assert not leaks(name, (done.out + done.err).encode())
    assert not leaks_in(*folders)


def test_a_key_that_no_header_takes(
    referee: Referee,
    paper: Path,
    server: FakeServer,
    keys: dict[str, str],
    folders: tuple[Path, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is refused before the transport would: that one's message holds the whole key."""
    for ending in ("\nsecond line", "\u2019"):
        monkeypatch.setenv("REFEREE_API_KEY", OWN + ending)
        options = ("--model", "fake", "--base-url", server.base_url, "--no-cache")
        done = referee("-vv", "review", paper, *SINGLE, *options, "--out", f"run-{len(ending)}")
        assert done.code == 2
        assert "error: REFEREE_API_KEY" in done.err
        assert "try 1 failed" not in done.err
        assert len(server.log) == 0
        assert not leaks("stderr", (done.out + done.err).encode())
    assert not leaks_in(*folders)


BOOM = """
import os, sys
import referee.llm.door as door
async def boom(*_, **__):
    raise RuntimeError("boom " + os.environ["REFEREE_API_KEY"])
door.Door.ask = boom
from referee.cli import main
main()
"""


def test_an_error_that_nobody_foresaw(
    paper: Path, server: FakeServer, keys: dict[str, str], folders: tuple[Path, ...]
) -> None:
    arguments = ["review", paper, *SINGLE, "--model", "fake", "--base-url", server.base_url, "--out", "run"]
    done = subprocess.run(
        [sys.executable, "-c", BOOM, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "RuntimeError: boom [key removed]" in done.stderr
    assert not leaks("the streams", (done.stdout + done.stderr).encode())
    assert record(Path("run")).status == "failed"
    assert "boom [key removed]" in record(Path("run")).error
    assert not leaks_in(*folders)


class SilentAfter(FaultPlan):
    """Some chat calls are answered, and none after them, so that the run cannot end before it is killed."""

    def __init__(self, answered: int) -> None:
        super().__init__()
        self._left = answered

    def choose(self, request: ChatRequest) -> Fault | None:
        if request.role == "embedding":
            return None
        self._left -= 1
        return Fault("timeout", seconds=PATIENCE_S) if self._left < 0 else None


def test_kill_9_in_the_middle(paper: Path, keys: dict[str, str], folders: tuple[Path, ...], tmp_path: Path) -> None:
    """A ledger without its end, its index, and what was logged until then."""
    with FakeServer(faults=SilentAfter(3), context_tokens=32_000, expected_key=OWN) as server:
        options = [*SECTIONS, "--model", "fake", "--base-url", server.base_url, "--out", "run"]
        with (tmp_path / "streams").open("wb") as streams:
            process = subprocess.Popen(
                [sys.executable, "-m", "referee", "-vv", "review", str(paper), *options],
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "REFEREE_CALLS__CONCURRENCY": "1"},
                stdout=streams,
                stderr=streams,
            )
            trace = Path("run/trace.jsonl")
            try:
                wait_for(lambda: trace.exists() and trace.read_bytes().count(b"\n") >= 2)
            finally:
                process.kill()
                process.wait()
    assert not leaks_in(*folders)
    assert not leaks("the streams", (tmp_path / "streams").read_bytes())


ADDRESSES = {
    "login": lambda url: url.replace("://", "://someone:Dq5-Kw8-Zr2-Xe6@"),
    "parameter": lambda url: f"{url}?api_key=Dq5-Kw8-Zr2-Xe6",
}


@pytest.mark.parametrize("kind", ADDRESSES)
@pytest.mark.parametrize("up", [True, False])
def test_keys_in_addresses(referee: Referee, paper: Path, folders: tuple[Path, ...], kind: str, up: bool) -> None:
    def secret(data: bytes) -> bool:
        return b"Dq5-Kw8" in data or b"Zr2-Xe6" in data

    with FakeServer(context_tokens=32_000) as server:
        if not up:
            server.close()
        options = ("--model", "fake", "--base-url", ADDRESSES[kind](server.base_url), "--out", "run", "--no-cache")
        done = referee("-vv", "review", paper, *SINGLE, *options)
    assert not secret((done.out + done.err).encode())
    assert [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and secret(path.read_bytes())
    ] == []
    compiled = referee("-vv", "venue", "compile", ADDRESSES[kind]("http://127.0.0.1:1/page"), "--id", "mine-2026")
    assert compiled.code == 2
    assert not secret((compiled.out + compiled.err).encode())


FILES = {
    "a key as a name": ('[models.prices]\n"{key}" = [1.0, 2.0]\n', "models.prices"),
    "a login in an address": ('[models]\nbase_url = "http://me:{key}@127.0.0.1:1/v1"\n', "models.base_url"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_value_in_the_settings_file_that_looks_like_a_key(
    referee: Referee, paper: Path, server: FakeServer, folders: tuple[Path, ...], kind: str
) -> None:
    text, named = FILES[kind]
    key = "sk-Dq5Kw8Zr2Xe6Tb1Nu4"
    Path("referee.toml").write_text(text.format(key=key))
    model = ("--model", "fake")
    done = referee("review", paper, *SINGLE, *model, "--base-url", server.base_url, "--out", "run", "--no-cache")
    assert done.code == 0, done.err
    assert "WARNING" in done.err
    assert f"{named}" in done.err
    assert "looks like a key" in done.err
    assert "referee doctor" in done.err
    assert key not in done.out + done.err
    written = [
        path for path in Path("run").iterdir() if path.name != "trace.jsonl" and key.encode() in path.read_bytes()
    ]
    assert [path.name for path in written] == []
    again = referee("review", paper, *SINGLE, *model, "--base-url", server.base_url, "--resume", "run", "--no-cache")
    assert again.code == 0, again.err


@pytest.mark.parametrize("place", ["[models]\ndefault", "[models.roles]\nwriter", "embedder"])
def test_a_key_where_a_models_name_belongs_is_refused(
    referee: Referee, paper: Path, server: FakeServer, workplace: Path, place: str
) -> None:
    Path("referee.toml").write_text(f'{place} = "sk-Dq5Kw8Zr2Xe6Tb1Nu4"\n')
    done = referee("review", paper, *SINGLE, "--base-url", server.base_url, "--out", "run")
    assert done.code == 2
    assert "looks like a key; a model's name belongs there" in done.err
    assert "Dq5Kw8" not in done.err
    assert not Path("run").exists()


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "api-key", "apikey", "password", "token"])
@pytest.mark.parametrize("table", ["models", "models.prices", "extra"])
def test_an_entry_named_like_a_key_is_refused_wherever_it_stands(
    referee: Referee, paper: Path, workplace: Path, table: str, name: str
) -> None:
    Path("referee.toml").write_text(f'[{table}]\n{name} = "a value like none"\n')
    done: Outcome = referee("review", paper, *SINGLE, "--out", "run")
    assert done.code == 2
    assert f"holds '{table}.{name}': keys are not settings" in done.err
    assert "environment variable" in done.err
    assert "like none" not in done.err
    assert not Path("run").exists()
