"""Failures as records in a graph's state: a node that raised would cancel its running siblings."""

from __future__ import annotations

from typing import Any, TypedDict

from referee import errors
from referee.errors import RefereeError


class Failure(TypedDict):
    """An error of ours as plain data, with the node it happened in."""

    node: str
    kind: str
    message: str
    hint: str
    ids: dict[str, str]
    usage: dict[str, Any]


def record_failure(node: str, error: RefereeError) -> Failure:
    """The error as it is kept in the state. Subclasses that only one room knows are recorded as their public base."""
    public = next(c.__name__ for c in type(error).__mro__ if getattr(errors, c.__name__, None) is c)
    return Failure(
        node=node, kind=public, message=error.message, hint=error.hint, ids=dict(error.ids), usage=dict(error.usage)
    )


def raise_failure(failure: Failure) -> None:
    """Raise the error a failure record stands for."""
    kind: type[RefereeError] = getattr(errors, failure["kind"])
    raise kind(failure["message"], hint=failure["hint"], ids=failure["ids"], usage=failure["usage"])
