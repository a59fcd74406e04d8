"""The table of an evaluation: rows of systems, columns of metrics; each cell says what was measured and how surely."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from referee.evals.judge_agreement import Agreement
from referee.evals.metric import Better
from referee.evals.rows import RowKey, Rows
from referee.schemas.metric import MetricResult, MetricStatus
from referee.schemas.usage import Usage
from referee.stats import bootstrap_interval, mean_sd, paired_interval

SEED = 20_260_101
_BEST: Mapping[str, Callable[[Iterable[float]], float]] = {"higher": max, "lower": min}


@dataclass(frozen=True)
class Cell:
    """One metric over the reviews of one row.

    ``low`` and ``high`` bound the mean at 95 percent, by bootstrap over papers; None with fewer than two. ``sd`` is the
    standard deviation of what the mean is over: reviews, or papers where the table is over papers. ``alpha`` is
    Krippendorff's between judges (ordinal), ``repeat_sd`` the mean standard deviation of a judge's repeats on one
    review. ``judged`` says by judge how many of the reviews that it was asked about it answered on. ``nearest`` and
    ``best`` mark a column's cells: nearest to people, and the best where more or less of the metric is better.
    """

    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    papers: int = 0
    scored: int = 0
    not_applicable: int = 0
    failed: int = 0
    alpha: float | None = None
    repeat_sd: float | None = None
    parts: dict[str, float] = field(default_factory=dict)
    judged: dict[str, tuple[int, int]] = field(default_factory=dict)
    nearest: bool = False
    best: bool = False


@dataclass(frozen=True)
class MetricTotals:
    """What a metric cost over all rows, and why units have no value, by reason with the number of units."""

    usage: Usage
    units: int
    reasons: tuple[tuple[MetricStatus, str, int], ...]


@dataclass(frozen=True)
class Table:
    """All cells. ``metrics`` are the columns in their order, ``rows`` the rows in theirs.

    ``over_papers`` says that a paper counts once, by the mean of its reviews, and that all rows of a column that have a
    value are over the same papers.
    """

    metrics: tuple[str, ...]
    rows: tuple[RowKey, ...]
    cells: dict[tuple[RowKey, str], Cell]
    totals: dict[str, MetricTotals]
    group_by: str
    over_papers: bool = False

    @property
    def scored(self) -> int:
        """Units with a value."""
        return sum(cell.scored for cell in self.cells.values())

    @property
    def failed(self) -> int:
        """Units that failed."""
        return sum(cell.failed for cell in self.cells.values())

    @property
    def not_applicable(self) -> int:
        """Units where there was nothing to measure."""
        return sum(cell.not_applicable for cell in self.cells.values())

    @property
    def judged(self) -> dict[str, dict[str, tuple[int, int]]]:
        """By judge and metric, over all rows: reviews it answered on, of those it was asked about."""
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for (_, metric), cell in self.cells.items():
            for judge, (answered, asked) in cell.judged.items():
                before = found.setdefault(judge, {}).get(metric, (0, 0))
                found[judge][metric] = (before[0] + answered, before[1] + asked)
        return found

    @property
    def silent(self) -> tuple[str, ...]:
        """The judges that never answered on any review."""
        return tuple(judge for judge, of in self.judged.items() if not any(answered for answered, _ in of.values()))


@dataclass
class _Pile:
    """What is gathered for a cell while results stream by: numbers only."""

    values: dict[str, array[float]] = field(default_factory=dict)
    parts: dict[str, dict[str, array[float]]] = field(default_factory=lambda: defaultdict(dict))
    failed: set[str] = field(default_factory=set)
    statuses: Counter[MetricStatus] = field(default_factory=Counter)
    agreement: Agreement = field(default_factory=Agreement)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    def add(self, result: MetricResult) -> None:
        self.statuses[result.status] += 1
        self.asked.update({score.judge for score in result.judges})
        # A judge may answer that there is nothing to judge: then it has a call and no value.
        self.answered.update({score.judge for score in result.judges if score.value is not None or score.calls})
        if result.status == "failed":
            self.failed.add(result.paper_id)
        if result.value is None:
            return
        self.values.setdefault(result.paper_id, array("d")).append(result.value)
        for name, value in result.parts.items():
            if value is not None:
                self.parts[name].setdefault(result.paper_id, array("d")).append(value)
        self.agreement.add(result.judges)

    def cell(self, papers: Collection[str] | None = None) -> Cell:
        """The cell over all reviews; given papers, over their means."""
        if papers is None:
            values, interval = _flat(self.values), bootstrap_interval(self.values, seed=SEED)
        else:
            means = _by_paper(self.values, papers)
            values = list(means.values())
            # As in an experiment's comparisons: the interval for few papers.
            interval = paired_interval({paper: [(mean, 0.0)] for paper, mean in means.items()}, seed=SEED)
        parts = {
            name: _flat(found) if papers is None else list(_by_paper(found, papers).values())
            for name, found in self.parts.items()
        }
        _, sd = mean_sd(values)
        return Cell(
            mean=interval.mean,
            sd=sd,
            low=interval.low,
            high=interval.high,
            papers=interval.clusters,
            scored=self.statuses["scored"],
            not_applicable=self.statuses["not_applicable"],
            failed=self.statuses["failed"],
            alpha=self.agreement.alpha(),
            repeat_sd=self.agreement.repeat_sd(),
            parts={name: fmean(found) for name, found in parts.items() if found},
            judged={judge: (self.answered[judge], asked) for judge, asked in sorted(self.asked.items())},
        )


def _flat(by_paper: Mapping[str, Sequence[float]]) -> list[float]:
    return [value for values in by_paper.values() for value in values]


def _by_paper(by_paper: Mapping[str, Sequence[float]], papers: Collection[str]) -> dict[str, float]:
    return {paper: fmean(values) for paper, values in by_paper.items() if paper in papers}


class _Costs:
    """What is gathered for a metric over all rows."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.units = 0
        self.reasons: Counter[tuple[MetricStatus, str]] = Counter()

    def add(self, result: MetricResult) -> None:
        self.usage += result.usage
        self.units += 1
        if result.status != "scored":
            self.reasons[result.status, _general(result.reason)] += 1

    def totals(self) -> MetricTotals:
        listed = tuple((status, reason, count) for (status, reason), count in self.reasons.most_common(_REASONS))
        return MetricTotals(self.usage, self.units, listed)


_REASONS = 8
_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"")


def build_table(
    results: Iterable[MetricResult],
    rows: Rows,
    metrics: Sequence[str],
    *,
    better: Mapping[str, Better] | None = None,
    over_papers: bool = False,
) -> Table:
    """Gather results into the table. Streams: what stays in memory are the values themselves.

    Args:
        results: Each unit once.
        rows: The row of each review.
        metrics: The columns; others are left out.
        better: Which way each is better; more of all where it is not given.
        over_papers: See ``Table``. A paper on which a review of a system failed is in no row of that column.
    """
    piles: dict[tuple[RowKey, str], _Pile] = defaultdict(_Pile)
    costs = {name: _Costs() for name in metrics}
    for result in results:
        if result.metric in costs:
            piles[rows.of(result.case_id), result.metric].add(result)
            costs[result.metric].add(result)
    ways: dict[str, Better] = {name: "higher" if better is None else better.get(name) for name in metrics}
    shared = {name: _shared_papers(name, list(rows), piles) if over_papers else None for name in metrics}
    cells = {(row, name): piles[row, name].cell(shared[name]) for row in rows for name in metrics}
    marked = {key: cell for name in metrics for key, cell in _marked(name, ways[name], list(rows), cells).items()}
    totals = {name: of_metric.totals() for name, of_metric in costs.items()}
    return Table(tuple(metrics), tuple(rows), cells | marked, totals, rows.group_by, over_papers)


def _shared_papers(metric: str, rows: Sequence[RowKey], piles: Mapping[tuple[RowKey, str], _Pile]) -> set[str]:
    """The papers on which every row that has any value has one, and no system's review failed."""
    own = [piles[row, metric] for row in rows if piles[row, metric].values]
    failed = {paper for row in rows if not row.is_expert for paper in piles[row, metric].failed}
    return set.intersection(*(set(pile.values) for pile in own)) - failed if own else set()


def _marked(
    metric: str, better: Better, rows: Sequence[RowKey], cells: dict[tuple[RowKey, str], Cell]
) -> dict[tuple[RowKey, str], Cell]:
    """The column's cells with the best by both rules marked, group by group; ties share a mark."""
    marked = {}
    for group in {row.group for row in rows}:
        own = {row: cells[row, metric] for row in rows if row.group == group and not row.is_expert}
        means = {row: cell.mean for row, cell in own.items() if cell.mean is not None}
        expert = next((cells[row, metric].mean for row in rows if row.group == group and row.is_expert), None)
        near = {row: abs(mean - expert) for row, mean in means.items()} if expert is not None else {}
        for row in means:
            marked[row, metric] = replace(
                own[row],
                nearest=bool(near) and near[row] == min(near.values()),
                best=bool(means) and better is not None and means[row] == _BEST[better](means.values()),
            )
    return marked


def _general(reason: str) -> str:
    """The reason without the names in it, so that reasons of the same kind are counted together."""
    return _NAMED.sub("'…'", reason)
