"""Failures as records in a graph's state: a node that raised would cancel its running siblings."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from referee import errors
from referee.errors import RefereeError
from referee.schemas.base import Frozen
from referee.schemas.usage import Usage

STOPS = frozenset({errors.BudgetExceeded.__name__, errors.PromptCut.__name__})
"""The kinds of failure that stop a run instead of leaving a gap in it: a resumed run can go on from there."""


class Failure(Frozen):
    """An error of ours as a record, with the node it happened in and what was paid for it."""

    node: str
    kind: str
    message: str
    hint: str = ""
    ids: dict[str, str] = Field(default_factory=dict)
    usage: Usage = Usage()


def record_failure(node: str, error: RefereeError) -> Failure:
    """The error as it is kept in the state. Subclasses that only one room knows are recorded as their public base."""
    public = next(c.__name__ for c in type(error).__mro__ if getattr(errors, c.__name__, None) is c)
    return Failure(
        node=node,
        kind=public,
        message=error.message,
        hint=error.hint,
        ids=error.ids,
        usage=Usage.model_validate(error.usage),
    )


def failed_lines(failures: Sequence[Failure]) -> list[str]:
    """What failed and why, a line each, in an order that does not depend on who ended first."""
    return sorted(f"{failure.node} failed: {failure.message}" for failure in failures)


def first_to_end(failures: Sequence[Failure], *, any_stands: bool) -> Failure | None:
    """The failure that ends a run: one that stops it or, where no branch stands, the first by node."""
    ordered = sorted(failures, key=lambda failure: (failure.kind not in STOPS, failure.node))
    return ordered[0] if ordered and (ordered[0].kind in STOPS or not any_stands) else None


def raise_failure(failure: Failure) -> None:
    """Raise the error a failure record stands for."""
    kind: type[RefereeError] = getattr(errors, failure.kind)
    raise kind(failure.message, hint=failure.hint, ids=failure.ids, usage=failure.usage.model_dump())
