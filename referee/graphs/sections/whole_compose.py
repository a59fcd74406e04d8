"""The last node of ``sections`` over a whole paper: summaries and scores from the points that stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph.runtime import Runtime

from referee.agents.focus import FocusPart
from referee.agents.literature_points import comparison_points
from referee.agents.paper_text import PaperRun, places_named
from referee.agents.prose import Prose, write_prose
from referee.agents.scores import NO_POINT, points_on_ethics, settle_choices, settle_scores
from referee.errors import RefereeError
from referee.evidence import check_conservation, check_inline_quotations, order_points, place_points
from referee.evidence.points import is_live
from referee.graphs.criteria import criterion_records
from referee.graphs.failure import STOPS, readings_failed, record_failure
from referee.graphs.form_values import filled_review, form_values
from referee.graphs.job import LookUp
from referee.graphs.sections.state import PointsState
from referee.llm.images import LabelledImage
from referee.schemas.figure import FigureReading
from referee.schemas.literature import Literature
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.schemas.review import DroppedQuotation, Review
from referee.settings import Ablation
from referee.venues.prompts import SectionPrompt

_SMALL = ("minor", "note")
_NO_TEXT, _NOT_READ = "no point belongs here", "no reader gave a reply that could be used"


@dataclass(frozen=True)
class WholeContext:
    """The services and the fixed data of one run.

    ``run`` is what its agents share. ``parts`` are read line by line, each by one call, beside one reading of the whole
    paper. ``steps`` are what the venue asks readers to look at. ``source`` is the model that reads. ``ablated`` names
    the steps that a run for research does without. ``literature`` is what a search for it found,
    ``look_up`` says what became of a work that a reader names. ``figures``, ``figure_points`` and ``thumbnails`` are
    what was seen of the figures.
    """

    paper: Paper
    run: PaperRun
    review_id: str
    source: str
    parts: tuple[FocusPart, ...]
    steps: tuple[SectionPrompt, ...]
    ablated: frozenset[Ablation] = frozenset()
    literature: Literature | None = None
    look_up: LookUp | None = None
    figures: FigureReading | None = None
    figure_points: tuple[ReviewPoint, ...] = ()
    thumbnails: tuple[LabelledImage, ...] = ()

    def takes(self, step: Ablation) -> bool:
        """Whether the run takes a step as the strategy has it."""
        return step not in self.ablated


async def compose(state: PointsState, runtime: Runtime[WholeContext]) -> PointsState:
    """Compose summaries and scores, put every standing point into its one field, and assert that none was lost."""
    context = runtime.context
    found = comparison_points(context.literature)
    points = place_points([*state["points"], *found], context.run.form)
    standing = [point for point in points if is_live(point)]
    listed = order_points(point for point in standing if is_listed_correction(point))
    told = order_points(p for p in standing if not is_listed_correction(p) and p.source != "literature")
    notes: list[str] = []
    try:
        prose = await write_prose(context.run, told, listed, context.literature, context.figures)
    except RefereeError as error:
        failure = record_failure("compose", error)
        if failure.kind in STOPS:
            return {"failure": failure}
        prose = Prose()
        notes.append(f"summaries and scores could not be composed: {error.message}")
    read = readings_failed(state["failures"]) <= len(context.parts)
    review = _review(context, [_named(point, context.paper) for point in points], prose, read=read)
    review = review.model_copy(update={"criteria": criterion_records(context.run.form, state["shown"])})
    check_conservation([p.id for p in (*state["raised"], *found)], points)
    return {"points": points, "review": review, "notes": [*notes, *prose.notes]}


def _named(point: ReviewPoint, paper: Paper) -> ReviewPoint:
    """The point in words that a reader of the paper finds: ids of sections stand in prompts alone."""
    said = {"claim": places_named(point.claim, paper), "argument": places_named(point.argument, paper)}
    fix = point.fix.model_copy(update={"what": places_named(point.fix.what, paper)})
    check = point.check
    if check is not None:
        check = check.model_copy(update={"narrowed": places_named(check.narrowed, paper)})
    return point.model_copy(update={**said, "fix": fix, "check": check})


def is_listed_correction(point: ReviewPoint) -> bool:
    """Whether a point is printed in the list of corrections: a small one, on which no result depends."""
    small = point.correction is not None or point.source == "rule"
    return small and point.severity in _SMALL and point.polarity == "weakness"


def _review(context: WholeContext, points: Sequence[ReviewPoint], prose: Prose, *, read: bool) -> Review:
    form, printed = context.run.form, [p for p in points if p.outcome == "printed"]
    ids = (p.id for p in printed)
    settled = settle_scores(
        form,
        prose.scores,
        ids,
        context.paper,
        unbacked=NO_POINT,
        read=read,
        literature=context.literature,
        figures=context.figures,
    )
    ticked = settle_choices(form, prose.choices, backed=bool(printed), ethics_backed=points_on_ethics(points))
    texts: dict[str, str] = {}
    dropped: list[DroppedQuotation] = []
    for name, text in prose.texts.items():
        if context.takes("quotation-check"):
            text, unfound = check_inline_quotations(text, context.run.index, field=name, keep_words=True)
            dropped += unfound
        texts[name] = places_named(text, context.paper)
    values = form_values(form, texts, ticked.values, settled.records, no_text=_NO_TEXT if read else _NOT_READ)
    return filled_review(
        form,
        context.paper,
        values,
        settled,
        ticked,
        review_id=context.review_id,
        source=context.source,
        points=points,
        dropped=dropped,
    )
