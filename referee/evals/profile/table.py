"""All reviews of a profile as columns of numbers: what stays in memory of a venue's whole history."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from referee.evals.grouping import Group
from referee.stats.values import Floats

Ints = NDArray[np.int64]
Values = Mapping[str, float | None]
Reasons = Mapping[str, str]
_MISSING = float("nan")


class Column(Protocol):
    """What a column is of."""

    @property
    def name(self) -> str:
        """The metric's name."""
        ...

    @property
    def scaled(self) -> bool:
        """Whether its numbers are on the scale of a form."""
        ...

    @property
    def variant_of(self) -> str:
        """The metric that it is nearly the same as; empty for none."""
        ...


class ProfileTable:
    """A column for each measure, with why a value is missing, and each review's group, paper, conference and year.

    About 10 bytes a review and measure. A missing value is NaN within and never leaves as a number.

    Args:
        measures: The columns.
    """

    def __init__(self, measures: Sequence[Column]) -> None:
        self.measures = tuple(measures)
        self.groups: dict[Group, int] = {}
        self.bins: dict[Group, Counter[str]] = {}
        self._papers: dict[str, int] = {}
        self._reasons: dict[str, int] = {"": 0}
        self._conferences: dict[str, int] = {}
        self._group, self._paper, self._year, self._conference = array("i"), array("i"), array("i"), array("i")
        self._values = {measure.name: array("d") for measure in measures}
        self._whys = {measure.name: array("H") for measure in measures}

    def __len__(self) -> int:
        return len(self._group)

    @property
    def papers(self) -> int:
        """Number of papers."""
        return len(self._papers)

    def add(
        self,
        group: Group,
        paper: str,
        year: int | None,
        values: Values,
        reasons: Reasons,
        *,
        conference: str = "",
        xref_bin: str = "",
    ) -> None:
        """Append one review. A measure that is not in ``values`` is missing without a reason of its own."""
        self._group.append(self.groups.setdefault(group, len(self.groups)))
        self._paper.append(self._papers.setdefault(paper, len(self._papers)))
        self._year.append(-1 if year is None else year)
        self._conference.append(self._conferences.setdefault(conference, len(self._conferences)))
        if xref_bin:
            self.bins.setdefault(group, Counter())[xref_bin] += 1
        for name, column in self._values.items():
            value = values.get(name)
            column.append(_MISSING if value is None else value)
            why = reasons.get(name, "not measured") if value is None else ""
            self._whys[name].append(self._reasons.setdefault(why, len(self._reasons)))

    def rows_of(self, group: Group) -> Ints:
        """The reviews of a group, by their place."""
        return np.flatnonzero(np.frombuffer(self._group, dtype=np.int32) == self.groups[group])

    def years(self, rows: Ints) -> dict[int, Ints]:
        """The reviews by year; those without one are left out."""
        years = np.frombuffer(self._year, dtype=np.int32)[rows]
        return {int(year): rows[years == year] for year in np.unique(years) if year >= 0}

    def conferences(self, rows: Ints) -> dict[str, Ints]:
        """The reviews by conference, by name; those without one under an empty name."""
        codes = np.frombuffer(self._conference, dtype=np.int32)[rows]
        return {name: rows[codes == code] for name, code in sorted(self._conferences.items()) if (codes == code).any()}

    def values(self, measure: str, rows: Ints) -> tuple[Floats, Ints]:
        """The values that there are, and the papers they are of."""
        column: Floats = np.frombuffer(self._values[measure], dtype=np.float64)[rows]
        papers = np.frombuffer(self._paper, dtype=np.int32)[rows].astype(np.int64)
        there = ~np.isnan(column)
        return column[there], papers[there]

    def skipped(self, measure: str, rows: Ints) -> Mapping[str, int]:
        """How many of the reviews have no value, by reason, the most frequent first."""
        codes = np.frombuffer(self._whys[measure], dtype=np.uint16)[rows]
        counts = np.bincount(codes, minlength=len(self._reasons)).tolist()
        named = [(why, counts[code]) for why, code in self._reasons.items() if code and counts[code]]
        return dict(sorted(named, key=lambda one: (-one[1], one[0])))

    def sums(self, measures: Iterable[str], rows: Ints) -> tuple[Floats, Floats, Ints]:
        """By paper the sum of each measure's values and their number, and the papers: (papers x measures) twice."""
        names = list(measures)
        papers, place = np.unique(np.frombuffer(self._paper, dtype=np.int32)[rows], return_inverse=True)
        sums, counts = np.zeros((len(papers), len(names))), np.zeros((len(papers), len(names)))
        for at, name in enumerate(names):
            column = np.frombuffer(self._values[name], dtype=np.float64)[rows]
            there = ~np.isnan(column)
            sums[:, at] = np.bincount(place[there], weights=column[there], minlength=len(papers))
            counts[:, at] = np.bincount(place[there], minlength=len(papers))
        return sums, counts, papers.astype(np.int64)
