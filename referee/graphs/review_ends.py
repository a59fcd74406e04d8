"""When a failure ends a machine that writes a review, and when it only leaves a gap in it."""

from __future__ import annotations

from collections.abc import Sequence

from referee.errors import RefereeError
from referee.graphs.failure import STOPS, Failure, first_to_end, record_failure
from referee.graphs.review_state import ReviewState, ReviewUpdate


def gap_or_stop(what: str, error: RefereeError) -> ReviewUpdate:
    """The error as a gap with its name; a used-up budget as the failure that ends the run."""
    failure = record_failure(what, error)
    return {"failure": failure} if failure.kind == STOPS else {"failures": [failure]}


def stopping(failures: Sequence[Failure], branches: int) -> Failure | None:
    """What ends the run after so many parallel branches: a used-up budget, or the first failure where all failed."""
    return first_to_end(failures, any_stands=len(failures) < branches)


def go_on(state: ReviewState) -> str:
    """Whether the machine goes on after a node."""
    return "stop" if state["failure"] else "go on"
