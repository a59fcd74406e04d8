"""What a corpus of papers with reviews holds: the counts of ReviewArena's tables 1, 5 and 6, a venue-year at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import get_args

from referee.data.paper_rows import RowFound
from referee.data.row_files import venue_year_of
from referee.schemas.paper_row import NoteKind, PaperRow, ReviewRow

_REBUTTALS = frozenset({"review_rebuttals", "paper_rebuttals"})
_NOTED = frozenset(f"{kind}s" for kind in get_args(NoteKind)) - _REBUTTALS


@dataclass
class Slice:
    """The counts of one venue-year (and track).

    ``counts`` by name: papers, reviews, ai_reviews, rated, off_scale, revised, with_text, with_pdf, rebuttals, each
    kind of other note (``comments``), and ``decision:CLASS``. ``answered`` says whether any paper came with a rebuttal
    or its other notes, ``noted`` whether any came with those, ``traced`` whether any review says if it was revised:
    where none did, the data do not hold it, and its count is unknown, not 0.
    """

    name: str
    conference: str
    year: int | None
    track: str
    counts: Counter[str] = field(default_factory=Counter)
    apis: set[str] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)
    answered: bool = False
    noted: bool = False
    traced: bool = False

    def take(self, row: PaperRow) -> None:
        """Count a paper in."""
        decided = f"decision:{row.decision_normalized or 'unknown'}"
        self.counts.update(["papers", decided])
        self.counts["with_text"] += bool(row.markdown or row.sections)
        self.counts["with_pdf"] += bool(row.pdf_path)
        for review in row.reviews:
            self._take_review(review)
        if row.other_notes is not None:
            self.answered = self.noted = True
            plural = Counter(f"{note.kind}s" for note in row.other_notes if note.kind != "review_rebuttal")
            self.counts.update(plural)
            self.counts["review_rebuttals"] += sum(note.kind == "review_rebuttal" for note in row.other_notes)
        else:
            attached = sum(bool(review.rebuttal) for review in row.reviews)
            self.counts["review_rebuttals"] += attached
            self.counts["paper_rebuttals"] += bool(row.author_rebuttal)
            self.answered |= bool(attached or row.author_rebuttal)

    def count(self, name: str) -> int | None:
        """A count; None where the data do not hold what would be counted."""
        known = (
            self.traced
            if name == "revised"
            else self.answered
            if name in _REBUTTALS
            else self.noted
            if name in _NOTED
            else True
        )
        return self.counts[name] if known else None

    def _take_review(self, review: ReviewRow) -> None:
        self.counts["reviews"] += 1
        self.counts["ai_reviews"] += review.kind == "ai"
        self.counts["rated"] += review.rating is not None
        self.counts["off_scale"] += "rating" in review.off_scale
        self.traced |= review.was_revised is not None
        self.counts["revised"] += bool(review.was_revised)
        if review.form_id:
            self.forms.add(review.form_id)
        if review.note:
            self.apis.add("v2" if "invitations" in review.note or review.note.get("content") != "plain" else "v1")


@dataclass
class Corpus:
    """The venue-years of a set, the areas that authors chose, and what could not be counted."""

    slices: dict[str, Slice] = field(default_factory=dict)
    areas: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unusable: int = 0

    def take(self, found: RowFound) -> None:
        """Count in what was found."""
        row = found.row
        if row is None:
            self.unusable += 1
            return
        name = venue_year_of(row)
        if name not in self.slices:
            self.slices[name] = Slice(name, row.conference or "unknown", row.year, row.track or "main")
        self.slices[name].take(row)
        if row.primary_area:
            self.areas[row.conference or "unknown"][row.primary_area] += 1

    def by_conference(self) -> dict[str, list[Slice]]:
        """The slices of each conference, in the order of years."""
        found: dict[str, list[Slice]] = defaultdict(list)
        for one in sorted(self.slices.values(), key=lambda one: (one.conference, one.year or 0, one.track)):
            found[one.conference].append(one)
        return dict(found)


def total(slices: list[Slice], name: str) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for one in slices if (count := one.count(name)) is not None]
    return sum(known) if known else None
