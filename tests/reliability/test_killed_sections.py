"""``kill -9`` six times over runs of ``sections`` and their resumed parts; a hundred by ``benchmarks/bad_days.py``."""

from __future__ import annotations

from pathlib import Path

from .disturbance import benchmark


def test_killed_at_random_moments(paper: Path, folder: Path) -> None:
    (folder / "runs").mkdir()
    tally = benchmark("kills").killed_runs(paper, folder / "runs", kills=6, seed=2)
    print(f"replies on the disk when killed: {dict(tally.kept)}; calls cut off: {tally.lost}")
    assert tally.kills == 6
    assert tally.paid_again == 0
    assert tally.differing == []
    assert len(tally.kept) > 2, "the kills did not fall into the life of the runs"
