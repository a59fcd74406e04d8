"""What a point of a review rests on: its quotations are looked up, and what they cannot carry is taken back.

A quotation that is found proves that the paper says so, not that the point is right; see ``point_check`` for that.
"""

from __future__ import annotations

from referee.evidence.point_changes import asked, is_live, noted, removed
from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.point import PointEvidence, ReviewPoint


def verify_point(point: ReviewPoint, index: QuotationIndex) -> ReviewPoint:
    """Look up the quotations of a point and apply the rules that follow from them.

    None found, although there are some or the kind of point needs one: ``unverified``, which the review says. A
    contradiction needs two different verified quotations, else it becomes ``unsupported``: one place alone shows no
    disagreement. A correction of words that the paper does not hold is dropped. Severity is not touched: how grave a
    point is, is for the check to say. Doing it twice changes nothing more.

    Args:
        point: Quotations that were not looked up have the status ``not_found``; those with another status (places that
            a rule read off the paper) stay as they are. An equation may be quoted by its name, as ``equation (4)``.
        index: The paper's index. A section is searched first, then everything.

    Returns:
        The point with the paper's own wording, place and status; a point whose fate is settled is returned as it is.
    """
    if not is_live(point):
        return point
    looked_up = [_looked_up(evidence, index, few=point.correction is not None) for evidence in point.evidence]
    verified = point.model_copy(update={"evidence": tuple(evidence for evidence, _ in looked_up)})
    for _, miss in looked_up:
        verified = noted(verified, f"a quotation does not count: {miss}") if miss else verified
    return _one_sided(_baseless(_unverified(verified), index))


def settle_literature(point: ReviewPoint) -> ReviewPoint:
    """Turn what only works outside the paper could decide into a question.

    A point that rests on a work named from memory, which nobody looked up, is asked. So is one about novelty or the
    literature without a verified quotation; with one it rests on what the paper itself says or cites, and stays.

    Returns:
        The point, as a question where nothing in the paper carries it; praise of novelty is dropped then.
    """
    if not is_live(point) or point.polarity == "question":
        return point
    about_works = point.kind == "novelty" or point.checkable == "literature"
    if point.unverified_work or (about_works and not point.verified_quotes):
        return asked(point, "no work outside the paper was looked up to decide it")
    return point


_NEED_NO_QUOTATION = frozenset({"missing", "comparison", "design", "novelty"})


def needs_quotation(point: ReviewPoint) -> bool:
    """Whether a point is unverified without any quotation: no question or merit, nor what concerns the whole."""
    return point.polarity == "weakness" and point.kind not in _NEED_NO_QUOTATION


def _looked_up(evidence: PointEvidence, index: QuotationIndex, *, few: bool) -> tuple[PointEvidence, str]:
    """The place of a quotation; of ``few`` words too, where they are what a correction says is printed."""
    if evidence.status != "not_found":
        return evidence, ""
    printed = index.words(evidence.quote, section_id=evidence.section_id) if few else None
    found = printed or index.equation(evidence.quote) or index.find(evidence.quote, section_id=evidence.section_id)
    if isinstance(found, NotFound):
        return evidence.model_copy(update={"similarity": 0.0}), found.reason
    return evidence.model_copy(update=dict(found)), ""


def _unverified(point: ReviewPoint) -> ReviewPoint:
    if point.unverified or point.verified_quotes or not (point.evidence or needs_quotation(point)):
        return point
    why = "none of its quotations is in the paper" if point.evidence else "it quotes nothing"
    return noted(point.model_copy(update={"unverified": True}), f"unverified: {why}")


def _baseless(point: ReviewPoint, index: QuotationIndex) -> ReviewPoint:
    if point.correction is None or not point.unverified or index.heads(point.correction.printed):
        return point
    return removed(point, "dropped", "what it corrects is not in the paper")


def _one_sided(point: ReviewPoint) -> ReviewPoint:
    if point.kind != "contradiction":
        return point
    sides = {(e.section_id, " ".join(e.quote.split())) for e in point.evidence if e.status != "not_found"}
    if len(sides) >= 2:
        return point
    changed = point.model_copy(update={"kind": "unsupported"})
    return noted(changed, "raised as a contradiction, which needs two verified quotations")
