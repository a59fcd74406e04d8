"""A peer review on a venue's own form, human or machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature, References
from referee.schemas.paper import Finding
from referee.schemas.paper_cut import PaperCut
from referee.schemas.point import Quotation, ReviewPoint
from referee.schemas.usage import Usage

FieldValue = str | int | float | list[str] | None


class Evidence(Quotation):
    """A claim of the review with the quotation that was found in the paper."""

    id: str
    claim: str
    field: str | None = None


class DroppedQuotation(Frozen):
    """A quotation that is not in the paper, and why it was dropped; the claim it came with loses its support."""

    id: str
    claim: str
    quote: str
    reason: str
    field: str | None = None


class ScoreRecord(Frozen):
    """How one score came about.

    ``stated`` is what the model chose, ``value`` what the review stands behind (null with ``null_reason``),
    ``supported_by`` the ids of verified evidence (or of points that stand) the model cited, ``opposed_by`` those
    it named against it. ``limit`` says what it does not take into account, as figures that nobody saw.
    """

    field: str
    stated: int | float | None
    value: int | float | None
    reason: str = ""
    supported_by: tuple[str, ...] = ()
    opposed_by: tuple[str, ...] = ()
    null_reason: str = ""
    limit: str = ""


class Forced(Frozen):
    """A value that stands only in the file for the form, because the form demands one."""

    field: str
    value: int | float | str | list[str]
    reason: str


class TrialValue(Frozen):
    """What a model that cannot judge a paper put into a field that judges it: kept for the record, never a rating."""

    field: str
    value: int | float | str | list[str]
    reason: str = ""


class Cut(Frozen):
    """Text of the paper that did not fit into the model's context."""

    section_id: str
    section: str
    tokens_kept: int
    tokens_total: int
    reason: str


class CriterionReader(Frozen):
    """Somebody who was shown a criterion before reading: who, and the call; ``note`` says what of it was left out."""

    name: str
    call_id: str = ""
    note: str = ""


class CriterionRecord(Frozen):
    """A criterion of the venue, and who read the paper for it; ``note`` says why nobody did."""

    id: str
    text: str
    readers: tuple[CriterionReader, ...] = ()
    note: str = ""


class Provenance(Frozen):
    """What made the review: enough to tell two runs apart and to explain one.

    ``rules`` says whether the rules that need no model read the paper; false in records from before they were noted.
    ``cut`` says how much of the paper the writer read, null where all of it; ``cuts`` say the same by section.
    """

    strategy: str
    models: dict[str, str]
    prompts: dict[str, str]
    package_version: str
    run_id: str
    venue_digest: str
    converter: str
    usage: Usage
    rules: bool = False
    cut: PaperCut | None = None
    cuts: tuple[Cut, ...] = ()
    notes: tuple[str, ...] = ()


class Review(Frozen):
    """A review on the form of ``venue``.

    ``fields`` holds exactly the form's fields in the form's order. A null has its reason in ``nulls``. ``rating`` and
    ``confidence`` repeat the form's overall and confidence fields. ``attestations`` are left to a person. ``points``
    are all that were raised, whatever became of them. In version 2 those that stand come first, numbered in the order
    in which every output prints them, and the form's text boxes are made of them. In version 1, which older runs hold
    and which strategies hand over, points have no numbers and ``evidence`` may hold claims of the text boxes.
    ``literature`` and ``references`` are what was looked up outside of the paper, null where nothing was; ``figures``
    says which of the paper's figures were looked at as pictures, null where it has none. ``trial`` is null but where
    the embedded model wrote the review: then its scores, choices and ticks stand there and nowhere else. ``criteria``
    are the form's guidelines in their order, with who read for them; a review from before they were recorded has none.
    ``uncovered_numbers`` counts numbers in points of the list that no quotation and no computation shows.
    """

    schema_version: Literal[1, 2] = 1
    review_id: str
    paper_id: str
    paper_title: str = ""
    venue: str
    source: str
    fields: dict[str, FieldValue]
    nulls: dict[str, str] = Field(default_factory=dict)
    rating: int | float | None = None
    confidence: int | float | None = None
    calibration: str = "not calibrated"
    scores: tuple[ScoreRecord, ...] = ()
    forced: tuple[Forced, ...] = ()
    trial: tuple[TrialValue, ...] | None = None
    attestations: tuple[str, ...] = ()
    points: tuple[ReviewPoint, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    dropped: tuple[DroppedQuotation, ...] = ()
    findings: tuple[Finding, ...] = ()
    literature: Literature | None = None
    references: References | None = None
    figures: FigureReading | None = None
    criteria: tuple[CriterionRecord, ...] = ()
    uncovered_numbers: int | None = None
    disclosure: str = ""
    provenance: Provenance | None = None
