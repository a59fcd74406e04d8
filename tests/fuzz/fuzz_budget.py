"""How much is tried, always the same: ``REFEREE_FUZZ=10`` tries ten times as much as the default run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FACTOR = int(os.environ.get("REFEREE_FUZZ", "1"))
SLOW = [
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
    HealthCheck.large_base_example,
    HealthCheck.data_too_large,
]


def tries(number: int) -> settings:
    """The same ``number`` of examples on every machine, times the factor."""
    return settings(
        max_examples=number * FACTOR, derandomize=True, database=None, deadline=None, suppress_health_check=SLOW
    )
