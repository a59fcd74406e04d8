"""What the machine ``factuality`` carries: plain data in the states, services of one review and paper beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, or_
from typing import Annotated, Any, Protocol, TypedDict

from referee.agents.panels import AsksPanel
from referee.evidence import QuotationIndex, TermIndex
from referee.graphs.failure import Failure
from referee.retrieval import Chunks, Parent, Passage
from referee.schemas.paper import Paper


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


class SplitRecord(TypedDict):
    """A point of the review; ``why`` says why it is not checkable, and is empty where it is."""

    id: str
    statement: str
    words: str
    sentences: list[str]
    kind: str
    checkable: bool
    why: str
    note: str


class AskedRecord(TypedDict):
    """What is asked of the paper about a point; ``absent`` are words that a claimed absence is searched by."""

    question: str
    sub_questions: list[str]
    absent: list[str]
    call_id: str
    notes: list[str]
    usage: dict[str, Any]


class HitRecord(TypedDict):
    """A found passage: its id and its similarity with the sub-question in [-1, 1]."""

    id: str
    similarity: float


class FoundRecord(TypedDict):
    """What a sub-question's search found, nearest first, and what of it is shown: (id, heading, text)."""

    place: int
    sub_question: str
    passages: list[HitRecord]
    shown: list[tuple[str, str, str]]


class QuotationRecord(TypedDict):
    """Words that stand in the paper. ``source`` is ``answer`` or ``search``; ``passage`` is what the answer named."""

    id: str
    source: str
    passage: str
    quote: str
    section_id: str
    section: str
    page: int | None
    status: str
    similarity: float


class AnswerRecord(TypedDict):
    """An answer to one sub-question with its verified quotations, and with those that do not stand in the paper.

    ``shown`` are the ids of what was read: passages, or the sections around them. ``text`` is what the model wrote;
    ``counts`` says whether a quotation of it was verified.
    """

    place: int
    sub_question: str
    passages: list[HitRecord]
    shown: list[str]
    text: str
    found: bool
    counts: bool
    quotations: list[QuotationRecord]
    dropped: list[dict[str, str]]
    call_id: str
    notes: list[str]
    usage: dict[str, Any]


class AbsenceRecord(TypedDict):
    """The search of the whole text for a claimed absence; ``empty``: no hit in a text of which nothing is lost."""

    terms: list[str]
    unsearchable: list[str]
    hits: int
    references: int
    words_read: int
    losses: list[str]
    empty: bool
    told: str
    quotations: list[QuotationRecord]


class VoteRecord(TypedDict):
    """What one judge said in one repeat; ``verdict`` is its own, ``counts_as`` what it counts for and ``why``."""

    judge: str
    repeat: int
    verdict: str | None
    named: str
    counts_as: str | None
    why: str
    rebuttal: str
    reason: str
    error: str
    call_id: str
    usage: dict[str, Any]


class ExaminedRecord(TypedDict):
    """Everything about one examined point. ``verdict`` is null exactly where a failure or silent judges left none."""

    id: str
    asked: AskedRecord | None
    answers: list[AnswerRecord]
    joined: str
    absence: AbsenceRecord | None
    votes: list[VoteRecord]
    verdict: str | None
    reason: str
    failures: list[Failure]


class FactualityState(TypedDict):
    """``examined`` and ``passages`` grow from parallel branches and are sorted before use; the rest is replaced.

    ``passages`` holds each found passage once, by id. ``split`` says how the review was cut: its number of sentences,
    those that no point is made of, calls, notes and usage.
    """

    points: list[SplitRecord]
    split: dict[str, Any]
    examined: Annotated[list[ExaminedRecord], add]
    passages: Annotated[dict[str, dict[str, Any]], or_]
    failure: Failure | None


class FactualityUpdate(TypedDict, total=False):
    """What a node may change."""

    points: list[SplitRecord]
    split: dict[str, Any]
    examined: list[ExaminedRecord]
    passages: dict[str, dict[str, Any]]
    failure: Failure


class PointState(TypedDict):
    """The machine of one point; ``answers`` and ``failures`` grow from parallel branches."""

    point: SplitRecord
    asked: AskedRecord | None
    found: list[FoundRecord]
    absence: AbsenceRecord | None
    answers: Annotated[list[AnswerRecord], add]
    failures: Annotated[list[Failure], add]
    examined: list[ExaminedRecord]
    passages: dict[str, dict[str, Any]]


class PointUpdate(TypedDict, total=False):
    """What a node of a point's machine may change."""

    asked: AskedRecord
    found: list[FoundRecord]
    absence: AbsenceRecord | None
    answers: list[AnswerRecord]
    failures: list[Failure]
    examined: list[ExaminedRecord]
    passages: dict[str, dict[str, Any]]


class AnswerTask(TypedDict):
    """One sub-question of a point with what was found for it."""

    point: SplitRecord
    found_for: FoundRecord


class PointResult(TypedDict):
    """What a point's machine hands to the machine of the review."""

    examined: list[ExaminedRecord]
    passages: dict[str, dict[str, Any]]


def initial_state() -> FactualityState:
    """An empty state."""
    return FactualityState(points=[], split={}, examined=[], passages={}, failure=None)


def initial_point(point: SplitRecord) -> PointState:
    """The state in which a point's machine begins."""
    return PointState(
        point=point, asked=None, found=[], absence=None, answers=[], failures=[], examined=[], passages={}
    )
