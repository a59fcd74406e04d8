"""A review as a Markdown page for people: the form in its order, each claim with its quotation, and what made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.reports.by_rules import HEADING as BY_RULES
from referee.reports.by_rules import found_by_rules, nothing_found, quoted
from referee.reports.criteria import HEADING as CRITERIA
from referee.reports.criteria import criteria_lines
from referee.reports.deciding import deciding
from referee.reports.disclosure import notice
from referee.reports.figures import HEADING, figure_lines
from referee.reports.findings import told
from referee.reports.formulas import readable
from referee.reports.markdown_text import block, inline
from referee.reports.outside import outside_sections
from referee.reports.plain import excerpt, one_line
from referee.reports.points import render_points
from referee.reports.provenance_table import provenance_table
from referee.reports.trial import FORM_HEADING, left_empty
from referee.reports.values import empty_reason, is_empty, labelled, require_form, score_of, title_of
from referee.schemas.paper import Finding
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import ReviewPoint
from referee.schemas.review import DroppedQuotation, Evidence, Review, ScoreRecord
from referee.schemas.venue import FormField, VenueForm

_EXCERPT_CHARS = 300


def render_review(review: Review, form: VenueForm, *, all_points: bool = False) -> str:
    """The review as Markdown without HTML: verdict and what decides, the form as composed, corrections, what made it.

    A trial of the embedded model has no verdict, and what rules found stands first.

    Formulas are shown in letters and signs; the form's own file keeps their LaTeX.

    Text of models and papers is data: what would open a heading, a rule, a link or a code block in it is escaped, and
    control characters are gone.

    Args:
        review: The review.
        form: The form it is on.
        all_points: Also print the points one by one, with quotations and checks, and those that were merged, struck or
            dropped, with the reasons.

    Raises:
        DataError: The review is not on this form.
    """
    require_form(review, form)
    parts = [f"# {_readable(review.paper_title) or 'Untitled paper'}", _head(review, form)]
    parts += _deciding(review) if review.trial is None else _trial(review, form)
    for field in form.fields:
        parts += [f"## {inline(title_of(field))}", *_field(field, review)]
    known = {field.name for field in form.fields}
    loose = [evidence for evidence in review.evidence if evidence.field not in known]
    if loose:
        parts += ["## Further evidence", _evidence(loose)]
    parts += _corrections(review)
    if lines := render_points(review.points, all_points=all_points):
        parts.append("\n".join(lines).rstrip())
    if outside := outside_sections(review):
        parts.append("## Outside of the paper")
        for heading, told_lines in outside:
            parts += [f"### {heading}", "\n".join(f"- {_readable(line)}" for line in told_lines)]
    parts.append("## About this review")
    for heading, body in _about(review, form):
        if body:
            parts += [f"### {heading}", body]
    return "\n\n".join(parts) + "\n"


def _head(review: Review, form: VenueForm) -> str:
    author = "a person" if review.source == "human" else f"the language model {inline(review.source)}"
    cut = cut_line(review.provenance.cut) if review.provenance is not None else ""
    lines = [f"**{inline(cut)}**"] if cut else []
    lines += [f"Review for {inline(form.name)}, written by {author}."]
    lines += [_verdict(review, form)] if review.trial is None else []
    if text := notice(review):
        lines.append(f"**{inline(text)}**")
    return "\n\n".join(lines)


def _verdict(review: Review, form: VenueForm) -> str:
    """The overall rating, then the other scores, in one line."""
    scores = [field for field in form.reviewer_fields if field.kind == "score"]
    scores.sort(key=lambda field: field.name != form.overall)
    told = [f"{inline(title_of(field))}: {_score(field, review)}" for field in scores]
    if scores and scores[0].name == form.overall:
        told[0] = f"**{told[0]}** ({inline(review.calibration)})"
    return " · ".join(told) or f"Ratings are {inline(review.calibration)}."


def _score(field: FormField, review: Review) -> str:
    value = review.fields.get(field.name)
    return "not given" if is_empty(value) else inline(labelled(field, value))


def _deciding(review: Review) -> list[str]:
    points = deciding(review.points)
    if not points:
        return []
    lines = [f"{n}. **{p.severity.capitalize()}.** {_readable(p.statement)}" for n, p in enumerate(points, start=1)]
    return ["## What decides", "\n".join(lines)]


def _trial(review: Review, form: VenueForm) -> list[str]:
    """What rules found, which fields are empty, and the sentence that heads what the model wrote."""
    points = found_by_rules(review)
    found = [line for n, p in enumerate(points, start=1) for line in _rule_lines(n, p)] or [nothing_found(review)]
    listed = [f"## {BY_RULES}", "\n".join(found)] if any(found) else []
    return [*listed, *map(inline, left_empty(review, form)), f"**{FORM_HEADING}:**"]


def _rule_lines(number: int, point: ReviewPoint) -> Iterator[str]:
    yield f"{number}. {_readable(point.statement)}"
    yield from (f"   - {inline(quoted(evidence))}" for evidence in point.evidence)


def _corrections(review: Review) -> list[str]:
    """Those that the form has no field for; the others stand in it."""
    loose = [p for p in review.points if p.correction is not None and p.outcome == "listed"]
    return ["## Corrections", "\n".join(f"- {_readable(p.statement)}" for p in loose)] if loose else []


def _readable(text: str) -> str:
    return inline(readable(text))


def _field(field: FormField, review: Review) -> list[str]:
    """The value with its reason, then the evidence that was filed under the field."""
    value = review.fields.get(field.name)
    record = score_of(field, review)
    if is_empty(value):
        parts = [f"not given: {inline(empty_reason(field, review))}"]
    elif field.kind == "text" and isinstance(value, str):
        parts = [block(readable(value)) or "not given: nothing that can be shown"]
        if field.max_chars is not None and len(value) > field.max_chars:
            parts.append(f"(The form takes {field.max_chars} characters; review.openreview.json holds the beginning.)")
    else:
        parts = [f"**{inline(labelled(field, value))}**{_stated(field, record)}"]
    if record is not None and record.reason.strip() and not is_empty(value):
        backed = f" (rests on {', '.join(map(inline, record.supported_by))})" if record.supported_by else ""
        limit = f" ({inline(record.limit)})" if record.limit else ""
        parts.append(f"*{_readable(record.reason)}*{limit}{backed}")
    filed = [evidence for evidence in review.evidence if evidence.field == field.name]
    if filed:
        parts += ["Evidence in the paper:", _evidence(filed)]
    return parts


def _stated(field: FormField, record: ScoreRecord | None) -> str:
    """What the model chose itself, where a rating map changed it: the reason that follows is for that."""
    if record is None or None in (record.stated, record.value) or record.stated == record.value:
        return ""
    return f" (mapped; the model stated {inline(labelled(field, record.stated))}, and its reason is for that)"


def _evidence(items: Sequence[Evidence]) -> str:
    return "\n".join(f"- {inline(e.id)}: {_readable(e.claim)} — “{_readable(e.quote)}” ({_place(e)})" for e in items)


def _place(evidence: Evidence) -> str:
    place = inline(evidence.section) or inline(evidence.section_id)
    page = f", p. {evidence.page}" if evidence.page is not None else ""
    similar = f"; similar wording, {int(evidence.similarity * 100)}%" if evidence.status == "fuzzy" else ""
    return f"{place}{page}{similar}"


def _about(review: Review, form: VenueForm) -> list[tuple[str, str]]:
    """The sections after the form; an empty one is left out."""
    return [
        ("Quotations that were not found", "\n".join(map(_dropped, review.dropped))),
        ("Findings in the file", _findings(review)),
        (HEADING, "\n".join(f"- {_readable(line)}" for line in figure_lines(review.figures))),
        ("Left to you", _left(review, form)),
        ("Values put in only because the form demands one", _forced(review, form)),
        ("What was cut", _cuts(review)),
        (CRITERIA, "\n".join(f"- {_readable(line)}" for line in criteria_lines(review))),
        ("Disclosure", block(review.disclosure)),
        ("Provenance", provenance_table(review.provenance) if review.provenance is not None else ""),
    ]


def _dropped(item: DroppedQuotation) -> str:
    claim = f"{inline(excerpt(item.claim, _EXCERPT_CHARS))} — " if item.claim.strip() else ""
    quote = inline(excerpt(item.quote, _EXCERPT_CHARS))
    return f"- {inline(item.id)}: {claim}“{quote}”: {inline(item.reason)}"


def _findings(review: Review) -> str:
    sorted_ = told(review.findings)
    lines = [f"- {_finding(finding)}" for finding in sorted_.singly]
    lines += [f"- {g.name.capitalize()}, {g.places}, such as: {_finding(g.example)}" for g in sorted_.groups]
    return "\n".join([*lines, f"- {sorted_.count_line}."] if sorted_.doubtful else lines)


def _finding(finding: Finding) -> str:
    page = f"p. {finding.page}, " if finding.page is not None else ""
    text = f": “{inline(excerpt(finding.text, _EXCERPT_CHARS))}”" if finding.text.strip() else ""
    return f"{inline(finding.message)} ({page}certainty {finding.certainty}){text}"


def _left(review: Review, form: VenueForm) -> str:
    asked = {field.name: field for field in form.fields}
    lines = []
    for name in review.attestations:
        asks = f": {inline(asked[name].asks)}" if name in asked else ""
        lines.append(f"- {inline(title_of(asked[name])) if name in asked else inline(name)}{asks}")
    return "\n".join(lines)


def _forced(review: Review, form: VenueForm) -> str:
    if not review.forced:
        return ""
    asked = {field.name: field for field in form.fields}
    lines = ["They stand in review.openreview.json only; the review does not stand behind them.", ""]
    for entry in review.forced:
        field = asked.get(entry.field)
        title = inline(title_of(field) if field else entry.field)
        value = labelled(field, entry.value) if field else one_line(str(entry.value))
        lines.append(f"- {title}: {inline(value)} (the review gives none: {inline(entry.reason)})")
    return "\n".join(lines)


def _cuts(review: Review) -> str:
    cuts = review.provenance.cuts if review.provenance is not None else ()
    return "\n".join(
        f"- {inline(cut.section) or inline(cut.section_id)}: {cut.tokens_kept:,} of {cut.tokens_total:,} tokens read "
        f"({inline(cut.reason)})"
        for cut in cuts
    )
