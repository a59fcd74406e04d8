"""The review set of an evaluation, read once into a file of its own."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from referee.api.session import Session
from referee.data import RejectedSink, TreeChecks, read_cases
from referee.data.drafts import (
    BOXES_NOT_IN_TEXT,
    CONFIDENCE_UNREAD,
    RATING_UNREAD,
    SCORES_IN_TEXT,
    SCORES_OFF_FORM,
    UNUSED_LINES,
)
from referee.errors import DataError
from referee.evals.case_store import CASES, CaseStore
from referee.evals.grouping import Rows
from referee.runs import Event, Progress, RunFolder
from referee.runs.files import naming
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm

REJECTED = "rejected.jsonl"
_SAY_EVERY = 20_000
_MOST_NOTES = 3


@dataclass(frozen=True)
class ReviewSet:
    """The reviews that can be used, their rows in the table, and what could not be used (also by who wrote it)."""

    store: CaseStore
    rows: Rows
    rejected: int
    rejected_file: Path
    reading: ReadingNotes
    rejected_by: Mapping[str, int]

    def part(self, holds: Callable[[str], bool]) -> ReviewSet:
        """The reviews of some papers, by their ids; rows of the table and what could not be used are of the whole."""
        return replace(self, store=self.store.part(holds))

    def keep_in(self, run: RunFolder) -> None:
        """Put the reviews and the rows that were left out into the run folder, whole or not at all."""
        kept, part = run.path / CASES, run.path / f".{CASES}.part"
        if not kept.exists():
            with naming(part), part.open("wb") as file:
                self.store.copy_to(file)
            part.replace(kept)
        if self.rejected:
            run.write(REJECTED, self.rejected_file.read_text(encoding="utf-8"))


class ReadingNotes:
    """Counts what of the reviews of a set was read from their texts, and what is there and could not be used."""

    def __init__(self) -> None:
        self._unread: Counter[str] = Counter()
        self._confidences = 0
        self._off_form: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._from_text: Counter[str] = Counter()
        self._unused: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, case: ReviewCase) -> None:
        """Count one review."""
        if why := case.extra.get(RATING_UNREAD):
            self._unread[str(why)] += 1
        self._confidences += bool(case.extra.get(CONFIDENCE_UNREAD))
        self._off_form.update(case.extra.get(SCORES_OFF_FORM, ()))
        self._left_out.update(case.extra.get(BOXES_NOT_IN_TEXT, ()))
        self._from_text[case.source] += bool(case.extra.get(SCORES_IN_TEXT))
        for one in case.extra.get(UNUSED_LINES, ()):
            self._unused[case.source][one["reason"]] += 1

    def notes(self) -> Iterator[str]:
        """Ratings that are no numbers, by the reasons that readers give; scores of texts, by who wrote them."""
        for why, count in self._unread.most_common(_MOST_NOTES):
            yield f"{count:,} rating(s) cannot be read and count as missing: {why}"
        if (others := self._unread.total() - sum(count for _, count in self._unread.most_common(_MOST_NOTES))) > 0:
            yield f"{others:,} other rating(s) cannot be read and count as missing"
        if self._confidences:
            yield f"{self._confidences:,} confidence(s) cannot be read and count as missing"
        for name, count in sorted(self._off_form.items()):
            yield f"{count:,} value(s) of the score {name!r} are not on the venue's form and count as missing"
        for name, count in sorted(self._left_out.items()):
            yield f"the box {name!r} of {count:,} review(s) is not on the venue's form and is no part of the text"
        for source, count in sorted(self._from_text.items()):
            if count:
                yield f"{source}: scores of {count:,} review(s) are read from lines of their texts"
        for source, reasons in sorted(self._unused.items()):
            each = "; ".join(f"{why} ({count:,})" for why, count in reasons.most_common())
            yield (
                f"{source}: {reasons.total():,} line(s) of the texts look like scores and are not used: {each}. "
                f"They stand in extra.{UNUSED_LINES} of each review"
            )


def read_for(
    run: Session,
    source: str | Path,
    *,
    mapping: str | Path | None,
    layout: str | None,
    group_by: str = "source",
    venue: VenueForm | None = None,
) -> ReviewSet:
    """Read the review set of a run; its files are there until the session ends.

    Args:
        run: The run, whose folder will be on the same disk.
        source: A file or a folder, as ``referee.data.read_cases`` takes it.
        mapping: A mapping file, or None.
        layout: A layout's name, or None to find it by what is in the file.
        group_by: How the table's rows are made.
        venue: The form that reviews without a known venue are placed on; None leaves them where they are.

    Raises:
        DataError: The path is missing, in no known layout, or holds no usable review.
        SettingsError: No review has what is grouped by.
    """
    near, named = run.place.path, Path(mapping) if mapping is not None else None
    read = read_set(
        Path(source), near=near, group_by=group_by, mapping=named, layout=layout, progress=run.progress, venue=venue
    )
    return run.enter(read)


@contextmanager
def read_set(
    source: Path,
    *,
    near: Path,
    group_by: str,
    mapping: Path | None,
    layout: str | None,
    progress: Progress,
    venue: VenueForm | None = None,
) -> Iterator[ReviewSet]:
    """Read a review set; its files are there until this is left.

    Args:
        source: A file or a folder, as ``referee.data.read_cases`` takes it.
        near: Where the run folder will be: the reviews are kept on the same disk.
        group_by: How the table's rows are made.
        mapping: A mapping file, or None.
        layout: A layout's name, or None to find it by what is in the file.
        progress: Told how far it is.
        venue: The form that reviews without a known venue are placed on; None leaves them where they are.

    Raises:
        DataError: The path is missing, in no known layout, or holds no usable review.
        SettingsError: No review has what is grouped by.
    """
    folder = next(parent for parent in (near, *near.absolute().parents) if parent.is_dir())
    rows = Rows(group_by)
    with tempfile.TemporaryFile(dir=folder) as file, tempfile.TemporaryDirectory(prefix="referee-") as aside:
        store, reading, checks = CaseStore(file), ReadingNotes(), TreeChecks()
        with RejectedSink(Path(aside) / REJECTED) as sink:
            for case in read_cases(source, mapping=mapping, layout=layout, venue=venue, rejected=sink, checks=checks):
                if not store.add(case):
                    origin = case.origin
                    reason = f"duplicate: the id {case.case_id!r} is taken"
                    sink.add(
                        origin.file if origin else str(source),
                        origin.line if origin else None,
                        reason,
                        source=case.source,
                    )
                    continue
                rows.add(case)
                reading.add(case)
                if len(store) % _SAY_EVERY == 0:
                    progress(Event("stage", f"read {len(store):,} reviews"))
            _require_some(source, store, sink)
            for note in checks.notes():
                progress(Event("note", note))
            rows.require_columns()
            yield ReviewSet(store, rows, sink.count, sink.path, reading, dict(sink.by_source))


def _require_some(source: Path, store: CaseStore, sink: RejectedSink) -> None:
    if len(store):
        return
    first = ""
    if sink.count:
        with sink.path.open(encoding="utf-8") as file:
            first = f" Its first row was left out: {file.readline().strip()}"
    raise DataError(
        f"{str(source)!r} holds no usable review.{first}",
        hint="See docs/eval.md for the layouts that are read, or give --layout or --mapping.",
    )
