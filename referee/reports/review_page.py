"""A review beside its paper as one page: points and their places, the form, what was put aside."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from referee.errors import RunError
from referee.evidence.computed import code_lines
from referee.evidence.listing import (
    box_line,
    details,
    found,
    grouped,
    how_tested,
    lead_of,
    place,
    quoted,
    rests_on,
    tag,
)
from referee.reports.criteria import HEADING as CRITERIA
from referee.reports.criteria import criteria_lines
from referee.reports.disclosure import notice
from referee.reports.figures import figure_lines
from referee.reports.findings import told
from referee.reports.formulas import readable
from referee.reports.html import PAGE, render
from referee.reports.openreview_json import openreview_object
from referee.reports.outside import outside_sections
from referee.reports.plain import clean, one_line
from referee.reports.provenance_table import provenance_rows
from referee.reports.put_aside import counted, put_aside, why
from referee.reports.review_marks import Mark, Marks, Piece, marks_of, pieces_of, quotations_of
from referee.reports.trial import FORM_HEADING, left_empty, nothing_found
from referee.reports.values import empty_reason, is_empty, labelled, on_form, score_of, title_of
from referee.runs.files import write_atomically
from referee.runs.stored import unreadable
from referee.schemas.page import PageImage, PageImages
from referee.schemas.paper import Finding, Paper
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import Quotation, ReviewPoint
from referee.schemas.review import Review
from referee.schemas.venue import FormField, VenueForm
from referee.venues import render_policy

PAPER, PAGES, PAGES_FILE = "paper.json", "pages", "pages.json"
Stored = TypeVar("Stored", bound=BaseModel)


@dataclass(frozen=True)
class ShownQuotation:
    """A quotation with its place; ``mark`` is empty where the paper has no place for it."""

    quote: str
    place: str
    mark: str = ""


@dataclass(frozen=True)
class ShownPoint:
    """A point as the page shows it, all in words; ``number`` and ``tag`` are empty for one that is not in the list."""

    anchor: str
    number: str
    tag: str
    statement: str
    heading: str
    weight: str
    section: str
    reason: str
    lines: tuple[str, ...]
    quotations: tuple[ShownQuotation, ...]
    programs: tuple[str, ...]


@dataclass(frozen=True)
class ShownField:
    """A field of the form: its value, or why it has none, and what is copied into the venue's form."""

    name: str
    title: str
    value: str
    long: bool
    reason: str = ""
    points: str = ""
    empty: str = ""
    copied: str = ""


def review_page(
    review: Review,
    form: VenueForm,
    paper: Paper | None,
    pages: PageImages | None,
    picture: Callable[[PageImage], str],
    linked: str = "",
) -> str:
    """The page of a review.

    Args:
        review: The review.
        form: The form it is on.
        paper: The paper; without it only quotations show it.
        pages: Its pages, where it is a PDF that could be drawn.
        picture: The address of a page's picture.
        linked: As in ``render``.

    Raises:
        DataError: The review is not on this form.
    """
    review = on_form(review, form)
    drawn = pages.pages if pages is not None else ()
    marks = marks_of(quotations_of(review), drawn)
    groups = [(title, [_point(point, marks, review) for point in points]) for title, points in grouped(review)]
    shown = [point for _, points in groups for point in points]
    anchors = {point.id: anchor(point) for point in review.points}
    return render(
        "review.html",
        styles=("review.css",),
        script="review.js",
        linked=linked,
        title=readable(one_line(review.paper_title)) or "untitled paper",
        venue=form.name,
        verdict=_verdict(review, form) if review.trial is None else [],
        left_empty=list(left_empty(review, form)),
        no_rules=nothing_found(review),
        how_tested=how_tested(review),
        form_heading="The form, as it is handed in" if review.trial is None else FORM_HEADING,
        groups=groups,
        choices={name: _values(shown, name) for name in ("heading", "weight", "section")},
        counted=counted(review).partition(" `referee")[0],
        asides=[(title, [_point(p, marks, review) for p in points]) for title, points in put_aside(review)],
        lost=[(d.id, clean(d.claim), clean(d.quote), one_line(d.reason)) for d in review.dropped],
        fields=[_field(field, review, _copied(review, form)) for field in form.fields],
        pages=[(page, picture(page), _named(marks.by_page.get(page.number, []), anchors)) for page in drawn],
        sections=[] if drawn or paper is None else _sections(paper, marks),
        statements={anchors[point.id]: readable(one_line(point.statement)) for point in review.points},
        outside=[(heading, [readable(line) for line in lines]) for heading, lines in outside_sections(review)],
        criteria=criteria_lines(review),
        criteria_heading=CRITERIA,
        figures=[readable(line) for line in figure_lines(review.figures)],
        findings=list(_findings(review.findings)),
        cut=one_line(cut_line(review.provenance.cut)) if review.provenance is not None else "",
        notice=notice(review),
        disclosure=clean(review.disclosure),
        policy_of_venue=render_policy(form),
        provenance=provenance_rows(review.provenance) if review.provenance else [],
    )


def stored_review_page(
    folder: Path, form: VenueForm, picture: Callable[[PageImage], str] | None = None, linked: str = ""
) -> str:
    """The page of a finished review, from what lies in its run folder.

    Args:
        folder: The run folder.
        form: The form the review is on.
        picture: The address of a page's picture; by default the picture stands in the page.
        linked: As in ``render``.

    Raises:
        RunError: There is no finished review, or a file of the run is damaged.
        DataError: The review is not on this form.
    """
    review = stored_review(folder)

    def inside(page: PageImage) -> str:
        data = (folder / PAGES / page.image).read_bytes()
        return f"data:image/webp;base64,{base64.b64encode(data).decode()}"

    pages = _read(folder / PAGES / PAGES_FILE, PageImages)
    return review_page(review, form, _read(folder / PAPER, Paper), pages, picture or inside, linked)


def stored_review(folder: Path) -> Review:
    """The review of a run folder.

    Raises:
        RunError: There is no finished review, or its file is damaged.
    """
    review = _read(folder / "review.json", Review)
    if review is None:
        raise RunError(
            f"{str(folder)!r} has no finished review.", hint=f"Continue it: referee review --resume {folder}"
        )
    return review


def write_review_page(folder: Path, form: VenueForm) -> Path:
    """Write ``report.html`` of a finished review; raises as ``stored_review_page``."""
    write_atomically(folder / PAGE, stored_review_page(folder, form))
    return folder / PAGE


def _read(file: Path, kind: type[Stored]) -> Stored | None:
    """What a file of the run holds; None where there is no such file."""
    if not file.is_file():
        return None
    try:
        return kind.model_validate_json(file.read_bytes())
    except ValidationError as error:
        again = f"Write it again, without new calls: referee review --resume {file.parent}"
        raise unreadable(file, error, again) from error


def anchor(point: ReviewPoint) -> str:
    """The id of a point on its page."""
    return f"point-{point.number}" if point.number else point.id


def _named(marks: Iterable[Mark], anchors: dict[str, str]) -> list[Mark]:
    """Marks that name their points as the page does, in the order of the list."""
    order = {name: number for number, name in enumerate(anchors)}
    return [
        replace(mark, points=tuple(anchors[name] for name in sorted(mark.points, key=order.__getitem__)))
        for mark in marks
    ]


def _point(point: ReviewPoint, marks: Marks, review: Review) -> ShownPoint:
    quotations = found(point)
    told = {quoted(one, point.statement) for one in quotations}
    return ShownPoint(
        anchor=anchor(point),
        number=f"{point.number}." if point.number else point.id,
        tag=tag(point) if point.number else "",
        statement=readable(clean(point.statement)),
        heading=point.heading or "",
        weight=point.weight or "",
        section=one_line(quotations[0].section) if quotations else "no place",
        reason="" if point.number else why(point, review),
        lines=tuple(readable(clean(line)) for line in details(point) if line not in told),
        quotations=tuple(_quoted(one, marks) for one in quotations),
        programs=tuple("\n".join(code_lines(one.program)) for one in point.computations),
    )


def _quoted(quotation: Quotation, marks: Marks) -> ShownQuotation:
    mark = marks.by_quote.get((quotation.section_id, quotation.quote), "")
    return ShownQuotation(readable(clean(quotation.quote)), one_line(place(quotation)), mark)


def _verdict(review: Review, form: VenueForm) -> list[tuple[str, str]]:
    """The overall rating first, then the other choices."""
    chosen = [field for field in form.reviewer_fields if field.kind != "text"]
    chosen.sort(key=lambda field: field.name != form.overall)
    return [
        (title_of(field), "not given" if is_empty(value := review.fields.get(field.name)) else labelled(field, value))
        for field in chosen
    ]


def _copied(review: Review, form: VenueForm) -> dict[str, str]:
    return {
        name: "; ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in openreview_object(review, form).items()
        if value is not None
    }


def _field(field: FormField, review: Review, copied: dict[str, str]) -> ShownField:
    value = review.fields.get(field.name)
    record = None if is_empty(value) else score_of(field, review)
    long = field.kind == "text"
    said = readable(clean(lead_of(field.name, review))) if long else labelled(field, value)
    notes = (
        (readable(clean(record.reason)), f"({told})" if (told := rests_on(record, review)) else "") if record else ()
    )
    return ShownField(
        name=field.name,
        title=title_of(field),
        value="" if is_empty(value) else said,
        long=long,
        reason=" ".join(filter(None, notes)),
        points=box_line(field.name, review) if long else "",
        empty=empty_reason(field, review) if is_empty(value) else "",
        copied=copied.get(field.name, ""),
    )


def _values(points: Iterable[ShownPoint], name: str) -> list[str]:
    return list(filter(None, dict.fromkeys(getattr(point, name) for point in points)))


def _sections(paper: Paper, marks: Marks) -> list[tuple[str, str, tuple[tuple[Piece, ...], ...]]]:
    pieces = pieces_of(paper, marks)
    return [(section.id, one_line(section.heading), pieces[section.id]) for section in paper.content]


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    """What was found in the file, without what it hides."""
    sorted_ = told(findings)
    for finding in sorted_.singly:
        page = f"p. {finding.page}: " if finding.page is not None else ""
        yield f"{page}{one_line(finding.message)} (certainty {finding.certainty})"
    for group in sorted_.groups:
        yield f"{group.name.capitalize()}, {group.places}: {one_line(group.example.message)}"
    if sorted_.doubtful:
        yield f"{sorted_.count_line}."
