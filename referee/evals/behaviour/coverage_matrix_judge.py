"""Coverage matrices as judges make them: one call for a pair of reviews and judge, for both polarities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from referee.agents.asking import tokens_left
from referee.agents.coverage_judge import Items, Sizes, covers_model, covers_tokens, read_covers, render_covers
from referee.evals.behaviour.atomic import AtomicItems
from referee.evals.behaviour.atomic_counts import MatchedPair
from referee.evals.behaviour.coverage_matrix_pairs import Cells, PairMatrices, matrices_of
from referee.evals.judging import Panel, silence, total_usage
from referee.evals.quality.readings import readings_of
from referee.evals.quality.room import smallest_context
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage


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
