"""What was measured of many reviews, as columns of numbers: all that stays in memory of a venue's whole history."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.stats.values import Floats

Ints = NDArray[np.int64]
Values = Mapping[str, float | None]
Reasons = Mapping[str, str]
Key = TypeVar("Key", bound=Hashable)
_MISSING = float("nan")
_NOT_PUT = 0


class Store(Generic[Key]):
    """A column for each quantity, with why a value is missing, and each review's group, paper, conference and year.

    About 12 bytes a review and quantity. A missing value is NaN within and never leaves as a number.

    Args:
        names: The columns; others are made when something is put into them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.groups: dict[Key, int] = {}
        self._papers: dict[str, int] = {}
        self._whys: dict[Hashable, int] = {None: _NOT_PUT}
        self._conferences: dict[str, int] = {}
        self._group, self._paper, self._year, self._conference = array("i"), array("i"), array("i"), array("i")
        self._columns = {name: (array("d"), array("i")) for name in names}

    def __len__(self) -> int:
        return len(self._group)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they were made."""
        return tuple(self._columns)

    @property
    def papers(self) -> int:
        """Number of papers."""
        return len(self._papers)

    @property
    def all_rows(self) -> Ints:
        """Every review, by its place."""
        return np.arange(len(self), dtype=np.int64)

    def add(self, group: Key, paper: str, *, year: int | None = None, conference: str = "") -> int:
        """Append a review without values; its place."""
        self._group.append(self.groups.setdefault(group, len(self.groups)))
        self._paper.append(self._papers.setdefault(paper, len(self._papers)))
        self._year.append(-1 if year is None else year)
        self._conference.append(self._conferences.setdefault(conference, len(self._conferences)))
        for values, whys in self._columns.values():
            values.append(_MISSING)
            whys.append(_NOT_PUT)
        return len(self) - 1

    def put(self, row: int, name: str, value: float | None, why: Hashable = "not measured") -> None:
        """Note a review's value, or why it has none."""
        if name not in self._columns:
            self._columns[name] = array("d", [_MISSING]) * len(self), array("i", [_NOT_PUT]) * len(self)
        values, whys = self._columns[name]
        if value is None:
            whys[row] = self._whys.setdefault(why, len(self._whys))
        else:
            values[row] = value

    def rows_of(self, group: Key) -> Ints:
        """The reviews of a group, by their place."""
        return np.flatnonzero(np.frombuffer(self._group, dtype=np.int32) == self.groups.get(group, -1))

    def years(self, rows: Ints) -> dict[int, Ints]:
        """The reviews by year; those without one are left out."""
        years = np.frombuffer(self._year, dtype=np.int32)[rows]
        return {int(year): rows[years == year] for year in np.unique(years) if year >= 0}

    def conferences(self, rows: Ints) -> dict[str, Ints]:
        """The reviews by conference, by name; those without one under an empty name."""
        codes = np.frombuffer(self._conference, dtype=np.int32)[rows]
        return {name: rows[codes == code] for name, code in sorted(self._conferences.items()) if (codes == code).any()}

    def values(self, name: str, rows: Ints) -> tuple[Floats, Ints]:
        """The values that there are, and the papers they are of."""
        column: Floats = np.frombuffer(self._columns[name][0], dtype=np.float64)[rows]
        papers = np.frombuffer(self._paper, dtype=np.int32)[rows].astype(np.int64)
        there = ~np.isnan(column)
        return column[there], papers[there]

    def by_paper(self, name: str, rows: Ints) -> dict[str, Floats]:
        """The values by paper, in the order of the reviews."""
        values, papers = self.values(name, rows)
        codes, first, counts = np.unique(papers, return_index=True, return_counts=True)
        parts = np.split(values[np.argsort(papers, kind="stable")], np.cumsum(counts)[:-1])
        names = list(self._papers)
        return {names[codes[at]]: parts[at] for at in np.argsort(first).tolist()}

    def missing(self, name: str, rows: Ints) -> dict[Hashable, int]:
        """How many of the reviews have no value, by reason, in the order in which reasons came up."""
        codes = np.frombuffer(self._columns[name][1], dtype=np.int32)[rows]
        counts = np.bincount(codes, minlength=len(self._whys)).tolist()
        return {why: counts[code] for why, code in self._whys.items() if code != _NOT_PUT and counts[code]}

    def papers_missing(self, name: str, rows: Ints, status: str) -> set[str]:
        """The papers of reviews without a value whose reason begins with this status."""
        codes = np.frombuffer(self._columns[name][1], dtype=np.int32)[rows]
        wanted = [code for why, code in self._whys.items() if isinstance(why, tuple) and why[0] == status]
        names = list(self._papers)
        return {names[self._paper[row]] for row in rows[np.isin(codes, wanted)].tolist()}

    def sums(self, names: Iterable[str], rows: Ints) -> tuple[Floats, Floats, Ints]:
        """By paper the sum of each column's values and their number, and the papers: (papers x columns) twice."""
        columns = list(names)
        papers, place = np.unique(np.frombuffer(self._paper, dtype=np.int32)[rows], return_inverse=True)
        sums, counts = np.zeros((len(papers), len(columns))), np.zeros((len(papers), len(columns)))
        for at, name in enumerate(columns):
            column = np.frombuffer(self._columns[name][0], dtype=np.float64)[rows]
            there = ~np.isnan(column)
            sums[:, at] = np.bincount(place[there], weights=column[there], minlength=len(papers))
            counts[:, at] = np.bincount(place[there], minlength=len(papers))
        return sums, counts, papers.astype(np.int64)
