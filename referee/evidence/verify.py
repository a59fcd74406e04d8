"""Claims with their quotations: kept with the place in the paper, or dropped with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.paper import Paper
from referee.schemas.review import DroppedQuotation, Evidence

_MAX_KEPT = 600


@dataclass(frozen=True, slots=True)
class ClaimedQuote:
    """A claim of a reviewer with the quotation that is to support it.

    ``section_id`` is where the reviewer says it stands, ``field`` the form's field that carries the claim.
    """

    id: str
    claim: str
    quote: str
    section_id: str | None = None
    field: str | None = None


def verify_quotations(
    claims: Sequence[ClaimedQuote], paper: Paper | QuotationIndex
) -> tuple[list[Evidence], list[DroppedQuotation]]:
    """Look every claimed quotation up.

    Args:
        claims: In any order; ids are kept.
        paper: The paper, or an index that was built from it.

    Returns:
        Evidence in the paper's own words, and the quotations that are not in the paper, each in the order of
        ``claims``; together they are as many as the claims.
    """
    index = paper if isinstance(paper, QuotationIndex) else QuotationIndex(paper)
    kept: list[Evidence] = []
    dropped: list[DroppedQuotation] = []
    for claim in claims:
        found = index.find(claim.quote, section_id=claim.section_id)
        if isinstance(found, NotFound):
            dropped.append(dropped_quotation(claim, found.reason))
            continue
        kept.append(Evidence(**dict(found), id=claim.id, claim=claim.claim, field=claim.field))
    return kept, dropped


def dropped_quotation(claim: ClaimedQuote, reason: str) -> DroppedQuotation:
    """The record of a quotation that does not count; one of more than 600 characters is shown by its beginning."""
    quote = claim.quote if len(claim.quote) <= _MAX_KEPT else claim.quote[:_MAX_KEPT] + " […]"
    return DroppedQuotation(id=claim.id, claim=claim.claim, quote=quote, reason=reason, field=claim.field)
