"""When a failure ends a machine that writes a review, and when it only leaves a gap in it."""

from __future__ import annotations

from collections.abc import Sequence

from referee.errors import RefereeError
from referee.graphs.failure import Failure, record_failure
from referee.graphs.review_state import ReviewState, ReviewUpdate

# What stops a run instead of leaving a gap in it: a resumed run can go on from there.
_STOPS = "BudgetExceeded"


def gap_or_stop(what: str, error: RefereeError) -> ReviewUpdate:
    """The error as a gap with its name; a used-up budget as the failure that ends the run."""
    failure = record_failure(what, error)
    return {"failure": failure} if failure["kind"] == _STOPS else {"failures": [failure]}


def stopping(failures: Sequence[Failure], branches: int) -> Failure | None:
    """What ends the run after so many parallel branches: a used-up budget, or the first failure where all failed."""
    ordered = sorted(failures, key=lambda failure: (failure["kind"] != _STOPS, failure["node"]))
    if ordered and (ordered[0]["kind"] == _STOPS or len(ordered) >= branches):
        return ordered[0]
    return None


def go_on(state: ReviewState) -> str:
    """Whether the machine goes on after a node."""
    return "stop" if state["failure"] else "go on"
