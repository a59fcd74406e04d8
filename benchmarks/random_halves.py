"""How often a rank test finds a difference between random halves of the same papers, where there is none.

    python benchmarks/random_halves.py [--draws 2000] [--data DIR]

The papers of ICLR 2026 in the shared data are parted at random, and all their reviews with them; counted is how often
p is below 0.05. Mann-Whitney's test takes each review as independent, ours the papers: the figures in docs/profile.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from referee.data import read_cases
from referee.evals.behaviour import text_metrics
from referee.evals.reading import Reading, ReadMetric
from referee.evals.registry import find_metrics
from referee.stats import clustered_rank_test, mann_whitney, wilson

REVIEWS = Path("papers/iclr2026_abstract_reviews_rebuttals.jsonl")
MEASURES = ("rating", "confidence", "words", "fre", "xref", "xref_ext")
LEVEL = 0.05


def columns(data: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The values of each measure, NaN where missing, and the number of each review's paper."""
    cases = list(read_cases(data / REVIEWS))
    names = {paper: number for number, paper in enumerate(dict.fromkeys(case.paper_id for case in cases))}
    metrics = [metric for metric in find_metrics(MEASURES) if isinstance(metric, ReadMetric)]
    rows = []
    for case in cases:
        read = Reading(case, text_metrics(case.text))
        rows.append({metric.name: metric.of(read) for metric in metrics})
    found_values = {name: np.array([row[name] for row in rows], dtype=float) for name in MEASURES}
    return found_values, np.array([names[case.paper_id] for case in cases])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent.parent.parent / "shared" / "data")
    given = parser.parse_args()
    values, papers = columns(given.data)
    rng = np.random.default_rng(0)
    print("| measure | Mann-Whitney | by paper |\n| --- | ---: | ---: |")
    for name, column in values.items():
        there = ~np.isnan(column)
        own, of = column[there], papers[there]
        found = [0, 0]
        for _ in range(given.draws):
            half = rng.permutation(papers.max() + 1) % 2 == 0
            first = half[of]
            plain = mann_whitney(own[first].tolist(), own[~first].tolist(), exact_up_to=0)
            clustered = clustered_rank_test(own[first], of[first], own[~first], of[~first])
            found[0] += plain is not None and plain.p < LEVEL
            found[1] += clustered is not None and clustered.p < LEVEL
        print(f"| {name} | " + " | ".join(f"{wilson(n, given.draws).mean:.3f}" for n in found) + " |")


if __name__ == "__main__":
    main()
