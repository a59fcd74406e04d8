"""A run folder whose files are damaged: clear and safe, and never another review."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from referee import RunOptions, review
from referee.runs import Ledger
from referee.runs.folder import RECORD, TRACE
from referee.schemas.run import CallRecord
from tests.cli.command import Referee
from tests.cli.refusals import assert_finished, record
from tests.support import FakeServer

from .damaged_runs import SECTIONS, asked, assert_refused_with, content, digests, resumed

RUN = Path("run")
UNDISTURBED = Path("undisturbed")


@pytest.fixture(scope="module")
def running() -> Iterator[FakeServer]:
    with FakeServer(context_tokens=32_000) as server:
        yield server


@pytest.fixture(scope="module")
def bench(running: FakeServer, examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that came to its end, one call at a time."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFEREE_CACHE_DIR", str(folder / "cache"))
        patch.setenv("REFEREE_CALLS__CONCURRENCY", "1")
        options = RunOptions(base_url=running.base_url, cache=False, out=folder / "run")
        given = {"venue": "corl-2024", "strategy": "sections", "model": "fake", "embedder": "fake"}
        asyncio.run(review(examples / "short.md", **given, options=options))
    return folder / "run"


@pytest.fixture
def server(running: FakeServer) -> FakeServer:
    return running


@pytest.fixture
def command(
    bench: Path, workplace: Path, paper: Path, running: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, ...]:
    """The arguments of a review that has come to its end in ``undisturbed`` and ``run``."""
    monkeypatch.setenv("REFEREE_CALLS__CONCURRENCY", "1")
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(bench.parent / "cache"))
    for folder in (UNDISTURBED, RUN):
        shutil.copytree(bench, folder)
    return asked(paper, running, strategy=SECTIONS)


@pytest.fixture
def halted(command: tuple[object, ...], referee: Referee, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """The same, with ``run`` ended after three of its replies."""
    shutil.rmtree(RUN)
    append, taken = Ledger.append, count()

    def full(ledger: Ledger, call: CallRecord, *, flush: bool = True) -> None:
        if next(taken) >= 3:
            raise OSError(errno.ENOSPC, "No space left on device", TRACE)
        append(ledger, call, flush=flush)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "append", full)
        assert referee(*command, "--out", RUN).code == 2
    assert len(Ledger(RUN / TRACE).records) == 3
    return command


def lines() -> list[bytes]:
    return (RUN / TRACE).read_bytes().splitlines(keepends=True)


def foreign() -> bytes:
    """A whole line of another run."""
    line = lines()[0].decode()
    request = Ledger(RUN / TRACE).records[0].request
    return line.replace(request, "f" * 64).replace("c0001", "c0009").encode()


# What the file then holds, and how many of its lines are left out; null is as many as the run had.
LEDGERS: dict[str, tuple[Callable[[], bytes], int | None]] = {
    "a line cut in the middle": (lambda: b"".join([lines()[0], lines()[1][:700] + b"\n", *lines()[2:]]), 1),
    "a last line without its end": (lambda: b"".join(lines())[:-300], 1),
    "garbage bytes in a line": (lambda: b"".join([lines()[0], b"\x00\xff\xfe{" + lines()[1], *lines()[2:]]), 1),
    "letters that are no text": (
        lambda: b"".join([lines()[0].replace(b'"reply":"', b'"reply":"\xff\xc3'), *lines()[1:]]),
        1,
    ),
    "zeros at the end": (lambda: b"".join(lines()) + bytes(4096), 1),
    "a line of another run": (lambda: b"".join([foreign(), *lines()]), 0),
    "each line twice": (lambda: b"".join(line + line for line in lines()), None),
    "nothing": (lambda: b"", 0),
    "another file": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, 12),
}


@pytest.mark.parametrize("kind", LEDGERS)
def test_a_damaged_ledger(referee: Referee, command: tuple[object, ...], server: FakeServer, kind: str) -> None:
    """All rests on the ledger: what is left of it is not paid again, the rest is asked again."""
    make, damaged = LEDGERS[kind]
    (RUN / TRACE).write_bytes(make())
    paid, before = Ledger(UNDISTURBED / TRACE).records, len(digests(server))
    damaged = len(paid) if damaged is None else damaged
    left = Ledger(RUN / TRACE)
    assert left.damaged_lines == damaged
    own = [call for call in left.records if call.request != "f" * 64]
    done = resumed(referee, command, RUN)
    assert done.code == 0, done.err
    if damaged:
        assert f"{damaged} damaged line(s) in {TRACE} were left out" in done.err
    assert len(digests(server)) - before == len(paid) - len(own), "a reply that is there is not paid again"
    assert_finished(RUN)
    assert content(RUN) == content(UNDISTURBED)
    assert record(RUN).usage.calls == len(paid) + (kind == "a line of another run"), "each line counts once as spent"


def test_ids_of_calls_stay_apart_after_a_damaged_line(command: tuple[object, ...]) -> None:
    (RUN / TRACE).write_bytes(b"".join([lines()[0], b"{\n", *lines()[2:]]))
    ledger = Ledger(RUN / TRACE)
    assert ledger.next_call_id() not in {call.call_id for call in ledger.records}


def test_a_ledger_that_cannot_be_read_is_named(
    referee: Referee, command: tuple[object, ...], server: FakeServer
) -> None:
    paid = digests(server)
    (RUN / TRACE).unlink()
    (RUN / TRACE).mkdir()
    assert_refused_with(resumed(referee, command, RUN), f"'run/{TRACE}'", "cannot be read", "Is a directory")
    assert digests(server) == paid


def test_what_an_older_version_left_in_the_folder_is_passed_over(
    referee: Referee, halted: tuple[object, ...], server: FakeServer
) -> None:
    """Versions before 0.3 kept states of a review in a database, whose content counts for nothing now."""
    (RUN / "checkpoints.sqlite").write_bytes(b"no database at all")
    paid, kept = digests(server), len(Ledger(RUN / TRACE).records)
    done = resumed(referee, halted, RUN)
    assert done.code == 0, done.err
    assert len(digests(server)) - len(paid) == len(Ledger(RUN / TRACE).records) - kept
    assert_finished(RUN)
    assert content(RUN) == content(UNDISTURBED)


RECORDS: dict[str, Callable[[str], str]] = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "zeros": lambda text: "\x00" * len(text),
    "a list": lambda text: "[]",
    "of another version": lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
    "with a status that is none": lambda text: text.replace('"status": "finished"', '"status": "fine"'),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_damaged_record(referee: Referee, command: tuple[object, ...], server: FakeServer, kind: str) -> None:
    paid = digests(server)
    before = {path: path.read_bytes() for path in RUN.iterdir()}
    damaged = RECORDS[kind]((RUN / RECORD).read_text())
    assert damaged != (RUN / RECORD).read_text()
    (RUN / RECORD).write_text(damaged)
    done = resumed(referee, command, RUN)
    said = ("is of a newer version", "Update referee") if kind == "of another version" else ("is damaged", "--out")
    assert_refused_with(done, f"'run/{RECORD}' {said[0]}", said[1])
    assert digests(server) == paid
    shown = referee("show", RUN)
    assert "Traceback" not in shown.err
    assert {path: path.read_bytes() for path in RUN.iterdir()} == before | {RUN / RECORD: damaged.encode()}
