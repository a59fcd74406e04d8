"""What machines over chunks do with points before and after their own step: gather, merge, settle."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from referee.evidence import ask_unchecked_absence, merge_points
from referee.graphs.criteria import NOT_ASKED
from referee.graphs.sections.points import claim_similarity, placed, rule_points, searched, verified
from referee.graphs.sections.state import PartsContext, PointsState, by_id, stopping
from referee.schemas.point import ReviewPoint


async def gathered(state: PointsState, context: PartsContext, *, branches: int) -> PointsState:
    """What so many parallel branches raised, verified, with what rules find, and merged where it says the same."""
    if stop := stopping(state["failures"], branches):
        return {"failure": stop}
    by_rule = rule_points(context.paper)
    points = verified([*by_id(state["raised"]), *by_rule], context)
    notes = [] if context.parts else ["the paper has no text to cut into chunks"]
    unread = dict.fromkeys(context.criteria, NOT_ASKED) if context.lean else {}
    return {"raised": by_rule, "unread": unread, "points": await merged_as_raised(points, context), "notes": notes}


async def merged_as_raised(
    points: Sequence[ReviewPoint], context: PartsContext, duplicates: Sequence[tuple[str, str]] = ()
) -> list[ReviewPoint]:
    """Points that say the same made one, by code; ``duplicates`` are pairs that a model named."""
    similar = await claim_similarity(points, context.embedder)
    return merge_points(points, similar=similar, duplicates=duplicates)


async def settle(state: PointsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Search for what is said to be absent, and put every point into its field or its list."""
    points, _ = searched(by_id(state["points"]), runtime.context)
    return {"points": placed(map(ask_unchecked_absence, points), {}, runtime.context)}
