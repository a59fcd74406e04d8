"""The review set of an evaluation, read once into a file of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from referee.api.session import Session
from referee.data import ReadingNotes, RejectedSink, TreeChecks, read_cases
from referee.errors import DataError
from referee.evals.case_store import CASES, CaseStore
from referee.evals.grouping import Rows
from referee.runs import Event, Progress, RunFolder
from referee.runs.files import naming
from referee.schemas.venue import VenueForm

REJECTED = "rejected.jsonl"
_SAY_EVERY = 20_000


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
        rejected_file = Path(aside) / REJECTED
        with RejectedSink(rejected_file) as sink:
            for case in read_cases(
                source, mapping=mapping, layout=layout, venue=venue, rejected=sink, checks=checks, notes=reading
            ):
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
            _require_some(source, store, rejected_file if sink.count else None)
            for note in checks.notes():
                progress(Event("note", note))
            rows.require_columns()
            yield ReviewSet(store, rows, sink.count, rejected_file, reading, dict(sink.by_source))


def _require_some(source: Path, store: CaseStore, rejected: Path | None) -> None:
    if len(store):
        return
    first = ""
    if rejected is not None:
        with rejected.open(encoding="utf-8") as file:
            first = f" Its first row was left out: {file.readline().strip()}"
    raise DataError(
        f"{str(source)!r} holds no usable review.{first}",
        hint="See docs/eval.md for the layouts that are read, or give --layout or --mapping.",
    )
