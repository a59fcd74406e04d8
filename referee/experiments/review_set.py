"""The review set of one paper: a review an arm and seed, and the human reviews it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from referee.data import canonical_text
from referee.experiments.units import Unit
from referee.runs.files import write_atomically
from referee.schemas.case import CaseOrigin, ReviewCase
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm


def case_id(unit: Unit) -> str:
    """The unit's id in its review set."""
    return f"unit-{unit.digest[:16]}"


def set_paper_id(unit: Unit, digest: str) -> str:
    """By what a unit's review names its paper: the two copies of a planted one have one name, so by their digests."""
    return digest if unit.twin else unit.paper


def write_set(
    path: Path,
    reviews: Mapping[Unit, Review],
    forms: Mapping[str, VenueForm],
    references: Iterable[ReviewCase],
    file_of: Callable[[Unit], Path],
) -> None:
    """Write the set; the same reviews give the same file, so that its evaluation can be resumed.

    Args:
        path: The file.
        reviews: The units' reviews; they come under the arm's name as their source, and judges see their text alone.
        forms: The form by arm.
        references: The human reviews of the paper.
        file_of: Where a unit's whole record lies, which metrics of planted errors look into: a case holds no points.

    Raises:
        OSError: The file cannot be written.
    """
    in_order = sorted(reviews, key=lambda unit: (unit.arm, unit.seed, unit.twin))
    cases: Sequence[ReviewCase] = [
        *(_case(unit, reviews[unit], forms[unit.arm], file_of(unit)) for unit in in_order),
        *references,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(f"{case.model_dump_json(exclude_defaults=True)}\n" for case in cases))


def _case(unit: Unit, review: Review, form: VenueForm, file: Path) -> ReviewCase:
    return ReviewCase(
        case_id=case_id(unit),
        paper_id=set_paper_id(unit, review.paper_id),
        paper_title=review.paper_title,
        venue=form.id,
        year=form.year,
        source=unit.arm,
        kind="ai",
        text=canonical_text(review.fields, form),
        fields=dict(review.fields),
        rating=review.rating,
        confidence=review.confidence,
        origin=CaseOrigin(file=str(file), layout="reviews") if unit.twin else None,
    )
