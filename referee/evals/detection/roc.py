"""How well scores tell two classes apart: the ROC curve, areas under it and under the precision-recall curve.

No point of the curve is left out, since thresholds at low rates lie on points that look superfluous.

Source: the specification's section 8.2; McClish, "Analyzing a Portion of the ROC Curve", 1989 (partial area).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.errors import EvaluationError
from referee.stats import cliffs_delta
from referee.stats.values import Floats, finite

Scores = Sequence[float] | Floats
Papers = Sequence[str] | NDArray[np.int64]

PARTIAL_BELOW = 0.01


@dataclass(frozen=True, slots=True)
class Curve:
    """The ROC curve from (0, 0) to (1, 1), one point for each distinct score, highest first.

    ``thresholds[i]`` is the score from which on texts count at point i; infinity at the first.
    """

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def roc_curve(humans: Scores, ai: Scores) -> Curve:
    """The curve with all its points.

    Raises:
        EvaluationError: A class is empty, or a score is not finite.
    """
    values, human, machine = _counts(humans, ai)
    return Curve(
        np.concatenate([[np.inf], values]),
        np.concatenate([[0.0], np.cumsum(human) / len(humans)]),
        np.concatenate([[0.0], np.cumsum(machine) / len(ai)]),
    )


def roc_auc(humans: Scores, ai: Scores) -> float | None:
    """The share of pairs in which the AI text has the higher score, ties half; None where a class is empty.

    Raises:
        EvaluationError: A score is not finite.
    """
    delta = cliffs_delta(ai, humans)
    return None if delta is None else (delta + 1) / 2


def partial_auc(humans: Scores, ai: Scores, below: float = PARTIAL_BELOW) -> float:
    """The area where the false-positive rate is at most ``below``, standardised: 0.5 is chance and 1 the best.

    Raises:
        EvaluationError: A class is empty, or a score is not finite.
    """
    curve = roc_curve(humans, ai)
    fpr, tpr = curve.false_positive_rate, curve.true_positive_rate
    kept = fpr <= below
    edge = float(np.interp(below, fpr, tpr))
    area = float(np.trapezoid(np.append(tpr[kept], edge), np.append(fpr[kept], below)))
    chance = below**2 / 2
    return 0.5 * (1 + (area - chance) / (below - chance))


def pr_auc(humans: Scores, ai: Scores) -> float:
    """The area under precision over recall, by trapezoids, from recall 0 and precision 1.

    Raises:
        EvaluationError: A class is empty, or a score is not finite.
    """
    _, human, machine = _counts(humans, ai)
    found = np.cumsum(machine)
    recall = np.concatenate([[0.0], found / len(ai)])
    precision = np.concatenate([[1.0], found / (found + np.cumsum(human))])
    return float(np.trapezoid(precision, recall))


@dataclass(frozen=True, slots=True)
class ResampledAuc:
    """AUROC in resamples: mean, smallest, largest and the 95% interval; None where no resample has both classes."""

    mean: float | None
    smallest: float | None
    largest: float | None
    low: float | None
    high: float | None
    resamples: int


def resampled_auc(
    humans: Scores,
    ai: Scores,
    *,
    seed: int,
    resamples: int = 1000,
    human_papers: Papers | None = None,
    ai_papers: Papers | None = None,
) -> ResampledAuc:
    """AUROC where reviews are drawn with replacement, each class by itself; with papers, whole papers of both classes.

    Args:
        humans: Scores of human texts.
        ai: Scores of AI texts.
        seed: Same seed and scores, same resamples.
        resamples: How many.
        human_papers: The paper of each human text.
        ai_papers: The paper of each AI text.

    Raises:
        EvaluationError: A class is empty, a score is not finite, or papers are given for one class alone.
    """
    if (human_papers is None) != (ai_papers is None):
        raise EvaluationError(
            "papers were given for one class alone.", hint="Give the papers of human and AI reviews, or of neither."
        )
    values, codes = np.unique(np.concatenate([finite(humans), finite(ai)]), return_inverse=True)
    drawn = _weights(len(humans), len(ai), human_papers, ai_papers, np.random.default_rng(seed), resamples)
    n = len(humans)
    areas = []
    for weights in drawn:
        below = np.bincount(codes[:n], weights[:n], len(values))
        above = np.bincount(codes[n:], weights[n:], len(values))
        pairs = below.sum() * above.sum()
        if pairs:
            areas.append(float(above @ (np.cumsum(below) - below / 2) / pairs))
    if not areas:
        return ResampledAuc(None, None, None, None, None, 0)
    low, high = (float(end) for end in np.quantile(areas, [0.025, 0.975]))
    return ResampledAuc(float(np.mean(areas)), min(areas), max(areas), low, high, len(areas))


def _weights(
    humans: int,
    ai: int,
    human_papers: Papers | None,
    ai_papers: Papers | None,
    rng: np.random.Generator,
    resamples: int,
) -> Iterator[Floats]:
    """How often each text, the humans' first, is in each resample."""
    if human_papers is None or ai_papers is None:
        for _ in range(resamples):
            own, other = (np.bincount(rng.integers(size, size=size), minlength=size) for size in (humans, ai))
            yield np.concatenate([own, other]).astype(np.float64)
        return
    names, paper_of = np.unique(np.concatenate([human_papers, ai_papers]), return_inverse=True)
    for _ in range(resamples):
        times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        yield times[paper_of].astype(np.float64)


def _counts(humans: Scores, ai: Scores) -> tuple[Floats, Floats, Floats]:
    """The distinct scores from the highest, and how many texts of each class have them."""
    if not len(humans) or not len(ai):
        raise EvaluationError(
            f"a curve needs scores of both classes, not {len(humans)} human and {len(ai)} AI ones.",
            hint="Score human and AI reviews; those without a score do not count.",
        )
    values, codes = np.unique(np.concatenate([finite(humans), finite(ai)]), return_inverse=True)
    human = np.bincount(codes[: len(humans)], minlength=len(values))[::-1]
    machine = np.bincount(codes[len(humans) :], minlength=len(values))[::-1]
    return values[::-1], human.astype(np.float64), machine.astype(np.float64)
