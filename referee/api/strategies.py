"""Running a strategy's graph under the run folder's checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from referee.errors import RunError
from referee.llm.door import Door
from referee.runs import RunFolder
from referee.runs.checkpoints import open_checkpoints
from referee.runs.folder import CHECKPOINTS
from referee.schemas.paper import Paper
from referee.schemas.review import Cut, Review
from referee.schemas.venue import VenueForm

if TYPE_CHECKING:
    from referee.graphs.single import SingleState


@dataclass(frozen=True)
class Written:
    """What a strategy hands back: the review, what of the paper was not shown, and notes on the way."""

    review: Review
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]


async def run_single(
    run: RunFolder, paper: Paper, form: VenueForm, door: Door, prompt_versions: Mapping[str, str]
) -> Written:
    """Run strategy ``single`` to its end, from the last checkpoint where there is one.

    A run that ended in a failure begins again: its answered calls are in the ledger and are not paid twice.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.graphs.failure import raise_failure
    from referee.graphs.single import SingleContext, build_single_graph, cuts_of, initial_state, notes_of

    context = SingleContext(paper, form, door, review_id=f"r-{run.record.run_id}", prompt_versions=prompt_versions)
    config: Any = {"configurable": {"thread_id": run.record.run_id}}
    async with open_checkpoints(run.path / CHECKPOINTS) as saver:
        graph = build_single_graph().compile(checkpointer=saver)
        at = await graph.aget_state(config)
        begin = None if at.next else initial_state()
        state = cast("SingleState", await graph.ainvoke(begin, config, context=context, durability="sync"))
    if state["failure"]:
        raise_failure(state["failure"])
    if state["review"] is None:
        raise RunError(f"run {run.record.run_id!r} ended without a review.", hint="Start a new run.")
    return Written(Review.model_validate(state["review"]), cuts_of(state), notes_of(state))
