"""What a search of the literature found, as points of a review and as material for a score, in its sources' words."""

from __future__ import annotations

from referee.schemas.literature import FoundWork, Literature, PaperClaim, WorkBearing
from referee.schemas.point import Fix, PointEvidence, ReviewPoint


def comparison_points(literature: Literature | None) -> list[ReviewPoint]:
    """A point for each work on the same task and data that the paper does not compare with, ``l-1`` and on.

    Its sentences are this code's, around the work's record, a sentence of its abstract and the paper's own words.
    """
    if literature is None:
        return []
    works, claims = {w.id: w for w in literature.works}, {c.id: c for c in literature.claims}
    return [
        _point(number, bearing, works[bearing.work], claims[bearing.claim], dated=bool(literature.as_of))
        for number, bearing in enumerate(literature.missing_comparisons, start=1)
    ]


def works_text(literature: Literature | None) -> str:
    """The works that bear on a claim, with the sentence and the words of the claim that it covers; empty for none."""
    if literature is None:
        return ""
    works, claims = {w.id: w for w in literature.works}, {c.id: c for c in literature.claims}
    return "\n".join(
        f"[{b.work}] {_named(works[b.work])}: “{b.sentence}” ({b.bearing}: “{b.covers or claims[b.claim].quote}”)"
        for b in literature.bearings
    )


def _point(number: int, bearing: WorkBearing, work: FoundWork, claim: PaperClaim, *, dated: bool) -> ReviewPoint:
    lacks = "its experiments do not cite it" if work.cited else "the paper does not cite it"
    later = "" if dated else ", which may be later than the submission"
    return ReviewPoint(
        id=f"l-{number}",
        claim=(
            f"A search of the literature found {_named(work)} [{work.id}]{later}. By its abstract it is on the same "
            f"task and data (“{bearing.sentence}”), and {lacks}."
        ),
        polarity="weakness",
        kind="comparison",
        severity="minor",
        raised_severity="minor",
        evidence=(
            PointEvidence(
                quote=claim.quote,
                status="exact",
                section_id=claim.section_id,
                section=claim.section,
                page=claim.page,
            ),
        ),
        checkable="literature",
        fix=Fix(kind="citation", what="Compare with it, or say why it does not compare."),
        source="literature",
        section_id=claim.section_id,
        reason="found by a search; no model judged the comparison beyond the abstract",
    )


def _named(work: FoundWork) -> str:
    parts = (f"“{work.title}”", str(work.year) if work.year is not None else "", work.identifier)
    return ", ".join(filter(None, parts))
