"""Sets of known errors that are published as rows: SPOT, peerreview-bench and ReviewCritique.

What is read of each, and which fields were described and not seen, stands in docs/known-errors.md.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from referee.data.entries import Entry
from referee.data.found import ROW_SUFFIXES, kind_of_json, rows_suffix, until_error
from referee.data.keys import take, text_of
from referee.data.known_sets import Loaded, PaperFound
from referee.data.ratings import leading_number
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.schemas.known import KnownError

Row = dict[str, Any]
_TRIED = 20
_LONGEST_SLUG = 60


def row_files(path: Path) -> list[Path]:
    """The file, or those below a folder, that may hold rows."""
    found = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return [file for file in found if rows_suffix(file) in ROW_SUFFIXES and not file.name.startswith(".")]


def first_rows(file: Path) -> Iterator[Row]:
    """The first rows of a file that are objects."""
    return (entry.value for entry in islice(until_error(file), _TRIED) if isinstance(entry.value, dict))


def _rows_with(*wanted: tuple[str, ...]) -> Callable[[Path], list[Path]]:
    """Finds the files in which a row has a field of each of these tuples."""

    def holds(file: Path) -> bool:
        return any(all(any(name in row for name in names) for names in wanted) for row in first_rows(file))

    return lambda path: [file for file in row_files(path) if holds(file)]


def _each(file: Path, read: Callable[[Entry, Row], Iterator[Any]]) -> Iterator[Loaded]:
    """What ``read`` makes of each row; a row that is broken or that it stumbles over becomes the reason."""
    for entry in until_error(file):
        try:
            if entry.error or not isinstance(entry.value, dict):
                raise DataError(entry.error or f"the record is {kind_of_json(entry.value)}, no object.")
            for item in read(entry, entry.value):
                yield Loaded(file, entry.number, item, entry.raw)
        except DataError as error:
            yield Loaded(file, entry.number, error, entry.raw)


def row_text(row: Mapping[str, object], *names: str) -> str:
    """The text, or the whole number, of the first of these fields that has one; empty where none has."""
    return text_of(take(row, names)).strip()


def required_text(row: Mapping[str, object], *names: str) -> str:
    """The text of the first of these fields that has one.

    Raises:
        DataError: None has.
    """
    if found := row_text(row, *names):
        return found
    raise DataError(f"there is no {' or '.join(names)}; the fields are {', '.join(sorted(row)[:12]) or 'none'}.")


def _slug(title: str) -> str:
    """An id for a paper that has nothing but a title: the same for the same words."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    digest = hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]
    return f"{'-'.join(words)[:_LONGEST_SLUG].strip('-')}-{digest}"


# --- SPOT ------------------------------------------------------------------------------------------------------------


find_spot = _rows_with(("error_annotation",), ("doi/arxiv_id", "title"))


def read_spot(files: Sequence[Path]) -> Iterator[Loaded]:
    """One error a row; a paper by its id, else by its title."""
    counts: Counter[str] = Counter()

    def read(entry: Entry, row: Row) -> Iterator[KnownError | PaperFound]:
        wrong, title = required_text(row, "error_annotation"), row_text(row, "title")
        paper_id = row_text(row, "doi/arxiv_id") or _slug(required_text(row, "title"))
        counts[paper_id] += 1
        yield PaperFound(paper_id, title, _content(row.get("paper_content")))
        yield KnownError(
            error_id=f"{paper_id}#{counts[paper_id]}",
            paper_id=paper_id,
            description=wrong,
            place=row_text(row, "error_location"),
            category=row_text(row, "error_category"),
            severity=row_text(row, "error_severity"),
        )

    for file in files:
        yield from _each(file, read)


def _content(parts: object) -> str:
    """The text of a paper's parts; pictures are left out."""
    if isinstance(parts, list):
        return "\n\n".join(text for part in parts if isinstance(part, dict) and (text := text_of(part.get("text"))))
    return text_of(parts)


# --- peerreview-bench ------------------------------------------------------------------------------------------------

_AXES = ("correctness", "significance", "evidence")
_GOOD = {"correctness": "correct", "significance": "significant", "evidence": "sufficient"}


@dataclass
class _Item:
    """One point of a review, and what experts said of it."""

    text: str
    judgements: list[dict[str, str]] = field(default_factory=list)

    @property
    def stands(self) -> bool:
        """Whether every expert who judged it found it correct, significant and sufficiently supported."""
        return bool(self.judgements) and all(
            one.get(axis, "").casefold() == good for one in self.judgements for axis, good in _GOOD.items()
        )


@dataclass
class _Review:
    """The points of one review, by their numbers."""

    paper_id: str
    reviewer: str
    human: bool
    title: str
    file: Path
    items: dict[int, _Item] = field(default_factory=dict)

    @property
    def case_id(self) -> str:
        return f"{self.paper_id}/{self.reviewer}"

    def found(self) -> Iterator[ReviewCase | KnownError]:
        """The review, and its points that stand."""
        ordered = sorted(self.items.items())
        said = [" ".join(item.text.split()) for _, item in ordered]
        judged = [{"item": number, **one} for number, item in ordered for one in item.judgements]
        yield ReviewCase(
            case_id=self.case_id,
            paper_id=self.paper_id,
            paper_title=self.title,
            source="human" if self.human else self.reviewer,
            kind="human" if self.human else "ai",
            text="\n\n".join(said),
            fields={"weaknesses": said},
            extra={"judgements": judged},
        )
        for number, item in ordered:
            if item.stands:
                yield KnownError(
                    error_id=f"{self.case_id}#{number}",
                    paper_id=self.paper_id,
                    description=item.text,
                    severity="Significant",
                    reported_by=(self.case_id,),
                )


_find_annotations = _rows_with(("paper_id",), ("reviewer_id",), ("review_item",), ("correctness",))
_find_meta_reviews = _rows_with(("paper_id",), ("reviewer_id",), ("review_item",), ("correctness_primary",))


def find_peerreview(path: Path) -> list[Path]:
    """The annotators' rows, one a judgement; else those with two judgements a row, which hold the same."""
    return _find_annotations(path) or _find_meta_reviews(path)


def read_peerreview(files: Sequence[Path]) -> Iterator[Loaded]:
    """Reviews point by point with experts' judgements; a known error is a point that all of its judges let stand."""
    reviews: dict[tuple[str, str], _Review] = {}
    for file in files:

        def read(entry: Entry, row: Row, file: Path = file) -> Iterator[PaperFound]:
            paper_id, reviewer = required_text(row, "paper_id"), required_text(row, "reviewer_id")
            text, number = required_text(row, "review_item"), row.get("review_item_number")
            if not isinstance(number, int) or isinstance(number, bool):
                raise DataError(f"review_item_number is no whole number: {number!r}.")
            title, human = row_text(row, "paper_title"), row_text(row, "reviewer_type").casefold().startswith("human")
            review = reviews.setdefault((paper_id, reviewer), _Review(paper_id, reviewer, human, title, file))
            review.items.setdefault(number, _Item(text)).judgements.extend(_judgements(row))
            yield PaperFound(paper_id, title, row_text(row, "paper_content"))

        yield from _each(file, read)
    for review in reviews.values():
        yield from (Loaded(review.file, None, item) for item in review.found())


def _judgements(row: Row) -> Iterator[dict[str, str]]:
    """The judgement of a row, or both of a row that has two."""
    if "correctness" in row:
        about = {"by": row_text(row, "annotator_source"), "comment": row_text(row, "annotator_comments")}
        yield {**{axis: row_text(row, axis) for axis in _AXES}, **{name: said for name, said in about.items() if said}}
        return
    for who in ("primary", "secondary"):
        if row_text(row, f"correctness_{who}"):
            yield {**{axis: row_text(row, f"{axis}_{who}") for axis in _AXES}, "by": who}


# --- ReviewCritique --------------------------------------------------------------------------------------------------


def _reviews_of(row: Mapping[str, object]) -> dict[str, Row]:
    """The reviews of a row by their keys: ``review#1``, ..., or the name of a model."""
    return {
        key: value for key, value in row.items() if isinstance(value, dict) and isinstance(value.get("review"), list)
    }


def _segments(review: Row) -> list[Row]:
    return [one for one in review["review"] if isinstance(one, dict) and row_text(one, "segment_text")]


def find_critique(path: Path) -> list[Path]:
    """The files whose reviews have segments with a label of reliability."""

    def holds(row: Row) -> bool:
        return "title" in row and any(
            "reliability" in segment for review in _reviews_of(row).values() for segment in _segments(review)
        )

    return [file for file in row_files(path) if any(map(holds, first_rows(file)))]


def read_critique(files: Sequence[Path]) -> Iterator[Loaded]:
    """A paper a row, with labelled reviews; a known error is a weakness that was found reliable."""

    def read(entry: Entry, row: Row) -> Iterator[KnownError | PaperFound | ReviewCase]:
        title = required_text(row, "title")
        paper_id, reviews = _slug(title), _reviews_of(row)
        if not reviews:
            raise DataError(f"it holds no review; the fields are {', '.join(sorted(row)[:12])}.")
        yield PaperFound(paper_id, title, _body(row.get("body_text")))
        for key, review in reviews.items():
            case = _critique_case(paper_id, title, key, review, row_text(row, "decision"))
            yield case
            yield from _standing(case, _segments(review))

    for file in files:
        yield from _each(file, read)


def _critique_case(paper_id: str, title: str, key: str, review: Row, decision: str) -> ReviewCase:
    human, segments = key.startswith("review#"), _segments(review)
    given = review.get("score")
    score: Row = given if isinstance(given, dict) else {}
    return ReviewCase(
        case_id=f"{paper_id}/{key}",
        paper_id=paper_id,
        paper_title=title,
        source="human" if human else key,
        kind="human" if human else "ai",
        text="\n".join(row_text(one, "segment_text") for one in segments),
        rating=leading_number(row_text(score, "Recommendation")),
        confidence=leading_number(row_text(score, "Confidence")),
        decision=decision or None,
        extra={"segments": segments, "score": score},
    )


def _standing(case: ReviewCase, segments: Sequence[Row]) -> Iterator[KnownError]:
    """The weaknesses of a review that no expert marked as deficient."""
    for number, one in enumerate(segments, start=1):
        topic = row_text(one, "topic_class_1")
        if "weakness" in topic.casefold() and row_text(one, "reliability").casefold() == "yes":
            yield KnownError(
                error_id=f"{case.case_id}#{number}",
                paper_id=case.paper_id,
                description=row_text(one, "segment_text"),
                category=topic,
                reported_by=(case.case_id,),
            )


def _body(body: object) -> str:
    return "\n\n".join(map(text_of, body)) if isinstance(body, list) else text_of(body)
