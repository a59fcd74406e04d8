"""One point of a review: a single defect, merit or question, with its evidence and what became of it.

Source: the point schema of *ReviewEval*'s section-wise reviewer as refined by the evidence on machine reviews; bounds
are enforced by the reply models, names are the contract.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.computation import Computation
from referee.schemas.paper import Box

Polarity = Literal["weakness", "strength", "question"]
PointKind = Literal[
    "error",
    "contradiction",
    "unsupported",
    "missing",
    "comparison",
    "design",
    "statistics",
    "reproducibility",
    "novelty",
    "clarity",
    "ethics",
]
Severity = Literal["fatal", "major", "minor", "note"]
SEVERITIES: tuple[Severity, ...] = ("fatal", "major", "minor", "note")
Weight = Literal["decides", "material", "small"]
Heading = Literal["main reason", "weakness", "correction", "merit", "question"]
HEADINGS: tuple[Heading, ...] = get_args(Heading)
Checkable = Literal["paper", "arithmetic", "literature", "judgement"]
EvidenceRole = Literal["shows", "contradicts", "promises"]
QuoteStatus = Literal["exact", "fuzzy", "not_found"]
Verdict = Literal["stands", "weakened", "refuted", "undecidable", "unchecked"]
PointSource = Literal["section", "whole", "cross", "rule", "team", "literature", "figure", "form"]
Outcome = Literal["printed", "listed", "merged_into", "struck", "dropped"]


class Quotation(Frozen):
    """Words of a paper and where they stand.

    ``quote`` is the paper's own wording, parts around an ellipsis joined by `` […] ``, unless ``status`` is
    ``not_found``. ``similarity`` of what was claimed with it is in [0, 1], and 1 exactly where ``status`` is ``exact``.
    ``page`` and ``box`` are those of the block in which the quotation starts; ``label`` is what the text calls that
    block where it is a table or a caption (``Table 2``).
    """

    quote: str
    status: QuoteStatus
    similarity: float = Field(default=1.0, ge=0, le=1)
    section_id: str
    section: str
    label: str = ""
    page: int | None = None
    box: Box | None = None


class PointEvidence(Quotation):
    """A quotation behind a point, and what it does for it."""

    role: EvidenceRole = "shows"


class Absence(Frozen):
    """A claim that something is not there: what, by which words it would be found, and where one would expect it."""

    what: str
    terms: tuple[str, ...]
    expected_in: str = ""
    hits: int | None = Field(default=None, description="places the words were found in; null before the search")


class Fix(Frozen):
    """What would settle a point."""

    kind: Literal["none", "text", "analysis", "experiment", "citation"]
    what: str = ""


class Correction(Frozen):
    """A slip that a change of the text mends: where it stands, what is printed, what it should be, and why."""

    place: str
    printed: str
    should_be: str
    why: str = ""


class PointCheck(Frozen):
    """The verdict of a check that did not see the author's reasons, and the passages it rests on.

    ``narrowed`` is what remains true where a clause of the claim is false: the review prints it instead of the claim.
    """

    verdict: Verdict
    narrowed: str = ""
    by: str = Field(description="a model id, or 'absence search'")
    reason: str = ""
    passages: tuple[PointEvidence, ...] = ()
    conceded: bool = False
    out_of_scope: bool = False


class ReviewPoint(Frozen):
    """A point from where it was raised to what became of it.

    ``argument`` says why it matters, what else could explain it and what follows. ``raised_severity`` is what its
    author gave; ``severity`` what the check says would change in the paper if the point were mended. ``outcome`` and
    ``reason`` say where it went; ``merged_into`` names the point that took its evidence over. ``computations`` are
    programs that its author wrote for it, with what they gave. ``unverified_work`` stands in stored reviews alone: a
    work that a reader of an older version named from memory.

    ``number``, ``heading`` and ``weight`` are its place in the one list of the review's points, which every output
    prints; ``evidence/listing.py`` gives them. The number of a point that is not in the list is 0.
    """

    id: str
    claim: str
    argument: str = ""
    correction: Correction | None = None
    unverified_work: str = ""
    polarity: Polarity
    kind: PointKind
    criterion: tuple[str, ...] = ()
    threatens: str | None = None
    severity: Severity
    raised_severity: Severity
    evidence: tuple[PointEvidence, ...] = ()
    checkable: Checkable = "paper"
    refuted_by: str = ""
    absence: Absence | None = None
    fix: Fix = Fix(kind="none")
    confidence: Literal["low", "medium", "high"] = "medium"
    unverified: bool = False
    source: PointSource
    section_id: str | None = None
    call_id: str = ""
    model: str = ""
    prompt: str = ""
    check: PointCheck | None = None
    computations: tuple[Computation, ...] = ()
    merged_from: tuple[str, ...] = ()
    merged_into: str | None = None
    outcome: Outcome = "listed"
    reason: str = ""
    field: str | None = None
    number: int = Field(default=0, ge=0)
    heading: Heading | None = None
    weight: Weight | None = None

    @property
    def statement(self) -> str:
        """What the review says: the claim, or what the check left of it."""
        return (self.check.narrowed if self.check else "") or self.claim

    @property
    def verified_quotes(self) -> int:
        """How many of its quotations are in the paper."""
        return sum(e.status != "not_found" for e in self.evidence)
