"""A review as a Markdown page for people: the list of its points, the form, and what made it."""

from __future__ import annotations

from referee.evidence.listing import box_line, details, grouped, how_tested, lead_of, opening, rests_on
from referee.reports.criteria import HEADING as CRITERIA
from referee.reports.criteria import criteria_lines
from referee.reports.disclosure import notice
from referee.reports.figures import HEADING, figure_lines
from referee.reports.findings import told
from referee.reports.formulas import readable
from referee.reports.markdown_text import block, inline
from referee.reports.outside import outside_sections
from referee.reports.plain import excerpt, one_line
from referee.reports.provenance_table import provenance_table
from referee.reports.put_aside import counted
from referee.reports.trial import FORM_HEADING, left_empty, nothing_found
from referee.reports.values import empty_reason, is_empty, labelled, on_form, score_of, title_of
from referee.schemas.paper import Finding
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review, ScoreRecord
from referee.schemas.venue import FormField, VenueForm

_EXCERPT_CHARS = 300


def render_review(review: Review, form: VenueForm) -> str:
    """The review as Markdown without HTML: verdict, the list of points, the form, what made it.

    The form's boxes name the points that stand in them by number. A trial of the embedded model has no verdict.

    Formulas are shown in letters and signs; the form's own file keeps their LaTeX.

    Text of models and papers is data: what would open a heading, a rule, a link or a code block in it is escaped, and
    control characters are gone.

    Args:
        review: The review.
        form: The form it is on.

    Raises:
        DataError: The review is not on this form.
    """
    review = on_form(review, form)
    parts = [f"# {_readable(review.paper_title) or 'Untitled paper'}", _head(review, form)]
    parts += [text] if (text := nothing_found(review)) else []
    summary, groups = _summary(review, form), grouped(review)
    if summary is not None:
        parts += [f"## {inline(title_of(summary))}", *_field(summary, review, form)]
    for title, points in groups:
        parts += [f"## {title}", "\n\n".join(map(_point, points))]
    if not groups:
        parts += ["## Points", "No point stands."]
    parts += [text] if (text := how_tested(review)) else []
    parts += [f"## {'The form' if review.trial is None else FORM_HEADING}", *map(inline, left_empty(review, form))]
    for field in (one for one in form.fields if one is not summary):
        parts += [f"### {inline(title_of(field))}", *_field(field, review, form)]
    if text := counted(review):
        parts += ["## Put aside", text]
    if outside := outside_sections(review):
        parts.append("## Outside of the paper")
        for heading, told_lines in outside:
            parts += [f"### {heading}", "\n".join(f"- {_readable(line)}" for line in told_lines)]
    parts.append("## About this review")
    for heading, body in _about(review, form):
        if body:
            parts += [f"### {heading}", body]
    return "\n\n".join(parts) + "\n"


def _summary(review: Review, form: VenueForm) -> FormField | None:
    """The box that says what the paper is about, which a reader wants before the points."""
    if review.trial is not None:
        return None
    texts = (field for field in form.fields if field.kind == "text" and not is_empty(review.fields.get(field.name)))
    return next((f for f in texts if "summary" in title_of(f).casefold() and not box_line(f.name, review)), None)


def _point(point: ReviewPoint) -> str:
    """A point as an item of a numbered list; what stands behind a small one is one line."""
    head, lines = _readable(opening(point)).replace("\\.", ".", 1), [_readable(line) for line in details(point)]
    if point.weight == "small" and lines:
        lines = [" ".join(lines)]
    return "\n".join([head, *(f"   - {line}" for line in lines)])


def _head(review: Review, form: VenueForm) -> str:
    author = "a person" if review.source == "human" else f"the language model {inline(review.source)}"
    cut = cut_line(review.provenance.cut) if review.provenance is not None else ""
    lines = [f"**{inline(cut)}**"] if cut else []
    lines += [f"Review for {inline(form.name)}, written by {author}."]
    if review.trial is None:
        reason = next((r.reason for r in review.scores if r.field == form.overall and r.value is not None), "").strip()
        lines += [_verdict(review, form), *([_readable(reason)] if reason else [])]
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


def _readable(text: str) -> str:
    return inline(readable(text))


def _field(field: FormField, review: Review, form: VenueForm) -> list[str]:
    """The value with its reason; of a text box what it says before its points, and their numbers."""
    value = review.fields.get(field.name)
    record = score_of(field, review)
    if is_empty(value):
        return [f"not given: {inline(empty_reason(field, review))}"]
    if field.kind == "text" and isinstance(value, str):
        told = box_line(field.name, review)
        parts = [block(readable(lead_of(field.name, review))), f"{told}." if told else ""]
        if field.max_chars is not None and len(value) > field.max_chars:
            parts.append(f"(The form takes {field.max_chars} characters; review.openreview.json holds the beginning.)")
        return list(filter(None, parts)) or ["not given: nothing that can be shown"]
    parts = [f"**{inline(labelled(field, value))}**{_stated(field, record)}"]
    if record is not None and (record.reason.strip() or record.supported_by):
        above = field.name == form.overall and review.trial is None
        reason = f"*{_readable(record.reason)}*" if record.reason.strip() and not above else ""
        notes = (record.limit, rests_on(record, review))
        parts.append(" ".join([reason, *(f"({inline(note)})" for note in notes if note)]).strip())
    return parts


def _stated(field: FormField, record: ScoreRecord | None) -> str:
    """What the model chose itself, where a rating map changed it: the reason that follows is for that."""
    if record is None or None in (record.stated, record.value) or record.stated == record.value:
        return ""
    return f" (mapped; the model stated {inline(labelled(field, record.stated))}, and its reason is for that)"


def _about(review: Review, form: VenueForm) -> list[tuple[str, str]]:
    """The sections after the form; an empty one is left out."""
    return [
        ("Findings in the file", _findings(review)),
        (HEADING, "\n".join(f"- {_readable(line)}" for line in figure_lines(review.figures))),
        ("Left to you", _left(review, form)),
        ("Values put in only because the form demands one", _forced(review, form)),
        ("What was cut", _cuts(review)),
        (CRITERIA, "\n".join(f"- {_readable(line)}" for line in criteria_lines(review))),
        ("Disclosure", block(review.disclosure)),
        ("Provenance", provenance_table(review.provenance) if review.provenance is not None else ""),
    ]


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
