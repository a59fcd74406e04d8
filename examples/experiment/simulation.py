"""Clustered paired outcomes from a logistic model with normal effects, and its exact moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from intervals import EvaluationSet, FloatArray

MEAN_SIZE = 10.0
BASE_LOGIT = 0.5
ADVANTAGE = 0.3


@dataclass(frozen=True)
class Design:
    """One simulated setting: clusters, spread of the system-by-cluster effect, spread of the log cluster sizes."""

    clusters: int
    effect_spread: float
    size_spread: float


def sigmoid(values: FloatArray) -> FloatArray:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-values))


def cluster_sizes(clusters: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """Rounded lognormal sizes with mean about ``MEAN_SIZE`` and at least one item."""
    scaled = MEAN_SIZE * np.exp(spread * rng.standard_normal(clusters) - spread**2 / 2)
    return np.maximum(1.0, np.round(scaled))


def draw(design: Design, rng: np.random.Generator) -> EvaluationSet:
    """One evaluation set with the outcomes of both systems."""
    sizes = cluster_sizes(design.clusters, design.size_spread, rng)
    owner = np.repeat(np.arange(design.clusters), sizes.astype(int))
    difficulty = rng.standard_normal(design.clusters)[owner] + rng.standard_normal(len(owner))
    preference = design.effect_spread * rng.standard_normal(design.clusters)[owner]
    half_gap = (ADVANTAGE + preference) / 2
    right_a = rng.random(len(owner)) < sigmoid(BASE_LOGIT + difficulty + half_gap)
    right_b = rng.random(len(owner)) < sigmoid(BASE_LOGIT + difficulty - half_gap)
    wins = np.bincount(owner[right_a & ~right_b], minlength=design.clusters).astype(float)
    losses = np.bincount(owner[right_b & ~right_a], minlength=design.clusters).astype(float)
    return EvaluationSet(wins, losses, sizes)


def moments(effect_spread: float, points: int = 40) -> tuple[float, float]:
    """The true mean difference and the intra-cluster correlation of the differences, by Gauss-Hermite quadrature."""
    nodes, raw = np.polynomial.hermite_e.hermegauss(points)
    weights = raw / raw.sum()
    difficulty = BASE_LOGIT + nodes[:, None, None] + nodes[None, None, :]
    half_gap = (ADVANTAGE + effect_spread * nodes[None, :, None]) / 2
    right_a, right_b = sigmoid(difficulty + half_gap), sigmoid(difficulty - half_gap)
    given_cluster = (right_a - right_b) @ weights
    discordant = (right_a * (1 - right_b) + right_b * (1 - right_a)) @ weights
    joint = np.outer(weights, weights)
    mean = float((joint * given_cluster).sum())
    between = float((joint * given_cluster**2).sum()) - mean**2
    total = float((joint * discordant).sum()) - mean**2
    return mean, between / total
