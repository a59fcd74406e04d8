"""Numbers as they come in, checked: arrays of finite floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from referee.errors import EvaluationError

Floats = NDArray[np.float64]


def finite(values: Sequence[float] | Floats) -> Floats:
    """The values as an array.

    Raises:
        EvaluationError: One of them is not a finite number; a missing value must be left out by the caller, on the
            record.
    """
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if not np.isfinite(array).all():
        raise EvaluationError(
            "a value for a statistic is not a finite number.", hint="Leave unmeasured cases out and count them."
        )
    return array


def sums_by_cluster(values_by_cluster: Mapping[str, Sequence[float] | Floats]) -> tuple[Floats, Floats]:
    """Sum and number of the values of each cluster that has any, in the order of the clusters' names.

    Ordered by name so that the same data give the same resamples, in whatever order a file held them.
    """
    arrays = [finite(values) for _, values in sorted(values_by_cluster.items())]
    kept = [array for array in arrays if array.size]
    return np.array([array.sum() for array in kept]), np.array([array.size for array in kept], dtype=np.float64)


def differences(pairs_by_cluster: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, Floats]:
    """First minus second of each pair, by cluster."""
    return {
        name: finite([first for first, _ in pairs]) - finite([second for _, second in pairs])
        for name, pairs in pairs_by_cluster.items()
    }
