"""Two small classifiers trained on grouped data, and a large pool of groups on which both were run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from intervals import EvaluationSet, FloatArray
from numpy.typing import NDArray
from simulation import cluster_sizes, sigmoid

FEATURES = 8
TRAIN_GROUPS = 60
POOL_GROUPS = 6000
SIZE_SPREAD = 0.5
HIDDEN = 16
STEPS = 400
RATE = 0.02
PENALTY = 1e-3


@dataclass(frozen=True)
class Pool:
    """The outcomes of both classifiers on all groups of the pool."""

    outcomes: EvaluationSet
    accuracy_linear: float
    accuracy_mlp: float
    correlation: float

    def led(self) -> NDArray[np.bool_]:
        """Which groups the MLP leads by more than 30 points."""
        return self.outcomes.sums / self.outcomes.sizes > 0.3

    def sample(self, clusters: int, rng: np.random.Generator) -> EvaluationSet:
        """An evaluation set of ``clusters`` groups, drawn without replacement."""
        chosen = rng.choice(len(self.outcomes.sizes), size=clusters, replace=False)
        whole = self.outcomes
        return EvaluationSet(whole.wins[chosen], whole.losses[chosen], whole.sizes[chosen])


def grouped_data(groups: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Features, labels, the group of each item, and the group sizes.

    A group shifts its items' features, so it decides in which region of the input space they lie.
    """
    sizes = cluster_sizes(groups, SIZE_SPREAD, rng)
    owner = np.repeat(np.arange(groups), sizes.astype(int))
    centre = rng.standard_normal((groups, FEATURES))
    features = centre[owner] + 0.35 * rng.standard_normal((len(owner), FEATURES))
    score = features[:, 0] + features[:, 1] - 0.5 * features[:, 2] + 0.8 * features[:, 3] * features[:, 4]
    labels = (score + 0.5 * rng.standard_normal(len(owner)) > 0).astype(float)
    return features, labels, owner.astype(float), sizes


def train_linear(features: FloatArray, labels: FloatArray) -> FloatArray:
    """Ridge-penalised logistic regression by Newton's method; the last weight is the intercept."""
    design = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(design.shape[1])
    for _ in range(20):
        fitted = sigmoid(design @ weights)
        gradient = design.T @ (fitted - labels) / len(labels) + PENALTY * weights
        curvature = (design * (fitted * (1 - fitted))[:, None]).T @ design / len(labels)
        weights = weights - np.linalg.solve(curvature + PENALTY * np.eye(len(weights)), gradient)
    return weights


def train_mlp(features: FloatArray, labels: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """One hidden tanh layer, full-batch Adam on the penalised log loss."""
    shapes = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
    weights = [0.3 * rng.standard_normal(shape) if len(shape) == 2 else np.zeros(shape) for shape in shapes]
    first, second = [np.zeros(s) for s in shapes], [np.zeros(s) for s in shapes]
    for step in range(1, STEPS + 1):
        hidden = np.tanh(features @ weights[0] + weights[1])
        slope = (sigmoid(hidden @ weights[2] + weights[3]) - labels[:, None]) / len(labels)
        back = (slope @ weights[2].T) * (1 - hidden**2)
        gradients = [features.T @ back, back.sum(axis=0), hidden.T @ slope, slope.sum(axis=0)]
        for k, gradient in enumerate(gradients):
            full = gradient + PENALTY * weights[k]
            first[k] = 0.9 * first[k] + 0.1 * full
            second[k] = 0.999 * second[k] + 0.001 * full**2
            scale = np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8
            weights[k] = weights[k] - RATE * first[k] / (1 - 0.9**step) / scale
    return weights


def correlation_of(outcomes: EvaluationSet) -> float:
    """The intra-cluster correlation of the differences by the one-way analysis-of-variance estimator."""
    sums, sizes, groups = outcomes.sums, outcomes.sizes, len(outcomes.sizes)
    between = float((sizes * (sums / sizes - outcomes.estimate) ** 2).sum()) / (groups - 1)
    squares = float((outcomes.wins + outcomes.losses).sum() - (sums**2 / sizes).sum())
    within = squares / (outcomes.items - groups)
    typical = (outcomes.items - float((sizes**2).sum()) / outcomes.items) / (groups - 1)
    return (between - within) / (between + (typical - 1) * within)


def build_pool(seed: int) -> Pool:
    """Train both classifiers once with ``seed`` and run them on the pool; system A is the MLP."""
    rng = np.random.default_rng([2026, 7, seed])
    features, labels, _, _ = grouped_data(TRAIN_GROUPS, rng)
    linear, mlp = train_linear(features, labels), train_mlp(features, labels, rng)
    features, labels, owner, sizes = grouped_data(POOL_GROUPS, rng)
    says_linear = features @ linear[:-1] + linear[-1] > 0
    says_mlp = (np.tanh(features @ mlp[0] + mlp[1]) @ mlp[2] + mlp[3])[:, 0] > 0
    right_a, right_b = says_mlp == (labels > 0.5), says_linear == (labels > 0.5)
    members = owner.astype(int)
    wins = np.bincount(members[right_a & ~right_b], minlength=POOL_GROUPS).astype(float)
    losses = np.bincount(members[right_b & ~right_a], minlength=POOL_GROUPS).astype(float)
    outcomes = EvaluationSet(wins, losses, sizes)
    return Pool(outcomes, float(right_b.mean()), float(right_a.mean()), correlation_of(outcomes))
