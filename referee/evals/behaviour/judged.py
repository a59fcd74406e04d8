"""What judges read in place of rules: items, coverage between two reviews, work with the paper's mathematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.agents.atomic_splitter import AtomicReply, atomic_tokens, copying_of, read_atomic, render_atomic
from referee.agents.coverage_judge import Items, Sizes, covers_model, covers_tokens, read_covers, render_covers
from referee.agents.review_judges import MATHEMATICS_TOKENS, MathReply, render_mathematics
from referee.errors import ModelError, RunStopped
from referee.evals.behaviour.atomic import AtomicItems, MatchedPair, polar_boxes
from referee.evals.behaviour.atomic_rules import Announced
from referee.evals.behaviour.coverage_matrix import Cells, PairMatrices, matrices_of
from referee.evals.behaviour.text import review_text
from referee.evals.judging import Panel, paid, silence, total_usage
from referee.evals.quality.judged import (
    NO_TEXT,
    OwnWords,
    Question,
    Reading,
    Traced,
    answered,
    ask_judges,
    fitted,
    no_room,
    nobody_answered,
    readings_of,
    smallest_context,
)
from referee.prompts import RenderedPrompt
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricStatus
from referee.schemas.usage import Usage


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
    except RunStopped:
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


async def judged_matrices(pair: MatchedPair, panel: Panel) -> PairMatrices:
    """The matrices of a pair of reviews. With several judges or repeats a cell is true where more than half say so.

    Where no polarity has items on both sides, nothing can match and nobody is asked.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    wanted, given = _items(pair.human), _items(pair.generated)
    sizes, backend = Sizes.of(wanted, given), f"judge:{','.join(panel.ids)}"
    if not sizes.pairs():
        return matrices_of(pair, backend, lambda _human, _generated: False)
    prompt, reply, most_out = render_covers(wanted, given), covers_model(sizes), covers_tokens(sizes)
    if not _fits(prompt, reply, most_out, panel):
        reason = f"the items of both reviews do not fit the judge's context of {smallest_context(panel)} tokens"
        return _failed(pair, backend, reason, (), Usage())
    unit = f"coverage of {pair.human_case.case_id!r} by {pair.generated_case.case_id!r}"
    said = await panel.ask(prompt, reply, max_output_tokens=most_out, unit=unit)
    readings = tuple(readings_of(said, lambda value: {"matrices": read_covers(value, sizes)}))
    reason = silence(said)
    if reason:
        return _failed(pair, backend, reason, readings, total_usage(said))
    told = [reading["matrices"] for reading in readings if not reading["error"]]
    return PairMatrices(
        _majority([one["strengths"] for one in told]),
        _majority([one["weaknesses"] for one in told]),
        len(given.strengths),
        len(given.weaknesses),
        backend,
        readings=readings,
        usage=total_usage(said),
    )


def _items(items: AtomicItems) -> Items:
    return Items(items.strengths, items.weaknesses)


def _fits(prompt: RenderedPrompt, reply: type[BaseModel], most_out: int, panel: Panel) -> bool:
    models = (panel.door.models[role] for role in panel.judges)
    return all(tokens_left(prompt, reply, most_out, model.context_tokens, model.count) >= 0 for model in models)


def _majority(told: Sequence[Cells]) -> Cells:
    """Cells that more than half of the readings hold true; half is not enough."""
    return tuple(
        tuple(2 * sum(cells) > len(told) for cells in zip(*rows, strict=True)) for rows in zip(*told, strict=True)
    )


def _failed(
    pair: MatchedPair, backend: str, reason: str, readings: tuple[dict[str, Any], ...], usage: Usage
) -> PairMatrices:
    columns = len(pair.generated.strengths), len(pair.generated.weaknesses)
    return PairMatrices((), (), *columns, backend, "failed", reason, readings, usage)


class MathReading(Reading):
    """What one judge said of the mathematics."""

    engages: bool = False


@dataclass(frozen=True, slots=True)
class MathVerdict:
    """Whether a review works with the paper's mathematics; null where no judge could say.

    Attributes:
        engages: What more than half of the usable replies say; half is not enough.
        backend: ``judge:`` and the models' ids.
        readings: What each judge said in each repeat; ``quoted`` tells whether its words stand in the review.
        cut: What of the review was not shown; null where all was.
    """

    engages: bool | None
    backend: str
    status: MetricStatus = "scored"
    reason: str = ""
    readings: tuple[Mapping[str, Any], ...] = ()
    cut: Mapping[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)


async def judged_mathematics(text: str, panel: Panel, unit: str = "mathematical engagement") -> MathVerdict:
    """Ask every judge in every repeat about one review.

    Args:
        text: The review, view ``raw``; for a blank one nobody is asked.
        panel: The judges.
        unit: What is judged, for the log.

    Raises:
        BudgetExceeded: A call could pass a limit.
    """
    backend = f"judge:{','.join(panel.ids)}"
    if not text.strip():
        return MathVerdict(None, backend, "not_applicable", NO_TEXT)
    question = Question(render_mathematics, MathReply, MATHEMATICS_TOKENS, _read)
    asked = await ask_judges(question, text, panel, unit)
    if asked.no_room:
        return MathVerdict(None, backend, "failed", asked.no_room)
    said = [MathReading.model_validate(reading) for reading in asked.readings]
    told, readings = answered(said), tuple(asked.readings)
    if not told:
        reason = nobody_answered(said).reason
        return MathVerdict(None, backend, "failed", reason, readings, asked.cut, asked.usage)
    positive = sum(reading.engages for reading in told)
    return MathVerdict(2 * positive > len(told), backend, readings=readings, cut=asked.cut, usage=asked.usage)


def _read(reply: MathReply, shown: str) -> dict[str, Any]:
    quoted = bool(reply.words.strip()) and isinstance(OwnWords(shown).find(reply.words), Traced)
    return {"engages": reply.engages == "yes", "reason": reply.reason, "words": reply.words, "quoted": quoted}
