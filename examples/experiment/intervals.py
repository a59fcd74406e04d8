"""Six confidence intervals for a mean paired difference over clustered items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
METHODS = ("item-normal", "item-boot", "cluster-normal", "cluster-t", "cluster-boot", "cluster-boot-t")
LEVEL = 0.95
RESAMPLES = 999
NORMAL_QUANTILE = 1.959963984540054


@dataclass(frozen=True)
class EvaluationSet:
    """Paired outcomes of systems A and B, kept as counts per cluster.

    ``wins`` counts the items that only A has right, ``losses`` those that only B has right, ``sizes`` all items.
    """

    wins: FloatArray
    losses: FloatArray
    sizes: FloatArray

    @property
    def sums(self) -> FloatArray:
        """Per cluster, the sum of the item differences."""
        return self.wins - self.losses

    @property
    def items(self) -> float:
        """The number of items."""
        return float(self.sizes.sum())

    @property
    def estimate(self) -> float:
        """The mean difference over all items."""
        return float(self.sums.sum()) / self.items

    @property
    def skewness(self) -> float:
        """The skewness of the cluster residuals, sum minus size times estimate."""
        residuals = self.sums - self.sizes * self.estimate
        return float((residuals**3).mean() / (residuals**2).mean() ** 1.5)


def t_quantile(degrees: int, probability: float = 0.5 + LEVEL / 2) -> float:
    """The upper quantile of Student's t, by bisection on Simpson's rule (absolute error below 1e-8)."""
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    weights = np.ones(2001)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    low, high = 0.0, 50.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        grid = np.linspace(0.0, middle, 2001)
        density = constant * (1 + grid**2 / degrees) ** (-(degrees + 1) / 2)
        mass = 0.5 + float(weights @ density) * (grid[1] - grid[0]) / 3
        low, high = (middle, high) if mass < probability else (low, middle)
    return (low + high) / 2


def item_error(data: EvaluationSet) -> float:
    """The standard error that treats all items as independent."""
    squares = float((data.wins + data.losses).sum()) - data.items * data.estimate**2
    return math.sqrt(squares / (data.items * (data.items - 1)))


def cluster_error(data: EvaluationSet) -> float:
    """The cluster-robust standard error without small-sample factor."""
    residuals = data.sums - data.sizes * data.estimate
    return math.sqrt(float((residuals**2).sum())) / data.items


def closed_form(data: EvaluationSet, t_value: float) -> dict[str, tuple[float, float]]:
    """The three intervals that need no resampling; ``t_value`` is the t quantile with G - 1 degrees of freedom."""
    clusters = len(data.sizes)
    corrected = cluster_error(data) * math.sqrt(clusters / (clusters - 1))
    half = {
        "item-normal": NORMAL_QUANTILE * item_error(data),
        "cluster-normal": NORMAL_QUANTILE * cluster_error(data),
        "cluster-t": t_value * corrected,
    }
    return {name: (data.estimate - width, data.estimate + width) for name, width in half.items()}


def resampled(data: EvaluationSet, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """The three bootstrap intervals, with ``RESAMPLES`` resamples each; both cluster ones share their resamples."""
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    wins, losses, items = float(data.wins.sum()), float(data.losses.sum()), int(data.items)
    shares = [wins / items, losses / items, (items - wins - losses) / items]
    counts = rng.multinomial(items, shares, size=RESAMPLES)
    item_ends = np.quantile((counts[:, 0] - counts[:, 1]) / items, tails)

    clusters = len(data.sizes)
    drawn = rng.integers(0, clusters, size=(RESAMPLES, clusters))
    sums, sizes = data.sums[drawn], data.sizes[drawn]
    totals = sizes.sum(axis=1)
    means = sums.sum(axis=1) / totals
    percentile_ends = np.quantile(means, tails)

    errors = np.sqrt(((sums - sizes * means[:, None]) ** 2).sum(axis=1)) / totals
    usable = errors > 1e-12
    statistics = (means[usable] - data.estimate) / errors[usable]
    low, high = np.quantile(statistics, tails) if usable.any() else (0.0, 0.0)
    error = cluster_error(data)
    return {
        "item-boot": (float(item_ends[0]), float(item_ends[1])),
        "cluster-boot": (float(percentile_ends[0]), float(percentile_ends[1])),
        "cluster-boot-t": (data.estimate - float(high) * error, data.estimate - float(low) * error),
    }
