"""Shares of statements that code proves, sources or refutes, as metrics."""

from __future__ import annotations

import asyncio
from typing import Any

from referee.evals.metric import Context
from referee.evals.registry import PRESETS, find_metrics
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from tests.unit.evidence.test_rules_material import paper

PAPER = paper("We train for 30 epochs with a batch size of 64.", "All runs share one seed.")


def measured(text: str) -> dict[str, MetricResult]:
    case = ReviewCase.model_validate(_case(text))
    context = Context(paper=PAPER)
    return {m.name: asyncio.run(m.measure(case, context)) for m in find_metrics(PRESETS["certificates"])}


def _case(text: str) -> dict[str, Any]:
    return {"case_id": "c", "paper_id": "p", "source": "human", "kind": "human", "text": text}


def test_each_share_counts_its_statements_and_names_them() -> None:
    invented = 'It says that "every model was trained by hand on paper".'
    found = measured(f"The batch size is 64 and training takes 30 epochs. {invented} Nice birds.")
    assert {name: round(result.value or 0, 3) for name, result in found.items()} == {
        "sourced_share": 0.333,
        "refuted_share": 0.333,
    }
    (refuted,) = found["refuted_share"].details["certificates"]
    assert refuted["statement"] == invented


def test_a_review_without_statements_has_no_shares() -> None:
    assert {result.status for result in measured("...").values()} == {"not_applicable"}
