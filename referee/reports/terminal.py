"""A review in a few plain lines, for the terminal."""

from __future__ import annotations

from referee.evidence.computed import computations_told
from referee.evidence.listing import box_line, details, found, grouped, how_tested, lead_of, opening, place, rests_on
from referee.reports.disclosure import notice
from referee.reports.findings import told
from referee.reports.formulas import readable
from referee.reports.openreview_json import cut_boxes
from referee.reports.plain import excerpt, one_line
from referee.reports.put_aside import counted
from referee.reports.trial import FORM_HEADING, left_empty, nothing_found
from referee.reports.values import empty_reason, is_empty, labelled, on_form, quotation_counts, score_of, title_of
from referee.schemas.paper import Finding
from referee.schemas.paper_cut import cut_line
from referee.schemas.review import Review
from referee.schemas.venue import FormField, VenueForm

EXCERPT_CHARS = 300


def summary_lines(review: Review, form: VenueForm) -> list[str]:
    """What of the paper was not read, the scores with their labels, the points of the list, and what to know.

    A text box is told by its beginning and the points that stand in it. A trial of the embedded model shows no scores.

    Args:
        review: The review.
        form: The form it is on.

    Returns:
        Lines without colour codes, control characters and line breaks; an empty string parts two groups, and a line
        that belongs to the one above begins with blanks.

    Raises:
        DataError: The review is not on this form.
    """
    review = on_form(review, form)
    overall = [field for field in form.reviewer_fields if field.name == form.overall]
    others = [field for field in form.reviewer_fields if field.name != form.overall and field.kind != "text"]
    texts = [field for field in form.reviewer_fields if field.kind == "text"]
    scores = [_value(field, review, after=f" ({one_line(review.calibration)})") for field in overall]
    scores += [_value(field, review) for field in others]
    written = [_text(field, review) for field in texts]
    trial = review.trial is not None
    groups = [
        [one_line(cut_line(review.provenance.cut))] if review.provenance else [],
        [f"{one_line(form.name)}: {one_line(readable(review.paper_title)) or 'untitled paper'}", notice(review)],
        [] if trial else scores,
        [nothing_found(review)],
        *(_points(review) or [["No point stands."]]),
        [one_line(how_tested(review))],
        [f"{FORM_HEADING}:" if trial else "", *written],
        [*left_empty(review, form)],
        [
            *_quotations(review),
            counted(review),
            *_findings(review),
            *_forced(review, form),
            *_cut(review, form),
            *_left(review, form),
            *_warnings(review),
        ],
    ]
    lines: list[str] = []
    for group in groups:
        lines += ["", *filter(None, group)] if lines and any(group) else [line for line in group if line]
    return lines


def _value(field: FormField, review: Review, *, after: str = "") -> str:
    value, record = review.fields.get(field.name), score_of(field, review)
    if is_empty(value):
        return f"{title_of(field)}: not given: {empty_reason(field, review)}"
    rests = rests_on(record, review) if record is not None else ""
    return f"{title_of(field)}: {labelled(field, value)}{after}{f' ({rests})' if rests else ''}"


def _text(field: FormField, review: Review) -> str:
    lead, points = excerpt(readable(lead_of(field.name, review)), EXCERPT_CHARS), box_line(field.name, review)
    told = " ".join(filter(None, (lead, f"{points}." if points else "")))
    return f"{title_of(field)}: {told or f'not given: {empty_reason(field, review)}'}"


def _points(review: Review) -> list[list[str]]:
    """The list under its headings; main reasons and what rules found whole, of others statement and places."""
    groups = []
    for title, points in grouped(review):
        lines = [f"{title}:"]
        for point in points:
            lines.append(one_line(readable(opening(point))))
            if point.heading == "main reason" or point.source == "rule":
                lines += (f"   {one_line(readable(line))}" for line in details(point))
            elif places := "; ".join(dict.fromkeys(one_line(place(one)) for one in found(point))):
                lines.append(f"   {places}")
        groups.append(lines)
    return groups


def _quotations(review: Review) -> list[str]:
    found, similar, lost = quotation_counts(review)
    kept = f"{found} found in the paper" + (f" ({similar} in similar words)" if similar else "")
    return [f"Quotations: {kept}, {lost} not found and dropped.", computations_told(review.points)]


def _findings(review: Review) -> list[str]:
    sorted_ = told(review.findings)
    lines = [f"Finding in the file{_finding(finding)}" for finding in sorted_.singly]
    lines += [f"Findings in the file, {g.name}, {g.places}, such as{_finding(g.example)}" for g in sorted_.groups]
    return [*lines, f"Findings in the file: {sorted_.count_line}."] if sorted_.doubtful else lines


def _finding(finding: Finding) -> str:
    page = f" (p. {finding.page})" if finding.page is not None else ""
    text = " ".join(finding.text.split())
    shown = f" “{excerpt(text, EXCERPT_CHARS)}”" if text and text not in finding.message else ""
    return f"{page}: {excerpt(finding.message, EXCERPT_CHARS)}{shown}"


def _forced(review: Review, form: VenueForm) -> list[str]:
    forced = {entry.field: entry.value for entry in review.forced}
    return [
        f"In the file for the form only: {title_of(field)}: {labelled(field, forced[field.name])}"
        for field in form.fields
        if field.name in forced
    ]


def _cut(review: Review, form: VenueForm) -> list[str]:
    return [
        f"{title_of(field)} is cut in the file to paste: the form takes {field.max_chars:,} characters."
        for field in cut_boxes(review, form)
    ]


def _warnings(review: Review) -> list[str]:
    """Of the notes on how the review came about those that bear on all of it."""
    notes = review.provenance.notes if review.provenance else ()
    return [f"W{one_line(note)[1:]}." for note in notes if note.startswith("warning: ")]


def _left(review: Review, form: VenueForm) -> list[str]:
    titles = {field.name: title_of(field) for field in form.fields}
    names = ", ".join(titles.get(name) or one_line(name) for name in review.attestations)
    return [f"Left to you: {names}."] if names else []
