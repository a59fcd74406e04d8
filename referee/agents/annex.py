"""What a review tells its authors beyond what its recommendation rests on: printed apart, behind everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.agents.prose import Paragraph, headed
from referee.evidence.point_fields import corrections_field, field_roles
from referee.schemas.point import ReviewPoint
from referee.schemas.venue import VenueForm

ANNEX = "For the authors, beyond what the recommendation rests on:"
_CRITICISM = frozenset({"weaknesses", "both", "review", "other", "digest", "any"})
_LAST = ("remarks", "changes", "questions")
_LESSER = ("other", "advice")


def annex_field(form: VenueForm) -> str | None:
    """The text box for the annex and the corrections: for remarks, else for questions, else that of the weaknesses."""
    boxes = [(f.name, field_roles(f)) for f in form.reviewer_fields if f.kind == "text" and f.max_chars is None]
    found = (name for role in _LAST for name, roles in boxes if role in roles)
    return next(found, corrections_field(form))


def set_apart(
    paragraphs: Mapping[str, Sequence[Paragraph]], points: Mapping[str, ReviewPoint], form: VenueForm
) -> tuple[dict[str, tuple[Paragraph, ...]], tuple[Paragraph, ...]]:
    """The fields without the lesser criticism, and that criticism in its order, advice last.

    Nothing is set apart from a field in which nothing decides.
    """
    kept: dict[str, tuple[Paragraph, ...]] = {}
    annex: list[Paragraph] = []
    roles = {field.name: field_roles(field) for field in form.reviewer_fields}
    for name, given in paragraphs.items():
        decided = any(p.weight == "decides" for p in given) and not _CRITICISM.isdisjoint(roles[name])
        lesser = [p for p in given if decided and p.weight in _LESSER and _criticises(p, points)]
        annex += lesser
        kept[name] = tuple(p for p in given if p not in lesser)
    return kept, tuple(sorted(annex, key=lambda paragraph: _LESSER.index(paragraph.weight)))


def annex_text(annex: Sequence[Paragraph]) -> str:
    """The annex as a list; empty for none."""
    lines = [f"- {headed(paragraph)}" for paragraph in annex]
    return "\n".join([ANNEX, *lines]) if lines else ""


def _criticises(paragraph: Paragraph, points: Mapping[str, ReviewPoint]) -> bool:
    carried = [points[key].polarity for key in paragraph.points if key in points]
    return bool(carried) and set(carried) != {"strength"}
