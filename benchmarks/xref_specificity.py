"""Do reviews that point into the paper criticise it more specifically? Spearman's rho and the gain of each bin.

    python benchmarks/xref_specificity.py [--data DIR]
    python benchmarks/xref_specificity.py --eval RUN --profile RUN

PRAIB correlates the cross-references of a whole review with the mean grounding specificity of its atomic weaknesses.
No shared data hold whole reviews with such labels. The first form takes what there is: the review points of RevUtil,
each with a label of 1 to 5 for grounding and specificity by people and by GPT-4o, and counts the references of the
point itself. The second form is PRAIB's unit: of a run of ``referee eval --metrics constructiveness`` and one of
``referee profile`` over the same reviews, whole reviews' references beside the share of their criticisms that the
judge called specific. Intervals are percentile bootstraps that draw papers whole.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from referee.errors import EvaluationError
from referee.evals.behaviour.cross_references import Bin, cross_references, xref_bin
from referee.stats import spearman

SHARED = Path(__file__).parents[2] / "shared" / "data"
POINTS = "labelled/revutil_points.jsonl"
WHO = ("human", "gpt4o")
RESAMPLES = 2000
BINS: tuple[Bin, ...] = ("0", "1", "2-5", ">5")


class Unit(NamedTuple):
    """A point or a review: its paper, its references, how specific it is."""

    paper: str
    xref: int
    specificity: float


@dataclass(frozen=True, slots=True)
class XrefValidity:
    """How cross-references and specificity go together.

    ``rho`` is Spearman's, from -1 to 1; None with a ``reason``. ``means`` and ``counts`` are by bin of ``xref``;
    ``gains`` are means less that of bin 0, for the bins that have reviews, where bin 0 has any.
    """

    rho: float | None
    n: int
    means: dict[Bin, float]
    counts: dict[Bin, int]
    gains: dict[Bin, float]
    reason: str = ""


def xref_validity(xref: Sequence[int], specificity: Sequence[float]) -> XrefValidity:
    """Spearman's correlation (average ranks) of cross-references with specificity, and the gain of each bin.

    Args:
        xref: Cross-references of whole reviews.
        specificity: The mean grounding specificity of the weaknesses of each, on any one scale.

    Raises:
        EvaluationError: The lists differ in length, or a value is not finite.

    Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing" (rho .298 of human reviews, .393
    of generated ones).
    """
    if any(count < 0 for count in xref):
        raise EvaluationError("a review has no negative number of cross-references.", hint="Give counts.")
    rho = spearman(xref, specificity)
    by_bin: dict[Bin, list[float]] = {name: [] for name in BINS}
    for count, value in zip(xref, specificity, strict=True):
        by_bin[xref_bin(count)].append(value)
    means = {name: fmean(values) for name, values in by_bin.items() if values}
    gains: dict[Bin, float] = {}
    if "0" in means:
        gains |= {name: mean - means["0"] for name, mean in means.items() if name != "0"}
    reason = "" if rho is not None else "fewer than two reviews" if len(xref) < 2 else "all values are equal"
    return XrefValidity(rho, len(xref), means, {name: len(values) for name, values in by_bin.items()}, gains, reason)


def points(data: Path, who: str) -> list[Unit]:
    """RevUtil's points with one rater's label; points without a claim (X) are left out."""
    found = []
    for row in _rows(data / POINTS):
        label = row[f"{who}_grounding_specificity"]
        if label != "X":
            found.append(Unit(row["paper_id"], cross_references(row["review_point"]).xref, float(label)))
    return found


def reviews(evaluated: Path, profiled: Path) -> list[Unit]:
    """Reviews of both runs: references, and the share of criticisms that are specific, the mean of the judges'."""
    xref = {row["case_id"]: row["values"]["xref"] for row in _rows(profiled / "profile.jsonl")}
    found = []
    for row in _rows(evaluated / "results.jsonl"):
        if row["metric"] != "constructiveness" or row["status"] != "scored" or xref.get(row["case_id"]) is None:
            continue
        shares = [
            fmean(one["specificity"] for one in criticisms)
            for reading in row["details"]["readings"]
            if (criticisms := [one for one in reading.get("insights", ()) if one["kind"] == "criticism"])
        ]
        if shares:
            found.append(Unit(row["paper_id"], int(xref[row["case_id"]]), fmean(shares)))
    return found


def validity(units: Sequence[Unit]) -> XrefValidity:
    """The numbers of these units."""
    return xref_validity([one.xref for one in units], [one.specificity for one in units])


def interval(units: Sequence[Unit], seed: int = 0) -> tuple[float, float] | None:
    """95% of rho's resamples by paper; None where fewer than half of them have a rho."""
    by_paper: dict[str, list[Unit]] = defaultdict(list)
    for one in units:
        by_paper[one.paper].append(one)
    papers = list(by_paper.values())
    rng = np.random.default_rng(seed)
    rhos = []
    for _ in range(RESAMPLES if len(papers) > 1 else 0):
        drawn = validity([one for at in rng.integers(len(papers), size=len(papers)) for one in papers[at]]).rho
        rhos += [] if drawn is None else [drawn]
    if len(rhos) < RESAMPLES / 2:
        return None
    low, high = np.quantile(rhos, [0.025, 0.975])
    return float(low), float(high)


def lines(title: str, units: Sequence[Unit]) -> Iterator[str]:
    """What is printed of these units."""
    found, bounds = validity(units), interval(units)
    rho = "none: " + found.reason if found.rho is None else f"{found.rho:.3f}"
    shown = f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else ""
    yield f"{title}: n {found.n}, rho {rho}{shown}"
    for name in BINS:
        if found.counts[name]:
            gain = f", gain {found.gains[name]:+.3f}" if name in found.gains else ""
            yield f"  {name:>3} references: n {found.counts[name]}, mean specificity {found.means[name]:.3f}{gain}"


def main() -> int:
    """Print both raters' numbers on the points, or those of the runs."""
    given = _parser().parse_args()
    if bool(given.eval) != bool(given.profile):
        print("--eval and --profile go together: the runs are over the same reviews", file=sys.stderr)
        return 2
    if given.eval:
        print(*lines("reviews, judge's specificity", reviews(given.eval, given.profile)), sep="\n")
        return 0
    if not (given.data / POINTS).is_file():
        print(
            f"the labelled points are not at {str(given.data / POINTS)!r}; name the folder by --data", file=sys.stderr
        )
        return 2
    for who in WHO:
        print(*lines(f"points, {who} labels", points(given.data, who)), sep="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="the shared review data")
    parser.add_argument("--eval", type=Path, help="a run of `referee eval --metrics constructiveness`")
    parser.add_argument("--profile", type=Path, help="a run of `referee profile` over the same reviews")
    return parser


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as rows:
        yield from (json.loads(row) for row in rows if row.strip())


if __name__ == "__main__":
    sys.exit(main())
