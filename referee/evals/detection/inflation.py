"""Whether AI reviews give higher scores than people: differences of matched pairs, and the signed-rank test.

Source: the specification's section 8.7; Wilcoxon, "Individual Comparisons by Ranking Methods", 1945; Kerby, "The Simple
Difference Formula", 2014 (matched rank-biserial).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from referee.stats import average_ranks
from referee.stats.values import finite

FEWEST_FOR_THE_NORMAL = 6


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
