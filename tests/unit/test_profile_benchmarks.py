"""The pure parts of ``benchmarks/xref_specificity.py``; no figure is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from referee.errors import EvaluationError
from referee.evals.behaviour.cross_references import cross_references

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


def test_the_fixture_of_the_definition(load: Load) -> None:
    found = load("xref_specificity").xref_validity([0, 0, 1, 2, 3, 7], [1.5, 2, 2, 2.5, 2.4, 3])
    assert found.rho == pytest.approx(0.897059, abs=1e-6)
    assert found.counts == {"0": 2, "1": 1, "2-5": 2, ">5": 1}
    assert found.means == {"0": 1.75, "1": 2, "2-5": 2.45, ">5": 3}
    assert found.gains == {"1": pytest.approx(0.25), "2-5": pytest.approx(0.7), ">5": pytest.approx(1.25)}
    assert (found.n, found.reason) == (6, "")


def test_order_does_not_matter_and_falling_is_negative(load: Load) -> None:
    assert (
        load("xref_specificity").xref_validity([7, 0, 2], [3, 1, 2]).rho
        == load("xref_specificity").xref_validity([0, 2, 7], [1, 2, 3]).rho
        == pytest.approx(1)
    )
    assert load("xref_specificity").xref_validity([0, 2, 7], [3, 2, 1]).rho == pytest.approx(-1)


@pytest.mark.parametrize(
    ("xref", "specificity", "reason"),
    [
        ([], [], "fewer than two reviews"),
        ([3], [4.0], "fewer than two reviews"),
        ([1, 1, 1], [1, 2, 3], "all values are equal"),
        ([1, 2, 3], [5, 5, 5], "all values are equal"),
    ],
)
def test_what_has_no_correlation_says_why(load: Load, xref: list[int], specificity: list[float], reason: str) -> None:
    found = load("xref_specificity").xref_validity(xref, specificity)
    assert (found.rho, found.reason) == (None, reason)


def test_without_reviews_in_bin_0_nothing_is_gained(load: Load) -> None:
    assert load("xref_specificity").xref_validity([1, 2, 9], [1, 2, 3]).gains == {}


def test_what_is_no_pair_is_refused(load: Load) -> None:
    with pytest.raises(EvaluationError):
        load("xref_specificity").xref_validity([1, 2], [1])
    with pytest.raises(EvaluationError):
        load("xref_specificity").xref_validity([-1, 2], [1, 2])
    with pytest.raises(EvaluationError):
        load("xref_specificity").xref_validity([1, 2], [1, float("nan")])


def test_points_that_people_called_grounded_hold_the_references(load: Load, shared_data: Path) -> None:
    """RevUtil's points: what names a part of the paper by number was rated 4 at least by people."""
    lines = (shared_data / "labelled" / "revutil_points.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    xref = [cross_references(row["review_point"]).xref for row in rows]
    labels = [float(row["human_grounding_specificity"]) for row in rows]
    assert min(label for count, label in zip(xref, labels, strict=True) if count) == 4
    found = load("xref_specificity").xref_validity(xref, labels)
    assert (found.counts["0"], found.counts["1"]) == (52, 11)
    assert found.rho == pytest.approx(0.101, abs=5e-4)
