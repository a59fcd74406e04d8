"""How a judged metric goes with what is counted in a review."""

from __future__ import annotations

import pytest

from referee.evals.correlations import ALL, correlate_metric
from referee.evals.grouping import Rows
from referee.schemas.metric import MetricResult

from .runs_of import case, result

REFERENCES = [0, 0, 1, 2, 3, 7]
SPECIFIC = [1.5, 2, 2, 2.5, 2.4, 3]


def measured(sources: str = "gggggg", papers: str = "abcdef") -> tuple[list[MetricResult], Rows]:
    results, rows = [], Rows()
    for n, (references, level) in enumerate(zip(REFERENCES, SPECIFIC, strict=True)):
        rows.add(case(f"r{n}", papers[n], source=sources[n]))
        results.append(result(f"r{n}", papers[n], metric="xref", value=references))
        parts = {"grounding": 2 * level, "verifiability": None}
        results.append(result(f"r{n}", papers[n], metric="usefulness", value=level, parts=parts))
    return results, rows


def test_the_fixture_to_the_digit_with_its_interval() -> None:
    found = correlate_metric(*measured(), "usefulness", ["xref"])
    value, grounding = found.pairs
    assert (value.quantity, grounding.quantity) == ("usefulness", "usefulness.grounding")
    assert value.rho.mean == pytest.approx(0.897059, abs=1e-6)
    assert grounding.rho.mean == value.rho.mean
    assert (value.rho.n, value.rho.clusters) == (6, 6)
    assert value.rho.low is not None
    assert value.rho.high is not None
    assert value.rho.low < 0.897 < value.rho.high <= 1


def test_means_by_bin_and_what_they_gain() -> None:
    found = correlate_metric(*measured(), "usefulness", ["xref"])
    own = [one for one in found.bins if one.quantity == "usefulness"]
    assert [(one.bin, one.reviews) for one in own] == [("0", 2), ("1", 1), ("2-5", 2), (">5", 1)]
    assert [one.mean for one in own] == [1.75, 2, pytest.approx(2.45), 3]
    assert [one.gain for one in own] == [None, 0.25, pytest.approx(0.7), 1.25]


def test_without_reviews_that_refer_to_nothing_there_is_no_gain() -> None:
    results, rows = measured()
    found = correlate_metric([one for one in results if one.case_id not in ("r0", "r1")], rows, "usefulness", ["xref"])
    assert all(one.gain is None for one in found.bins)


def test_rows_stand_apart_and_together() -> None:
    found = correlate_metric(*measured("aaabbb"), "usefulness", ["xref"])
    assert list(dict.fromkeys(one.row for one in found.pairs)) == ["a", "b", ALL]
    assert [one.rho.n for one in found.pairs if one.quantity == "usefulness"] == [3, 3, 6]


def test_one_paper_has_no_interval_and_a_constant_no_rho() -> None:
    (value, _) = correlate_metric(*measured(papers="aaaaaa"), "usefulness", ["xref"]).pairs
    assert value.rho.mean == pytest.approx(0.897059, abs=1e-6)
    assert (value.rho.low, value.rho.high) == (None, None)
    results, rows = measured()
    constant = [one.model_copy(update={"value": 3.0}) if one.metric == "xref" else one for one in results]
    assert correlate_metric(constant, rows, "usefulness", ["xref"]).pairs[0].rho.mean is None


def test_reviews_without_one_of_the_two_are_left_out() -> None:
    results, rows = measured()
    results.append(result("r5", "f", metric="usefulness", value=None))
    found = correlate_metric(
        [one for one in results if (one.case_id, one.metric) != ("r0", "xref")], rows, "usefulness", ["xref"]
    )
    assert found.pairs[0].rho.n == 5
    assert not correlate_metric(results, rows, "usefulness", ["words"]).bins
