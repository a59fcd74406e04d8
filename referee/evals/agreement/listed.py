"""Papers whose data list the human ratings beside a model's review, without the human reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from referee.data.ratings import leading_number
from referee.evals.agreement.rated import Gathered, gather, same_scale
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm

LISTED = "human_ratings"


def gather_listed(
    predictions: Iterable[ReviewCase],
    forms: Mapping[str, VenueForm],
    *,
    rated_on: str = "",
    across_scales: bool = False,
) -> Gathered:
    """One model's reviews with the human ratings that their records list; records without a list are left out.

    Args:
        predictions: One model's reviews; of several for a paper the first counts. Their venue is people's form.
        forms: The known forms by id.
        rated_on: The form the model rated on, where it is another than the venue says.
        across_scales: As ``gather``.

    Raises:
        EvaluationError: As ``gather``.
    """
    cases = [case for case in predictions if isinstance(case.extra.get(LISTED), list)]
    human = {case.paper_id: _listed(case) for case in reversed(cases)}
    people = [case.model_copy(update={"rating": None, "confidence": None, "fields": {}}) for case in cases]
    models = [case.model_copy(update={"venue": rated_on or case.venue}) for case in cases]
    found = gather(people, models, forms, across_scales=True)
    papers = [replace(paper, human=human[paper.paper_id]) for paper in found.papers]
    return replace(found, papers=tuple(papers if across_scales else map(same_scale, papers)))


def _listed(case: ReviewCase) -> tuple[float, ...]:
    numbers = (leading_number(raw) for raw in case.extra[LISTED])
    return tuple(number for number in numbers if number is not None)
