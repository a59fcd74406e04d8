"""Scored review sets of any make, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from referee.evals.detection.calibration import Calibration, calibrate
from referee.evals.detection.columns import ScoredReview, ScoreTable, rows_of
from referee.evals.detection.inflation import AXES, RATING, axis_scores
from referee.evals.detection.scores import LEVEL, SOURCE_REVIEW, TASK, Scores
from referee.schemas.case import ReviewCase
from tests.unit.evals.runs_of import case

MADE_BY = "loglik 1 free-text/1 aaaa"


def row(one: ReviewCase, score: float | None, made_by: str = MADE_BY, **more: object) -> ScoredReview:
    about = {"review_id": one.case_id, "paper_id": one.paper_id, "kind": one.kind, "source": one.source}
    made = {"score": score, "made_by": made_by, "status": "scored" if score is not None else "too_short"}
    return ScoredReview(**{**about, **made, "text_digest": one.case_id, **more})  # type: ignore[arg-type]


def scores_of(reviews: Sequence[ReviewCase], values: Sequence[float | None], made_by: str = MADE_BY) -> Scores:
    return scores_by(
        {"loglik": [row(one, value, made_by) for one, value in zip(reviews, values, strict=True)]}, reviews
    )


def scores_by(rows: Mapping[str, Sequence[ScoredReview]], reviews: Sequence[ReviewCase]) -> Scores:
    """Each detector's rows stand in the order of the reviews; a review's digest is its id."""
    columns = {SOURCE_REVIEW, TASK, LEVEL, *(name for one in reviews for name in one.extra)}
    table = ScoreTable(sorted(columns), (RATING, *AXES))
    places = [table.add(one, one.case_id, axis_scores(one)) for one in reviews]
    for detector, own in rows.items():
        for place, scored in zip(places, own, strict=True):
            table.put(place, detector, scored)
    known, found = table.finished()
    many = len(reviews)
    return Scores(found, known, np.full(many, 50), np.zeros(many, dtype=bool))


def humans(count: int, paper: str = "c") -> list[ReviewCase]:
    return [case(f"{paper}{at}", f"{paper}-paper{at // 2}") for at in range(count)]


def calibration(count: int = 100, targets: Sequence[float] = (0.01, 0.05, 0.1), **more: object) -> Calibration:
    """Human scores spread evenly over 0 to 1."""
    reviews = humans(count)
    rows = [row(one, float(value)) for one, value in zip(reviews, np.linspace(0, 1, count), strict=True)]
    entry = calibrate("loglik", rows_of(rows), targets=targets)
    held = {"fewest_words": 10, "most_words": 400, "humans": count, **more}
    return Calibration.model_validate({"canonical_rule": "free-text/1", "detectors": (entry,), **held})
