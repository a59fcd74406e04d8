"""The last node of machines that go part by part or in chunks: points and scores into the venue's form.

The sum of points is asserted: none was lost on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from referee.agents.composer import (
    ROLE,
    Composed,
    PaperBeside,
    compose_from_paper,
    compose_review,
)
from referee.agents.form_reply import BRIEF, FULL
from referee.agents.scores import NO_POINT, points_on_ethics, settle_choices, settle_scores
from referee.errors import RefereeError
from referee.evidence import check_conservation, check_inline_quotations, order_points
from referee.graphs.criteria import criterion_records
from referee.graphs.failure import STOPS, record_failure
from referee.graphs.form_values import filled_review, form_values
from referee.graphs.sections.state import PartsContext, PointsState, by_id
from referee.schemas.point import ReviewPoint
from referee.schemas.review import DroppedQuotation, Review

_CARD_TOKENS = 3000


async def compose(state: PointsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Summaries and scores from the points, texts by code, then the whole review."""
    context, points = runtime.context, order_points(by_id(state["points"]))
    standing = [p for p in points if p.outcome in ("printed", "listed")]
    notes: list[str] = []
    try:
        composed = await _composed(context, standing, send_back=not state["mapped"])
    except RefereeError as error:
        failure = record_failure("compose", error)
        if failure.kind in STOPS:
            return {"failure": failure}
        composed = Composed()
        notes.append(f"summaries and scores could not be composed: {error.message}")
    review = _review(context, points, composed, gaps=len(state["failures"]))
    records = criterion_records(context.form, state["shown"], why=state["unread"])
    review = review.model_copy(update={"criteria": records})
    check_conservation([p.id for p in state["raised"]], points)
    return {"review": review, "notes": [*notes, *composed.notes]}


async def _composed(context: PartsContext, standing: Sequence[ReviewPoint], *, send_back: bool) -> Composed:
    """The composing call; scores are sent back only where no more than five calls then wait for one another."""
    model, lengths = context.model(ROLE), BRIEF if context.lean else FULL
    card = context.card_text(min(_CARD_TOKENS, model.context_tokens // 4), ROLE)
    if context.takes("score-from-points"):
        return await compose_review(
            context.form,
            card,
            standing,
            door=context.door,
            lengths=lengths,
            send_back=send_back,
        )
    return await compose_from_paper(
        context.form,
        card,
        standing,
        PaperBeside(context.paper, model.context_tokens, model.count, model.reading_tokens),
        door=context.door,
        lengths=lengths,
    )


def _review(context: PartsContext, points: Sequence[ReviewPoint], composed: Composed, *, gaps: int) -> Review:
    form, index = context.form, context.index
    printed, from_paper = [p.id for p in points if p.outcome == "printed"], not context.takes("score-from-points")
    settled = settle_scores(
        form,
        composed.scores,
        printed,
        context.paper,
        unbacked="" if from_paper else NO_POINT,
        whole=_all_read(context, gaps),
    )
    ticked = settle_choices(
        form, composed.choices, backed=bool(printed) or from_paper, ethics_backed=points_on_ethics(points)
    )
    summaries: dict[str, str] = {}
    dropped: list[DroppedQuotation] = []
    for name, text in composed.texts.items():
        looked_up = context.takes("quotation-check")
        summaries[name], unfound = check_inline_quotations(text, index, field=name) if looked_up else (text, [])
        dropped += unfound
    values = form_values(form, summaries, ticked.values, settled.records, no_text="no point belongs here")
    return filled_review(
        form,
        context.paper,
        values,
        settled,
        ticked,
        review_id=context.review_id,
        source=context.model("writer").spec.id,
        points=points,
        dropped=dropped,
    )


def _all_read(context: PartsContext, gaps: int) -> bool:
    """Whether some part holds each section, the abstract aside, and every reader answered."""
    read = {name for part in context.parts for name in part.section_ids}
    return not gaps and all(s.id in read for s in context.paper.content if s.blocks and s.role != "abstract")
