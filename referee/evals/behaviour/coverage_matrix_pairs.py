"""Pairs of reviews under coverage: their matrices, what covers by chance, and what an equal volume would cover."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from referee.evals.behaviour.atomic import POLARITIES
from referee.evals.behaviour.atomic_counts import MatchedPair
from referee.evals.behaviour.atomic_names import Polarity
from referee.evals.behaviour.coverage_matrix import Coverage, Matrix, check, coverage_of
from referee.schemas.metric import MetricStatus
from referee.schemas.usage import Usage

DRAWS = 20

Cells = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, slots=True)
class PairMatrices:
    """The matrices of one pair of reviews, one a polarity: items of different polarity never match.

    Attributes:
        strengths: A row for each human strength, a cell for each generated one.
        weaknesses: The same for weaknesses.
        generated_strengths: Columns, which rows alone do not tell where there are none.
        backend: ``rule``, or ``judge:`` and the models' ids.
        status: ``failed`` where no judge gave a usable reply; the matrices are then empty.
        reason: Why.
        readings: What each judge said, for the record.
    """

    strengths: Cells
    weaknesses: Cells
    generated_strengths: int
    generated_weaknesses: int
    backend: str
    status: MetricStatus = "scored"
    reason: str = ""
    readings: tuple[dict[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)

    def coverage(self, polarity: Polarity | None = None) -> Coverage | None:
        """The counts of one polarity, or of both together; None where the matrices could not be made."""
        if self.status == "failed":
            return None
        if polarity == "strengths":
            return coverage_of(self.strengths, self.generated_strengths)
        if polarity == "weaknesses":
            return coverage_of(self.weaknesses, self.generated_weaknesses)
        return coverage_of(self.strengths, self.generated_strengths) + coverage_of(
            self.weaknesses, self.generated_weaknesses
        )

    def volume_matched(self, polarity: Polarity, *, seed: int = 0) -> float | None:
        """Recall of as many generated items as there are human ones; None where it is undefined."""
        if self.status == "failed":
            return None
        if polarity == "strengths":
            return volume_matched_recall(self.strengths, self.generated_strengths, seed=seed)
        return volume_matched_recall(self.weaknesses, self.generated_weaknesses, seed=seed)


@dataclass(frozen=True, slots=True)
class ChancePairs:
    """Generated reviews beside human reviews of another paper; ``left_out`` pairs had no other paper to turn to."""

    pairs: tuple[MatchedPair, ...]
    left_out: int
    reason: str = ""


def chance_pairs(pairs: Sequence[MatchedPair], *, seed: int = 0) -> ChancePairs:
    """The same generated reviews beside human reviews of a different paper of the same venue.

    Papers of a venue are put in a random order and each takes the next one's human reviews; where a paper has more
    human reviews than the other, the other's are used again. A recall of .9 means little where chance gives .8.

    Args:
        pairs: The matched pairs.
        seed: Same seed and pairs, same choice.
    """
    by_venue: dict[str, dict[str, dict[str, MatchedPair]]] = defaultdict(lambda: defaultdict(dict))
    for pair in pairs:
        by_venue[_venue(pair)][pair.paper_id].setdefault(pair.human_case.case_id, pair)
    other = {venue: _next_paper(sorted(papers), f"{seed}:{venue}") for venue, papers in by_venue.items()}
    found: list[MatchedPair] = []
    for pair in pairs:
        venue = _venue(pair)
        own, theirs = by_venue[venue][pair.paper_id], by_venue[venue].get(other[venue].get(pair.paper_id, ""), {})
        if theirs:
            place = sorted(own).index(pair.human_case.case_id)
            chosen = theirs[sorted(theirs)[place % len(theirs)]]
            found.append(replace(pair, human_case=chosen.human_case, human=chosen.human))
    left_out = len(pairs) - len(found)
    return ChancePairs(tuple(found), left_out, "their venue has no other paper with a human review" if left_out else "")


def volume_matched_recall(matrix: Matrix, generated: int, *, seed: int = 0, draws: int = DRAWS) -> float | None:
    """Recall of H of the G generated items, the mean of random draws, so that a longer list gains nothing.

    Where G is at most H, it is plain recall; None for H = 0.
    """
    human, columns = len(matrix), check(matrix, generated)
    if not human:
        return None
    if columns <= human:
        return coverage_of(matrix, columns).recall
    covering = [{column for column, cell in enumerate(row) if cell} for row in matrix]
    chance = random.Random(seed)
    drawn = (set(chance.sample(range(columns), human)) for _ in range(draws))
    return fmean(sum(not own.isdisjoint(taken) for own in covering) / human for taken in drawn)


def matrices_of(pair: MatchedPair, backend: str, holds: Callable[[str, str], bool]) -> PairMatrices:
    """The matrices of a pair from a function of a human and a generated item."""
    strengths, weaknesses = (
        tuple(tuple(holds(own, other) for other in pair.generated.of(polarity)) for own in pair.human.of(polarity))
        for polarity in POLARITIES
    )
    columns = len(pair.generated.strengths), len(pair.generated.weaknesses)
    return PairMatrices(strengths, weaknesses, *columns, backend)


def _venue(pair: MatchedPair) -> str:
    return pair.human_case.venue or pair.generated_case.venue or ""


def _next_paper(papers: Sequence[str], seed: str) -> dict[str, str]:
    """Each paper's other paper; empty where there is only one."""
    if len(papers) < 2:
        return {}
    order = random.Random(seed).sample(papers, len(papers))
    return dict(zip(order, [*order[1:], order[0]], strict=True))
