"""Atomic items of systems beside people's: how many, how long, and how much of people's they hold."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from statistics import fmean
from typing import Any, Literal

from referee.data.decisions import NO_DECISION, UNCLEAR, decision_group
from referee.evals.behaviour.atomic import POLARITIES, AtomicItems, MatchedPair, Quantity, compared, quantity
from referee.evals.behaviour.atomic_rules import Polarity
from referee.evals.behaviour.coverage_matrix import Coverage, PairMatrices, macro, micro
from referee.evals.profile.result import Covered, Matched
from referee.schemas.case import ReviewCase
from referee.stats import Interval, bootstrap_interval, mean_sd

QUANTITIES: tuple[Quantity, ...] = ("strengths", "weaknesses", "strength_chars", "weakness_chars")
ALL = "all"
ALL_SYSTEMS = "all systems"
FAILED = "no judge gave a usable reply"

_RESAMPLES = 1000

_NONE = math.nan  # no value, in columns of numbers

Read = tuple[ReviewCase, AtomicItems]
OfPaper = tuple[str, float | None]
"""A value of a pair of reviews, and the paper that its generated review is of."""


class _Column:
    """Rows of so many numbers each, packed: large sets have hundreds of thousands of pairs."""

    def __init__(self, kind: Literal["d", "q"], width: int) -> None:
        self._numbers: array[Any] = array(kind)
        self._width = width

    def append(self, *row: float) -> None:
        self._numbers.extend(row)

    def __len__(self) -> int:
        return len(self._numbers) // self._width

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        return zip(*[iter(self._numbers)] * self._width, strict=True)


class CoverageBook:
    """Counts over pairs of reviews; the items themselves are not kept."""

    def __init__(self) -> None:
        self._papers: dict[str, int] = {}
        self._pairs: dict[tuple[str, Polarity, Literal["own", "chance"]], _Column] = defaultdict(_counts)
        self._volume: dict[tuple[str, Polarity], _Column] = defaultdict(_values)
        self._failed: dict[tuple[str, Literal["own", "chance"]], int] = defaultdict(int)
        self._alone: dict[str, int] = defaultdict(int)
        self._systems: set[str] = set()
        self._values: dict[tuple[str, str, Quantity], _Column] = defaultdict(_values)

    def add(self, system: str, pair: MatchedPair, found: PairMatrices) -> None:
        """Take down a pair of one paper, with its matrices."""
        self._systems.add(system)
        decision = decision_group(pair.human_case.decision or pair.generated_case.decision)
        decided = {NO_DECISION: "", UNCLEAR: UNCLEAR}.get(decision, f"decision {decision}")
        venue = pair.human_case.venue or pair.generated_case.venue
        for counted in QUANTITIES:
            both = quantity(pair.generated, counted), quantity(pair.human, counted)
            for split in dict.fromkeys(filter(None, (ALL, venue and f"venue {venue}", decided))):
                self._values[system, split, counted].append(*map(_packed, both))
        paper = pair.generated_case.paper_id
        self._count(system, paper, "own", found)
        for polarity in POLARITIES if found.status != "failed" else ():
            for name in (system, ALL_SYSTEMS):
                self._volume[name, polarity].append(self._number(paper), _packed(found.volume_matched(polarity)))

    def add_chance(self, system: str, pair: MatchedPair, found: PairMatrices) -> None:
        """Take down the matrices of a generated review beside another paper's human one."""
        self._count(system, pair.generated_case.paper_id, "chance", found)

    def left_alone(self, system: str, pairs: int) -> None:
        """Count pairs for which there was no other paper to take by chance."""
        for name in (system, ALL_SYSTEMS):
            self._alone[name] += pairs

    def coverage(self, *, seed: int = 0) -> Iterator[Covered]:
        """Means over pairs, by system and polarity; micro averages, chance and equal volume beside them.

        Means have an interval that draws the papers of the generated reviews whole.
        """
        for (system, polarity, kind), pairs in sorted(self._pairs.items()):
            if system == ALL_SYSTEMS and len(self._systems) < 2:
                continue
            failed = self._failed[system, kind]
            alone = self._alone[system] if kind == "chance" else 0
            papers = self._names(pairs)
            counts = [Coverage(*map(int, one)) for _, *one in pairs]
            for measure, mean in macro(counts).items():
                values = [(paper, getattr(one, measure)) for paper, one in zip(papers, counts, strict=True)]
                bounds = _bounds(values, seed)
                yield Covered(
                    system=system,
                    polarity=polarity,
                    measure=measure,
                    kind=kind,
                    value=mean.value,
                    low=bounds.low,
                    high=bounds.high,
                    sd=mean_sd([value for _, value in values if value is not None])[1],
                    pairs=mean.n,
                    skipped=mean.skipped + failed + alone,
                    reason=mean.reason or (FAILED if failed else "") or ("no other paper" if alone else ""),
                )
            if kind == "own":
                yield from _micro(system, polarity, counts)
                yield self._volume_matched(system, polarity, seed)

    def matched(self) -> Iterator[Matched]:
        """Ratios and differences of numbers and lengths, over all pairs, by venue and by decision."""
        for (system, split, name), values in sorted(self._values.items()):
            yield _matched(system, split, name, [(_unpacked(ours), _unpacked(theirs)) for ours, theirs in values])

    def _count(self, system: str, paper: str, kind: Literal["own", "chance"], found: PairMatrices) -> None:
        for name in (system, ALL_SYSTEMS):
            for polarity in POLARITIES:
                counts = found.coverage(polarity)
                if counts is not None:
                    self._pairs[name, polarity, kind].append(self._number(paper), *astuple(counts))
            self._failed[name, kind] += found.status == "failed"

    def _number(self, paper: str) -> int:
        return self._papers.setdefault(paper, len(self._papers))

    def _names(self, column: _Column) -> list[str]:
        """The papers of a column's rows, whose first number is the paper's."""
        names = list(self._papers)
        return [names[int(row[0])] for row in column]

    def _volume_matched(self, system: str, polarity: Polarity, seed: int) -> Covered:
        column = self._volume[system, polarity]
        values = list(zip(self._names(column), (_unpacked(value) for _, value in column), strict=True))
        known = [value for _, value in values if value is not None]
        bounds = _bounds(values, seed)
        return Covered(
            system=system,
            polarity=polarity,
            measure="recall",
            kind="volume",
            value=fmean(known) if known else None,
            low=bounds.low,
            high=bounds.high,
            pairs=len(known),
            skipped=len(values) - len(known),
            reason="" if known else "no human review has such an item",
        )


def _counts() -> _Column:
    return _Column("q", 1 + len(fields(Coverage)))


def _values() -> _Column:
    return _Column("d", 2)


def _packed(value: float | None) -> float:
    return _NONE if value is None else value


def _unpacked(value: float) -> float | None:
    return None if math.isnan(value) else value


def _bounds(values: Sequence[OfPaper], seed: int) -> Interval:
    """The interval of the mean of those that are defined."""
    by_paper: dict[str, list[float]] = defaultdict(list)
    for paper, value in values:
        if value is not None:
            by_paper[paper].append(value)
    return bootstrap_interval(by_paper, seed=seed, resamples=_RESAMPLES)


def _micro(system: str, polarity: Polarity, pairs: Sequence[Coverage]) -> Iterator[Covered]:
    whole = micro(pairs)
    found: Mapping[str, float | None] = {
        "recall": whole.recall,
        "precision": whole.precision,
        "compaction": whole.compaction,
        "density": whole.density,
    }
    for measure, value in found.items():
        yield Covered(
            system=system,
            polarity=polarity,
            measure=measure,
            kind="micro",
            value=value,
            pairs=len(pairs),
            skipped=0,
            reason=whole.reason if value is None else "",
        )


def _matched(system: str, split: str, name: Quantity, values: Sequence[tuple[float | None, float | None]]) -> Matched:
    found = compared(values)
    return Matched(
        system=system,
        split=split,
        quantity=name,
        ratio=found.ratio,
        ratio_median=found.ratio_median,
        ratio_sd=found.ratio_sd,
        pairs=found.pairs,
        zero_denominators=found.zero_denominators,
        difference=found.difference,
        difference_median=found.difference_median,
        generated_total=found.generated_total,
        human_total=found.human_total,
        compared=found.compared,
        undefined=found.undefined,
        reason=found.reason,
    )
