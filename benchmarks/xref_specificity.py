"""Do remarks that point into the paper criticise it more specifically? Spearman's rho and the gain of each bin.

    python benchmarks/xref_specificity.py [--data DIR]

PRAIB correlates the cross-references of a whole review with the mean grounding specificity of its atomic weaknesses;
that is `referee eval --metrics usefulness,xref --correlate usefulness`. No shared data hold whole reviews with such
labels by people. This takes what there is: the review points of RevUtil, each with a label of 1 to 5 for grounding and
specificity by people and by GPT-4o, and counts the references of the point itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from referee.evals.behaviour.cross_references import cross_references
from referee.evals.correlations import Correlations, correlate_metric
from referee.evals.grouping import Rows
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult

SHARED = Path(__file__).parents[2] / "shared" / "data"
POINTS = "labelled/revutil_points.jsonl"
WHO = ("human", "gpt4o")
LABEL, COUNT = "specificity", "xref"


def correlated(data: Path, who: str) -> Correlations:
    """RevUtil's points with one rater's label beside their references; points without a claim (X) are left out."""
    rows, results = Rows(), list[MetricResult]()
    for number, line in enumerate((data / POINTS).read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        if row[f"{who}_grounding_specificity"] == "X":
            continue
        point = ReviewCase(
            case_id=f"point {number}", paper_id=row["paper_id"], source=who, kind="ai", text=row["review_point"]
        )
        rows.add(point)
        results.append(_value(point, LABEL, float(row[f"{who}_grounding_specificity"])))
        results.append(_value(point, COUNT, cross_references(point.text).xref))
    return correlate_metric(results, rows, LABEL, [COUNT])


def lines(title: str, found: Correlations) -> Iterator[str]:
    """What is printed of them."""
    (pair,) = found.pairs
    rho = pair.rho
    shown = f" [{rho.low:.3f}, {rho.high:.3f}]" if rho.low is not None and rho.high is not None else ""
    yield f"{title}: n {rho.n}, rho {'none' if rho.mean is None else f'{rho.mean:.3f}'}{shown}"
    for one in found.bins:
        gain = "" if one.gain is None else f", gain {one.gain:+.3f}"
        yield f"  {one.bin:>3} references: n {one.reviews}, mean specificity {one.mean:.3f}{gain}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both raters' numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="the shared review data")
    data: Path = parser.parse_args(arguments).data
    if not (data / POINTS).is_file():
        print(f"the labelled points are not at {str(data / POINTS)!r}; name the folder by --data", file=sys.stderr)
        return 2
    for who in WHO:
        print(*lines(f"points, {who} labels", correlated(data, who)), sep="\n")
    return 0


def _value(point: ReviewCase, metric: str, value: float) -> MetricResult:
    return MetricResult(
        case_id=point.case_id,
        paper_id=point.paper_id,
        source=point.source,
        metric=metric,
        version="1",
        status="scored",
        value=value,
    )


if __name__ == "__main__":
    sys.exit(main())
