"""OpenReview's notes of one paper (API v1 or v2) as a row of the union schema, and back without loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.data import keys
from referee.data.boxes import boxes_to_columns, columns_to_boxes
from referee.data.decisions import decision_class
from referee.data.keys import signed
from referee.data.layouts.openreview import (
    age,
    content_of,
    invitations,
    is_bare_content,
    is_review,
    is_submission,
    platform_id,
)
from referee.data.prose import cleaned, is_prose, plain_name
from referee.schemas.paper_row import NoteKind, OtherNote, PaperRow, ReviewRow, ScaleOverride, Written
from referee.schemas.venue import VenueForm
from referee.venues.names import Place, VenueForms
from referee.venues.values import rescaled

_KINDS: tuple[tuple[re.Pattern[str], NoteKind], ...] = (
    (re.compile(r"(?:^|/|_)rebuttal$", re.IGNORECASE), "paper_rebuttal"),
    (re.compile(r"(?:^|/)public_comment$", re.IGNORECASE), "public_comment"),
    (re.compile(r"comment$", re.IGNORECASE), "comment"),
    (re.compile(r"(?:^|/)meta_?review$", re.IGNORECASE), "meta_review"),
    (re.compile(r"(?:^|/)decision$", re.IGNORECASE), "decision"),
    (re.compile(r"withdraw(?:al|n)", re.IGNORECASE), "withdrawal"),
)
_REVISION = re.compile(r"revision$", re.IGNORECASE)
_NUMBER = re.compile(r"/(?:submission|paper)(\d{1,18})(?:/|$)", re.IGNORECASE)
_NESTED = ("replies", "directReplies", "notes")
_PAPER_COLUMNS = {
    "title": ("title",),
    "abstract": ("abstract",),
    "authors": ("authors",),
    "keywords": ("keywords",),
    "tldr": ("tldr", "tl;dr", "tl_dr", "one-sentence_summary"),
    "primary_area": ("primary_area", "subject_areas", "area"),
    "venue": ("venue",),
}
_LISTS = ("authors", "keywords")
_SAID = ("rebuttal", "comment", "metareview", "meta_review", "text", "reply")
_DATASETS = re.compile(r"datasets_and_benchmarks", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong: where (``reviews[2].rating``, ``row``, ``file``) and why. A remark is nothing to be mended."""

    key: str
    cause: str
    remark: bool = False


@dataclass(frozen=True, slots=True)
class Normalised:
    """A row and what is wrong with it."""

    row: PaperRow
    problems: tuple[Problem, ...] = ()


class Normaliser:
    """Makes rows of the notes of one paper.

    Args:
        conference: The conference of notes that name none, as the content of v1 notes alone.
        override: An overall scale in place of a form's own, as ReviewArena has NeurIPS 2025 on 1 to 10.
    """

    def __init__(self, conference: str = "", override: ScaleOverride | None = None) -> None:
        self.conference = conference
        self._override = override
        self._forms = VenueForms()

    def row(self, notes: Sequence[Mapping[str, Any]], *, year: int | None = None) -> Normalised:
        """The row of a paper.

        Args:
            notes: All notes of one forum, without those that hang on them; at least one.
            year: Where the notes do not tell it.
        """
        newest, earlier = _versions(notes)
        submission = next((note for note in newest if is_submission(note)), None)
        reviews = [note for note in newest if note is not submission and is_official_review(note)]
        others = [note for note in newest if note is not submission and not is_official_review(note)]
        place = self._place(newest, year)
        rows, problems = self._reviews(reviews, others, earlier, place)
        forum = next((name for note in newest if (name := _forum(note))), "")
        hung = [*_hung(others, newest), *(OtherNote(kind="earlier_version", note=dict(note)) for note in earlier)]
        lost = [note for note in hung if note.kind == "lost_rebuttal"]
        problems += [Problem("other_notes", _why_lost(note.note)) for note in lost]
        about = _about_paper(submission)
        said = _said_of_paper(hung)
        decision = said["decision"] or about["extra"].get("decision")
        row = PaperRow(
            forum_id=forum,
            **self.venue_columns(place, next((found for n in newest if (found := platform_id(n))), "")),
            paper_number=_paper_number(submission, newest),
            **about,
            **{**said, "decision": keys.text_of(decision) or None},
            decision_normalized=_decided(keys.text_of(decision), hung, about, submission),
            num_reviews=len(rows),
            reviews=rows,
            other_notes=hung if submission is not None or others else None,
            scale_override=self.override_of(place.form),
        )
        return Normalised(row, tuple(problems))

    def form(self, form: VenueForm | None) -> VenueForm | None:
        """The form with the scale that stands in place of its own, if one does."""
        override = self.override_of(form)
        return form if form is None or override is None else rescaled(form, override.low, override.high)

    def override_of(self, form: VenueForm | None) -> ScaleOverride | None:
        """The scale that stands in place of a form's own."""
        return self._override if self._override and form is not None and form.id == self._override.form else None

    def place(self, conference: object, year: object, platform: str = "") -> Place:
        """Where a paper was submitted."""
        return self._forms.place(conference, year, platform)

    def venue_columns(self, place: Place, platform: str) -> dict[str, Any]:
        """``conference``, ``year``, ``track`` and ``venue_id`` of a place."""
        named = re.sub(r"(?:-db)?(?:-\d{4})?$", "", place.form.id) if place.form else (place.venue or "")
        head = named.split("/")[0].split(".")[0].lower()
        datasets = _DATASETS.search(platform) or (place.form is not None and "-db-" in place.form.id)
        track = "datasets_and_benchmarks" if datasets else "rolling" if head == "tmlr" else "main"
        return {
            "conference": head or None,
            "year": place.year,
            "track": track if head else None,
            "venue_id": platform or None,
        }

    def _place(self, notes: Iterable[Mapping[str, Any]], year: int | None) -> Place:
        platform = next((found for note in notes if (found := platform_id(note))), "")
        return self.place("" if platform else self.conference, year, platform)

    def _reviews(
        self,
        reviews: Iterable[Mapping[str, Any]],
        others: Sequence[Mapping[str, Any]],
        earlier: Sequence[Mapping[str, Any]],
        place: Place,
    ) -> tuple[list[ReviewRow], list[Problem]]:
        form = self.form(place.form)
        rows: list[ReviewRow] = []
        problems: list[Problem] = []
        roots = _roots([*reviews, *others])
        for number, note in enumerate(reviews):
            row = _review(note, form, earlier)
            answers = [one for one in others if kind_of(one) == "paper_rebuttal" and roots.get(_id(one)) == _id(note)]
            row = row.model_copy(update={"rebuttal": "\n\n".join(filter(None, map(_said, answers))) or None})
            rows.append(row)
            problems += scale_problems(row, number)
        return rows, problems


def scale_problems(review: ReviewRow, number: int) -> Iterator[Problem]:
    """The scores of a review that its form does not offer; of those beside the rating a remark."""
    for column, why in review.off_scale.items():
        cause = f"{why.rstrip('.')} (form {review.form_id})"
        yield Problem(f"reviews[{number}].{column}", cause, remark=column != "rating")


def notes_of(row: PaperRow) -> Iterator[dict[str, Any]]:
    """The notes that a row was made of: the submission, reviews, then the others. Of other rows none."""
    if row.note is not None:
        content: dict[str, Any] = {}
        for column in _PAPER_COLUMNS:
            if written := row.written.get(column):
                content[written.box] = written.value
            elif (value := getattr(row, column)) is not None:
                content[column] = value
        yield _whole(row.note, {**content, **row.extra})
    for review in row.reviews:
        if review.note is not None:
            yield note_of_review(review)
    for other in row.other_notes or ():
        yield dict(other.note)


def note_of_review(review: ReviewRow) -> dict[str, Any]:
    """The note that a review was made of, as the platform gave it."""
    return _whole(review.note or {"content": "plain"}, columns_to_boxes(review))


def kind_of(note: Mapping[str, object]) -> NoteKind:
    """What a note is that is neither submission nor review; a rebuttal counts as the paper's."""
    return next((kind for name in invitations(note) for shape, kind in _KINDS if shape.search(name)), "other")


def envelope(note: Mapping[str, Any]) -> dict[str, Any]:
    """The note without its content's values and without the notes that hang on it.

    ``content`` says how the values stood: ``plain``, ``wrapped`` (``{"value": ...}``), or, box by box, what stood
    beside the value, null for a plain one.
    """
    content = note.get("content")
    kept = {name: value for name, value in note.items() if name not in ("content", *_NESTED)}
    kept |= {name: [] for name in _NESTED if isinstance(note.get(name), list)}
    if isinstance(details := note.get("details"), dict):
        kept["details"] = {name: [] if name in _NESTED else value for name, value in details.items()}
    if isinstance(content, dict):
        around = {name: _around(value) for name, value in content.items()}
        bare = all(value is None for value in around.values())
        kept["content"] = "plain" if bare else "wrapped" if all(v == {} for v in around.values()) else around
    return kept


def _around(value: object) -> dict[str, Any] | None:
    if not (isinstance(value, dict) and "value" in value):
        return None
    return {name: inner for name, inner in value.items() if name != "value"}


def _whole(kept: Mapping[str, Any], boxes: Mapping[str, Any]) -> dict[str, Any]:
    shape = kept.get("content")
    if shape is None:
        return dict(kept)
    around = shape if isinstance(shape, dict) else dict.fromkeys(boxes, {} if shape == "wrapped" else None)
    content = {
        name: value if (beside := around.get(name)) is None else {"value": value, **beside}
        for name, value in boxes.items()
    }
    return {**kept, "content": content}


def _review(note: Mapping[str, Any], form: VenueForm | None, earlier: Sequence[Mapping[str, Any]]) -> ReviewRow:
    content = content_of(note)
    by = signed(note.get("signatures"), content.get("title"))
    names = [name for name in note.get("signatures") or () if isinstance(name, str)]
    return ReviewRow(
        review_id=_id(note) or None,
        reviewer=names[0].rsplit("/", 1)[-1] if names else None,
        source=by.source,
        kind=by.kind,
        form_id=form.id if form else None,
        was_revised=_was_revised(note, form, earlier),
        created=keys.iso_date(keys.take(note, ("tcdate", "cdate"))) or None,
        modified=keys.iso_date(keys.take(note, ("tmdate", "mdate"))) or None,
        note=envelope(note),
        **boxes_to_columns(content, form),
    )


def _was_revised(note: Mapping[str, Any], form: VenueForm | None, earlier: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether the review was edited: by its invitation to a revision, or because an earlier version says other things.

    False only where the venue's form has boxes of the discussion, so that a revision would have left its invitation.
    """
    listed = note.get("invitations")
    if any(_REVISION.search(name) for name in listed or () if isinstance(name, str)):
        return True
    if any(_id(old) == _id(note) and content_of(old) != content_of(note) for old in earlier):
        return True
    discussed = form is not None and any(field.stage == "discussion" for field in form.fields)
    return False if discussed and isinstance(listed, list) else None


def _versions(notes: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The newest version of each note in the order of the notes, and the others."""
    newest: dict[str, Mapping[str, Any]] = {}
    for number, note in enumerate(notes):
        key = _id(note) or f"#{number}"
        newest[key] = note if key not in newest or age(note) >= age(newest[key]) else newest[key]
    kept = list(newest.values())
    current = {id(note) for note in kept}
    return kept, [note for note in notes if id(note) not in current]


def is_official_review(note: Mapping[str, Any]) -> bool:
    """Whether it is a review, or the content of one that came without its note."""
    content = note.get("content")
    return is_review(note) or (not invitations(note) and isinstance(content, dict) and is_bare_content(content))


def _id(note: Mapping[str, Any]) -> str:
    return keys.text_of(note.get("id"))


def _forum(note: Mapping[str, Any]) -> str:
    return keys.text_of(note.get("forum")) or (_id(note) if is_submission(note) else "")


def _roots(notes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """For each note the review it hangs on, over other notes if need be; those on the paper itself are left out."""
    parents = {_id(note): keys.text_of(note.get("replyto")) for note in notes}
    reviews = {_id(note) for note in notes if is_official_review(note)}
    roots: dict[str, str] = {}
    for name in parents:
        at, seen = name, set[str]()
        while at and at not in reviews and at not in seen:
            seen.add(at)
            at = parents.get(at, "")
        if at in reviews and at != name:
            roots[name] = at
    return roots


def _hung(others: Sequence[Mapping[str, Any]], all_notes: Sequence[Mapping[str, Any]]) -> Iterator[OtherNote]:
    known, roots = {_id(note) for note in all_notes}, _roots(all_notes)
    for note in others:
        kind, review = kind_of(note), roots.get(_id(note))
        answers = keys.text_of(note.get("replyto"))
        if kind == "paper_rebuttal" and review is not None:
            kind = "review_rebuttal"
        elif kind == "paper_rebuttal" and answers and answers not in known and answers != _forum(note):
            kind = "lost_rebuttal"
        yield OtherNote(kind=kind, review_id=review, note=dict(note))


def _why_lost(note: Mapping[str, Any]) -> str:
    return f"rebuttal {_id(note)!r} answers {note.get('replyto')!r}, which is not among the paper's notes"


def _said(note: Mapping[str, Any]) -> str:
    """The prose of a rebuttal, a comment or a meta-review, box after box."""
    content = content_of(note)
    boxes = [value for name, value in content.items() if name.lower() in _SAID or is_prose(name)]
    return "\n\n".join(cleaned(value) for value in boxes if isinstance(value, str) and value.strip())


def _about_paper(submission: Mapping[str, Any] | None) -> dict[str, Any]:
    """The submission's content in the columns of a row; what has no column is in ``extra``."""
    columns: dict[str, Any] = {"written": {}, "extra": {}, "note": envelope(submission) if submission else None}
    for name, value in content_of(submission or {}).items():
        column = next((c for c, names in _PAPER_COLUMNS.items() if plain_name(name) in names), None)
        if column is None or column in columns:
            columns["extra"][name] = value
            continue
        columns[column] = _held(column, value)
        if name != column or columns[column] != value or value is None:
            columns["written"][column] = Written(box=name, value=value)
    return columns


def _held(column: str, value: object) -> object:
    if column in _LISTS:
        items = value if isinstance(value, list) else re.split(r"[;,]", value) if isinstance(value, str) else []
        return [
            item.strip() if isinstance(item, str) else str(item) for item in items if item not in (None, "")
        ] or None
    return keys.text_of(value) or None


def _said_of_paper(notes: Iterable[OtherNote]) -> dict[str, str | None]:
    """Decision, its comment with the meta-review, and the authors' reply to the paper as a whole."""
    found: dict[str, list[str]] = {"decision": [], "decision_comment": [], "author_rebuttal": []}
    for other in notes:
        if other.kind in ("meta_review", "decision"):
            found["decision_comment"].append(_said(other.note))
        if other.kind == "decision":
            content = content_of(other.note)
            found["decision"] = [keys.text_of(keys.take(content, ("decision", "recommendation")))]
        if other.kind == "paper_rebuttal":
            found["author_rebuttal"].append(_said(other.note))
    return {name: "\n\n".join(filter(None, texts)) or None for name, texts in found.items()}


def _decided(
    decision: str, notes: Iterable[OtherNote], about: Mapping[str, Any], submission: Mapping[str, Any] | None
) -> Any:
    """The decision's class, else that of the platform's name for where the paper stands; a withdrawal goes before."""
    if any(note.kind == "withdrawal" for note in notes) or (submission or {}).get("withdrawn") is True:
        return "withdrawn"
    stands = keys.text_of(about["extra"].get("venueid"))
    return decision_class(decision) or decision_class(stands) or decision_class(about.get("venue"))


def _paper_number(submission: Mapping[str, Any] | None, notes: Iterable[Mapping[str, Any]]) -> int | None:
    number = (submission or {}).get("number")
    if isinstance(number, int) and not isinstance(number, bool):
        return number if 0 <= number < 2**63 else None
    found = (_NUMBER.search(name) for note in notes for name in invitations(note))
    return next((int(match[1]) for match in found if match), None)
