"""The pure parts of ``benchmarks/xref_specificity.py``; no figure is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[[str], ModuleType]


def test_reviews_of_two_runs_are_joined_by_id(load: Load, tmp_path: Path) -> None:
    module = load("xref_specificity")

    def insights(*specific: int) -> dict[str, object]:
        found = [{"kind": "criticism", "specificity": one} for one in specific]
        return {"readings": [{"insights": [*found, {"kind": "suggestion", "specificity": 1}]}]}

    about = {"metric": "constructiveness", "status": "scored"}
    results = [
        {**about, "case_id": "a", "paper_id": "p", "details": insights(1, 0)},
        {**about, "case_id": "b", "paper_id": "p", "details": insights(1, 1)},
        {**about, "case_id": "unprofiled", "paper_id": "p", "details": insights(1)},
        {**about, "case_id": "c", "paper_id": "q", "details": insights()},
        {**about, "case_id": "d", "paper_id": "q", "status": "failed", "details": {}},
    ]
    profiled = [{"case_id": name, "values": {"xref": n}} for n, name in enumerate("abcd")]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results))
    (tmp_path / "profile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in profiled))
    units = module.reviews(tmp_path, tmp_path)
    assert [tuple(one) for one in units] == [("p", 0, 0.5), ("p", 1, 1.0)]
    assert module.interval(units) is None, "one paper has no interval"
    assert list(module.lines("reviews", units)) == [
        "reviews: n 2, rho 1.000",
        "    0 references: n 1, mean specificity 0.500",
        "    1 references: n 1, mean specificity 1.000, gain +0.500",
    ]


@pytest.mark.shared_data
def test_points_are_read_with_either_rater_s_labels(load: Load, shared_data: Path) -> None:
    module = load("xref_specificity")
    for who in module.WHO:
        units = module.points(shared_data, who)
        assert len(units) == 63
        low, high = module.interval(units)
        assert low < module.validity(units).rho < high
