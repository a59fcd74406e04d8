"""What a metric is, what it is given, and how its outcome is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, get_args, runtime_checkable

from referee.evals.judging import Panel
from referee.evals.shared import Shared
from referee.prompts import own_versions
from referee.runs.progress import Progress, silent
from referee.schemas.case import ReviewCase
from referee.schemas.metric import JudgeScore, MetricResult, MetricStatus
from referee.schemas.paper import Paper
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

if TYPE_CHECKING:
    from referee.data.known_sets import KnownErrors
    from referee.evals.detection.services import DetectionServices
    from referee.evals.planted.services import PlantedPapers
    from referee.llm.embeddings import Embedder
    from referee.llm.models import Model
    from referee.retrieval import Retriever

Need = Literal["references", "paper", "venue", "judge", "embedder", "known"]
Better = Literal["higher", "lower"] | None
Range = tuple[float | None, float | None]
Scope = Literal["review", "paper", "set"]
NEEDS: frozenset[Need] = frozenset(get_args(Need))


@dataclass(frozen=True)
class Context:
    """What a metric may use for one review. What it lists under ``needs`` is there; the rest may be None or empty.

    What it lists under ``uses`` is there where the run has it.

    Attributes:
        references: The human reviews of the same paper, without the review itself.
        paper: The reviewed paper.
        retriever: The search over that paper and no other; for metrics that need both ``paper`` and ``embedder``.
        form: The form the review was written for.
        boxes: The form's boxes that AI and human reviews of the set both fill; None where all count.
        panel: The judges.
        embedder: Embeds texts.
        shared: Remembers for the run what several units use, as a review's topics.
        progress: Told about notable events.
        detection: The models of detectors of AI-written reviews; None where none was asked for.
        known: The errors that papers are known to have; None where none were given.
        planted: The keys of planted papers; None where no folder was given.
    """

    references: tuple[ReviewCase, ...] = ()
    paper: Paper | None = None
    retriever: Retriever | None = None
    form: VenueForm | None = None
    boxes: frozenset[str] | None = None
    panel: Panel | None = None
    embedder: Embedder | None = None
    shared: Shared = field(default_factory=Shared)
    progress: Progress = silent
    detection: DetectionServices | None = None
    known: KnownErrors | None = None
    planted: PlantedPapers | None = None


@runtime_checkable
class Metric(Protocol):
    """A named quantity of one review; ``Quantity`` has all but its name and what it measures.

    Attributes:
        name: How it is asked for and what its column is called.
        version: Raised when its meaning changes.
        about: What it is, in a line.
        unit: Of its values, as ``fraction`` or ``words``.
        range: The lowest and the highest value; None where there is none.
        better: Whether more or less of it is better; None where neither is.
        scope: What one value is of.
        needs: What a review must come with; the runner answers ``not_applicable`` where something is missing.
        uses: What it takes where it is there: ``paper``, and ``judge`` where one is named.
        prompts: Ids of the prompts it may use, as ``eval/depth``.
        scaled: Whether its values stand on the scale of a form, and are only compared within one scale.
        variant_of: The metric that it is nearly the same as, for which alone p values are corrected; empty for none.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def version(self) -> str: ...  # noqa: D102

    @property
    def about(self) -> str: ...  # noqa: D102

    @property
    def unit(self) -> str: ...  # noqa: D102

    @property
    def range(self) -> Range: ...  # noqa: D102

    @property
    def better(self) -> Better: ...  # noqa: D102

    @property
    def scope(self) -> Scope: ...  # noqa: D102

    @property
    def needs(self) -> frozenset[Need]: ...  # noqa: D102

    @property
    def uses(self) -> frozenset[Need]: ...  # noqa: D102

    @property
    def prompts(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def scaled(self) -> bool: ...  # noqa: D102

    @property
    def variant_of(self) -> str: ...  # noqa: D102

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        """Measure one review; what cannot be measured is ``not_applicable`` or ``failed``, never a number.

        Raises:
            BudgetExceeded: The next call could pass a limit.
        """
        ...

    def rescore(self, stored: MetricResult) -> MetricResult:
        """Compute value and parts anew from the stored details, without a call."""
        ...


LEFT_OUT = "left_out_by_kind"
"""Where the details of a metric count what a limit kept from being measured, by a few words that say what."""


class Quantity:
    """What a metric is unless it says otherwise: see ``Metric``."""

    version: str = "1"
    about: str = ""
    unit: str = ""
    range: Range = (None, None)
    better: Better = None
    scope: Scope = "review"
    needs: frozenset[Need] = frozenset()
    uses: frozenset[Need] = frozenset()
    prompts: tuple[str, ...] = ()
    scaled: bool = False
    variant_of: str = ""
    counted_by: str = ""
    """By which rule and over how much of a review something is counted; such numbers stand in tables of their own."""

    def rescore(self, stored: MetricResult) -> MetricResult:
        """The stored result: for what has nothing to compute anew."""
        return stored


class Share(Quantity):
    """A metric whose values are shares, of which more is better."""

    unit = "fraction"
    range: Range = (0.0, 1.0)
    better: Better = "higher"


@dataclass(frozen=True)
class Load:
    """What one review costs a metric, before the first call. Tokens are per call.

    Attributes:
        once: Calls that are made once, whoever judges.
        judged: Calls that each judge makes in each repeat.
        most_once: The most that ``once`` can come to, where it is a guess.
        most_judged: The most that ``judged`` can come to, where it is a guess.
    """

    once: int = 0
    judged: int = 1
    input_tokens: int = 0
    output_tokens: int = 400
    most_once: int | None = None
    most_judged: int | None = None


@dataclass(frozen=True)
class Known:
    """What is known about a review before the first call.

    Attributes:
        references: How many human reviews it is compared with.
        form: The form it was written for.
        boxes: As in the context.
        judge: The model of the first judge.
        errors: How many errors of the paper are known and not this review's own.
    """

    references: int = 0
    form: VenueForm | None = None
    boxes: frozenset[str] | None = None
    judge: Model | None = None
    errors: int = 0


@runtime_checkable
class Foreseeing(Protocol):
    """A metric that can say what it will cost; the others are estimated by one judged call per prompt."""

    def load(self, case: ReviewCase, known: Known) -> Load:
        """What the review will cost."""
        ...


class Evidence(TypedDict, total=False):
    """What led to an outcome, as it stands in the result.

    Attributes:
        parts: Further numbers of the same metric.
        details: Every item, judgement and quotation, enough to compute the value anew.
        judges: The single judges' values.
        usage: What the calls cost.
    """

    parts: Mapping[str, float | None]
    details: Mapping[str, Any]
    judges: Sequence[JudgeScore]
    usage: Usage


def scored(metric: Metric, case: ReviewCase, value: float, **evidence: Unpack[Evidence]) -> MetricResult:
    """A measured value with all that led to it."""
    return result_of(metric, case, "scored", value=value, **evidence)


def not_applicable(metric: Metric, case: ReviewCase, reason: str, **evidence: Unpack[Evidence]) -> MetricResult:
    """There is nothing to measure in this review, and why; asking again would not change that."""
    return result_of(metric, case, "not_applicable", reason=reason, **evidence)


def failed(metric: Metric, case: ReviewCase, reason: str, **evidence: Unpack[Evidence]) -> MetricResult:
    """The measurement went wrong, and why; a resumed run tries again."""
    return result_of(metric, case, "failed", reason=reason, **evidence)


def result_of(
    metric: Metric,
    case: ReviewCase,
    status: MetricStatus,
    *,
    value: float | None = None,
    reason: str = "",
    **evidence: Unpack[Evidence],
) -> MetricResult:
    """The record of an outcome whose status is known only when it is there."""
    return MetricResult(
        case_id=case.case_id,
        paper_id=case.paper_id,
        source=case.source,
        metric=metric.name,
        version=metric.version,
        status=status,
        value=value,
        reason=reason,
        parts=dict(evidence.get("parts", {})),
        details=dict(evidence.get("details", {})),
        judges=tuple(evidence.get("judges", ())),
        usage=evidence.get("usage", Usage()),
        prompts=own_versions(metric.prompts),
    )
