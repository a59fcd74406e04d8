"""Rows: one a review, as JSON or in a table, or one a paper with a list of its reviews."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from referee.data import keys
from referee.data.boxes import columns_to_boxes
from referee.data.drafts import SAME_COLUMNS, Draft, describe
from referee.data.entries import EXCERPT_CHARS, Entry
from referee.data.found import Found, NoReview, each, kind_of_json
from referee.data.keys import Author, author, official
from referee.data.layouts.openreview import note_draft
from referee.data.normalise import note_of_review
from referee.data.packing import unpacked
from referee.data.prose import is_prose, parted, plain_name
from referee.data.ratings import CONFIDENCES, RATINGS
from referee.errors import DataError
from referee.schemas.foreign import Unreadable, json_row
from referee.schemas.paper_row import ReviewRow, ScaleOverride

FLAGS = ("is_ai", "ai_generated", "is_generated", "label")
_AI_WORDS = {"1": "ai", "true": "ai", "yes": "ai", "0": "human", "false": "human", "no": "human"}
_KIND_WORDS = frozenset({"human", "person", "ai", "llm", "machine", "generated"})
_ASSESSMENTS = (
    *("soundness", "presentation", "contribution", "quality", "clarity", "significance", "originality"),
    *("correctness", "reproducibility", "technical_novelty_and_significance", "empirical_novelty_and_significance"),
    *("experience_assessment", "ethics_flag", "flag_for_ethics_review"),
    "review_assessment:_thoroughness_in_paper_reading",
    "review_assessment:_checking_correctness_of_experiments",
    "review_assessment:_checking_correctness_of_derivations_and_theory",
)
_SCORES = frozenset({*RATINGS, *CONFIDENCES, *_ASSESSMENTS})
_IDENTITY = frozenset(
    {*keys.PAPER, *keys.REVIEW, *keys.CONFERENCE, *keys.YEAR, *keys.TEXT, *keys.DECISION, *keys.DATE, *keys.SOURCE}
    | {"scores", "paper_title"}
)


def is_flat(row: Mapping[str, object]) -> bool:
    """Whether a row names a paper and holds a review's text or its boxes."""
    names = {plain_name(name) for name in row}
    return bool(names & set(keys.PAPER)) and (bool(names & set(keys.TEXT)) or any(map(is_prose, names)))


def read_flat(path: Path) -> Iterator[Found]:
    """One review a row."""

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        named = keys.plain_keys(row)
        yield Found(
            entry.number, flat_draft(named, author_of(named), extra={SAME_COLUMNS: keys.same_columns(row)}), entry.raw
        )

    return each(path, read)


def author_of(row: Mapping[str, object], system: str = "") -> Author:
    """The author by the row's columns: ``source``, a kind in words, or a flag (1 is AI, 0 human)."""
    stated = keys.take(row, keys.KIND)
    kind = stated if _is_kind(stated) else None
    if kind is None:
        flag = keys.take(row, FLAGS)
        word = str(int(flag) if isinstance(flag, float) else flag).strip().casefold()
        kind = _AI_WORDS.get(word, word if word in _KIND_WORDS else None)
    return author(row.get("source"), kind, model=keys.take(row, keys.MODEL) or system)


def _is_kind(value: object) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _KIND_WORDS


def flat_draft(
    row: Mapping[str, object], by: Author, *, extra: Mapping[str, object] | None = None, identity: object = None
) -> Draft:
    """The review of a row with plain names.

    Args:
        row: The row.
        by: Who wrote it.
        extra: What is kept beside the columns that nothing reads.
        identity: What the id is made of where the row has none; the row by default.
    """
    fields, text = boxes_of(row), text_of_row(row)
    if composed := parted(text, fields):
        fields, text = {**fields, **composed}, ""
    used = {*fields, *_IDENTITY, *(name for name in keys.KIND if _is_kind(row.get(name)))}
    rest = {name: value for name, value in row.items() if name not in used}
    return Draft(
        paper_id=keys.text_of(keys.take(row, keys.PAPER)),
        author=by,
        fields=fields,
        text=text,
        review_id=_review_id(row, by),
        identity=row if identity is None else identity,
        paper_title=keys.text_of(row.get("paper_title")),
        conference=keys.take(row, keys.CONFERENCE),
        year=row.get("year"),
        decision=keys.take(row, keys.DECISION),
        date=keys.take(row, keys.DATE),
        extra={**rest, **(extra or {})},
    )


def _review_id(row: Mapping[str, object], by: Author) -> str:
    """The row's own id; in tables an AI review may carry the id of the human one it stands beside."""
    given = keys.text_of(keys.take(row, keys.REVIEW))
    return f"{given}/{by.source}" if given and by.kind == "ai" and keys.take(row, (*keys.KIND, *FLAGS)) else given


def text_of_row(row: Mapping[str, object]) -> str:
    """The prose of a row that holds it as one text; else empty."""
    return keys.text_of(keys.take(row, keys.TEXT))


def boxes_of(row: Mapping[str, object]) -> dict[str, object]:
    """The boxes of a form among a row's columns: texts and scores."""
    scores = row.get("scores")
    fields = {name: value for name, value in row.items() if is_prose(name) or name in _SCORES}
    return {**fields, **(scores if isinstance(scores, dict) else {})}


# Columns of a review that say something about it and are no box of a form.
ABOUT = frozenset(
    {"review_id", "reviewer", "form_id", "versions", "url", "license", "source", "kind", "text", "created", "modified"}
    | {"was_revised", "rebuttal", "raw", "other", "extra_scores", "extra_text", "ethics"}
    | {"rating_raw", "rating_label", "modified", "off_scale", "written", "note", "extra"}
    | {"confidence_raw", "confidence_label", "title"}
)
_NESTED = ("raw", "other", "extra_scores", "extra_text", "ethics")
_LETTER = "letter"


def read_papers_rows(path: Path) -> Iterator[Found]:
    """The reviews of each paper, in their order.

    An editor's letter is left out where reviewers exist; meta-reviews stand in a column of their own, never read.
    """

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        reviews = listed_reviews(row)
        named = [review for review in reviews if isinstance(review, dict) and review.get("reviewer") != _LETTER]
        for number, review in enumerate(reviews, start=1):
            if not isinstance(review, dict):
                reason = DataError(f"review {number} of the paper is {kind_of_json(review)}, no object")
                yield Found(entry.number, reason, str(review)[:EXCERPT_CHARS])
            elif review.get("reviewer") == _LETTER and named:
                yield Found(entry.number, NoReview("editor's letter"))
            else:
                yield Found(entry.number, _attempt(row, review, number), entry.raw, keys.named_source(review))

    return each(path, read)


def listed_reviews(row: Mapping[str, object]) -> list[object]:
    """A row's list of reviews, which some copies store as one string of JSON.

    Raises:
        DataError: It is no list.
    """
    packed = row.get("reviews_json")
    reviews = packed if packed not in (None, "") else row.get("reviews")
    if isinstance(reviews, str):
        try:
            reviews = json_row(reviews, "the string of reviews") if reviews.strip() else []
        except Unreadable as error:
            raise DataError(error.message) from error
    if reviews is None:
        return []
    if not isinstance(reviews, list):
        raise DataError(f"the reviews of the paper are {kind_of_json(reviews)}, no list.")
    return reviews


def _attempt(row: Mapping[str, object], review: Mapping[str, object], number: int) -> Draft | DataError:
    try:
        draft = _own_draft(row, review, number) if "written" in review else listed_draft(row, review, number)
        return replace(draft, scale=_scale(row))
    except DataError as error:
        return DataError(f"review {number} of the paper: {error.message}", hint=error.hint)


def _own_draft(row: Mapping[str, object], review: Mapping[str, object], number: int) -> Draft:
    """The review of a row of the union schema: read as its note where it was made of one."""
    try:
        own = ReviewRow.model_validate(review)
    except ValidationError as error:
        raise DataError(f"the record is no review: {describe(error)}.") from error
    if own.note is None:
        about = {name: review.get(name) for name in ("review_id", "reviewer", "source", "kind", "text", "rebuttal")}
        dates = {"created": own.created, "was_revised": own.was_revised}
        return listed_draft(row, {**own.extra, **about, **dates, **columns_to_boxes(own)}, number)
    year = row.get("year")
    return note_draft(
        {"forum": row.get("forum_id"), **note_of_review(own)},
        title=keys.text_of(row.get("title")),
        decision=keys.text_of(row.get("decision")) or None,
        conference=keys.text_of(row.get("conference")),
        year=year if isinstance(year, int) else None,
    )


def _scale(row: Mapping[str, object]) -> tuple[int, int] | None:
    """The overall scale that the row says its ratings were read on, in place of the form's."""
    given = unpacked(row).get("scale_override")
    if not given:
        return None
    try:
        scale = ScaleOverride.model_validate(given)
    except ValidationError as error:
        raise DataError(f"the row's scale_override is none: {describe(error)}.") from error
    return scale.low, scale.high


def conference_of(row: Mapping[str, object]) -> str:
    """The conference that a row names; the datasets track of NeurIPS has forms of its own, under a name of its own."""
    named = keys.text_of(keys.take(row, ("conference", "conf"))) or keys.text_of(row.get("venue"))
    datasets = "datasets" in keys.text_of(row.get("track")).lower()
    return f"{named}-db" if datasets and named.lower() == "neurips" else named


def listed_draft(row: Mapping[str, object], review: Mapping[str, object], number: int) -> Draft:
    """The review that stands at a place, from 1, in the list of a row.

    Raises:
        DataError: Its source and kind contradict each other.
    """
    paper_id = keys.text_of(keys.take(row, keys.PAPER))
    about = {name: review.get(name) for name in ("reviewer", "form_id", "versions", "url", "rebuttal", "was_revised")}
    return Draft(
        paper_id=paper_id,
        author=_author(review),
        fields=foreign_boxes(review),
        text=keys.text_of(review.get("text")),
        review_id=keys.text_of(review.get("review_id")),
        identity=[number, review],
        paper_title=keys.text_of(row.get("title")),
        conference=conference_of(row),
        year=row.get("year"),
        platform=keys.text_of(row.get("venue_id")),
        rating=review.get("rating"),
        confidence=review.get("confidence"),
        decision=keys.take(row, ("decision", "decision_normalized")),
        date=review.get("created"),
        extra=about,
    )


def _author(review: Mapping[str, object]) -> Author:
    if keys.take(review, ("source", "kind")) is None:
        return official()
    return author(review.get("source"), review.get("kind"))


def foreign_boxes(review: Mapping[str, object]) -> dict[str, object]:
    """The boxes of a listed review, with the scores as written where the data keep that beside the number."""
    fields: dict[str, object] = {}
    for name in _NESTED:
        value = review.get(name)
        fields |= value if isinstance(value, dict) else {}
    fields |= {name: value for name, value in review.items() if name not in ABOUT and value != ""}
    for name in ("rating", "confidence"):
        written = keys.take(review, (f"{name}_raw", f"{name}_label"))
        if written is not None:
            fields[name] = written
    if review.get("title"):
        fields["title"] = review["title"]
    return fields
