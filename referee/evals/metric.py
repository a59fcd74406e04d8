"""What a metric is, what it is given, and how its outcome is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

from referee.evals.judging import Panel
from referee.evals.shared import Shared
from referee.runs.progress import Progress, silent
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult
from referee.schemas.paper import Paper
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder
    from referee.retrieval import Retriever

Need = Literal["references", "paper", "venue", "judge", "embedder"]
NEEDS: frozenset[Need] = frozenset(get_args(Need))


@dataclass(frozen=True)
class Context:
    """What a metric may use for one review. What it lists under ``needs`` is there; the rest may be None or empty.

    Attributes:
        references: The human reviews of the same paper, without the review itself.
        paper: The reviewed paper.
        retriever: The search over that paper and no other; for metrics that need both ``paper`` and ``embedder``.
        form: The form the review was written for.
        panel: The judges.
        embedder: Embeds texts.
        shared: Remembers for the run what several units use, as a review's topics.
        progress: Told about notable events.
    """

    references: tuple[ReviewCase, ...] = ()
    paper: Paper | None = None
    retriever: Retriever | None = None
    form: VenueForm | None = None
    panel: Panel | None = None
    embedder: Embedder | None = None
    shared: Shared = field(default_factory=Shared)
    progress: Progress = silent


@runtime_checkable
class Metric(Protocol):
    """A named quantity of one review.

    Attributes:
        name: How it is asked for and what its column is called.
        version: Raised when its meaning changes.
        needs: What a review must come with; the runner answers ``not_applicable`` where something is missing.
        prompts: Ids of the prompts it may use, as ``eval/depth``.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def version(self) -> str: ...  # noqa: D102

    @property
    def needs(self) -> frozenset[Need]: ...  # noqa: D102

    @property
    def prompts(self) -> tuple[str, ...]: ...  # noqa: D102

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Measure one review; what cannot be measured is ``not_applicable`` or ``failed``, never a number.

        Raises:
            BudgetExceeded: The next call could pass a limit.
        """
        ...

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored details, without a call."""
        ...


@dataclass(frozen=True)
class Load:
    """What one review costs a metric, before the first call. Tokens are per call.

    Attributes:
        once: Calls that are made once, whoever judges.
        judged: Calls that each judge makes in each repeat.
    """

    once: int = 0
    judged: int = 1
    input_tokens: int = 0
    output_tokens: int = 400


@runtime_checkable
class Foreseeing(Protocol):
    """A metric that can say what it will cost; the others are estimated by one judged call per prompt."""

    def load(self, case: ReviewCase, references: int) -> Load:
        """What the review will cost, with that many human reviews to compare it with."""
        ...


def scored(
    metric: Metric,
    case: ReviewCase,
    value: float,
    *,
    parts: Mapping[str, float | None] | None = None,
    details: Mapping[str, Any] | None = None,
    judges: Sequence[JudgeScore] = (),
    usage: Usage | None = None,
) -> MetricResult:
    """A measured value with all that led to it."""
    return MetricResult(
        **_head(metric, case),
        status="scored",
        value=value,
        parts=dict(parts or {}),
        details=dict(details or {}),
        judges=tuple(judges),
        usage=usage or Usage(),
    )


def not_applicable(
    metric: Metric,
    case: ReviewCase,
    reason: str,
    *,
    parts: Mapping[str, float | None] | None = None,
    details: Mapping[str, Any] | None = None,
    judges: Sequence[JudgeScore] = (),
    usage: Usage | None = None,
) -> MetricResult:
    """There is nothing to measure in this review, and why; asking again would not change that."""
    return MetricResult(
        **_head(metric, case),
        status="not_applicable",
        reason=reason,
        parts=dict(parts or {}),
        details=dict(details or {}),
        judges=tuple(judges),
        usage=usage or Usage(),
    )


def failed(
    metric: Metric,
    case: ReviewCase,
    reason: str,
    *,
    parts: Mapping[str, float | None] | None = None,
    details: Mapping[str, Any] | None = None,
    judges: Sequence[JudgeScore] = (),
    usage: Usage | None = None,
) -> MetricResult:
    """The measurement went wrong, and why; a resumed run tries again."""
    return MetricResult(
        **_head(metric, case),
        status="failed",
        reason=reason,
        parts=dict(parts or {}),
        details=dict(details or {}),
        judges=tuple(judges),
        usage=usage or Usage(),
    )


def _head(metric: Metric, case: ReviewCase) -> dict[str, Any]:
    return {
        "case_id": case.case_id,
        "paper_id": case.paper_id,
        "source": case.source,
        "metric": metric.name,
        "version": metric.version,
    }
