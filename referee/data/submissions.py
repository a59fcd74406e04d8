"""Papers with the venue each was submitted to: what is to be reviewed, one by one, on its own form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from referee.data import keys
from referee.data.found import entries, holds_rows, refuse_no_data
from referee.data.papers import ROWS_FILE, PaperStore, has_full_text, paper_files, paper_name, row_ids, rows_store
from referee.errors import DataError
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm
from referee.venues.names import VenueForms

NO_TEXT = "the row holds no full text (markdown or sections)"


@dataclass(frozen=True)
class Submission:
    """A paper and its venue. ``form`` is None with a ``problem``; ``source`` reads the paper or names its file."""

    paper_id: str
    title: str
    venue: str | None
    year: int | None
    form: VenueForm | None
    source: Callable[[], Paper] | Path | None
    problem: str = ""


def read_submissions(path: Path, default: VenueForm | None = None) -> tuple[Submission, ...]:
    """The papers of a list of rows, of a folder, or one file, in their order, with what cannot be reviewed.

    A row names its venue by ``conference`` and ``year`` (or ``venue``, ``venue_id``). The reviews that rows hold are
    never read.

    Args:
        path: Rows as ReviewArena's or our own (JSONL, also packed with gzip, or Parquet), a folder of papers named by
            id (with a ``papers.jsonl`` of rows, if any), or a paper.
        default: The form of papers that name no venue, as files, or one whose form is unknown.

    Raises:
        DataError: The path is missing, holds no paper, or two papers are there under one id.
    """
    refuse_no_data(path)
    if not path.exists():
        raise DataError(
            f"there is no {str(path)!r}.", hint="Give rows with full texts (JSONL, Parquet), or a folder of papers."
        )
    if path.is_dir():
        rows = path / ROWS_FILE
        found = [
            *(_rows(rows, default) if rows.is_file() else ()),
            *(_file(name, file, default) for name, file in paper_files(path)),
        ]
    elif holds_rows(path):
        found = list(_rows(path, default))
    else:
        found = [_file(paper_name(path) or path.stem, path, default)]
    if not found:
        raise DataError(
            f"{str(path)!r} holds no paper.", hint="Rows need paper_id or forum_id, and markdown or sections."
        )
    twice = [name for name, count in Counter(one.paper_id for one in found).items() if count > 1]
    if twice:
        raise DataError(f"{str(path)!r} holds two papers {twice[0]!r}.", hint="Keep one.", ids={"paper": twice[0]})
    return tuple(found)


def _rows(path: Path, default: VenueForm | None) -> Iterator[Submission]:
    forms = VenueForms(default)
    store = rows_store(path)
    for entry in entries(path):
        row = entry.value
        if entry.error or not isinstance(row, dict) or not row_ids(row):
            what = entry.error or ("the row is no object" if not isinstance(row, dict) else "the row names no paper")
            yield Submission(f"line {entry.number}", "", None, None, None, None, what)
            continue
        paper_id = row_ids(row)[0]
        platform = keys.text_of(row.get("venue_id"))
        named = keys.text_of(row.get("conference")) or keys.text_of(row.get("venue"))
        place = forms.place(named, row.get("year"), platform)
        problem = "" if has_full_text(row) else NO_TEXT
        title = keys.text_of(keys.take(row, keys.TITLE))
        source = None if problem else partial(_paper, store, paper_id)
        problem = problem or _why_no_form(place.venue, place.form, place.year)
        yield Submission(paper_id, title, place.venue, place.year, place.form, source, problem)


def _paper(store: PaperStore, paper_id: str) -> Paper:
    paper = store.get(paper_id)
    if paper is None:
        raise DataError(f"the row of paper {paper_id!r} is gone.", hint="Start again.", ids={"paper": paper_id})
    return paper


def _file(name: str, path: Path, default: VenueForm | None) -> Submission:
    if default is None:
        return Submission(name, "", None, None, None, path, _why_no_form(None, None))
    return Submission(name, "", default.id, default.year, default, path)


def _why_no_form(venue: str | None, form: VenueForm | None, year: int | None = None) -> str:
    if form is not None:
        return ""
    named = f"{venue} {year}" if year and str(year) not in (venue or "") else venue
    return f"the form of {named!r} is unknown" if venue else "the paper names no venue (--venue gives one)"
