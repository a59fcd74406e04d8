"""The longest chain of calls that waited for one another, and their shortest schedule, from a call log."""

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


def fewest_waves(calls: Iterable[Span], slots: int) -> int:
    """The length of the shortest schedule of the calls in that many slots, counted in calls of equal length.

    A call waits for every call that had finished when it started in the log, which should be one without a limit on
    calls at once. In each wave the ``slots`` waiting calls that finished first in the log are taken; where calls wait
    for one another by intervals of time and all take equally long, no schedule is shorter.

    Source: Papadimitriou and Yannakakis, "Scheduling interval-ordered tasks", SIAM Journal on Computing 8 (1979).
    """
    waiting = sorted(calls, key=lambda s: (s.finished_s, s.started_s))
    waves = 0
    while waiting:
        first = waiting[0]
        ready = [span for span in waiting if span is first or span.started_s < first.finished_s]
        taken = set(map(id, ready[:slots]))
        waiting = [span for span in waiting if id(span) not in taken]
        waves += 1
    return waves
