"""Several statistics made one score: standardised features, and a logistic regression with an L2 penalty.

minimise |w|^2 / 2 + C sum over texts of c_i log(1 + exp(-y_i (w x_i + b))), the weights c_i such that both classes
count alike (n / 2 n_class), b not penalised. The score is the log-odds w x + b. A threshold is never taken from scores
of texts that the weights were fitted on: for that there are out-of-fold scores, whole papers left out.

Source: the specification's section 6.2; the objective is scikit-learn's of LogisticRegression(C=1,
class_weight="balanced"), here by Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from referee.errors import EvaluationError
from referee.evals.agreement.calibration import dealt_folds
from referee.schemas.base import Frozen
from referee.stats.values import Floats, finite

Rows = Sequence[Sequence[float]] | Floats
Classes = Sequence[bool] | NDArray[np.bool_]

FOLDS = 5
PENALTY = 1.0
_MOST_STEPS = 100
_SMALL_STEP = 1e-10
_ROUNDING = 1e-9


class FittedFeatures(Frozen):
    """Weights of standardised features; ``score`` is their log-odds of AI.

    ``folds`` and ``seed`` are those of the out-of-fold scores, from which thresholds are taken.
    """

    schema_version: Literal[1] = 1
    names: tuple[str, ...] = Field(min_length=1)
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    penalty: float = PENALTY
    humans: int = Field(ge=1)
    ais: int = Field(ge=1)
    folds: int = FOLDS
    seed: int = 0

    def score(self, features: Sequence[float]) -> float:
        """The log-odds of AI of one text's features.

        Raises:
            EvaluationError: Their number differs, or one is not finite.
        """
        row = finite(features)
        if len(row) != len(self.weights):
            raise EvaluationError(
                f"{len(row)} features were given where {', '.join(self.names)} were fitted.",
                hint="Fit them anew on features of the same detector.",
            )
        return float(self.scores(row[None, :])[0])

    def scores(self, rows: Floats) -> Floats:
        """The same of many texts: (texts x features)."""
        return np.asarray(self.intercept + ((rows - self.means) / self.scales) @ np.array(self.weights))


def fit_features(rows: Rows, is_ai: Classes, names: Sequence[str], *, seed: int = 0) -> FittedFeatures:
    """Fit on all texts that are given.

    Args:
        rows: Features of each text.
        is_ai: Its class.
        names: What the features are.
        seed: Recorded; it says how the folds of ``out_of_fold`` are dealt.

    Raises:
        EvaluationError: One class is absent, a number is not finite, or lengths differ.
    """
    x, y = _checked(rows, is_ai)
    means = x.mean(axis=0)
    # A feature that varies by rounding alone says nothing. Divided by that, it would decide every other text.
    spread = x.std(axis=0)
    varies = spread > _ROUNDING * np.abs(x).max(axis=0)
    scales = np.where(varies, spread, 1.0)
    weights = _newton(np.where(varies, (x - means) / scales, 0.0), y)
    return FittedFeatures(
        names=tuple(names),
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        weights=tuple(weights[:-1].tolist()),
        intercept=float(weights[-1]),
        humans=int((~y).sum()),
        ais=int(y.sum()),
        seed=seed,
    )


def out_of_fold(rows: Rows, is_ai: Classes, papers: Sequence[str], *, folds: int = FOLDS, seed: int = 0) -> list[float]:
    """The score of each text by weights that were fitted without any text of its paper, in the order given.

    Args:
        rows: Features of each text.
        is_ai: Its class.
        papers: Its paper; papers are dealt to folds by a hash of their ids.
        folds: How many parts.
        seed: For the hash.

    Raises:
        EvaluationError: There are fewer papers than folds, or a fold leaves one class empty.
    """
    x, y = _checked(rows, is_ai)
    if not 2 <= folds <= len(set(papers)):
        raise EvaluationError(
            f"{len(set(papers))} papers cannot be dealt into {folds} folds.",
            hint="Calibrate on reviews of more papers.",
        )
    fold_of = dealt_folds(dict.fromkeys(papers), folds, seed)
    of_row = np.array([fold_of[paper] for paper in papers])
    names = [str(number) for number in range(x.shape[1])]
    scores = np.empty(len(y))
    for fold in range(folds):
        left_out = of_row == fold
        scores[left_out] = fit_features(x[~left_out], y[~left_out], names, seed=seed).scores(x[left_out])
    return [float(score) for score in scores]


def _newton(x: Floats, y: NDArray[np.bool_]) -> Floats:
    """Weights, the intercept last. Steps are halved until the loss falls, so that separable classes do no harm."""
    design = np.column_stack([x, np.ones(len(x))])
    target = np.where(y, 1.0, -1.0)
    balance = PENALTY * np.where(y, len(y) / (2 * y.sum()), len(y) / (2 * (~y).sum()))
    ridge = np.append(np.ones(x.shape[1]), 0.0)
    weights = np.zeros(design.shape[1])

    def loss(at: Floats) -> float:
        return float((ridge * at**2).sum() / 2 + (balance * np.logaddexp(0.0, -target * (design @ at))).sum())

    for _ in range(_MOST_STEPS):
        margins = target * (design @ weights)
        doubt = np.exp(-np.logaddexp(0.0, margins))
        slope = ridge * weights - design.T @ (balance * target * doubt)
        curve = (design.T * (balance * doubt * (1 - doubt))) @ design + np.diag(ridge + 1e-12)
        step = np.linalg.solve(curve, slope)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > _SMALL_STEP:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() <= _SMALL_STEP:
            break
    return weights


def _checked(rows: Rows, is_ai: Classes) -> tuple[Floats, NDArray[np.bool_]]:
    y = np.asarray(is_ai, dtype=bool)
    if len(rows) != len(y) or not y.any() or y.all():
        raise EvaluationError(
            f"a classifier needs texts of both classes, not {int(y.sum())} by AI and {int((~y).sum())} by people "
            f"with {len(rows)} rows of features.",
            hint="Give human and AI reviews, each with its features.",
        )
    x = np.array(rows, dtype=np.float64)
    finite(x)
    return x, y
