"""Outcomes of a metric: a value with what led to it, or a reason."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from referee.evals.metric import Foreseeing, Known, Load, Metric, failed, not_applicable, scored
from referee.schemas.usage import Usage

from .runs_of import Words, case


def test_a_score_holds_what_led_to_it() -> None:
    found = scored(Words(), case("a", source="gpt"), 0.75, parts={"f1": 0.5}, details={"n": 4}, usage=Usage(calls=2))
    assert (found.case_id, found.paper_id, found.source, found.metric, found.version) == (
        "a",
        "p1",
        "gpt",
        "words",
        "1",
    )
    assert (found.status, found.value, found.parts, found.details, found.usage.calls) == (
        "scored",
        0.75,
        {"f1": 0.5},
        {"n": 4},
        2,
    )


@pytest.mark.parametrize("outcome", [not_applicable, failed])
def test_what_has_no_value_has_a_reason(outcome: object) -> None:
    found = outcome(Words(), case("a"), "the review is empty")  # type: ignore[operator]
    assert (found.value, found.reason) == (None, "the review is empty")
    with pytest.raises(ValidationError, match="needs a reason"):
        outcome(Words(), case("a"), "")  # type: ignore[operator]


def test_a_metric_is_told_by_its_parts() -> None:
    class Foresees(Words):
        def load(self, case: object, known: Known) -> Load:
            return Load(judged=known.references)

    assert isinstance(Words(), Metric)
    assert not isinstance(object(), Metric)
    assert not isinstance(Words(), Foreseeing)
    assert isinstance(Foresees(), Foreseeing)
