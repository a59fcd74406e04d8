"""Where a point is printed: its box of the form, and its place in the order.

Which box of a venue's form a point belongs to, judged by how the form names its boxes.

A form is data and its boxes have no types beyond free text, so names and titles are read for words that forms use.
What matches nothing falls through to the next best box; a form without any text box carries no point.

The order of points and what of them the form shows: severity, then what the check said, then how much is quoted.

The first rank of a model's own list holds few of its finds, so the order in which points were raised never counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from referee.evidence.points import is_live, noted
from referee.schemas.point import SEVERITIES, ReviewPoint
from referee.schemas.venue import FormField, VenueForm

FieldRole = Literal[
    "strengths",
    "weaknesses",
    "both",
    "review",
    "other",
    "digest",
    "questions",
    "ethics",
    "limits",
    "references",
    "literature",
    "claims",
    "methods",
    "clarity",
    "documentation",
    "remarks",
    "changes",
    "any",
]

_STRENGTHS = re.compile(r"strength|strong point|reasons? to (?:accept|publish)|\bpros\b")
_WEAKNESSES = re.compile(r"weakness|weak point|reasons? to reject|opportunit\w+ for improvement|\bcons\b|^concerns\b")
_NOT_FOR_POINTS = re.compile(
    r"summary|\btitle\b|justification|topic and main|formatting|supplementary|time spent|theoretical|confidential"
)
_WEIGHED = re.compile(r"strengths?\b.{0,20}\bweakness|\bpros and cons", re.IGNORECASE)
_ROLES: tuple[tuple[FieldRole, re.Pattern[str]], ...] = (
    ("ethics", re.compile(r"\bethic")),
    ("limits", re.compile(r"limitation|broader impact|societal")),
    ("questions", re.compile(r"question")),
    ("references", re.compile(r"references")),
    ("literature", re.compile(r"literature|prior work|related work|novelty|originality")),
    ("claims", re.compile(r"\bclaims\b|correctness|soundness")),
    ("methods", re.compile(r"method|experiment|analys[ei]s")),
    ("clarity", re.compile(r"clarity|presentation|typos|writing")),
    ("documentation", re.compile(r"documentation|reproducib")),
    ("remarks", re.compile(r"comment|suggestion|feedback|remark")),
    ("changes", re.compile(r"\bchanges\b")),
    ("review", re.compile(r"^(?:main )?review\b")),
)
_TOPICS: dict[str, tuple[FieldRole, ...]] = {
    "error": ("claims",),
    "contradiction": ("claims",),
    "unsupported": ("claims",),
    "comparison": ("methods",),
    "design": ("methods", "claims"),
    "statistics": ("methods", "claims"),
    "reproducibility": ("documentation", "methods"),
    "novelty": ("literature",),
    "clarity": ("clarity",),
}
_ABOUT_LIMITS = re.compile(r"\blimitations?\b|societal|broader impact|\bmisuse\b", re.IGNORECASE)
_SMALL: tuple[FieldRole, ...] = ("remarks", "changes")
_LAST_FOR_WEAKNESSES: tuple[FieldRole, ...] = (
    *("both", "review", "other", "claims", "digest", "remarks", "changes", "methods", "any"),
)
_FOR_STRENGTHS: tuple[FieldRole, ...] = ("strengths", "both", "review", "other", "digest", "remarks", "any")
_FOR_QUESTIONS: tuple[FieldRole, ...] = (
    *("questions", "remarks", "changes", "review", "both", "weaknesses", "other", "claims", "digest", "any"),
)


def field_for(point: ReviewPoint, form: VenueForm) -> str | None:
    """The one text box of the form that a point belongs to.

    Ethics and limitations have their own boxes where the form gives them one. Other weaknesses go to the form's box for
    weaknesses, where it has none to the box for their topic; corrections to the box for remarks, else to that for
    weaknesses. Neither ever stands in a box for questions.

    Args:
        point: The point; polarity, kind, whether it is a correction, and for lacks the claim's words decide.
        form: The form; boxes that only a person may fill or that belong to the discussion are left out.

    Returns:
        A field's name, or null where the form has no text box for it (forms that hold scores only).
    """
    boxes = [(field.name, field_roles(field)) for field in form.reviewer_fields if field.kind == "text"]
    if point.polarity == "weakness":
        boxes = [(name, roles) for name, roles in boxes if "questions" not in roles]
    for role in _wanted(point):
        for name, roles in boxes:
            if role in roles:
                return name
    return None


def field_roles(field: FormField) -> frozenset[FieldRole]:
    """What a text box is for, by its name and title; empty for summaries, headlines and boxes that take no points."""
    words = " ".join(re.findall(r"[a-z]+", f"{field.name} {field.title}".lower()))
    if _STRENGTHS.search(words) and _WEAKNESSES.search(words):
        return frozenset({"other" if words.startswith("other") else "both"})
    if _STRENGTHS.search(words):
        return frozenset({"strengths"})
    if _WEAKNESSES.search(words):
        return frozenset({"weaknesses"})
    if _NOT_FOR_POINTS.search(words):
        return frozenset({"digest"}) if _WEIGHED.search(field.asks) else frozenset()
    found: set[FieldRole] = {role for role, pattern in _ROLES if pattern.search(words)}
    if "ethics" in found:
        return frozenset({"ethics"})
    return frozenset(found or {"both" if _WEIGHED.search(field.asks) else "any"})


def _wanted(point: ReviewPoint) -> tuple[FieldRole, ...]:
    """Roles of boxes that may carry the point, the best first."""
    if point.polarity == "strength":
        return _FOR_STRENGTHS
    own = _own_box(point)
    if point.polarity == "question":
        return (*own, *_FOR_QUESTIONS)
    small = _SMALL if point.correction is not None and point.severity in ("minor", "note") else ()
    return (*own, *small, "weaknesses", "both", "review", *_topics(point), *_LAST_FOR_WEAKNESSES)


def _own_box(point: ReviewPoint) -> tuple[FieldRole, ...]:
    if point.kind == "ethics":
        return ("ethics", "limits")
    return ("limits",) if point.kind == "missing" and _ABOUT_LIMITS.search(point.claim) else ()


def _topics(point: ReviewPoint) -> tuple[FieldRole, ...]:
    cites = point.fix.kind == "citation" or point.checkable == "literature"
    return (*(("references", "literature") if cites else ()), *_TOPICS.get(point.kind, ()))


_VERDICTS = ("stands", "weakened", "unchecked", "undecidable", "refuted")


def order_points(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points by severity, check verdict (unchecked after weakened), number of verified quotations (most first), id."""
    return sorted(points, key=_rank)


def check_order(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points that no check has settled, in the order in which checks are spent: fatal, major, absences, the rest.

    Merits are not among them: they need a place, not a refutation.
    """
    open_points = [p for p in points if is_live(p) and p.check is None and p.polarity != "strength"]
    return sorted(open_points, key=lambda point: (_check_class(point), _rank(point)))


def place_points(points: Iterable[ReviewPoint], form: VenueForm) -> list[ReviewPoint]:
    """Give every point that is still in play its one field: all that stands is printed.

    Args:
        points: All points; merged, struck and dropped ones pass through.
        form: The venue's form.

    Returns:
        All points in ``order_points`` order, those in play ``printed`` with a field, or ``listed`` with the reason
        where the form has no text field for them.
    """
    return [placed_point(point, form) if is_live(point) else point for point in order_points(points)]


def placed_point(point: ReviewPoint, form: VenueForm) -> ReviewPoint:
    """A point in its field, or listed with the reason why it has none."""
    name = field_for(point, form)
    if name is None:
        listed = point.model_copy(update={"outcome": "listed", "field": None})
        return noted(listed, "the form has no text field for it")
    return point.model_copy(update={"outcome": "printed", "field": name})


def _rank(point: ReviewPoint) -> tuple[int, int, int, str]:
    verdict = point.check.verdict if point.check is not None else "unchecked"
    return SEVERITIES.index(point.severity), _VERDICTS.index(verdict), -point.verified_quotes, point.id


def _check_class(point: ReviewPoint) -> int:
    if point.severity in ("fatal", "major"):
        return SEVERITIES.index(point.severity)
    return 2 if point.absence is not None else 3
