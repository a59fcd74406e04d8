"""What becomes of a run when its workers are killed, fail, or meet a limit: with an engine that plays this."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.api.workers import run_shards
from referee.errors import BudgetExceeded, RunError
from referee.runs import RunFolder
from referee.runs.engines import KILLED, Ended, Work
from referee.runs.folder import read_record

OVER_BUDGET, FAILED = 3, 2


class Played:
    """Ends shards with the codes that are laid out for them, one after the other; 0 writes what a shard leaves."""

    def __init__(self, codes: Mapping[int, list[int]]) -> None:
        self._codes = {number: list(of) for number, of in codes.items()}
        self._waiting: list[Work] = []
        self.started: list[tuple[int, bool]] = []
        self.closed = False

    def open(self, folder: Path) -> str:
        return "limits"

    def start(self, work: Work, environment: Mapping[str, str]) -> None:
        assert environment == {"REFEREE_CALLS__SHARED_LIMITS": "limits"}
        self.started.append((work.number, len(self._waiting) == 0))
        self._waiting.append(work)

    def any(self) -> bool:
        return bool(self._waiting)

    def wait(self) -> Ended:
        work = self._waiting.pop(0)
        code = self._codes[work.number].pop(0)
        work.log.write_text(
            "some line\n" if code == KILLED else f"error: the sky fell on {work.number}\n  next: wait\n"
        )
        if code == -signal.SIGINT:
            raise KeyboardInterrupt
        return Ended(work.number, code)

    def stop(self, *, limited: bool) -> None:
        self._waiting.clear()

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with RunFolder.create(
        folder,
        command="eval",
        inputs={"set": "x"},
        settings={},
        models={},
        prompts={},
        package_version="1",
        workers=3,
    ):
        return folder


@pytest.mark.parametrize(
    ("codes", "said", "started"),
    [
        ({1: [0], 2: [KILLED] * 3, 3: [0]}, "shard 2/3 failed: its process was killed 3 times", [1, 2, 3, 2, 2]),
        ({1: [FAILED], 2: [0], 3: [FAILED]}, r"shard 1/3 \(and 1 more\) failed: the sky fell on 1", [1, 2, 3]),
        ({1: [OVER_BUDGET], 2: [FAILED], 3: [0]}, "shard 2/3 failed", [1, 2, 3]),
    ],
)
def test_a_shard_that_does_not_finish_is_named(
    run: Path, codes: dict[int, list[int]], said: str, started: list[int]
) -> None:
    engine = Played(codes)
    with pytest.raises(RunError, match=said) as failure:
        run_shards(run, ["eval"], engine, say=lambda text: None)
    assert f"--resume {run}" in failure.value.hint
    assert [number for number, _ in engine.started] == started
    assert engine.closed
    assert read_record(run).status == "failed"


def test_shards_that_a_limit_ended_are_tried_again_alone_until_one_meets_it_again(run: Path) -> None:
    engine = Played({1: [OVER_BUDGET, 0], 2: [OVER_BUDGET, OVER_BUDGET], 3: [OVER_BUDGET]})
    with pytest.raises(BudgetExceeded, match="a limit ended shard 2/3"):
        run_shards(run, ["eval"], engine, say=lambda text: None)
    assert engine.started == [(1, True), (2, False), (3, False), (1, True), (2, True)]
    assert read_record(run).status == "stopped"


def test_an_interrupt_leaves_the_run_to_be_resumed(run: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_shards(run, ["eval"], Played({1: [-signal.SIGINT], 2: [], 3: []}), say=lambda text: None)
    assert (read_record(run).status, read_record(run).error) == ("stopped", "interrupted")
