"""What rules found without a model: the points of a review that code raised."""

from __future__ import annotations

from referee.evidence.sentences import MORE
from referee.reports.deciding import by_weight
from referee.reports.formulas import readable
from referee.reports.plain import excerpt, one_line
from referee.schemas.point import PointEvidence, ReviewPoint
from referee.schemas.review import Review

HEADING = "Found by rules, without a model"
_STANDING = ("printed", "listed", "merged_into")


def found_by_rules(review: Review) -> list[ReviewPoint]:
    """Points that rules raised and no check struck, the gravest first; those joined with others among them."""
    return by_weight(point for point in review.points if point.source == "rule" and point.outcome in _STANDING)


def nothing_found(review: Review) -> str:
    """A sentence for a review without such points; empty where no rule read the paper, or nobody noted that one did."""
    struck = sum(point.source == "rule" for point in review.points)
    if struck:
        return f"The check struck what rules found ({struck}); `referee show` with --all has the reasons."
    ran = review.provenance is not None and review.provenance.rules
    return "The rules that need no model found nothing in this paper." if ran else ""


def with_more(quote: str) -> str:
    """The quotation; where it stops in mid-sentence, as at the end of a page, ``[…]`` says that the paper goes on."""
    return quote + MORE if quote[-1:].isalpha() and " | " not in quote else quote


def quoted(evidence: PointEvidence, limit: int | None = None) -> str:
    """A quotation in its marks, with section and page; with a limit as many of its sentences as that holds."""
    quote = readable(one_line(evidence.quote))
    shown = quote if limit is None else excerpt(quote, limit)
    page = f", p. {evidence.page}" if evidence.page is not None else ""
    return f"“{with_more(shown)}” ({one_line(evidence.section) or one_line(evidence.section_id)}{page})"
