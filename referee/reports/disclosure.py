"""The block that says what wrote a review and what it is worth."""

from __future__ import annotations

from referee.evidence.computed import computations_told
from referee.evidence.points import is_live
from referee.llm.spec import ANSWERS
from referee.reports.figures import figures_told
from referee.reports.plain import one_line
from referee.reports.values import quotation_counts
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm

TRIAL = (
    "The model is the small one that the package fetches: this is a trial of the pipeline, not an assessment of the "
    "paper."
)

NO_SCORES = "It gives no scores: what the embedded model chose is kept under “trial” in review.json, and is no rating."


def disclosure(review: Review, form: VenueForm, *, embedded: bool, mark: str = "", looked_up: bool = True) -> str:
    """Who wrote the review, what was checked, and the venue's rule, as plain paragraphs.

    The first paragraph is the one that must be read; it is what the reports print at the top.

    Args:
        review: The review; its source, evidence and calibration are named.
        form: The form it is on.
        embedded: Whether the embedded model wrote it; the text then says that this is a trial of the pipeline.
        mark: A sentence without its full stop that every reader must meet.
        looked_up: Whether its quotations were looked up in the paper; an ablated run may believe them as written.
    """
    source = one_line(review.source)
    others = sorted({one_line(p.model) for p in review.points if is_live(p) and p.model} - {source})
    models = f"language models {', '.join([source, *others])}" if others else f"language model {source}"
    first = f"This review was written by a program with the {models}, not by a person."
    if source.startswith(f"{ANSWERS}:"):
        first = f"This review was written by a program from what a person or a language model answered ({source})."
    found, _, lost = quotation_counts(review)
    checked = (
        f"Of its quotations, {_were(found)} found in the paper and {_were(lost)} not. A "
        "quotation that was found shows that the paper says so; it does not show that the claim drawn from it is right."
    )
    policy = form.llm_policy
    return "\n\n".join(
        [
            " ".join(filter(None, (first, TRIAL if embedded else "", _sentence(mark)))),
            checked
            if looked_up
            else "Its quotations were not looked up in the paper: they stand as the model wrote them.",
            *filter(None, [computations_told(review.points), figures_told(review.figures)]),
            NO_SCORES if review.trial is not None else f"Ratings are {one_line(review.calibration)}.",
            f"Rule of {one_line(form.name)} on language models in reviewing ({policy.status}): "
            f"{one_line(policy.sentence)} It binds: {one_line(policy.applies_to).rstrip('.')}.",
        ]
    )


def notice(review: Review) -> str:
    """The first paragraph of the review's disclosure; empty where it has none."""
    return one_line(review.disclosure.strip().split("\n\n", 1)[0])


def _were(count: int) -> str:
    return f"{count} {'was' if count == 1 else 'were'}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
