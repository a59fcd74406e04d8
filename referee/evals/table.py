"""The table of an evaluation: rows of systems, columns of metrics; each cell says what was measured and how surely."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import cast

from referee.evals.edges import Edges, edges_of, level_rows
from referee.evals.grouping import RowKey, Rows
from referee.evals.metric import LEFT_OUT, Better, Range
from referee.evals.store import Store
from referee.schemas.metric import JudgeScore, MetricResult, MetricStatus
from referee.schemas.paper_cut import PaperCut, cuts_told
from referee.schemas.usage import Usage
from referee.stats import bootstrap_interval, krippendorff_alpha, mean_sd, paired_interval
from referee.stats.values import Floats


class Agreement:
    """Gathers what judges said of many reviews."""

    def __init__(self) -> None:
        self._units: list[tuple[float | None, ...]] = []
        self._spreads: list[float] = []

    def add(self, judges: Sequence[JudgeScore]) -> None:
        """Add one review's scores."""
        given: dict[str, list[float]] = {}
        for score in judges:
            own = given.setdefault(score.judge, [])
            if score.value is not None:
                own.append(score.value)
        if len(given) > 1:
            self._units.append(tuple(sum(own) / len(own) if own else None for own in given.values()))
        for own in given.values():
            _, spread = mean_sd(own)
            if spread is not None:
                self._spreads.append(spread)

    def alpha(self) -> float | None:
        """Krippendorff's alpha (ordinal) between judges, each by the mean of its repeats; None where it is undefined.

        Undefined: fewer than two judges, no review that two of them scored, or one value throughout.
        """
        return krippendorff_alpha(self._units, level="ordinal") if self._units else None

    def repeat_sd(self) -> float | None:
        """Mean standard deviation of a judge's repeats on one review; None where nothing was asked twice."""
        return sum(self._spreads) / len(self._spreads) if self._spreads else None


SEED = 20_260_101
_BEST: Mapping[str, Callable[[Iterable[float]], float]] = {"higher": max, "lower": min}


@dataclass(frozen=True)
class Cell:
    """One metric over the reviews of one row.

    ``low`` and ``high`` bound the mean at 95 percent, by bootstrap over papers; None with fewer than two. ``sd`` is the
    standard deviation of what the mean is over: reviews, or papers where the table is over papers. ``alpha`` is
    Krippendorff's between judges (ordinal), ``repeat_sd`` the mean standard deviation of a judge's repeats on one
    review. ``judged`` says by judge how many of the reviews that it was asked about it answered on. ``edges`` are the
    shares of reviews at the ends of a judged metric's range. ``nearest`` and ``best`` mark a column's cells: nearest to
    people, and the best where more or less of the metric is better; none where all systems stand at one end.
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
    edges: Edges = field(default_factory=Edges)
    nearest: bool = False
    best: bool = False


@dataclass(frozen=True)
class MetricTotals:
    """What a metric cost over all rows, why units have no value, and what it left out of reviews.

    ``reasons`` are each with the number of units; the rarest are together as ``OTHER_REASONS``. ``left_out`` says what,
    how much of it, and of how many reviews.
    """

    usage: Usage
    units: int
    reasons: tuple[tuple[MetricStatus, str, int], ...]
    left_out: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Table:
    """All cells. ``metrics`` are the columns in their order, ``rows`` the rows in theirs.

    ``over_papers`` says that a paper counts once, by the mean of its reviews, and that all rows of a column that have a
    value are over the same papers. ``cut_line`` says what of the papers judges did not see, where they are shown them,
    and ``cuts`` are these papers by id, each with the least that a judge saw of it.
    """

    metrics: tuple[str, ...]
    rows: tuple[RowKey, ...]
    cells: dict[tuple[RowKey, str], Cell]
    totals: dict[str, MetricTotals]
    group_by: str
    over_papers: bool = False
    cut_line: str = ""
    cuts: dict[str, PaperCut] = field(default_factory=dict)

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
class _Judged:
    """What judges said of a cell's reviews, while results stream by."""

    agreement: Agreement = field(default_factory=Agreement)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    def add(self, result: MetricResult) -> None:
        self.asked.update({score.judge for score in result.judges})
        # A judge may answer that there is nothing to judge: then it has a call and no value.
        self.answered.update({score.judge for score in result.judges if score.value is not None or score.calls})
        if result.value is not None:
            self.agreement.add(result.judges)


class _Gathered:
    """What is kept of results: numbers in columns, a part of a metric being one of its own, and what judges said."""

    def __init__(self, results: Iterable[MetricResult], rows: Rows, metrics: Sequence[str]) -> None:
        self.store: Store[RowKey] = Store(metrics)
        self.parts: dict[str, list[str]] = {name: [] for name in metrics}
        self.judged: dict[tuple[RowKey, str], _Judged] = defaultdict(_Judged)
        self.usage = dict.fromkeys(metrics, Usage())
        self.cuts: list[tuple[str, PaperCut | None]] = []
        self.left_out: dict[str, Counter[str]] = {name: Counter() for name in metrics}
        self.left_out_of: dict[str, Counter[str]] = {name: Counter() for name in metrics}
        self._places: dict[str, int] = {}
        for result in results:
            if result.metric in self.usage:
                self._add(result, rows.of(result.case_id))

    def _add(self, result: MetricResult, row: RowKey) -> None:
        place = self._places.get(result.case_id)
        if place is None:
            place = self._places[result.case_id] = self.store.add(row, result.paper_id)
        why = result.status, _general(result.reason)
        self.store.put(place, result.metric, result.value, why)
        self.judged[row, result.metric].add(result)
        self.usage[result.metric] += result.usage
        if PAPER_CUT in result.details:
            cut = result.details[PAPER_CUT]
            self.cuts.append((result.paper_id, PaperCut.model_validate(cut) if cut else None))
        own = Counter({what: count for what, count in result.details.get(LEFT_OUT, {}).items() if count})
        own += Counter({_CUT_REVIEWS: int(bool(result.details.get("cut")))})
        self.left_out[result.metric] += own
        self.left_out_of[result.metric].update(own.keys())
        for name, value in result.parts.items() if result.value is not None else ():
            if value is not None:
                self.store.put(place, _part(result.metric, name), value)
                if name not in self.parts[result.metric]:
                    self.parts[result.metric].append(name)

    def totals(self, metric: str) -> MetricTotals:
        missing = Counter(self.store.missing(metric, self.store.all_rows))
        scored, _ = self.store.values(metric, self.store.all_rows)
        listed = [(*_status(why), count) for why, count in missing.most_common(_REASONS)]
        rest = Counter[MetricStatus]()
        for why, count in missing.most_common()[_REASONS:]:
            rest[_status(why)[0]] += count
        listed += [(status, OTHER_REASONS, count) for status, count in rest.most_common()]
        left = tuple((what, n, self.left_out_of[metric][what]) for what, n in sorted(self.left_out[metric].items()))
        return MetricTotals(self.usage[metric], len(scored) + missing.total(), tuple(listed), left)

    def least_read(self) -> dict[str, PaperCut]:
        """Each paper that a judge did not see all of, with the least that one saw."""
        least: dict[str, PaperCut] = {}
        for paper, cut in self.cuts:
            if cut is not None and (paper not in least or cut.share < least[paper].share):
                least[paper] = cut
        return dict(sorted(least.items()))

    def shared_papers(self, metric: str, rows: Sequence[RowKey]) -> set[str]:
        """The papers on which every row that has any value has one, and no system's review failed."""
        own = [set(found) for row in rows if (found := self.store.by_paper(metric, self.store.rows_of(row)))]
        systems = [row for row in rows if not row.is_expert]
        failed = [self.store.papers_missing(metric, self.store.rows_of(row), "failed") for row in systems]
        return set.intersection(*own).difference(*failed) if own else set()

    def cell(self, row: RowKey, metric: str, papers: Collection[str] | None = None, ends: Range | None = None) -> Cell:
        """The cell over all reviews; given papers, over their means; ``ends`` are of a judged metric."""
        rows = self.store.rows_of(row)
        by_paper = self.store.by_paper(metric, rows)
        if papers is None:
            interval = bootstrap_interval(by_paper, seed=SEED)
        else:
            means = {paper: [(fmean(found), 0.0)] for paper, found in by_paper.items() if paper in papers}
            # As in an experiment's comparisons: the interval for few papers.
            interval = paired_interval(means, seed=SEED)
        _, sd = mean_sd(_counted(by_paper, papers))
        parts = {name: self.store.by_paper(_part(metric, name), rows) for name in self.parts[metric]}
        missing = self.store.missing(metric, rows)
        statuses = Counter[MetricStatus]()
        for why, count in missing.items():
            statuses[_status(why)[0]] += count
        judged = self.judged[row, metric]
        return Cell(
            mean=interval.mean,
            sd=sd,
            low=interval.low,
            high=interval.high,
            papers=interval.clusters,
            scored=sum(map(len, by_paper.values())),
            not_applicable=statuses["not_applicable"],
            failed=statuses["failed"],
            alpha=judged.agreement.alpha(),
            repeat_sd=judged.agreement.repeat_sd(),
            parts={name: fmean(values) for name, found in parts.items() if (values := _counted(found, papers))},
            edges=edges_of(_single(by_paper, papers), ends),
            judged={judge: (judged.answered[judge], asked) for judge, asked in sorted(judged.asked.items())},
        )


def _counted(by_paper: Mapping[str, Floats], papers: Collection[str] | None) -> list[float]:
    """Every value; given papers, their means."""
    if papers is None:
        return [value for values in by_paper.values() for value in values.tolist()]
    return [fmean(values) for paper, values in by_paper.items() if paper in papers]


def _single(by_paper: Mapping[str, Floats], papers: Collection[str] | None) -> list[float]:
    """Every review's value; given papers, of these alone."""
    return _counted({paper: own for paper, own in by_paper.items() if papers is None or paper in papers}, None)


def _part(metric: str, name: str) -> str:
    return f"{metric}: {name}"


def _status(why: Hashable) -> tuple[MetricStatus, str]:
    status, reason = cast("tuple[MetricStatus, str]", why)
    return status, reason


_REASONS = 8
OTHER_REASONS = "other reasons"
PAPER_CUT = "paper_cut"
"""Where the details of a metric that shows the paper to judges say what of it was not shown."""
_CUT_REVIEWS = "review(s) of which a judge saw only the beginning"
_NAMED = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"")  # an apostrophe within a word quotes nothing


def build_table(
    results: Iterable[MetricResult],
    rows: Rows,
    metrics: Sequence[str],
    *,
    better: Mapping[str, Better] | None = None,
    judged: Mapping[str, Range] | None = None,
    over_papers: bool = False,
) -> Table:
    """Gather results into the table. Streams: what stays in memory are the values themselves.

    Args:
        results: Each unit once.
        rows: The row of each review.
        metrics: The columns; others are left out.
        better: Which way each is better; more of all where it is not given.
        judged: The ranges of those that a judge decides.
        over_papers: See ``Table``. A paper on which a review of a system failed is in no row of that column.
    """
    found = _Gathered(results, rows, metrics)
    ways: dict[str, Better] = {name: "higher" if better is None else better.get(name) for name in metrics}
    shared = {name: found.shared_papers(name, list(rows)) if over_papers else None for name in metrics}
    ends = judged or {}
    cells = {(row, name): found.cell(row, name, shared[name], ends.get(name)) for row in rows for name in metrics}
    marked = {key: cell for name in metrics for key, cell in _marked(name, ways[name], list(rows), cells).items()}
    totals = {name: found.totals(name) for name in metrics}
    cut_line = cuts_told([cut for _, cut in found.cuts], [True] * len(found.cuts), "papers shown to judges")
    cuts = found.least_read()
    return Table(tuple(metrics), tuple(rows), cells | marked, totals, rows.group_by, over_papers, cut_line, cuts)


def _marked(
    metric: str, better: Better, rows: Sequence[RowKey], cells: dict[tuple[RowKey, str], Cell]
) -> dict[tuple[RowKey, str], Cell]:
    """The column's cells with the best by both rules marked, group by group; ties share a mark.

    Where all systems of a group stand at the ceiling, or all at the floor, there is no best and no mark.
    """
    marked = {}
    for group in {row.group for row in rows}:
        own = {row: cells[row, metric] for row in rows if row.group == group and not row.is_expert}
        means = {row: cell.mean for row, cell in own.items() if cell.mean is not None}
        expert = next((cells[row, metric].mean for row in rows if row.group == group and row.is_expert), None)
        near = {row: abs(mean - expert) for row, mean in means.items()} if expert is not None else {}
        if level_rows(own[row].edges for row in means):
            continue
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
