"""Whether scores rise with how much a model edited a person's review: NDCG and Kendall's tau-b over edit levels.

NDCG alone says nothing: five versions in random order already reach 0.805. So its value by chance stands beside it,
and the skill, (NDCG - chance) / (1 - chance).

Source: the specification's section 8.4 and 8.5; the benchmark paper does not define its NDCG, and this definition is
ours. Ties as in McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently in the Presence
of Tied Scores", 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from referee.errors import EvaluationError
from referee.stats.values import Floats, finite

LEVELS: Mapping[str, int] = {"original": 0, "minimum": 1, "moderate": 2, "extensive": 3, "maximum": 4}

Gain = Literal["linear", "exp"]


@dataclass(frozen=True, slots=True)
class EditOrder:
    """How well scores follow edit levels, as means over source reviews.

    Attributes:
        ndcg: In (0, 1].
        by_chance: Its mean over all orders.
        skill: 1 for the right order, 0 for chance.
        tau_b: Kendall's, mean over reviews whose scores are not all alike; None without any.
        n: Source reviews.
    """

    ndcg: float
    by_chance: float
    skill: float
    tau_b: float | None
    n: int


def ndcg(relevance: Sequence[float], scores: Sequence[float], gain: Gain = "linear") -> float:
    """Discounted gain of the order by falling score over that of the best order.

    The discount of place i from 1 is 1 / log2(i + 1); versions of equal score share the mean of their gains.

    Raises:
        EvaluationError: Lengths differ, a number is not finite, or no version has a relevance above 0.
    """
    gains, order = _gains(relevance, gain), finite(scores)
    if len(gains) != len(order):
        raise EvaluationError(
            f"{len(gains)} relevances do not go with {len(order)} scores.", hint="Give one of each a version."
        )
    discounts = _discounts(len(gains))
    _, codes, counts = np.unique(-order, return_inverse=True, return_counts=True)
    of_group = np.bincount(codes.reshape(-1), weights=gains) / counts
    ends = np.cumsum(counts)
    through = np.concatenate([[0.0], np.cumsum(discounts)])
    return float(of_group @ (through[ends] - through[ends - counts])) / _best(gains)


def ndcg_by_chance(relevance: Sequence[float], gain: Gain = "linear") -> float:
    """The mean of ``ndcg`` over all orders: what scores without any meaning reach."""
    gains = _gains(relevance, gain)
    return float(gains.mean() * _discounts(len(gains)).sum()) / _best(gains)


def edit_order(versions: Sequence[Mapping[str, float]], gain: Gain = "linear") -> EditOrder:
    """The means over source reviews.

    Args:
        versions: For each source review the scores of its versions, by level of ``LEVELS``; two levels or more.
        gain: ``exp`` takes 2^relevance - 1.

    Raises:
        EvaluationError: There is no review, a level is unknown, or one has no version above ``original``.
    """
    if not versions:
        raise EvaluationError("there are no edited reviews.", hint="Give the scores of each review's versions.")
    values, chances, taus = [], [], []
    for scores in versions:
        relevance = [_level(name) for name in scores]
        values.append(ndcg(relevance, list(scores.values()), gain))
        chances.append(ndcg_by_chance(relevance, gain))
        if len(set(scores.values())) > 1:
            taus.append(_tau_b(relevance, list(scores.values())))
    value, chance = float(np.mean(values)), float(np.mean(chances))
    skill = (value - chance) / (1 - chance) if chance < 1 else 0.0
    return EditOrder(value, chance, skill, float(np.mean(taus)) if taus else None, len(versions))


def _tau_b(relevance: Sequence[float], scores: Sequence[float]) -> float:
    from scipy.stats import kendalltau  # a second of imports that most commands do not need

    return float(kendalltau(relevance, scores).statistic)


def _level(name: str) -> int:
    if name not in LEVELS:
        raise EvaluationError(f"there is no edit level {name!r}.", hint=f"Levels: {', '.join(LEVELS)}.")
    return LEVELS[name]


def _gains(relevance: Sequence[float], gain: Gain) -> Floats:
    values = finite(relevance)
    return values if gain == "linear" else np.exp2(values) - 1


def _discounts(n: int) -> Floats:
    return np.asarray(1 / np.log2(np.arange(n) + 2), dtype=np.float64)


def _best(gains: Floats) -> float:
    best = float(np.sort(gains)[::-1] @ _discounts(len(gains)))
    if best <= 0:
        raise EvaluationError(
            "no version has a relevance above 0, so no order is better than another.",
            hint="Give at least one edited version a review.",
        )
    return best
