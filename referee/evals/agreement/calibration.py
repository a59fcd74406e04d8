"""Fit a rating map on papers with human ratings, and apply it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from referee.errors import EvaluationError
from referee.evals.agreement.scales import Scale
from referee.schemas.calibration import FEWEST_PAPERS, MapKnot, MeanInterval, RatingMap
from referee.stats import Interval, bootstrap_interval
from referee.stats.isotonic import interpolated, isotonic_fit

FOLDS = 10
COVERAGE = 0.9


class RatingPair(NamedTuple):
    """What a model predicted for a paper, and the mean of its human ratings."""

    paper_id: str
    predicted: float
    human: float


@dataclass(frozen=True, slots=True)
class MapName:
    """What a map holds for: a model, and the prompt it was asked with."""

    model: str
    prompt_version: str = ""
    prompt_digest: str = ""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A mapped rating with the range that holds the human mean of a share ``coverage`` of papers.

    ``offered`` is the form's value nearest to ``value``, the lower one of two.
    """

    value: float
    low: float
    high: float
    offered: float
    coverage: float


def fit_rating_map(
    pairs: Sequence[RatingPair], scale: Scale, name: MapName, *, folds: int = FOLDS, seed: int = 0
) -> RatingMap:
    """The isotonic map of predictions to human means, and its error on papers it was not fitted on.

    Papers are dealt to folds by a hash of their id; a paper's predictions stay together and each paper weighs the
    same. The map itself is fitted on all papers.

    Args:
        pairs: One or more predictions for each paper, on the form's scale.
        scale: The form's overall rating.
        name: What the map is for.
        folds: How many parts the papers are dealt into.
        seed: For folds and intervals.

    Raises:
        EvaluationError: There are fewer than 80 papers, the folds are no number from 2 to the papers, or a value lies
            outside the scale.
    """
    by_paper: dict[str, list[RatingPair]] = defaultdict(list)
    for pair in pairs:
        by_paper[pair.paper_id].append(pair)
    _check(by_paper, scale, folds)
    left_out = _cross_validated(by_paper, folds, seed)
    before = {key: [abs(p.predicted - p.human) for p in rows] for key, rows in by_paper.items()}
    after = {key: [abs(row.mapped - row.human) for row in rows] for key, rows in left_out.items()}
    constant = {key: [abs(row.constant - row.human) for row in rows] for key, rows in left_out.items()}
    change = {key: [a - b for a, b in zip(after[key], before[key], strict=True)] for key in by_paper}
    residuals = [row.human - row.mapped for rows in left_out.values() for row in rows]
    low, high = np.quantile(residuals, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return RatingMap(
        model=name.model,
        form=scale.form,
        field=scale.field,
        allowed=scale.allowed,
        prompt_version=name.prompt_version,
        prompt_digest=name.prompt_digest,
        knots=_fit([by_paper[key] for key in sorted(by_paper)]),
        papers=len(by_paper),
        folds=folds,
        seed=seed,
        mae_before=_interval(before, seed),
        mae_after=_interval(after, seed),
        mae_constant=_interval(constant, seed),
        change=_interval(change, seed),
        coverage=COVERAGE,
        residual_low=float(low),
        residual_high=float(high),
    )


def apply(rating_map: RatingMap, predicted: float) -> Mapped:
    """What a prediction comes to in human ratings; the range is cut at the ends of the form's scale."""
    value = interpolated([(knot.predicted, knot.mapped) for knot in rating_map.knots], predicted)
    bottom, top = rating_map.allowed[0], rating_map.allowed[-1]
    return Mapped(
        value=value,
        low=min(max(value + rating_map.residual_low, bottom), top),
        high=max(min(value + rating_map.residual_high, top), bottom),
        offered=min(rating_map.allowed, key=lambda allowed: abs(allowed - value)),
        coverage=rating_map.coverage,
    )


def check_fits(rating_map: RatingMap, name: MapName, form: str) -> None:
    """Refuse a map that was made for another model, form or prompt.

    Raises:
        EvaluationError: What differs is named, with both sides.
    """
    sides = (
        ("model", rating_map.model, name.model),
        ("form", rating_map.form, form),
        ("prompt version", rating_map.prompt_version, name.prompt_version),
        ("prompt digest", rating_map.prompt_digest, name.prompt_digest),
    )
    for what, made_for, used in sides:
        if made_for != used:
            raise EvaluationError(
                f"the rating map was made for the {what} {made_for!r}, not {used!r}.",
                hint="Make one with `referee arena calibrate` for this model, form and prompt.",
                ids={"model": rating_map.model, "venue": rating_map.form},
            )


@dataclass(frozen=True, slots=True)
class _LeftOut:
    human: float
    mapped: float
    constant: float


def _cross_validated(by_paper: Mapping[str, Sequence[RatingPair]], folds: int, seed: int) -> dict[str, list[_LeftOut]]:
    """Each paper's predictions, mapped by the fit on the other folds; in the order given."""
    fold_of = dealt_folds(by_paper, folds, seed)
    out: dict[str, list[_LeftOut]] = {}
    for fold in range(folds):
        others = [by_paper[key] for key in sorted(by_paper) if fold_of[key] != fold]
        knots = [(knot.predicted, knot.mapped) for knot in _fit(others)]
        constant = sum(rows[0].human for rows in others) / len(others)
        for key in (key for key in by_paper if fold_of[key] == fold):
            out[key] = [_LeftOut(p.human, interpolated(knots, p.predicted), constant) for p in by_paper[key]]
    return out


def dealt_folds(keys: Mapping[str, object], folds: int, seed: int) -> dict[str, int]:
    """The fold of each paper: shuffled by hash, then dealt in turn so that folds are of one size."""
    shuffled = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
    return {key: i % folds for i, key in enumerate(shuffled)}


def _fit(papers: Sequence[Sequence[RatingPair]]) -> tuple[MapKnot, ...]:
    rows = [(pair.predicted, pair.human, 1 / len(paper)) for paper in papers for pair in paper]
    knots = isotonic_fit(*(list(column) for column in zip(*rows, strict=True)))
    return tuple(MapKnot(predicted=knot.x, mapped=knot.y) for knot in knots)


def _interval(values: Mapping[str, Sequence[float]], seed: int) -> MeanInterval:
    """The mean over papers of each paper's mean."""
    found: Interval = bootstrap_interval({key: [sum(row) / len(row)] for key, row in values.items()}, seed=seed)
    # At least 80 papers were asked for, so there is an interval; the schema refuses None.
    return MeanInterval.model_validate({"mean": found.mean, "low": found.low, "high": found.high})


def _check(by_paper: Mapping[str, Sequence[RatingPair]], scale: Scale, folds: int) -> None:
    if len(by_paper) < FEWEST_PAPERS:
        raise EvaluationError(
            f"a rating map needs {FEWEST_PAPERS} papers with human ratings and a prediction, not {len(by_paper)}.",
            hint=f"Predict {FEWEST_PAPERS - len(by_paper)} more papers of {scale.form!r}.",
            ids={"venue": scale.form},
        )
    if not 2 <= folds <= len(by_paper):
        raise EvaluationError(f"{len(by_paper)} papers cannot be dealt into {folds!r} folds.", hint="Use 10.")
    outside = [p for rows in by_paper.values() for p in rows if not (scale.spans(p.predicted) and scale.spans(p.human))]
    if outside:
        raise EvaluationError(
            f"paper {outside[0].paper_id!r} has a rating outside the scale of {scale.form!r} "
            f"({scale.low:g} to {scale.high:g}).",
            hint="Leave invalid predictions out; check the venue and year of the rest.",
            ids={"paper": outside[0].paper_id, "venue": scale.form},
        )
