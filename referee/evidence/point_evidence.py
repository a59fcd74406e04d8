"""What a point of a review rests on: its quotations are looked up, and what they cannot carry is taken back.

A quotation that is found proves that the paper says so, not that the point is right; see ``point_check`` for that.
"""

from __future__ import annotations

from collections.abc import Collection

from referee.evidence.point_changes import asked, capped, is_live, lowered, noted, removed
from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.point import PointEvidence, ReviewPoint


def verify_point(point: ReviewPoint, index: QuotationIndex, *, claims: Collection[str]) -> ReviewPoint:
    """Look up the quotations of a point and apply the rules that follow from them.

    None found, although there are some or the kind of point needs one: ``unverified``, one step less severe. A strength
    without a verified quotation is dropped. A contradiction needs two different verified quotations, else it becomes
    ``unsupported``: one place alone shows no disagreement. A point that threatens no claim of the paper is at most
    minor. Doing it twice changes nothing more.

    Args:
        point: Quotations that were not looked up have the status ``not_found``; those with another status (places that
            a rule read off the paper) stay as they are.
        index: The paper's index. A section is searched first, then everything.
        claims: Ids of the paper's claims, which ``threatens`` may name.

    Returns:
        The point with the paper's own wording, place and status; a point whose fate is settled is returned as it is.
    """
    if not is_live(point):
        return point
    looked_up = [_looked_up(evidence, index) for evidence in point.evidence]
    verified = point.model_copy(update={"evidence": tuple(evidence for evidence, _ in looked_up)})
    for _, miss in looked_up:
        verified = noted(verified, f"a quotation does not count: {miss}") if miss else verified
    for rule in (_unverified, _one_sided, _unquoted_strength):
        verified = rule(verified)
    return _tied_to_a_claim(verified, claims)


def settle_literature(point: ReviewPoint, *, retrieved: bool = False) -> ReviewPoint:
    """Turn what only other works could decide into a question.

    Args:
        point: Any point; those about novelty and those to be checked in the literature are concerned.
        retrieved: Whether a work that decides it was retrieved and is cited.

    Returns:
        The point, as a question where nothing was retrieved; praise of novelty is dropped then.
    """
    if retrieved or not is_live(point) or point.polarity == "question":
        return point
    if point.kind == "novelty" or point.checkable == "literature":
        return asked(point, "no other work was retrieved to decide it")
    return point


def needs_quotation(point: ReviewPoint) -> bool:
    """Whether a point is unverified without any quotation: all but questions, and lacks that a guideline names."""
    return point.polarity != "question" and not (point.kind == "missing" and point.criterion)


def _looked_up(evidence: PointEvidence, index: QuotationIndex) -> tuple[PointEvidence, str]:
    if evidence.status != "not_found":
        return evidence, ""
    found = index.find(evidence.quote, section_id=evidence.section_id)
    if isinstance(found, NotFound):
        return evidence.model_copy(update={"similarity": 0.0}), found.reason
    place = {
        "section_id": found.section_id,
        "section": found.section,
        "quote": found.quote,
        "status": found.status,
        "similarity": found.similarity,
        "page": found.page,
        "box": found.box,
    }
    return evidence.model_copy(update=place), ""


def _unverified(point: ReviewPoint) -> ReviewPoint:
    if point.unverified or point.verified_quotes or not (point.evidence or needs_quotation(point)):
        return point
    why = "none of its quotations is in the paper" if point.evidence else "it quotes nothing"
    return lowered(point.model_copy(update={"unverified": True}), f"unverified, one step less severe: {why}")


def _one_sided(point: ReviewPoint) -> ReviewPoint:
    if point.kind != "contradiction":
        return point
    sides = {(e.section_id, " ".join(e.quote.split())) for e in point.evidence if e.status != "not_found"}
    if len(sides) >= 2:
        return point
    changed = point.model_copy(update={"kind": "unsupported"})
    return noted(changed, "raised as a contradiction, which needs two verified quotations")


def _unquoted_strength(point: ReviewPoint) -> ReviewPoint:
    if point.polarity != "strength" or point.verified_quotes:
        return point
    return removed(point, "dropped", "a strength needs a quotation that is in the paper")


def _tied_to_a_claim(point: ReviewPoint, claims: Collection[str]) -> ReviewPoint:
    if point.threatens is None:
        return capped(point, "minor", "at most minor: it threatens no claim of the paper")
    if point.threatens in claims:
        return point
    unknown = point.model_copy(update={"threatens": None})
    return capped(
        noted(unknown, f"names the unknown claim {point.threatens!r}"),
        "minor",
        "at most minor: it threatens no claim of the paper",
    )
