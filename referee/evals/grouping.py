"""Which group and which row of a table a review belongs to: its source, venue, year, era, or any column of the data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from referee.data.decisions import UNCLEAR, decision_group
from referee.errors import SettingsError
from referee.nearest import did_you_mean
from referee.schemas.case import ReviewCase

DEFAULT = ("source", "venue", "year")
KNOWN = ("source", "kind", "venue", "conference", "year", "decision", "era")
# Where and when a review was written; the other keys tell who wrote it.
CONTEXT = ("venue", "conference", "year", "decision", "era")
PRAIB = "praib"

_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_NAMED_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_YEAR_CHARS = 4
# The first year of each conference whose reviews were written after ChatGPT came out.
_POST_FROM = {"iclr": 2024, "neurips": 2023}


@dataclass(frozen=True, slots=True)
class Group:
    """One value for each key, in the keys' order; ``no venue`` and the like where the review does not tell."""

    values: tuple[str, ...]

    @property
    def label(self) -> str:
        """The values in words; a year that the venue's name holds is not said twice."""
        said: list[str] = []
        for value in self.values:
            if not (value.isdigit() and any(value in earlier for earlier in said)):
                said.append(value)
        return " / ".join(said)


class Grouping:
    """Puts reviews into groups.

    Args:
        by: Keys: ``source``, ``kind``, ``venue``, ``conference`` (the venue without its year), ``year``,
            ``decision`` (its class: accept, reject, desk_reject or withdrawn), ``era``, or a column of the data that
            nothing else reads.
        era: A date (``2022-11-30``, ``2022-11`` or ``2022``), or ``praib``: ICLR from 2024 and NeurIPS from 2023 on
            are ``post``. With it ``era`` is a key, whether named or not.

    Raises:
        SettingsError: A key is named twice or empty, ``era`` is a key without a date, or the date is none.
    """

    def __init__(self, by: Sequence[str] = DEFAULT, era: str | None = None) -> None:
        keys = [key.strip() for key in by]
        if not keys or not all(keys) or len(set(keys)) < len(keys):
            raise SettingsError(
                f"reviews cannot be grouped by {', '.join(by)!r}.", hint="Name each key once: --by source,venue,year."
            )
        if era is not None and era != PRAIB and not _DATE.fullmatch(era):
            raise SettingsError(f"{era!r} is no date.", hint="Give --era 2022-11-30, 2022-11, 2022 or praib.")
        if era is None and "era" in keys:
            raise SettingsError("a group by era needs a date.", hint="Add --era 2022-11-30, or --era praib.")
        if era is not None and "era" not in keys:
            keys.append("era")
        self.by = tuple(keys)
        self.era = era
        self.unclear: Counter[str] = Counter()
        """Decisions without a class, as the data word them, by their reviews."""
        self._seen: set[str] = set()

    def of(self, case: ReviewCase) -> Group:
        """The group of a review."""
        return Group(tuple(self._value(case, key) for key in self.by))

    def system(self, case: ReviewCase) -> str:
        """Who reviewed: the source, with the other keys that tell reviewers of one paper apart."""
        apart = [key for key in self.by if key not in ("source", "kind", *CONTEXT)]
        return " / ".join([case.source, *(self._value(case, key) for key in apart)])

    def require_columns(self) -> None:
        """See that every key that is a column of the data was there in one review at least.

        Raises:
            SettingsError: A key names nothing that any review has.
        """
        for key in self.by:
            if key not in KNOWN and key not in self._seen:
                offer = did_you_mean(key, KNOWN, cutoff=0.4)
                raise SettingsError(
                    f"no review has a column {key!r} to group by.", hint=f"{offer}Known keys are {', '.join(KNOWN)}."
                )

    def _value(self, case: ReviewCase, key: str) -> str:
        if key == "era":
            return era_of(case, self.era or PRAIB) or "no era"
        if key == "conference":
            return conference_of(case.venue) if case.venue else "no conference"
        if key == "decision":
            group = decision_group(case.decision)
            if group == UNCLEAR:
                self.unclear[" ".join(str(case.decision).split())] += 1
            return group
        if key in KNOWN:
            value = getattr(case, key)
        else:
            value = case.extra.get(key)
            if value is not None:
                self._seen.add(key)
        text = " ".join(str(value).split()) if value is not None else ""
        return text or f"no {key}"


def era_of(case: ReviewCase, era: str) -> str:
    """Before or after a date; empty where the review's own date or year cannot tell.

    A review without a date counts by its conference's year where that is another than the date's. Reviews are written
    up to a year before their conference, so a date is better where the data have one.
    """
    if era == PRAIB:
        conference, year = re.split(r"[\s_-]", (case.venue or "").casefold())[0], year_of(case)
        first = _POST_FROM.get(conference)
        return "" if first is None or year is None else "post" if year >= first else "pre"
    told = case.date[: len(era)] if case.date else (str(year_of(case) or ""))
    width = min(len(told), len(era))
    if width < _YEAR_CHARS or (width < len(era) and told == era[:width]):
        return ""
    return f"from {era}" if told >= era[:width] else f"before {era}"


def year_of(case: ReviewCase) -> int | None:
    """The year, or that in the venue's name."""
    if case.year is not None:
        return case.year
    found = _NAMED_YEAR.search(case.venue or "")
    return int(found[0]) if found else None


def conference_of(venue: str) -> str:
    """A venue's name without its year."""
    return re.sub(r"[\s_-]*(?:19|20)\d{2}.*$", "", venue).strip() or venue


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

    @property
    def unclear(self) -> Counter[str]:
        """Decisions without a class, as the data word them, by their reviews; empty where they make no rows."""
        return self._within.unclear if self._within else Counter()

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
        offer = did_you_mean(label, labels, cutoff=0.4)
        listed = ", ".join(repr(known) for known in list(labels)[:12])
        raise SettingsError(f"there is no row {label!r} to compare.", hint=f"{offer}Rows: {listed}.")


def _system(case: ReviewCase, *, by_kind: bool) -> str:
    if case.kind == "human":
        return EXPERT
    if by_kind:
        return case.kind
    return f"{EXPERT} ({case.kind})" if case.source == EXPERT else case.source
