"""Which row of the table a review belongs to: its system, or ``Expert`` for every human review."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from referee.errors import SettingsError
from referee.schemas.case import ReviewCase

EXPERT = "Expert"
GROUPINGS = ("source", "kind", "venue", "year")


@dataclass(frozen=True, order=True)
class RowKey:
    """A row. ``group`` is the venue or year, and empty where all reviews are one group."""

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
        group_by: ``source`` gives a row a system; ``kind`` one for all AI reviews; ``venue`` and ``year`` a row a
            system within each.
        cases: Reviews to begin with.

    Raises:
        SettingsError: The grouping is unknown.
    """

    def __init__(self, group_by: str = "source", cases: Iterable[ReviewCase] = ()) -> None:
        check_grouping(group_by)
        self.group_by = group_by
        self._keys: dict[RowKey, RowKey] = {}
        self._row: dict[str, RowKey] = {}
        for case in cases:
            self.add(case)

    def add(self, case: ReviewCase) -> None:
        """Note a review."""
        key = _key(case, self.group_by)
        self._row[case.case_id] = self._keys.setdefault(key, key)

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


def check_grouping(group_by: str) -> None:
    """See that reviews can be grouped by it; raises ``SettingsError``."""
    if group_by not in GROUPINGS:
        near = difflib.get_close_matches(group_by, GROUPINGS, n=1, cutoff=0.4)
        offer = f"Did you mean {near[0]!r}? " if near else ""
        raise SettingsError(
            f"reviews cannot be grouped by {group_by!r}.", hint=f"{offer}Choose one of: {', '.join(GROUPINGS)}."
        )


def _key(case: ReviewCase, group_by: str) -> RowKey:
    named = f"{EXPERT} ({case.kind})" if case.source == EXPERT else case.source
    system = EXPERT if case.kind == "human" else named
    if group_by == "kind":
        return RowKey("", EXPERT if case.kind == "human" else case.kind)
    if group_by == "source":
        return RowKey("", system)
    of_group = case.venue if group_by == "venue" else case.year
    return RowKey(str(of_group) if of_group is not None else f"no {group_by}", system)
