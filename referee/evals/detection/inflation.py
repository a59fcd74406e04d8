"""Whether AI reviews give higher scores than people: differences of matched pairs, and the signed-rank test.

Source: the specification's section 8.7; Wilcoxon, "Individual Comparisons by Ranking Methods", 1945; Kerby, "The Simple
Difference Formula", 2014 (matched rank-biserial).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from referee.data.prose import plain_name
from referee.evals.detection.columns import Ints, Mask, Reviews
from referee.schemas.case import FieldText, ReviewCase
from referee.stats import average_ranks
from referee.stats.values import Floats, finite

FEWEST_FOR_THE_NORMAL = 6
AXES = ("soundness", "presentation", "contribution", "confidence")
"""What is compared, on forms that have it."""
RATING = "rating"
"""The overall recommendation, which pairs are matched on."""

_LEADING = re.compile(r"\s*(\d+(?:\.\d+)?)(?![\d.])")


@dataclass(frozen=True, slots=True)
class Inflation:
    """AI score less human score over pairs.

    Attributes:
        n: Pairs.
        zeros: Pairs with equal scores, which the test leaves out.
        mean: Of all differences; None without pairs.
        plus: Sum of the ranks of pairs in which the AI score is higher, W+.
        minus: Of the others, W-.
        rank_biserial: (W+ - W-) / (W+ + W-), from -1 to 1; None where no pair differs.
        p: Two-sided; None where no pair differs. To be corrected over axes and models, by ``referee.stats.holm``.
        method: ``normal`` has ties corrected for and no continuity correction; ``exact`` counts all signs, with fewer
            than six pairs that differ.
    """

    n: int
    zeros: int
    mean: float | None
    plus: float
    minus: float
    rank_biserial: float | None
    p: float | None
    method: Literal["normal", "exact", "none"]


def matched(reviews: Reviews, ai: Mask, humans: Mask, sources: Ints) -> Ints:
    """AI reviews with a human review of the same paper and form that gives it the same overall rating.

    Args:
        reviews: What is known of reviews, with their ``RATING``.
        ai: Which are the AI reviews; those without a counterpart are left out.
        humans: Which are the human reviews.
        sources: By place the id of the human review that an AI review was made from, which goes before others that
            match; else the first by id is taken.

    Returns:
        (pairs x 2), the places of the AI review and of the human one.
    """
    rating = reviews.numbers[RATING]
    keys = list(zip(reviews.paper.tolist(), reviews.form.tolist(), rating.tolist(), strict=True))
    rated = ~np.isnan(rating)
    of_paper: dict[tuple[int, int, float], list[int]] = defaultdict(list)
    for place in sorted(np.flatnonzero(humans & rated).tolist(), key=lambda at: int(reviews.review[at])):
        of_paper[keys[place]].append(place)
    found = []
    for place in np.flatnonzero(ai & rated).tolist():
        if matches := of_paper.get(keys[place]):
            found.append((place, next((one for one in matches if reviews.review[one] == sources[place]), matches[0])))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def pairs_on(reviews: Reviews, pairs: Ints, axis: str) -> Floats:
    """(pairs x 2), AI score and human score, of the pairs of which both have one on the axis."""
    scores = reviews.numbers[axis][pairs]
    return np.asarray(scores[~np.isnan(scores).any(axis=1)])


def axis_scores(case: ReviewCase) -> dict[str, float | None]:
    """The rating of a review, and its score on each axis: a number, or the one that a label such as ``3 good`` begins
    with.
    """
    held = {plain_name(name): value for name, value in case.fields.items()}
    if case.confidence is not None:
        held["confidence"] = case.confidence
    return {RATING: case.rating, **{axis: _number(held.get(axis)) for axis in AXES}}


def _number(value: FieldText) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    leading = _LEADING.match(value) if isinstance(value, str) else None
    return float(leading[1]) if leading else None


def score_inflation(pairs: Sequence[tuple[float, float]] | Floats) -> Inflation:
    """Compare AI scores with human ones of the same paper and overall recommendation.

    Args:
        pairs: AI score and human score on one axis of a form.

    Raises:
        EvaluationError: A score is not finite.
    """
    differences = finite([ai for ai, _ in pairs]) - finite([human for _, human in pairs])
    kept = differences[differences != 0]
    mean = float(differences.mean()) if len(differences) else None
    if not len(kept):
        return Inflation(len(differences), len(differences), mean, 0.0, 0.0, None, None, "none")
    ranks = average_ranks(np.abs(kept).tolist())
    plus, minus = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
    exact = len(kept) < FEWEST_FOR_THE_NORMAL
    return Inflation(
        n=len(differences),
        zeros=len(differences) - len(kept),
        mean=mean,
        plus=plus,
        minus=minus,
        rank_biserial=(plus - minus) / (plus + minus),
        p=_exact_p(ranks.tolist(), min(plus, minus)) if exact else _normal_p(kept.tolist()),
        method="exact" if exact else "normal",
    )


def _normal_p(differences: Sequence[float]) -> float:
    from scipy.stats import wilcoxon  # a second of imports that most commands do not need

    found = wilcoxon(differences, zero_method="wilcox", correction=False, method="asymptotic")
    return float(found.pvalue)


def _exact_p(ranks: Sequence[float], smaller: float) -> float:
    """The share of the patterns of signs whose smaller sum of ranks is as small; ties keep their mean ranks."""
    signs = np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks)) & 1
    sums = signs @ np.array(ranks)
    return float(np.mean(np.minimum(sums, sum(ranks) - sums) <= smaller + 1e-9))
