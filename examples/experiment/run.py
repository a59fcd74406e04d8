"""Run the coverage study and write its results; ``--report`` only redraws tables and figures.

    python run.py                     # all of it, about a minute and a half on one core
    python run.py --report            # tables and figures from the stored results

Every replicate has its own generator, seeded by (ROOT_SEED, cell number, replicate number), so any row of
``data/results.csv`` and any line of ``data/replicates.csv`` can be recomputed alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from classifiers import POOL_GROUPS, Pool, build_pool
from intervals import METHODS, RESAMPLES, EvaluationSet, closed_form, resampled, t_quantile
from simulation import Design, cluster_sizes, draw, moments

HERE = Path(__file__).resolve().parent
ROOT_SEED = 20260
REPLICATES = 4000
KEPT = 10
CLUSTERS = (5, 10, 20, 40, 80)
SPREADS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
SIZE_SPREADS = (0.0, 0.5, 1.0, 1.5)
BASE = Design(10, 1.5, 0.5)
TRAINING_SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Cell:
    """One setting: how to draw an evaluation set, what is true, and the seed's middle part."""

    number: int
    study: str
    clusters: int
    effect_spread: float | None
    size_spread: float
    training_seed: int | None
    truth: float
    correlation: float
    sample: Callable[[np.random.Generator], EvaluationSet]


def simulated(number: int, study: str, design: Design) -> Cell:
    """A cell of the logistic simulation."""
    truth, correlation = moments(design.effect_spread)

    def sample(rng: np.random.Generator) -> EvaluationSet:
        return draw(design, rng)

    spreads = (design.effect_spread, design.size_spread)
    return Cell(number, study, design.clusters, *spreads, None, truth, correlation, sample)


def trained(number: int, clusters: int, seed: int, pool: Pool) -> Cell:
    """A cell that draws groups from the pool of a trained pair."""

    def sample(rng: np.random.Generator) -> EvaluationSet:
        return pool.sample(clusters, rng)

    return Cell(number, "trained", clusters, None, 0.5, seed, pool.outcomes.estimate, pool.correlation, sample)


def simulated_cells() -> list[Cell]:
    """The cells of the three simulated studies, numbered from 0."""
    designs = [("clusters", Design(g, BASE.effect_spread, BASE.size_spread)) for g in CLUSTERS]
    designs += [("correlation", Design(BASE.clusters, t, BASE.size_spread)) for t in SPREADS]
    designs += [("sizes", Design(g, BASE.effect_spread, s)) for g in (10, 20) for s in SIZE_SPREADS]
    return [simulated(number, study, design) for number, (study, design) in enumerate(designs)]


def trained_cells(pools: dict[int, Pool]) -> list[Cell]:
    """The cells of the trained pairs, numbered from 100: seed 0 at four sizes, the other seeds at ten clusters."""
    pairs = [(g, TRAINING_SEEDS[0]) for g in CLUSTERS[:4]] + [(10, seed) for seed in TRAINING_SEEDS[1:]]
    return [trained(100 + k, g, seed, pools[seed]) for k, (g, seed) in enumerate(pairs)]


def replicates(cell: Cell, count: int, bootstrap: bool = True) -> Iterator[tuple[EvaluationSet, dict[str, tuple]]]:
    """The first ``count`` evaluation sets of a cell with their intervals; without ``bootstrap`` only three of them."""
    t_value = t_quantile(cell.clusters - 1)
    for index in range(count):
        data = cell.sample(np.random.default_rng([ROOT_SEED, cell.number, index, 0]))
        intervals = closed_form(data, t_value)
        if bootstrap:
            intervals |= resampled(data, np.random.default_rng([ROOT_SEED, cell.number, index, 1]))
        yield data, intervals


def summary(cell: Cell, method: str, ends: list[tuple[float, float]]) -> dict[str, object]:
    """One row of ``results.csv``: coverage and misses as fractions, widths as differences of accuracies."""
    array = np.array(ends)
    widths = array[:, 1] - array[:, 0]
    above, below = array[:, 0] > cell.truth, array[:, 1] < cell.truth
    return {
        "cell": cell.number,
        "study": cell.study,
        "clusters": cell.clusters,
        "effect_spread": "" if cell.effect_spread is None else cell.effect_spread,
        "size_spread": cell.size_spread,
        "training_seed": "" if cell.training_seed is None else cell.training_seed,
        "correlation": f"{cell.correlation:.6f}",
        "truth": f"{cell.truth:.6f}",
        "method": method,
        "replicates": len(ends),
        "coverage": f"{1 - float((above | below).mean()):.6f}",
        "above": f"{float(above.mean()):.6f}",
        "below": f"{float(below.mean()):.6f}",
        "mean_width": f"{float(widths.mean()):.6f}",
        "median_width": f"{float(np.median(widths)):.6f}",
        "zero_width": f"{float((widths < 1e-12).mean()):.6f}",
    }


def rows_of(cell: Cell, count: int, bootstrap: bool = True) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The summary rows of a cell, and the first replicates one by one."""
    ends: dict[str, list[tuple[float, float]]] = {}
    kept: list[dict[str, object]] = []
    for index, (data, intervals) in enumerate(replicates(cell, count, bootstrap)):
        for method, (low, high) in intervals.items():
            ends.setdefault(method, []).append((low, high))
            if index < KEPT:
                line = {"cell": cell.number, "replicate": index, "items": int(data.items), "method": method}
                kept.append(line | {"estimate": f"{data.estimate:.6f}", "low": f"{low:.6f}", "high": f"{high:.6f}"})
    return [summary(cell, method, ends[method]) for method in METHODS if method in ends], kept


def write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    """Write rows with one header line and Unix line ends."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def describe(pools: dict[int, Pool]) -> dict[str, object]:
    """What is needed to read the results: seeds, counts, the trained pairs."""
    crowd = Design(POOL_GROUPS, BASE.effect_spread, BASE.size_spread)
    rng = np.random.default_rng([ROOT_SEED, 201])
    uneven = [cluster_sizes(10, SIZE_SPREADS[-1], rng) for _ in range(20_000)]
    return {
        "root_seed": ROOT_SEED,
        "replicates": REPLICATES,
        "resamples": RESAMPLES,
        "pool_groups": POOL_GROUPS,
        "numpy": np.__version__,
        "simulated_skewness": round(draw(crowd, np.random.default_rng([ROOT_SEED, 200])).skewness, 3),
        "median_largest_share": round(float(np.median([sizes.max() / sizes.sum() for sizes in uneven])), 3),
        "trained_pairs": {
            str(seed): {
                "accuracy_linear": round(pool.accuracy_linear, 6),
                "accuracy_mlp": round(pool.accuracy_mlp, 6),
                "difference": round(pool.outcomes.estimate, 6),
                "correlation": round(pool.correlation, 6),
                "skewness": round(pool.outcomes.skewness, 3),
                "groups_led_by_30_points": round(float(pool.led().mean()), 4),
                "their_share_of_the_sum": round(
                    float(pool.outcomes.sums[pool.led()].sum() / pool.outcomes.sums.sum()), 3
                ),
                "items": int(pool.outcomes.items),
            }
            for seed, pool in pools.items()
        },
    }


def measure() -> None:
    """Run all cells and write ``data/`` and ``logs/run.log``."""
    pools = {seed: build_pool(seed) for seed in TRAINING_SEEDS}
    results, kept, log = [], [], [f"numpy {np.__version__}, {REPLICATES} replicates, {RESAMPLES} resamples"]
    for cell in simulated_cells() + trained_cells(pools):
        started = time.perf_counter()
        rows, first = rows_of(cell, REPLICATES)
        results += rows
        kept += first
        coverage = "  ".join(f"{row['method']} {row['coverage']}" for row in rows)
        log.append(f"cell {cell.number:3d} {cell.study} G={cell.clusters} truth={cell.truth:.6f}: {coverage}")
        log[-1] += f"  ({time.perf_counter() - started:.1f} s)"
        print(log[-1], flush=True)
    write_csv(HERE / "data" / "results.csv", results)
    write_csv(HERE / "data" / "replicates.csv", kept)
    (HERE / "data" / "meta.json").write_text(json.dumps(describe(pools), indent=2) + "\n", encoding="utf-8")
    (HERE / "logs" / "run.log").write_text("\n".join(log) + "\n", encoding="utf-8")


def main() -> None:
    """Measure unless told not to, then write the paper's tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="only tables and figures, from the stored results")
    if not parser.parse_args().report:
        measure()
    from report import write_figures, write_tables

    write_tables()
    write_figures()


if __name__ == "__main__":
    main()
