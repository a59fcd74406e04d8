"""Any set of papers with their reviews as rows of the union schema, one at a time: the reader of ``referee data``."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from referee.data import keys
from referee.data.boxes import boxes_to_columns, columns_to_boxes
from referee.data.decisions import decision_class
from referee.data.drafts import made_id
from referee.data.entries import Entry, finite
from referee.data.found import entries
from referee.data.keys import author
from referee.data.layout import SetFile, find_layouts
from referee.data.layouts.flat import ABOUT, conference_of, foreign_boxes, listed_draft, listed_reviews
from referee.data.layouts.openreview import CONTENT_NAME, notes_in
from referee.data.normalise import Normalised, Normaliser, Problem, scale_problems
from referee.data.packing import unpacked
from referee.data.ratings import leading_number
from referee.errors import DataError
from referee.schemas.paper_row import PaperRow, ReviewRow, ScaleOverride
from referee.venues.names import Place

NOTES = ("openreview-v1", "openreview-v2", "openreview-v1-content")
_ROWS = "papers"
NO_REVIEW = "is no object and left out"
"""The cause of a problem with a review that is not in the row."""
FILE = "file"
"""The key of a problem that is the file's: what comes after it was not read."""
_TEXTS = ("forum_id", "conference", "track", "venue_id", "title", "abstract", "tldr", "primary_area", "venue")
_AS_THEY_STAND = ("authors", "keywords", "paper_number", "decision_comment", "author_rebuttal", "other_notes")
_PLAIN = (*_AS_THEY_STAND, "markdown", "sections", "references", "pdf_path", "written", "note")
_READ = frozenset(
    {*PaperRow.model_fields, *keys.PAPER, "reviews_json", "file_name", "decision_normalized", "schema_version"}
)
_REVIEW_COLUMNS = ("review_id", "reviewer", "source", "kind", "text", "rebuttal", "was_revised", "created", "modified")


@dataclass(frozen=True, slots=True)
class RowFound:
    """A row of a set, or why there is none.

    ``line`` is its line or place in the file, from 1; of notes that stand apart, the first one's. ``problems`` say what
    is wrong with a row that can be used, or why there is none. ``sources`` say who wrote the reviews of a row that
    cannot be used, as far as it says so.
    """

    file: Path
    line: int | None
    row: PaperRow | None
    problems: tuple[Problem, ...] = ()
    raw: str = ""
    sources: tuple[str, ...] = ()

    @property
    def breaks_off(self) -> bool:
        """Whether the file could not be read on from here."""
        return any(problem.key == FILE for problem in self.problems)

    @property
    def broken(self) -> tuple[Problem, ...]:
        """The problems that are no mere remarks."""
        return tuple(problem for problem in self.problems if not problem.remark)


def read_rows(path: Path, *, conference: str = "", override: ScaleOverride | None = None) -> Iterator[RowFound]:
    """The papers of a file or folder; what is wrong with the path is raised before the first.

    Notes are gathered by paper in a file of their own, so memory holds one paper at a time and the ids.

    Args:
        path: Rows of ReviewArena or our own (JSONL, packed or not, Parquet, a PdfFolder), or notes of OpenReview.
        conference: The conference of rows and notes that name none.
        override: An overall scale in place of a form's own.

    Raises:
        DataError: The path is missing, or nothing in it is in one of these layouts.
    """
    try:
        files = find_layouts(path)
    except DataError as error:
        shown = "Give rows with forum_id and reviews (or reviews_json), or notes of OpenReview."
        raise DataError(error.message, hint=shown if "mapping" in error.hint else error.hint) from error
    if not any(file.layout in (_ROWS, *NOTES) for file in files):
        named = next(file for file in files if file.layout)
        raise DataError(
            f"{str(named.path)!r} is in the layout {named.layout!r}, which holds reviews and no papers with them.",
            hint="Give rows with forum_id and reviews (or reviews_json), or notes of OpenReview.",
        )
    return _unique(_rows(files, Normaliser(conference, override)))


def _rows(files: Sequence[SetFile], make: Normaliser) -> Iterator[RowFound]:
    notes = [file for file in files if file.layout in NOTES]
    if notes:
        yield from _of_notes(notes, make)
    for file in files:
        if file.layout == _ROWS:
            yield from _of_rows(file.path, make)
        elif file not in notes:
            why = (
                f"no papers with reviews: layout {file.layout!r}" if file.layout else f"no known layout: {file.reason}"
            )
            yield RowFound(file.path, None, None, (Problem("row", why),))


def _unique(rows: Iterator[RowFound]) -> Iterator[RowFound]:
    """The rows; a second one of a paper, and a second review of one id, is none."""
    seen: set[bytes] = set()
    for found in rows:
        if found.row is None:
            yield found
            continue
        key = _digest(found.row.forum_id)
        if key in seen:
            why = Problem("forum_id", f"duplicate: a paper {found.row.forum_id!r} was read before")
            yield replace(
                found, row=None, problems=(why,), sources=_sources(review.source for review in found.row.reviews)
            )
            continue
        seen.add(key)
        ids = [review.review_id for review in found.row.reviews]
        twice = [
            Problem(f"reviews[{n}].review_id", f"duplicate: {name!r} is the id of another review of the paper")
            for n, name in enumerate(ids)
            if name and name in ids[:n]
        ]
        yield replace(found, problems=(*found.problems, *twice))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


# --- notes -----------------------------------------------------------------------------------------------------------


def _of_notes(files: Sequence[SetFile], make: Normaliser) -> Iterator[RowFound]:
    with _note_store() as store:
        for number, file in enumerate(files):
            for line, problem, raw in _stored(store, number, file):
                yield RowFound(file.path, line, None, (problem,), raw)
        papers = store.execute("SELECT forum, min(rowid) AS first FROM notes GROUP BY forum ORDER BY first")
        for forum, first in papers:
            kept = store.execute("SELECT note, year FROM notes WHERE forum = ? ORDER BY rowid", (forum,)).fetchall()
            file, line = store.execute("SELECT file, line FROM notes WHERE rowid = ?", (first,)).fetchone()
            notes = [json.loads(note) for note, _ in kept]
            yield _found(files[file].path, line, make, notes, kept[0][1])


def _found(path: Path, line: int | None, make: Normaliser, notes: list[dict[str, Any]], year: int | None) -> RowFound:
    try:
        made = make.row(notes, year=year)
    except ValidationError as error:
        return RowFound(path, line, None, (_of_error(error),), json.dumps(notes[0]))
    return RowFound(path, line, made.row, made.problems)


@contextmanager
def _note_store() -> Iterator[sqlite3.Connection]:
    with (
        tempfile.TemporaryDirectory(prefix="referee-") as folder,
        closing(sqlite3.connect(Path(folder) / "notes.sqlite", isolation_level=None)) as store,
    ):
        store.execute("PRAGMA journal_mode = OFF")
        store.execute("PRAGMA synchronous = OFF")
        store.execute("CREATE TABLE notes (forum TEXT, file INT, line INT, year INT, note TEXT)")
        store.execute("CREATE INDEX by_forum ON notes (forum)")
        store.execute("BEGIN")
        yield store


def _stored(store: sqlite3.Connection, number: int, file: SetFile) -> Iterator[tuple[int | None, Problem, str]]:
    """Put the notes of a file into the store; what cannot be used is given with its line and its beginning."""
    around: Mapping[str, Any] = {}
    line = 0
    try:
        for entry in entries(file.path):
            line, around = entry.number, entry.around
            if problem := _store(store, number, file, entry):
                yield line, Problem("row", problem), entry.raw
        if "content" in around:
            _store(store, number, file, Entry(1, dict(around)))
    except DataError as error:
        yield line + 1, Problem(FILE, error.message), ""


def _store(store: sqlite3.Connection, number: int, file: SetFile, entry: Entry) -> str:
    if entry.error or not isinstance(entry.value, dict):
        return entry.error or "the record is no object"
    year = None
    notes = [note for note in notes_in(entry) if "content" in note]
    if file.layout == "openreview-v1-content":
        named = CONTENT_NAME.match(file.path.stem)
        if named is None:
            return f"{file.path.name!r} is not named YEAR__FORUM__NOTE.json"
        notes, year = [{"id": named["note"], "forum": named["forum"], "content": entry.value}], int(named["year"])
    if not notes:
        return "the record is no note: it has no content"
    for note in notes:
        forum = keys.text_of(note.get("forum")) or (keys.text_of(note.get("id")) if not note.get("replyto") else "")
        if not forum:
            return f"note {note.get('id')!r} names no forum"
        row = (forum, number, entry.number, year, json.dumps(finite(note), ensure_ascii=False))
        store.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", row)
    return ""


# --- rows ------------------------------------------------------------------------------------------------------------


def _of_rows(path: Path, make: Normaliser) -> Iterator[RowFound]:
    line = 0
    try:
        for entry in entries(path):
            line = entry.number
            yield _of_entry(path, entry, make)
    except DataError as error:
        yield RowFound(path, line + 1, None, (Problem(FILE, error.message),))


def _of_entry(path: Path, entry: Entry, make: Normaliser) -> RowFound:
    if entry.error or not isinstance(entry.value, dict):
        return RowFound(
            path, entry.number, None, (Problem("row", entry.error or "the record is no object"),), entry.raw
        )
    try:
        made = row_of(finite(unpacked(entry.value)), make)  # type: ignore[arg-type]
    except (ValidationError, DataError) as error:
        why = _of_error(error) if isinstance(error, ValidationError) else Problem("reviews", error.message)
        return RowFound(path, entry.number, None, (why,), entry.raw, _sources_of_row(entry.value))
    return RowFound(path, entry.number, made.row, made.problems, entry.raw)


def _sources(named: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in named if name and name != keys.UNKNOWN))


def _sources_of_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Who wrote the reviews of a row that cannot be used."""
    try:
        return _sources(keys.named_source(one) for one in listed_reviews(unpacked(row)) if isinstance(one, dict))
    except DataError:
        return ()


def _of_error(error: ValidationError) -> Problem:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["loc"] == ("forum_id",):
        return Problem("forum_id", "the row names no paper (forum_id or paper_id)")
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    return Problem(key, str(first["msg"]))


def row_of(given: Mapping[str, Any], make: Normaliser) -> Normalised:
    """A row of ReviewArena, of ours, or of like data as a row of the schema.

    Its empty strings become null; columns that the schema does not have are kept in ``extra``.

    Raises:
        DataError: The reviews are no list, or contradict themselves.
        ValidationError: A column holds what it cannot hold, or the paper has no id.
    """
    if isinstance(given.get("note"), str):  # other data's remark, not the platform's note
        given = {**given, "note": None, "extra": {"note": given["note"], **_extra(given)}}
    override = ScaleOverride.model_validate(given["scale_override"]) if given.get("scale_override") else None
    if override is not None:
        make = Normaliser(override=override)
    place = _place(given, make)
    problems: list[Problem] = []
    reviews = list(_reviews(given, place, make, problems))
    stated = given.get("num_reviews")
    if isinstance(stated, int) and stated != len(reviews):
        problems.append(Problem("num_reviews", f"is {stated}, and there are {len(reviews)} reviews"))
    decision = keys.text_of(keys.take(given, keys.DECISION)) or None
    stands = keys.text_of(given.get("decision_normalized"))
    where = make.venue_columns(place, keys.text_of(given.get("venue_id")))
    texts = {name: keys.text_of(given.get(name)) or None for name in _TEXTS}
    texts |= {name: value for name, value in where.items() if place.form is not None or not texts.get(name)}
    markdown = keys.text_of(given.get("markdown"))
    row = PaperRow.model_validate(
        {
            **{name: given[name] for name in _PLAIN if given.get(name) not in (None, "")},
            **texts,
            "forum_id": keys.text_of(keys.take(given, keys.PAPER)).strip(),
            "track": keys.text_of(given.get("track")) or where["track"],
            "year": place.year,
            "keywords": _listed(given.get("keywords")),
            "authors": _listed(given.get("authors")),
            "decision": decision,
            "decision_normalized": decision_class(stands) or decision_class(decision) or decision_class(texts["venue"]),
            "decision_comment": given.get("decision_comment") or given.get("meta_review") or None,
            "pdf_path": given.get("pdf_path") or given.get("file_name") or None,
            "num_reviews": len(reviews),
            "reviews": reviews,
            "markdown_chars": len(markdown) if markdown else None,
            "scale_override": make.override_of(place.form),
            "extra": {**_rest(given), **_extra(given)},
        }
    )
    return Normalised(row, tuple(problems))


def _rest(given: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in given.items() if n not in _READ and n != "meta_review" and v not in (None, "", [], {})}


def _extra(given: Mapping[str, Any]) -> dict[str, Any]:
    held = given.get("extra")
    return held if isinstance(held, dict) else {"extra": held} if held not in (None, "", []) else {}


def _listed(value: object) -> object:
    if isinstance(value, str):
        return [part.strip() for part in value.replace(";", ",").split(",") if part.strip()] or None
    return value or None


def _place(given: Mapping[str, Any], make: Normaliser) -> Place:
    """By the platform's id where that is a form's, else by conference and year, of NeurIPS with its track."""
    return make.place(conference_of(given) or make.conference, given.get("year"), keys.text_of(given.get("venue_id")))


def _reviews(
    given: Mapping[str, Any], place: Place, make: Normaliser, problems: list[Problem]
) -> Iterator[dict[str, Any]]:
    form = make.form(place.form)
    for number, review in enumerate(listed_reviews(given)):
        if not isinstance(review, dict):
            problems.append(Problem(f"reviews[{number}]", NO_REVIEW))
            continue
        if "written" in review:
            own = ReviewRow.model_validate(review)
            about, boxes = own.model_dump(include={*_REVIEW_COLUMNS, "note", "extra"}), columns_to_boxes(own)
        else:
            about, boxes = _foreign(given, review, number), foreign_boxes(review)
        row = ReviewRow.model_validate({**about, **boxes_to_columns(boxes, form), "form_id": form.id if form else None})
        problems += scale_problems(row, number)
        problems += _contradiction(review, row, number)
        yield row.model_dump()


def _contradiction(review: Mapping[str, Any], row: ReviewRow, number: int) -> Iterator[Problem]:
    stated, written = leading_number(review.get("rating")), leading_number(row.rating_raw)
    if stated is not None and written is not None and stated != written:
        yield Problem(f"reviews[{number}].rating", f"is {stated:g}, and written {row.rating_raw!r}")


def _foreign(given: Mapping[str, Any], review: Mapping[str, Any], number: int) -> dict[str, Any]:
    about = {name: value for name in _REVIEW_COLUMNS if (value := review.get(name)) not in (None, "")}
    for name in ("created", "modified"):
        if name in about:
            about[name] = keys.iso_date(about[name]) or None
    if about.keys() & {"source", "kind"}:
        by = author(about.get("source"), about.get("kind"))
        about |= {"source": by.source, "kind": by.kind}
    about["review_id"] = keys.text_of(review.get("review_id")) or made_id(listed_draft(given, review, number + 1))
    held = {*_REVIEW_COLUMNS, "raw", "other", "extra_scores", "extra_text", "ethics", "title"}
    held |= {"rating_raw", "rating_label", "confidence_raw", "confidence_label"}
    extra = {name: review[name] for name in ABOUT - held if review.get(name) not in (None, "")}
    return {**about, "extra": extra}
