"""Whether reviews that point into the paper more often criticise it more specifically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from referee.errors import EvaluationError
from referee.evals.behaviour.cross_references import Bin, xref_bin
from referee.stats import spearman

BINS: tuple[Bin, ...] = ("0", "1", "2-5", ">5")


@dataclass(frozen=True, slots=True)
class XrefValidity:
    """How cross-references and specificity go together.

    ``rho`` is Spearman's, from -1 to 1; None with a ``reason``. ``means`` and ``counts`` are by bin of ``xref``;
    ``gains`` are means less that of bin 0, for the bins that have reviews, where bin 0 has any.
    """

    rho: float | None
    n: int
    means: dict[Bin, float]
    counts: dict[Bin, int]
    gains: dict[Bin, float]
    reason: str = ""


def xref_validity(xref: Sequence[int], specificity: Sequence[float]) -> XrefValidity:
    """Spearman's correlation (average ranks) of cross-references with specificity, and the gain of each bin.

    Args:
        xref: Cross-references of whole reviews.
        specificity: The mean grounding specificity of the weaknesses of each, on any one scale.

    Raises:
        EvaluationError: The lists differ in length, or a value is not finite.

    Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing" (rho .298 of human reviews, .393
    of generated ones).
    """
    if any(count < 0 for count in xref):
        raise EvaluationError("a review has no negative number of cross-references.", hint="Give counts.")
    rho = spearman(xref, specificity)
    by_bin: dict[Bin, list[float]] = {name: [] for name in BINS}
    for count, value in zip(xref, specificity, strict=True):
        by_bin[xref_bin(count)].append(value)
    means = {name: fmean(values) for name, values in by_bin.items() if values}
    gains: dict[Bin, float] = {}
    if "0" in means:
        gains |= {name: mean - means["0"] for name, mean in means.items() if name != "0"}
    reason = "" if rho is not None else "fewer than two reviews" if len(xref) < 2 else "all values are equal"
    return XrefValidity(rho, len(xref), means, {name: len(values) for name, values in by_bin.items()}, gains, reason)
