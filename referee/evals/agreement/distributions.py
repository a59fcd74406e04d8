"""How ratings are spread over a form's values, by people and by a model, and how far the two are apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from referee.errors import EvaluationError
from referee.evals.agreement.rated import RatedPaper, same_scale
from referee.evals.agreement.scales import Scale, one_scale
from referee.stats import Interval, bootstrap_interval
from referee.stats.distances import Distances, distances

NO_RATINGS = "no rating is one of the form's values"


@dataclass(frozen=True, slots=True)
class Histogram:
    """Ratings counted over the values of one scale.

    ``counts`` go with ``scale.allowed``. ``off_scale`` are ratings that the form does not offer, by value; they are
    in no count. ``missing`` are reviews without a rating.
    """

    scale: Scale
    counts: tuple[int, ...]
    off_scale: tuple[tuple[float, int], ...]
    missing: int

    @property
    def n(self) -> int:
        """Ratings that are counted."""
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...] | None:
        """Proportions of the ratings that the form offers; None without one."""
        return tuple(count / self.n for count in self.counts) if self.n else None

    @property
    def off_scale_share(self) -> float | None:
        """Share of all ratings that the form does not offer; None without ratings."""
        off = sum(count for _, count in self.off_scale)
        return off / (off + self.n) if off + self.n else None


@dataclass(frozen=True, slots=True)
class Apart:
    """Two histograms of one scale and their distances, None with a ``reason``."""

    first: Histogram
    second: Histogram
    distances: Distances | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FromMedian:
    """Predictions less the human median of their papers: mean with an interval by paper, and median of the differences.

    ``no_human`` and ``no_prediction`` count the papers left out.
    """

    mean: Interval
    median: float | None
    no_human: int
    no_prediction: int


def histogram(rated: Iterable[tuple[Scale, float | None]]) -> Histogram:
    """Ratings with the scales they were given on, counted over the values of the one scale that all share.

    Raises:
        EvaluationError: They are on two scales, named in the message, or there is none.
    """
    by_scale: dict[Scale, Counter[float | None]] = defaultdict(Counter)
    for given_on, value in rated:
        by_scale[given_on][value] += 1
    scale = one_scale(by_scale)
    counted: Counter[float | None] = Counter()
    for counts in by_scale.values():
        counted.update(counts)
    missing = counted.pop(None, 0)
    known = {value: count for value, count in counted.items() if value is not None}
    off = tuple(sorted((value, count) for value, count in known.items() if not scale.offers(value)))
    return Histogram(scale, tuple(known.get(value, 0) for value in scale.allowed), off, missing)


def apart(first: Histogram, second: Histogram) -> Apart:
    """The distances of two histograms, after both are scaled to proportions; ratings off the form are left out.

    Raises:
        EvaluationError: They are of different scales.
    """
    scale = one_scale((first.scale, second.scale))
    found = distances(first.counts, second.counts, scale.allowed)
    return Apart(first, second, found, "" if found else NO_RATINGS)


def from_median(rows: Iterable[RatedPaper], *, seed: int = 0) -> FromMedian:
    """The signed difference of each prediction from its paper's median human rating.

    Papers count alike; confidences go the same way as ratings, given as ``human`` and ``predicted``.

    Raises:
        EvaluationError: A prediction is on another scale than the human ratings.
    """
    papers = [same_scale(paper) for paper in rows]
    found = {
        paper.paper_id: [paper.predicted - float(median(paper.human))]
        for paper in papers
        if paper.predicted is not None and paper.human
    }
    all_differences = [value for values in found.values() for value in values]
    return FromMedian(
        bootstrap_interval(found, seed=seed),
        median(all_differences) if all_differences else None,
        no_human=sum(not paper.human for paper in papers),
        no_prediction=sum(bool(paper.human) and paper.predicted is None for paper in papers),
    )


@dataclass(frozen=True, slots=True)
class RankBins:
    """Ratings of two scales, each as its rank within its own form (0 lowest, 1 highest), counted in equal bins.

    ``first`` and ``second`` are counts by bin; ``outside`` are ratings beyond either end of their form. ``distances``
    are of the binned counts, Wasserstein-1 in units of rank.
    """

    forms: tuple[str, str]
    bins: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    mean_ranks: tuple[float | None, float | None]
    off_scale: tuple[float | None, float | None]
    outside: tuple[int, int]
    distances: Distances | None


def compare_scales(
    first: tuple[Scale, Sequence[float]], second: tuple[Scale, Sequence[float]], bins: int = 5
) -> RankBins:
    """Ratings on different forms, compared by rank within each form; only where somebody asks for it by name.

    The k values of a form have the ranks 0, 1/(k - 1), ..., 1; a rating between two values ranks in between. What
    "6" means differs between forms all the same: equal rank is not equal judgement.

    Raises:
        EvaluationError: ``bins`` is below 2.
    """
    if bins < 2:
        raise EvaluationError(f"ranks cannot be compared in {bins!r} bins.", hint="Use 5.")
    sides = [_ranks(scale, values) for scale, values in (first, second)]
    counts = [_binned(ranks, bins) for ranks in sides]
    off = [sum(not scale.offers(value) for value in values) for scale, values in (first, second)]
    return RankBins(
        forms=(first[0].form, second[0].form),
        bins=bins,
        first=counts[0],
        second=counts[1],
        mean_ranks=(_mean(sides[0]), _mean(sides[1])),
        off_scale=(_share(off[0], len(first[1])), _share(off[1], len(second[1]))),
        outside=(len(first[1]) - len(sides[0]), len(second[1]) - len(sides[1])),
        distances=distances(counts[0], counts[1], [(i + 0.5) / bins for i in range(bins)]),
    )


def _ranks(scale: Scale, values: Sequence[float]) -> list[float]:
    return [rank for value in values if (rank := scale.rank(value)) is not None]


def _binned(ranks: Sequence[float], bins: int) -> tuple[int, ...]:
    counted = Counter(min(int(rank * bins), bins - 1) for rank in ranks)
    return tuple(counted[i] for i in range(bins))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
