"""How one metric and its parts go with the others, review by review: rank correlations, and means by references.

Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing", appendix H: table 18 correlates judged
aspects of a review's points with what is counted in its text, tables 19 and 20 show an aspect's mean by bins of the
number of cross-references, less that of reviews without any. Intervals, which draw papers whole, are ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from referee.evals.behaviour.cross_references import Bin, xref_bin
from referee.evals.grouping import Rows
from referee.evals.table import SEED
from referee.schemas.metric import MetricResult
from referee.stats import spearman
from referee.stats.intervals import Interval
from referee.stats.resamples import RESAMPLES, percentiles

ALL = "all"
BINS: tuple[Bin, ...] = ("0", "1", "2-5", ">5")
REFERENCES = "xref"


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho of two quantities over the reviews of a row that have both, from -1 to 1.

    ``rho.n`` are reviews, ``rho.clusters`` papers; no value where one of the two is constant or there is one review.
    """

    row: str
    quantity: str
    other: str
    rho: Interval


@dataclass(frozen=True)
class BinMean:
    """A quantity's mean over the reviews of a row with so many cross-references; ``gain`` is less the mean of bin 0."""

    row: str
    quantity: str
    bin: Bin
    reviews: int
    mean: float
    gain: float | None


@dataclass(frozen=True)
class Correlations:
    """All pairs, and the means by bin where cross-references were counted."""

    metric: str
    pairs: tuple[Correlation, ...]
    bins: tuple[BinMean, ...]


@dataclass(frozen=True)
class _Review:
    paper: str
    values: Mapping[str, float]


def correlate_metric(results: Iterable[MetricResult], rows: Rows, metric: str, others: Sequence[str]) -> Correlations:
    """Correlate a metric and its parts with other metrics, by row and over all of them.

    Args:
        results: Each unit once; those without a value are left out.
        rows: The row of each review.
        metric: The metric; its parts are named ``metric.part``.
        others: What it is correlated with; where ``xref`` is among them, the means by bin follow.
    """
    by_row = _by_row(results, rows, metric, others)
    quantities = sorted(
        {name for reviews in by_row.values() for one in reviews for name in one.values if _of(name, metric)}
    )
    pairs = tuple(
        Correlation(row, quantity, other, _rho(reviews, quantity, other))
        for row, reviews in by_row.items()
        for quantity in quantities
        for other in others
    )
    counted = by_row if REFERENCES in others else {}
    bins = (one for row, reviews in counted.items() for name in quantities for one in _bins(row, reviews, name))
    return Correlations(metric, pairs, tuple(bins))


def _by_row(
    results: Iterable[MetricResult], rows: Rows, metric: str, others: Sequence[str]
) -> dict[str, list[_Review]]:
    values: dict[str, dict[str, float]] = defaultdict(dict)
    papers: dict[str, str] = {}
    for one in results:
        if one.value is None or one.metric not in (metric, *others):
            continue
        papers[one.case_id] = one.paper_id
        values[one.case_id][one.metric] = one.value
        if one.metric == metric:
            parts = {f"{metric}.{name}": part for name, part in one.parts.items() if part is not None}
            values[one.case_id].update(parts)
    found: dict[str, list[_Review]] = {row.label: [] for row in rows}
    for case_id, own in values.items():
        found[rows.of(case_id).label].append(_Review(papers[case_id], own))
    return found if len(found) == 1 else {**found, ALL: [one for reviews in found.values() for one in reviews]}


def _of(name: str, metric: str) -> bool:
    return name == metric or name.startswith(f"{metric}.")


def _rho(reviews: Sequence[_Review], quantity: str, other: str) -> Interval:
    both = [one for one in reviews if quantity in one.values and other in one.values]
    first, second = (np.array([one.values[name] for one in both], dtype=np.float64) for name in (quantity, other))
    found = np.unique([one.paper for one in both], return_inverse=True)
    papers, place = len(found[0]), found[1]
    rho = spearman(first, second)
    if rho is None or papers < 2:
        return Interval(rho, None, None, len(both), papers)
    members = [np.flatnonzero(place == paper) for paper in range(papers)]
    rng = np.random.default_rng(SEED)
    drawn = [np.concatenate([members[at] for at in rng.integers(papers, size=papers)]) for _ in range(RESAMPLES)]
    rhos = [spearman(first[rows], second[rows]) for rows in drawn]
    low, high = percentiles(np.array([np.nan if one is None else one for one in rhos]), papers)
    return Interval(rho, low, high, len(both), papers)


def _bins(row: str, reviews: Sequence[_Review], quantity: str) -> Iterator[BinMean]:
    by_bin: dict[Bin, list[float]] = defaultdict(list)
    for one in reviews:
        if quantity in one.values and REFERENCES in one.values:
            by_bin[xref_bin(int(one.values[REFERENCES]))].append(one.values[quantity])
    means = {name: sum(values) / len(values) for name, values in by_bin.items()}
    for name in BINS:
        if name in means:
            gain = means[name] - means["0"] if "0" in means and name != "0" else None
            yield BinMean(row, quantity, name, len(by_bin[name]), means[name], gain)
