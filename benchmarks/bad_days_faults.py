"""Runs of ``sections`` on a server that fails at a given rate: what was injected, and how the runs ended."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bad_days_runs import comparable, flushed, gaps, paid, quick, record, sent, started
from bad_days_script import ChatFaults, serving

from tests.support import FakeServer

TIMEOUT_S = 2.0
# Replies are so slow that work between calls does not hide what a fault costs.
SPREAD_S = 0.1
_MOST_STARTS = 20


@dataclass
class Outcome:
    """What became of the runs at one rate.

    ``whole`` runs have a review without a gap, ``with_gaps`` one that names what failed; ``failed`` starts ended in a
    named error, and ``resumed`` runs had such a start and came to a review later. ``unnamed``, ``lost`` and
    ``paid_again`` break a promise: an end that names nothing, a reply that was on the disk and is there no more, and
    one that was asked for again. ``usual_repairs`` are those of as many undisturbed runs.
    """

    rate: float
    runs: int = 0
    calls: int = 0
    injected: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    repairs: int = 0
    usual_repairs: int = 0
    whole: int = 0
    with_gaps: int = 0
    failed: int = 0
    resumed: int = 0
    unnamed: int = 0
    lost: int = 0
    paid_again: int = 0
    slower: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def times_slower(self) -> float:
        """Median of wall time over that of the undisturbed run."""
        return statistics.median(self.slower)


def disturbed(
    paper: Path, folder: Path, *, rate: float, runs: int, seed: int = 0, embeddings: bool = False, **settings: Any
) -> Outcome:
    """Run a paper so often on a failing server; a run that ended in an error is resumed until there is a review.

    Args:
        paper: What is reviewed.
        folder: An empty folder for the runs.
        rate: Share of calls that go wrong.
        runs: How many runs, each with faults of its own.
        seed: Of the faults of the first run.
        embeddings: Whether the embedder's calls go wrong too.
        settings: Settings beside the usual ones, as ``calls__max_tries``.
    """
    more = {key.replace("__", "."): value for key, value in settings.items()}
    outcome = Outcome(rate)
    with serving(spread_s=SPREAD_S) as server:
        whole = [started(paper, folder / f"whole-{n}", quick(server.base_url, **more)).seconds for n in (0, 1)]
        outcome.usual_repairs = runs * _repairs(folder / "whole-1")
    for number in range(runs):
        faults = ChatFaults(rate, seed=seed + number, timeout_s=TIMEOUT_S, embeddings=embeddings)
        with serving(faults, spread_s=SPREAD_S) as server:
            run = folder / f"run-{number}"
            seconds = _to_the_end(paper, run, server, {"calls.timeout_s": TIMEOUT_S, **more}, outcome)
            outcome.slower.append(seconds / whole[-1])
            _counted(run, server, outcome)
    return outcome


def _to_the_end(paper: Path, run: Path, server: FakeServer, more: dict[str, Any], outcome: Outcome) -> float:
    """Start a run, and resume it until it has a review; seconds of all starts."""
    seconds, failures = 0.0, 0
    for _ in range(_MOST_STARTS):
        kept, before = flushed(run), len(server.log)
        ended = started(paper, run, quick(server.base_url, **more))
        seconds += ended.seconds
        outcome.lost += kept != flushed(run)[: len(kept)]
        unusable = {call.base for call in kept if call.reply is None}
        safe = {call.messages for call in kept if call.reply is not None and call.base not in unusable}
        outcome.paid_again += len(safe.intersection(sent(server, before)))
        if not ended.error:
            break
        failures += 1
        outcome.errors.append(ended.error)
        outcome.unnamed += record(run).status != "failed" or not record(run).error
    else:
        raise AssertionError(f"{run} has no review after {_MOST_STARTS} starts: {outcome.errors[-1]}")
    outcome.failed += failures
    outcome.resumed += failures > 0
    return seconds


def _counted(run: Path, server: FakeServer, outcome: Outcome) -> None:
    records = flushed(run)
    outcome.runs += 1
    outcome.calls += len(sent(server))
    outcome.injected.update(entry.outcome for entry in server.log if entry.outcome in _INJECTED)
    outcome.retries += sum(call.attempt - 1 for call in records)
    outcome.repairs += _repairs(run)
    named = gaps(run)
    outcome.whole += not named
    outcome.with_gaps += bool(named)
    comparable(run)  # every point names a call that is in the ledger
    assert paid(run), "a review without a paid call"


def _repairs(run: Path) -> int:
    return sum(call.repair_round > 0 for call in flushed(run))


_INJECTED = frozenset({"429", "500", "timeout", "drop", "partial", "truncated", "empty", "wrong_schema", "slow"})
