"""The longest chain of calls that waited for one another, from a call log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class LoggedCall(Protocol):
    """What a call log says of a call, in seconds on one clock."""

    @property
    def started_s(self) -> float: ...

    @property
    def finished_s(self) -> float | None: ...


@dataclass(frozen=True)
class Span:
    """A finished call, in seconds on one clock."""

    started_s: float
    finished_s: float


def spans(calls: Iterable[LoggedCall]) -> list[Span]:
    """The calls that ended; a call without an end has no place in a chain."""
    return [Span(call.started_s, call.finished_s) for call in calls if call.finished_s is not None]


def longest_chain(calls: Iterable[Span]) -> list[Span]:
    """The most calls of which each started when the one before had finished.

    A log cannot tell a call that waited from one that merely came later, so this is the least depth that the log
    proves to have been run, not the depth of the graph: a limit on calls at once makes it longer. Always taking the
    call that finishes first gives a chain that no other exceeds. No calls give an empty chain.
    """
    chain: list[Span] = []
    for span in sorted(calls, key=lambda s: (s.finished_s, s.started_s)):
        if not chain or span.started_s >= chain[-1].finished_s:
            chain.append(span)
    return chain
