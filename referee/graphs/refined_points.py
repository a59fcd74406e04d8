"""What a refinement does to the points on the record: a wording is replaced, never overwritten, and never graver.

The comment that was refined stays in the review's file as merged into its new wording, which takes its evidence over.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.agents.refiner import Refinement
from referee.evidence.points import capped, is_live, noted, removed
from referee.schemas.point import ReviewPoint


def replaced(point: ReviewPoint, refinement: Refinement, written: Sequence[ReviewPoint]) -> list[ReviewPoint]:
    """The comment and what was written in its place, each with what became of it.

    Args:
        point: The comment, with its quotations looked up.
        refinement: What is to become of it.
        written: The points of the refinement (one at most), with their quotations looked up.

    Returns:
        The comment first. It is dropped where the verdict says so; merged into the new wording where that is the same
        kind of statement and as well quoted; else it stands as it was, and a new wording is dropped with the reason.
    """
    if refinement.verdict == "drop":
        unused = [_unused(new, "the comment it was to replace was dropped") for new in written]
        return [removed(point, "dropped", f"dropped by the refinement: {refinement.reason}"), *unused]
    if refinement.verdict == "keep" or not written:
        return [point, *(_unused(new, f"written although {point.id} was to be kept") for new in written)]
    new = written[0]
    if why := _unfit(point, new):
        return [point, _unused(new, f"{point.id} stands as it was: {why}")]
    said = noted(new, f"refines {point.id}: {refinement.reason}")
    taken = {
        "evidence": tuple(dict.fromkeys((*new.evidence, *point.evidence))),
        "criterion": tuple(dict.fromkeys((*new.criterion, *point.criterion))),
        "merged_from": tuple(sorted({point.id, *point.merged_from})),
    }
    kept = capped(said.model_copy(update=taken), point.severity, f"no graver than {point.id}, which it refines")
    gone = {"outcome": "merged_into", "merged_into": new.id, "field": None}
    return [noted(point.model_copy(update=gone), f"refined into {new.id}"), kept]


def _unfit(point: ReviewPoint, new: ReviewPoint) -> str:
    """Why a new wording cannot take a comment's place; empty where it can."""
    if not is_live(new):
        return f"the new wording was dropped ({new.reason})"
    if new.polarity != point.polarity:
        return f"the new wording is a {new.polarity}, the comment a {point.polarity}"
    if point.verified_quotes and not new.verified_quotes:
        return "the new wording quotes nothing that is in the paper"
    return ""


def _unused(new: ReviewPoint, reason: str) -> ReviewPoint:
    return removed(new, "dropped", reason)
