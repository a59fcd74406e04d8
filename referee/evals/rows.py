"""Which row of a table a review belongs to: its system, or ``Expert`` for every human review, within its group."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from referee.errors import SettingsError
from referee.evals.grouping import Grouping
from referee.schemas.case import ReviewCase

EXPERT = "Expert"


@dataclass(frozen=True, order=True)
class RowKey:
    """A row. ``group`` is its venue, year or the like, and empty where all reviews are one group."""

    group: str
    system: str

    @property
    def label(self) -> str:
        """As it is asked for and printed."""
        return f"{self.group}: {self.system}" if self.group else self.system

    @property
    def is_expert(self) -> bool:
        """Whether it holds the human reviews."""
        return self.system == EXPERT


class Rows:
    """The row of each review, by its id.

    Args:
        group_by: Keys of ``Grouping``, parted by commas. ``source`` gives a row a system, ``kind`` one for all AI
            reviews; any other key gives these rows within each of its values.
        cases: Reviews to begin with.

    Raises:
        SettingsError: The keys are no grouping.
    """

    def __init__(self, group_by: str = "source", cases: Iterable[ReviewCase] = ()) -> None:
        keys = [key.strip() for key in group_by.split(",")]
        within = [key for key in keys if key not in ("source", "kind")]
        self.group_by = group_by
        self._by_kind = "kind" in keys
        self._within = Grouping(within) if within else None
        self._keys: dict[RowKey, RowKey] = {}
        self._row: dict[str, RowKey] = {}
        for case in cases:
            self.add(case)

    def add(self, case: ReviewCase) -> None:
        """Note a review."""
        group = self._within.of(case).label if self._within else ""
        key = RowKey(group, _system(case, by_kind=self._by_kind))
        self._row[case.case_id] = self._keys.setdefault(key, key)

    def require_columns(self) -> None:
        """See that every key was there in one review at least; raises ``SettingsError`` with the nearest."""
        if self._within:
            self._within.require_columns()

    def __iter__(self) -> Iterator[RowKey]:
        """In their order of printing: by group, the experts last."""
        return iter(sorted(self._keys, key=lambda key: (key.group, key.is_expert, key.system)))

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._row

    def of(self, case_id: str) -> RowKey:
        """The row of a review."""
        return self._row[case_id]

    def find(self, label: str) -> RowKey:
        """The row of that label; raises ``SettingsError`` with the nearest where there is none."""
        labels = {key.label: key for key in self}
        if label in labels:
            return labels[label]
        near = difflib.get_close_matches(label, labels, n=1, cutoff=0.4)
        offer = f"Did you mean {near[0]!r}? " if near else ""
        listed = ", ".join(repr(known) for known in list(labels)[:12])
        raise SettingsError(f"there is no row {label!r} to compare.", hint=f"{offer}Rows: {listed}.")


def _system(case: ReviewCase, *, by_kind: bool) -> str:
    if case.kind == "human":
        return EXPERT
    if by_kind:
        return case.kind
    return f"{EXPERT} ({case.kind})" if case.source == EXPERT else case.source
