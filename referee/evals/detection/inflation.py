"""Whether AI reviews give higher scores than people: differences of matched pairs, and the signed-rank test.

Source: the specification's section 8.7; Wilcoxon, "Individual Comparisons by Ranking Methods", 1945; Kerby, "The Simple
Difference Formula", 2014 (matched rank-biserial).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from referee.data.prose import plain_name
from referee.schemas.case import ReviewCase
from referee.stats import average_ranks
from referee.stats.values import finite

FEWEST_FOR_THE_NORMAL = 6
AXES = ("soundness", "presentation", "contribution", "confidence")
"""What is compared, on forms that have it; the overall recommendation is what pairs are matched on."""

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


def matched_pairs(
    ai: Sequence[ReviewCase],
    humans: Sequence[ReviewCase],
    axis: str,
    origins: Mapping[str, str] | None = None,
) -> list[tuple[float, float]]:
    """AI and human scores on an axis, of reviews of one paper on one form that give it the same overall rating.

    Args:
        ai: AI reviews; those without a counterpart, or without a score on the axis, are left out.
        humans: Human reviews.
        axis: A field of the form by its plain name, or ``confidence``.
        origins: By AI review the human review it was made from, which goes before others that match; else the first
            by id is taken.
    """
    of_paper: dict[tuple[str, str | None, float | None], list[ReviewCase]] = defaultdict(list)
    for case in sorted(humans, key=lambda case: case.case_id):
        of_paper[case.paper_id, case.venue, case.rating].append(case)
    found = []
    for case in ai:
        if case.rating is None or not (matches := of_paper.get((case.paper_id, case.venue, case.rating))):
            continue
        origin = (origins or {}).get(case.case_id)
        match = next((one for one in matches if one.case_id == origin), matches[0])
        scores = _on_axis(case, axis), _on_axis(match, axis)
        found += [(scores[0], scores[1])] if scores[0] is not None and scores[1] is not None else []
    return found


def _on_axis(case: ReviewCase, axis: str) -> float | None:
    """A number, or the number that a label such as ``3 good`` begins with."""
    held = {plain_name(name): value for name, value in case.fields.items()}
    value = case.confidence if axis == "confidence" and case.confidence is not None else held.get(axis)
    if isinstance(value, int | float):
        return float(value)
    leading = _LEADING.match(value) if isinstance(value, str) else None
    return float(leading[1]) if leading else None


def score_inflation(pairs: Sequence[tuple[float, float]]) -> Inflation:
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
