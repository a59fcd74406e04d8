"""A disk that fills up during a run: what was flushed is kept, nothing is half-written, and ``--resume`` ends it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.runs import Ledger, RunFolder
from referee.runs.files import write_atomically
from referee.runs.lines import JsonLines
from tests.cli.command import Referee
from tests.cli.refusals import assert_finished, record, trace
from tests.support import FakeServer

from .damaged_runs import SECTIONS, asked, assert_nothing_half_written, assert_refused_with, digests, resumed
from .small_disk import Disk, filling

# What is being written when the room ends: whose method, its so-manieth call, how many replies were flushed by then,
# and what the user is told.
MOMENTS: dict[str, tuple[Callable[[], tuple[type, str]], int, int, tuple[str, ...]]] = {
    "the first reply": (lambda: (Ledger, "append"), 1, 0, ("trace.jsonl'", "No space left", "Make room")),
    "the fourth reply": (lambda: (Ledger, "append"), 4, 3, ("trace.jsonl'", "No space left", "Make room")),
    "the review": (lambda: (RunFolder, "write"), 1, 5, ("review.json'", "No space left", "Make room")),
    "the review to read": (lambda: (RunFolder, "write"), 3, 5, ("review.md'", "No space left", "Make room")),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_folder_without_room(
    referee: Referee, paper: Path, server: FakeServer, disk: Disk, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    place, at, flushed, told = MOMENTS[moment]
    run = disk.path / "run"
    arguments = asked(paper, server, strategy=SECTIONS)
    with monkeypatch.context() as patch:
        owner, name = place()
        patch.setattr(owner, name, filling(disk, getattr(owner, name), at))
        done = referee(*arguments, "--out", run)
    assert_refused_with(done, *told, f"--resume {run}")
    assert_nothing_half_written(run)
    kept = Ledger(run / "trace.jsonl") if (run / "trace.jsonl").exists() else Ledger()
    assert len(kept.records) >= flushed
    assert kept.damaged_lines == 0, "what could not be written leaves no part"
    paid = digests(server)

    disk.clear()
    done = resumed(referee, arguments, run)
    assert done.code == 0, done.err
    assert_finished(run)
    again = set(digests(server)[len(paid) :]) & set(paid)
    assert len(again) <= len(paid) - len(kept.records), "only replies that could not be flushed are asked again"
    whole = Ledger(run / "trace.jsonl").records
    assert len({call.request for call in whole}) == len(whole) == len(set(digests(server)))
    assert record(run).usage.calls == len(whole)


def test_a_new_run_on_a_full_disk_sends_nothing(referee: Referee, paper: Path, server: FakeServer, disk: Disk) -> None:
    disk.fill()
    done = referee(*asked(paper, server, "--out", disk.path / "run"))
    assert_refused_with(done, f"{str(disk.path / 'run')!r}", "No space left", "--out")
    assert digests(server) == []
    disk.clear()
    done = referee(*asked(paper, server, "--out", disk.path / "run"))
    assert done.code == 0, done.err


def test_an_old_file_stays_whole(disk: Disk) -> None:
    path = disk.path / "run.json"
    write_atomically(path, "old" * 2000)
    disk.fill()
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(path, "new" * 9000)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old" * 2000
    assert not list(disk.path.glob(".run.json*"))


def test_a_limit_on_the_size_of_files_is_named_too(
    referee: Referee, paper: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a quota does: without root and without a disk of its own."""

    def refused(trace: JsonLines, *texts: bytes, flush: bool) -> int:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", "run/trace.jsonl")

    with monkeypatch.context() as patch:
        patch.setattr(JsonLines, "append", refused)
        done = referee(*asked(paper, server, "--out", "run"))
    assert_refused_with(done, "'run/trace.jsonl'", "quota exceeded", "Make room", "--resume run")
    done = resumed(referee, asked(paper, server), Path("run"))
    assert done.code == 0, done.err
    assert len(trace(Path("run"))) == 1
