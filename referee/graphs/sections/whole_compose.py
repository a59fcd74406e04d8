"""The last node of ``sections`` over a whole paper: prose from the points that stand, corrections as a list, scores.

Code sees that every standing point is printed exactly once: what the prose leaves out is added as a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langgraph.runtime import Runtime

from referee.agents.focus import FocusPart
from referee.agents.literature_points import comparison_points
from referee.agents.paper_text import PaperRun, places_named
from referee.agents.point_texts import corrections_text, field_text
from referee.agents.prose import (
    Paragraph,
    Prose,
    annex_field,
    annex_text,
    each_once,
    field_prose,
    set_apart,
    without_repeats,
    write_prose,
)
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


@dataclass(frozen=True)
class Annex:
    """What stands behind everything else, in one field: lesser criticism and corrections by the ids of their points."""

    field: str | None
    paragraphs: tuple[Paragraph, ...]
    corrections: frozenset[str]


async def compose(state: PointsState, runtime: Runtime[WholeContext]) -> PointsState:
    """Write the form, put every standing point into its one field, and assert that none was lost."""
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
        notes.append(f"the review could not be written as prose and lists its points: {error.message}")
    once, said = each_once(prose.paragraphs)
    lean, repeated = without_repeats(once, prose.repeats)
    paragraphs, annex = set_apart(lean, {point.id: point for point in standing}, context.run.form)
    box = annex_field(context.run.form)
    placed = {key: name for name, given in paragraphs.items() for p in given for key in p.points}
    placed |= {key: box for p in annex for key in p.points if box is not None}
    apart = {p.id for p in listed if p.id not in placed}
    fields = {p.id: box if p.id in apart else placed.get(p.id, p.field) for p in standing}
    final = [p.model_copy(update={"field": fields[p.id]}) if p.outcome == "printed" else p for p in points]
    read = readings_failed(state["failures"]) <= len(context.parts)
    last = Annex(box, annex, frozenset(apart))
    review = _review(context, final, prose, paragraphs, last, set(placed), read=read)
    review = review.model_copy(update={"criteria": criterion_records(context.run.form, state["shown"])})
    texts = {name: [p.id for p in final if p.outcome == "printed" and p.field == name] for name in review.fields}
    check_conservation([p.id for p in (*state["raised"], *found)], final, fields=texts)
    left = sum(p.id not in placed for p in told if p.outcome == "printed")
    if left and prose.paragraphs:
        notes.append(f"{left} points that the prose left out were added to it as lines")
    return {"points": final, "review": review, "notes": [*notes, *said, *repeated, *prose.notes]}


def is_listed_correction(point: ReviewPoint) -> bool:
    """Whether a point is printed in the list of corrections: a small one, on which no result depends."""
    small = point.correction is not None or point.source == "rule"
    return small and point.severity in _SMALL and point.polarity == "weakness"


def _review(
    context: WholeContext,
    points: Sequence[ReviewPoint],
    prose: Prose,
    paragraphs: Mapping[str, Sequence[Paragraph]],
    last: Annex,
    placed: set[str],
    *,
    read: bool,
) -> Review:
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
    texts, dropped = _texts(context, printed, paragraphs, last, placed)
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
        read=read,
    )


def _texts(
    context: WholeContext,
    printed: Sequence[ReviewPoint],
    paragraphs: Mapping[str, Sequence[Paragraph]],
    last: Annex,
    placed: set[str],
) -> tuple[dict[str, str], list[DroppedQuotation]]:
    """Each text field: its prose with quotations verified, then points left out; the annex and corrections in one."""
    form, known = context.run.form, {point.id: point for point in printed}
    texts: dict[str, str] = {}
    dropped: list[DroppedQuotation] = []
    for field in (f for f in form.reviewer_fields if f.kind == "text"):
        own = [point for point in printed if point.field == field.name]
        apart = annex_text(last.paragraphs) if field.name == last.field else ""
        text = "\n\n".join(filter(None, (field_prose(paragraphs.get(field.name, ()), known), apart)))
        if context.takes("quotation-check"):
            text, unfound = check_inline_quotations(text, context.run.index, field=field.name, keep_words=True)
            dropped += unfound
        small = order_points(p for p in own if p.id in last.corrections)
        rest = field_text([p for p in own if p.id not in placed and p.id not in last.corrections])
        whole = "\n\n".join(filter(None, (text.strip(), rest, corrections_text(small))))
        texts[field.name] = places_named(whole, context.paper)
    return texts, dropped
