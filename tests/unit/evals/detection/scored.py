"""Scored review sets of any make, without a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from referee.evals.detection.calibration import Calibration, ScoredReview, calibrate
from referee.evals.detection.scores import Scores
from referee.schemas.case import ReviewCase
from tests.unit.evals.runs_of import case

MADE_BY = "loglik 1 free-text/1 aaaa"


def row(one: ReviewCase, score: float | None, made_by: str = MADE_BY, **more: object) -> ScoredReview:
    about = {"review_id": one.case_id, "paper_id": one.paper_id, "kind": one.kind, "source": one.source}
    made = {"score": score, "made_by": made_by, "status": "scored" if score is not None else "too_short"}
    return ScoredReview(**{**about, **made, "text_digest": one.case_id, **more})  # type: ignore[arg-type]


def scores_of(reviews: Sequence[ReviewCase], values: Sequence[float | None], made_by: str = MADE_BY) -> Scores:
    rows = [row(one, value, made_by) for one, value in zip(reviews, values, strict=True)]
    return Scores(
        {"loglik": rows}, {one.case_id: one for one in reviews}, {one.case_id: 50 for one in reviews}, frozenset()
    )


def humans(count: int, paper: str = "c") -> list[ReviewCase]:
    return [case(f"{paper}{at}", f"{paper}-paper{at // 2}") for at in range(count)]


def calibration(count: int = 100, targets: Sequence[float] = (0.01, 0.05, 0.1), **more: object) -> Calibration:
    """Human scores spread evenly over 0 to 1."""
    reviews = humans(count)
    rows = [row(one, float(value)) for one, value in zip(reviews, np.linspace(0, 1, count), strict=True)]
    entry = calibrate("loglik", rows, targets=targets)
    held = {"fewest_words": 10, "most_words": 400, "humans": count, **more}
    return Calibration.model_validate({"canonical_rule": "free-text/1", "detectors": (entry,), **held})
