"""Our own files: cases, reviews that ``referee review`` writes, and texts named by paper and source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from referee.data.drafts import SAME_COLUMNS, Draft, describe
from referee.data.entries import EXCERPT_CHARS, Entry
from referee.data.found import Found, each, entries
from referee.data.keys import UNKNOWN, WRITTEN_BY_REFEREE, Author, author, plain_keys, same_columns, text_of
from referee.data.layouts.flat import author_of, flat_draft
from referee.errors import DataError
from referee.schemas.case import CaseOrigin, ReviewCase
from referee.schemas.review import Review


def read_own_cases(path: Path) -> Iterator[Found]:
    """Lines that are ``ReviewCase`` records; where one says nothing of its origin, this file becomes it.

    A record of ours with further columns keeps them in ``extra``. A row that has no more of a record than the names of
    some columns, and others beside them, is read as any row is.
    """

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        further = {name: value for name, value in row.items() if name not in ReviewCase.model_fields}
        if further and not _RECORD & row.keys():
            yield from _as_row(entry, row)
            return
        if further:
            extra = row.get("extra")
            row = {name: value for name, value in row.items() if name not in further}
            row["extra"] = {**(extra if isinstance(extra, dict) else {}), **further}
        if row.get("origin") is None:
            row["origin"] = {"file": str(path), "line": entry.number, "layout": "cases"}
        for name in ("rating", "confidence"):
            if isinstance(row.get(name), bool):
                raise DataError(f"the record is no case: {name}: {str(row[name]).lower()} is no number.")
        try:
            yield Found(entry.number, ReviewCase.model_validate(row), entry.raw)
        except ValidationError as error:
            raise DataError(f"the record is no case: {describe(error)}.") from error

    return each(path, read)


# What only our own writing of a case puts there: rows made by others do not have it.
_RECORD = frozenset({"schema_version", "fields", "origin", "extra"})


def _as_row(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
    named = plain_keys(row)
    draft = flat_draft(named, author_of(named), extra={SAME_COLUMNS: same_columns(row)})
    yield Found(entry.number, replace(draft, review_id=text_of(named.get("case_id")) or draft.review_id), entry.raw)


def read_own_reviews(path: Path) -> Iterator[Found]:
    """A ``review.json`` of a run, or several as a list or as lines."""

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        try:
            review = Review.model_validate(row)
        except ValidationError as error:
            raise DataError(f"the record is no review of ours: {describe(error)}.") from error
        yield Found(entry.number, _draft(review), entry.raw)

    return each(path, read)


def read_review(origin: CaseOrigin) -> Review:
    """The whole record behind a case of the layout ``reviews``: its points too, which a case does not hold.

    Raises:
        DataError: The file is gone, or holds no such review any more.
    """
    path = Path(origin.file)
    for entry in entries(path):
        if origin.line in (None, entry.number):
            try:
                return Review.model_validate(entry.value)
            except ValidationError as error:
                raise DataError(
                    f"{origin.file!r} holds no review of ours any more: {describe(error)}.",
                    hint="Put the run folder back, or make the review again.",
                ) from error
    raise DataError(
        f"{origin.file!r} holds no review in line {origin.line}.", hint="Put the run folder back, or make it again."
    )


def _draft(review: Review) -> Draft:
    human = review.source == "human"
    made = review.provenance
    return Draft(
        paper_id=review.paper_id,
        author=Author("human", "human") if human else Author(review.source, "ai", WRITTEN_BY_REFEREE),
        fields=dict(review.fields),
        review_id=review.review_id,
        paper_title=review.paper_title,
        conference=review.venue,
        rating=review.rating,
        confidence=review.confidence,
        extra={"run_id": made.run_id, "strategy": made.strategy} if made is not None else {},
    )


_MARK = re.compile(r"^(?P<kind>ai|human)-(?P<name>.+)$", re.IGNORECASE)


def read_text(path: Path, root: Path) -> Iterator[Found]:
    """One file as one review: PAPER__SOURCE__N.md, or in a folder of its paper's name SOURCE__N.md or SOURCE.md.

    Args:
        path: The file.
        root: The folder of the set, or the file itself.
    """
    paper_id, source, number = named(path, root)
    by = author(_MARK.sub(lambda mark: f"{mark['kind'].lower()}:{mark['name']}", source))
    lost = "" if by.source == UNKNOWN else by.source
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        yield Found(None, DataError(f"it cannot be read: {error.strerror}."), source=lost)
        return
    except UnicodeDecodeError as error:
        reason = DataError(f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}")
        yield Found(None, reason, data[:EXCERPT_CHARS].decode("utf-8", "replace"), lost)
        return
    yield Found(
        None,
        Draft(
            paper_id=paper_id,
            author=by,
            text=text,
            review_id="__".join(part for part in (paper_id, source, number) if part),
            identity=text,
        ),
        text[:EXCERPT_CHARS],
    )


def named(path: Path, root: Path) -> tuple[str, str, str]:
    """Paper, source and number by a file's name and folder; the number may be empty, the source ``unknown``."""
    parts = path.stem.split("__")
    number = parts.pop() if len(parts) > 1 and parts[-1].isdecimal() else ""
    if path.parent != root and path != root:
        return path.parent.name, "__".join(parts) or UNKNOWN, number
    if len(parts) == 1:
        return parts[0], UNKNOWN, number
    return "__".join(parts[:-1]), parts[-1], number
