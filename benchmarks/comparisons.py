"""Whether the statistics of comparisons hold what they promise, by simulation: the figures in docs/experiments.md.

    python benchmarks/comparisons.py [--simulations 4000] [--experiments 1000] [--json FILE]

Coverage: pairs of scores are drawn for 10, 20 and 40 papers, of kinds that metrics have (shares, means of a few
judged items, skewed and heavy-tailed differences); counted is how often an interval that says 95% holds the true mean
difference. False positives: experiments in which no arm differs from the baseline; counted is how many announce at
least one difference after Holm's correction over all arms and metrics.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.stats import Interval, bootstrap_interval, holm, paired_interval, permutation_test, wilson

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]

PAPERS = (10, 20, 40)
ARMS, METRICS, LEVEL = 3, 6, 0.05


def shares(rng: np.random.Generator, papers: int) -> tuple[Floats, Floats]:
    """Shares of eight items, whose chance depends on the paper; the second arm is better by a tenth."""
    chance = rng.beta(4, 4, papers) * 0.9
    return rng.binomial(8, chance + 0.1, papers) / 8, rng.binomial(8, chance, papers) / 8


def ordinal(rng: np.random.Generator, papers: int) -> tuple[Floats, Floats]:
    """Means of five ratings from 0 to 3, over 3; both arms alike."""
    chance = rng.beta(3, 2, papers)[:, None]
    return rng.binomial(3, chance, (papers, 5)).mean(1) / 3, rng.binomial(3, chance, (papers, 5)).mean(1) / 3


def skewed(rng: np.random.Generator, papers: int) -> tuple[Floats, Floats]:
    """Differences with a long tail to one side: most papers gain little, a few gain much."""
    return rng.exponential(0.1, papers), np.zeros(papers)


def heavy(rng: np.random.Generator, papers: int) -> tuple[Floats, Floats]:
    """Symmetric differences with heavy tails (t with three degrees of freedom)."""
    return 0.1 * rng.standard_t(3, papers), np.zeros(papers)


KINDS: dict[str, tuple[Draw, float]] = {
    "shares of 8 items": (shares, 0.1),
    "means of 5 ratings": (ordinal, 0.0),
    "skewed": (skewed, 0.1),
    "heavy tails": (heavy, 0.0),
}


def _pairs(first: Floats, second: Floats) -> dict[str, list[tuple[float, float]]]:
    return {f"p{number}": [pair] for number, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}


def _percentile(pairs: dict[str, list[tuple[float, float]]], *, seed: int) -> Interval:
    """The usual interval: quantiles of the resampled means as they are."""
    differences = {name: [first - second for first, second in values] for name, values in pairs.items()}
    return bootstrap_interval(differences, seed=seed, resamples=1000)


def coverage(simulations: int) -> list[dict[str, Any]]:
    """How often each interval holds the truth, by kind of score and number of papers."""
    rows = []
    for kind, (draw, truth) in KINDS.items():
        for papers in PAPERS:
            rng = np.random.default_rng([papers, len(kind)])
            held = {"percentile": 0, "expanded": 0}
            for number in range(simulations):
                pairs = _pairs(*draw(rng, papers))
                for name, interval in (
                    ("percentile", _percentile(pairs, seed=number)),
                    ("expanded", paired_interval(pairs, seed=number, resamples=1000)),
                ):
                    held[name] += (interval.low or 0.0) <= truth <= (interval.high or 0.0)
            rows.append({"kind": kind, "papers": papers, "simulations": simulations, **held})
    return rows


def false_positives(experiments: int) -> list[dict[str, Any]]:
    """Experiments without any true difference that announce one, with and without Holm's correction."""
    rows = []
    for papers in PAPERS:
        rng = np.random.default_rng(papers)
        raw = corrected = 0
        for number in range(experiments):
            values = []
            for _ in range(METRICS):
                chance = rng.beta(4, 4, papers)
                baseline = rng.binomial(8, chance) / 8
                arms = [rng.binomial(8, chance) / 8 for _ in range(ARMS)]
                for arm in arms:
                    p = permutation_test(_pairs(arm, baseline), seed=number, permutations=2000)
                    values.append(1.0 if p is None else p)
            raw += min(values) <= LEVEL
            corrected += min(holm(values)) <= LEVEL
        rows.append({"papers": papers, "experiments": experiments, "uncorrected": raw, "holm": corrected})
    return rows


def _share(k: int, n: int) -> str:
    interval = wilson(k, n)
    return f"{k / n:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def tables(figures: dict[str, Any]) -> str:
    """Both tables as Markdown; the intervals of the shares are Wilson's."""
    lines = ["| scores | papers | percentile bootstrap | `paired_interval` |", "| --- | ---: | ---: | ---: |"]
    for row in figures["coverage"]:
        cells = (_share(row[name], row["simulations"]) for name in ("percentile", "expanded"))
        lines.append(f"| {row['kind']} | {row['papers']} | {' | '.join(cells)} |")
    lines += [
        "",
        f"| papers | any of {ARMS * METRICS} below {LEVEL}, uncorrected | after Holm |",
        "| ---: | ---: | ---: |",
    ]
    for row in figures["false_positives"]:
        cells = (_share(row[name], row["experiments"]) for name in ("uncorrected", "holm"))
        lines.append(f"| {row['papers']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures = {"coverage": coverage(given.simulations), "false_positives": false_positives(given.experiments)}
    print(tables(figures))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
