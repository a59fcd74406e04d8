"""How much of a review its paper bears out, by code alone: shares of its statements, without a judge."""

from __future__ import annotations

from dataclasses import dataclass

from referee.evals.metric import Better, Context, Need, Range, Share, not_applicable, scored
from referee.evidence.certificates import Bearings, certify_text, statements_of, unfit
from referee.schemas.case import ReviewCase
from referee.schemas.certificate import Certificate, CertificateStatus
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Paper


@dataclass(frozen=True)
class CertifiedShare(Share):
    """The share of a review's statements that have one status; see ``referee.evidence.certificates``."""

    name: str
    status: CertificateStatus
    about: str
    better: Better = None
    range: Range = (0.0, 1.0)
    needs: frozenset[Need] = frozenset({"paper"})

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Check the statements once for all metrics that are made of them; the details hold those of the status."""
        paper = context.paper
        assert paper is not None, "it is needed"

        async def check() -> tuple[str, list[Certificate]]:
            return _checked(case.text, paper)

        reason, certificates = await context.shared.once(("certificates", case.case_id), check)
        if reason:
            return not_applicable(self, case, reason)
        found = [one for one in certificates if one.status == self.status]
        details = {"statements": len(certificates), "certificates": [one.model_dump() for one in found]}
        return scored(self, case, len(found) / len(certificates), details=details)


def _checked(text: str, paper: Paper) -> tuple[str, list[Certificate]]:
    """Why the review cannot be checked, or the certificates of its statements."""
    bearings, statements = Bearings(paper), statements_of(text)
    reason = unfit(statements, bearings)
    return reason, [] if reason else certify_text(statements, bearings)


METRICS = (
    CertifiedShare("sourced_share", "sourced", "share of its statements whose quotation or numbers the paper holds"),
    CertifiedShare("refuted_share", "refuted", "share of its statements with an invented quotation", "lower"),
)
