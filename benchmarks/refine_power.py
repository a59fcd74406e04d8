"""What a search for better prompts shows, by simulation: false acceptance and power, the tables in docs/refinement.md.

    python benchmarks/refine_power.py [--simulations 2000] [--json FILE]

The procedure is the command's own (``referee.experiments.halving.select``); no model is asked. A paper holds so many
planted errors; whether a version finds one is drawn with effects of the paper (sd .6), of the error (1.2) and of paper
and version together (.4), in logits, around a recall of .40, as in the simulations of the design of planted errors.
False acceptance: no version is better than the base, and one is kept. Power: one version, no matter which, is better by
the gain that is named, the others are not, and that one is kept.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from referee.experiments.halving import (
    HELD_OUT_SHARE,
    LEVEL,
    TRUE_GAINS,
    Ask,
    Values,
    held_out_count,
    most_reviews,
    select,
)
from referee.schemas.refinement import BASE
from referee.stats import wilson

PAPERS = (6, 10, 20, 40)
PROPOSALS = (3, 6)
RECALL, ERRORS_A_PAPER = 0.4, 6
SD_PAPER, SD_ERROR, SD_VERSION = 0.6, 1.2, 0.4
SEED = 20_260_101
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@lru_cache
def intercept(recall: float) -> float:
    """The logit at which the recall over papers, errors and versions is this."""
    spread = math.sqrt(SD_PAPER**2 + SD_ERROR**2 + SD_VERSION**2)
    weights = _WEIGHTS / _WEIGHTS.sum()
    return float(brentq(lambda at: float((weights * expit(at + spread * _NODES)).sum()) - recall, -9, 9))


def kept(
    rng: np.random.Generator,
    gains: Sequence[float],
    papers: int,
    *,
    errors: int = ERRORS_A_PAPER,
    recall: float = RECALL,
    level: float = LEVEL,
) -> str:
    """One search: the name of the version that was kept, empty for none.

    Args:
        rng: Where the draws come from.
        gains: The true gain of each version.
        papers: Development and held-out papers together.
        errors: Planted errors a paper.
        recall: That of the base.
        level: The nominal level.
    """
    names = [str(paper) for paper in range(papers)]
    held_out = held_out_count(papers)
    shared = rng.normal(0, SD_PAPER, (papers, 1)) + rng.normal(0, SD_ERROR, (papers, errors))
    drawn: dict[str, dict[str, float]] = {}
    for number, gain in enumerate((0.0, *gains)):
        logits = intercept(round(recall + gain, 6)) + shared + rng.normal(0, SD_VERSION, (papers, 1))
        found = (rng.random((papers, errors)) < expit(logits)).mean(axis=1)
        drawn[BASE if number == 0 else f"v{number}"] = dict(zip(names, map(float, found), strict=True))

    def measured(ask: Ask) -> Values:
        return {name: {paper: drawn[name][paper] for paper in ask.papers} for name in (BASE, *ask.versions)}

    versions = [name for name in drawn if name != BASE]
    procedure = select(versions, names[held_out:], names[:held_out], base=BASE, level=level)
    try:
        ask = next(procedure)
        while True:
            ask = procedure.send(measured(ask))
    except StopIteration as done:
        return str(done.value.kept)


def false_acceptance(
    papers: int,
    proposals: int,
    simulations: int,
    *,
    errors: int = ERRORS_A_PAPER,
    recall: float = RECALL,
    level: float = LEVEL,
) -> int:
    """How many searches keep a version, though none is better."""
    rng, gains = np.random.default_rng(SEED), [0.0] * proposals
    found = [kept(rng, gains, papers, errors=errors, recall=recall, level=level) for _ in range(simulations)]
    return sum(map(bool, found))


def power(papers: int, proposals: int, gain: float, simulations: int) -> float:
    """The share of searches that keep the one version that is better."""
    rng, right = np.random.default_rng(SEED), 0
    for _ in range(simulations):
        better = int(rng.integers(proposals))
        gains = [gain if number == better else 0.0 for number in range(proposals)]
        right += kept(rng, gains, papers) == f"v{better + 1}"
    return right / simulations


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = list(_rows(given.simulations))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def _rows(simulations: int) -> Iterator[dict[str, object]]:
    print(f"Nominal level {LEVEL}; {simulations} searches a cell; share held out {HELD_OUT_SHARE}")
    print("| papers | proposals | reviews | kept wrongly | " + " | ".join(f"+{gain:g}" for gain in TRUE_GAINS) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(TRUE_GAINS))
    for proposals in PROPOSALS:
        for papers in PAPERS:
            held_out = held_out_count(papers)
            development, at_end = most_reviews(proposals, papers - held_out, held_out)
            wrong = wilson(false_acceptance(papers, proposals, simulations), simulations)
            seen = [power(papers, proposals, gain, simulations) for gain in TRUE_GAINS]
            print(
                f"| {papers - held_out} + {held_out} | {proposals} | {development} + {at_end} | "
                f"{wrong.mean:.3f} [{wrong.low:.3f}, {wrong.high:.3f}] | {' | '.join(f'{one:.2f}' for one in seen)} |",
                flush=True,
            )
            yield {"papers": papers, "proposals": proposals, "wrong": wrong.mean, "high": wrong.high, "power": seen}
    print("Kept wrongly where the measure is coarse or skewed (three proposals):")
    for papers in PAPERS:
        for errors, recall in ((1, RECALL), (6, 0.15)):
            wrong = wilson(false_acceptance(papers, 3, simulations, errors=errors, recall=recall), simulations)
            print(
                f"  {papers} papers, {errors} errors a paper, recall {recall}: "
                f"{wrong.mean:.3f} [{wrong.low:.3f}, {wrong.high:.3f}]",
                flush=True,
            )
            yield {"papers": papers, "errors": errors, "recall": recall, "wrong": wrong.mean, "high": wrong.high}


if __name__ == "__main__":
    main()
