"""How fast ordinal alpha is, beside the package ``krippendorff`` on the same ratings; part ``alpha`` of profile.py.

Ours takes the ratings as they come, in lists. The package takes a table of judges by units, or counts by unit and
value; it is timed with these at hand, and what making them takes is printed apart. Each is the best of a few rounds in
turns, and all must agree to 1e-9. The interval of 1000 resamples has no peer and is timed alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from referee.evals.agreement import RatedPaper, panel_alphas
from referee.stats import krippendorff_alpha

VALUES = (1.0, 3.0, 5.0, 6.0, 8.0, 10.0)
MOST_REVIEWS = 6
ROUNDS = 3
MOST_DIFFERENCE = 1e-9


def compare_alpha(units: int) -> int:
    """Time both; 1 where the values differ."""
    package = _package()
    rows = _ratings(units)
    print(
        f"ordinal alpha of {units} units with {sum(map(len, rows))} ratings of {len(VALUES)} values, best of {ROUNDS}"
    )
    start = time.process_time()
    table = _by_judge(rows)
    between = time.process_time()
    counts = _by_value(rows)
    made = (between - start, time.process_time() - between)
    ways: dict[str, Callable[[], Any]] = {
        "ours, from lists of ratings": lambda: krippendorff_alpha(rows),
        "krippendorff, from counts by value": lambda: package.alpha(
            value_counts=counts, value_domain=VALUES, level_of_measurement="ordinal"
        ),
        "krippendorff, from a table of judges": lambda: package.alpha(
            reliability_data=table, value_domain=VALUES, level_of_measurement="ordinal"
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            found[name] = float(way())
            seconds[name].append(time.process_time() - start)
    for name, times in seconds.items():
        print(f"  {name}: {1000 * min(times):.0f} ms of CPU, alpha {found[name]:.9f}")
    difference = max(found.values()) - min(found.values())
    ours, *theirs = (min(times) for times in seconds.values())
    print(f"  making the table takes {1000 * made[0]:.0f} ms, the counts {1000 * made[1]:.0f} ms")
    whole = min(taken + making for taken, making in zip(theirs, made[::-1], strict=True))
    print(
        f"  ratio to the package's faster way {min(theirs) / ours:.2f}, with making its input {whole / ours:.2f};",
        end=" ",
    )
    print(f"largest difference {difference:.2g}")
    _interval(rows)
    return int(difference > MOST_DIFFERENCE)


def _interval(rows: Sequence[Sequence[float]]) -> None:
    papers = [RatedPaper(str(i), "iclr-2024", tuple(row[1:]), row[0], year=2024) for i, row in enumerate(rows)]
    start = time.process_time()
    (panel,) = panel_alphas(papers)
    delta = panel.delta
    print(
        f"  alpha_H, alpha_H+L and delta of {panel.years[0].papers} papers with {panel.resamples} resamples: "
        f"{time.process_time() - start:.1f} s of CPU, delta {delta.value:.4f} ({delta.low:.4f} to {delta.high:.4f})"
    )


def _ratings(units: int) -> list[list[float]]:
    """Ratings around a hidden quality, two to six a paper."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=units)
    sizes = rng.integers(2, MOST_REVIEWS + 1, size=units)
    edges = (-1.5, -0.5, 0.1, 0.9, 2.0)
    return [
        [VALUES[i] for i in np.searchsorted(edges, q + rng.normal(size=n))] for q, n in zip(quality, sizes, strict=True)
    ]


def _by_judge(rows: Sequence[Sequence[float]]) -> Any:
    table = np.full((MOST_REVIEWS, len(rows)), np.nan)
    for i, row in enumerate(rows):
        table[: len(row), i] = row
    return table


def _by_value(rows: Sequence[Sequence[float]]) -> Any:
    return np.array([[row.count(value) for value in VALUES] for row in rows])


def _package() -> Any:
    try:
        import krippendorff
    except ImportError as error:
        sys.exit(f"this part compares with krippendorff, which cannot be imported ({error}): pip install krippendorff")
    return krippendorff
