"""What the reports say of a review by the embedded model, which is a trial of the pipeline and gives no scores."""

from __future__ import annotations

from collections.abc import Iterator

from referee.reports.values import is_empty, title_of
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm

FORM_HEADING = "The form as the embedded model filled it, as a trial of the pipeline"


def left_empty(review: Review, form: VenueForm) -> Iterator[str]:
    """Which fields the file to paste leaves empty in a trial, and why; nothing for other reviews."""
    if review.trial is None:
        return
    withheld = {one.field for one in review.trial}
    judged = [title_of(field) for field in form.reviewer_fields if field.name in withheld]
    if judged:
        yield (
            "Left empty in the file to paste, because the embedded model cannot judge a paper: "
            f"{', '.join(judged)}. What it chose is kept under “trial” in review.json."
        )
    demanded = [
        title_of(field)
        for field in form.reviewer_fields
        if field.required and field.name not in withheld and is_empty(review.fields.get(field.name))
    ]
    if demanded:
        yield f"Left empty as well, though the form demands them: {', '.join(demanded)}."


def nothing_found(review: Review) -> str:
    """A sentence for a trial in which rules found nothing; empty where no rule read the paper or nobody noted it."""
    if review.trial is None or any(point.source == "rule" and point.number for point in review.points):
        return ""
    struck = sum(point.source == "rule" for point in review.points)
    if struck:
        return f"The check struck what rules found ({struck}); `referee show` with --dropped has the reasons."
    ran = review.provenance is not None and review.provenance.rules
    return "The rules that need no model found nothing in this paper." if ran else ""
