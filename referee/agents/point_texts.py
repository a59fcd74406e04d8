"""A form's text fields from the points that stand in them: form changes, content does not.

And the sentence that stands in the form's file where it demands a text and the review leaves the box empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referee.evidence import split_sentences
from referee.evidence.point_fields import corrections_field, field_roles
from referee.evidence.points import is_live
from referee.schemas.point import Correction, PointEvidence, ReviewPoint
from referee.schemas.review import Forced
from referee.schemas.venue import FormField, VenueForm

CORRECTIONS = "Corrections, those of most weight first:"
SLIPS = "Slips of writing:"


def field_text(points: Sequence[ReviewPoint]) -> str:
    """One numbered paragraph a point, in the order given: claim, quotation with its place, what would settle it.

    Only quotations that are in the paper are printed. Empty for no points.
    """
    return "\n\n".join(f"{number}. {_paragraph(point)}" for number, point in enumerate(points, start=1))


FIGURES = "Read off the figures by eye, beside the text:"


def figures_text(points: Sequence[ReviewPoint]) -> str:
    """What was read off figures, under a head of its own; empty for no points."""
    return f"{FIGURES}\n\n{field_text(points)}" if points else ""


def corrections_text(points: Sequence[ReviewPoint]) -> str:
    """Corrections as a list, in the order given, those of style in its last line; empty for none."""
    lines = [f"- {correction_text(point)}" for point in points if point.severity != "note"]
    slips = "; ".join(_slip(point) for point in points if point.severity == "note")
    lines += [f"- {SLIPS} {slips}."] if slips else []
    return "\n".join([CORRECTIONS, *lines]) if lines else ""


def listed_corrections(points: Sequence[ReviewPoint], form: VenueForm) -> tuple[list[ReviewPoint], str]:
    """Untested corrections, each placed in the form's field for them, and the list that the field prints."""
    box = corrections_field(form)
    outcome = {"outcome": "printed" if box else "listed", "field": box}
    placed = [point.model_copy(update=outcome) if is_live(point) else point for point in points]
    standing = [point for point in placed if is_live(point)]
    return placed, corrections_text(standing) if box else ""


def correction_text(point: ReviewPoint) -> str:
    """A correction in one line, as the check left it; that no check reached it is said."""
    unreached = point.check is not None and point.check.verdict == "unchecked"
    return " ".join(point.statement.split()) + (" (unchecked)" if unreached else "")


def correction_line(correction: Correction) -> str:
    """A correction in one line: place, what is printed, what it should be, why."""
    place = f"{correction.place.strip()}: " if correction.place.strip() else ""
    why = f" ({correction.why.strip().rstrip('.')})" if correction.why.strip() else ""
    return f"{place}“{correction.printed.strip()}” should be “{correction.should_be.strip()}”{why}"


def _slip(point: ReviewPoint) -> str:
    """A correction of style in few words; as the check left it where it changed the wording."""
    correction = point.correction
    if correction is None or point.statement != point.claim:
        return correction_text(point).rstrip(".")
    place = f" ({correction.place.strip()})" if correction.place.strip() else ""
    return f"for “{correction.printed.strip()}” read “{correction.should_be.strip()}”{place}"


def correction_head(point: ReviewPoint) -> str:
    """A correction without its reason: place, what is printed, what it should be."""
    if point.correction is None or point.statement != point.claim:
        return " ".join(point.statement.split())
    return correction_line(point.correction.model_copy(update={"why": ""}))


def _paragraph(point: ReviewPoint) -> str:
    weight = f"[{point.severity}] " if point.polarity == "weakness" else ""
    said = [f"{weight}{_worded(point)}", point.argument]
    said += [_quoted(e) for e in point.evidence if e.status != "not_found"]
    said += ["(No quotation was found for this.)"] if point.unverified else []
    said += ["(The authors concede it.)"] if point.check is not None and point.check.conceded else []
    said += [f"Would be settled by: {point.fix.what}"] if point.fix.what and point.fix.kind != "none" else []
    return " ".join(filter(None, said))


def _worded(point: ReviewPoint) -> str:
    """The statement; as a question where it is one."""
    statement = point.statement
    if point.polarity != "question" or statement.rstrip().endswith("?"):
        return statement
    return f"Could the authors say whether this holds: {statement.rstrip().rstrip('.')}?"


def _quoted(evidence: PointEvidence) -> str:
    page = f", p. {evidence.page}" if evidence.page else ""
    return f"“{evidence.quote}” ({evidence.section}{page})"


def forced_texts(form: VenueForm, fields: Mapping[str, Any], nulls: Mapping[str, str]) -> tuple[Forced, ...]:
    """One sentence for each demanded text box without a text: that nothing was found, and what was looked for.

    The platform refuses a form with such a box empty. A box whose rule is unknown counts as optional; attestations and
    boxes of the discussion are left to people.

    Args:
        form: The venue's form.
        fields: The review's values.
        nulls: Why a value is null; the reason that goes on the record.
    """
    return tuple(
        Forced(field=field.name, value=_sentence(field), reason=nulls.get(field.name, "the review gives none"))
        for field in form.reviewer_fields
        if field.kind == "text" and field.required and not str(fields.get(field.name) or "").strip()
    )


def _sentence(field: FormField) -> str:
    title = " ".join(field.title.split()) or field.name.replace("_", " ").strip()
    asks = next(iter(split_sentences(field.asks)), "").rstrip(".")
    end = "" if asks.endswith(("?", "!")) else "."
    if not field_roles(field):
        return f"Nothing that was found could be written under “{title}”; the box asks: {asks}{end}"
    return f"No point about {title.lower()} was found; the paper was read for what this box asks: {asks}{end}"
