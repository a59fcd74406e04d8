"""What the examination of a review's points carries: its services, its states, and the records that are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, or_
from typing import Annotated, Literal, Protocol, TypedDict

from referee.agents.asking import AsksPanel
from referee.agents.point_splitter import SplitPoint, SplitReview, SplitSummary
from referee.agents.questions import Questions, ShownPassage
from referee.agents.rebuttal_judge import FactVerdict, Vote
from referee.evidence import QuotationIndex, TermIndex
from referee.graphs.failure import Failure
from referee.retrieval import Chunks, Parent, Passage
from referee.schemas.base import Stored
from referee.schemas.paper import Paper
from referee.schemas.point import Quotation
from referee.schemas.usage import Usage


class Searches(Protocol):
    """The search over one paper, as ``referee.retrieval.Retriever`` is one."""

    @property
    def paper_id(self) -> str: ...  # noqa: D102

    @property
    def chunks(self) -> Chunks: ...  # noqa: D102

    async def search_many(self, queries: Sequence[str], *, top_k: int = 6) -> list[list[Passage]]:
        """For each question the nearest passages, the nearest first."""
        ...

    def parent(self, passage: Passage) -> Parent:
        """The section, or the part of it, around a passage."""
        ...


@dataclass(frozen=True)
class Bounds:
    """How much is asked about one review.

    Attributes:
        points: Most checkable points that are examined, in the review's order; the others are listed as not examined.
        sub_questions: Most sub-questions a point.
        top_k: Passages found for a sub-question.
        passage_tokens: Most tokens of passages and their parents in one call.
        named_tokens: Most tokens of the abstract and of what a point names in the paper, on top of them.
        parents: Whether the section around a passage is shown, rather than the passage alone.
        window_tokens: Most tokens of the review in one call.
        by_sentence: Whether each sentence of the review is taken for one point.
    """

    points: int = 40
    sub_questions: int = 4
    top_k: int = 6
    passage_tokens: int = 9_000
    named_tokens: int = 4_000
    parents: bool = True
    window_tokens: int = 4_000
    by_sentence: bool = False


# For models that read and write slowly: passages without their sections, and few points.
LEAN = Bounds(
    points=8,
    sub_questions=2,
    top_k=3,
    passage_tokens=1_400,
    named_tokens=700,
    parents=False,
    window_tokens=1_000,
    by_sentence=True,
)


@dataclass(frozen=True)
class FactualityContext:
    """The services of one run over one review of one paper; nothing in it is shared with another paper's.

    ``case_id`` names the review in progress and logs. ``quotations`` and ``terms`` are laid out from ``paper``.
    """

    paper: Paper
    retriever: Searches
    panel: AsksPanel
    quotations: QuotationIndex
    terms: TermIndex
    case_id: str
    text: str
    bounds: Bounds = Bounds()

    def unit(self, what: str) -> str:
        """What a call is for."""
        return f"factual_correctness of {self.case_id}: {what}"


class HitRecord(Stored):
    """A found passage: its id and its similarity with the sub-question in [-1, 1]."""

    id: str
    similarity: float


class PassageRecord(Stored):
    """A found passage's text and place; ``parent_id`` is the section, or the part of it, around it."""

    paper_id: str
    parent_id: str
    section_id: str
    section: str
    page: int | None
    text: str


@dataclass(frozen=True)
class FoundRecord:
    """What a sub-question's search found, nearest first, and what of it is shown."""

    place: int
    sub_question: str
    passages: tuple[HitRecord, ...]
    shown: tuple[ShownPassage, ...]


class QuotationRecord(Quotation):
    """Words that stand in the paper, by an answer or by the search; ``passage`` is what the answer named."""

    id: str
    source: Literal["answer", "search"]
    passage: str


class DroppedRecord(Stored):
    """Words of an answer that do not stand in the paper, and why not."""

    passage: str
    quote: str
    reason: str


class AnswerRecord(Stored):
    """An answer to one sub-question with its verified quotations, and with those that do not stand in the paper.

    ``shown`` are the ids of what was read: passages, or the sections around them. ``text`` is what the model wrote;
    ``counts`` says whether a quotation of it was verified.
    """

    place: int = 0
    sub_question: str = ""
    passages: tuple[HitRecord, ...] = ()
    shown: tuple[str, ...] = ()
    text: str = ""
    found: bool = True
    counts: bool = True
    quotations: tuple[QuotationRecord, ...]
    dropped: tuple[DroppedRecord, ...] = ()
    call_id: str = ""
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


class AbsenceRecord(Stored):
    """The search of the whole text for a claimed absence; ``empty``: no hit in a text of which nothing is lost."""

    terms: tuple[str, ...] = ()
    unsearchable: tuple[str, ...] = ()
    hits: int = 0
    references: int = 0
    words_read: int = 0
    losses: tuple[str, ...] = ()
    empty: bool
    told: str = ""
    quotations: tuple[QuotationRecord, ...]


class CountedVote(Vote):
    """What one judge said in one repeat, what it counts for, and ``why`` for less than it says."""

    counts_as: FactVerdict | None = None
    why: str = ""


class ExaminedRecord(Stored):
    """Everything about one examined point. ``verdict`` is null exactly where a failure or silent judges left none."""

    id: str = ""
    asked: Questions | None = None
    answers: tuple[AnswerRecord, ...]
    joined: str = ""
    absence: AbsenceRecord | None
    votes: tuple[CountedVote, ...]
    verdict: FactVerdict | None = None
    reason: str = ""
    failures: tuple[Failure, ...] = ()

    @property
    def exhibits(self) -> tuple[QuotationRecord, ...]:
        """The verified words that a judge may name."""
        return exhibits_of(self.answers, self.absence)


class PointRecord(SplitPoint):
    """A point of the review; ``examined`` is null where it cannot be checked or was beyond the bound."""

    examined: ExaminedRecord | None = None


class Facts(Stored):
    """What the machine leaves of one review: its value can be computed from this without a call.

    ``points`` stand in the review's order; ``passages`` holds each found passage once, by id.
    """

    paper_id: str = ""
    bounds: Bounds = Bounds()
    split: SplitSummary
    points: tuple[PointRecord, ...]
    passages: dict[str, PassageRecord]


def exhibits_of(answers: Sequence[AnswerRecord], absence: AbsenceRecord | None) -> tuple[QuotationRecord, ...]:
    """All verified words that a judge may name: those of the answers, then those of the search; each text once."""
    words = [*(q for answer in answers for q in answer.quotations), *(absence.quotations if absence else ())]
    first: dict[str, QuotationRecord] = {}
    for quotation in words:
        first.setdefault(quotation.quote, quotation)
    return tuple(first.values())


class FactualityState(TypedDict, total=False):
    """``examined`` and ``passages`` grow from parallel branches and are sorted before use; the rest is replaced.

    ``split`` is null before the review was cut.
    """

    split: SplitReview | None
    examined: Annotated[list[ExaminedRecord], add]
    passages: Annotated[dict[str, PassageRecord], or_]
    failure: Failure | None


class PointState(TypedDict, total=False):
    """The machine of one point; ``answers`` and ``failures`` grow from parallel branches."""

    point: SplitPoint
    asked: Questions | None
    found: list[FoundRecord]
    absence: AbsenceRecord | None
    answers: Annotated[list[AnswerRecord], add]
    failures: Annotated[list[Failure], add]
    examined: list[ExaminedRecord]
    passages: dict[str, PassageRecord]


class AnswerTask(TypedDict):
    """One sub-question of a point with what was found for it."""

    point: SplitPoint
    found_for: FoundRecord


class PointResult(TypedDict):
    """What a point's machine hands to the machine of the review."""

    examined: list[ExaminedRecord]
    passages: dict[str, PassageRecord]


def initial_state() -> FactualityState:
    """An empty state."""
    return FactualityState(split=None, examined=[], passages={}, failure=None)


def initial_point(point: SplitPoint) -> PointState:
    """The state in which a point's machine begins."""
    return PointState(
        point=point, asked=None, found=[], absence=None, answers=[], failures=[], examined=[], passages={}
    )
