"""Atomic strengths and weaknesses as the first judge of a panel lists them."""

from __future__ import annotations

from referee.agents.atomic_splitter import AtomicReply, atomic_tokens, copying_of, read_atomic, render_atomic
from referee.errors import BudgetExceeded, ModelError
from referee.evals.behaviour.atomic import NO_TEXT, AtomicItems, polar_boxes
from referee.evals.behaviour.atomic_names import Announced
from referee.evals.behaviour.text import review_text
from referee.evals.judging import Panel, paid
from referee.evals.quality.room import fitted, no_room, smallest_context
from referee.schemas.case import ReviewCase


async def judged_items(case: ReviewCase, panel: Panel) -> AtomicItems:
    """Strengths and weaknesses of a review, in one call.

    What the judge makes up is kept: ``fidelity`` compares every item with the review. The judge is shown the boxes
    whose names announce strengths or weaknesses, else the whole review.

    Args:
        case: The review; without text nobody is asked.
        panel: Its first judge is asked once, whatever the number of repeats.

    Raises:
        BudgetExceeded: The call could pass a limit.
    """
    boxes = polar_boxes(case)
    source = "\n\n".join(text for _, text in boxes) if boxes else review_text(case)
    if not source.strip():
        return AtomicItems(backend=_backend(panel), status="not_applicable", reason=NO_TEXT)
    copying = copying_of(case.kind)
    most_out = atomic_tokens(panel.door.models[panel.first].count(source), smallest_context(panel))
    shown = fitted(
        _labelled(boxes) if boxes else source,
        panel,
        render=lambda text: render_atomic(text, copying),
        reply=AtomicReply,
        most_out=most_out,
    )
    if not shown.text:
        return AtomicItems(source=source, backend=_backend(panel), status="failed", reason=no_room(panel))
    try:
        answer = await panel.ask_once(
            render_atomic(shown.text, copying),
            AtomicReply,
            max_output_tokens=most_out,
            unit=f"atomic items of review {case.case_id!r}",
        )
    except BudgetExceeded:
        raise
    except ModelError as error:
        return AtomicItems(
            source=source, backend=_backend(panel), status="failed", reason=error.message, usage=paid(error)
        )
    listed = read_atomic(answer.value)
    return AtomicItems(
        strengths=listed.strengths,
        weaknesses=listed.weaknesses,
        source=source,
        backend=_backend(panel),
        split="judge",
        cut=shown.cut,
        notes=(*answer.notes, *listed.notes),
        calls=(answer.call_id,),
        usage=answer.usage,
    )


def _labelled(boxes: list[tuple[Announced, str]]) -> str:
    """The boxes under what they announce, which the text itself often does not repeat."""
    titles = {"strengths": "Strengths", "weaknesses": "Weaknesses"}
    return "\n\n".join(f"{titles.get(kind, 'Strengths and weaknesses')}:\n{text}" for kind, text in boxes)


def _backend(panel: Panel) -> str:
    return f"judge:{panel.ids[0]}"
