from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import EvaluationError
from referee.evals.behaviour.cross_reference_validity import xref_validity
from referee.evals.behaviour.cross_references import cross_references


def test_the_fixture_of_the_definition() -> None:
    found = xref_validity([0, 0, 1, 2, 3, 7], [1.5, 2, 2, 2.5, 2.4, 3])
    assert found.rho == pytest.approx(0.897059, abs=1e-6)
    assert found.counts == {"0": 2, "1": 1, "2-5": 2, ">5": 1}
    assert found.means == {"0": 1.75, "1": 2, "2-5": 2.45, ">5": 3}
    assert found.gains == {"1": pytest.approx(0.25), "2-5": pytest.approx(0.7), ">5": pytest.approx(1.25)}
    assert (found.n, found.reason) == (6, "")


def test_order_does_not_matter_and_falling_is_negative() -> None:
    assert xref_validity([7, 0, 2], [3, 1, 2]).rho == xref_validity([0, 2, 7], [1, 2, 3]).rho == pytest.approx(1)
    assert xref_validity([0, 2, 7], [3, 2, 1]).rho == pytest.approx(-1)


@pytest.mark.parametrize(
    ("xref", "specificity", "reason"),
    [
        ([], [], "fewer than two reviews"),
        ([3], [4.0], "fewer than two reviews"),
        ([1, 1, 1], [1, 2, 3], "all values are equal"),
        ([1, 2, 3], [5, 5, 5], "all values are equal"),
    ],
)
def test_what_has_no_correlation_says_why(xref: list[int], specificity: list[float], reason: str) -> None:
    found = xref_validity(xref, specificity)
    assert (found.rho, found.reason) == (None, reason)


def test_without_reviews_in_bin_0_nothing_is_gained() -> None:
    assert xref_validity([1, 2, 9], [1, 2, 3]).gains == {}


def test_what_is_no_pair_is_refused() -> None:
    with pytest.raises(EvaluationError):
        xref_validity([1, 2], [1])
    with pytest.raises(EvaluationError):
        xref_validity([-1, 2], [1, 2])
    with pytest.raises(EvaluationError):
        xref_validity([1, 2], [1, float("nan")])


def test_points_that_people_called_grounded_hold_the_references(shared_data: Path) -> None:
    """RevUtil's points: what names a part of the paper by number was rated 4 at least by people."""
    lines = (shared_data / "labelled" / "revutil_points.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    xref = [cross_references(row["review_point"]).xref for row in rows]
    labels = [float(row["human_grounding_specificity"]) for row in rows]
    assert min(label for count, label in zip(xref, labels, strict=True) if count) == 4
    found = xref_validity(xref, labels)
    assert (found.counts["0"], found.counts["1"]) == (52, 11)
    assert found.rho == pytest.approx(0.101, abs=5e-4)
