"""What a review cites, and whether it exists. Source: PRAIB, formal citations in APA, MLA and IEEE style."""

from __future__ import annotations

from referee.evals.reading import Reading, ReadMetric

NOT_CHECKED = "citations were not checked: no records were given"
NO_CITATION = "the review has no formal citation"
UNRESOLVED = "none of the formal citations could be looked up"


def _verified(read: Reading) -> float | None:
    resolved = [one for one in read.checked or () if one.status != "unresolved"]
    return sum(one.status == "verified" for one in resolved) / len(resolved) if resolved else None


def _why_unverified(read: Reading) -> str:
    if read.text.status != "scored":
        return read.text.reason
    if read.checked is None:
        return NOT_CHECKED
    return UNRESOLVED if read.checked else NO_CITATION


METRICS = (
    ReadMetric(
        "citations",
        "formal citations: APA, MLA, IEEE",
        unit="citations",
        of=lambda read: len(read.text.formal) if read.text.status == "scored" else None,
    ),
    ReadMetric(
        "citations_verified",
        "share of the formal citations that exist, of those that could be looked up",
        unit="fraction",
        range=(0.0, 1.0),
        of=_verified,
        why=_why_unverified,
        better="higher",
    ),
    ReadMetric(
        "citations_informal",
        "author-year mentions, arXiv ids, DOIs outside of formal citations",
        unit="citations",
        of=lambda read: read.text.informal.total if read.text.status == "scored" else None,
    ),
)
